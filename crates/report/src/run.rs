//! Runs as a table with one row per job, and one job in full.

use crate::number::latency;
use crate::sheet::{Column, SheetTable};
use std::borrow::Cow;
use stripewise_results::{
    JobOutcome, JobRecord, KindOutcome, ProcessorUse, RunRecord, ThreadOutcome, VolumeReport,
    where_latency_arises,
};
use stripewise_units::{Percentile, counted, format_bytes, format_count, format_duration};

/// The kinds of operation in the rows of a job: for a mixed load, reads and
/// writes separately, and their sum, which has a rate and no latency.
pub(crate) fn kinds(job: &JobRecord) -> Vec<(&'static str, Cow<'_, KindOutcome>)> {
    let outcome = &job.outcome;
    let workload = &job.workload;
    let mut kinds = match (workload.read_percent, workload.discard_percent) {
        (100, _) => vec![("", Cow::Borrowed(&outcome.read))],
        (0, 0) => vec![("", Cow::Borrowed(&outcome.write))],
        (_, 100) => vec![("", Cow::Owned(outcome.discard.clone().unwrap_or_default()))],
        (_, 0) => vec![
            (": reads", Cow::Borrowed(&outcome.read)),
            (": writes", Cow::Borrowed(&outcome.write)),
            (": both", Cow::Owned(both(outcome))),
        ],
        (reads, _) => with_discards(outcome, reads > 0, workload.writes()),
    };
    if let Some(sync) = &outcome.sync {
        kinds.push((": syncs", Cow::Borrowed(sync)));
    }
    kinds
}

/// Label of a job's operations of a kind, as [`kinds`] names them:
/// `random 70 % read: writes`. For a mix with discards, each row has its own share, since all
/// shares in each would be too wide for a table: `random write, 20 %`.
pub(crate) fn row_name(job: &JobRecord, kind: &str) -> String {
    let workload = &job.workload;
    let mut shares = workload.operation_shares();
    let is_mixed = !matches!(workload.discard_percent, 0 | 100);
    let share = shares.find(|(_, name)| kind.strip_prefix(": ") == Some(&format!("{name}s")));
    match (is_mixed, share) {
        (true, Some((percent, name))) => format!("{} {name}, {percent} %", job.pattern_name()),
        (true, None) => format!("{}{kind}", job.pattern_name()),
        (false, _) => format!("{}{kind}", job.load_name()),
    }
}

/// For a mix with discards: each kind that it has, and all, whose bytes are those of reads
/// and writes.
fn with_discards(
    outcome: &JobOutcome,
    reads: bool,
    writes: bool,
) -> Vec<(&'static str, Cow<'_, KindOutcome>)> {
    let discard = outcome.discard.clone().unwrap_or_default();
    let kinds = [
        (reads, ": reads", Cow::Borrowed(&outcome.read)),
        (writes, ": writes", Cow::Borrowed(&outcome.write)),
        (true, ": discards", Cow::Owned(discard)),
        (true, ": all", Cow::Owned(both(outcome))),
    ];
    let had = kinds.into_iter().filter(|(has, ..)| *has);
    had.map(|(_, name, kind)| (name, kind)).collect()
}

fn both(outcome: &JobOutcome) -> KindOutcome {
    KindOutcome {
        operations: outcome.operations,
        bytes: outcome.bytes,
        ..KindOutcome::default()
    }
}

/// The requested percentiles, a row for each kind of operation of each job; `None`
/// if none were requested.
pub(crate) fn percentiles_table(
    runs: &[RunRecord],
    requested: &[Percentile],
) -> Option<SheetTable> {
    if requested.is_empty() {
        return None;
    }
    let words = [Column::text("Job"), Column::text("Workload")];
    let numbers = ["Block", "Threads", "QD"].map(Column::number);
    let names: Vec<String> = requested.iter().map(ToString::to_string).collect();
    let named = names.iter().map(|name| Column::number(name));
    let columns: Vec<Column> = words.into_iter().chain(numbers).chain(named).collect();
    let together = runs.iter().any(|run| run.jobs.len() > 1);
    let mut rows = Vec::new();
    for job in runs.iter().flat_map(|run| &run.jobs) {
        let with_latency =
            |(kind, _): &(&str, Cow<'_, KindOutcome>)| ![": both", ": all"].contains(kind);
        for (kind, outcome) in kinds(job).into_iter().filter(with_latency) {
            let workload = &job.workload;
            let mut cells = vec![
                if together {
                    job.name.clone()
                } else {
                    String::new()
                },
                row_name(job, kind),
                workload.block_text(),
                workload.threads.to_string(),
                workload.outstanding.to_string(),
            ];
            cells.extend(requested.iter().zip(&names).map(|(percentile, name)| {
                let found = outcome.latency_ns_percentiles.get(name);
                found.map_or_else(
                    || format!("n<{}", format_count(percentile.operations_min())),
                    |ns| format_duration(*ns),
                )
            }));
            rows.push(cells);
        }
    }
    Some(SheetTable::new("", columns, rows))
}

/// Processor time of a run by thread and by processor; tables without rows
/// if that is not known, as for simulated arrays.
pub(crate) fn processor_tables(run: &RunRecord) -> [SheetTable; 2] {
    let percent = |part: u64, whole: u64| match whole {
        0 => String::new(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    };
    let thread = |job: &JobRecord, index: usize, thread: &ThreadOutcome| {
        let cpu_ns = thread.cpu_user_ns.saturating_add(thread.cpu_system_ns);
        let each = cpu_ns.checked_div(thread.operations);
        vec![
            format!("{} {}", job.name, index + 1),
            percent(thread.cpu_user_ns, job.outcome.duration_ns),
            percent(thread.cpu_system_ns, job.outcome.duration_ns),
            format_count(thread.operations),
            each.map_or_else(String::new, format_count),
        ]
    };
    let threads = run.jobs.iter().flat_map(|job| {
        let all = job.outcome.threads.iter().enumerate();
        all.map(move |(index, one)| thread(job, index, one))
    });
    let processor = |one: &ProcessorUse| {
        let all = one.busy_ns.saturating_add(one.idle_ns);
        let all = all.saturating_add(one.steal_ns);
        vec![
            one.number.to_string(),
            percent(one.busy_ns, all),
            percent(one.idle_ns, all),
            percent(one.steal_ns, all),
        ]
    };
    let numbers = ["User", "System", "Operations", "ns each"].map(Column::number);
    let columns = [Column::text("Thread")].into_iter().chain(numbers);
    [
        SheetTable::new(
            "Processor time of each thread, of the measured time",
            columns,
            threads.collect(),
        ),
        SheetTable::new(
            "Each processor during the run, including other programs",
            ["CPU", "Busy", "Idle", "Stolen"].map(Column::number),
            run.processors.iter().map(processor).collect(),
        ),
    ]
}

/// Details that do not fit in the table: counts, depth, cost, errors, drain.
pub(crate) fn job_details(job: &JobRecord) -> Vec<String> {
    let outcome = &job.outcome;
    let mut lines = vec![format!(
        "{}: {}, {} in {}; {:.1} in flight on average; {}{}",
        job.name,
        counted(
            usize::try_from(outcome.operations).unwrap_or(usize::MAX),
            "operation",
            "operations"
        ),
        amount(job),
        format_duration(outcome.duration_ns),
        outcome.outstanding_mean,
        job.engine.name,
        match (job.engine.name.is_empty(), job.engine.registered_buffers) {
            // Rebuilt after its process was killed: unknown.
            (true, _) => "",
            (false, true) => " (registered buffers)",
            (false, false) => "",
        },
    )];
    let cpu_ns = (
        outcome.cpu_user_ns_per_operation,
        outcome.cpu_system_ns_per_operation,
    );
    // Processor time of simulated operations is not of interest.
    if cpu_ns != (0.0, 0.0) {
        lines.push(format!(
            "processor time of the workers: {:.0} ns user and {:.0} ns system an operation",
            cpu_ns.0, cpu_ns.1
        ));
    }
    if let Some(think) = &job.workload.think_time {
        lines.push(format!("think time: {}", think.describe()));
    }
    if let Some(own) = job.engine.null_ns_per_operation {
        lines.push(format!(
            "overhead of the program: {own:.1} ns per operation"
        ));
    }
    let recorded = job.workload.recorded.as_ref();
    if recorded.is_some_and(|recorded| recorded.closed) {
        lines.push(
            "closed loop: each operation was issued after the one that it waited for, and its \
             think time"
                .to_owned(),
        );
    } else if let Some(open) = &outcome.open_loop {
        lines.push(format!(
            "open loop: {} arrivals due, {} issued, at most {} late",
            format_count(open.arrivals_due),
            format_count(open.arrivals_issued),
            format_duration(open.schedule_lag_ns_max),
        ));
    }
    if let Some(replay) = &outcome.replay {
        lines.extend(crate::replay::replay_lines(replay));
    }
    if let Some(volume) = &outcome.volume {
        lines.extend(volume_lines(volume, outcome));
    }
    lines.extend(trouble(outcome));
    lines
}

/// Where latency arises, by the volume's own reports, for the kinds that it saw.
fn volume_lines(volume: &VolumeReport, outcome: &JobOutcome) -> Vec<String> {
    let name = format!("{} ({})", volume.device, volume.source);
    if let Some(reason) = &volume.not_read {
        return vec![format!("{name}: not read ({reason})")];
    }
    let kinds = [
        ("reads", &volume.read, &outcome.read),
        ("writes", &volume.write, &outcome.write),
    ];
    let each = kinds.into_iter().filter_map(|(kind, there, here)| {
        let here_ns = here.latency_ns.as_ref()?.mean;
        let parts = where_latency_arises(there.latency_ns_mean()?, here_ns)?;
        Some(format!("{name}: {kind} {parts}"))
    });
    each.collect()
}

/// Bytes moved; for discards, which move none, the bytes discarded.
fn amount(job: &JobRecord) -> String {
    let outcome = &job.outcome;
    let moved = format_bytes(outcome.bytes);
    let discarded = outcome.discard.as_ref().map(|kind| kind.bytes);
    match discarded.map(|bytes| format!("{} discarded", format_bytes(bytes))) {
        None => moved,
        Some(discarded) if job.workload.discard_percent == 100 => discarded,
        Some(discarded) => format!("{moved} moved, {discarded}"),
    }
}

/// Errors, and operations outside the window.
fn trouble(outcome: &JobOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    if outcome.errors.total > 0 {
        let reasons: Vec<String> = outcome
            .errors
            .by_reason
            .iter()
            .map(|(reason, count)| format!("{reason}: {}", format_count(*count)))
            .collect();
        let first = outcome.errors.first.as_deref().unwrap_or("unknown");
        lines.push(format!(
            "ERRORS: {} ({}); first: {first}",
            format_count(outcome.errors.total),
            reasons.join(", ")
        ));
    }
    if outcome.drain.abandoned > 0 {
        lines.push(format!("{} operations had not completed when the wait for them ended (longest of the drained: {})",
            outcome.drain.abandoned,
            latency(Some(outcome.drain.latency_ns_max)),
        ));
    }
    if outcome.drain.latency_ns_max > longest_measured_ns(outcome) {
        let failed = match outcome.drain.errors {
            0 => String::new(),
            errors => format!(" ({} of them failed)", format_count(errors)),
        };
        lines.push(format!(
            "after the stop: {} operations completed{failed}, the slowest after {}",
            outcome.drain.operations,
            latency(Some(outcome.drain.latency_ns_max)),
        ));
    }
    lines
}

/// The largest latency of the measured window, of any kind.
fn longest_measured_ns(outcome: &JobOutcome) -> u64 {
    let kinds = [
        Some(&outcome.read),
        Some(&outcome.write),
        outcome.sync.as_ref(),
        outcome.discard.as_ref(),
    ];
    kinds
        .into_iter()
        .flatten()
        .filter_map(|kind| kind.latency_ns.as_ref())
        .map(|latency| latency.max)
        .max()
        .unwrap_or(0)
}
