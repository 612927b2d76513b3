//! Percentiles on an axis of nines.

use super::{Named, axis, series};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series, nines};
use stripewise_results::{JobRow, KindOutcome};
use stripewise_stats::Histogram;
use stripewise_units::format_duration;

/// Percentiles that are asked of a histogram.
const ASKED: [f64; 16] = [
    0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.8, 99.9, 99.95, 99.99, 99.995,
    99.999,
];
/// A percentile is shown where at least so many operations lie beyond it.
const BEYOND_MIN: f64 = 10.0;
const LINES_MAX: usize = 8;

pub(super) fn chart(named: &[Named<'_>]) -> Option<Chart> {
    let mut lines: Vec<Series> = Vec::new();
    for (name, row) in named {
        for (kind, points) in kinds(row) {
            let name = format!("{name}{kind}");
            lines.push(series(&name, Form::Line, lines.len(), points));
        }
    }
    lines.retain(|line| line.points.len() > 1);
    if lines.is_empty() || lines.len() > LINES_MAX {
        return None;
    }
    let limits: Vec<_> =
        super::distinct(named.iter().map(|(_, row)| row.run.latency_limit.clone()));
    let limit = match &limits[..] {
        [Some(limit)] => super::ladder::limit_mark(limit),
        _ => None,
    };
    let ladder = limit.is_some() && lines.len() > 1;
    Some(Chart {
        name: "percentiles".to_owned(),
        title: if ladder {
            "Percentiles of latency, each series at its answer".to_owned()
        } else {
            "Percentiles of latency".to_owned()
        },
        summary: summary(&lines),
        x: axis(
            "Share of operations that took at most so long",
            Quantity::Percentile,
            Scale::Nines,
        ),
        panels: vec![Panel {
            y: axis("Latency", Quantity::Latency, Scale::Log10),
            series: lines,
            annotations: limit.into_iter().collect::<Vec<Annotation>>(),
        }],
    })
}

fn summary(lines: &[Series]) -> String {
    let at = |line: &Series, percent: f64| {
        let place = nines(percent);
        let point = line
            .points
            .iter()
            .find(|point| (point.x - place).abs() < 1e-9)?;
        Some(format_duration(point.y.round() as u64))
    };
    let words = lines.iter().filter_map(|line| {
        Some(format!(
            "{}: p50 {}, p99 {}.",
            line.name,
            at(line, 50.0)?,
            at(line, 99.0)?
        ))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn kinds(row: &JobRow<'_>) -> Vec<(&'static str, Vec<Point>)> {
    let outcome = &row.job.outcome;
    let mixed = !matches!(row.job.workload.read_percent, 0 | 100);
    if mixed {
        return vec![
            (": reads", of_kind(&outcome.read)),
            (": writes", of_kind(&outcome.write)),
        ];
    }
    let kind = if row.job.workload.read_percent == 0 {
        &outcome.write
    } else {
        &outcome.read
    };
    match &kind.histogram {
        Some(histogram) => vec![("", of_histogram(histogram))],
        None => vec![("", of_row(row))],
    }
}

fn of_kind(kind: &KindOutcome) -> Vec<Point> {
    match (&kind.histogram, &kind.latency_ns) {
        (Some(histogram), _) => of_histogram(histogram),
        (None, Some(latency)) => {
            let values = [
                (50.0, Some(latency.p50)),
                (90.0, Some(latency.p90)),
                (99.0, Some(latency.p99)),
                (99.9, latency.p999),
            ];
            let given = values
                .into_iter()
                .filter_map(|(percent, ns)| Some((percent, ns?)));
            given
                .map(|(percent, ns)| Point::new(nines(percent), ns as f64))
                .collect()
        }
        (None, None) => Vec::new(),
    }
}

fn of_histogram(histogram: &Histogram) -> Vec<Point> {
    let count = histogram.count() as f64;
    ASKED
        .into_iter()
        .filter(|percent| (100.0 - percent) / 100.0 * count >= BEYOND_MIN - 1e-6)
        .filter_map(|percent| {
            Some(Point::new(
                nines(percent),
                histogram.percentile(percent)? as f64,
            ))
        })
        .filter(|point| point.y > 0.0)
        .collect()
}

/// What an imported record gives.
fn of_row(row: &JobRow<'_>) -> Vec<Point> {
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9)]
        .into_iter()
        .filter_map(|(name, percent)| Some(Point::new(nines(percent), row.latency(name)?)))
        .filter(|point| point.y > 0.0)
        .collect()
}
