//! The results of a job.

use crate::device_report::{DriveReport, VolumeReport};
use crate::replay::ReplayRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_stats::Histogram;

/// The engine used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineFacts {
    /// `io_uring`, `threads`, `null`, `simulated`.
    pub name: String,
    /// The requested engine: `auto`, `uring`...
    #[serde(rename = "asked")]
    pub requested: String,
    /// Buffers are registered with the kernel.
    pub registered_buffers: bool,
    /// Files are registered with the kernel.
    pub registered_files: bool,
    /// Single issuer with deferred task running.
    pub deferred_task_running: bool,
    /// Completions were polled for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polled: bool,
    /// How long a completion may have been held back to take several at once, nanoseconds: the
    /// resolution of the largest latencies. 0: not at all.
    #[serde(default, skip_serializing_if = "is_not_held")]
    pub completion_hold_ns_max: u64,
    /// Processors that threads were pinned to, in turn; empty if not requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Why a requested feature is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    /// The program's own cost, measured with the null engine beforehand, nanoseconds per operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_ns_per_operation: Option<f64>,
}

fn is_not_held(completion_hold_ns_max: &u64) -> bool {
    *completion_hold_ns_max == 0
}

/// The result of one job. Operations count if they complete in [measure from, stop).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutcome {
    /// Length of the measured window.
    pub duration_ns: u64,
    /// Reads, writes and discards completed in full in it.
    pub operations: u64,
    /// Bytes of the reads and writes; a discard transfers none.
    pub bytes: u64,
    /// `operations` per second.
    pub iops: f64,
    /// `bytes` per second in units of 1,048,576.
    pub mib_per_s: f64,
    /// Reads.
    pub read: KindOutcome,
    /// Writes.
    pub write: KindOutcome,
    /// Explicit syncs, if requested; not part of `operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<KindOutcome>,
    /// Commits, if the load does not wait on purpose within them: latency is from the start of the
    /// first write since the last sync to the end of the sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<KindOutcome>,
    /// Discards, if there were any; their bytes are those discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<KindOutcome>,
    /// Mean number in flight, by Little's law from the window's latencies from issue (sum of
    /// latencies over duration).
    pub outstanding_mean: f64,
    /// How long submitting each operation to the operating system took, if requested; for all
    /// operations up to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiation_latency_ns: Option<InitiationLatency>,
    /// User time of the workers over operations.
    pub cpu_user_ns_per_operation: f64,
    /// System time of the workers over operations.
    pub cpu_system_ns_per_operation: f64,
    /// Results of each thread in the window, in order; empty for simulated arrays, records of
    /// earlier versions and of other tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadOutcome>,
    /// Failed operations.
    pub errors: Errors,
    /// Operations that completed after the stop.
    pub drain: Drain,
    /// Open loop only.
    #[serde(flatten)]
    pub open_loop: Option<OpenLoop>,
    /// Results of its operations by the second, if a requirement is judged by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<DueRecord>,
    /// Recorded loads only: how they were issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Box<ReplayRecord>>,
    /// Times in which the whole program was not running (stopped, frozen, or its virtual machine
    /// was), in order. All other numbers here exclude them: `duration_ns`, latencies, intervals and
    /// arrivals continue where they left off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// Statistics of the cloud volume below the first target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Box<VolumeReport>>,
    /// Thermal statistics of the NVMe drives below the first target, if they can be queried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<DriveReport>,
    /// At most 4,096; neighbours are merged if there were more.
    pub intervals: Vec<Interval>,
}

/// Results of one thread of a job in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadOutcome {
    /// Reads, writes and discards that it completed.
    pub operations: u64,
    /// Its CPU time in user mode.
    pub cpu_user_ns: u64,
    /// Its CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// Ready to run, and no processor to be had; absent also where the system does not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cpu_wait_ns: u64,
}

/// A time that was cut out of a run because the program was not running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// Position: time since the start of measuring, excluding pauses. It is in the interval that
    /// contains this time; from `duration_ns` on, in the drain.
    pub at_ns: u64,
    /// Its length.
    pub duration_ns: u64,
}

/// Times until a call that submits one operation returned, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitiationLatency {
    /// The shortest.
    pub min: u64,
    /// Their mean.
    pub mean: f64,
    /// The longest.
    pub max: u64,
}

/// Operations of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindOutcome {
    /// Completed in the window.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations per second as another tool states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Units of 1,048,576 bytes per second, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mib_per_s: Option<f64>,
    /// Their latency; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
    /// Requested percentiles (`--percentiles`), nanoseconds by name: `p99.99`. Those based on fewer
    /// than ten operations are absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_ns_percentiles: BTreeMap<String, u64>,
    /// All latencies; stored separately from the JSON.
    #[serde(skip)]
    pub histogram: Option<Histogram>,
}

/// Latency in nanoseconds, from the intended start if a rate is set, otherwise from issue; a write
/// is issued when its data is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Exact.
    pub min: u64,
    /// Exact sum over count.
    pub mean: f64,
    /// Within 0.1 %, as are the others.
    pub p50: u64,
    /// 90 %.
    pub p90: u64,
    /// 95 %; absent in records of earlier versions, and if another tool does not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %; absent below 10,000 operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p999: Option<u64>,
    /// Exact.
    pub max: u64,
}

/// Failed operations by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Errors {
    /// Their number.
    pub total: u64,
    /// Number by reason: `EIO`, `ENOSPC`, `short read`...
    pub by_reason: BTreeMap<String, u64>,
    /// Byte offset and reason of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

/// Operations completed after the stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drain {
    /// Operations, complete or not.
    pub operations: u64,
    /// Of those, failed; not part of the window's errors.
    #[serde(default, skip_serializing_if = "is_none_failed")]
    pub errors: u64,
    /// Byte offset and reason of the first that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// The longest of their latencies.
    pub latency_ns_max: u64,
    /// Given up: still in flight when the drain limit passed.
    pub abandoned: u64,
}

fn is_none_failed(errors: &u64) -> bool {
    *errors == 0
}

fn is_zero(operations: &u64) -> bool {
    *operations == 0
}

/// Counters of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Scheduled arrivals in the window.
    pub arrivals_due: u64,
    /// Of those, issued before the stop; the rest are censored latencies.
    pub arrivals_issued: u64,
    /// Largest delay from intended start to issue.
    pub schedule_lag_ns_max: u64,
}

/// Results of operations by the second in which they were due: in an open loop their arrival,
/// otherwise their issue. Arrivals too close to the stop to be late by then are excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DueRecord {
    /// Latency thresholds in nanoseconds, ascending.
    pub thresholds_ns: Vec<u64>,
    /// Seconds of the measured window, in order; never merged.
    pub seconds: Vec<DueSecondRecord>,
    /// Arrivals that the program itself issued late, by more than a tenth of their limit, although
    /// fewer than the allowed maximum were in flight.
    pub own_lags: u64,
    /// Of them, for each threshold, those later than a tenth of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_lags_beyond: Vec<u64>,
}

impl DueRecord {
    /// Arrivals that the program itself issued later than a tenth of this threshold; all of them in
    /// records of earlier versions, which did not count by threshold.
    pub fn own_lags_of(&self, threshold_ns: u64) -> u64 {
        let mut all = self.thresholds_ns.iter();
        let index = all.position(|one| *one == threshold_ns);
        let counted = index.and_then(|index| self.own_lags_beyond.get(index));
        counted.copied().unwrap_or(self.own_lags)
    }
}

/// One second of due time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DueSecondRecord {
    /// Operations that were due in it.
    pub due: u64,
    /// For each threshold: those that were later, failed, were never issued or never completed.
    pub beyond: Vec<u64>,
    /// Sum of their latencies; for those without one, the time until the stop.
    pub latency_ns_sum: u64,
}

/// One interval of the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Since the start of measuring.
    pub start_ns: u64,
    /// Its length.
    pub duration_ns: u64,
    /// Reads completed.
    pub read_operations: u64,
    /// Writes completed.
    pub write_operations: u64,
    /// Discards completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discard_operations: u64,
    /// Bytes of the reads and writes.
    pub bytes: u64,
    /// Mean latency of reads, writes and discards together; 0 if there were none.
    pub latency_ns_mean: f64,
    /// 99 % of the same; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<u64>,
    /// The 99 % is only an upper bound: neighbours without histograms were merged, and it is the
    /// larger of theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latency_ns_p99_is_bound: bool,
    /// Their largest.
    pub latency_ns_max: u64,
    /// Failed operations.
    pub errors: u64,
}
