//! What a load does to each device: counts, sizes, rates, depth, latencies, in one pass and
//! with bounded memory.

mod statistics;
mod timeline;

pub use statistics::Statistics;
pub use timeline::{Moment, Timeline};

use crate::tasks::TaskId;
use stripewise_stats::Histogram;
use stripewise_units::{DeviceNumber, Kind};

/// What was seen in one pass over a trace.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The first arrival, on the trace's clock.
    pub first_ns: u64,
    /// How long was observed.
    pub observed_ns: u64,
    /// Each device, in the order of their numbers.
    pub devices: Vec<DeviceObservation>,
}

/// Operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindObservation {
    /// How many arrived.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From arrival at the block layer to completion; empty where completions are not known.
    pub latency_ns: Histogram,
    /// From issue to completion; empty where issues are not known.
    pub device_ns: Histogram,
    /// From the system call to its return; empty where calls are not known.
    pub call_ns: Histogram,
}

/// Operations of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// The size.
    pub size_bytes: u64,
    /// How many had it.
    pub operations: u64,
}

/// What one task did to a device.
#[derive(Clone, Debug)]
pub struct TaskObservation {
    /// The task; unknown for those that no memory was left for.
    pub task: TaskId,
    /// Operations of each kind, as [`Kind::index`] numbers them.
    pub operations: [u64; 4],
    /// Bytes of each kind.
    pub bytes: [u64; 4],
    /// From arrival to completion; None for tasks that no memory was left for.
    pub latency_ns: Option<Histogram>,
}

/// What was done to one device.
#[derive(Clone, Debug)]
pub struct DeviceObservation {
    /// Its number; see [`Statistics`] for those beyond the first 128.
    pub device: DeviceNumber,
    /// Each kind, as [`Kind::index`] numbers them.
    pub kinds: [KindObservation; 4],
    /// Sizes of reads, writes and discards, the most frequent first; at most 256.
    pub sizes: Vec<SizeCount>,
    /// Operations of still other sizes.
    pub other_sizes: u64,
    /// Share of reads and writes that continue a run, 0 to 1; None without any.
    pub sequential_share: Option<f64>,
    /// Operations at the device, averaged over the time observed; None where completions
    /// are not known.
    pub depth_mean: Option<f64>,
    /// Who did it, the busiest first.
    pub tasks: Vec<TaskObservation>,
    /// How it went over time.
    pub timeline: Timeline,
}

impl DeviceObservation {
    /// One kind.
    #[must_use]
    pub const fn kind(&self, kind: Kind) -> &KindObservation {
        &self.kinds[kind.index()]
    }

    /// Operations of all kinds.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.operations).sum()
    }
}

impl KindObservation {
    /// Operations a second over the time observed; None for no time.
    #[must_use]
    pub fn iops(&self, observed_ns: u64) -> Option<f64> {
        per_second(self.operations, observed_ns)
    }

    /// Bytes a second over the time observed; None for no time.
    #[must_use]
    pub fn bytes_per_s(&self, observed_ns: u64) -> Option<f64> {
        per_second(self.bytes, observed_ns)
    }
}

fn per_second(count: u64, ns: u64) -> Option<f64> {
    (ns > 0).then(|| count as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
mod tests;
