//! Finished runs as text.

use crate::bench::{bench_sentences, series_table_marked};
use crate::brief::{Marks, brief, explained, warnings_brief};
use crate::caution::caution_text;
use crate::faults::verification_text;
use crate::hosts::hosts_text;
use crate::imported::imported_rows_table;
use crate::like::{are_like_runs, like_table};
use crate::repetitions::repetitions_table;
use crate::run::{job_details, percentiles_text, processors_text, run_header, run_rows_table};
use crate::warnings::{warnings_line, warnings_text, wrapped};
use crate::words::{Heading, requirement_text, series_title};
use stripewise_results::{Document, RunRecord, Status};
use stripewise_units::{Percentile, format_bytes};

/// How much is said of runs, and how.
#[derive(Clone, Copy)]
pub struct RunsLook<'a> {
    /// Warnings in full, and processor times.
    pub explain: bool,
    /// Percentiles of latency that are shown besides.
    pub percentiles: &'a [Percentile],
    /// Sets headings off.
    pub heading: Heading<'a>,
}

/// What stored runs were: a line for each, or for all steps of ladders, or all lines of
/// another tool's bench, together.
#[must_use]
pub fn header_text(document: &Document) -> String {
    match document.series.is_empty() && !are_like_runs(&document.runs) {
        true => document.runs.iter().map(header_of).collect(),
        false => document.runs.first().map(header_of).unwrap_or_default(),
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

/// Everything about runs: a table, what stands behind it, requirements, warnings; of
/// ladders the table of each, then the answers.
#[must_use]
pub fn runs_text(document: &Document, look: &RunsLook<'_>) -> String {
    if !document.series.is_empty() {
        return ladders(document, look);
    }
    let mut text = String::new();
    let foreign = document.runs.iter().any(|run| run.imported.is_some());
    let marks = Marks::of(&document.runs, look.explain, |_| !foreign);
    if foreign {
        // What they do not say must not look like zeros.
        text.push_str(&imported_rows_table(&document.runs));
    } else {
        text.push_str(&run_rows_table(&document.runs, &marks));
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
        text.push_str(&percentiles_text(&document.runs, look.percentiles));
        if look.explain {
            text.extend(document.runs.iter().map(processors_text));
        }
    }
    text.push_str(&requirement_lines(document));
    text.push_str(&partial_lines(&document.runs));
    text.push_str(&match look.explain {
        true => explained(&document.runs, &marks),
        false => brief(&document.runs, &marks),
    });
    let verified = document
        .runs
        .iter()
        .filter_map(|run| run.verification.as_ref());
    verified.for_each(|one| text.push_str(&verification_text(one)));
    text
}

/// The table of each series, then what must be known, then the answers: what stands
/// last is still on the screen.
fn ladders(document: &Document, look: &RunsLook<'_>) -> String {
    let mut text = String::new();
    let marks = Marks::of(&document.runs, look.explain, |run| {
        let mut steps = document.series.iter().flat_map(|series| &series.steps);
        steps.any(|step| step.run == run.id)
    });
    for series in &document.series {
        let first = series.steps.first();
        let run = first.and_then(|step| document.runs.iter().find(|run| run.id == step.run));
        let block = run
            .and_then(|run| run.jobs.first())
            .map_or(0, |job| job.workload.block_size_bytes);
        let title = series_title(&series.name);
        text.push_str(&(look.heading)(&format!(
            "{title}, {} ({})",
            format_bytes(block),
            series.stopped
        )));
        text.push('\n');
        text.push_str(&series_table_marked(series, &document.runs, &marks));
        text.push('\n');
    }
    text.push_str(&partial_lines(&document.runs));
    let explain = look.explain;
    if explain {
        text.extend(document.runs.iter().map(processors_text));
    }
    let warnings = explained(&document.runs, &marks);
    if explain && !warnings.is_empty() {
        text.push_str(&warnings);
        text.push('\n');
    }
    text.push_str(&(look.heading)("In short"));
    text.push('\n');
    text.push_str(&bench_sentences(&document.series));
    text.push_str(&requirement_lines(document));
    text.push_str(&caution_text(document));
    text.push_str(&match explain {
        true => warnings_line(&document.runs),
        false => brief(&document.runs, &marks),
    });
    text
}

/// The lines of another tool's bench, and what must be known of them.
#[must_use]
pub fn like_text(document: &Document, explain: bool) -> String {
    format!(
        "{}\n{}{}{}",
        like_table(&document.runs),
        requirement_lines(document),
        partial_lines(&document.runs),
        match explain {
            true => warnings_text(&document.runs),
            false => warnings_brief(&document.runs),
        }
    )
}

/// A line for each requirement.
fn requirement_lines(document: &Document) -> String {
    document.requirements.iter().map(requirement_text).collect()
}

/// A line for each run that did not end as planned.
#[must_use]
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
