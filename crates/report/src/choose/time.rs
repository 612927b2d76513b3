//! A run over time: throughput with its steady window, steps and failures, and
//! latency below.

use super::{DetailedJob, axis};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::draw::PERCENTILES;
use crate::quantity_text::percent;
use stripewise_results::{Interval, JobRow, Status};
use stripewise_stats::{ChangePointRule, Settling, SteadyRule, change_points, mean};
use stripewise_units::{format_count, format_duration};

/// Fewer intervals than this do not make a curve.
const INTERVALS_MIN: usize = 5;
/// More points than this cannot be distinguished.
const POINTS_MAX: usize = 160;
/// Steps smaller than this share are not mentioned.
const STEP_MIN: f64 = 0.10;
/// More annotations than this are not legible.
const MARKS_MAX: usize = 4;

pub(super) fn charts(jobs_shown: &[DetailedJob<'_>]) -> Vec<Chart> {
    jobs_shown.iter().filter_map(chart).collect()
}

fn chart(jobs_shown: &DetailedJob<'_>) -> Option<Chart> {
    let DetailedJob { name, row, .. } = jobs_shown;
    let intervals = thinned(whole(&row.job.outcome.intervals));
    if intervals.len() < INTERVALS_MIN || row.run.imported.is_some() {
        return None;
    }
    let rates: Vec<f64> = intervals.iter().map(rate_of).collect();
    let points = intervals
        .iter()
        .map(|interval| Point::new(middle(interval), rate_of(interval)));
    let (marks, words) = marks(row, &intervals, &rates);
    // Intervals have one summary of all kinds.
    let latency_title = match (row.is_mixed(), row.job.workload.discards()) {
        (false, _) => "Latency",
        (true, false) => "Latency, reads and writes together",
        (true, true) => "Latency of all operations together",
    };
    let latency = |label: &str, tone: usize, of: fn(&Interval) -> Option<f64>| {
        let points = intervals.iter().filter_map(|interval| {
            let value = of(interval).filter(|value| *value > 0.0)?;
            Some(Point::new(middle(interval), value))
        });
        Series::new(label, Form::Trace, tone, points.collect())
    };
    let lines = vec![
        latency("mean", 6, |interval| Some(interval.latency_ns_mean)),
        latency("p99", PERCENTILES[2], |interval| {
            interval.latency_ns_p99.map(|ns| ns as f64)
        }),
        latency("max", PERCENTILES[4], |interval| {
            Some(interval.latency_ns_max as f64)
        }),
    ];
    let lines: Vec<Series> = lines
        .into_iter()
        .filter(|line| !line.points.is_empty())
        .collect();
    let limit = row.run.latency_limit.as_deref();
    let limit = limit.and_then(|limit| super::ladder::limit_among(limit, &lines));
    Some(Chart {
        cautions: Vec::new(),
        name: format!("{}-time", super::slug(name)),
        title: format!("{}: over time", stripewise_units::capitalised(name)),
        summary: format!("{}{words}", jobs_shown.sentence()),
        x: axis(
            "Time since the start of measuring",
            Quantity::Time,
            Scale::FromZero,
        ),
        panels: vec![
            Panel {
                y: axis("Throughput", Quantity::Iops, Scale::FromZero),
                series: vec![Series::new("Throughput", Form::Trace, 0, points.collect())],
                annotations: marks,
            },
            Panel {
                y: axis(latency_title, Quantity::Latency, Scale::Log10),
                series: lines,
                annotations: limit.into_iter().collect(),
            },
        ],
    })
}

fn middle(interval: &Interval) -> f64 {
    interval.start_ns as f64 + interval.duration_ns as f64 / 2.0
}

fn rate_of(interval: &Interval) -> f64 {
    interval.operations() as f64 * 1e9 / interval.duration_ns.max(1) as f64
}

/// Without a shorter last interval, whose rate is noise.
fn whole(intervals: &[Interval]) -> &[Interval] {
    match intervals {
        [first, .., last] if last.duration_ns * 2 < first.duration_ns => {
            &intervals[..intervals.len() - 1]
        }
        all => all,
    }
}

fn thinned(intervals: &[Interval]) -> Vec<Interval> {
    let together = intervals.len().div_ceil(POINTS_MAX).max(1);
    let join = |group: &[Interval]| {
        group[1..]
            .iter()
            .fold(group[0], |joined, next| joined.joined_with(next, None))
    };
    intervals.chunks(together).map(join).collect()
}

/// Annotations, and the same as a few sentences.
fn marks(row: &JobRow<'_>, intervals: &[Interval], rates: &[f64]) -> (Vec<Annotation>, String) {
    let mut marks = Vec::new();
    let mut words = Vec::new();
    let end = intervals.last().map_or(0.0, |last| {
        last.start_ns.saturating_add(last.duration_ns) as f64
    });
    // With intervals of unequal length, enough of the shortest make a round.
    let interval_ns = intervals.iter().map(|one| one.duration_ns).min();
    match SteadyRule::SNIA.settling(rates, interval_ns.unwrap_or(0)) {
        Settling::From(index) => {
            let from = intervals[index].start_ns;
            if index > 0 {
                marks.push(Annotation::RangeX {
                    from: from as f64,
                    to: end,
                    label: "steady".to_owned(),
                });
            }
            let average = mean(&rates[index..]).unwrap_or(0.0);
            words.push(format!(
                "Steady {} (SNIA's rule), at {} IOPS on average.",
                if index == 0 {
                    "from the start".to_owned()
                } else {
                    format!("from {} on", format_duration(from))
                },
                crate::number::rate(average)
            ));
        }
        Settling::Never => words.push("The rate never settles within SNIA's rule.".to_owned()),
        // The rule does not apply to a few seconds.
        Settling::TooShort => {}
    }
    let rule = ChangePointRule {
        magnitude_min: STEP_MIN,
        ..ChangePointRule::default()
    };
    for step in change_points(rates, &rule).iter().take(MARKS_MAX) {
        let change = (step.mean_after / step.mean_before - 1.0) * 100.0;
        let at = intervals[step.index].start_ns;
        marks.push(Annotation::AtX {
            x: at as f64,
            label: format!("step {}", percent(change)),
        });
        words.push(format!(
            "At {} the rate steps by {}.",
            format_duration(at),
            percent(change)
        ));
    }
    for interval in intervals
        .iter()
        .filter(|interval| interval.errors > 0)
        .take(MARKS_MAX)
    {
        marks.push(Annotation::AtX {
            x: middle(interval),
            label: format!("{} failed", format_count(interval.errors)),
        });
    }
    let errors = row.job.outcome.errors.total;
    if errors > 0 {
        words.push(format!("{} operations failed.", format_count(errors)));
    }
    if row.run.status == Status::Partial {
        marks.push(Annotation::AtX {
            x: end,
            label: "broken off".to_owned(),
        });
        words.push("The run was cut short.".to_owned());
    }
    (marks, words.join(" "))
}
