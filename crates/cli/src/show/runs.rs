//! Shows finished runs on stdout.

use crate::show::context::Context;
use crate::show::line;
use std::path::Path;
use stripewise_report::{RunsLook, Sheet, again_by, runs_origin, runs_sheet};
use stripewise_results::{Document, RunRecord};
use stripewise_store::Store;
use stripewise_units::NameText;

/// Stored runs: their origin, then all details.
pub fn print_stored(context: &Context, document: &Document, look: &RunsLook<'_>) {
    let whole = || {
        let mut sheet = runs_sheet(document, look);
        sheet.pointers = runs_origin(document);
        context.sheet_text(&sheet)
    };
    line::print_answer(context, whole, || line::stored(document));
}

/// Runs that were just made: all details, and where they are stored.
pub fn print_made(context: &Context, store: &Store, document: &Document, look: &RunsLook<'_>) {
    let sheet = runs_sheet(document, look);
    print_sheet(context, store, document, sheet, look, None);
}

/// The same for a prepared sheet, with the file of a report.
pub fn print_sheet(
    context: &Context,
    store: &Store,
    document: &Document,
    mut sheet: Sheet,
    look: &RunsLook<'_>,
    report: Option<&Path>,
) {
    let report = report.map(|path| ("Report".to_owned(), path.as_text()));
    sheet.pointers.extend(report);
    sheet.pointers.extend(again(store, &document.runs, look));
    line::print_answer(
        context,
        || context.sheet_text(&sheet),
        || line::made(store, document),
    );
}

/// The commands that show runs that were just made, by the current state of the store, with the
/// switches that show more than this look; nothing for runs it does not have.
fn again(store: &Store, runs: &[RunRecord], look: &RunsLook<'_>) -> Vec<(String, String)> {
    let stored: Vec<&RunRecord> = runs.iter().filter(|run| store.keeps(&run.id)).collect();
    let Some(first) = stored.first() else {
        return Vec::new();
    };
    let is_bench = runs.iter().any(|run| run.latency_limit.is_some());
    let more = [
        (is_bench && !look.ladders).then_some("--ladders"),
        (!look.explain).then_some("--explain"),
    ];
    let more: Vec<&str> = more.into_iter().flatten().collect();
    let more = match more.is_empty() {
        true => String::new(),
        false => format!("  ({})", more.join(", ")),
    };
    let mut all = Vec::new();
    if stored.len() < runs.len() {
        let saved = format!("{} of {} runs", stored.len(), runs.len());
        all.push(("Saved".to_owned(), saved));
    }
    all.push(match (&first.series, runs) {
        (None, [_, _, ..]) => again_by("stripewise history"),
        (series, _) => {
            let id = series.as_ref().unwrap_or(&first.id);
            let id = store.short_name(id);
            again_by(format!("stripewise history show {id}{more}"))
        }
    });
    all
}

/// The same for runs that are all known to be stored, as a line.
pub fn all_kept_line(runs: &[RunRecord]) -> String {
    match runs {
        [] => String::new(),
        [first, ..] => {
            let id = first.series.as_ref().unwrap_or(&first.id);
            format!("Saved as {id}; `stripewise history show {id}` shows it again.\n")
        }
    }
}
