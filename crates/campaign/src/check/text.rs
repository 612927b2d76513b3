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
    parts.extend(undecided.map(|one| {
        // How much may have been lost, and then why it cannot be told.
        let rows = comparison_line(std::slice::from_ref(one), |row| {
            let is_void = !row.void.is_empty();
            row.verdict == Verdict::Undecided && row.interval_percent.is_some() && !is_void
        });
        let why = one_line(&one.sentences.join(" "));
        let parts = [rows, why];
        let parts: Vec<&str> = (parts.iter().map(String::as_str))
            .filter(|part| !part.is_empty())
            .collect();
        format!("UNDECIDED: {}", parts.join("; "))
    }));
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
