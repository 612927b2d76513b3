//! Grids and other runs: a heat map if threads and outstanding both vary, a
//! curve if only the number in flight does, else bars. If there are too many runs for
//! one chart, several follow each other.

use super::{axis, distinct, in_flight, latency_sides, middle_of};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::identity::{group_key, kind, names_of_groups, names_of_jobs};
use std::collections::{BTreeMap, HashMap};
use stripewise_results::JobRow;
use stripewise_units::format_count;

/// Steps that make a curve.
const CURVE_MIN: usize = 3;
/// Maximum number of distinguishable curves in one chart.
const CURVES_MAX: usize = 6;
/// Maximum number of distinguishable bars in one chart.
const BARS_MAX: usize = 40;
/// Groups that get charts; the tables have the others.
const GROUPS_MAX: usize = 24;
/// Charts of bars.
const BAR_CHARTS_MAX: usize = 12;

pub(super) fn charts(rows: &[JobRow<'_>]) -> Vec<Chart> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let (groups, all) = groups(rows);
    let mut charts: Vec<Chart> = Vec::new();
    for (group, rows) in &groups {
        let Some(first) = rows.first() else { continue };
        let kind = kind(first);
        let named = if group.contains(&kind) {
            group.clone()
        } else {
            format!("{kind} {group}")
        };
        charts.extend(threads_by_outstanding(&named, rows));
    }
    share_one_scale(&mut charts);
    let curves: Vec<&Group<'_>> = groups
        .iter()
        .filter(|(_, rows)| distinct(rows.iter().filter_map(in_flight)).len() >= CURVE_MIN)
        .collect();
    let pages: Vec<&[&Group<'_>]> = curves.chunks(CURVES_MAX).collect();
    let of_pages = pages.iter().enumerate();
    charts.extend(of_pages.map(|(page, curves)| paged(against_load(curves), page, pages.len())));
    if charts.is_empty() {
        return side_by_side(rows);
    }
    if groups.len() < all {
        for chart in &mut charts {
            chart.summary.push_str(&format!(
                " Charts are of the first {} of {} groups of runs; the tables have the others.",
                groups.len(),
                format_count(all as u64)
            ));
        }
    }
    charts
}

/// Equal shades mean equal rates in all of these maps.
fn share_one_scale(maps: &mut [Chart]) {
    if maps.len() < 2 {
        return;
    }
    let cells = |chart: &Chart| chart.panels[0].series[0].darkest();
    let most = maps.iter().map(cells).fold(0.0, f64::max);
    for chart in maps {
        chart.panels[0].series[0].darkest = Some(most);
        chart
            .summary
            .push_str(" Shades have one scale for all kinds of I/O.");
    }
}

/// Appends `(2 of 3)` to the titles of charts that continue on others.
fn paged(mut chart: Chart, page: usize, pages: usize) -> Chart {
    if pages > 1 {
        chart.title = format!("{} ({} of {pages})", chart.title, page + 1);
    }
    chart
}

/// Rows of one curve, with its name.
type Group<'a> = (String, Vec<JobRow<'a>>);

/// Groups rows by their properties other than load; returns the first groups
/// and the number of all. Repetitions on different days are separate.
fn groups<'a>(rows: &[JobRow<'a>]) -> (Vec<Group<'a>>, usize) {
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut found: Vec<Vec<JobRow<'a>>> = Vec::new();
    for row in rows {
        let next = places.len();
        let place = *places.entry(group_key(row)).or_insert(next);
        match found.get_mut(place) {
            Some(group) => group.push(*row),
            None if place < GROUPS_MAX => found.push(vec![*row]),
            None => {}
        }
    }
    let firsts: Vec<JobRow<'a>> = found.iter().map(|rows| rows[0]).collect();
    let names = match &firsts[..] {
        [only] => vec![kind(only)],
        several => names_of_groups(several).names,
    };
    (names.into_iter().zip(found).collect(), places.len())
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
        // Of repetitions, the last.
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
        cautions: Vec::new(),
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
                darkest: None,
            }],
            annotations: Vec::new(),
        }],
    })
}

fn against_load(curves: &[&Group<'_>]) -> Chart {
    let line = |of: &dyn Fn(&JobRow<'_>) -> Option<f64>| -> Vec<Series> {
        let lines = curves.iter().enumerate().map(|(tone, (name, rows))| {
            // The same number in flight spread differently, and repetitions, are one point.
            let mut by_load: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for row in rows {
                if let Some((load, value)) = in_flight(row).zip(of(row).filter(|v| *v > 0.0)) {
                    by_load.entry(load).or_default().push(value);
                }
            }
            let points = by_load
                .iter()
                .filter_map(|(load, values)| middle_of(f64::from(*load), values));
            Series::new(name, Form::Line, tone, points.collect())
        });
        lines.filter(|line| !line.points.is_empty()).collect()
    };
    let rows: Vec<JobRow<'_>> = curves
        .iter()
        .filter_map(|(_, rows)| rows.first().copied())
        .collect();
    let mut panels = vec![Panel {
        y: axis("Throughput", Quantity::Iops, Scale::FromZero),
        series: line(&|row| row.iops()),
        annotations: Vec::new(),
    }];
    for side in latency_sides(&rows) {
        // p99, or the mean if a source lacks it.
        let (name, lines) = match line(&|row| side.latency(row, "p99")) {
            none if none.is_empty() => ("mean", line(&|row| side.latency(row, "mean"))),
            p99 => ("p99", p99),
        };
        if !lines.is_empty() {
            panels.push(Panel {
                y: axis(&side.title(name), Quantity::Latency, Scale::Log10),
                series: lines,
                annotations: Vec::new(),
            });
        }
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
        cautions: Vec::new(),
        name: "against-load".to_owned(),
        title: "Throughput and latency against queue depth".to_owned(),
        summary: words.chain(whiskers).collect::<Vec<_>>().join(" "),
        x: axis("Operations in flight", Quantity::Count, Scale::Log2),
        panels,
    }
}

/// Bars for each run, on as many charts as needed; also for a single run.
pub(super) fn side_by_side(rows: &[JobRow<'_>]) -> Vec<Chart> {
    let shown = &rows[..rows.len().min(BARS_MAX * BAR_CHARTS_MAX)];
    let names = match shown {
        [only] => vec![kind(only)],
        several => names_of_jobs(several).names,
    };
    let (pages, total) = (shown.len().div_ceil(BARS_MAX), rows.len());
    let of_page = |(page, (rows, names)): (usize, (&[JobRow<'_>], &[String]))| {
        let mut chart = bars_of(rows, names);
        if pages > 1 {
            let from = page * BARS_MAX;
            let of = format_count(total as u64);
            chart.summary = format!("Runs {} to {} of {of}.", from + 1, from + rows.len());
        }
        paged(chart, page, pages)
    };
    let both = shown.chunks(BARS_MAX).zip(names.chunks(BARS_MAX));
    both.enumerate().map(of_page).collect()
}

fn bars_of(rows: &[JobRow<'_>], names: &[String]) -> Chart {
    let bars = |of: &dyn Fn(&JobRow<'_>) -> Option<f64>| -> Vec<Point> {
        let values = rows.iter().enumerate();
        values
            .filter_map(|(index, row)| Some(Point::new(index as f64, of(row)?)))
            .collect()
    };
    let form = Form::Bars { slot: 0, slots: 1 };
    let mut panels: Vec<(String, Quantity, usize, Vec<Point>)> = vec![
        (
            "Throughput".to_owned(),
            Quantity::Iops,
            0,
            bars(&|row| row.iops()),
        ),
        (
            "Throughput".to_owned(),
            Quantity::MibPerSecond,
            2,
            bars(&|row| row.mib_per_s_shown()),
        ),
    ];
    for side in latency_sides(rows) {
        // p99, or the mean if a source lacks it.
        let (name, points) = match bars(&|row| side.latency(row, "p99")) {
            none if none.is_empty() => ("mean", bars(&|row| side.latency(row, "mean"))),
            p99 => ("p99", p99),
        };
        panels.push((side.title(name), Quantity::Latency, 1, points));
    }
    let panels: Vec<Panel> = panels
        .into_iter()
        .filter(|(_, _, _, points)| !points.is_empty())
        .map(|(title, quantity, tone, points)| Panel {
            y: axis(&title, quantity, Scale::FromZero),
            series: vec![Series::new(&title, form, tone, points)],
            annotations: Vec::new(),
        })
        .collect();
    let several = rows.len() > 1;
    Chart {
        cautions: Vec::new(),
        name: if several { "side-by-side" } else { "run" }.to_owned(),
        title: if several {
            "Runs side by side".to_owned()
        } else {
            stripewise_units::capitalised(&names[0])
        },
        summary: if several {
            format!("{} runs.", rows.len())
        } else {
            "One run.".to_owned()
        },
        x: axis("Run", Quantity::Name, Scale::Names(names.to_vec())),
        panels,
    }
}
