//! Warnings as text: code, what is the case, what to do; wrapped to 100 columns.

use stripewise_results::{RunRecord, Severity, Warning};

/// All warnings of runs, each distinct one once, with the number of runs it
/// concerns where that is not all of them.
#[must_use]
pub fn warnings_text(runs: &[RunRecord]) -> String {
    collected(runs)
        .into_iter()
        .map(|(warning, count)| one(warning, count, runs.len()))
        .collect()
}

/// Each distinct warning once, the gravest first, with the number of runs that
/// have it.
pub(crate) fn collected(runs: &[RunRecord]) -> Vec<(&Warning, usize)> {
    let mut seen: Vec<(&Warning, usize)> = Vec::new();
    for run in runs {
        let mut of_this_run: Vec<&str> = Vec::new();
        for warning in run
            .jobs
            .iter()
            .flat_map(|job| &job.warnings)
            .chain(&run.warnings)
        {
            if of_this_run.contains(&warning.code.as_str()) {
                continue;
            }
            of_this_run.push(&warning.code);
            match seen
                .iter_mut()
                .find(|(other, _)| other.code == warning.code)
            {
                Some((_, count)) => *count += 1,
                None => seen.push((warning, 1)),
            }
        }
    }
    seen.sort_by_key(|(warning, _)| std::cmp::Reverse(warning.severity));
    seen
}

/// How grave it is, in a word.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Void => "VOID",
    }
}

/// ` (in 3 of 12 runs)`; nothing where all have it.
pub(crate) fn of_runs(count: usize, runs: usize) -> String {
    if runs > 1 && count < runs {
        format!(" (in {count} of {runs} runs)")
    } else {
        String::new()
    }
}

fn one(warning: &Warning, count: usize, runs: usize) -> String {
    let (word, of) = (severity_word(warning.severity), of_runs(count, runs));
    let mut text = wrapped(
        &format!("{word}[{}]: {}{of}", warning.code, warning.message),
        "  ",
    );
    if !warning.hint.is_empty() {
        text.push_str(&wrapped(&format!("  hint: {}", warning.hint), "        "));
    }
    text
}

/// Wraps at 100 columns; further lines start with `indent`.
#[must_use]
pub fn wrapped(text: &str, indent: &str) -> String {
    const WIDTH: usize = 100;
    let leading: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = String::new();
    let mut line = leading;
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_to_a_hundred_columns_and_nothing_is_lost() {
        let text = "word ".repeat(60);
        let wrapped = wrapped(&text, "  ");
        assert!(wrapped.lines().all(|line| line.chars().count() <= 100));
        assert_eq!(wrapped.split_whitespace().count(), 60);
    }
}
