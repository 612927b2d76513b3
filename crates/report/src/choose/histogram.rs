//! SQLIO's histogram: shares of operations by whole milliseconds.

use super::axis;
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::identity::names_of_jobs;
use serde_json::Value;
use stripewise_results::JobRow;

/// Histograms per chart; more bars at one position cannot be distinguished.
const BESIDE_MAX: usize = 4;
/// Maximum number of charts of histograms.
const CHARTS_MAX: usize = 10;

pub(super) fn charts(rows: &[JobRow<'_>]) -> Vec<Chart> {
    let found: Vec<(JobRow<'_>, Vec<f64>)> = rows
        .iter()
        .filter_map(|row| Some((*row, shares(row)?)))
        .take(BESIDE_MAX * CHARTS_MAX)
        .collect();
    let of: Vec<JobRow<'_>> = found.iter().map(|(row, _)| *row).collect();
    let names = match &of[..] {
        [only] => vec![crate::identity::kind(only)],
        _ => names_of_jobs(&of).names,
    };
    let named: Vec<(String, Vec<f64>)> = names
        .into_iter()
        .zip(found.into_iter().map(|(_, shares)| shares))
        .collect();
    named.chunks(BESIDE_MAX).map(chart).collect()
}

/// Per cent of operations that took 0 to 1 ms, 1 to 2 ms and so on, and the rest.
fn shares(row: &JobRow<'_>) -> Option<Vec<f64>> {
    let imported = row.run.imported.as_ref()?;
    let all = imported.details.as_ref()?.get("histogram_percent")?;
    let shares: Vec<f64> = all.as_array()?.iter().filter_map(Value::as_f64).collect();
    (shares.len() > 1).then_some(shares)
}

fn chart(named: &[(String, Vec<f64>)]) -> Chart {
    let longest = named.iter().map(|(_, shares)| shares.len()).max();
    let places = longest.unwrap_or(0);
    let mut names: Vec<String> = (0..places).map(|from| from.to_string()).collect();
    if let Some(last) = names.last_mut() {
        last.push('+');
    }
    let bars = named.iter().enumerate().map(|(slot, (name, shares))| {
        let form = Form::Bars {
            slot,
            slots: named.len(),
        };
        let points = shares.iter().enumerate();
        let points = points.map(|(ms, share)| Point::new(ms as f64, *share));
        Series::new(name, form, slot, points.collect())
    });
    let most = named.iter().filter_map(|(name, shares)| {
        let (ms, share) = shares
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))?;
        let last = ms + 1 == shares.len();
        let from = if last { "at least" } else { "from" };
        Some(format!(
            "{}: {share} % of operations took {from} {ms} ms{}.",
            stripewise_units::capitalised(name),
            if last {
                String::new()
            } else {
                format!(" to {} ms", ms + 1)
            }
        ))
    });
    Chart {
        cautions: Vec::new(),
        name: "latency-histogram".to_owned(),
        title: "Operations by latency, as SQLIO printed it".to_owned(),
        summary: most.collect::<Vec<_>>().join(" "),
        x: axis(
            "Latency, whole milliseconds",
            Quantity::Name,
            Scale::Names(names),
        ),
        panels: vec![Panel {
            y: axis("Share of operations", Quantity::Share, Scale::FromZero),
            series: bars.collect(),
            annotations: Vec::new(),
        }],
    }
}
