//! Outcome of operations by the second in which they were due, for judging latency requirements. In
//! an open loop all arrivals count; in a closed loop issued operations, in the second of issue, and
//! commits, in that of their first write. An operation that is late, failed, or was never issued
//! exceeds every threshold; so does one that never completed, where it was waited for that long.
//! Seconds are never joined.

use stripewise_io_engine::Kind;
use stripewise_results::{CountedOperations, Counting, DueRecord, DueSecondRecord};

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds recorded: a day. Later ones count towards the last.
const SECONDS_MAX: usize = 86_400;

/// Counts of one worker, or of all workers of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueCounts {
    counting: Counting,
    /// Operations due this close to the end are excluded: it is unknown whether arrivals that are
    /// never issued would have been late.
    margin_ns: u64,
    seconds: Vec<DueSecond>,
    own_lags: u64,
    /// Of them, those beyond a tenth of each threshold, and not of the next.
    own_lags_by_thresholds: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DueSecond {
    due: u64,
    /// Operations by the number of thresholds exceeded: none, the first, ...
    by_thresholds: Vec<u64>,
    latency_ns_sum: u64,
}

impl DueCounts {
    pub(crate) fn new(counting: &Counting, open_loop: bool) -> DueCounts {
        let waits = open_loop && counting.operations == CountedOperations::Transfers;
        let latest_ns = counting.thresholds_ns.last().copied().unwrap_or(0);
        DueCounts {
            counting: counting.clone(),
            margin_ns: if waits { latest_ns } else { 0 },
            own_lags_by_thresholds: vec![0; counting.thresholds_ns.len()],
            ..DueCounts::default()
        }
    }

    /// Whether a study requested the counts.
    pub(crate) fn is_counted(&self) -> bool {
        !self.counting.thresholds_ns.is_empty()
    }

    /// Whether operations of this kind are counted: of syncs, the commits that they end.
    pub(crate) fn counts(&self, kind: Kind) -> bool {
        let is_sync = kind == Kind::Sync;
        self.is_counted() && is_sync == (self.counting.operations == CountedOperations::Commits)
    }

    /// Whether a latency exceeds every threshold.
    pub(crate) fn is_beyond_all(&self, latency_ns: u64) -> bool {
        let last_ns = self.counting.thresholds_ns.last();
        last_ns.is_some_and(|last_ns| *last_ns < latency_ns)
    }

    /// Adds an operation due at `due_ns` with its latency, or none if it did not complete.
    /// `window`: start and end of measuring.
    pub(crate) fn add(&mut self, due_ns: u64, latency_ns: Option<u64>, window: (u64, u64)) {
        let (from_ns, until_ns) = window;
        let judged_until_ns = until_ns.saturating_sub(self.margin_ns);
        // Arrivals due at the last judged instant are known; the stop itself is excluded.
        if due_ns < from_ns || due_ns > judged_until_ns || due_ns >= until_ns {
            return;
        }
        let second = ((due_ns - from_ns) / SECOND_NS) as usize;
        let second = second.min(SECONDS_MAX - 1);
        let thresholds_ns = &self.counting.thresholds_ns;
        if self.seconds.len() <= second {
            let empty = DueSecond {
                by_thresholds: vec![0; thresholds_ns.len() + 1],
                ..DueSecond::default()
            };
            self.seconds.resize(second + 1, empty);
        }
        let place = &mut self.seconds[second];
        place.due += 1;
        place.latency_ns_sum = place
            .latency_ns_sum
            .saturating_add(latency_ns.unwrap_or_else(|| until_ns.saturating_sub(due_ns)));
        let beyond = match latency_ns {
            Some(latency_ns) => thresholds_ns.partition_point(|one| *one < latency_ns),
            None => thresholds_ns.len(),
        };
        place.by_thresholds[beyond] += 1;
    }

    /// An arrival was issued this late only because of the program itself.
    pub(crate) fn own_lag(&mut self, lag_ns: u64) {
        if lag_ns <= self.counting.lag_ns_max {
            return;
        }
        self.own_lags += 1;
        let thresholds_ns = &self.counting.thresholds_ns;
        let beyond = thresholds_ns.partition_point(|one| *one / 10 < lag_ns);
        let last = beyond.checked_sub(1);
        if let Some(count) = last.and_then(|last| self.own_lags_by_thresholds.get_mut(last)) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &DueCounts) {
        if !self.is_counted() {
            self.counting = other.counting.clone();
        }
        self.own_lags += other.own_lags;
        let count = other.own_lags_by_thresholds.len();
        let mine = &mut self.own_lags_by_thresholds;
        mine.resize(count.max(mine.len()), 0);
        for (mine, theirs) in mine.iter_mut().zip(&other.own_lags_by_thresholds) {
            *mine += theirs;
        }
        if self.seconds.len() < other.seconds.len() {
            let empty = DueSecond {
                by_thresholds: vec![0; self.counting.thresholds_ns.len() + 1],
                ..DueSecond::default()
            };
            self.seconds.resize(other.seconds.len(), empty);
        }
        for (mine, theirs) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.due += theirs.due;
            mine.latency_ns_sum = mine.latency_ns_sum.saturating_add(theirs.latency_ns_sum);
            for (mine, theirs) in mine.by_thresholds.iter_mut().zip(&theirs.by_thresholds) {
                *mine += theirs;
            }
        }
    }

    /// For the record; `None` if no counts were requested.
    pub fn record(&self) -> Option<DueRecord> {
        self.is_counted().then(|| DueRecord {
            thresholds_ns: self.counting.thresholds_ns.clone(),
            seconds: self.seconds.iter().map(DueSecond::record).collect(),
            own_lags: self.own_lags,
            own_lags_beyond: match self.own_lags {
                0 => Vec::new(),
                _ => from_each_on(self.own_lags_by_thresholds.clone()),
            },
        })
    }
}

/// What exceeds a threshold exceeds all lower ones as well.
fn from_each_on(mut counts: Vec<u64>) -> Vec<u64> {
    for index in (1..counts.len()).rev() {
        counts[index - 1] += counts[index];
    }
    counts
}

impl DueSecond {
    fn record(&self) -> DueSecondRecord {
        let beyond = self.by_thresholds.iter().skip(1).copied();
        DueSecondRecord {
            due: self.due,
            beyond: from_each_on(beyond.collect()),
            latency_ns_sum: self.latency_ns_sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_count_in_the_second_in_which_they_were_due() {
        let ms = |ms: u64| ms * 1_000_000;
        let window = (ms(1_000), ms(4_000));
        let counting = Counting::transfers(vec![ms(5), ms(100)]);
        let mut counts = DueCounts::new(&counting, true);
        for (due_ms, latency) in [
            (999, Some(1)),   // in the ramp
            (1_000, Some(5)), // in time
            (1_500, Some(6)), // late for one
            (2_100, Some(2_000)),
            (2_200, None),
            (3_900, Some(1)),
            (3_901, None), // unknown at the end whether it is late
        ] {
            counts.add(ms(due_ms), latency.map(ms), window);
        }
        counts.own_lag(ms(5) / 10);
        counts.own_lag(ms(5) / 10 + 1);
        counts.own_lag(ms(11));
        let mut all = DueCounts::default();
        all.merge(&counts);
        all.merge(&counts);
        let record = all.record().expect("it was asked for");
        let seconds = record.seconds.iter();
        let seen: Vec<(u64, Vec<u64>)> = seconds.map(|one| (one.due, one.beyond.clone())).collect();
        assert_eq!(seen, [(4, vec![2, 0]), (4, vec![4, 4]), (2, vec![0, 0])]);
        assert_eq!((record.own_lags, record.own_lags_beyond), (4, vec![4, 2]));
        assert_eq!(DueCounts::default().record(), None);
    }

    #[test]
    fn what_a_closed_loop_issued_counts_up_to_the_stop() {
        let counting = Counting {
            operations: CountedOperations::Commits,
            thresholds_ns: vec![10],
            lag_ns_max: 1,
        };
        let mut counts = DueCounts::new(&counting, false);
        assert!(counts.counts(Kind::Sync) && !counts.counts(Kind::Write));
        for due_ns in [99, 100, 199, 200] {
            counts.add(due_ns, Some(11), (100, 200));
        }
        let record = counts.record().expect("it was asked for");
        assert_eq!(
            (record.seconds[0].due, &record.seconds[0].beyond),
            (2, &vec![2])
        );
    }
}
