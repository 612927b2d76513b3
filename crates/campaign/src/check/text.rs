//! A check in one line.

use super::Answer;
use stripewise_conductor::exit::Exit;
use stripewise_report::{comparison_line, one_line, requirement_line};
use stripewise_results::Verdict;

/// For jobs that mail their output: empty, or one line with everything worse
/// or undecided.
#[must_use]
pub fn line(answer: &Answer, exit: Exit) -> String {
    if exit == Exit::Done {
        return String::new();
    }
    let mut parts = Vec::new();
    let worse = comparison_line(&answer.comparisons, |row| answer.is_loss(row));
    if !worse.is_empty() {
        parts.push(format!("WORSE: {worse}"));
    }
    let undecided = answer.comparisons.iter();
    let undecided = undecided.filter(|one| one.verdict == Verdict::Undecided);
    parts.extend(undecided.map(|one| format!("UNDECIDED: {}", one_line(&one.sentences.join(" ")))));
    let missed = answer.requirements.iter().filter(|one| !one.met);
    parts.extend(missed.map(|one| one_line(&requirement_line(one))));
    if parts.is_empty() {
        // For other findings: the last of the sentences is the verdict.
        parts.extend(answer.sentences.last().map(|text| one_line(text)));
    }
    let line = parts.join("; ");
    match answer.records.first().filter(|_| answer.is_stored) {
        Some(run) => format!("{line} [{}]\n", run.series.as_deref().unwrap_or(&run.id)),
        None => format!("{line}\n"),
    }
}
