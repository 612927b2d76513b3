//! Differences with their intervals, grouped by kind of I/O, as in the articles
//! on partition offsets of 2007 and 2009.

use super::{axis, distinct};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::comparison::percent_of;
use crate::quantity_text::{classic, percent};
use crate::words::metric_words;
use stripewise_results::{ComparisonRecord, ComparisonRow};
use stripewise_units::ByteSize;

/// Maximum number of kinds of I/O side by side.
const TOGETHER_MAX: usize = 4;

/// The load label of rows that differ only in their kind of I/O.
const NOTHING_VARIES: &str = "all";
/// Rows of a forest plot; with more, there is no room for their names.
const ROWS_MAX: usize = 45;

pub(super) fn charts(comparisons: &[ComparisonRecord]) -> Vec<Chart> {
    let several = comparisons.len() > 1;
    let mut charts = each(comparisons);
    let metrics = comparisons.iter().flat_map(|comparison| &comparison.rows);
    let metrics = distinct(metrics.map(|row| row.metric.as_str()));
    let mut forests = metrics
        .into_iter()
        .filter_map(|metric| forest(comparisons, metric));
    // All levels in one picture show more than the first level alone.
    match several {
        true => drop(charts.splice(0..0, forests.by_ref())),
        false => charts.extend(forests),
    }
    charts
}

/// A forest plot of all rows of all comparisons: a mark with its interval for each, on one
/// scale.
fn forest(comparisons: &[ComparisonRecord], metric: &str) -> Option<Chart> {
    // A load is neither better nor worse than another.
    if metric == "in_flight" {
        return None;
    }
    let rows: Vec<(&ComparisonRecord, &ComparisonRow)> = comparisons
        .iter()
        .flat_map(|comparison| comparison.rows.iter().map(move |row| (comparison, row)))
        .filter(|(_, row)| row.metric == metric && !row.is_open())
        .collect();
    if !(2..=ROWS_MAX).contains(&rows.len()) {
        return None;
    }
    let only: Vec<&ComparisonRow> = rows.iter().map(|(_, row)| *row).collect();
    let (varies, loads) = labels(&only);
    let names = forest_names(comparisons, &rows, &loads);
    let last = rows.len() - 1;
    let points = rows.iter().enumerate().map(|(index, (_, row))| {
        let upright = point(row, 0.0);
        Point {
            x: upright.y,
            y: (last - index) as f64,
            ..upright
        }
    });
    let words = metric_words(metric);
    let better = match super::metric::is_latency(metric) {
        true => "lower is better",
        false => "higher is better",
    };
    let against = distinct(
        comparisons
            .iter()
            .map(|comparison| comparison.a.name.as_str()),
    );
    let spread = match rows.iter().any(|(_, row)| row.interval_percent.is_some()) {
        true => "A row for each load, with its interval; pale: there may be no difference.",
        false => "A row for each load. The source gives one value each, and no spread.",
    };
    Some(Chart {
        cautions: Vec::new(),
        name: format!("forest-{}", super::slug(metric)),
        title: format!("Difference of {words} from {}", against.join(", ")),
        summary: format!("{spread} To the right is more, and {better}."),
        x: axis(
            &format!("Difference of {words}"),
            Quantity::Difference,
            Scale::FromZero,
        ),
        panels: vec![Panel {
            y: axis(&rows_title(&varies), Quantity::Name, Scale::Names(names)),
            series: vec![Series::new(
                "Difference",
                Form::Intervals,
                0,
                points.collect(),
            )],
            annotations: vec![Annotation::AtX {
                x: 0.0,
                label: String::new(),
            }],
        }],
    })
}

/// Distinct names of the rows of a forest plot, the last row first: the first is at the top.
fn forest_names(
    comparisons: &[ComparisonRecord],
    rows: &[(&ComparisonRecord, &ComparisonRow)],
    loads: &[String],
) -> Vec<String> {
    let sides = distinct(comparisons.iter().map(|one| one.b.name.as_str()));
    let several = sides.len() > 1;
    let mut names: Vec<String> = rows
        .iter()
        .zip(loads)
        .map(|((comparison, row), load)| {
            let side = several.then_some(comparison.b.name.as_str());
            let name = row_name(side.unwrap_or_default(), &kind(row), load);
            match row.bounds_percent {
                Some(_) => format!("{name}, at least"),
                None => name,
            }
        })
        .collect();
    // Answers and ceilings of one bench are about the same loads.
    if distinct(names.iter().map(String::as_str)).len() < names.len() {
        for (name, (comparison, _)) in names.iter_mut().zip(rows) {
            if let Some(what) = what_of(comparison) {
                *name = format!("{name}, {what}");
            }
        }
    }
    names.reverse();
    names
}

/// What is compared of two subjects: the `answers` of `answers at p99<5ms of B against A`.
fn what_of(comparison: &ComparisonRecord) -> Option<&str> {
    let of_both = format!(" of {} against ", comparison.b.name);
    let (what, _) = comparison.title.split_once(&of_both)?;
    Some(what.split(" at ").next().unwrap_or(what))
}

/// `64K, random read, 8`: distinguishes the row.
fn row_name(side: &str, kind: &str, load: &str) -> String {
    let words = [side, kind, load].into_iter();
    let detailed_jobs = words.filter(|word| !word.is_empty() && *word != NOTHING_VARIES);
    detailed_jobs.collect::<Vec<_>>().join(", ")
}

/// The meaning of the numbers after the kind of I/O.
fn rows_title(varies: &str) -> String {
    match varies {
        "Workload" => "Load".to_owned(),
        varies => format!("Load, {}", varies.to_lowercase()),
    }
}

fn each(comparisons: &[ComparisonRecord]) -> Vec<Chart> {
    comparisons
        .iter()
        .flat_map(|comparison| {
            let rows = comparison.rows.iter().filter(|row| !row.is_open());
            let metrics = distinct(rows.map(|row| row.metric.as_str()));
            metrics
                .into_iter()
                .filter(|metric| !is_single(comparison, metric))
                .map(|metric| chart(comparison, metric))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// One row for each of several kinds of I/O: a panel with one bar shows no more than the row of a
/// forest plot.
fn is_single(comparison: &ComparisonRecord, metric: &str) -> bool {
    let rows = comparison.rows.iter().filter(|row| row.metric == metric);
    let kinds: Vec<String> = rows.map(kind).collect();
    kinds.len() > 1 && distinct(kinds.iter().cloned()).len() == kinds.len()
}

fn kind(row: &ComparisonRow) -> String {
    format!("{} {}", row.pattern, row.operation)
}

fn chart(comparison: &ComparisonRecord, metric: &str) -> Chart {
    let rows: Vec<&ComparisonRow> = comparison
        .rows
        .iter()
        .filter(|row| row.metric == metric && !row.is_open())
        .collect();
    let kinds = distinct(rows.iter().map(|row| kind(row)));
    let (title, labels) = labels(&rows);
    // Small loads first, whatever the order of the plan.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| {
        let row = rows[index];
        (row.block_size_bytes, row.threads, row.outstanding)
    });
    let names = distinct(order.iter().map(|&index| labels[index].clone()));
    let place = |label: &str| names.iter().position(|name| name == label).unwrap_or(0) as f64;
    let lines = |slots: usize| {
        let of_kind = kinds
            .iter()
            .enumerate()
            .map(move |(index, of)| (index, of, slots));
        of_kind.map(|(index, of, slots)| {
            let points = rows
                .iter()
                .zip(&labels)
                .filter(|(row, _)| kind(row) == *of)
                .map(|(row, label)| point(row, place(label)))
                .collect();
            let slot = if slots == 1 { 0 } else { index };
            Series::new(of, Form::Bars { slot, slots }, index, points)
        })
    };
    let panel = |series: Vec<Series>, title: &str| Panel {
        y: axis(title, Quantity::Difference, Scale::FromZero),
        series,
        annotations: Vec::<Annotation>::new(),
    };
    let words = metric_words(metric);
    let direction = if super::metric::is_latency(metric) {
        " (lower is better)"
    } else {
        ""
    };
    let panels = if kinds.len() <= TOGETHER_MAX {
        vec![panel(
            lines(kinds.len()).collect(),
            &format!("Difference of {words}{direction}"),
        )]
    } else {
        lines(1)
            .map(|line| {
                let title = stripewise_units::capitalised(&line.name) + direction;
                panel(vec![line], &title)
            })
            .collect()
    };
    Chart {
        cautions: Vec::new(),
        name: format!("difference-{}", super::slug(metric)),
        title: titled(sides_of(comparison), &words),
        summary: summary(comparison, metric),
        x: axis(&title, Quantity::Name, Scale::Names(names)),
        panels,
    }
}

/// With the metric, unless the title begins with it.
fn titled(sides: String, metric: &str) -> String {
    match sides.starts_with(metric) {
        true => sides,
        false => format!("{sides}, {metric}"),
    }
}

/// What is compared with what; some titles already name both sides. For a
/// published table, the report's title contains the long line about it.
pub(crate) fn sides_of(comparison: &ComparisonRecord) -> String {
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    let title = stripewise_units::capitalised(&comparison.title);
    if let Some((factor, _)) = title
        .rsplit_once(" against ")
        .filter(|(before, _)| before.contains("): "))
    {
        let factor = factor.rsplit_once("): ").map_or(factor, |(_, last)| last);
        return format!("{} against {a}", stripewise_units::capitalised(factor));
    }
    if title.contains(a.as_str()) && title.contains(b.as_str()) {
        return title;
    }
    format!("{title}: {b} against {a}")
}

fn point(row: &ComparisonRow, x: f64) -> Point {
    Point {
        x,
        y: row.percent(),
        span: row.interval_percent,
        value: None,
        apart: false,
        pale: row
            .interval_percent
            .is_some_and(|[low, high]| low <= 0.0 && high >= 0.0),
    }
}

/// The first finding, then the means as in the articles.
fn summary(comparison: &ComparisonRecord, metric: &str) -> String {
    let means: Vec<String> = comparison
        .groups
        .iter()
        .filter(|group| group.metric == metric)
        .map(|group| format!("{} {}", group.name, classic(group.difference_percent_mean)))
        .collect();
    let mut words: Vec<String> = comparison.sentences.first().cloned().into_iter().collect();
    if !means.is_empty() {
        words.push(format!("Mean of the rows: {}.", means.join(", ")));
    }
    let intervals = comparison
        .rows
        .iter()
        .any(|row| row.interval_percent.is_some());
    if intervals {
        let level = match comparison.common_level() {
            Some(level) => format!("{} % intervals", percent_of(level)),
            None => "intervals (Holm)".to_owned(),
        };
        words.push(format!(
            "Whiskers are {level}; of pale bars the interval includes 0."
        ));
    }
    let mut rows = comparison.rows.iter();
    if rows.any(|row| row.metric == metric && row.bounds_percent.is_some()) {
        words.push("Of bounds the least difference is drawn, if there is one.".to_owned());
    }
    if let Some(drift) = &comparison.drift {
        words.push(format!(
            "The reference drifted by {} meanwhile.",
            percent(drift.percent)
        ));
    }
    words.join(" ")
}

/// What distinguishes rows of one kind, and the title of an axis of it.
fn labels(rows: &[&ComparisonRow]) -> (String, Vec<String>) {
    type Factor = (&'static str, fn(&ComparisonRow) -> String);
    let factors: [Factor; 3] = [
        ("Block size", |row| {
            row.block_size_bytes
                .map_or_else(String::new, |bytes| ByteSize(bytes).to_string())
        }),
        ("Threads", |row| {
            row.threads
                .map_or_else(String::new, |value| value.to_string())
        }),
        ("Outstanding", |row| {
            row.outstanding
                .map_or_else(String::new, |value| value.to_string())
        }),
    ];
    // A factor counts if it varies within a kind.
    let varies = |of: fn(&ComparisonRow) -> String| {
        rows.iter().any(|row| {
            rows.iter()
                .any(|other| kind(row) == kind(other) && of(row) != of(other))
        })
    };
    let used: Vec<Factor> = factors.into_iter().filter(|(_, of)| varies(*of)).collect();
    if used.is_empty() {
        let labels = rows.iter().map(|_| NOTHING_VARIES.to_owned()).collect();
        return ("Workload".to_owned(), labels);
    }
    let titles: Vec<&str> = used.iter().map(|(title, _)| *title).collect();
    let label = |row: &&ComparisonRow| {
        used.iter()
            .map(|(_, of)| of(row))
            .collect::<Vec<_>>()
            .join(" × ")
    };
    (titles.join(" × "), rows.iter().map(label).collect())
}
