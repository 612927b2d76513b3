//! Converts counts to a record's fields.

use crate::{
    DrainCounts, ErrorCount, ErrorCounts, Failure, IntervalSummary, JobCounts, KindCounts,
    RunTotals, StopReason, ThreadCounts,
};
use stripewise_io_engine::backend::timed::HandOvers;
use stripewise_io_engine::{Capabilities, Kind, error_name};
use stripewise_results::{
    Drain, EngineFacts, Errors, InitiationLatency, Interval, JobOutcome, KindParts, OpenLoop,
    OutcomeParts, Pause, RunRecord, Status, ThreadOutcome,
};
use stripewise_stats::Histogram;

/// One measured interval of one job. `latency_ns` covers its reads, writes and discards.
pub(super) fn interval(
    summary: &IntervalSummary,
    counts: &JobCounts,
    latency_ns: &Histogram,
) -> Interval {
    Interval {
        start_ns: summary.start_ns,
        duration_ns: summary.duration_ns,
        read_operations: counts.kind(Kind::Read).operations,
        write_operations: counts.kind(Kind::Write).operations,
        discard_operations: counts.kind(Kind::Discard).operations,
        bytes: counts.bytes(),
        latency_ns_mean: latency_ns.mean().unwrap_or(0.0),
        latency_ns_p99: latency_ns.percentile(99.0),
        latency_ns_max: latency_ns.max().unwrap_or(0),
        errors: counts.errors.total(),
        ..Interval::default()
    }
}

/// Summary of submission times; `None` if there were none.
pub(super) fn initiation_latency(seen: HandOvers) -> Option<InitiationLatency> {
    (seen.operations > 0).then(|| InitiationLatency {
        min: seen.min_ns,
        mean: seen.sum_ns as f64 / seen.operations as f64,
        max: seen.max_ns,
    })
}

/// The outcome of a job, without its drain. `open`: it has a rate.
pub(super) fn outcome(
    counts: &JobCounts,
    measured_ns: u64,
    open: bool,
    intervals: Vec<Interval>,
) -> JobOutcome {
    let [sync, discard] = [Kind::Sync, Kind::Discard].map(|kind| counts.kind(kind));
    JobOutcome::from_parts(OutcomeParts {
        duration_ns: measured_ns,
        read: kind(counts.kind(Kind::Read)),
        write: kind(counts.kind(Kind::Write)),
        sync: (sync.operations > 0).then(|| kind(sync)),
        commit: (counts.commits.operations > 0).then(|| kind(&counts.commits)),
        discard: (discard.operations > 0).then(|| kind(discard)),
        in_flight_ns_sum: counts.in_flight_ns_sum,
        cpu_user_ns: counts.cpu.user_ns,
        cpu_system_ns: counts.cpu.system_ns,
        errors: errors(&counts.errors),
        drain: Drain::default(),
        open_loop: open.then_some(OpenLoop {
            arrivals_due: counts.open_loop.arrivals_due,
            arrivals_issued: counts.open_loop.arrivals_issued,
            schedule_lag_ns_max: counts.open_loop.schedule_lag_ns_max,
        }),
        intervals,
    })
}

fn kind(counts: &KindCounts) -> KindParts {
    KindParts {
        operations: counts.operations,
        bytes: counts.bytes,
        histogram: counts.latency_ns.clone(),
    }
}

fn errors(counts: &ErrorCounts) -> Errors {
    let mut errors = Errors {
        total: counts.total(),
        ..Errors::default()
    };
    for entry in counts.entries() {
        let reason = format!("{} {}", kind_word(entry.kind), reason(entry.failure));
        *errors.by_reason.entry(reason).or_default() += entry.count;
    }
    errors.first = counts.first().map(first_error);
    errors
}

/// Where and why an operation failed.
fn first_error(first: &ErrorCount) -> String {
    format!(
        "{} at byte {}: {}",
        kind_word(first.kind),
        first.first_offset_bytes,
        reason(first.failure)
    )
}

/// Per-thread results.
pub(super) fn threads(counts: &[ThreadCounts]) -> Vec<ThreadOutcome> {
    let of_thread = |counts: &ThreadCounts| ThreadOutcome {
        operations: counts.operations,
        cpu_user_ns: counts.cpu.user_ns,
        cpu_system_ns: counts.cpu.system_ns,
        cpu_wait_ns: counts.cpu.waited_ns,
    };
    counts.iter().map(of_thread).collect()
}

/// The pauses of the program that were cut out.
pub(super) fn pauses(totals: &RunTotals) -> Vec<Pause> {
    let pause = |pause: &crate::Pause| Pause {
        at_ns: pause.at_ns,
        duration_ns: pause.duration_ns,
    };
    totals.pauses.iter().map(pause).collect()
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Sync => "sync",
        Kind::Discard => "discard",
    }
}

fn reason(failure: Failure) -> String {
    match failure {
        Failure::Short => "short transfer".to_owned(),
        Failure::Os(number) => error_name(number),
    }
}

/// Operations completed after the stop.
pub(super) fn drain(counts: &DrainCounts) -> Drain {
    Drain {
        operations: counts.operations,
        errors: counts.errors,
        first_error: counts.first_error.as_ref().map(first_error),
        latency_ns_max: counts.latency_ns_max,
        abandoned: counts.abandoned,
    }
}

/// Facts about the engine used.
pub(super) fn engine(facts: &mut EngineFacts, capabilities: &Capabilities) {
    if capabilities.name.is_empty() {
        return;
    }
    capabilities.name.clone_into(&mut facts.name);
    facts.registered_buffers = capabilities.registered_buffers;
    facts.registered_files = capabilities.registered_files;
    facts.polled = capabilities.polled;
    facts.deferred_task_running = capabilities.deferred_task_running;
    facts.completion_hold_ns_max = capabilities.completion_hold_ns_max;
    facts.fallbacks.clone_from(&capabilities.fallbacks);
}

/// How the run ended.
pub(super) fn status(record: &mut RunRecord, totals: &RunTotals) {
    let because = match totals.stop_reason {
        StopReason::Duration | StopReason::Policy | StopReason::Operations => None,
        StopReason::Interrupted => Some("interrupted".to_owned()),
        StopReason::Errors { job } => {
            let job = &record.jobs[job];
            let first = job
                .outcome
                .errors
                .first
                .clone()
                .unwrap_or_else(|| "operations failed".to_owned());
            Some(format!(
                "too many failed operations in a row in job {}; first: {first}",
                job.name
            ))
        }
        StopReason::EngineFailed { job } => {
            let words = totals
                .failure
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            Some(format!(
                "the engine of job {} failed: {words}",
                record.jobs[job].name
            ))
        }
    };
    record.status = if because.is_some() {
        Status::Partial
    } else {
        Status::Complete
    };
    record.partial_because = because;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_recorded_with_the_time_that_it_holds_completions_back() {
        let capabilities = Capabilities {
            name: "io_uring",
            registered_files: true,
            completion_hold_ns_max: 1_000_000,
            ..Capabilities::default()
        };
        let mut facts = EngineFacts::default();
        engine(&mut facts, &capabilities);
        assert_eq!(facts.name, "io_uring");
        assert!(facts.registered_files && !facts.registered_buffers);
        assert_eq!(facts.completion_hold_ns_max, 1_000_000);
        // An engine that never opened has no capabilities.
        engine(&mut facts, &Capabilities::default());
        assert_eq!(facts.name, "io_uring");
    }
}
