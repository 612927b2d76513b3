//! Latency over time: how many operations took how long, in each stretch of a run.

use super::{Named, axis};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::material::{LatencyInterval, Material};
use std::collections::BTreeMap;
use stripewise_stats::Histogram;
use stripewise_units::format_duration;

/// Stretches of time.
const COLUMNS_MAX: usize = 60;
/// Cells of a map.
const CELLS_MAX: usize = 1_000;
/// They weigh more than all others together.
const CHARTS_MAX: usize = 2;
const COLUMNS_MIN: usize = 5;
/// Stretches of latency in each power of ten.
const ROWS_OF_DECADE: f64 = 8.0;

pub(super) fn charts(material: &Material, named: &[Named<'_>]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (name, row) in named {
        if charts.len() >= CHARTS_MAX {
            break;
        }
        let over_time = material
            .latencies
            .iter()
            .find(|latencies| latencies.run == row.run.id && latencies.job == row.job.name);
        if let Some(over_time) = over_time {
            charts.extend(chart(name, &over_time.intervals));
        }
    }
    charts
}

fn chart(name: &str, intervals: &[LatencyInterval]) -> Option<Chart> {
    let mut columns = columns(intervals, COLUMNS_MAX);
    if columns.len() < COLUMNS_MIN {
        return None;
    }
    let mut points = cells(&columns);
    // Where latencies spread far, longer stretches of time keep the page light.
    while points.len() > CELLS_MAX && columns.len() > COLUMNS_MIN * 2 {
        columns = self::columns(intervals, columns.len() * 3 / 4);
        points = cells(&columns);
    }
    let slowest = columns
        .iter()
        .filter_map(|(start_ns, _, latencies)| Some((latencies.max()?, *start_ns)))
        .max()?;
    Some(Chart {
        name: format!("{}-latency-over-time", super::slug(name)),
        title: format!("{}: latency over time", stripewise_units::capitalised(name)),
        summary: format!(
            "How many operations took how long, in each {} of the run. The slowest took {}, and \
             completed in the stretch from {} on.",
            format_duration(columns[0].1 - columns[0].0),
            format_duration(slowest.0),
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
            }],
            annotations: Vec::new(),
        }],
    })
}

/// Start, end and latencies of a stretch of time.
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
        })
        .collect()
    };
    columns.iter().flat_map(of_column).collect()
}

/// Neighbouring intervals together, so that there are at most so many columns.
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
                last.start_ns + last.duration_ns,
                latencies,
            )
        })
        .collect()
}

/// The lower edge of a row in nanoseconds.
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
