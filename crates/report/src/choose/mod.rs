//! Chooses the charts that suit the records: ladders, experiments,
//! grids, plans of several jobs, single runs, comparisons. Values that an imported
//! record lacks are not drawn.

mod comparison;
mod consistency;
mod density;
mod drift;
mod grid;
mod heat;
mod histogram;
mod hosts;
mod ladder;
mod levels;
mod metric;
mod percentiles;
mod time;
mod timeline;
mod together;
mod trend;

use crate::answers::{limit_words, place_of};
use crate::chart::{Axis, Chart, Point, Quantity, Scale};
use crate::crystaldiskmark::are_like_runs;
use crate::identity::{NamedSeries, kind, named_series, names_of_jobs};
use crate::material::Material;
use crate::rows::in_order_of_design;
use std::collections::BTreeSet;
use stripewise_results::{
    AnswerReason, ComparisonRecord, JobRow, OperationKind, RunRecord, SeriesAnswer, SeriesRecord,
};
use stripewise_stats::median;
use stripewise_units::distinct;

/// Maximum number of runs that each get charts of their own.
const SINGLES_MAX: usize = 4;

/// Maximum number of ladders that each get a chart of their own.
const LADDERS_MAX: usize = 20;

/// The charts of a report, the most informative first. Names are unique.
pub fn charts(material: &Material) -> Vec<Chart> {
    // Their table and picture use the units their users know.
    if are_like_runs(&material.document.runs) && material.document.comparisons.is_empty() {
        return Vec::new();
    }
    let comparisons = &material.document.comparisons;
    let mut charts = comparison::charts(comparisons);
    charts.extend(trend::charts(&material.document.runs));
    let ladders = named_series(&material.document);
    let mut outside = material.rows_outside_ladders();
    outside.retain(|row| !row.run.is_preparation());
    let climbed = climbed(material);
    outside.retain(|row| !climbed.contains(&part_of(row.run)));
    in_order_of_design(&mut outside);
    let experiments = experiments(&outside);
    if outside.len() <= SINGLES_MAX {
        charts.extend(hosts::charts(outside_runs(&outside)));
    }
    let mut levelled = false;
    for (of, rows) in &experiments {
        let own = comparisons_of(comparisons, rows);
        let of_levels = levels::charts(of, rows, &own);
        levelled |= !of_levels.is_empty();
        charts.extend(of_levels);
        charts.extend(drift::chart(of, rows, &own));
    }
    charts.extend(ladder::charts(&ladders[..ladders.len().min(LADDERS_MAX)]));
    if outside.iter().any(|row| row.run.jobs.len() > 1) {
        charts.extend(together::charts(&outside));
    } else if !levelled {
        charts.extend(grid::charts(&outside));
    }
    if !ladders.is_empty() {
        charts.extend(timeline::chart(&material.document.runs));
    }
    let detailed_jobs = detailed_jobs(material, &ladders, &outside);
    charts.extend(histogram::charts(&outside));
    charts.extend(percentiles::chart(&detailed_jobs));
    charts.extend(density::chart(&detailed_jobs));
    charts.extend(time::charts(&detailed_jobs));
    charts.extend(heat::charts(material, &detailed_jobs));
    consistency::keep(&mut charts);
    if charts.is_empty() {
        // Anything with a rate has a bar.
        let all: Vec<JobRow<'_>> = material.rows().collect();
        charts.extend(grid::side_by_side(&all));
        consistency::keep(&mut charts);
    }
    make_names_unique(&mut charts);
    let cautions = crate::validity::cautions(&material.document);
    for chart in &mut charts {
        chart.cautions.clone_from(&cautions);
    }
    charts
}

/// A part of a series: the series and the part's name.
type Part<'a> = (Option<&'a str>, Option<&'a str>);

fn part_of(run: &RunRecord) -> Part<'_> {
    (run.series.as_deref(), run.series_part.as_deref())
}

/// Parts that have a ladder. Other runs for the interval of the answer
/// are included in that answer.
fn climbed(material: &Material) -> BTreeSet<Part<'_>> {
    let document = &material.document;
    let steps = document.series.iter().flat_map(|series| &series.steps);
    let ids: BTreeSet<&str> = steps.map(|step| step.run.as_str()).collect();
    let runs = document.runs.iter();
    let of_ladders = runs.filter(|run| run.series.is_some() && ids.contains(run.id.as_str()));
    of_ladders.map(part_of).collect()
}

/// The distinct runs of these rows.
fn outside_runs<'a>(rows: &[JobRow<'a>]) -> impl Iterator<Item = &'a RunRecord> {
    let mut runs: Vec<&RunRecord> = rows.iter().map(|row| row.run).collect();
    runs.dedup_by(|one, other| one.id == other.id);
    runs.into_iter()
}

/// Groups rows by experiment, with its id if there are
/// several; runs outside experiments form one group.
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

/// The comparisons about these rows.
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

/// Ids of the runs whose latencies over time a report may show, to be loaded into
/// [`Material::latencies`].
pub fn runs_worth_a_closer_look(material: &Material) -> Vec<String> {
    let ladders = named_series(&material.document);
    let mut outside = material.rows_outside_ladders();
    let climbed = climbed(material);
    outside.retain(|row| !climbed.contains(&part_of(row.run)));
    let mut ids: Vec<String> = detailed_jobs(material, &ladders, &outside)
        .iter()
        .map(|jobs_shown| jobs_shown.row.run.id.clone())
        .collect();
    ids.dedup();
    ids
}

/// A job that is shown in detail, with its name among those shown
/// with it.
struct DetailedJob<'a> {
    name: String,
    /// For a step of a ladder, its role in the answer; `None` for a single run.
    answers: Option<(AnswerReason, String)>,
    row: JobRow<'a>,
}

impl DetailedJob<'_> {
    /// Which step of its ladder this is: `Measured with 8 in flight, the knee:
    /// nothing meets p99 < 5 ms. `; empty for single runs.
    fn sentence(&self) -> String {
        match &self.answers {
            Some((_, words)) => format!("Measured {words}. "),
            None => String::new(),
        }
    }

    /// The name and, if nothing meets the limit, which step this is instead.
    fn name_with_place(&self) -> String {
        match &self.answers {
            Some((AnswerReason::Knee, _)) => format!("{}, at the knee", self.name),
            Some((AnswerReason::Highest, _)) => format!("{}, where it was fastest", self.name),
            _ => self.name.clone(),
        }
    }
}

/// Jobs shown in detail: the answer of each ladder, and single runs
/// if there are few of them.
fn detailed_jobs<'a>(
    material: &'a Material,
    ladders: &[NamedSeries<'_>],
    outside: &[JobRow<'a>],
) -> Vec<DetailedJob<'a>> {
    let mut jobs_shown: Vec<DetailedJob<'a>> = Vec::new();
    for ladder in ladders.iter().take(SINGLES_MAX + 2) {
        let Some(answer) = ladder.series.answered() else {
            continue;
        };
        let step = &ladder.series.steps[answer.step];
        let run = material.document.runs.iter().find(|run| run.id == step.run);
        if let Some(run) = run
            && let Some(job) = run.jobs.first()
        {
            jobs_shown.push(DetailedJob {
                name: ladder.title(),
                answers: Some((answer.reason, words_of(ladder.series, &answer))),
                row: JobRow { run, job },
            });
        }
    }
    let runs: BTreeSet<&str> = outside.iter().map(|row| row.run.id.as_str()).collect();
    if runs.len() <= SINGLES_MAX {
        let names = match outside {
            [only] => vec![kind(only)],
            several => names_of_jobs(several).names,
        };
        let singles = names.into_iter().zip(outside.iter().copied());
        jobs_shown.extend(singles.map(|(name, row)| DetailedJob {
            name,
            answers: None,
            row,
        }));
    }
    jobs_shown
        .retain(|jobs_shown| jobs_shown.row.latencies().is_some() || jobs_shown.row.is_mixed());
    jobs_shown
}

/// `with 8 in flight, the most within p99 < 5 ms`. The picture shows one run; if the
/// answer is based on several, the text says so.
fn words_of(series: &SeriesRecord, answer: &SeriesAnswer) -> String {
    let mut load = format!("with {} in flight", series.steps[answer.step].in_flight());
    if answer.record.runs > 1 {
        load.push_str(", in one run (the answer is of several)");
    }
    let limit = limit_words(series);
    match (place_of(answer), answer.reason) {
        (Some(place), _) => format!("{load}, {place}: nothing meets {limit}"),
        (None, AnswerReason::Within) => format!("{load}, the most within {limit}"),
        (None, _) => load,
    }
}

/// Operations in flight; if a source does not give the number of threads, outstanding
/// is the total.
fn in_flight(row: &JobRow<'_>) -> Option<u32> {
    row.in_flight().or_else(|| row.outstanding())
}

/// An axis.
pub(crate) fn axis(title: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis {
        title: title.to_owned(),
        quantity,
        scale,
    }
}

/// The median of repetitions, with their range if there are several.
fn middle_of(x: f64, values: &[f64]) -> Option<Point> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Point {
        span: (values.len() > 1).then_some([low, high]),
        ..Point::new(x, median(values)?)
    })
}

/// Latencies of these rows: per kind of operation if any of them does
/// several, since no value applies to all.
fn latency_sides(rows: &[JobRow<'_>]) -> Vec<Side> {
    if !rows.iter().any(JobRow::is_mixed) {
        return vec![Side(None)];
    }
    let is_done = |kind: &OperationKind| {
        let discards = *kind == OperationKind::Discard;
        !discards || rows.iter().any(|row| row.job.workload.discards())
    };
    let kinds = OperationKind::ALL.into_iter().filter(is_done);
    kinds.map(|kind| Side(Some(kind))).collect()
}

/// The kind of operations whose latencies are meant; `None` if a job has only one kind.
#[derive(Clone, Copy)]
struct Side(Option<OperationKind>);

impl Side {
    fn latency(self, row: &JobRow<'_>, name: &str) -> Option<f64> {
        let ns = match self.0 {
            Some(kind) => row.latency_of(kind, name),
            None => row.latency(name),
        };
        // Below one millisecond by an unknown amount: no bar has that length.
        ns.filter(|ns| *ns > 0.0 || !crate::number::in_whole_milliseconds(row.run))
    }

    /// `Latency, p99`, `Latency of writes, p99`.
    fn title(self, name: &str) -> String {
        match self.0 {
            Some(kind) => format!("Latency of {}, {name}", kind.plural()),
            None => format!("Latency, {name}"),
        }
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
