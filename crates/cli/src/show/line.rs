//! With `-q`, an answer is one line on stdout, for cron mails and logs.

use crate::failure::Outcome;
use crate::show::context::Context;
use serde::Serialize;
use stripewise_report::{Sheet, document_line, one_line, sheet_line};
pub use stripewise_report::{marked, marked_to_go_on};
use stripewise_results::{Document, RunRecord};
use stripewise_store::Store;

/// Prints the whole answer, whose lines fit, or with `-q` its one-line form.
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

/// With `--json` prints the document, otherwise what `people` prints.
pub fn print_or(
    context: &Context,
    document: &impl Serialize,
    people: impl FnOnce(),
) -> Outcome<()> {
    match context.global.json {
        true => context.output.print_json(document),
        false => {
            people();
            Ok(())
        }
    }
}

/// Prints a result: with `--json` its document, with `-q` its one-line form, otherwise its sheet.
pub fn print_result(
    context: &Context,
    document: &impl Serialize,
    sheet: impl FnOnce() -> Sheet,
    line: impl FnOnce() -> String,
) -> Outcome<()> {
    print_or(context, document, || {
        print_answer(context, || context.sheet_text(&sheet()), line);
    })
}

/// Runs that were just made, with the id under which they are stored.
pub fn made(store: &Store, document: &Document) -> String {
    named(document, |run| store.keeps(&run.id))
}

/// Stored runs, with the id of the first.
pub fn stored(document: &Document) -> String {
    named(document, |_| true)
}

fn named(document: &Document, is_stored: impl Fn(&RunRecord) -> bool) -> String {
    let line = document_line(document);
    match document.runs.iter().find(|run| is_stored(run)) {
        Some(run) => marked(&line, run.series.as_deref().unwrap_or(&run.id)),
        None => line,
    }
}

/// Prints a sheet, or with `-q` its one-line form.
pub fn print_sheet(context: &Context, sheet: &Sheet) {
    print_answer(context, || context.sheet_text(sheet), || sheet_line(sheet));
}
