//! Concurrent jobs, next to each of them alone if that was measured.

use super::{axis, distinct, latency_sides, middle_of};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::quantity_text::percent;
use stripewise_results::JobRow;

type Value<'a> = &'a dyn Fn(&JobRow<'_>) -> Option<f64>;

pub(super) fn charts(rows: &[JobRow<'_>]) -> Option<Chart> {
    let names = distinct(rows.iter().map(|row| row.job.name.clone()));
    let ways: Vec<(&str, bool)> = [("alone", false), ("together", true)]
        .into_iter()
        .filter(|(_, together)| rows.iter().any(|row| (row.run.jobs.len() > 1) == *together))
        .collect();
    let points = |together: bool, of: Value<'_>| -> Vec<Point> {
        let each = names.iter().enumerate().filter_map(|(index, name)| {
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| row.job.name == *name && (row.run.jobs.len() > 1) == together)
                .filter_map(of)
                .collect();
            middle_of(index as f64, &values)
        });
        each.collect()
    };
    let panel = |title: &str, quantity: Quantity, of: Value<'_>| Panel {
        y: axis(title, quantity, Scale::FromZero),
        series: ways
            .iter()
            .enumerate()
            .map(|(slot, (word, together))| {
                let form = Form::Bars {
                    slot,
                    slots: ways.len(),
                };
                Series::new(word, form, slot, points(*together, of))
            })
            .collect(),
        annotations: Vec::new(),
    };
    let iops: Value<'_> = &|row| row.iops();
    let mut panels = vec![panel("Throughput", Quantity::Iops, iops)];
    for side in latency_sides(rows) {
        let p99 = |row: &JobRow<'_>| side.latency(row, "p99");
        if rows.iter().any(|row| p99(row).is_some()) {
            panels.push(panel(&side.title("p99"), Quantity::Latency, &p99));
        }
    }
    Some(Chart {
        cautions: Vec::new(),
        name: "jobs".to_owned(),
        title: if ways.len() > 1 {
            "Jobs alone and together".to_owned()
        } else {
            "Jobs together".to_owned()
        },
        summary: summary(&names, &points(false, iops), &points(true, iops)),
        x: axis("Job", Quantity::Name, Scale::Names(names.clone())),
        panels,
    })
}

fn summary(names: &[String], alone: &[Point], together: &[Point]) -> String {
    let words = together.iter().filter_map(|point| {
        let before = alone
            .iter()
            .find(|other| other.x == point.x)
            .filter(|other| other.y > 0.0)?;
        let change = Some((point.y / before.y - 1.0) * 100.0).filter(|share| share.is_finite())?;
        Some(format!(
            "{}: {} IOPS beside the others.",
            names[point.x as usize],
            percent(change)
        ))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return format!("{} jobs ran at once.", names.len());
    }
    words.join(" ")
}
