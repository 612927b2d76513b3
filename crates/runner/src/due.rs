//! What became of the arrivals of an open loop, by the second in which they were due: what
//! a required rate is judged by. An operation that is late, failed, was never issued or
//! never completed is beyond every threshold; seconds are never joined.

use stripewise_results::{DueRecord, DueSecondRecord};

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds that are kept: a day. Later ones count for the last.
const SECONDS_MAX: usize = 86_400;

/// Counts of one worker, or of all workers of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueCounts {
    /// Latencies beyond which operations are counted, by rising value.
    thresholds_ns: Vec<u64>,
    seconds: Vec<DueSecond>,
    own_lags: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DueSecond {
    due: u64,
    /// For each threshold.
    beyond: Vec<u64>,
    latency_ns_sum: u64,
}

impl DueCounts {
    pub(crate) fn new(thresholds_ns: &[u64]) -> DueCounts {
        DueCounts {
            thresholds_ns: thresholds_ns.to_vec(),
            ..DueCounts::default()
        }
    }

    /// Somebody wants to know.
    pub(crate) fn is_counted(&self) -> bool {
        !self.thresholds_ns.is_empty()
    }

    /// An arrival that was due at `due_ns` and took so long, or has no latency because it
    /// came to nothing. `window`: when measuring began and ended. What was due so shortly
    /// before the end that it could not be late by then is left out.
    pub(crate) fn add(&mut self, due_ns: u64, latency_ns: Option<u64>, window: (u64, u64)) {
        let (from_ns, until_ns) = window;
        let latest = self.thresholds_ns.last().copied().unwrap_or(0);
        if due_ns < from_ns || due_ns > until_ns.saturating_sub(latest) {
            return;
        }
        let second = ((due_ns - from_ns) / SECOND_NS) as usize;
        let second = second.min(SECONDS_MAX - 1);
        let thresholds = self.thresholds_ns.len();
        if self.seconds.len() <= second {
            let empty = DueSecond {
                beyond: vec![0; thresholds],
                ..DueSecond::default()
            };
            self.seconds.resize(second + 1, empty);
        }
        let place = &mut self.seconds[second];
        place.due += 1;
        place.latency_ns_sum = place
            .latency_ns_sum
            .saturating_add(latency_ns.unwrap_or_else(|| until_ns.saturating_sub(due_ns)));
        for (beyond, threshold_ns) in place.beyond.iter_mut().zip(&self.thresholds_ns) {
            *beyond += u64::from(latency_ns.is_none_or(|latency_ns| latency_ns > *threshold_ns));
        }
    }

    /// An arrival was issued so late although nothing but the program held it back: more
    /// than a tenth of the smallest threshold.
    pub(crate) fn own_lag(&mut self, lag_ns: u64) {
        let least = self.thresholds_ns.first().copied().unwrap_or(u64::MAX);
        self.own_lags += u64::from(lag_ns > least / 10);
    }

    pub(crate) fn merge(&mut self, other: &DueCounts) {
        if self.thresholds_ns.is_empty() {
            self.thresholds_ns.clone_from(&other.thresholds_ns);
        }
        self.own_lags += other.own_lags;
        if self.seconds.len() < other.seconds.len() {
            let empty = DueSecond {
                beyond: vec![0; self.thresholds_ns.len()],
                ..DueSecond::default()
            };
            self.seconds.resize(other.seconds.len(), empty);
        }
        for (mine, theirs) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.due += theirs.due;
            mine.latency_ns_sum = mine.latency_ns_sum.saturating_add(theirs.latency_ns_sum);
            for (mine, theirs) in mine.beyond.iter_mut().zip(&theirs.beyond) {
                *mine += theirs;
            }
        }
    }

    /// For the record; none where nobody asked.
    #[must_use]
    pub fn record(&self) -> Option<DueRecord> {
        let of_second = |second: &DueSecond| DueSecondRecord {
            due: second.due,
            beyond: second.beyond.clone(),
            latency_ns_sum: second.latency_ns_sum,
        };
        self.is_counted().then(|| DueRecord {
            thresholds_ns: self.thresholds_ns.clone(),
            seconds: self.seconds.iter().map(of_second).collect(),
            own_lags: self.own_lags,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_count_in_the_second_in_which_they_were_due() {
        let ms = |ms: u64| ms * 1_000_000;
        let window = (ms(1_000), ms(4_000));
        let mut counts = DueCounts::new(&[ms(5), ms(100)]);
        for (due_ms, latency) in [
            (999, Some(1)),   // in the ramp
            (1_000, Some(5)), // in time
            (1_500, Some(6)), // late for one
            (2_100, Some(2_000)),
            (2_200, None),
            (3_900, Some(1)),
            (3_901, None), // whether it is late was not known at the end
        ] {
            counts.add(ms(due_ms), latency.map(ms), window);
        }
        counts.own_lag(ms(5) / 10);
        counts.own_lag(ms(5) / 10 + 1);
        let mut all = DueCounts::default();
        all.merge(&counts);
        all.merge(&counts);
        let record = all.record().expect("it was asked for");
        let seconds = record.seconds.iter();
        let seen: Vec<(u64, Vec<u64>)> = seconds.map(|one| (one.due, one.beyond.clone())).collect();
        assert_eq!(seen, [(4, vec![2, 0]), (4, vec![4, 4]), (2, vec![0, 0])]);
        assert_eq!(record.own_lags, 2);
        assert_eq!(DueCounts::default().record(), None);
    }
}
