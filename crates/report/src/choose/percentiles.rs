//! Percentiles on an axis of nines.

use super::{DetailedJob, axis};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series, nines};
use stripewise_results::{AnswerReason, JobRow, KindOutcome};
use stripewise_stats::Histogram;
use stripewise_stats::{LatencyStatistic, Slo};
use stripewise_units::format_duration;

/// Commonly named percentiles, which a curve has in addition to its even steps.
const NAMED: [f64; 11] = [
    0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 99.999,
];
/// Even steps of a curve per nine, fine enough that corners come from the disk.
const STEPS_OF_NINE: u32 = 20;
/// A step closer than this many nines to a named percentile is left out.
const NEAR: f64 = 0.02;
/// Maximum number of nines of a curve.
const NINES_MAX: u32 = 6;
/// Minimum number of operations beyond a percentile to show it.
const BEYOND_MIN: f64 = 10.0;
const LINES_MAX: usize = 8;
/// Maximum number of marked points of a line.
const MARKS_MAX: usize = 8;

pub(super) fn chart(jobs_shown: &[DetailedJob<'_>]) -> Option<Chart> {
    let mut lines: Vec<Series> = Vec::new();
    for one in jobs_shown {
        for (kind, points) in kinds(&one.row) {
            let name = format!("{}{kind}", one.name_with_place());
            // Marks on a whole curve would hide it.
            let form = match points.len() > MARKS_MAX {
                true => Form::Trace,
                false => Form::Line,
            };
            lines.push(Series::new(&name, form, lines.len(), points));
        }
    }
    lines.retain(|line| line.points.len() > 1);
    // More cannot be distinguished; the first are the most informative.
    lines.truncate(LINES_MAX);
    if lines.is_empty() {
        return None;
    }
    let limits: Vec<_> = super::distinct(
        jobs_shown
            .iter()
            .map(|one| one.row.run.latency_limit.as_deref()),
    );
    let limit = match &limits[..] {
        [Some(limit)] => limit_mark(limit, &lines),
        _ => None,
    };
    let places = jobs_shown
        .iter()
        .filter_map(|one| Some(one.answers.as_ref()?.0));
    let places: Vec<AnswerReason> = places.collect();
    let answers = |at: &AnswerReason| matches!(at, AnswerReason::Within | AnswerReason::Only);
    let title = match (places.len(), places.iter().all(answers)) {
        (0 | 1, _) => "Percentiles of latency",
        (_, true) => "Percentiles of latency, each series at its answer",
        (_, false) => {
            "Percentiles of latency, each series at its answer, or at its knee or highest \
             rate where nothing meets the limit"
        }
    };
    let measured = jobs_shown.iter().map(|one| match &one.answers {
        Some((_, words)) => format!(" {} was measured {words}.", one.name),
        None => String::new(),
    });
    let curves = lines.iter().any(|line| line.form == Form::Trace);
    let ends = match curves {
        true => " Curves end at the slowest operation.",
        false => "",
    };
    Some(Chart {
        cautions: Vec::new(),
        name: "percentiles".to_owned(),
        title: title.to_owned(),
        summary: summary(&lines) + &measured.collect::<String>() + ends,
        x: axis(
            "Percentile (share of operations that took at most this long)",
            Quantity::Percentile,
            Scale::Nines,
        ),
        panels: vec![Panel {
            y: axis("Latency", Quantity::Latency, Scale::Log10),
            series: lines,
            annotations: limit.into_iter().collect(),
        }],
    })
}

/// A limit applies at its own percentile only; the mean and the maximum have no
/// position among percentiles, and a limit beyond the lines is not marked.
fn limit_mark(slo: &str, lines: &[Series]) -> Option<Annotation> {
    let limit: Slo = slo.parse().ok()?;
    let x = nines(match limit.percentile {
        LatencyStatistic::P50 => 50.0,
        LatencyStatistic::P90 => 90.0,
        LatencyStatistic::P95 => 95.0,
        LatencyStatistic::P99 => 99.0,
        LatencyStatistic::P999 => 99.9,
        LatencyStatistic::Mean | LatencyStatistic::Max => return None,
    });
    let mut points = lines.iter().flat_map(|line| &line.points);
    points
        .any(|point| point.x >= x - 1e-9)
        .then(|| Annotation::Bound {
            x,
            y: limit.limit_ns as f64,
            label: format!("limit: {}", limit.describe()),
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
    if row.is_mixed() {
        let discards = outcome.discard.as_ref().map(|kind| (": discards", kind));
        let kinds = [(": reads", &outcome.read), (": writes", &outcome.write)];
        let all = kinds.into_iter().chain(discards);
        return all.map(|(name, kind)| (name, of_kind(kind))).collect();
    }
    match &row.job.leading().histogram {
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
    let is_named = |place: f64| NAMED.iter().any(|&of| (nines(of) - place).abs() < NEAR);
    let even = (0..=STEPS_OF_NINE * NINES_MAX)
        .map(|step| f64::from(step) / f64::from(STEPS_OF_NINE))
        .filter(|place| !is_named(*place))
        .map(|place| 100.0 - 100.0 * 10f64.powf(-place));
    let mut requested: Vec<f64> = NAMED.into_iter().chain(even).collect();
    requested.sort_by(f64::total_cmp);
    let value = |percent: f64| {
        let ns = histogram.percentile(percent)? as f64;
        Some(Point::new(nines(percent), ns)).filter(|point| point.y > 0.0)
    };
    let enough = |percent: &f64| (100.0 - percent) / 100.0 * count >= BEYOND_MIN - 1e-6;
    let mut points: Vec<Point> = requested
        .into_iter()
        .filter(enough)
        .filter_map(value)
        .collect();
    points.extend(slowest(histogram).filter(|slowest| {
        let last = points.last();
        last.is_some_and(|last| last.x < slowest.x)
    }));
    points
}

/// The slowest operation, after all others: at the next even step, where curves with
/// a similar number of operations end, too, so that the mouse finds all of them.
fn slowest(histogram: &Histogram) -> Option<Point> {
    let (count, steps) = (histogram.count() as f64, f64::from(STEPS_OF_NINE));
    let max = histogram.max()? as f64;
    let step = (count.log10() * steps - 1e-9).ceil();
    (count > 1.0 && max > 0.0).then(|| Point::new(step / steps, max))
}

/// The points of an imported record.
fn of_row(row: &JobRow<'_>) -> Vec<Point> {
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9)]
        .into_iter()
        .filter_map(|(name, percent)| Some(Point::new(nines(percent), row.latency(name)?)))
        .filter(|point| point.y > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clusters: one in twenty is a hundred times as slow. The curve rises where
    /// the histogram does, and ends at the slowest.
    #[test]
    fn a_curve_has_the_corners_of_its_histogram_and_ends_at_the_slowest() {
        let mut histogram = Histogram::new();
        for _ in 0..95_000 {
            histogram.record(100_000);
        }
        for _ in 0..4_999 {
            histogram.record(10_000_000);
        }
        histogram.record(77_000_000);
        let points = of_histogram(&histogram);
        assert!(
            points
                .windows(2)
                .all(|two| two[0].x < two[1].x && two[0].y <= two[1].y)
        );
        let up = points.windows(2).find(|two| two[1].y > two[0].y * 10.0);
        let up = up.expect("a corner");
        assert!(up[0].x >= nines(94.0) && up[1].x <= nines(95.6), "{up:?}");
        let last = points.last().expect("an end");
        assert_eq!((last.x, last.y), (5.0, 77_000_000.0));
        for percent in [50.0, 95.0, 99.0, 99.9] {
            assert!(
                points
                    .iter()
                    .any(|point| (point.x - nines(percent)).abs() < 1e-9)
            );
        }
    }
}
