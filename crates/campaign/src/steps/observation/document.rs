//! The document of an observation, as printed and stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_results::LatencySummary;

/// Version of [`ObservationDocument`].
pub const SCHEMA_VERSION: u32 = 1;

/// What a server does to its disks. Null if a source does not provide the value, or lost events
/// would make it wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationDocument {
    /// Of this document.
    pub schema_version: u32,
    /// The name under which it is stored.
    pub id: String,
    /// What was observed: the device or path as typed, or the file of the trace.
    pub target: ObservedTarget,
    /// Where the operations come from.
    pub source: ObservationSource,
    /// Host's name, of the machine that wrote this document; empty with `--anonymous`.
    pub host: String,
    /// RFC 3339, UTC: when the observation, or the reading of the file, began.
    pub started_at: String,
    /// How long was observed, seconds.
    pub observed_s: f64,
    /// Events that the kernel lost; null where that is not known.
    pub lost_events: Option<u64>,
    /// Processor time of the observer in per cent of one processor; null for files.
    pub overhead_percent: Option<f64>,
    /// Why it ended before it should have; what was seen until then is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// What must be known to read the numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The devices, the busiest first.
    pub devices: Vec<ObservedDevice>,
    /// Where slow operations lost their time, for each device; see `verdicts`.
    pub blame: Vec<BlameShare>,
    /// What is said of each device whose operations have completions.
    pub verdicts: Vec<BlameVerdict>,
    /// Does the load wait for the disk?
    pub closedness: ClosednessRecord,
}

/// What was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedTarget {
    /// As typed; `all devices` where none was named.
    pub name: String,
}

/// Where operations come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationSource {
    /// `kernel` (tracefs), `file` (a trace) or `counters` (totals alone, of the system or of a database).
    pub kind: String,
    /// The format of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Rows or records of a file that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Rows that were not of the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_rows: Option<u64>,
    /// Events that were read from the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// The file of the operations: the trace that was read, or what was written with
    /// `--keep-trace` or `--model`. With `--anonymous` none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedFile>,
}

/// A file of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedFile {
    /// Where it was then.
    pub path: String,
    /// The columns of its rows, where they were described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
}

/// What was done to one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedDevice {
    /// Kernel name, or what the file calls it.
    pub name: String,
    /// Major and minor number, of devices of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Reads that reached the device.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Flushes of the device's cache.
    pub flushes: u64,
    /// From arrival at the block layer to completion.
    pub latency_ns: KindLatencies,
    /// From issue to completion: at the device, and what the host has under it.
    pub device_latency_ns: KindLatencies,
    /// From the system call to its return; known with `--pid`.
    pub call_latency_ns: KindLatencies,
    /// Operations at the device, averaged over the time observed.
    pub depth_mean: Option<f64>,
    /// Share of reads and writes that continue a run, 0 to 1.
    pub sequential_share: Option<f64>,
    /// Sizes of reads, writes and discards, the most frequent first; at most 32.
    pub sizes: Vec<ObservedSize>,
    /// Who did it, the busiest first; at most 64.
    pub by_process: Vec<ProcessShare>,
    /// Which control group did it, by the system's counters and including what the observer
    /// did itself, the busiest first; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_group: Vec<GroupShare>,
    /// What for, by the paths of files, the busiest first.
    pub by_role: Vec<RoleShare>,
    /// The busiest files, as far as they are known; at most 32.
    pub by_file: Vec<FileShare>,
    /// How it went over time.
    pub timeline: ObservedTimeline,
}

/// What a control group did by itself, without the groups inside it: by its counters, which are
/// read just before the first event is recorded and just after the last. They count a little
/// longer than `observed_s`, and no lost event is missing in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupShare {
    /// The group, as a path inside its hierarchy.
    pub group: String,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

impl GroupShare {
    /// Reads and writes.
    pub const fn operations(&self) -> u64 {
        self.reads + self.writes
    }
}

/// Latencies of each kind; null where none is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindLatencies {
    /// Of reads.
    pub read: Option<LatencySummary>,
    /// Of writes.
    pub write: Option<LatencySummary>,
    /// Of flushes.
    pub flush: Option<LatencySummary>,
    /// Of discards.
    pub discard: Option<LatencySummary>,
}

/// Operations of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedSize {
    /// The size.
    pub size_bytes: u64,
    /// How many had it.
    pub operations: u64,
}

/// Operations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Discards.
    pub discards: u64,
    /// Flushes.
    pub flushes: u64,
}

impl KindCounts {
    /// Operations of all kinds.
    pub const fn operations(&self) -> u64 {
        self.reads + self.writes + self.discards + self.flushes
    }

    /// Bytes read and written.
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

/// What one process did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessShare {
    /// Its id; null where the source does not say.
    pub pid: Option<i32>,
    /// Its name as the kernel has it, at most 15 letters, or what it calls itself
    /// (`postgres: checkpointer`); with `--anonymous` a number.
    pub name: Option<String>,
    /// Its operations.
    #[serde(flatten)]
    pub counts: KindCounts,
    /// From arrival at the block layer to completion, of all kinds together.
    pub latency_ns: Option<LatencySummary>,
}

/// What was done to files of one role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleShare {
    /// Whose files: `PostgreSQL`; null where no pattern knows the file.
    pub product: Option<String>,
    /// `data`, `log`, `temp`...; `file` where no pattern knows the file, `unknown` where no
    /// file is known at that place.
    pub role: String,
    /// The operations.
    #[serde(flatten)]
    pub counts: KindCounts,
}

/// What was done to one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileShare {
    /// Its path; with `--anonymous` a number. Of a database's counters what it counts by.
    pub path: String,
    /// The operations.
    #[serde(flatten)]
    pub counts: KindCounts,
    /// Mean latencies as a database counts them; null where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<KindMeans>,
}

/// Mean latencies; null where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindMeans {
    /// Of reads.
    pub read: Option<f64>,
    /// Of writes.
    pub write: Option<f64>,
    /// Of flushes.
    pub flush: Option<f64>,
}

/// A load over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedTimeline {
    /// The width of a bin.
    pub width_ns: u64,
    /// The bins, from the beginning on; at most 1,024.
    pub bins: Vec<ObservedMoment>,
    /// Beginnings of the slowest bins, nanoseconds from the beginning, the slowest first:
    /// those whose mean latency is above three times the median bin's.
    pub slow_ns: Vec<u64>,
}

/// One bin of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedMoment {
    /// Operations that arrived in it.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their mean latency; null where none is known.
    pub latency_ns_mean: Option<f64>,
    /// The longest; null where none is known.
    pub latency_ns_max: Option<u64>,
}

/// How many of the slow operations of a device lost most of their time where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlameShare {
    /// The device.
    pub device: String,
    /// What that stage stands for here; the names are in `docs/OBSERVE.md`.
    pub cause: String,
    /// Slow operations whose largest excess is there.
    pub operations: u64,
    /// Their share of all slow ones, 0 to 1; null for too few to say.
    pub share: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// What is said of the slow operations of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlameVerdict {
    /// The device.
    pub device: String,
    /// The load that was judged: the name of its processes; null where all of it was.
    pub load: Option<String>,
    /// The cause; the names are in `docs/OBSERVE.md`.
    pub cause: String,
    /// The process that is blamed, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The rate of a cap, operations a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_iops: Option<f64>,
    /// Other causes that a quarter of the excess, or more, speaks for.
    pub also: Vec<String>,
    /// From when on an operation is slow; null where nothing was calm to compare with.
    pub slow_ns: Option<u64>,
    /// Slow operations.
    pub slow: u64,
    /// Operations in the part that is not calm.
    pub operations: u64,
    /// Seconds that had operations and were judged.
    pub judged_s: f64,
    /// How many of those were calm.
    pub calm_s: f64,
    /// The slowest operations.
    pub examples: Vec<SlowOperation>,
}

/// One slow operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowOperation {
    /// When it arrived, seconds from the beginning.
    pub at_s: f64,
    /// `read`, `write`, `flush` or `discard`.
    pub kind: String,
    /// Its size.
    pub size_bytes: u64,
    /// Who asked for it.
    pub process: Option<String>,
    /// From the system call, or else arrival, to the return, or else completion.
    pub latency_ns: u64,
    /// Above the block layer.
    pub held_ns: Option<u64>,
    /// Waiting in the host: for a tag, and in the scheduler's queue.
    pub queued_ns: Option<u64>,
    /// At the device.
    pub device_ns: Option<u64>,
    /// Waiting for a processor after its completion.
    pub wakeup_ns: Option<u64>,
    /// Operations at the device when it was issued.
    pub in_flight: u64,
    /// Of those, how many were of the task with the most.
    pub of_busiest: u64,
    /// That task.
    pub busiest: Option<String>,
}

/// Does the load wait for the disk?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClosednessRecord {
    /// By how many per cent the rate falls for each per cent that latency rises, 0 (open) to
    /// 1 (closed), of the whole load; null where nothing can be said.
    pub elasticity: Option<f64>,
    /// The smallest that it may be.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The busiest tasks; at most 16.
    pub tasks: Vec<TaskStructure>,
}

/// How one task issues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStructure {
    /// Its name and process id.
    pub process: String,
    /// Its operations.
    pub operations: u64,
    /// `one-at-a-time`, `one-at-a-time-cause-unknown`, `paced`, `closed`, `open`,
    /// `open-bursty`, `undecided` or `too-few`.
    pub structure: String,
    /// Its elasticity; null where too few operations were seen.
    pub elasticity: Option<f64>,
    /// Slots of a closed load.
    pub slots: Option<f64>,
}
