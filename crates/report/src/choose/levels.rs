//! Levels of a factor side by side: partition offsets, allocation units, arrays.
//! Bars for each load, as in the articles of 2007 and 2009.

use super::{axis, distinct, in_flight, metric, middle_of};
use crate::chart::{Chart, Form, Panel, Quantity, Scale, Series};
use crate::identity::kind;
use crate::rows::order_levels;
use stripewise_results::{ComparisonRecord, JobRow};
use stripewise_units::ByteSize;

/// Maximum number of levels with distinguishable bars.
const LEVELS_MAX: usize = 8;

/// The levels of rows: sizes and offsets in rising order, others
/// in the order of their comparisons, the reference first. Empty if rows have
/// none.
pub(super) fn levels(rows: &[JobRow<'_>], comparisons: &[&ComparisonRecord]) -> Vec<String> {
    let varies = offsets_vary(rows);
    let mut levels = distinct(rows.iter().filter_map(|row| level(row, varies)));
    let compared = comparisons
        .iter()
        .flat_map(|comparison| [&comparison.a.name, &comparison.b.name]);
    let designed = distinct(compared);
    let place = |level: &String| designed.iter().position(|name| *name == level);
    levels.sort_by_key(|level| place(level).unwrap_or(usize::MAX));
    order_levels(&mut levels);
    levels
}

/// Measured runs start at different base offsets.
fn offsets_vary(rows: &[JobRow<'_>]) -> bool {
    let mut offsets = rows
        .iter()
        .filter(|row| row.run.imported.is_none())
        .map(|row| row.job.workload.base_offset_bytes);
    let first = offsets.next();
    offsets.any(|offset| Some(offset) != first)
}

/// Level of the factor under test: an experiment's, a published table's column,
/// or the base offset if it varies.
fn level(row: &JobRow<'_>, offsets_vary: bool) -> Option<String> {
    if let Some(place) = &row.run.experiment {
        return Some(place.level.clone());
    }
    match &row.run.imported {
        Some(imported) if imported.tool == "dataset" => row.run.series_part.clone(),
        Some(_) => None,
        None => offsets_vary.then(|| ByteSize(row.job.workload.base_offset_bytes).to_string()),
    }
}

/// `of` names the experiment if there are several.
pub(super) fn charts(
    of: &str,
    rows: &[JobRow<'_>],
    comparisons: &[&ComparisonRecord],
) -> Vec<Chart> {
    let levels = levels(rows, comparisons);
    if !(2..=LEVELS_MAX).contains(&levels.len()) || rows.iter().any(|row| row.run.jobs.len() > 1) {
        return Vec::new();
    }
    let kinds = distinct(rows.iter().map(kind));
    let metric = metric::of(comparisons);
    kinds
        .iter()
        .map(|kind_of| {
            let of_kind: Vec<JobRow<'_>> = rows
                .iter()
                .copied()
                .filter(|row| kind(row) == *kind_of)
                .collect();
            let chart_of = LevelsSubject {
                kind: kind_of,
                metric: &metric,
                offsets_vary: offsets_vary(rows),
            };
            let mut chart = chart(&chart_of, &levels, &of_kind);
            if !of.is_empty() {
                chart.title = format!("{} (experiment {of})", chart.title);
            }
            chart
        })
        .collect()
}

/// Load of a row: distinguishes it from others of its kind.
fn load(row: &JobRow<'_>, several_blocks: bool) -> String {
    let in_flight = match (row.threads(), row.outstanding()) {
        (Some(threads), Some(outstanding)) => format!("{threads}×{outstanding}"),
        _ => in_flight(row).map_or_else(String::new, |value| value.to_string()),
    };
    match row.block_size_bytes().filter(|_| several_blocks) {
        Some(bytes) => format!("{} {in_flight}", ByteSize(bytes)),
        None => in_flight,
    }
}

/// The subject of a chart of levels.
struct LevelsSubject<'a> {
    kind: &'a str,
    metric: &'a str,
    offsets_vary: bool,
}

fn chart(of: &LevelsSubject<'_>, levels: &[String], rows: &[JobRow<'_>]) -> Chart {
    let several = distinct(rows.iter().map(JobRow::block_size_bytes)).len() > 1;
    // Small loads first, whatever order they were planned or run in.
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (row.block_size_bytes(), in_flight(row), row.threads()));
    let loads = distinct(rows.iter().map(|row| load(row, several)));
    // Evaluated once each: there may be thousands of rows.
    let placed: Vec<(Option<String>, String, Option<f64>)> = rows
        .iter()
        .map(|row| {
            let value = metric::value(row, of.metric);
            (level(row, of.offsets_vary), load(row, several), value)
        })
        .collect();
    let mut bars = Vec::new();
    for (slot, name) in levels.iter().enumerate() {
        let points = loads.iter().enumerate().filter_map(|(index, wanted)| {
            let values: Vec<f64> = placed
                .iter()
                .filter(|(level, load, _)| level.as_ref() == Some(name) && load == wanted)
                .filter_map(|(_, _, value)| *value)
                .collect();
            middle_of(index as f64, &values)
        });
        let form = Form::Bars {
            slot,
            slots: levels.len(),
        };
        bars.push(Series::new(name, form, slot, points.collect()));
    }
    let repeated = bars
        .iter()
        .any(|line| line.points.iter().any(|point| point.span.is_some()));
    let word = metric::heading(of.metric);
    Chart {
        cautions: Vec::new(),
        name: format!("{}-levels", super::slug(of.kind)),
        title: format!(
            "{}: {} side by side",
            stripewise_units::capitalised(of.kind),
            levels.join(", ")
        ),
        summary: if repeated {
            format!(
                "{word} of each level: the median of its repetitions; whiskers reach from the lowest to the highest."
            )
        } else {
            format!("{word} of each level at each load.")
        },
        x: axis(
            if several {
                "Block size, threads × outstanding"
            } else {
                "Threads × outstanding"
            },
            Quantity::Name,
            Scale::Names(loads),
        ),
        panels: vec![Panel {
            y: axis(
                &metric::axis_title(of.metric),
                metric::quantity(of.metric),
                Scale::FromZero,
            ),
            series: bars,
            annotations: Vec::new(),
        }],
    }
}
