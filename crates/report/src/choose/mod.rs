//! Which charts are right, read off what the records are: ladders, experiments,
//! grids, plans of several jobs, single runs, comparisons. What an imported
//! record does not say is not drawn.

pub(crate) use comparison::metric_words;

mod comparison;
mod drift;
mod grid;
mod heat;
mod ladder;
mod levels;
mod percentiles;
mod time;
mod together;

use crate::chart::{Axis, Chart, Form, Point, Quantity, Scale, Series};
use crate::material::Material;
use std::collections::BTreeSet;
use stripewise_results::{JobRow, SeriesRecord};

/// Runs of which every one gets charts of its own.
const SINGLES_MAX: usize = 4;

/// Ladders of which every one gets a chart of its own.
const LADDERS_MAX: usize = 20;

/// The charts of a report, the most telling first. Names are unique.
#[must_use]
pub fn charts(material: &Material) -> Vec<Chart> {
    let mut charts = comparison::charts(&material.document.comparisons);
    let ladders = &material.document.series;
    let in_ladder: BTreeSet<&str> = ladders
        .iter()
        .flat_map(|series| series.steps.iter().map(|step| step.run.as_str()))
        .collect();
    let outside: Vec<JobRow<'_>> = material
        .rows()
        .filter(|row| !in_ladder.contains(row.run.id.as_str()))
        .filter(|row| row.run.series_part.as_deref() != Some("precondition"))
        .collect();
    charts.extend(levels::charts(&outside));
    charts.extend(drift::charts(&outside, &material.document.comparisons));
    charts.extend(ladder::charts(&ladders[..ladders.len().min(LADDERS_MAX)]));
    let levelled = levels::levels(&outside).len() > 1;
    if outside.iter().any(|row| row.run.jobs.len() > 1) {
        charts.extend(together::charts(&outside));
    } else if !levelled {
        charts.extend(grid::charts(&outside));
    }
    let telling = telling(material, ladders, &outside);
    charts.extend(percentiles::chart(&telling));
    charts.extend(time::charts(&telling));
    charts.extend(heat::charts(material, &telling));
    make_names_unique(&mut charts);
    charts
}

/// Ids of the runs whose latencies over time a report may show: to be loaded for
/// [`Material::latencies`].
#[must_use]
pub fn runs_worth_a_closer_look(material: &Material) -> Vec<String> {
    let in_ladder: BTreeSet<&str> = material
        .document
        .series
        .iter()
        .flat_map(|series| series.steps.iter().map(|step| step.run.as_str()))
        .collect();
    let outside: Vec<JobRow<'_>> = material
        .rows()
        .filter(|row| !in_ladder.contains(row.run.id.as_str()))
        .collect();
    let mut ids: Vec<String> = telling(material, &material.document.series, &outside)
        .iter()
        .map(|(_, row)| row.run.id.clone())
        .collect();
    ids.dedup();
    ids
}

/// A job with the name that it has among those shown beside it.
type Named<'a> = (String, JobRow<'a>);

/// Jobs that are worth a closer look: the answer of each ladder, and single runs
/// where there are few of them.
fn telling<'a>(
    material: &'a Material,
    ladders: &[SeriesRecord],
    outside: &[JobRow<'a>],
) -> Vec<Named<'a>> {
    let mut named: Vec<Named<'a>> = Vec::new();
    for series in ladders.iter().take(SINGLES_MAX + 2) {
        let answer = series.within_limit.or(series.ceiling);
        let Some(step) = answer.and_then(|index| series.steps.get(index)) else {
            continue;
        };
        let run = material.document.runs.iter().find(|run| run.id == step.run);
        if let Some(run) = run
            && let Some(job) = run.jobs.first()
        {
            named.push((
                crate::words::series_title(&series.name),
                JobRow { run, job },
            ));
        }
    }
    let runs: BTreeSet<&str> = outside.iter().map(|row| row.run.id.as_str()).collect();
    if runs.len() <= SINGLES_MAX {
        let names = names_of(outside);
        named.extend(names.into_iter().zip(outside.iter().copied()));
    }
    named.retain(|(_, row)| row.latencies().is_some());
    named
}

/// What tells jobs apart, as short as it can be.
fn names_of(rows: &[JobRow<'_>]) -> Vec<String> {
    let parts: Vec<[String; 9]> = rows.iter().map(parts_of).collect();
    let differs: Vec<bool> = (0..9)
        .map(|index| parts.iter().any(|part| part[index] != parts[0][index]))
        .collect();
    let mut names: Vec<String> = parts
        .iter()
        .map(|part| {
            let chosen: Vec<&str> = part
                .iter()
                .zip(&differs)
                .filter(|(text, differs)| **differs && !text.is_empty())
                .map(|(text, _)| text.as_str())
                .collect();
            chosen.join(" ")
        })
        .collect();
    if rows.len() == 1 {
        names[0] = kind(&rows[0]);
    }
    // Repetitions: nothing but their order tells them apart.
    for index in 0..names.len() {
        let name = names[index].clone();
        let same: Vec<usize> = (0..names.len())
            .filter(|&other| names[other] == name)
            .collect();
        if same.len() > 1 {
            for (number, other) in same.into_iter().enumerate() {
                let words = if name.is_empty() {
                    "run"
                } else {
                    name.as_str()
                };
                names[other] = format!("{words} #{}", number + 1);
            }
        }
    }
    names
}

fn parts_of(row: &JobRow<'_>) -> [String; 9] {
    let text = |value: Option<u32>, word: &str| {
        value.map_or_else(String::new, |value| format!("{value}{word}"))
    };
    let workload = &row.job.workload;
    [
        row.run.label.clone().unwrap_or_default(),
        if row.run.jobs.len() > 1 {
            row.job.name.clone()
        } else {
            String::new()
        },
        row.job.target.name.clone(),
        kind(row),
        row.block_size_bytes().map_or_else(String::new, |bytes| {
            stripewise_units::ByteSize(bytes).to_string()
        }),
        format!(
            "@{}",
            stripewise_units::ByteSize(workload.base_offset_bytes)
        ),
        text(row.threads(), " thr"),
        text(row.outstanding(), " out"),
        if row.run.imported.is_none() {
            workload.cache.to_string()
        } else {
            String::new()
        },
    ]
}

/// `random read`, as far as it is known.
fn kind(row: &JobRow<'_>) -> String {
    let words = [row.pattern().map(str::to_owned), row.operation()];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Work in flight; where a source does not say how many threads there were, what
/// was outstanding was so in all.
fn in_flight(row: &JobRow<'_>) -> Option<u32> {
    row.in_flight().or_else(|| row.outstanding())
}

/// Distinct values in the order of their first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// `Random read` at the beginning of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn axis(title: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis {
        title: title.to_owned(),
        quantity,
        scale,
    }
}

fn series(name: &str, form: Form, tone: usize, points: Vec<Point>) -> Series {
    Series {
        name: name.to_owned(),
        form,
        tone,
        points,
        value: None,
    }
}

/// Letters, digits and hyphens only.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 48 {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

fn make_names_unique(charts: &mut [Chart]) {
    for index in 0..charts.len() {
        let name = charts[index].name.clone();
        let taken = |name: &str| charts[..index].iter().any(|chart| chart.name == name);
        if taken(&name) {
            let free = (2..)
                .map(|number| format!("{name}-{number}"))
                .find(|name| !taken(name));
            charts[index].name = free.unwrap_or(name);
        }
    }
}
