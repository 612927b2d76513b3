//! With `-q` an answer is one line on stdout: what cron mails and a log keeps.

use crate::show::context::Context;
use stripewise_report::{Sheet, document_line, one_line, sheet_line};
use stripewise_results::{Document, RunRecord};
use stripewise_store::Store;

/// Prints the whole answer, whose lines fit, or with `-q` its line.
pub fn print_answer(
    context: &Context,
    whole: impl FnOnce() -> String,
    line: impl FnOnce() -> String,
) {
    match context.global.quiet {
        true => context
            .output
            .print_lines(&format!("{}\n", one_line(&line()))),
        false => context.output.print_lines(&whole()),
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

/// Stored runs, and the name of the first.
pub fn stored(document: &Document) -> String {
    let line = document_line(document);
    match document.runs.first() {
        Some(run) => marked(&line, run.series.as_deref().unwrap_or(&run.id)),
        None => line,
    }
}

/// A line with the name under which its answer is kept.
pub fn marked(line: &str, id: &str) -> String {
    format!("{line} [{id}]")
}

/// Prints a sheet, or with `-q` its line.
pub fn print_sheet(context: &Context, sheet: &Sheet) {
    print_answer(context, || context.sheet_text(sheet), || sheet_line(sheet));
}
