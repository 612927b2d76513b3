//! Decides whether a number can be trusted: the facts about a run, and one pure function per
//! warning.
//!
//! [`judge`] covers one job, [`judge_series`] the jobs of a ladder or grid. Nothing here reads a
//! file, a clock or the machine; a missing fact suppresses the warnings that depend on it. Every
//! warning has a stable code ([`Code`]), its numbers, and what to do next, and changes its advice
//! if that was already followed. `docs/WARNINGS.md` explains them all.

mod cache;
mod caps;
mod code;
mod data;
mod depth;
mod discards;
mod engine;
mod evidence;
mod file_system;
mod machine;
mod processor;
mod reconcile;
mod replay;
mod size;
mod stalls;
mod steadiness;
#[cfg(test)]
mod tests;
mod volume;

pub use cache::{direct_io_cached, file_entered_cache, in_memory, loop_cached, page_cache};
pub use caps::{flat_bandwidth, flat_iops, io_throttled, throttled};
pub use code::Code;
pub use data::{compressible_data, never_written, repeating_data, sparse_file, zero_data};
pub use depth::{device_depth_below_requested, device_queue_limit, outstanding_below_requested};
pub use discards::discarded_space;
pub use engine::{engine_fallback, faults_injected, null_engine};
pub use evidence::{BytesMoved, Evidence};
pub use file_system::{
    compressed_file_system, copy_on_write, durable_too_fast, remote_file_system,
    volatile_write_cache,
};
pub use machine::{clock_jump, power_saving, suspended, thermal_throttling};
pub use processor::{cpu_bound, cpu_quota, cpu_steal};
pub use reconcile::{array_syncing, device_saw_less, other_load};
pub use replay::late_replay;
pub use size::{narrow_span, one_pass_in_part, smaller_than_cache};
pub use stalls::{paused, stalled, stalled_at_end};
pub use steadiness::{fell_once, not_steady, not_sustained, quick_run};
pub use volume::{
    abandoned, arrivals_not_issued, errors, few_for_p999, few_operations, skipped, store_behind,
    target_changed, wrong_data,
};

use stripewise_machine::Throttle;
use stripewise_results::{JobRecord, Severity, Warning};

/// A warning over one job.
type Judge = fn(&Evidence) -> Option<Warning>;

/// Every warning over one job.
const JUDGES: &[Judge] = &[
    sparse_file,
    never_written,
    zero_data,
    repeating_data,
    compressible_data,
    discarded_space,
    page_cache,
    in_memory,
    loop_cached,
    direct_io_cached,
    file_entered_cache,
    device_saw_less,
    smaller_than_cache,
    narrow_span,
    one_pass_in_part,
    copy_on_write,
    compressed_file_system,
    remote_file_system,
    volatile_write_cache,
    durable_too_fast,
    not_steady,
    fell_once,
    not_sustained,
    quick_run,
    few_operations,
    few_for_p999,
    errors,
    target_changed,
    abandoned,
    stalled_at_end,
    stalled,
    paused,
    arrivals_not_issued,
    outstanding_below_requested,
    device_queue_limit,
    device_depth_below_requested,
    cpu_bound,
    cpu_quota,
    cpu_steal,
    clock_jump,
    suspended,
    thermal_throttling,
    power_saving,
    engine_fallback,
    faults_injected,
    other_load,
    array_syncing,
    io_throttled,
    throttled,
    skipped,
];

/// The warnings for a job's record, the most serious first; among equals in the order of the
/// documentation.
pub fn judge(evidence: &Evidence) -> Vec<Warning> {
    // Without a disk no other warning matters.
    if let Some(warning) = null_engine(evidence) {
        return vec![warning];
    }
    sorted(JUDGES.iter().filter_map(|judge| judge(evidence)).collect())
}

/// Conditions that void a result and are known before the first operation: the target is memory, or
/// mostly holes or zeros. Needs no outcome.
pub fn foreseen(evidence: &Evidence) -> Vec<Warning> {
    const FORESEEN: [Judge; 4] = [in_memory, sparse_file, never_written, zero_data];
    let found = FORESEEN.iter().filter_map(|judge| judge(evidence));
    found
        .filter(|warning| warning.severity == Severity::Void)
        .collect()
}

/// Conditions that keep timed reads from the medium, known before the first one.
pub fn before_reads(evidence: &Evidence) -> Vec<Warning> {
    const ALL: [Judge; 5] = [
        in_memory,
        loop_cached,
        sparse_file,
        never_written,
        zero_data,
    ];
    ALL.iter().filter_map(|judge| judge(evidence)).collect()
}

/// The same for writes, which allocate missing blocks.
pub fn before_writes(evidence: &Evidence) -> Vec<Warning> {
    const ALL: [Judge; 2] = [in_memory, loop_cached];
    ALL.iter().filter_map(|judge| judge(evidence)).collect()
}

/// Warnings over the jobs of one ladder or grid: limits that show as the same number at every block
/// size. `throttles` are those of the devices below, as in [`Evidence::throttles`].
pub fn judge_series(jobs: &[&JobRecord], throttles: &[Throttle]) -> Vec<Warning> {
    let found = [flat_iops(jobs, throttles), flat_bandwidth(jobs, throttles)];
    sorted(found.into_iter().flatten().collect())
}

fn sorted(mut warnings: Vec<Warning>) -> Vec<Warning> {
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
}
