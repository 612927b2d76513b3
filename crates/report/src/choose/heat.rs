//! Latency over time: how many operations took how long, in each time slice of a run.

use super::{DetailedJob, axis};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::material::{LatencyInterval, LatencyOverTime, Material};
use std::collections::BTreeMap;
use stripewise_results::OperationKind;
use stripewise_stats::Histogram;
use stripewise_units::format_duration;

/// Maximum number of time slices.
const COLUMNS_MAX: usize = 60;
/// Maximum number of cells of a map.
const CELLS_MAX: usize = 1_000;
/// Fewer cells are not worth a map.
const CELLS_MIN: usize = 240;
/// Cells of all maps together: they are larger than all other charts.
const CELLS_OF_ALL: usize = 2_400;
const COLUMNS_MIN: usize = 5;
/// Latency bins per decade.
const ROWS_OF_DECADE: f64 = 8.0;

/// A map for each shown job and each kind of its operations; writes and discards
/// first, because their latencies have tails.
pub(super) fn charts(material: &Material, jobs_shown: &[DetailedJob<'_>]) -> Vec<Chart> {
    let mut wanted: Vec<(&DetailedJob<'_>, &LatencyOverTime)> = Vec::new();
    for one in jobs_shown {
        let of_row = |latencies: &&LatencyOverTime| {
            latencies.run == one.row.run.id && latencies.job == one.row.job.name
        };
        wanted.extend(material.latencies.iter().filter(of_row).map(|of| (one, of)));
    }
    wanted.sort_by_key(|(_, of)| of.kind == OperationKind::Read);
    let cells_max = (CELLS_OF_ALL / wanted.len().max(1)).clamp(CELLS_MIN, CELLS_MAX);
    let charts = wanted.iter().filter_map(|(one, of)| {
        let name = match one.row.is_mixed() {
            false => one.name.clone(),
            true => format!("{}: {}", one.name, of.kind.plural()),
        };
        chart(&name, &one.sentence(), &of.intervals, cells_max)
    });
    charts.collect()
}

fn chart(
    name: &str,
    sentence: &str,
    intervals: &[LatencyInterval],
    cells_max: usize,
) -> Option<Chart> {
    let mut columns = columns(intervals, COLUMNS_MAX);
    if columns.len() < COLUMNS_MIN {
        return None;
    }
    let mut points = cells(&columns);
    // With a wide latency range, longer time slices keep the page small.
    while points.len() > cells_max && columns.len() > COLUMNS_MIN * 2 {
        columns = self::columns(intervals, columns.len() * 3 / 4);
        points = cells(&columns);
    }
    let slowest = columns
        .iter()
        .filter_map(|(start_ns, _, latencies)| Some((latencies.max()?, *start_ns)))
        .max()?;
    Some(Chart {
        cautions: Vec::new(),
        name: format!("{}-latency-over-time", super::slug(name)),
        title: format!("{}: latency over time", stripewise_units::capitalised(name)),
        summary: format!(
            "{sentence}Operations by latency, for each {} of the run. The slowest took {} and \
             finished in the {} from {} on. Shades follow the cube root of the count, so that rare slow operations are visible.",
            format_duration(columns[0].1 - columns[0].0),
            format_duration(slowest.0),
            format_duration(columns[0].1 - columns[0].0),
            format_duration(slowest.1),
        ),
        x: axis(
            "Time since the start of measuring",
            Quantity::Time,
            Scale::FromZero,
        ),
        panels: vec![Panel {
            y: axis("Latency", Quantity::Latency, Scale::Log10),
            series: vec![Series {
                name: "operations".to_owned(),
                form: Form::Cells { labelled: false },
                tone: 0,
                points,
                value: Some(Quantity::Count),
                darkest: None,
            }],
            annotations: Vec::new(),
        }],
    })
}

/// Start, end and latencies of a time slice.
type Column = (u64, u64, Histogram);

fn cells(columns: &[Column]) -> Vec<Point> {
    let of_column = |(start_ns, end_ns, latencies): &Column| -> Vec<Point> {
        let rows = counted(latencies).into_iter();
        let (from, to) = (*start_ns as f64, *end_ns as f64);
        rows.map(|(row, count)| Point {
            x: from,
            y: edge(row),
            span: Some([to, edge(row + 1)]),
            value: Some(count as f64),
            pale: false,
            apart: false,
        })
        .collect()
    };
    columns.iter().flat_map(of_column).collect()
}

/// Joins adjacent intervals so that there are at most `columns_max`.
fn columns(intervals: &[LatencyInterval], columns_max: usize) -> Vec<Column> {
    let together = intervals.len().div_ceil(columns_max).max(1);
    intervals
        .chunks(together)
        .map(|group| {
            let mut latencies = Histogram::new();
            for interval in group {
                latencies.merge(&interval.latency_ns);
            }
            let last = &group[group.len() - 1];
            (
                group[0].start_ns,
                last.start_ns.saturating_add(last.duration_ns),
                latencies,
            )
        })
        .collect()
}

/// Lower edge of a row in nanoseconds.
fn edge(row: i32) -> f64 {
    10f64.powf(f64::from(row) / ROWS_OF_DECADE).round()
}

fn counted(latencies: &Histogram) -> BTreeMap<i32, u64> {
    let mut rows = BTreeMap::new();
    for bucket in latencies.nonzero() {
        let middle = (bucket.value_low as f64 + bucket.value_high as f64) / 2.0;
        let row = (middle.max(1.0).log10() * ROWS_OF_DECADE).floor() as i32;
        *rows.entry(row).or_insert(0) += bucket.count;
    }
    rows
}
