//! `merge`: merges runs of several hosts.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::runs;
use crate::switches::merge::Merge;
use stripewise_campaign::merge::{MergeRequest, merge as merge_runs};
use stripewise_campaign::steps::documents;

pub fn merge(context: &Context, arguments: &Merge) -> Outcome {
    let request = MergeRequest {
        sources: arguments.sources.clone(),
        partial: arguments.partial,
        label: arguments.label.clone(),
    };
    let mut store = context.open_store()?;
    let merged = merge_runs(context, &mut store, &request)?;
    let document = documents::document(merged.records);
    if context.global.json {
        context.output.print_exact(&document.to_json());
    } else {
        runs::print_made(context, &store, &document, &context.runs_look(false, &[]));
    }
    merged.ended.map(|()| Exit::Done)
}
