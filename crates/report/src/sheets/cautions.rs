//! What must be read with the numbers of runs, in short lines.

use crate::sheet::{Caution, SheetTable};
use crate::validity;
use crate::warning_summary::{Marks, chosen};
use crate::warnings::{collected, of_runs, severity_word};
use stripewise_results::{Document, RunRecord, SeriesRecord, Severity, Warning};
use stripewise_units::counted;

/// Void numbers, runs that were stopped, answers of one run, then the gravest warnings and how
/// many more there are.
pub(crate) fn cautions(document: &Document, marks: &Marks<'_>) -> Vec<Caution> {
    let runs = &document.runs;
    let own = validity::cautions(document).into_iter();
    let mut all: Vec<Caution> = own
        .map(|text| {
            let severity = match text.starts_with("VOID") {
                true => Severity::Void,
                false => Severity::Warning,
            };
            Caution::own(severity, text.trim_end_matches('.'), "")
        })
        .collect();
    for series in document
        .series
        .iter()
        .filter(|series| series.no_answer.is_some())
    {
        let sentence = series.sentence.trim_end_matches('.');
        all.push(Caution::own(Severity::Warning, sentence, ""));
    }
    all.extend(single_runs(&document.series));
    let (shown, left_out) = chosen(runs);
    let caution = |(warning, count): &(&Warning, usize)| {
        let mark = marks.of_warning(&warning.code);
        let of = format!("{}{mark}", concerned(warning, *count, runs));
        Caution::new(warning, of.trim_start())
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

/// Answers that rest on one run, which has no interval.
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

/// `20 of 23 runs`, with their targets where there are several.
fn concerned(warning: &Warning, count: usize, runs: &[RunRecord]) -> String {
    let text = of_runs(warning, count, runs);
    let inside = text.trim_start_matches(" (in ").trim_end_matches(')');
    match (inside.is_empty(), runs.len()) {
        (true, 0 | 1) => String::new(),
        (true, _) => "all runs".to_owned(),
        (false, _) => inside.to_owned(),
    }
}

/// Every warning in full with what to do about it.
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
