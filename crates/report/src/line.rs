//! Answers in one line, for `-q`, cron mails and logs.
//!
//! The target comes first, if there is one; then whether its requirements are met, and reservations:
//! void numbers, stopped runs. Then the numbers; warnings by code at the end.

use crate::answers::{limit_words, place_of};
use crate::difference::in_counts;
use crate::faults::verification_verdict;
use crate::number::{latency, rate};
use crate::repetitions::{groups_of, repeated_in_full};
use crate::required::required_words;
use crate::sheet_text::{sheet_line, warning_names};
use crate::sheets::{comparison_sheet, subjects};
use crate::validity::cautions;
use crate::words::series_title;
use stripewise_results::{
    AnswerReason, ComparisonRecord, Document, JobRecord, JobRow, OperationKind, RunRecord,
    SeriesRecord, Severity,
};
use stripewise_stats::{median, median_interval};
use stripewise_units::{counted, distinct, format_rate_interval, in_flight_words};

/// Maximum number of workloads in a line; others are counted.
const WORKLOADS_MAX: usize = 8;

/// Confidence of the intervals of medians.
const LEVEL: f64 = 0.95;

/// Joins a text to one line, with single blanks between words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs or benches in a line: `/data: random read 8K 16 in flight: 742 IOPS, p99 111 ms`.
pub fn document_line(document: &Document) -> String {
    let mut parts: Vec<String> = required_words(document).into_iter().collect();
    parts.extend(cautions(document));
    parts.extend(repeated_in_full(document));
    let measured = match document.series.is_empty() {
        true => of_runs(&document.runs),
        false => of_all_series(document),
    };
    // One of several targets is named before what was measured on it.
    let only = only_target(&measured);
    let mut named = only;
    for (target, part) in &measured {
        parts.push(match target.as_str() {
            target if target == named || target.is_empty() => part.clone(),
            target => format!("{target}: {part}"),
        });
        named = target;
    }
    let failed = document.runs.iter().flat_map(|run| &run.jobs);
    let failed: u64 = failed.map(|job| job.outcome.failures()).sum();
    if failed > 0 {
        let count = usize::try_from(failed).unwrap_or(usize::MAX);
        parts.push(counted(count, "operation failed", "operations failed"));
    }
    let verified = document.runs.iter();
    let verified = verified.filter_map(|run| run.verification.as_deref());
    parts.extend(verified.map(verification_verdict));
    parts.extend(warnings(&document.runs));
    match only {
        "" => joined(&parts),
        target => one_line(&format!("{target}: {}", joined(&parts))),
    }
}

/// The target of all; empty if there are several.
fn only_target(measured: &[(String, String)]) -> &str {
    let targets = measured.iter().map(|(target, _)| target.as_str());
    let mut targets = targets.filter(|target| !target.is_empty());
    let first = targets.next().unwrap_or_default();
    match targets.all(|target| target == first) {
        true => first,
        false => "",
    }
}

/// Joins parts with semicolons. A sentence loses its full stop if more follows.
fn joined(parts: &[String]) -> String {
    let Some((last, before)) = parts.split_last() else {
        return String::new();
    };
    let mut line = String::new();
    for part in before {
        let part = part.trim_end();
        line.push_str(part.strip_suffix('.').unwrap_or(part));
        line.push_str("; ");
    }
    line.push_str(last);
    one_line(&line)
}

/// The findings of an experiment in a line: the sentences of its comparisons.
pub fn experiment_line(records: &[ComparisonRecord]) -> String {
    let printed = records.iter().flat_map(|record| &record.sentences);
    one_line(&distinct(printed.map(String::as_str)).join(" "))
}

/// A comparison in a line: what against what, the verdict, how many rows came out how, and the
/// largest change; of a single row its difference.
pub fn compared_line(records: &[ComparisonRecord]) -> String {
    let mut sheet = comparison_sheet(records, &[], false);
    if let Some(counts) = in_counts(records) {
        let is_said = sheet.title.contains(" against ");
        sheet.answer = match (is_said, subjects(records)) {
            (false, subjects) if !subjects.is_empty() => format!("{counts}, {subjects}"),
            _ => counts,
        };
    }
    sheet_line(&sheet)
}

/// A part for each series, with its target.
fn of_all_series(document: &Document) -> Vec<(String, String)> {
    let of = |series: &SeriesRecord| {
        let is_its = |run: &&RunRecord| run.series.as_deref() == Some(series.id.as_str());
        let run = document.runs.iter().find(is_its);
        let target = run.and_then(|run| run.jobs.first());
        let target = target.map(JobRecord::target_names).unwrap_or_default();
        (target, of_series(series))
    };
    document.series.iter().map(of).collect()
}

/// `random read: 48,200 IOPS ±8 % at p99 < 5 ms`.
fn of_series(series: &SeriesRecord) -> String {
    let name = series_title(&series.name).to_lowercase();
    let Some(answer) = series.answered() else {
        let reason = series
            .no_answer
            .as_deref()
            .unwrap_or("nothing was measured");
        return format!("{name}: no answer; {reason}");
    };
    let amount = crate::sheets::answer_words(series, &answer.record);
    let limit = limit_words(series);
    let at = match (place_of(&answer), answer.reason) {
        (Some(place), _) => format!(" {place}, over {limit}"),
        (None, AnswerReason::Within) => format!(" at {limit}"),
        (None, _) if answer.is_within => String::new(),
        (None, _) => format!(", over {limit}"),
    };
    format!("{name}: {amount}{at}")
}

/// A part for each workload, its repetitions together, with its target.
fn of_runs(runs: &[RunRecord]) -> Vec<(String, String)> {
    let groups = groups_of(runs);
    let shown = groups.iter().take(WORKLOADS_MAX);
    let part = |group: &Vec<(&RunRecord, &JobRecord)>| (group[0].1.target_names(), of_group(group));
    let mut parts: Vec<(String, String)> = shown.map(part).collect();
    if let Some(more @ 1..) = groups.len().checked_sub(WORKLOADS_MAX) {
        let words = format!("and {}", counted(more, "more", "more"));
        parts.push((String::new(), words));
    }
    parts
}

/// `random read 8K 16 in flight: 742 IOPS (740-748; median of 6 runs), p99 113 ms`.
fn of_group(group: &[(&RunRecord, &JobRecord)]) -> String {
    let (run, job) = group[0];
    let row = JobRow { run, job };
    let rates: Vec<f64> = group.iter().map(|(_, job)| job.outcome.iops).collect();
    let middle = median(&rates).unwrap_or(0.0);
    let mut text = format!(
        "{} {} {}",
        job.load_name(),
        job.workload.block_text(),
        in_flight_words(row.threads(), row.outstanding_of_thread())
    );
    text.truncate(text.trim_end().len());
    text.push_str(": ");
    text.push_str(&match (median_interval(&rates, LEVEL), group.len()) {
        (_, 1) => format!("{} IOPS", rate(middle)),
        (Some(ends), runs) => format!(
            "{}, median of {runs} runs",
            format_rate_interval(middle, ends, "IOPS")
        ),
        (None, runs) => format!("{} IOPS, median of {runs} runs", rate(middle)),
    });
    let kinds = row.kinds();
    for kind in OperationKind::ALL {
        let all = group.iter().filter_map(|(_, job)| {
            let outcome = match kind {
                OperationKind::Read => &job.outcome.read,
                OperationKind::Write => &job.outcome.write,
                OperationKind::Discard => job.outcome.discard.as_ref()?,
            };
            // Zero for other tools' results that lack it.
            let p99 = outcome.latency_ns.as_ref()?.p99;
            (p99 > 0).then_some(p99 as f64)
        });
        let all: Vec<f64> = all.collect();
        if let Some(ns) = median(&all) {
            let of = match kinds.len() {
                0 | 1 => String::new(),
                _ => format!(" of {}", kind.plural()),
            };
            let p99 = latency(Some(ns.round() as u64));
            text.push_str(&format!(", p99{of} {p99}"));
        }
    }
    text
}

/// `warnings: cpu-bound, other-load`. Void ones come first in the line already, and notes
/// are omitted.
fn warnings(runs: &[RunRecord]) -> Option<String> {
    let all = crate::warnings::collected(runs);
    let grave = all
        .iter()
        .filter(|(one, _)| one.severity == Severity::Warning);
    warning_names(grave.map(|(warning, _)| warning.code.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_full_stop_stands_before_a_semicolon() {
        let line =
            |parts: &[&str]| joined(&parts.iter().map(|&part| part.into()).collect::<Vec<_>>());
        assert_eq!(line(&[]), "");
        assert_eq!(line(&["Stopped."]), "Stopped.");
        assert_eq!(
            line(&[
                "Stopped before its end:\n  of what ran.",
                "p99 1.5 ms",
                "All held."
            ]),
            "Stopped before its end: of what ran; p99 1.5 ms; All held."
        );
    }
}
