//! SQLIO's arithmetic, inferred from its output: rates are truncated to two decimals, latencies
//! individually to whole milliseconds.

use super::report::Latencies;
use stripewise_results::{InitiationLatency, RunRecord};

/// 0 to 1 ms ... 23 to 24 ms, and everything longer.
pub const HISTOGRAM_BINS: usize = 25;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_US: u64 = 1_000;
const NS_PER_S: u128 = 1_000_000_000;

/// Hundredths of operations per second over `duration_ns`, truncated; 0 if no time passed.
pub fn rate_hundredths(operations: u64, duration_ns: u64) -> u64 {
    if duration_ns == 0 {
        return 0;
    }
    let hundredths = u128::from(operations) * 100 * NS_PER_S / u128::from(duration_ns);
    u64::try_from(hundredths).unwrap_or(u64::MAX)
}

/// Hundredths of MBs/sec for these hundredths of IOs/sec: the printed rate times the block size,
/// truncated.
pub fn mib_hundredths(iops_hundredths: u64, block_kib: u64) -> u64 {
    let hundredths = u128::from(iops_hundredths) * u128::from(block_kib) / 1024;
    u64::try_from(hundredths).unwrap_or(u64::MAX)
}

/// Time to submit operations, whole microseconds, over all jobs of a run; job means are weighted by
/// operations. A simulated array submits in zero time. `None` if not measured.
pub fn initiation_us(record: &RunRecord) -> Option<Latencies> {
    let mut all: Option<Latencies> = None;
    let (mut sum_us, mut operations) = (0.0, 0.0);
    for job in &record.jobs {
        let seen = match job.outcome.initiation_latency_ns {
            Some(seen) => seen,
            None if job.target.simulation.is_some() => InitiationLatency::default(),
            None => continue,
        };
        let count = job.outcome.operations as f64;
        sum_us += seen.mean / NS_PER_US as f64 * count;
        operations += count;
        let (min, max) = (seen.min / NS_PER_US, seen.max / NS_PER_US);
        all = Some(Latencies {
            min: all.map_or(min, |all| all.min.min(min)),
            avg: 0,
            max: all.map_or(max, |all| all.max.max(max)),
        });
    }
    let avg = if operations > 0.0 {
        sum_us / operations
    } else {
        0.0
    };
    all.map(|all| Latencies {
        avg: avg as u64,
        ..all
    })
}

/// Counts of a run's jobs, in SQLIO's units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Operations.
    pub operations: u64,
    /// Measured time.
    pub duration_ns: u64,
    /// Operations by latency in whole milliseconds.
    bins: [u64; HISTOGRAM_BINS],
    /// Sum of the latencies, each truncated to milliseconds.
    sum_ms: u128,
    min_ns: Option<u64>,
    max_ns: u64,
}

impl Counted {
    /// Over all jobs of a run. An operation whose latency is within 0.1 % of a whole millisecond
    /// may be counted on the other side of it: that is the resolution of the records' histograms.
    pub fn of(record: &RunRecord) -> Counted {
        let mut counted = Counted::default();
        for job in &record.jobs {
            counted.operations += job.outcome.operations;
            counted.duration_ns = counted.duration_ns.max(job.outcome.duration_ns);
            for kind in [&job.outcome.read, &job.outcome.write] {
                let Some(histogram) = &kind.histogram else {
                    continue;
                };
                let (min, max) = (histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
                for bucket in histogram.nonzero() {
                    let middle = bucket.value_low + (bucket.value_high - bucket.value_low) / 2;
                    counted.add(middle.clamp(min, max), bucket.count);
                }
                counted.add_extremes(min, max);
            }
        }
        counted
    }

    /// Adds `count` operations of this latency.
    pub fn add(&mut self, latency_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        let ms = latency_ns / NS_PER_MS;
        let bin = usize::try_from(ms).unwrap_or(HISTOGRAM_BINS);
        self.bins[bin.min(HISTOGRAM_BINS - 1)] += count;
        self.sum_ms += u128::from(ms) * u128::from(count);
        self.add_extremes(latency_ns, latency_ns);
    }

    fn add_extremes(&mut self, min_ns: u64, max_ns: u64) {
        self.min_ns = Some(self.min_ns.map_or(min_ns, |least| least.min(min_ns)));
        self.max_ns = self.max_ns.max(max_ns);
    }

    fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Whole milliseconds; zeros if nothing completed.
    pub fn latency_ms(&self) -> Latencies {
        let mean = self.sum_ms / u128::from(self.count().max(1));
        Latencies {
            min: self.min_ns.unwrap_or(0) / NS_PER_MS,
            avg: u64::try_from(mean).unwrap_or(u64::MAX),
            max: self.max_ns / NS_PER_MS,
        }
    }

    /// Percentages, each rounded to nearest: the sum may differ from 100.
    pub fn histogram_percent(&self) -> Vec<u8> {
        let total = u128::from(self.count().max(1));
        let share = |&count: &u64| ((u128::from(count) * 200 + total) / (2 * total)) as u8;
        self.bins.iter().map(share).collect()
    }
}
