//! Statistics of a load on each device: counts, sizes, rates, depth, latencies, in one pass and in
//! bounded memory.

mod statistics;
mod timeline;

pub use statistics::Statistics;
pub use timeline::{Moment, Timeline};

use crate::tasks::TaskId;
use stripewise_stats::Histogram;
use stripewise_units::{DeviceNumber, Kind};

/// Result of one pass over a trace.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The first arrival, on the trace's clock.
    pub first_ns: u64,
    /// Length of the observation.
    pub observed_ns: u64,
    /// Each device, ordered by number.
    pub devices: Vec<DeviceObservation>,
}

/// Operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindObservation {
    /// Number of arrivals.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From arrival at the block layer to completion; empty if completions are unknown.
    pub latency_ns: Histogram,
    /// From issue to completion; empty if issues are unknown.
    pub device_ns: Histogram,
    /// From the system call to its return; empty if calls are unknown.
    pub call_ns: Histogram,
}

/// Operations of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// The size.
    pub size_bytes: u64,
    /// Number of operations.
    pub operations: u64,
}

/// Activity of one task on a device.
#[derive(Clone, Debug)]
pub struct TaskObservation {
    /// The task; unknown for those beyond the memory limit.
    pub task: TaskId,
    /// Operations by kind, indexed by [`Kind::index`].
    pub operations: [u64; 4],
    /// Bytes of each kind.
    pub bytes: [u64; 4],
    /// From arrival to completion; None for tasks beyond the memory limit.
    pub latency_ns: Option<Histogram>,
}

/// Activity on one device.
#[derive(Clone, Debug)]
pub struct DeviceObservation {
    /// Its number; see [`Statistics`] for those beyond the first 128.
    pub device: DeviceNumber,
    /// By kind, indexed by [`Kind::index`].
    pub kinds: [KindObservation; 4],
    /// Sizes of reads, writes and discards, most frequent first; at most 256.
    pub sizes: Vec<SizeCount>,
    /// Operations of other sizes.
    pub other_sizes: u64,
    /// Share of reads and writes that continue a run, 0 to 1; None without any.
    pub sequential_share: Option<f64>,
    /// Mean operations at the device over the observed time; None if completions are unknown.
    pub depth_mean: Option<f64>,
    /// Its tasks, busiest first.
    pub tasks: Vec<TaskObservation>,
    /// Its course over time.
    pub timeline: Timeline,
}

impl DeviceObservation {
    /// One kind.
    pub const fn kind(&self, kind: Kind) -> &KindObservation {
        &self.kinds[kind.index()]
    }

    /// Whether it stands for all devices beyond the first 128.
    pub fn is_combined(&self) -> bool {
        self.device == statistics::OTHERS
    }

    /// Operations of all kinds.
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.operations).sum()
    }
}

impl KindObservation {
    /// Operations per second over the observed time; None if it is zero.
    pub fn iops(&self, observed_ns: u64) -> Option<f64> {
        per_second(self.operations, observed_ns)
    }

    /// Bytes per second over the observed time; None if it is zero.
    pub fn bytes_per_s(&self, observed_ns: u64) -> Option<f64> {
        per_second(self.bytes, observed_ns)
    }
}

fn per_second(count: u64, ns: u64) -> Option<f64> {
    (ns > 0).then(|| count as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
mod tests;
