//! The hosts of a merged run, one curve each.

use super::axis;
use crate::chart::{Chart, Form, Panel, Point, Quantity, Scale, Series};
use crate::hosts::hosts_sentences;
use stripewise_results::{HostRecord, MergedRecord, RunRecord};

/// More curves than tones cannot be distinguished.
const CURVES_MAX: usize = 8;

/// A chart for each of the first few merged runs.
pub(super) fn charts<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Vec<Chart> {
    let merged = runs.filter_map(|run| Some((run, run.merged.as_deref()?)));
    merged.map(|(run, merged)| chart(run, merged)).collect()
}

fn chart(run: &RunRecord, merged: &MergedRecord) -> Chart {
    let shown = shown(&merged.hosts);
    let mut sentences = hosts_sentences(run, merged);
    if shown.len() < merged.hosts.len() {
        let half = CURVES_MAX / 2;
        sentences.push(format!(
            "Drawn are the {half} slowest and the {half} fastest of {} hosts.",
            merged.hosts.len()
        ));
    }
    let curve = |(tone, host): (usize, &&HostRecord)| {
        let points = host.curve.iter().map(|point| {
            let middle = point.start_ns as f64 + point.duration_ns as f64 / 2.0;
            Point::new(middle, point.iops)
        });
        Series::new(&host.host, Form::Trace, tone, points.collect())
    };
    Chart {
        cautions: Vec::new(),
        name: "hosts".to_owned(),
        title: "Hosts over time".to_owned(),
        summary: sentences.join(" "),
        x: axis(
            "Time since all were measuring",
            Quantity::Time,
            Scale::FromZero,
        ),
        panels: vec![Panel {
            y: axis("Throughput", Quantity::Iops, Scale::FromZero),
            series: shown.iter().enumerate().map(curve).collect(),
            annotations: Vec::new(),
        }],
    }
}

/// All hosts, or if there are many, the slowest and the fastest, in their order.
fn shown(hosts: &[HostRecord]) -> Vec<&HostRecord> {
    let mut by_rate: Vec<usize> = (0..hosts.len()).collect();
    by_rate.sort_by(|one, other| hosts[*one].iops.total_cmp(&hosts[*other].iops));
    if hosts.len() > CURVES_MAX {
        let half = CURVES_MAX / 2;
        by_rate.drain(half..hosts.len() - half);
    }
    by_rate.sort_unstable();
    by_rate.into_iter().map(|at| &hosts[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::HostPoint;

    #[test]
    fn each_host_has_a_curve_and_of_many_the_outermost() {
        for (count, drawn) in [(3, 3), (8, 8), (20, 8)] {
            let host = |number: usize| HostRecord {
                host: format!("host{number}"),
                iops: ((number * 7) % 20) as f64,
                curve: vec![HostPoint {
                    start_ns: 0,
                    duration_ns: 1_000_000_000,
                    iops: 5.0,
                }],
                ..HostRecord::default()
            };
            let run = RunRecord {
                merged: Some(Box::new(MergedRecord {
                    hosts: (0..count).map(host).collect(),
                    ..MergedRecord::default()
                })),
                ..RunRecord::empty()
            };
            let charts = charts(std::iter::once(&run));
            let lines = &charts[0].panels[0].series;
            assert_eq!(lines.len(), drawn);
            assert_eq!(lines[0].points, [Point::new(5e8, 5.0)]);
            assert!(charts[0].summary.contains("together: "));
            let is_noted = charts[0]
                .summary
                .contains("4 slowest and the 4 fastest of 20");
            assert_eq!(is_noted, count == 20);
            // Rates 0 to 3 and 16 to 19 of twenty: none from the middle.
            let extreme = |line: &crate::chart::Series| {
                let number: usize = line.name["host".len()..].parse().unwrap();
                let rate = number * 7 % 20;
                count < 20 || !(4..16).contains(&rate)
            };
            assert!(lines.iter().all(extreme));
        }
    }
}
