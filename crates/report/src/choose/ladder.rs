//! Ladders: throughput and latency against queue depth, with the knee, its
//! bracket and the latency limit; and latency against throughput, the hockey
//! stick.

use super::axis;
use crate::answers::answer_amount;
use crate::chart::{Annotation, Axis, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::draw::PERCENTILES;
use crate::identity::NamedSeries;
use crate::number::{rate, signed};
use crate::words::series_title;
use stripewise_results::{
    AnswerBound, AnswerPlace, KneeRecord, LatencySummary, SeriesRecord, StepRecord, rate_unit,
};
use stripewise_stats::{LatencyStatistic, Slo};
use stripewise_units::format_duration;

/// More lines than this cannot be distinguished by colour.
const LINES_MAX: usize = 8;

pub(super) fn charts(ladders: &[NamedSeries<'_>]) -> Vec<Chart> {
    let climbing: Vec<&NamedSeries<'_>> = ladders
        .iter()
        .filter(|ladder| ladder.series.steps.len() > 1)
        .collect();
    let parts = super::distinct(climbing.iter().map(|ladder| ladder.series.name.as_str()));
    let mut charts: Vec<Chart> = Vec::new();
    for part in parts {
        let of_part: Vec<&NamedSeries<'_>> = climbing
            .iter()
            .copied()
            .filter(|ladder| ladder.series.name == part)
            .collect();
        match &of_part[..] {
            [only] => charts.push(load(only)),
            several => charts.extend(several.chunks(LINES_MAX).map(side_by_side_chart)),
        }
    }
    for in_bytes in [false, true] {
        let of_kind: Vec<&NamedSeries<'_>> = climbing
            .iter()
            .copied()
            .filter(|ladder| ladder.series.is_in_bytes() == in_bytes)
            .collect();
        charts.extend(
            of_kind
                .chunks(LINES_MAX)
                .filter_map(|some| hockey_stick(some, in_bytes)),
        );
    }
    charts
}

/// Ladders with one name on several targets, or from several days: one line each.
fn side_by_side_chart(ladders: &[&NamedSeries<'_>]) -> Chart {
    let first = ladders[0].series;
    let in_bytes = first.is_in_bytes();
    let statistic = first.judged();
    let lines = |of: &dyn Fn(&StepRecord) -> Option<f64>| -> Vec<Series> {
        let each = ladders.iter().enumerate().map(|(tone, ladder)| {
            let steps = ladder.series.steps.iter();
            let points = steps.filter_map(|step| {
                let value = of(step).filter(|value| *value > 0.0)?;
                Some(Point::new(in_flight(step), value))
            });
            Series::new(&ladder.what, Form::Line, tone, points.collect())
        });
        each.collect()
    };
    let rings = ladders.iter().filter_map(|ladder| {
        let (x, y, label) = match answered(ladder.series, in_bytes) {
            Some((x, y, _)) => {
                let bound = ladder.series.answer.and_then(|answer| answer.bound);
                (x, y, signed(bound, &rate(y)))
            }
            None => {
                let step = &ladder.series.steps[ladder.series.within_limit?];
                let y = step.rate(in_bytes);
                (in_flight(step), y, rate(y))
            }
        };
        Some(Annotation::AtPoint { x, y, label })
    });
    let limits = super::distinct(ladders.iter().map(|ladder| ladder.series.slo.as_str()));
    let limit = match &limits[..] {
        [limit] => limit_mark(limit),
        _ => None,
    };
    let words: Vec<String> = ladders.iter().map(|ladder| ladder.sentence()).collect();
    Chart {
        cautions: Vec::new(),
        name: format!("{}-load", super::slug(&first.name)),
        title: format!(
            "{}: throughput and latency against queue depth",
            series_title(&first.name)
        ),
        summary: format!(
            "{} Rings mark the answers within the limit.",
            words.join(" ")
        ),
        x: load_axis(),
        panels: vec![
            Panel {
                y: throughput_axis(in_bytes),
                series: lines(&|step| Some(step.rate(in_bytes))),
                annotations: rings.collect(),
            },
            Panel {
                y: axis(
                    &format!("Latency, {statistic}"),
                    Quantity::Latency,
                    Scale::Log10,
                ),
                series: lines(&|step| Some(of_limit(step.latency_ns.as_ref()?, statistic))),
                annotations: limit.into_iter().collect(),
            },
        ],
    }
}

fn load_axis() -> Axis {
    axis(
        "Operations in flight (threads \u{d7} outstanding)",
        Quantity::Count,
        Scale::Log2,
    )
}

fn in_flight(step: &StepRecord) -> f64 {
    f64::from(step.threads) * f64::from(step.outstanding)
}

/// The throughput axis of a series.
pub(super) fn throughput_axis(in_bytes: bool) -> Axis {
    let quantity = if in_bytes {
        Quantity::MibPerSecond
    } else {
        Quantity::Iops
    };
    axis("Throughput", quantity, Scale::FromZero)
}

fn load(named: &NamedSeries<'_>) -> Chart {
    let ladder = named.series;
    let in_bytes = ladder.is_in_bytes();
    let title = series_title(&ladder.name);
    let points = ladder
        .steps
        .iter()
        .map(|step| Point::new(in_flight(step), step.rate(in_bytes)))
        .collect();
    let mut marked = Vec::new();
    if let Some(knee) = &ladder.knee {
        marked.push(knee_mark(knee));
    }
    let unit = rate_unit(in_bytes);
    let ringed = |index: usize, word: &str, bound: Option<AnswerBound>| {
        let step = &ladder.steps[index];
        let value = step.rate(in_bytes);
        let amount = signed(bound, &rate(value));
        Annotation::AtPoint {
            x: in_flight(step),
            y: value,
            label: format!("{word}: {amount} {unit}"),
        }
    };
    let bound = ladder.ceiling_bound;
    if let Some((x, y, words)) = answered(ladder, in_bytes) {
        let label = format!("answer: {words}");
        marked.push(Annotation::AtPoint { x, y, label });
    }
    let limit = ladder.within_limit.filter(|_| ladder.answer.is_none());
    let above = ladder.ceiling_above().map(|step| step.run.as_str());
    let ceiling = ladder
        .steps
        .iter()
        .position(|step| Some(step.run.as_str()) == above);
    match (limit, ceiling) {
        (Some(limit), Some(ceiling)) if limit == ceiling => {
            marked.push(ringed(limit, "limit and ceiling", bound))
        }
        (limit, ceiling) => {
            marked.extend(limit.map(|index| ringed(index, "limit", None)));
            marked.extend(ceiling.map(|index| ringed(index, "ceiling", bound)));
        }
    }
    let top = Panel {
        y: throughput_axis(in_bytes),
        series: vec![Series::new("Throughput", Form::Line, 0, points)],
        annotations: marked,
    };
    let lines = latency_lines(ladder);
    let below = Panel {
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        annotations: limit_among(&ladder.slo, &lines).into_iter().collect(),
        series: lines,
    };
    Chart {
        cautions: Vec::new(),
        name: format!("{}-load", super::slug(&ladder.name)),
        title: format!("{title}: throughput and latency against queue depth"),
        summary: ladder.sentence.clone(),
        x: load_axis(),
        panels: vec![top, below],
    }
}

/// Load, throughput and text of an answer within the limit.
fn answered(ladder: &SeriesRecord, in_bytes: bool) -> Option<(f64, f64, String)> {
    let answer = ladder.answer.as_ref()?;
    let (rate, _) = answer.rate(in_bytes);
    let within = matches!(answer.at, AnswerPlace::Limit | AnswerPlace::Plateau);
    within.then(|| (answer.in_flight, rate, answer_amount(ladder, answer)))
}

fn knee_mark(knee: &KneeRecord) -> Annotation {
    let [low, high] = knee.kneedle_bracket;
    let at = knee.kneedle_in_flight;
    if low == high {
        return Annotation::AtX {
            x: f64::from(at),
            label: format!("knee at {at}"),
        };
    }
    Annotation::RangeX {
        from: f64::from(low),
        to: f64::from(high),
        label: format!("knee {at} (90 %: {low} to {high})"),
    }
}

/// The horizontal line of a latency limit, if all lines show the statistic that it judges.
fn limit_mark(slo: &str) -> Option<Annotation> {
    limit_of(slo, |_| Some(None))
}

/// The same among lines of several statistics: in the colour of the one that it
/// judges; omitted if that is not shown.
pub(super) fn limit_among(slo: &str, lines: &[Series]) -> Option<Annotation> {
    limit_of(slo, |judged| {
        let line = lines.iter().find(|line| line.name == judged)?;
        Some(Some(line.tone))
    })
}

fn limit_of(slo: &str, tone: impl Fn(&str) -> Option<Option<usize>>) -> Option<Annotation> {
    let limit: Slo = slo.parse().ok()?;
    Some(Annotation::AtY {
        y: limit.limit_ns as f64,
        label: format!("limit: {}", limit.describe()),
        tone: tone(limit.percentile.name())?,
    })
}

/// Statistics with their tones; p90 and p95 only if a limit judges them.
const STATISTICS: [(LatencyStatistic, usize); 7] = [
    (LatencyStatistic::Mean, 6),
    (LatencyStatistic::P50, PERCENTILES[0]),
    (LatencyStatistic::P90, PERCENTILES[1]),
    (LatencyStatistic::P95, PERCENTILES[1]),
    (LatencyStatistic::P99, PERCENTILES[2]),
    (LatencyStatistic::P999, PERCENTILES[3]),
    (LatencyStatistic::Max, PERCENTILES[4]),
];

fn latency_lines(ladder: &SeriesRecord) -> Vec<Series> {
    let judged = ladder.judged();
    let shown = STATISTICS
        .into_iter()
        .filter(|(statistic, _)| match statistic {
            LatencyStatistic::P90 | LatencyStatistic::P95 => *statistic == judged,
            _ => true,
        });
    let lines = shown.map(|(statistic, tone)| {
        let points = line_of(&ladder.steps, |latency| latency.statistic(statistic));
        Series::new(statistic.name(), Form::Line, tone, points)
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// A value for each step. A line joins neighbours only: it is broken where a step has none.
fn line_of(steps: &[StepRecord], of: impl Fn(&LatencySummary) -> Option<f64>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut apart = false;
    for step in steps {
        let value = step.latency_ns.as_ref().and_then(&of);
        match value.filter(|value| *value > 0.0) {
            Some(value) => points.push(Point {
                apart: apart && !points.is_empty(),
                ..Point::new(in_flight(step), value)
            }),
            None => {
                apart = true;
                continue;
            }
        }
        apart = false;
    }
    points
}

/// The statistic that the limit judges. If a percentile is missing for lack of
/// operations, the maximum, which is not below it.
fn of_limit(latency: &LatencySummary, statistic: LatencyStatistic) -> f64 {
    latency.statistic(statistic).unwrap_or(latency.max as f64)
}

fn hockey_stick(ladders: &[&NamedSeries<'_>], in_bytes: bool) -> Option<Chart> {
    let first = ladders.first()?;
    let limit: Slo = first.series.slo.parse().ok()?;
    let lines: Vec<Series> = ladders
        .iter()
        .enumerate()
        .map(|(tone, ladder)| {
            let points = ladder.series.steps.iter().filter_map(|step| {
                let value = of_limit(step.latency_ns.as_ref()?, limit.percentile);
                (value > 0.0).then(|| Point::new(step.rate(in_bytes), value))
            });
            Series::new(&ladder.title(), Form::Line, tone, points.collect())
        })
        .collect();
    let x = throughput_axis(in_bytes);
    let unit = x.quantity.unit();
    let beyond = Annotation::AboveY {
        y: limit.limit_ns as f64,
    };
    let shaded = format!("Shaded: not {}.", limit.describe());
    let summary = ladders
        .iter()
        .filter_map(|ladder| end_of(ladder.series, &ladder.title(), in_bytes, limit.percentile));
    Some(Chart {
        cautions: Vec::new(),
        name: format!(
            "latency-against-{}",
            if in_bytes { "mib-per-s" } else { "iops" }
        ),
        title: format!(
            "Latency against throughput: {} for each {unit}",
            limit.percentile
        ),
        summary: summary.chain([shaded]).collect::<Vec<_>>().join(" "),
        x,
        panels: vec![Panel {
            y: axis(
                &format!("Latency, {}", limit.percentile),
                Quantity::Latency,
                Scale::Log10,
            ),
            series: lines,
            annotations: std::iter::once(beyond)
                .chain(limit_mark(&first.series.slo))
                .chain(depths(ladders, in_bytes, limit.percentile))
                .collect(),
        }],
    })
}

/// A curve turns up if its highest throughput has at least this many times the latency
/// of the lightest load, and more than any load below it.
const TURNS_UP: f64 = 2.0;

/// How the curve of a ladder ends: `Random read turns up towards 1,214 IOPS, where p99 is
/// 223 ms.`
fn end_of(
    ladder: &SeriesRecord,
    title: &str,
    in_bytes: bool,
    statistic: LatencyStatistic,
) -> Option<String> {
    let steps = &ladder.steps;
    let index = ladder.ceiling?;
    let latency = |step: &StepRecord| Some(of_limit(step.latency_ns.as_ref()?, statistic));
    let there = latency(&steps[index])?;
    let below: Vec<f64> = steps[..index].iter().filter_map(latency).collect();
    let turns = below.first().is_some_and(|first| there >= TURNS_UP * first)
        && below.iter().all(|other| *other < there);
    Some(format!(
        "{title} {} {} {}, where {statistic} is {}.",
        if turns { "turns up towards" } else { "reaches" },
        rate(steps[index].rate(in_bytes)),
        throughput_axis(in_bytes).quantity.unit(),
        format_duration(there.round() as u64)
    ))
}

/// For one ladder, the number in flight at its points, with the knee named; for several, the
/// knees alone, because more text would not be legible.
fn depths(
    ladders: &[&NamedSeries<'_>],
    in_bytes: bool,
    statistic: LatencyStatistic,
) -> Vec<Annotation> {
    let mut marks = Vec::new();
    for ladder in ladders {
        let knee = ladder
            .series
            .knee
            .map(|knee| f64::from(knee.kneedle_in_flight));
        for step in &ladder.series.steps {
            let is_knee = knee == Some(in_flight(step));
            let latency = step.latency_ns.as_ref();
            let (true, Some(latency)) = (is_knee || ladders.len() == 1, latency) else {
                continue;
            };
            let word = if is_knee { " in flight, the knee" } else { "" };
            marks.push(Annotation::AtPoint {
                x: step.rate(in_bytes),
                y: of_limit(latency, statistic),
                label: format!("{}{word}", in_flight(step)),
            });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(outstanding: u32, iops: f64, p99_ns: u64, p999: Option<u64>) -> StepRecord {
        StepRecord {
            run: outstanding.to_string(),
            threads: 1,
            outstanding,
            iops,
            mib_per_s: iops,
            latency_ns: Some(LatencySummary {
                p99: p99_ns,
                p999,
                ..LatencySummary::default()
            }),
            ..StepRecord::default()
        }
    }

    #[test]
    fn a_curve_turns_up_only_where_it_does() {
        let said = |steps: Vec<StepRecord>, ceiling: usize| {
            let series = SeriesRecord {
                name: "random-write".to_owned(),
                slo: "p99<5ms".to_owned(),
                steps,
                ceiling: Some(ceiling),
                ..SeriesRecord::default()
            };
            end_of(&series, "Random write", false, LatencyStatistic::P99).expect("a sentence")
        };
        let ms = |ms: u64| ms * 1_000_000;
        let rising = vec![
            step(1, 100.0, ms(1), None),
            step(2, 200.0, ms(2), None),
            step(4, 210.0, ms(9), None),
        ];
        assert_eq!(
            said(rising, 2),
            "Random write turns up towards 210 IOPS, where p99 is 9 ms."
        );
        // Its p99 is the lowest where its rate is the highest.
        let falling = vec![
            step(1, 5_000.0, ms(8), None),
            step(8, 8_317.0, ms(7), None),
            step(16, 18_285.0, ms(5), None),
        ];
        assert_eq!(
            said(falling, 2),
            "Random write reaches 18,285 IOPS, where p99 is 5 ms."
        );
    }

    #[test]
    fn no_line_goes_through_a_step_without_the_value() {
        let steps = [
            step(1, 1.0, 1, Some(5)),
            step(2, 1.0, 1, Some(6)),
            step(4, 1.0, 1, None),
            step(8, 1.0, 1, Some(7)),
            step(16, 1.0, 1, Some(8)),
        ];
        let points = line_of(&steps, |latency| latency.statistic(LatencyStatistic::P999));
        let apart: Vec<bool> = points.iter().map(|point| point.apart).collect();
        assert_eq!(apart, [false, false, true, false]);
        let points = line_of(&steps[2..], |latency| {
            latency.statistic(LatencyStatistic::P999)
        });
        assert!(points.iter().all(|point| !point.apart));
    }
}
