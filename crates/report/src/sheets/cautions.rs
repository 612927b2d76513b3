//! Cautions about the numbers of runs, as short lines.

use crate::identity::{NamedSeries, named_series};
use crate::sheet::{Caution, SheetTable};
use crate::validity::{self, Reservation, listed};
use crate::warning_summary::{Marks, chosen};
use crate::warnings::{collected, of_runs, severity_word, some_runs};
use stripewise_results::{Document, LatencySummary, RunRecord, SeriesRecord, Severity, Warning};
use stripewise_units::{counted, format_duration};

/// Void numbers, stopped runs, answers of one run, then the most severe warnings and the number
/// of the rest, unless `explain` prints all of them anyway.
pub(crate) fn cautions(document: &Document, marks: &Marks<'_>, explain: bool) -> Vec<Caution> {
    let runs = &document.runs;
    let is_bench = !document.series.is_empty();
    let own = validity::against(document).into_iter();
    // For a bench, the lines below name the loads whose numbers are void.
    let own = own.filter(|(what, _)| !(is_bench && *what == Reservation::VoidInPart));
    let mut all: Vec<Caution> = own
        .map(|(what, text)| {
            let severity = match what {
                Reservation::Void | Reservation::VoidInPart => Severity::Void,
                Reservation::Stopped | Reservation::RunsApart => Severity::Warning,
            };
            Caution::own(severity, text.trim_end_matches('.'), "")
        })
        .collect();
    all.extend(unanswered(document));
    all.extend(single_runs(&document.series));
    let (mut shown, mut left_out) = chosen(runs);
    // The reason why a load has no answer is a line above.
    let is_listed = |code: &str| all.iter().any(|caution| caution.code == code);
    shown.retain(|(warning, _)| !is_listed(&warning.code));
    let stalls = stalled_steps(document);
    let others = all.len() + usize::from(stalls.is_some());
    // A warning whose mark is in a row needs its line.
    let room = LINES_MAX.saturating_sub(others + 1).max(1);
    if is_bench && marks.is_none() && shown.len() + usize::from(left_out > 0) > room + 1 {
        left_out += shown.len() - room;
        shown.truncate(room);
    }
    let caution = |(warning, count): &(&Warning, usize)| {
        let mark = marks.of_warning(&warning.code);
        let of = loads_concerned(warning, document);
        let of = of.unwrap_or_else(|| concerned(warning, *count, runs));
        Caution::new(warning, format!("{of}{mark}").trim_start())
    };
    all.extend(shown.iter().map(caution));
    all.extend(stalls);
    if left_out > 0 && !explain {
        let more = counted(left_out, "more warning or note", "more warnings and notes");
        all.push(Caution::own(
            Severity::Note,
            format!("{more}: --explain"),
            "",
        ));
    }
    all
}

/// Maximum number of lines, including the one that counts the rest.
const LINES_MAX: usize = 5;

/// A line for each reason why loads have no answer.
fn unanswered(document: &Document) -> Vec<Caution> {
    let mut reasons: Vec<(String, Vec<NamedSeries<'_>>)> = Vec::new();
    for named in named_series(document) {
        let series = named.series;
        let Some(no_answer) = &series.no_answer else {
            continue;
        };
        // The rate so far differs from load to load.
        let sustained = series.sustained.as_ref();
        let why = sustained.and_then(|found| found.not_reached_words(series.only_reads()));
        let why = why.unwrap_or_else(|| no_answer.clone());
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, alike)) => alike.push(named),
            None => reasons.push((why, vec![named])),
        }
    }
    let line = |(why, alike): &(String, Vec<NamedSeries<'_>>)| {
        let titles: Vec<String> = alike.iter().map(NamedSeries::title).collect();
        let text = match alike.as_slice() {
            [one] => one.sentence().trim_end_matches('.').to_owned(),
            _ => format!("{}: no answer; {why}", listed(&titles).unwrap_or_default()),
        };
        let mut codes = alike.iter().flat_map(|one| one.series.void_codes());
        let is_cache = |series: &SeriesRecord| {
            let sustained = series.sustained.as_ref();
            sustained.is_some_and(|found| !found.is_reached())
        };
        let is_listed = alike.iter().all(|one| is_cache(one.series));
        let code = codes.find(|code| is_listed && *code == NOT_SUSTAINED);
        Caution {
            code: code.unwrap_or_default().to_owned(),
            ..Caution::own(Severity::Void, text, "")
        }
    };
    reasons.iter().map(line).collect()
}

/// The warning of loads whose rate is not sustained.
const NOT_SUSTAINED: &str = "not-sustained";

/// `2 of 5 loads: Random write; Log`, if a warning concerns only some loads of a bench.
fn loads_concerned(warning: &Warning, document: &Document) -> Option<String> {
    let all = named_series(document);
    let has = |run: &RunRecord| run.has_warning(&warning.code);
    let concerned = all.iter().filter(|named| {
        let series = named.series;
        let mut runs = document.runs.iter().filter(|run| {
            run.series.as_deref() == Some(series.id.as_str())
                && run.series_part.as_deref() == Some(series.name.as_str())
        });
        runs.any(has)
    });
    let titles: Vec<String> = concerned.map(NamedSeries::title).collect();
    let is_some = (1..all.len()).contains(&titles.len());
    let names = listed(&titles).filter(|_| is_some)?;
    let loads = counted(all.len(), "load", "loads");
    Some(format!("{} of {loads}: {names}", titles.len()))
}

/// Answers based on one run, which has no interval.
pub(crate) fn single_runs(all: &[SeriesRecord]) -> Option<Caution> {
    let answers: Vec<_> = all.iter().filter_map(SeriesRecord::answered).collect();
    let single = answers
        .iter()
        .filter(|answer| answer.record.runs == 1)
        .count();
    let of = match single {
        0 => return None,
        all if all == answers.len() => String::new(),
        some => format!("{some} of {}", counted(answers.len(), "load", "loads")),
    };
    let text = "one run per number, so no interval: the time was too short";
    Some(Caution::own(Severity::Warning, text, of))
}

/// `stalls of up to 300 ms in 9 of 9 steps`, of the loads where at least half of the valid steps of
/// the ladder have one.
fn stalled_steps(document: &Document) -> Option<Caution> {
    let all = named_series(document);
    let (mut titles, mut steps, mut longest) = (Vec::new(), 0, Vec::new());
    for named in &all {
        let valid = named.series.steps.iter().filter(|step| step.counts());
        let latencies: Vec<LatencySummary> = valid.filter_map(|step| step.latency_ns).collect();
        let stalled = latencies.iter().filter(|latency| is_stall(latency));
        let stalls: Vec<u64> = stalled.map(|latency| latency.max).collect();
        // A single step is no ladder.
        if latencies.len() > 1 && 2 * stalls.len() >= latencies.len() {
            titles.push(named.title());
            steps += latencies.len();
            longest.extend(stalls);
        }
    }
    let text = format!(
        "stalls of up to {} in {} of {steps} steps",
        format_duration(*longest.iter().max()?),
        longest.len()
    );
    let loads = counted(all.len(), "load", "loads");
    let of = match listed(&titles).filter(|_| titles.len() < all.len()) {
        Some(names) => format!("{} of {loads}: {names}", titles.len()),
        None => String::new(),
    };
    Some(Caution::own(Severity::Note, text, of))
}

/// Whether the longest operation took far longer than nearly all others.
fn is_stall(latency: &LatencySummary) -> bool {
    latency.max > STALL_NS_MIN && latency.max > STALL_P99S.saturating_mul(latency.p99)
}

/// A longest operation below this is no stall.
const STALL_NS_MIN: u64 = 50_000_000;
/// Nor is one below this multiple of the p99.
const STALL_P99S: u64 = 20;

/// `20 of 23 runs`, with their targets if there are several.
fn concerned(warning: &Warning, count: usize, runs: &[RunRecord]) -> String {
    match (some_runs(warning, count, runs), runs.len()) {
        (Some(some), _) => some,
        (None, 0 | 1) => String::new(),
        (None, _) => "all runs".to_owned(),
    }
}

/// Every warning in full with its remedy.
pub(super) fn explanations(runs: &[RunRecord], marks: &Marks<'_>) -> SheetTable {
    let mut rows = Vec::new();
    for (warning, count) in collected(runs) {
        let name = format!(
            "{}[{}]{}",
            severity_word(warning.severity),
            warning.code,
            marks.of_warning(&warning.code)
        );
        let message = format!("{}{}", warning.message, of_runs(warning, count, runs));
        rows.push(vec![name, message]);
        if !warning.hint.is_empty() {
            rows.push(vec![String::new(), format!("hint: {}", warning.hint)]);
        }
    }
    SheetTable::without_headings("Warnings in full", rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::StepRecord;

    #[test]
    fn stalls_in_half_of_the_steps_of_a_ladder_are_noted() {
        let step = |max: u64| StepRecord {
            latency_ns: Some(LatencySummary {
                p99: 1_000_000,
                max,
                ..LatencySummary::default()
            }),
            ..StepRecord::default()
        };
        let series = |name: &str, maxima: &[u64]| SeriesRecord {
            name: name.to_owned(),
            steps: maxima.iter().map(|max| step(*max)).collect(),
            ..SeriesRecord::default()
        };
        let (stall, none) = (300_000_000, 45_000_000);
        let noted = |series: Vec<SeriesRecord>| {
            let document = Document {
                series,
                ..Document::new(Vec::new())
            };
            stalled_steps(&document).map(|one| (one.text, one.of))
        };
        let found = noted(vec![
            series("random-read", &[stall, none, stall]),
            series("random-write", &[stall, none, none]),
            series("log", &[stall]),
        ]);
        let (text, of) = found.expect("a note");
        assert_eq!(text, "stalls of up to 300 ms in 2 of 3 steps");
        assert_eq!(of, "1 of 3 loads: Random read");
        assert_eq!(noted(vec![series("random-read", &[none, none])]), None);
    }
}
