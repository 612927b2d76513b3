//! Tidy CSV: one row for each job of each run and one for each answer of a bench, one
//! column for each value, units in the headings. Quoted as in RFC 4180; values that a record
//! lacks are empty cells.
//!
//! Text that a spreadsheet would take for a formula gets a leading apostrophe.
//! Numbers are written in full, with a decimal point and without separators.

use crate::number::in_whole_milliseconds;
use crate::plain::plain;
use stripewise_results::{
    AnswerBound, AnswerPlace, Errors, JobRow, KindOutcome, LatencySummary, OperationKind,
    RunRecord, SeriesRecord, Warning,
};

type Cell = fn(&JobRow<'_>) -> String;

/// Rows of a name, and the cell of a row.
macro_rules! columns {
    ($row:ident => $($name:literal: $cell:expr;)+) => {
        [$(($name, |$row| $cell)),+]
    };
}

/// A number of the job, if its source gives it.
macro_rules! given_field {
    ($row:ident, $($field:ident).+) => {
        given($row, concat!("jobs", $(".", stringify!($field)),+), $row.job.$($field).+)
    };
}

/// Columns in order. Names are those of the JSON document, if it has them.
const COLUMNS: [(&str, Cell); 60] = columns! { row =>
    "run_id": text(&row.run.id);
    "started_at": text(&row.run.started_at);
    "status": row.run.status.name().to_owned();
    "label": optional(row.run.label.as_deref());
    "series": optional(row.run.series.as_deref());
    "series_part": optional(row.run.series_part.as_deref());
    "experiment": place(row, |place| text(&place.experiment));
    "experiment_level": place(row, |place| text(&place.level));
    "experiment_block": place(row, |place| place.block.to_string());
    "experiment_cell": place(row, |place| place.cell.to_string());
    "imported_from_tool": imported(row, |from| text(&from.tool));
    "imported_from_source": imported(row, |from| text(&from.source));
    "host": text(&row.run.host.name);
    "job": text(&row.job.name);
    "jobs_at_once": row.run.jobs.len().to_string();
    "target": text(&every_target(row));
    "target_size_bytes": given_field!(row, target.size_bytes);
    "partition_offset_bytes": number(row.job.target.partition_offset_bytes);
    "base_offset_bytes": given_field!(row, workload.base_offset_bytes);
    "read_percent": given_field!(row, workload.read_percent);
    "discard_percent": row.job.workload.discard_percent.to_string();
    "pattern": row.pattern().unwrap_or_default().to_owned();
    "block_size_bytes": number(row.block_size_bytes());
    "threads": number(row.threads());
    "outstanding": number(row.outstanding());
    "in_flight": number(row.in_flight());
    "cache": given_field!(row, workload.cache);
    "rate_iops": number(row.job.workload.rate.as_ref().map(|rate| rate.iops));
    "think_time_ns": number(row.job.workload.think_time.map(|think| think.pause_ns));
    "think_time_every": number(row.job.workload.think_time.map(|think| think.every));
    "seed": given_field!(row, workload.seed);
    "engine": text(&row.job.engine.name);
    "latency_limit": optional(row.run.latency_limit.as_deref());
    "duration_ns": number(row.duration_ns());
    "operations": number(row.operations());
    "bytes": given_field!(row, outcome.bytes);
    "iops": number(row.iops());
    "mib_per_s": number(row.mib_per_s());
    "outstanding_mean": given_field!(row, outcome.outstanding_mean);
    "read_iops": number(row.iops_of(OperationKind::Read));
    "read_operations": given_field!(row, outcome.read.operations);
    "read_latency_ns_mean": latency(row, "read", "mean");
    "read_latency_ns_p50": latency(row, "read", "p50");
    "read_latency_ns_p99": latency(row, "read", "p99");
    "read_latency_ns_p999": latency(row, "read", "p999");
    "read_latency_ns_max": latency(row, "read", "max");
    "write_iops": number(row.iops_of(OperationKind::Write));
    "write_operations": given_field!(row, outcome.write.operations);
    "write_latency_ns_mean": latency(row, "write", "mean");
    "write_latency_ns_p50": latency(row, "write", "p50");
    "write_latency_ns_p99": latency(row, "write", "p99");
    "write_latency_ns_p999": latency(row, "write", "p999");
    "write_latency_ns_max": latency(row, "write", "max");
    "discard_operations": number(row.job.outcome.discard.as_ref().map(|kind| kind.operations));
    "discard_latency_ns_p50": discards_took(row, |latency| latency.p50);
    "discard_latency_ns_p99": discards_took(row, |latency| latency.p99);
    "errors": errors(row);
    "drain_latency_ns_max":
        given(row, "jobs.outcome.drain", row.job.outcome.drain.latency_ns_max);
    "warnings": warnings(row);
    "void": text(&row.void_codes().join(" "));
};

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
pub fn csv_heading() -> String {
    let names = COLUMNS.iter().map(|(name, _)| *name);
    let names: Vec<&str> = names.chain(ANSWER_COLUMNS).collect();
    names.join(",") + "\r\n"
}

/// A row for the answer of a series, with `run` being one of its runs; empty if it has no
/// answer. `answer` gives the origin of the rate (`limit`, `plateau`, `knee`, `highest`, `only`).
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
