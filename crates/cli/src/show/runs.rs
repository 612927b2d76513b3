//! Finished runs as text on stdout.

use crate::show::context::Context;
use crate::show::document::print_text;
use crate::show::verified::beside_text;
use stripewise_lab::SeriesKind;
use stripewise_report::{
    bench_sentences, caution_text, hosts_text, imported_rows_table, job_details, like_table,
    percentiles_text, processors_text, repetitions_table, requirement_text, run_header,
    run_rows_table, series_table, warnings_brief, warnings_line, warnings_text, wrapped,
};
use stripewise_results::{Document, RunRecord, Status};
use stripewise_store::Store;
use stripewise_units::{Percentile, format_bytes};

/// Stored runs: what they were, then everything about them.
pub fn print_stored(context: &Context, document: &Document, percentiles: &[Percentile]) {
    let header = match document.series.is_empty() {
        true => document.runs.iter().map(header_of).collect(),
        false => document.runs.first().map(header_of).unwrap_or_default(),
    };
    print_text(&format!(
        "{header}\n{}",
        whole(context, document, percentiles)
    ));
}

/// Percentiles that were asked for, from the latencies that are kept.
pub fn fill_percentiles(document: &mut Document, asked: &[Percentile]) {
    for run in &mut document.runs {
        for job in &mut run.jobs {
            job.outcome.fill_percentiles(asked);
        }
    }
}

/// Of an imported result: where it came from.
fn header_of(run: &RunRecord) -> String {
    let Some(from) = &run.imported else {
        return run_header(run);
    };
    let line = from.line.map(|line| format!(", line {line}"));
    let began = match run.started_at.as_str() {
        "" => String::new(),
        time => format!(", began {time}"),
    };
    let command = match run.command.as_slice() {
        [] => String::new(),
        words => format!("Command: {}\n", words.join(" ")),
    };
    format!(
        "{}, imported from {} ({}{}{began})\n{command}",
        run.id,
        from.source,
        from.tool,
        line.unwrap_or_default()
    )
}

/// Runs that were just made: everything about them, and where they are kept.
pub fn print_made(
    context: &Context,
    store: &Store,
    document: &Document,
    percentiles: &[Percentile],
) {
    print_text(&format!(
        "{}{}",
        whole(context, document, percentiles),
        kept_line(store, &document.runs)
    ));
}

/// The lines of `bench --like crystaldiskmark`.
pub fn print_like(context: &Context, store: &Store, document: &Document) {
    let explain = context.global.explain;
    print_text(&format!(
        "{}\n{}{}{}{}",
        like_table(&document.runs),
        requirement_lines(document),
        partial_lines(&document.runs),
        match explain {
            true => warnings_text(&document.runs),
            false => warnings_brief(&document.runs, false),
        },
        kept_line(store, &document.runs)
    ));
}

fn whole(context: &Context, document: &Document, percentiles: &[Percentile]) -> String {
    if !document.series.is_empty() {
        return ladders(context, document);
    }
    let mut text = String::new();
    let foreign = document.runs.iter().any(|run| run.imported.is_some());
    if foreign {
        // What they do not say must not look like zeros.
        text.push_str(&imported_rows_table(&document.runs));
    } else {
        text.push_str(&run_rows_table(&document.runs));
        text.push('\n');
        let repeated = repetitions_table(&document.runs);
        if !repeated.is_empty() {
            text.push_str(&repeated);
            text.push('\n');
        }
        for run in &document.runs {
            text.push_str(&hosts_text(run));
        }
        if document.runs.len() == 1 {
            for job in &document.runs[0].jobs {
                text.push_str(&job_details(job));
            }
        }
        text.push_str(&percentiles_text(&document.runs, percentiles));
        if context.global.explain {
            text.extend(document.runs.iter().map(processors_text));
        }
    }
    text.push_str(&requirement_lines(document));
    text.push_str(&partial_lines(&document.runs));
    text.push_str(&match context.global.explain {
        true => warnings_text(&document.runs),
        false => warnings_brief(&document.runs, !foreign),
    });
    let verified = document
        .runs
        .iter()
        .filter_map(|run| run.verification.as_ref());
    verified.for_each(|one| text.push_str(&beside_text(one)));
    text
}

/// The table of each series, then what must be known, then the answers: what stands
/// last is still on the screen.
fn ladders(context: &Context, document: &Document) -> String {
    let mut text = String::new();
    for series in &document.series {
        let first = series.steps.first();
        let run = first.and_then(|step| document.runs.iter().find(|run| run.id == step.run));
        let block = run
            .and_then(|run| run.jobs.first())
            .map_or(0, |job| job.workload.block_size_bytes);
        let title =
            SeriesKind::from_name(&series.name).map_or(series.name.as_str(), |kind| kind.title());
        text.push_str(&context.style.heading(&format!(
            "{title}, {} ({})",
            format_bytes(block),
            series.stopped
        )));
        text.push('\n');
        text.push_str(&series_table(series));
        text.push('\n');
    }
    text.push_str(&partial_lines(&document.runs));
    let explain = context.global.explain;
    if explain {
        text.extend(document.runs.iter().map(processors_text));
    }
    let warnings = warnings_text(&document.runs);
    if explain && !warnings.is_empty() {
        text.push_str(&warnings);
        text.push('\n');
    }
    text.push_str(&context.style.heading("In short"));
    text.push('\n');
    text.push_str(&bench_sentences(&document.series));
    text.push_str(&requirement_lines(document));
    text.push_str(&caution_text(document));
    text.push_str(&match explain {
        true => warnings_line(&document.runs),
        false => warnings_brief(&document.runs, false),
    });
    text
}

/// A line for each requirement.
fn requirement_lines(document: &Document) -> String {
    document.requirements.iter().map(requirement_text).collect()
}

pub fn partial_lines(runs: &[RunRecord]) -> String {
    runs.iter()
        .filter(|run| run.status == Status::Partial)
        .map(|run| {
            let because = run
                .partial_because
                .as_deref()
                .unwrap_or("it did not end as planned");
            wrapped(&format!("partial: {} ({because})", run.id), "  ")
        })
        .collect()
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
