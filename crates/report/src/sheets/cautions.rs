//! Cautions about the numbers of runs, as short lines.

use crate::identity::{NamedSeries, named_series};
use crate::sheet::{Caution, SheetTable};
use crate::validity::{self, Reservation, listed};
use crate::warning_summary::{Marks, chosen};
use crate::warnings::{collected, of_runs, severity_word, some_runs};
use stripewise_results::{Document, RunRecord, SeriesRecord, Severity, SustainedRecord, Warning};
use stripewise_units::counted;

/// Void numbers, stopped runs, answers of one run, then the most severe warnings and the number
/// of the rest.
pub(crate) fn cautions(document: &Document, marks: &Marks<'_>) -> Vec<Caution> {
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
    // A warning whose mark is in a row needs its line.
    let room = LINES_MAX.saturating_sub(all.len() + 1).max(1);
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
    if left_out > 0 {
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
        let why = sustained.and_then(SustainedRecord::not_reached_words);
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
            sustained.is_some_and(|found| found.not_reached_words().is_some())
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
