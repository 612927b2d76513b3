//! The same load on the same target over days and months: its results over time, and
//! where they changed.

use super::{axis, middle_of};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::identity::{kind, load};
use crate::quantity_text::percent;
use crate::words::{ladder_part, series_title};
use std::collections::HashMap;
use stripewise_results::{JobRow, LoadKey, RunRecord, Status};
use stripewise_stats::{ChangePoint, ChangePointRule, change_points};
use stripewise_units::{ByteSize, capitalised, counted};

/// Fewer measurements are not a history.
const RUN_GROUPS_MIN: usize = 3;
/// Maximum number of charts, for the loads with the most measurements.
const CHARTS_MAX: usize = 6;
/// Smaller changes are not mentioned.
const STEP_MIN: f64 = 0.05;

/// One load.
struct Load<'a> {
    /// Any of its jobs.
    row: JobRow<'a>,
    /// Oldest first.
    run_groups: Vec<RunGroup<'a>>,
    /// Index of each among them, while they are collected.
    places: HashMap<&'a str, usize>,
}

/// Runs that belong together: a run with its repetitions, or the ladder of a bench.
struct RunGroup<'a> {
    /// Seconds since the beginning of 1970.
    began: f64,
    rows: Vec<JobRow<'a>>,
}

/// A chart for each load that was measured at least three times. Left out are
/// experiments, whose runs differ on purpose, results of other tools, whose
/// files do not always give a time, and partial or void runs.
pub(super) fn charts(runs: &[RunRecord]) -> Vec<Chart> {
    let mut loads = loads(runs);
    loads.retain(|load| load.run_groups.len() >= RUN_GROUPS_MIN);
    loads.sort_by_key(|load| std::cmp::Reverse(load.run_groups.len()));
    loads.truncate(CHARTS_MAX);
    loads.iter().filter_map(chart).collect()
}

fn loads(runs: &[RunRecord]) -> Vec<Load<'_>> {
    let mut loads: Vec<Load<'_>> = Vec::new();
    let mut known: HashMap<LoadKey, usize> = HashMap::new();
    for row in JobRow::of(runs) {
        let run = row.run;
        let is_own = run.imported.is_none() && run.experiment.is_none();
        let counts = run.status == Status::Complete && row.void_codes().is_empty();
        if !is_own || !counts || run.is_preparation() {
            continue;
        }
        let Ok(began) = run.started_at.parse::<jiff::Timestamp>() else {
            continue;
        };
        let place = *known.entry(load(&row).key()).or_insert(loads.len());
        if place == loads.len() {
            loads.push(Load {
                row,
                run_groups: Vec::new(),
                places: HashMap::new(),
            });
        }
        loads[place].add(row, began.as_second() as f64);
    }
    for load in &mut loads {
        load.run_groups.sort_by(|a, b| a.began.total_cmp(&b.began));
    }
    loads
}

impl<'a> Load<'a> {
    /// Adds a job of a run that began at this time.
    fn add(&mut self, row: JobRow<'a>, began: f64) {
        let id = row.run.series.as_deref().unwrap_or(&row.run.id);
        let place = *self.places.entry(id).or_insert(self.run_groups.len());
        match self.run_groups.get_mut(place) {
            Some(run_group) => {
                run_group.began = run_group.began.min(began);
                run_group.rows.push(row);
            }
            None => self.run_groups.push(RunGroup {
                began,
                rows: vec![row],
            }),
        }
    }

    /// `p99 latency`, with the kind of operations if there are several: then it is that of
    /// the first.
    fn latency_title(&self) -> String {
        match self.row.kinds()[..] {
            [first, _, ..] => format!("p99 latency of {}", first.plural()),
            _ => "p99 latency".to_owned(),
        }
    }
}

impl RunGroup<'_> {
    /// For a ladder, the step with the highest rate, else the median of the repetitions with
    /// their range.
    fn point(&self, of: &dyn Fn(&JobRow<'_>) -> Option<f64>) -> Option<Point> {
        let of_ladder = self.rows.iter().any(|row| ladder_part(row.run).is_some());
        if of_ladder {
            let rate = |row: &&JobRow<'_>| row.iops().unwrap_or_default();
            let best = self
                .rows
                .iter()
                .max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
            return Some(Point::new(self.began, of(best)?));
        }
        let values: Vec<f64> = self.rows.iter().filter_map(of).collect();
        middle_of(self.began, &values)
    }
}

fn chart(load: &Load<'_>) -> Option<Chart> {
    let points = |of: &dyn Fn(&JobRow<'_>) -> Option<f64>| -> Vec<Point> {
        let each = load.run_groups.iter().map(|run_group| run_group.point(of));
        each.flatten().filter(|point| point.y > 0.0).collect()
    };
    let in_bytes = load.row.pattern() == Some("sequential");
    let rates = match in_bytes {
        true => points(&|row| row.mib_per_s_shown()),
        false => points(&|row| row.iops()),
    };
    if rates.len() < RUN_GROUPS_MIN {
        return None;
    }
    let quantity = match in_bytes {
        true => Quantity::MibPerSecond,
        false => Quantity::Iops,
    };
    let steps = steps(&rates);
    let mut panels = vec![panel("Throughput", quantity, rates.clone())];
    panels[0].annotations = steps.iter().map(|step| mark(&rates, step)).collect();
    let slowest = points(&|row| row.latency("p99"));
    if slowest.len() >= RUN_GROUPS_MIN {
        panels.push(panel(&load.latency_title(), Quantity::Latency, slowest));
    }
    Some(Chart {
        cautions: Vec::new(),
        name: "trend".to_owned(),
        title: format!("{} over time", name(&load.row)),
        summary: summary(&rates, &steps),
        x: axis("Measured at (UTC)", Quantity::Date, Scale::Linear),
        panels,
    })
}

fn panel(title: &str, quantity: Quantity, points: Vec<Point>) -> Panel {
    Panel {
        y: axis(title, quantity, Scale::FromZero),
        series: vec![Series::new(title, Form::Line, 0, points)],
        annotations: Vec::new(),
    }
}

/// `Random read 8K 4×8 on /data`; with special properties, and a size if it was
/// requested: `Random write 8K 1×1, zipf:0.99, fdatasync on 64G of /data`.
fn name(row: &JobRow<'_>) -> String {
    let mut words = match ladder_part(row.run) {
        Some(part) => series_title(part),
        None => capitalised(&kind(row)),
    };
    if let Some(block) = row.block_text() {
        words.push_str(&format!(" {block}"));
    }
    if let (None, Some(threads), Some(outstanding)) =
        (ladder_part(row.run), row.threads(), row.outstanding())
    {
        words.push_str(&format!(" {threads}\u{d7}{outstanding}"));
    }
    let workload = &row.job.workload;
    for particular in load(row).particulars() {
        words.push_str(&format!(", {particular}"));
    }
    let size = workload
        .size_bytes
        .map(|bytes| format!("{} of ", ByteSize(bytes)));
    format!(
        "{words} on {}{}",
        size.unwrap_or_default(),
        row.job.full_target_names()
    )
}

fn steps(rates: &[Point]) -> Vec<ChangePoint> {
    let values: Vec<f64> = rates.iter().map(|point| point.y).collect();
    let rule = ChangePointRule {
        magnitude_min: STEP_MIN,
        ..ChangePointRule::default()
    };
    change_points(&values, &rule)
}

fn change(step: &ChangePoint) -> String {
    percent((step.mean_after / step.mean_before - 1.0) * 100.0)
}

/// Between the last measurement before the step and the first after it.
fn mark(rates: &[Point], step: &ChangePoint) -> Annotation {
    let before = rates[step.index.saturating_sub(1)].x;
    Annotation::AtX {
        x: f64::midpoint(before, rates[step.index].x),
        label: change(step),
    }
}

fn summary(rates: &[Point], steps: &[ChangePoint]) -> String {
    let when = |index: usize| Quantity::Date.format(rates[index].x);
    let times = format!(
        "Measured {} from {} to {}.",
        counted(rates.len(), "time", "times"),
        when(0),
        when(rates.len() - 1)
    );
    if steps.is_empty() {
        return format!("{times} No step was found in the rate.");
    }
    let each = steps.iter().map(|step| {
        format!(
            "Between {} and {} the mean rate changed by {}.",
            when(step.index.saturating_sub(1)),
            when(step.index),
            change(step)
        )
    });
    let sentences: Vec<String> = each.collect();
    format!("{times} {}", sentences.join(" "))
}
