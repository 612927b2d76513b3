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
use stripewise_results::{Document, RunRecord, Status, TargetKind};
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
    text.push_str(&used_text(&document.runs));
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
    text.push_str(&used_text(&document.runs));
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
        "{}\n{}{}{}{}",
        like_table(&document.runs),
        used_text(&document.runs),
        requirement_lines(document),
        partial_lines(&document.runs),
        match explain {
            true => warnings_text(&document.runs),
            false => warnings_brief(&document.runs),
        }
    )
}

/// How much of a real target was used, and what a cache of that size could have answered:
/// whoever has a cache of 64 GiB reads this number first.
fn used_text(runs: &[RunRecord]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for run in runs.iter().filter(|run| run.imported.is_none()) {
        let cache = run.request.as_ref();
        let cache_bytes = cache.and_then(|request| request.cache_size_bytes);
        for job in &run.jobs {
            let what = match job.target.kind {
                TargetKind::TestFile => "of a test file",
                TargetKind::File => "of a file",
                TargetKind::Device => "of the device",
                TargetKind::Simulated | TargetKind::Null => continue,
            };
            let size_bytes = job.workload.size_bytes.unwrap_or(job.target.size_bytes);
            if size_bytes == 0 {
                continue;
            }
            let line = format!(
                "In use: {} {what}; {}.",
                format_bytes(size_bytes),
                of_a_cache(size_bytes, cache_bytes)
            );
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    // Of many sizes each says the same.
    lines.truncate(USED_MAX);
    lines.iter().map(|line| wrapped(line, "  ")).collect()
}

/// Lines about how much was used.
const USED_MAX: usize = 3;

/// What a cache could have answered of random reads all over so many bytes.
fn of_a_cache(size_bytes: u64, cache_bytes: Option<u64>) -> String {
    let Some(cache_bytes) = cache_bytes else {
        return "a cache as large could have answered all of it (--cache-size says how large yours is)"
            .to_owned();
    };
    let share = cache_bytes as f64 / size_bytes as f64 * 100.0;
    let cache = format_bytes(cache_bytes);
    match share {
        share if share >= 100.0 => format!("a cache of {cache} could have answered all of it"),
        share => format!("a cache of {cache} could have answered {share:.0} % of random reads"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cache_could_have_answered_is_said_of_its_size() {
        let gib = 1 << 30;
        for (size, cache, words) in [
            (
                8 * gib,
                None,
                "a cache as large could have answered all of it",
            ),
            (
                8 * gib,
                Some(64 * gib),
                "a cache of 64 GiB could have answered all of it",
            ),
            (
                8 * gib,
                Some(2 * gib),
                "a cache of 2 GiB could have answered 25 % of random reads",
            ),
        ] {
            let said = of_a_cache(size, cache);
            assert!(said.starts_with(words), "{said}");
        }
    }
}
