//! Warnings about how many operations the result is based on, and which are missing.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_results::{P999_OPERATIONS_MIN, Severity, TargetKind, Warning};
use stripewise_units::{Nanoseconds, advice, format_count, format_duration, format_share};

/// Below this even a mean is rough (10 % standard error for random arrivals).
const OPERATIONS_MIN: u64 = 100;
/// Below this the 99th percentile is based on fewer than ten operations.
const P99_OPERATIONS_MIN: u64 = 1_000;
/// Above this share of failures the rest is not representative of a healthy disk.
const ERROR_SHARE_VOID: f64 = 0.01;

/// Too few operations to be meaningful.
pub fn few_operations(evidence: &Evidence) -> Option<Warning> {
    let operations = evidence.outcome.operations;
    let (severity, message) = match operations {
        // A step that was cut short is marked as such; it is not taken for an answer.
        0 if evidence.interrupted && evidence.outcome.errors.total == 0 => (
            Severity::Note,
            "nothing completed before it was stopped".to_owned(),
        ),
        0 => (
            Severity::Void,
            "no operation completed in the measured time".to_owned(),
        ),
        1..OPERATIONS_MIN => (
            Severity::Warning,
            format!("only {operations} operations completed: the rate itself is rough"),
        ),
        OPERATIONS_MIN..P99_OPERATIONS_MIN => (
            Severity::Note,
            format!("{operations} operations: p99 is based on fewer than ten of them"),
        ),
        _ => return None,
    };
    let hint = if evidence.outcome.errors.total > 0 && operations == 0 {
        "every operation failed: look at the errors".to_owned()
    } else if evidence.interrupted {
        "it was stopped early: let it run to its end".to_owned()
    } else if operations == 0 {
        "look at the drain and the errors: the device may have stalled".to_owned()
    } else {
        let longer = evidence
            .outcome
            .duration_ns
            .saturating_mul(P99_OPERATIONS_MIN)
            .div_ceil(operations);
        format!("measure longer: {}", rerun_longer_hint(evidence, longer))
    };
    let short = format!("only {operations} operations completed");
    Some(
        Code::FewOperations
            .warning(severity, message, hint)
            .shortened(short),
    )
}

/// p99.9 is not shown.
pub fn few_for_p999(evidence: &Evidence) -> Option<Warning> {
    let kinds = [
        ("reads", &evidence.outcome.read),
        ("writes", &evidence.outcome.write),
    ];
    let short: Vec<_> = kinds
        .iter()
        .filter(|(_, kind)| (P99_OPERATIONS_MIN..P999_OPERATIONS_MIN).contains(&kind.operations))
        .collect();
    let least = short.iter().map(|(_, kind)| kind.operations).min()?;
    let counts: Vec<String> = short
        .iter()
        .map(|(name, kind)| format!("{} {name}", format_count(kind.operations)))
        .collect();
    let message = format!(
        "p99.9 is not shown: it needs {} operations, there were {}",
        format_count(P999_OPERATIONS_MIN),
        counts.join(" and ")
    );
    let longer = evidence
        .outcome
        .duration_ns
        .saturating_mul(P999_OPERATIONS_MIN)
        .div_ceil(least.max(1));
    let hint = format!("{} would be enough", rerun_longer_hint(evidence, longer));
    let short = format!("no p99.9: {} are too few", counts.join(" and "));
    let warning = Code::FewForP999.warning(Severity::Note, message, hint);
    Some(warning.shortened(short))
}

/// The option that makes a run this long, ready to be typed.
fn rerun_longer_hint(evidence: &Evidence, ns: u64) -> String {
    let switch = if evidence.quick {
        "--step"
    } else {
        "<--duration>"
    };
    format!("{switch} {}", Nanoseconds(round_up_to_seconds(ns)))
}

fn round_up_to_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000).saturating_mul(1_000_000_000)
}

/// Failed operations.
pub fn errors(evidence: &Evidence) -> Option<Warning> {
    let errors = &evidence.outcome.errors;
    if errors.total == 0 {
        return errors_after_the_stop(evidence);
    }
    let all = errors.total.saturating_add(evidence.outcome.operations);
    let reasons: Vec<String> = errors
        .by_reason
        .iter()
        .map(|(reason, count)| format!("{reason} {}", format_count(*count)))
        .collect();
    let first = errors
        .first
        .as_ref()
        .map(|first| format!("; the first: {first}"))
        .unwrap_or_default();
    let later = match evidence.outcome.drain.errors {
        0 => String::new(),
        later => format!("; {} more after the stop", format_count(later)),
    };
    let message = format!(
        "{} of {} operations failed ({}): {}{first}{later}",
        format_count(errors.total),
        format_count(all),
        percent(errors.total, all),
        reasons.join(", ")
    );
    let void = errors.total as f64 >= ERROR_SHARE_VOID * all as f64;
    // Reasons carry the kind of operation: `write ENOSPC`.
    let names = |name: &str| errors.by_reason.keys().any(|reason| reason.contains(name));
    let hint = errors_hint(evidence, names);
    Some(Code::Errors.warning(
        if void {
            Severity::Void
        } else {
            Severity::Warning
        },
        message,
        hint,
    ))
}

/// Another process changed the file during the run.
pub fn target_changed(evidence: &Evidence) -> Option<Warning> {
    let changed = evidence.changed.as_ref()?;
    let message = format!("the file {} while it was measured", changed.what);
    Some(if changed.cut {
        let hint = "find out what is changing it; what is past its new end was not there before the \
                    run, or is gone";
        Code::TargetChanged.warning(Severity::Void, message, hint)
    } else {
        let hint =
            "the numbers are those of the file that was opened; find out what is changing it";
        Code::TargetChanged.warning(Severity::Warning, message, hint)
    })
}

/// Failures of operations that were in flight at the stop: the window is intact, but the device is
/// not.
fn errors_after_the_stop(evidence: &Evidence) -> Option<Warning> {
    let drain = &evidence.outcome.drain;
    if drain.errors == 0 {
        return None;
    }
    let first = drain
        .first_error
        .as_ref()
        .map(|first| format!("; the first: {first}"))
        .unwrap_or_default();
    let message = format!(
        "{} of the {} operations that completed after the stop failed{first}",
        format_count(drain.errors),
        format_count(drain.operations)
    );
    let names = |name: &str| {
        let first = drain.first_error.as_ref();
        first.is_some_and(|first| first.contains(name))
    };
    Some(Code::Errors.warning(Severity::Warning, message, errors_hint(evidence, names)))
}

/// Hint for errors; `names`: whether one of these reasons occurred.
fn errors_hint(evidence: &Evidence, names: impl Fn(&str) -> bool) -> &'static str {
    let is_device = evidence.target.kind == TargetKind::Device;
    if names("ENOSPC") && is_device {
        "the device responds as if it were gone or smaller (unplugged, detached, resized), or a thin volume below it is full: look at dmesg and lsblk"
    } else if names("ENOSPC") {
        "the file system or thin volume is full: make room and run again"
    } else if names("EIO") {
        "look at the kernel's log (dmesg) and the disk's own (smartctl -a) before trusting it with data"
    } else if names("EAGAIN") {
        // The kernel's log has nothing about it: no device failed.
        "the kernel answered instead of waiting for a layer of the storage that has to wait; run it with \
         `<--engine> threads`; `doctor` shows which engines can read the target"
    } else {
        advice(
            "the kernel's log (dmesg) may say more; failed operations are in neither rate nor latency",
            "Event Viewer (Windows Logs, System) may say more; failed operations are in neither rate nor latency",
        )
    }
}

/// Operations that never came back.
pub fn abandoned(evidence: &Evidence) -> Option<Warning> {
    let abandoned = evidence.outcome.drain.abandoned;
    if abandoned == 0 {
        return None;
    }
    let message = format!(
        "{} operations were still in flight when the time for draining was over; their latencies are not in \
         the percentiles",
        format_count(abandoned)
    );
    let hint = advice(
        "the device stalls: look at the kernel's log (dmesg) for timeouts and resets",
        "the device stalls: look at Event Viewer, Windows Logs, System, for timeouts and resets",
    );
    Some(Code::Abandoned.warning(Severity::Warning, message, hint))
}

/// Arrivals that were due but never issued: latencies longer than any recorded.
pub fn arrivals_not_issued(evidence: &Evidence) -> Option<Warning> {
    let open_loop = evidence.outcome.open_loop.as_ref()?;
    let missing = open_loop
        .arrivals_due
        .saturating_sub(open_loop.arrivals_issued);
    if missing == 0 {
        return None;
    }
    let share = missing as f64 / open_loop.arrivals_due as f64;
    let message = format!(
        "{} of {} arrivals ({}) were due and not issued when time was up, the latest {} behind schedule: \
         the true latencies are longer than shown",
        format_count(missing),
        format_count(open_loop.arrivals_due),
        format_share(share),
        format_duration(open_loop.schedule_lag_ns_max)
    );
    let hint = match &evidence.workload.rate {
        Some(rate) if evidence.outcome.iops > 0.0 && evidence.outcome.iops < 0.95 * rate.iops => {
            format!(
                "{:.0} IOPS are more than this target delivers with {} x {} in flight ({:.0}): lower <--rate>, or allow \
             more in flight",
                rate.iops,
                evidence.workload.threads,
                evidence.workload.outstanding,
                evidence.outcome.iops
            )
        }
        _ => {
            "a stall near the end leaves some behind: measure longer, or lower <--rate>".to_owned()
        }
    };
    // One or two at the very end are just the edge of the window.
    let severity = if share < 0.001 {
        Severity::Note
    } else {
        Severity::Warning
    };
    Some(Code::ArrivalsNotIssued.warning(severity, message, hint))
}

/// Requested items that were left out.
pub fn skipped(evidence: &Evidence) -> Option<Warning> {
    let first = evidence.skipped.first()?;
    let more = match evidence.skipped.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let hint = format!(
        "direct I/O needs offsets and sizes in multiples of {} bytes on this target",
        evidence.target.logical_sector_bytes
    );
    Some(Code::Skipped.warning(Severity::Note, format!("left out: {first}{more}"), hint))
}

/// Intervals that were merged on their way to the store: no counts are missing, and the record has
/// its own.
pub fn store_behind(intervals_joined: u64) -> Option<Warning> {
    if intervals_joined == 0 {
        return None;
    }
    let message = format!(
        "the store could not keep up: {} stored intervals were joined with their neighbours, so \
         latencies over time have less detail; the totals are complete",
        format_count(intervals_joined)
    );
    let hint = "keep results on another disk with --store FILE, or use a longer <--interval>";
    Some(Code::StoreBehind.warning(Severity::Note, message, hint))
}

/// Result of verifying a run's data: `classes` is the number of faults by class; `None` if there
/// are none.
pub fn wrong_data(classes: &std::collections::BTreeMap<String, u64>) -> Option<Warning> {
    if classes.is_empty() {
        return None;
    }
    let each = classes
        .iter()
        .map(|(class, count)| format!("{count} {class}"));
    let message = format!(
        "the storage did not keep the data it was given: {}",
        each.collect::<Vec<_>>().join(", ")
    );
    let hint =
        "Read the faults in this record, and store no data there until their cause is known.";
    Some(Code::WrongData.warning(Severity::Void, message, hint))
}
