//! Which charts are right, read off what the records are: ladders, experiments,
//! grids, plans of several jobs, single runs, comparisons. What an imported
//! record does not say is not drawn.

pub(crate) use comparison::{metric_words, sides_of};

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
use crate::identity::{NamedSeries, kind, named_series, names_of_jobs};
use crate::material::Material;
use crate::rows::in_order_of_design;
use std::collections::BTreeSet;
use stripewise_results::{ComparisonRecord, JobRow};
use stripewise_stats::median;

/// Runs of which every one gets charts of its own.
const SINGLES_MAX: usize = 4;

/// Ladders of which every one gets a chart of its own.
const LADDERS_MAX: usize = 20;

/// The charts of a report, the most telling first. Names are unique.
#[must_use]
pub fn charts(material: &Material) -> Vec<Chart> {
    let comparisons = &material.document.comparisons;
    let mut charts = comparison::charts(comparisons);
    let ladders = named_series(&material.document);
    let mut outside = material.rows_outside_ladders();
    outside.retain(|row| row.run.series_part.as_deref() != Some("precondition"));
    in_order_of_design(&mut outside);
    let experiments = experiments(&outside);
    for (of, rows) in &experiments {
        let own = comparisons_of(comparisons, rows);
        charts.extend(levels::charts(of, rows, &own));
        charts.extend(drift::chart(of, rows, &own));
    }
    charts.extend(ladder::charts(&ladders[..ladders.len().min(LADDERS_MAX)]));
    let levelled = experiments
        .iter()
        .any(|(_, rows)| levels::levels(rows, &[]).len() > 1);
    if outside.iter().any(|row| row.run.jobs.len() > 1) {
        charts.extend(together::charts(&outside));
    } else if !levelled {
        charts.extend(grid::charts(&outside));
    }
    let telling = telling(material, &ladders, &outside);
    charts.extend(percentiles::chart(&telling));
    charts.extend(time::charts(&telling));
    charts.extend(heat::charts(material, &telling));
    make_names_unique(&mut charts);
    charts
}

/// Rows by the experiment that they belong to, with its id where there are
/// several; runs outside of experiments together.
fn experiments<'a>(rows: &[JobRow<'a>]) -> Vec<(String, Vec<JobRow<'a>>)> {
    let id = |row: &JobRow<'a>| row.run.experiment.as_ref().map(|place| &place.experiment);
    let mut found: Vec<(Option<&String>, Vec<JobRow<'a>>)> = Vec::new();
    for row in rows {
        match found.iter_mut().find(|(of, _)| *of == id(row)) {
            Some((_, of)) => of.push(*row),
            None => found.push((id(row), vec![*row])),
        }
    }
    let several = found.len() > 1;
    let named = found.into_iter().map(|(of, rows)| {
        let name = of.filter(|_| several).cloned();
        (name.unwrap_or_default(), rows)
    });
    named.collect()
}

/// The comparisons that are about these rows.
fn comparisons_of<'a>(
    all: &'a [ComparisonRecord],
    rows: &[JobRow<'_>],
) -> Vec<&'a ComparisonRecord> {
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.run.id.as_str()).collect();
    let about = |comparison: &&ComparisonRecord| {
        let sides = [&comparison.a, &comparison.b];
        let mut from = sides.into_iter().flat_map(|side| &side.from);
        from.any(|id| ids.contains(id.as_str()))
    };
    all.iter().filter(about).collect()
}

/// Ids of the runs whose latencies over time a report may show: to be loaded for
/// [`Material::latencies`].
#[must_use]
pub fn runs_worth_a_closer_look(material: &Material) -> Vec<String> {
    let ladders = named_series(&material.document);
    let outside = material.rows_outside_ladders();
    let mut ids: Vec<String> = telling(material, &ladders, &outside)
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
    ladders: &[NamedSeries<'_>],
    outside: &[JobRow<'a>],
) -> Vec<Named<'a>> {
    let mut named: Vec<Named<'a>> = Vec::new();
    for ladder in ladders.iter().take(SINGLES_MAX + 2) {
        let series = ladder.series;
        let answer = series.within_limit.or(series.ceiling);
        let Some(step) = answer.and_then(|index| series.steps.get(index)) else {
            continue;
        };
        let run = material.document.runs.iter().find(|run| run.id == step.run);
        if let Some(run) = run
            && let Some(job) = run.jobs.first()
        {
            named.push((ladder.title(), JobRow { run, job }));
        }
    }
    let runs: BTreeSet<&str> = outside.iter().map(|row| row.run.id.as_str()).collect();
    if runs.len() <= SINGLES_MAX {
        let names = match outside {
            [only] => vec![kind(only)],
            several => names_of_jobs(several).names,
        };
        named.extend(names.into_iter().zip(outside.iter().copied()));
    }
    named.retain(|(_, row)| row.latencies().is_some());
    named
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

/// The median of repetitions, with their range where there are several.
fn middle_of(x: f64, values: &[f64]) -> Option<Point> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Point {
        span: (values.len() > 1).then_some([low, high]),
        ..Point::new(x, median(values)?)
    })
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
