//! The answers as charts: the share beyond the limit over the load, and the load over time.

use super::found::{by_level, pooled};
use super::{Bound, Growth, Headroom, LoadRun, Question, allowed_share};
use stripewise_report::{Annotation, Axis, Chart, Form, Panel, Point, Quantity, Scale, Series};
use stripewise_units::{capitalised, format_duration, format_iops};

/// Zero is drawn as half an operation, since the axis is logarithmic.
const LEAST: f64 = 0.5;

/// A chart for each question that has runs, and the load over time of a recording.
pub(super) fn charts(study: &Headroom) -> Vec<Chart> {
    let curves = study.questions().iter();
    let curves = curves.filter_map(|question| curve(study, question));
    curves.chain(over_time(study)).collect()
}

/// What a factor multiplies: a rate, or a number of waiting users.
fn amount(study: &Headroom, growth: Growth) -> Option<(f64, Quantity, &'static str)> {
    let facts = &study.options().facts;
    match growth {
        Growth::WaitingUsers => {
            let users = f64::from(facts.waiting_users?);
            Some((users, Quantity::Count, "Users who wait"))
        }
        _ => Some((facts.iops?, Quantity::Iops, "Load")),
    }
}

fn curve(study: &Headroom, question: &Question) -> Option<Chart> {
    let (unit, quantity, title) = amount(study, question.growth)?;
    let slo = &study.options().slo;
    let limit = format_duration(slo.limit_ns);
    let runs = question.search.after_climb();
    let points = by_level(runs.map(LoadRun::counts).collect()).into_iter();
    let points = points.map(|level| {
        let operations: u64 = level.iter().map(|run| run.operations).sum();
        let least = LEAST / operations.max(1) as f64;
        Point {
            x: level[0].factor * unit,
            y: 100.0 * pooled(&level).max(least),
            ..Point::default()
        }
    });
    let points: Vec<Point> = points.collect();
    if points.is_empty() {
        return None;
    }
    let annotations = ends(study, question, unit)?;
    let words = question.growth.words();
    Some(Chart {
        name: format!("beyond-{}", question.growth.name()),
        title: format!("Beyond {limit}: {words}"),
        summary: format!(
            "Share of operations that take longer than {limit}, by load. The band is the 95 % \
             interval of where {} is reached.",
            slo
        ),
        cautions: study.refused().into_iter().collect(),
        x: Axis {
            title: title.to_owned(),
            quantity,
            scale: Scale::Linear,
        },
        panels: vec![Panel {
            y: Axis {
                title: format!("Longer than {limit}"),
                quantity: Quantity::Share,
                scale: Scale::Log10,
            },
            series: vec![Series::new(&capitalised(words), Form::Line, 0, points)],
            annotations,
        }],
    })
}

/// The allowed share, and where it is reached.
fn ends(study: &Headroom, question: &Question, unit: f64) -> Option<Vec<Annotation>> {
    let slo = &study.options().slo;
    let allowed = 100.0 * allowed_share(slo)?;
    let mut annotations = vec![Annotation::AtY {
        y: allowed,
        label: format!("allowed by {}", slo.describe()),
        tone: None,
    }];
    if let Some((low, high)) = question.search.found().and_then(|found| {
        found
            .low
            .zip(found.high)
            .filter(|_| found.bound == Bound::At)
    }) {
        annotations.push(Annotation::RangeX {
            from: low * unit,
            to: high * unit,
            label: "limit reached".to_owned(),
        });
    }
    if let Some(cap) =
        (study.options().facts.cap.as_ref()).filter(|_| study.limited_by(question) == Some("cap"))
    {
        annotations.push(Annotation::RangeX {
            from: cap.low * unit,
            to: cap.high * unit,
            label: "known cap".to_owned(),
        });
    }
    Some(annotations)
}

/// The load of a recording over time, with the load that the target carries.
fn over_time(study: &Headroom) -> Option<Chart> {
    let facts = &study.options().facts;
    let timeline = facts.timeline.as_ref()?;
    let mean = facts.iops?;
    let points = timeline.iops.iter().enumerate().map(|(bin, &iops)| Point {
        x: (bin as u64 * timeline.bin_ns) as f64,
        y: iops,
        ..Point::default()
    });
    let points: Vec<Point> = points.collect();
    let mut annotations = Vec::new();
    if let Some([from, to]) = timeline.busiest_ns {
        annotations.push(Annotation::RangeX {
            from: from as f64,
            to: to as f64,
            label: "busiest hour: the load".to_owned(),
        });
    }
    let found = study
        .questions()
        .iter()
        .find(|one| one.growth == Growth::MoreUsers)
        .and_then(|one| study.answer(one))
        .filter(|_| study.refused().is_none());
    if let Some(found) = found {
        let rate = mean * found.low.unwrap_or(found.factor);
        let at_most = if found.low.is_none() { "at most " } else { "" };
        annotations.push(Annotation::AtY {
            y: rate,
            label: format!(
                "{at_most}{} IOPS of such a load are carried",
                format_iops(rate)
            ),
            tone: None,
        });
    }
    Some(Chart {
        name: "load-over-time".to_owned(),
        title: "The load over time".to_owned(),
        summary: format!(
            "Operations a second of {}, {} on average, and the mean rate that the target carries.",
            facts.name,
            format_iops(mean)
        ),
        cautions: Vec::new(),
        x: Axis {
            title: "Time of the recording".to_owned(),
            quantity: Quantity::Time,
            scale: Scale::Linear,
        },
        panels: vec![Panel {
            y: Axis {
                title: "Rate".to_owned(),
                quantity: Quantity::Iops,
                scale: Scale::FromZero,
            },
            series: vec![Series::new("Operations", Form::Steps, 0, points)],
            annotations,
        }],
    })
}
