//! Grids and loose runs: a heat map where threads and outstanding both vary, a
//! curve where only the work in flight does, else bars.

use super::{axis, distinct, in_flight, middle_of, series};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::identity::{group_key, kind, names_of_groups, names_of_jobs};
use std::collections::BTreeMap;
use stripewise_results::JobRow;

/// Steps that make a curve.
const CURVE_MIN: usize = 3;
/// Curves or heat maps beside each other.
const GROUPS_MAX: usize = 6;
/// Bars that can be told apart.
const BARS_MAX: usize = 40;

pub(super) fn charts(rows: &[JobRow<'_>]) -> Vec<Chart> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let mut charts = Vec::new();
    if let Some(groups) = groups(rows) {
        charts.extend(groups.iter().filter_map(|(group, rows)| {
            let kind = kind(rows.first()?);
            let named = if group.contains(&kind) {
                group.clone()
            } else {
                format!("{kind} {group}")
            };
            threads_by_outstanding(&named, rows)
        }));
        let curves: Vec<&Group<'_>> = groups
            .iter()
            .filter(|(_, rows)| distinct(rows.iter().filter_map(in_flight)).len() >= CURVE_MIN)
            .collect();
        if !curves.is_empty() {
            charts.push(against_load(&curves));
        }
    }
    if charts.is_empty() && rows.len() <= BARS_MAX {
        charts.extend(side_by_side(rows));
    }
    charts
}

/// Rows of one curve, with its name.
type Group<'a> = (String, Vec<JobRow<'a>>);

/// Rows by what they have in common beside their load; none where there are too
/// many groups to be told apart. Repetitions of one day and another are apart.
fn groups<'a>(rows: &[JobRow<'a>]) -> Option<Vec<Group<'a>>> {
    let mut found: Vec<(Vec<String>, Vec<JobRow<'a>>)> = Vec::new();
    for row in rows {
        let key = group_key(row);
        match found.iter().position(|(of, _)| *of == key) {
            Some(index) => found[index].1.push(*row),
            None if found.len() == GROUPS_MAX => return None,
            None => found.push((key, vec![*row])),
        }
    }
    let firsts: Vec<JobRow<'a>> = found.iter().map(|(_, rows)| rows[0]).collect();
    let names = match &firsts[..] {
        [only] => vec![kind(only)],
        several => names_of_groups(several).names,
    };
    Some(
        names
            .into_iter()
            .zip(found.into_iter().map(|(_, rows)| rows))
            .collect(),
    )
}

fn threads_by_outstanding(group: &str, rows: &[JobRow<'_>]) -> Option<Chart> {
    let sorted = |of: fn(&JobRow<'_>) -> Option<u32>| {
        let mut values: Vec<u32> = rows.iter().filter_map(of).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (threads, outstanding) = (sorted(|row| row.threads()), sorted(|row| row.outstanding()));
    if threads.len() < 2 || outstanding.len() < 2 {
        return None;
    }
    let mut points: Vec<Point> = Vec::new();
    for row in rows {
        let x = threads
            .iter()
            .position(|value| Some(*value) == row.threads())? as f64;
        let y = outstanding
            .iter()
            .position(|value| Some(*value) == row.outstanding())? as f64;
        let iops = row.iops()?;
        // Of repetitions the last.
        points.retain(|point| (point.x, point.y) != (x, y));
        points.push(Point {
            value: Some(iops),
            ..Point::new(x, y)
        });
    }
    let best = points
        .iter()
        .max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let names = |values: &[u32]| Scale::Names(values.iter().map(u32::to_string).collect());
    Some(Chart {
        name: format!("{}-grid", super::slug(group)),
        title: format!(
            "{}: IOPS for threads and outstanding",
            stripewise_units::capitalised(group)
        ),
        summary: format!(
            "Most with {} threads and {} outstanding each: {} IOPS.",
            threads[best.x as usize],
            outstanding[best.y as usize],
            crate::number::rate(best.value.unwrap_or(0.0))
        ),
        x: axis("Threads", Quantity::Name, names(&threads)),
        panels: vec![Panel {
            y: axis(
                "Outstanding per thread",
                Quantity::Name,
                names(&outstanding),
            ),
            series: vec![Series {
                name: "IOPS".to_owned(),
                form: Form::Cells { labelled: true },
                tone: 0,
                points,
                value: Some(Quantity::Iops),
            }],
            annotations: Vec::new(),
        }],
    })
}

fn against_load(curves: &[&Group<'_>]) -> Chart {
    let line = |of: fn(&JobRow<'_>) -> Option<f64>| -> Vec<Series> {
        let lines = curves.iter().enumerate().map(|(tone, (name, rows))| {
            // As many in flight in another way, and repetitions, are one point.
            let mut by_load: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for row in rows {
                if let Some((load, value)) = in_flight(row).zip(of(row).filter(|v| *v > 0.0)) {
                    by_load.entry(load).or_default().push(value);
                }
            }
            let points = by_load
                .iter()
                .filter_map(|(load, values)| middle_of(f64::from(*load), values));
            series(name, Form::Line, tone, points.collect())
        });
        lines.filter(|line| !line.points.is_empty()).collect()
    };
    let (iops, p99, mean) = (
        line(|row| row.iops()),
        line(|row| row.latency("p99")),
        line(|row| row.latency("mean")),
    );
    let mut panels = vec![Panel {
        y: axis("Throughput", Quantity::Iops, Scale::FromZero),
        series: iops,
        annotations: Vec::new(),
    }];
    // The 99 %, or where a source lacks it the mean.
    let (title, lines) = if p99.is_empty() {
        ("Latency, mean", mean)
    } else {
        ("Latency, p99", p99)
    };
    if !lines.is_empty() {
        panels.push(Panel {
            y: axis(title, Quantity::Latency, Scale::Log10),
            series: lines,
            annotations: Vec::new(),
        });
    }
    let words = panels[0].series.iter().filter_map(|line| {
        let most = line.points.iter().max_by(|a, b| a.y.total_cmp(&b.y))?;
        let (name, value) = (
            stripewise_units::capitalised(&line.name),
            crate::number::rate(most.y),
        );
        Some(format!(
            "{name}: at most {value} IOPS, with {} in flight.",
            most.x
        ))
    });
    let repeated = panels
        .iter()
        .flat_map(|panel| &panel.series)
        .any(|line| line.points.iter().any(|point| point.span.is_some()));
    let whiskers = repeated.then(|| {
        "Where several runs have as many in flight, the line is at their median, and whiskers reach from the lowest to the highest.".to_owned()
    });
    Chart {
        name: "against-load".to_owned(),
        title: "Throughput and latency against work in flight".to_owned(),
        summary: words.chain(whiskers).collect::<Vec<_>>().join(" "),
        x: axis("Operations in flight", Quantity::Count, Scale::Log2),
        panels,
    }
}

fn side_by_side(rows: &[JobRow<'_>]) -> Option<Chart> {
    let bars = |of: fn(&JobRow<'_>) -> Option<f64>| -> Vec<Point> {
        let values = rows.iter().enumerate();
        values
            .filter_map(|(index, row)| Some(Point::new(index as f64, of(row)?)))
            .collect()
    };
    let form = Form::Bars { slot: 0, slots: 1 };
    let panels: Vec<Panel> = [
        ("Throughput", Quantity::Iops, 0, bars(|row| row.iops())),
        (
            "Throughput",
            Quantity::MibPerSecond,
            2,
            bars(|row| row.mib_per_s()),
        ),
        (
            "Latency, p99",
            Quantity::Latency,
            1,
            bars(|row| row.latency("p99")),
        ),
    ]
    .into_iter()
    .filter(|(_, _, _, points)| !points.is_empty())
    .map(|(title, quantity, tone, points)| Panel {
        y: axis(title, quantity, Scale::FromZero),
        series: vec![series(title, form, tone, points)],
        annotations: Vec::new(),
    })
    .collect();
    (!panels.is_empty()).then(|| Chart {
        name: "side-by-side".to_owned(),
        title: "Runs side by side".to_owned(),
        summary: format!("{} runs.", rows.len()),
        x: axis(
            "Run",
            Quantity::Name,
            Scale::Names(names_of_jobs(rows).names),
        ),
        panels,
    })
}
