//! Runs as a table with a row per job, and one job in full.

use crate::brief::Marks;
use crate::caution::state_in_brief;
use crate::history::shorten;
use crate::number::{latency, latency_cells, rate};
use crate::table::{Column, draw, number, words};
use crate::warnings::wrapped;
use std::borrow::Cow;
use std::fmt::Write;
use stripewise_results::{JobOutcome, JobRecord, KindOutcome, RunRecord};
use stripewise_units::{Percentile, counted, format_bytes, format_count, format_duration};

/// A row per job of each run: what was asked and what came of it. A mixed load
/// has a row for its reads, one for its writes, and one for both.
pub(crate) fn run_rows_table(runs: &[RunRecord], marks: &Marks<'_>) -> String {
    let columns = [
        words("Job"),
        words("Workload"),
        number("Block"),
        number("Offset"),
        number("Thr"),
        number("Out"),
        number("IOPS"),
        number("MiB/s"),
        number("Mean"),
        number("p50"),
        number("p99"),
        number("p99.9"),
        number("Max"),
        words(""),
    ];
    let together = runs.iter().any(|run| run.jobs.len() > 1);
    let mut names = runs.iter().flat_map(|run| &run.jobs).map(|job| &job.name);
    let first_name = names.next();
    let named = together || names.any(|name| Some(name) != first_name);
    let any_offset = runs
        .iter()
        .flat_map(|run| &run.jobs)
        .any(|job| job.workload.base_offset_bytes != 0);
    let mut rows = Vec::new();
    for run in runs {
        for job in &run.jobs {
            let mark = marks.of_row(run, job);
            let name = match (named, together && run.jobs.len() == 1) {
                (false, _) => String::new(),
                (true, false) => shorten(&job.name, 12),
                (true, true) => format!("{} alone", shorten(&job.name, 10)),
            };
            for (kind, outcome) in kinds(job) {
                rows.push(row(run, job, &name, kind, &outcome, any_offset, &mark));
            }
        }
    }
    draw(&columns, &rows)
}

/// The kinds of operation that a job's table rows show: of a mixed load reads and
/// writes apart, and their sum, which has a rate and no latency.
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

/// What a row of a table says of a job's operations of a kind, as [`kinds`] names them:
/// `random 70 % read: writes`. Of a mix with discards each row has its own share, as all
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

/// Of a mix with discards: each kind that it has, and all, whose bytes are those of reads
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

/// The percentiles that were asked for, a line for each kind of operation of each job;
/// nothing where none were.
#[must_use]
pub fn percentiles_text(runs: &[RunRecord], asked: &[Percentile]) -> String {
    if asked.is_empty() {
        return String::new();
    }
    let mut columns = vec![
        words("Job"),
        words("Workload"),
        number("Block"),
        number("Thr"),
    ];
    columns.push(number("Out"));
    let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
    columns.extend(names.iter().map(|name| number(name)));
    let together = runs.iter().any(|run| run.jobs.len() > 1);
    let mut rows = Vec::new();
    for job in runs.iter().flat_map(|run| &run.jobs) {
        let with_latency =
            |(kind, _): &(&str, Cow<'_, KindOutcome>)| ![": both", ": all"].contains(kind);
        for (kind, outcome) in kinds(job).into_iter().filter(with_latency) {
            let workload = &job.workload;
            let mut cells = vec![
                if together {
                    shorten(&job.name, 12)
                } else {
                    String::new()
                },
                row_name(job, kind),
                workload.block_text(),
                workload.threads.to_string(),
                workload.outstanding.to_string(),
            ];
            cells.extend(asked.iter().zip(&names).map(|(percentile, name)| {
                let found = outcome.latency_ns_percentiles.get(name);
                found.map_or_else(
                    || format!("n<{}", format_count(percentile.operations_min())),
                    |ns| format_duration(*ns),
                )
            }));
            rows.push(cells);
        }
    }
    format!("{}\n", draw(&columns, &rows))
}

/// Processor time of a run, thread by thread and processor by processor; nothing where
/// that is not known, as of simulated arrays.
#[must_use]
pub fn processors_text(run: &RunRecord) -> String {
    let mut text = String::new();
    let percent = |part: u64, whole: u64| match whole {
        0 => String::new(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    };
    let columns = ["User", "System", "Operations", "ns each"].map(number);
    let columns: Vec<Column<'_>> = [words("Thread")].into_iter().chain(columns).collect();
    let mut rows = Vec::new();
    for job in &run.jobs {
        for (index, thread) in job.outcome.threads.iter().enumerate() {
            let cpu_ns = thread.cpu_user_ns.saturating_add(thread.cpu_system_ns);
            rows.push(vec![
                format!("{} {}", shorten(&job.name, 20), index + 1),
                percent(thread.cpu_user_ns, job.outcome.duration_ns),
                percent(thread.cpu_system_ns, job.outcome.duration_ns),
                format_count(thread.operations),
                cpu_ns
                    .checked_div(thread.operations)
                    .map_or_else(String::new, format_count),
            ]);
        }
    }
    if !rows.is_empty() {
        let _ = writeln!(
            text,
            "Processor time of each thread, of the measured time\n{}",
            draw(&columns, &rows)
        );
    }
    let rows: Vec<Vec<String>> = (run.processors.iter())
        .map(|one| {
            let all = one
                .busy_ns
                .saturating_add(one.idle_ns)
                .saturating_add(one.steal_ns);
            vec![
                one.number.to_string(),
                percent(one.busy_ns, all),
                percent(one.idle_ns, all),
                percent(one.steal_ns, all),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let columns = [
            number("CPU"),
            number("Busy"),
            number("Idle"),
            number("Stolen"),
        ];
        let _ = writeln!(
            text,
            "Each processor during the run, whatever used it\n{}",
            draw(&columns, &rows)
        );
    }
    text
}

fn row(
    run: &RunRecord,
    job: &JobRecord,
    name: &str,
    kind: &str,
    outcome: &KindOutcome,
    any_offset: bool,
    mark: &str,
) -> Vec<String> {
    let workload = &job.workload;
    let seconds = job.outcome.duration_ns as f64 / 1e9;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let mut cells = vec![
        name.to_owned(),
        row_name(job, kind),
        workload.block_text(),
        if any_offset {
            stripewise_units::ByteSize(workload.base_offset_bytes).to_string()
        } else {
            String::new()
        },
        workload.threads.to_string(),
        workload.outstanding.to_string(),
        rate(per_second(outcome.operations as f64)),
        rate(per_second(outcome.bytes as f64 / 1_048_576.0)),
    ];
    cells.extend(latency_cells(outcome.latency_ns.as_ref()));
    let state = state_in_brief(run, job);
    cells.push([state.as_str(), mark].join(" ").trim().to_owned());
    cells
}

/// What the table has no room for: counts, depth, cost, errors, drain.
#[must_use]
pub fn job_details(job: &JobRecord) -> String {
    let outcome = &job.outcome;
    let mut text = format!(
        "{}: {}, {} in {}; {:.1} outstanding on average; {}{}\n",
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
            // Rebuilt after its process was killed: nobody knows.
            (true, _) => "",
            (false, true) => " (registered buffers)",
            (false, false) => "",
        },
    );
    let cpu_ns = (
        outcome.cpu_user_ns_per_operation,
        outcome.cpu_system_ns_per_operation,
    );
    // Simulated operations cost no time of a processor that anybody asks about.
    if cpu_ns != (0.0, 0.0) {
        let _ = writeln!(
            text,
            "  processor time of the workers: {:.0} ns user and {:.0} ns system an operation",
            cpu_ns.0, cpu_ns.1
        );
    }
    if let Some(think) = &job.workload.think_time {
        let _ = writeln!(text, "  think time: {}", think.describe());
    }
    if let Some(own) = job.engine.null_ns_per_operation {
        let _ = writeln!(
            text,
            "  own cost without a disk: {own:.1} ns an operation and thread"
        );
    }
    if let Some(open) = &outcome.open_loop {
        let _ = writeln!(
            text,
            "  open loop: {} arrivals due, {} issued, at most {} late",
            format_count(open.arrivals_due),
            format_count(open.arrivals_issued),
            format_duration(open.schedule_lag_ns_max),
        );
    }
    text.push_str(&trouble(outcome));
    text.lines().map(|line| wrapped(line, "    ")).collect()
}

/// Bytes that were moved; of discards, which move none, those that they named.
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

/// Errors, and what the window did not see.
fn trouble(outcome: &JobOutcome) -> String {
    let mut text = String::new();
    if outcome.errors.total > 0 {
        let reasons: Vec<String> = outcome
            .errors
            .by_reason
            .iter()
            .map(|(reason, count)| format!("{reason}: {}", format_count(*count)))
            .collect();
        let first = outcome.errors.first.as_deref().unwrap_or("unknown");
        let _ = writeln!(
            text,
            "  ERRORS: {} ({}); first: {first}",
            format_count(outcome.errors.total),
            reasons.join(", ")
        );
    }
    if outcome.drain.abandoned > 0 {
        let _ = writeln!(
            text,
            "  {} operations had not completed when the wait for them ended (longest of the drained: {})",
            outcome.drain.abandoned,
            latency(Some(outcome.drain.latency_ns_max)),
        );
    }
    if outcome.drain.latency_ns_max > longest_measured_ns(outcome) {
        let _ = writeln!(
            text,
            "  after the stop: {} operations completed, the slowest after {}",
            outcome.drain.operations,
            latency(Some(outcome.drain.latency_ns_max)),
        );
    }
    text
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

/// What a stored run was: when, where, on what, by which command.
#[must_use]
pub fn run_header(run: &RunRecord) -> String {
    let mut text = format!(
        "Run {}, started {} on {}",
        run.id, run.started_at, run.host.name
    );
    if let Some(label) = &run.label {
        let _ = write!(text, ", \"{label}\"");
    }
    text.push('\n');
    for job in &run.jobs {
        let target = &job.target;
        let _ = write!(
            text,
            "Target of {}: {}, {}",
            job.name,
            target.name,
            format_bytes(target.size_bytes)
        );
        if let Some(file_system) = &target.file_system {
            let _ = write!(
                text,
                ", {} at {}",
                file_system.kind, file_system.mount_point
            );
        }
        if let Some(device) = &target.device {
            let _ = write!(text, ", device {}", device.name);
        }
        let _ = writeln!(
            text,
            "; cache mode {}, seed {}",
            job.workload.cache, job.workload.seed
        );
        if let Some(rate) = &job.workload.rate {
            let _ = writeln!(
                text,
                "Rate of {}: {} IOPS, {} arrivals",
                job.name, rate.iops, rate.arrivals
            );
        }
        if let Some(think) = &job.workload.think_time {
            let _ = writeln!(text, "Think time of {}: {}", job.name, think.describe());
        }
    }
    if !run.command.is_empty() {
        let _ = writeln!(text, "Command: {}", run.command.join(" "));
    }
    text.lines().map(|line| wrapped(line, "  ")).collect()
}
