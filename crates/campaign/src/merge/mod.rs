//! Merges runs of several hosts, from stores and exported files.

mod source;

use source::Source;
use stripewise_conductor::conduct::ConductResult;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::parts::store_merged;
use stripewise_lab::hosts::{HostPart, Merge, Merged, MissingHosts};
use stripewise_store::Store;
use stripewise_units::counted;

/// What to merge.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// Stores, `STORE#ID`, exported files, or ids of this host's store, as typed.
    pub sources: Vec<String>,
    /// Hosts may be missing or partial.
    pub partial: bool,
    /// The user's label.
    pub label: Option<String>,
}

/// Merges and stores the results: a record for each run that all hosts made, in
/// their order. What the store refuses is returned with its failure.
///
/// # Errors
/// If a source cannot be read, or the sources are not runs of several hosts that
/// did the same at the same time.
pub fn merge(
    context: &Context,
    store: &mut Store,
    request: &MergeRequest,
) -> Outcome<ConductResult> {
    let mut sources: Vec<Source> = Vec::new();
    for text in &request.sources {
        sources.extend(source::read(context, store, text)?);
    }
    let runs = side_by_side(context, sources, request.partial)?;
    merge_parts(
        context,
        store,
        runs,
        request.partial,
        request.label.as_deref(),
    )
}

/// Merges runs given their parts, and stores the results.
pub fn merge_parts(
    context: &Context,
    store: &mut Store,
    runs: Vec<Vec<HostPart>>,
    partial: bool,
    label: Option<&str>,
) -> Outcome<ConductResult> {
    let missing = match partial {
        true => MissingHosts::Allowed,
        false => MissingHosts::Refused,
    };
    let all: Vec<(Merge, Merged)> = runs
        .into_iter()
        .map(|parts| {
            let merge: Merge = parts.into_iter().collect();
            let merged = merge.total(missing)?;
            Ok((merge, merged))
        })
        .collect::<Outcome<_>>()?;
    keep(context, store, label, all)
}

fn keep(
    context: &Context,
    store: &mut Store,
    label: Option<&str>,
    all: Vec<(Merge, Merged)>,
) -> Outcome<ConductResult> {
    let series = match all.len() {
        0 | 1 => None,
        _ => Some(context.free_id(store, &context.timestamp())?),
    };
    let (mut records, mut ended) = (Vec::with_capacity(all.len()), Ok(()));
    for (merge, mut merged) in all {
        let run = &mut merged.run;
        run.id = context.free_id(store, &run.started_at)?;
        run.command = context.command().to_vec();
        let first = merge.parts().next().map(|part| &part.run);
        run.label = label.map(str::to_owned).or_else(|| common_label(&merge));
        if let (Some(series), Some(first)) = (&series, first) {
            run.series = Some(series.clone());
            run.series_part = first
                .series_part
                .clone()
                .or_else(|| Some("merge".to_owned()));
            run.answer_block = first.answer_block;
        }
        let parts: Vec<&HostPart> = merge.parts().collect();
        let stored = store_merged(context, store, &merged, &parts);
        ended = ended.and(stored);
        records.push(merged.run);
    }
    Ok(ConductResult { records, ended })
}

/// The label, if it is the same on all hosts.
fn common_label(merge: &Merge) -> Option<String> {
    let mut labels = merge.parts().map(|part| part.run.label.as_deref());
    let first = labels.next()??;
    labels
        .all(|label| label == Some(first))
        .then(|| first.to_owned())
}

/// Groups concurrent runs: the first of each host, the second of each...
fn side_by_side(
    context: &Context,
    sources: Vec<Source>,
    partial: bool,
) -> Outcome<Vec<Vec<HostPart>>> {
    let counts = || sources.iter().map(|source| source.runs.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    if fewest != most {
        let each = sources.iter().map(|source| {
            format!(
                "{} has {}",
                source.name,
                counted(source.runs.len(), "run", "runs")
            )
        });
        let each = each.collect::<Vec<_>>().join(", ");
        if !partial || fewest == 0 {
            return Err(Failure::usage(
                format!("the hosts did not make as many runs each: {each}"),
                "name the runs that were made together: STORE#ID; or merge the first ones with --partial",
            ));
        }
        context.note(format!(
            "only the first {fewest} of each host are merged: {each}"
        ));
    }
    let mut runs: Vec<Vec<HostPart>> = (0..fewest).map(|_| Vec::new()).collect();
    for source in sources {
        for (run, parts) in runs.iter_mut().zip(source.runs) {
            run.extend(parts);
        }
    }
    Ok(runs)
}
