//! With `-q` an answer is one line on stdout: what cron mails and a log keeps.

use crate::show::context::Context;
use stripewise_report::{document_line, one_line};
use stripewise_results::{Document, RunRecord};
use stripewise_store::Store;

/// Prints the whole answer, or with `-q` its line.
pub fn print_answer(
    context: &Context,
    whole: impl FnOnce() -> String,
    line: impl FnOnce() -> String,
) {
    match context.global.quiet {
        true => context
            .output
            .print_text(&format!("{}\n", one_line(&line()))),
        false => context.output.print_text(&whole()),
    }
}

/// Runs that were just made, and the name under which they are kept.
pub fn made(store: &Store, document: &Document) -> String {
    let line = document_line(document);
    let kept = |run: &&RunRecord| store.keeps(&run.id);
    match document.runs.iter().find(kept) {
        Some(run) => marked(&line, run.series.as_deref().unwrap_or(&run.id)),
        None => line,
    }
}

/// A line with the name under which its answer is kept.
pub fn marked(line: &str, id: &str) -> String {
    format!("{line} [{id}]")
}

/// A heading and what stands below it: `HEADING: one; another`.
pub fn folded(text: &str) -> String {
    let mut lines = text.lines().map(one_line).filter(|line| !line.is_empty());
    let heading = lines.next().unwrap_or_default();
    let rest: Vec<String> = lines
        .map(|line| line.trim_end_matches('.').to_owned())
        .collect();
    match rest.is_empty() {
        true => heading,
        false => format!("{}: {}", heading.trim_end_matches('.'), rest.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_folds_into_a_line() {
        let text = "/dev/sdb\n  stripe unit   64K (65536 bytes)\n  disks         3\n\nIt is so.\n";
        assert_eq!(
            folded(text),
            "/dev/sdb: stripe unit 64K (65536 bytes); disks 3; It is so"
        );
        assert_eq!(folded("No answer.\n"), "No answer.");
    }
}
