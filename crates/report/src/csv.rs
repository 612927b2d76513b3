//! Tidy CSV: one row for each job of each run and one for each answer of a bench, one
//! column for each value, units in the headings. Quoted as in RFC 4180; values that a record
//! lacks are empty cells.
//!
//! Text that a spreadsheet would take for a formula gets a leading apostrophe.
//! Numbers are written in full, with a decimal point and without separators.

use crate::number::in_whole_milliseconds;
use crate::plain::plain;
use stripewise_results::{
    AnswerBound, AnswerPlace, Errors, JobRow, KindOutcome, LatencySummary, RunRecord, SeriesRecord,
    Status, Warning,
};

type Cell = fn(&JobRow<'_>) -> String;

/// Columns in order. Names are those of the JSON document, if it has them.
const COLUMNS: [(&str, Cell); 58] = [
    ("run_id", |row| text(&row.run.id)),
    ("started_at", |row| text(&row.run.started_at)),
    ("status", |row| status(row.run.status).to_owned()),
    ("label", |row| optional(row.run.label.as_deref())),
    ("series", |row| optional(row.run.series.as_deref())),
    ("series_part", |row| {
        optional(row.run.series_part.as_deref())
    }),
    ("experiment", |row| {
        place(row, |place| text(&place.experiment))
    }),
    ("experiment_level", |row| {
        place(row, |place| text(&place.level))
    }),
    ("experiment_block", |row| {
        place(row, |place| place.block.to_string())
    }),
    ("experiment_cell", |row| {
        place(row, |place| place.cell.to_string())
    }),
    ("imported_from_tool", |row| {
        imported(row, |from| text(&from.tool))
    }),
    ("imported_from_source", |row| {
        imported(row, |from| text(&from.source))
    }),
    ("host", |row| text(&row.run.host.name)),
    ("job", |row| text(&row.job.name)),
    ("jobs_at_once", |row| row.run.jobs.len().to_string()),
    ("target", |row| text(&every_target(row))),
    ("target_size_bytes", |row| {
        given(row, "jobs.target.size_bytes", row.job.target.size_bytes)
    }),
    ("partition_offset_bytes", |row| {
        number(row.job.target.partition_offset_bytes)
    }),
    ("base_offset_bytes", |row| {
        given(
            row,
            "jobs.workload.base_offset_bytes",
            row.job.workload.base_offset_bytes,
        )
    }),
    ("read_percent", |row| {
        given(
            row,
            "jobs.workload.read_percent",
            row.job.workload.read_percent,
        )
    }),
    ("discard_percent", |row| {
        row.job.workload.discard_percent.to_string()
    }),
    ("pattern", |row| {
        row.pattern().unwrap_or_default().to_owned()
    }),
    ("block_size_bytes", |row| number(row.block_size_bytes())),
    ("threads", |row| number(row.threads())),
    ("outstanding", |row| number(row.outstanding())),
    ("in_flight", |row| number(row.in_flight())),
    ("cache", |row| {
        given(row, "jobs.workload.cache", row.job.workload.cache)
    }),
    ("rate_iops", |row| {
        number(row.job.workload.rate.as_ref().map(|rate| rate.iops))
    }),
    ("think_time_ns", |row| {
        number(row.job.workload.think_time.map(|think| think.pause_ns))
    }),
    ("think_time_every", |row| {
        number(row.job.workload.think_time.map(|think| think.every))
    }),
    ("seed", |row| {
        given(row, "jobs.workload.seed", row.job.workload.seed)
    }),
    ("engine", |row| text(&row.job.engine.name)),
    ("latency_limit", |row| {
        optional(row.run.latency_limit.as_deref())
    }),
    ("duration_ns", |row| number(row.duration_ns())),
    ("operations", |row| number(row.operations())),
    ("bytes", |row| {
        given(row, "jobs.outcome.bytes", row.job.outcome.bytes)
    }),
    ("iops", |row| number(row.iops())),
    ("mib_per_s", |row| number(row.mib_per_s())),
    ("outstanding_mean", |row| {
        given(
            row,
            "jobs.outcome.outstanding_mean",
            row.job.outcome.outstanding_mean,
        )
    }),
    ("read_operations", |row| {
        given(
            row,
            "jobs.outcome.read.operations",
            row.job.outcome.read.operations,
        )
    }),
    ("read_latency_ns_mean", |row| latency(row, "read", "mean")),
    ("read_latency_ns_p50", |row| latency(row, "read", "p50")),
    ("read_latency_ns_p99", |row| latency(row, "read", "p99")),
    ("read_latency_ns_p999", |row| latency(row, "read", "p999")),
    ("read_latency_ns_max", |row| latency(row, "read", "max")),
    ("write_operations", |row| {
        given(
            row,
            "jobs.outcome.write.operations",
            row.job.outcome.write.operations,
        )
    }),
    ("write_latency_ns_mean", |row| latency(row, "write", "mean")),
    ("write_latency_ns_p50", |row| latency(row, "write", "p50")),
    ("write_latency_ns_p99", |row| latency(row, "write", "p99")),
    ("write_latency_ns_p999", |row| latency(row, "write", "p999")),
    ("write_latency_ns_max", |row| latency(row, "write", "max")),
    ("discard_operations", |row| {
        let discard = row.job.outcome.discard.as_ref();
        discard.map_or_else(String::new, |kind| kind.operations.to_string())
    }),
    ("discard_latency_ns_p50", |row| {
        discards_took(row, |latency| latency.p50)
    }),
    ("discard_latency_ns_p99", |row| {
        discards_took(row, |latency| latency.p99)
    }),
    ("errors", errors),
    ("drain_latency_ns_max", |row| {
        given(
            row,
            "jobs.outcome.drain",
            row.job.outcome.drain.latency_ns_max,
        )
    }),
    ("warnings", warnings),
    ("void", |row| text(&row.void_codes().join(" "))),
];

/// Columns of the answers of a bench, empty in the rows of runs.
const ANSWER_COLUMNS: [&str; 8] = [
    "answer",
    "answer_bound",
    "answer_runs",
    "interval_level",
    "iops_low",
    "iops_high",
    "mib_per_s_low",
    "mib_per_s_high",
];

/// The columns that the row of an answer shares with its runs.
const SHARED_COLUMNS: [&str; 18] = [
    "label",
    "series",
    "series_part",
    "imported_from_tool",
    "imported_from_source",
    "host",
    "job",
    "jobs_at_once",
    "target",
    "target_size_bytes",
    "partition_offset_bytes",
    "base_offset_bytes",
    "read_percent",
    "discard_percent",
    "pattern",
    "block_size_bytes",
    "cache",
    "latency_limit",
];

/// A latency of discards; empty if there were none.
fn discards_took(row: &JobRow<'_>, of: fn(&LatencySummary) -> u64) -> String {
    let discard = row.job.outcome.discard.as_ref();
    let latency = discard.and_then(|kind| kind.latency_ns.as_ref());
    number(latency.map(of))
}

/// The heading row, with its line ending.
#[must_use]
pub fn csv_heading() -> String {
    let names = COLUMNS.iter().map(|(name, _)| *name);
    let names: Vec<&str> = names.chain(ANSWER_COLUMNS).collect();
    names.join(",") + "\r\n"
}

/// A row for the answer of a series, with `run` being one of its runs; empty if it has no
/// answer. `answer` gives the origin of the rate (`limit`, `plateau`, `knee`, `highest`, `only`).
#[must_use]
pub fn csv_answer(run: &RunRecord, series: &SeriesRecord) -> String {
    let (Some(answer), Some(job)) = (series.answer, run.jobs.first()) else {
        return String::new();
    };
    let row = JobRow { run, job };
    let of_runs = COLUMNS.iter().map(|(name, cell)| match *name {
        "status" if series.partial => "partial".to_owned(),
        "status" => "complete".to_owned(),
        "in_flight" => answer.in_flight.to_string(),
        "iops" => answer.iops.to_string(),
        "mib_per_s" => answer.mib_per_s.to_string(),
        name if SHARED_COLUMNS.contains(&name) => cell(&row),
        _ => String::new(),
    });
    let of_answer = [
        place_name(answer.at).to_owned(),
        answer.bound.map(bound_name).unwrap_or_default().to_owned(),
        answer.runs.to_string(),
        answer.level.to_string(),
        number(answer.iops_low),
        number(answer.iops_high),
        number(answer.mib_per_s_low),
        number(answer.mib_per_s_high),
    ];
    let cells: Vec<String> = of_runs.chain(of_answer).map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\r\n"
}

fn place_name(place: AnswerPlace) -> &'static str {
    match place {
        AnswerPlace::Limit => "limit",
        AnswerPlace::Plateau => "plateau",
        AnswerPlace::Knee => "knee",
        AnswerPlace::Highest => "highest",
        AnswerPlace::Only => "only",
    }
}

fn bound_name(bound: AnswerBound) -> &'static str {
    match bound {
        AnswerBound::AtLeast => "at-least",
        AnswerBound::AtMost => "at-most",
    }
}

/// A row for each job of a run, with line endings.
#[must_use]
pub fn csv_rows(run: &RunRecord) -> String {
    let mut rows = String::new();
    for job in &run.jobs {
        let row = JobRow { run, job };
        for (index, (_, cell)) in COLUMNS.iter().enumerate() {
            if index > 0 {
                rows.push(',');
            }
            rows.push_str(&quoted(&cell(&row)));
        }
        rows.push_str(&",".repeat(ANSWER_COLUMNS.len()));
        rows.push_str("\r\n");
    }
    rows
}

/// Quotes text that would not be one cell otherwise.
fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

/// A cell with text of users and devices: one cell, and never a formula.
#[must_use]
pub fn csv_text(words: &str) -> String {
    quoted(&text(words))
}

/// Text of users and devices, never a formula, and without control characters.
fn text(text: &str) -> String {
    let text = plain(text);
    match text.trim_start().chars().next() {
        Some('=' | '+' | '-' | '@' | '|' | '%') => format!("'{text}"),
        _ if text.starts_with(['\t', '\r', '\n']) => format!("'{text}"),
        _ => text,
    }
}

/// All targets of a job, `; ` between them.
fn every_target(row: &JobRow<'_>) -> String {
    let further = row.job.further_targets.iter().map(|target| &target.name);
    let names: Vec<&str> = std::iter::once(&row.job.target.name)
        .chain(further)
        .map(String::as_str)
        .collect();
    names.join("; ")
}

fn optional(value: Option<&str>) -> String {
    value.map(text).unwrap_or_default()
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A value if its source provides it.
fn given<T: ToString>(row: &JobRow<'_>, path: &str, value: T) -> String {
    number(row.given(path, value))
}

fn place(row: &JobRow<'_>, of: fn(&stripewise_results::ExperimentPlace) -> String) -> String {
    row.run.experiment.as_ref().map(of).unwrap_or_default()
}

fn imported(row: &JobRow<'_>, of: fn(&stripewise_results::Imported) -> String) -> String {
    row.run.imported.as_ref().map(of).unwrap_or_default()
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Complete => "complete",
        Status::Partial => "partial",
    }
}

fn latency(row: &JobRow<'_>, kind: &str, name: &str) -> String {
    let outcome: &KindOutcome = if kind == "read" {
        &row.job.outcome.read
    } else {
        &row.job.outcome.write
    };
    let Some(latencies) = &outcome.latency_ns else {
        return String::new();
    };
    // SQLIO truncates to whole milliseconds: its 0 means less than one.
    let below_one = in_whole_milliseconds(row.run)
        && match name {
            "mean" => latencies.mean == 0.0,
            "max" => latencies.max == 0,
            _ => false,
        };
    let value = match name {
        _ if below_one => "<1000000".to_owned(),
        "mean" => format!("{:.1}", latencies.mean),
        "p50" => latencies.p50.to_string(),
        "p99" => latencies.p99.to_string(),
        "p999" => number(latencies.p999),
        _ => latencies.max.to_string(),
    };
    given(
        row,
        &format!("jobs.outcome.{kind}.latency_ns.{name}"),
        value,
    )
}

fn errors(row: &JobRow<'_>) -> String {
    let errors: &Errors = &row.job.outcome.errors;
    given(row, "jobs.outcome.errors", errors.total)
}

/// Codes, separated by blanks.
fn warnings(row: &JobRow<'_>) -> String {
    let all = row.run.warnings.iter().chain(&row.job.warnings);
    let codes: Vec<&str> = all.map(|warning: &Warning| warning.code.as_str()).collect();
    text(&codes.join(" "))
}
