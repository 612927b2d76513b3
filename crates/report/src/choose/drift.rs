//! The baseline of an experiment over its blocks: what changed although nothing was
//! changed.

use super::{axis, metric};
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::identity::kind;
use crate::quantity_text::percent;
use stripewise_results::{ComparisonRecord, JobRow};
use stripewise_stats::mean;

/// Fewer blocks do not make a curve.
const BLOCKS_MIN: usize = 3;
/// Above this number of lines, only their mean is shown.
const CELLS_MAX: usize = 4;

/// `of` names the experiment if there are several.
pub(super) fn chart(
    of: &str,
    rows: &[JobRow<'_>],
    comparisons: &[&ComparisonRecord],
) -> Option<Chart> {
    let first = rows.iter().find_map(|row| row.run.experiment.as_ref())?;
    // The reference of comparisons; without any, the level that ran first.
    let baseline = comparisons
        .first()
        .map_or(first.level.as_str(), |found| found.a.name.as_str());
    let metric = metric::of(comparisons);
    let of_baseline: Vec<(u32, u32, f64, String)> = rows
        .iter()
        .filter_map(|row| {
            let place = row.run.experiment.as_ref()?;
            let name = name_of(row);
            (place.level == baseline).then_some((
                place.cell,
                place.block,
                metric::value(row, &metric)?,
                name,
            ))
        })
        .collect();
    let mut cells: Vec<u32> = of_baseline.iter().map(|row| row.0).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    for cell in cells {
        let of_cell = || of_baseline.iter().filter(move |row| row.0 == cell);
        let values: Vec<f64> = of_cell().map(|row| row.2).collect();
        let Some(centre) = mean(&values).filter(|centre| *centre > 0.0) else {
            continue;
        };
        let mut points: Vec<Point> = of_cell()
            .map(|row| Point::new(f64::from(row.1) + 1.0, (row.2 / centre - 1.0) * 100.0))
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let name = of_cell()
            .next()
            .map(|row| row.3.clone())
            .unwrap_or_default();
        lines.push((name, points));
    }
    if lines.iter().all(|(_, points)| points.len() < BLOCKS_MIN) {
        return None;
    }
    let mut chart = drawn(baseline, lines, comparisons);
    if !of.is_empty() {
        chart.title = format!("{} (experiment {of})", chart.title);
    }
    Some(chart)
}

/// `random read 8K, 8×4`: distinguishes cells.
fn name_of(row: &JobRow<'_>) -> String {
    let workload = &row.job.workload;
    format!(
        "{} {}, {}\u{d7}{}",
        kind(row),
        workload.block_text(),
        workload.threads,
        workload.outstanding
    )
}

fn drawn(
    baseline: &str,
    mut lines: Vec<(String, Vec<Point>)>,
    comparisons: &[&ComparisonRecord],
) -> Chart {
    if lines.len() > CELLS_MAX {
        lines = vec![("mean of all cells".to_owned(), averaged(&lines))];
    }
    let what = metric::heading(&metric::of(comparisons));
    let drift = comparisons.iter().find_map(|comparison| comparison.drift);
    let summary = match drift {
        Some(drift) => {
            let [low, high] = drift.interval_percent;
            format!(
                "From the first to the last of {} blocks the baseline changed by {} [{}, {}].",
                drift.blocks,
                percent(drift.percent),
                percent(low),
                percent(high)
            )
        }
        None => format!("{what} of the baseline in each block, against their mean."),
    };
    let series = lines
        .into_iter()
        .enumerate()
        .map(|(tone, (name, points))| Series::new(&name, Form::Line, tone, points))
        .collect();
    Chart {
        cautions: Vec::new(),
        name: "baseline-drift".to_owned(),
        title: format!("Drift of the baseline ({baseline})"),
        summary,
        x: axis("Block", Quantity::Count, Scale::Linear),
        panels: vec![Panel {
            y: axis(
                &format!("{what} against their mean"),
                Quantity::Difference,
                Scale::FromZero,
            ),
            series,
            annotations: Vec::new(),
        }],
    }
}

fn averaged(lines: &[(String, Vec<Point>)]) -> Vec<Point> {
    let mut blocks: Vec<f64> = lines
        .iter()
        .flat_map(|(_, points)| points.iter().map(|point| point.x))
        .collect();
    blocks.sort_by(f64::total_cmp);
    blocks.dedup();
    blocks
        .into_iter()
        .filter_map(|block| {
            let values: Vec<f64> = lines
                .iter()
                .flat_map(|(_, points)| {
                    points
                        .iter()
                        .filter(|point| point.x == block)
                        .map(|point| point.y)
                })
                .collect();
            Some(Point::new(block, mean(&values)?))
        })
        .collect()
}
