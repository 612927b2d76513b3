//! Finished runs as text on stdout.

use crate::show::context::Context;
use crate::show::line;
use stripewise_report::{RunsLook, are_like_runs, header_text, like_text, runs_text};
use stripewise_results::{Document, RunRecord};
use stripewise_store::Store;
use stripewise_units::Percentile;

/// Stored runs: what they were, then everything about them.
pub fn print_stored(context: &Context, document: &Document, percentiles: &[Percentile]) {
    let text = match are_like_runs(&document.runs) && percentiles.is_empty() {
        true => like_text(document, context.global.explain),
        false => whole(context, document, percentiles),
    };
    context
        .output
        .print_text(&format!("{}\n{text}", header_text(document)));
}

/// Runs that were just made: everything about them, and where they are kept.
pub fn print_made(
    context: &Context,
    store: &Store,
    document: &Document,
    percentiles: &[Percentile],
) {
    let all = || {
        let text = whole(context, document, percentiles);
        text + &kept_line(store, &document.runs)
    };
    line::print_answer(context, all, || line::made(store, document));
}

fn whole(context: &Context, document: &Document, percentiles: &[Percentile]) -> String {
    let look = RunsLook {
        explain: context.global.explain,
        percentiles,
        heading: &|text| context.style.heading(text),
    };
    runs_text(document, &look)
}

/// The lines of `bench --like crystaldiskmark`.
pub fn print_like(context: &Context, store: &Store, document: &Document) {
    let all = || {
        let text = like_text(document, context.global.explain);
        text + &kept_line(store, &document.runs)
    };
    line::print_answer(context, all, || line::made(store, document));
}

/// Where runs that were just made are kept, by what the store says now: nothing of
/// those that it does not have.
pub fn kept_line(store: &Store, runs: &[RunRecord]) -> String {
    let kept: Vec<&RunRecord> = runs.iter().filter(|run| store.keeps(&run.id)).collect();
    kept_words(&kept, runs.len())
}

/// The same of runs that are known to be kept, all of them.
pub fn all_kept_line(runs: &[RunRecord]) -> String {
    kept_words(&runs.iter().collect::<Vec<_>>(), runs.len())
}

fn kept_words(kept: &[&RunRecord], made: usize) -> String {
    let all = kept.len() == made;
    let of_all = format!("{} of {made} runs", kept.len());
    match kept {
        [] => String::new(),
        [one] if all => format!(
            "Kept as {}; `stripewise history show {}` shows it again.\n",
            one.id, one.id
        ),
        [first, .., last] if all => match &first.series {
            Some(series) => format!(
                "Kept as series {series}; `stripewise history show {series}` shows it again.\n"
            ),
            None => format!("Kept as {} to {}.\n", first.id, last.id),
        },
        [first, ..] => match &first.series {
            Some(series) => format!(
                "Kept {of_all} as series {series}; `stripewise history show {series}` shows them again.\n"
            ),
            None => format!("Kept {of_all}; `stripewise history` lists them.\n"),
        },
    }
}
