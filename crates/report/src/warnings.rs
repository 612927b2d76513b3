//! Warnings as text: code, fact, remedy.

use std::collections::BTreeMap;
use stripewise_results::{RunRecord, Severity, Warning, warnings_by_code};
use stripewise_units::{distinct, format_count};

/// All distinct warnings of runs, with the number of runs concerned if that is not all
/// of them, and the targets of those runs, in unwrapped
/// lines.
pub fn warnings_text(runs: &[RunRecord]) -> String {
    collected(runs)
        .into_iter()
        .map(|(warning, count)| one(warning, &of_runs(warning, count, runs)))
        .collect()
}

/// Which operations failed with which error, a line for each workload; empty if
/// none failed.
pub fn failed_lines(runs: &[RunRecord]) -> Vec<String> {
    /// Failures of one workload on one target.
    struct Failed<'a> {
        what: String,
        failed: u64,
        operations: u64,
        by_reason: BTreeMap<&'a str, u64>,
        first: Option<&'a str>,
    }
    let mut all: Vec<Failed<'_>> = Vec::new();
    for job in runs.iter().flat_map(|run| &run.jobs) {
        let errors = &job.outcome.errors;
        let later = &job.outcome.drain;
        if job.outcome.failures() == 0 {
            continue;
        }
        let what = format!(
            "{}, {}, on {}",
            job.load_name(),
            job.workload.block_text(),
            job.target.name
        );
        let index = all
            .iter()
            .position(|of| of.what == what)
            .unwrap_or_else(|| {
                all.push(Failed {
                    what,
                    failed: 0,
                    operations: 0,
                    by_reason: BTreeMap::new(),
                    first: errors.first.as_deref().or(later.first_error.as_deref()),
                });
                all.len() - 1
            });
        let of = &mut all[index];
        of.failed = of.failed.saturating_add(job.outcome.failures());
        let tried = job.outcome.operations.saturating_add(errors.total);
        let tried = tried.saturating_add(later.operations);
        of.operations = of.operations.saturating_add(tried);
        let reasons = errors
            .by_reason
            .iter()
            .map(|(why, count)| (why.as_str(), count));
        let later = (later.errors > 0).then_some(("after the stop", &later.errors));
        for (reason, count) in reasons.chain(later) {
            let sum = of.by_reason.entry(reason).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let line = |of: &Failed<'_>| {
        let reasons: Vec<String> = of
            .by_reason
            .iter()
            .map(|(reason, count)| format!("{reason}: {}", format_count(*count)))
            .collect();
        let first = of.first.map(|first| format!("; first: {first}"));
        format!(
            "failed: {}: {} of {} operations ({}){}",
            of.what,
            format_count(of.failed),
            format_count(of.operations),
            reasons.join(", "),
            first.unwrap_or_default()
        )
    };
    all.iter().map(line).collect()
}

/// Each distinct warning once, the most severe first, errors before others as severe, with the
/// number of runs that have it.
pub(crate) fn collected(runs: &[RunRecord]) -> Vec<(&Warning, usize)> {
    let mut seen = warnings_by_code(runs, |_| true);
    // What failed is the first of its severity: other warnings must not push it out of the summary.
    seen.sort_by_key(|(warning, _)| {
        (
            std::cmp::Reverse(warning.severity),
            warning.code != "errors",
        )
    });
    seen
}

/// Its severity as a word.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Void => "VOID",
    }
}

/// ` (in 3 of 12 runs)`, or ` (in 3 of 12 runs: /dev/sdb)` if there are several
/// targets; empty if all runs have it.
pub(crate) fn of_runs(warning: &Warning, count: usize, runs: &[RunRecord]) -> String {
    let some = some_runs(warning, count, runs);
    some.map_or_else(String::new, |some| format!(" (in {some})"))
}

/// `3 of 12 runs`, or `3 of 12 runs: /dev/sdb`; `None` if all runs have it.
pub(crate) fn some_runs(warning: &Warning, count: usize, runs: &[RunRecord]) -> Option<String> {
    /// Maximum number of names listed.
    const NAMED_MAX: usize = 3;
    if runs.len() < 2 || count >= runs.len() {
        return None;
    }
    let targets = |of: &dyn Fn(&RunRecord) -> bool| -> Vec<&str> {
        let jobs = runs.iter().filter(|run| of(run)).flat_map(|run| &run.jobs);
        distinct(jobs.map(|job| job.target.name.as_str()))
    };
    let has = |run: &RunRecord| run.has_warning(&warning.code);
    let (all, concerned) = (targets(&|_| true), targets(&has));
    let where_ = match concerned.len() {
        some if some < all.len() && some <= NAMED_MAX => format!(": {}", concerned.join(", ")),
        _ => String::new(),
    };
    Some(format!("{count} of {} runs{where_}", runs.len()))
}

/// In full; `of` follows its message.
fn one(warning: &Warning, of: &str) -> String {
    let word = severity_word(warning.severity);
    let mut text = format!("{word}[{}]: {}{of}\n", warning.code, warning.message);
    if !warning.hint.is_empty() {
        text.push_str(&format!("  hint: {}\n", warning.hint));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_failed_after_the_stop_are_named_too() {
        let mut run = RunRecord::empty();
        assert!(failed_lines(std::slice::from_ref(&run)).is_empty());
        run.jobs.push(stripewise_results::JobRecord {
            name: "job".to_owned(),
            ..stripewise_results::JobRecord::default()
        });
        let outcome = &mut run.jobs[0].outcome;
        outcome.operations = 100;
        outcome.drain.operations = 8;
        assert!(failed_lines(std::slice::from_ref(&run)).is_empty());
        let outcome = &mut run.jobs[0].outcome;
        outcome.drain.errors = 5;
        outcome.drain.first_error = Some("read at byte 4096: EIO".to_owned());
        let text = failed_lines(&[run]).join("\n");
        assert!(
            text.contains("5 of 108 operations (after the stop: 5); first: read at byte 4096: EIO"),
            "{text}"
        );
    }
}
