//! One host's contribution: its record, and each interval with its latencies.

use stripewise_results::{INTERVALS_MAX, Interval, RunRecord};
use stripewise_stats::{Histogram, V2Error};

/// The run of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPart {
    /// Its record, without intervals and histograms, which `jobs` holds.
    pub run: RunRecord,
    /// In the order of the record's jobs.
    pub jobs: Vec<PartJob>,
}

/// The intervals of one job, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartJob {
    /// At most as many as a store keeps.
    pub intervals: Vec<PartInterval>,
}

/// One interval of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartInterval {
    /// Its numbers.
    pub interval: Interval,
    /// Its latencies.
    pub latencies: Latencies,
}

/// The latencies of an interval, packed as `Histogram::to_v2` writes them: an hour of
/// many hosts is held in memory. Empty if there were no operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Of reads.
    pub read: Vec<u8>,
    /// Of writes.
    pub write: Vec<u8>,
    /// Of explicit syncs.
    pub sync: Vec<u8>,
    /// Of discards.
    pub discard: Vec<u8>,
}

impl Latencies {
    /// Packs them; absent and empty ones are the same.
    pub fn pack(
        read: Option<&Histogram>,
        write: Option<&Histogram>,
        sync: Option<&Histogram>,
        discard: Option<&Histogram>,
    ) -> Latencies {
        let packed = |histogram: Option<&Histogram>| {
            let filled = histogram.filter(|histogram| !histogram.is_empty());
            filled.map(Histogram::to_v2).unwrap_or_default()
        };
        Latencies {
            read: packed(read),
            write: packed(write),
            sync: packed(sync),
            discard: packed(discard),
        }
    }
}

/// The intervals of one job as they come. Beyond a number, neighbours are joined, so that a run of
/// any length takes the same memory; all are of one length but those at the end, and those of hosts
/// that began together are joined alike.
#[derive(Clone, Debug)]
pub struct GrowingJob {
    job: PartJob,
    /// The most that are kept.
    most: usize,
    /// How many are joined into one: a power of two.
    joined: u32,
    /// How many have come since the last of full length, joined in pairs, fours and so on.
    since: u32,
}

impl GrowingJob {
    /// Keeps this many, and at most as many as a store; fewer than two are two.
    pub fn new(most: usize) -> GrowingJob {
        GrowingJob {
            job: PartJob::default(),
            most: most.clamp(2, INTERVALS_MAX) & !1,
            joined: 1,
            since: 0,
        }
    }

    /// Appends an interval.
    pub fn push(&mut self, interval: PartInterval) {
        let intervals = &mut self.job.intervals;
        intervals.push(interval);
        self.since += 1;
        // As a binary counter: two of one length become one.
        for _ in 0..self.since.trailing_zeros() {
            let pair = intervals.split_off(intervals.len().saturating_sub(2));
            intervals.push(joined(&pair));
        }
        if self.since < self.joined {
            return;
        }
        self.since = 0;
        if intervals.len() >= self.most {
            *intervals = intervals.chunks(2).map(joined).collect();
            self.joined = self.joined.saturating_mul(2);
        }
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.job.intervals.is_empty()
    }

    /// All of them.
    pub fn into_job(self) -> PartJob {
        self.job
    }
}

/// Joins neighbours. Unreadable latencies are left as they are, and reported when
/// they are summed.
fn joined(intervals: &[PartInterval]) -> PartInterval {
    let [first, second] = intervals else {
        return intervals.first().cloned().unwrap_or_default();
    };
    let both = |of: fn(&Latencies) -> &Vec<u8>| {
        let mut sum = Histogram::new();
        let [a, b] = [of(&first.latencies), of(&second.latencies)];
        match add(&mut sum, a).and_then(|()| add(&mut sum, b)) {
            Ok(()) => Latencies::pack(Some(&sum), None, None, None).read,
            Err(_) => a.clone(),
        }
    };
    PartInterval {
        interval: first.interval.joined_with(&second.interval, None),
        latencies: Latencies {
            read: both(|latencies| &latencies.read),
            write: both(|latencies| &latencies.write),
            sync: both(|latencies| &latencies.sync),
            discard: both(|latencies| &latencies.discard),
        },
    }
}

/// Adds packed latencies.
pub(super) fn add(into: &mut Histogram, packed: &[u8]) -> Result<(), V2Error> {
    if !packed.is_empty() {
        into.merge(&Histogram::from_v2(packed)?);
    }
    Ok(())
}

impl HostPart {
    /// A part from a record and the intervals of its jobs.
    pub fn new(run: RunRecord, jobs: Vec<PartJob>) -> HostPart {
        HostPart {
            run: run.without_intervals().without_histograms(),
            jobs,
        }
    }

    /// Identifies it: two runs with the same id are the same run only if their
    /// hosts are the same.
    pub(super) fn key(&self) -> (u32, String, String) {
        let run = &self.run;
        (
            self.rank().unwrap_or(u32::MAX),
            run.host.name.clone(),
            run.id.clone(),
        )
    }

    /// Its rank, if it was in a group.
    pub(super) fn rank(&self) -> Option<u32> {
        let group = self.run.start.as_ref()?.group.as_ref()?;
        Some(group.rank)
    }

    /// It ran on simulated arrays, in virtual time.
    pub(super) fn is_virtual(&self) -> bool {
        let mut jobs = self.run.jobs.iter();
        jobs.any(|job| job.engine.name == "simulated")
    }
}

/// Why a run is partial.
pub(super) fn because(run: &RunRecord) -> String {
    let because = run.partial_because.clone();
    because.unwrap_or_else(|| "it did not end as planned".to_owned())
}
