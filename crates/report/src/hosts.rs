//! A merged run of several hosts: a row and a small curve for each, and their combined results.

use crate::number::{latency, rate};
use crate::sheet::{Column, SheetTable};
use std::fmt::Write;
use stripewise_results::{HostPoint, HostRecord, MergedRecord, RunRecord, Status, TargetKind};
use stripewise_units::{counted, format_duration, format_iops};

/// Characters of a curve, from zero to the highest rate of all hosts.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Maximum width of a curve in characters.
const CURVE_WIDTH: usize = 16;

/// A row for each host of a merged run, with a small curve.
pub(crate) fn hosts_table(merged: &MergedRecord) -> SheetTable {
    let columns = [
        Column::text("Host"),
        Column::text("Target").dropped(2),
        Column::number("IOPS"),
        Column::number("MiB/s").dropped(3),
        Column::number("Share"),
        Column::number("p99 read"),
        Column::number("p99 write"),
        Column::number("Start").dropped(1),
        Column::number("Errors"),
        Column::text("Over time").dropped(4),
        Column::text(""),
    ];
    SheetTable::new("", columns, rows(merged))
}

fn rows(merged: &MergedRecord) -> Vec<Vec<String>> {
    let highest = merged
        .hosts
        .iter()
        .flat_map(|host| &host.curve)
        .map(|point| point.iops)
        .fold(0.0, f64::max);
    let hosts = merged.hosts.iter();
    hosts.map(|host| row(host, merged, highest)).collect()
}

fn row(host: &HostRecord, merged: &MergedRecord, highest: f64) -> Vec<String> {
    let target = match host.targets.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} +{}", more.len()),
    };
    let p99 = |kind: &stripewise_results::KindOutcome| match &kind.latency_ns {
        Some(summary) => latency(Some(summary.p99)),
        None => String::new(),
    };
    let mut state: Vec<&str> = Vec::new();
    if merged.stragglers.contains(&host.host) {
        state.push("slow");
    }
    if host.status != Status::Complete {
        state.push("partial");
    }
    vec![
        host.host.clone(),
        target,
        rate(host.iops),
        rate(host.mib_per_s),
        format!("{:.1} %", host.share * 100.0),
        p99(&host.read),
        p99(&host.write),
        format!("+{}", format_duration(host.start_ns)),
        match host.errors {
            0 => String::new(),
            errors => errors.to_string(),
        },
        curve(&host.curve, highest),
        state.join(", "),
    ]
}

/// A character for each of at most [`CURVE_WIDTH`] groups of points.
fn curve(points: &[HostPoint], highest: f64) -> String {
    let each = points.len().div_ceil(CURVE_WIDTH).max(1);
    let level = |points: &[HostPoint]| {
        let sum: f64 = points.iter().map(|point| point.iops).sum();
        let share = sum / points.len() as f64 / highest;
        // 0 / 0 is NaN; the cast makes it the lowest level.
        let index = (share * LEVELS.len() as f64).ceil() as usize;
        LEVELS[index.clamp(1, LEVELS.len()) - 1]
    };
    points.chunks(each).map(level).collect()
}

/// Results over all hosts, as sentences: total, fairness, limit, starts and clocks.
pub fn hosts_sentences(run: &RunRecord, merged: &MergedRecord) -> Vec<String> {
    let hosts = counted(merged.hosts.len(), "host", "hosts");
    let rates = run.jobs.iter().map(|job| job.outcome.iops);
    let total = rates.fold(0.0, |sum, rate| sum + rate);
    let mut sentence = format!("{hosts} together: {} IOPS", format_iops(total));
    if let Some(interval) = merged.iops {
        let (low, high) = (
            format_iops(interval.low.max(0.0)),
            format_iops(interval.high),
        );
        let level = interval.level * 100.0;
        let _ = write!(sentence, " ({level:.0} % interval {low} to {high})");
    }
    let intervals = usize::try_from(merged.intervals).unwrap_or(usize::MAX);
    let _ = write!(
        sentence,
        ", over {} in which all were measuring",
        counted(intervals, "interval", "intervals")
    );
    let mut sentences = vec![sentence + "."];
    if let Some(fairness) = merged.fairness {
        sentences.push(format!(
            "Fairness {fairness:.3} by Jain's index (1: all hosts get the same)."
        ));
    }
    sentences.push(format!("Limit: {}.", merged.limited_by.text));
    let mut kinds = run.jobs.iter().map(|job| job.target.kind);
    sentences.push(match kinds.any(|kind| kind == TargetKind::Simulated) {
        // There was no clock to compare.
        true => "All times are those of simulated arrays, each of which begins at 0.".to_owned(),
        false => clocks(merged),
    });
    sentences
}

fn clocks(merged: &MergedRecord) -> String {
    let skew = format_duration(merged.start_skew_ns);
    let errors = merged.hosts.iter().filter_map(|host| host.clock_error_ns);
    let drifts = merged.hosts.iter().filter_map(|host| host.clock_drift_ns);
    let mut text = match (merged.clocks_measured, errors.max()) {
        (true, Some(error_ns)) => {
            let error = format_duration(error_ns);
            format!("Measuring began within {skew}; clocks were compared to within {error}")
        }
        (true, None) => format!("Measuring began within {skew}"),
        (false, _) => {
            format!(
                "Measuring began within {skew} by the hosts' own clocks, which were not compared"
            )
        }
    };
    if let Some(drift_ns) = drifts.map(i64::unsigned_abs).max() {
        let _ = write!(
            text,
            ", and drifted by at most {}",
            format_duration(drift_ns)
        );
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::HostsLimit;

    fn points(rates: &[f64]) -> Vec<HostPoint> {
        let point = |(number, iops): (usize, &f64)| HostPoint {
            start_ns: number as u64,
            duration_ns: 1,
            iops: *iops,
        };
        rates.iter().enumerate().map(point).collect()
    }

    #[test]
    fn curves_share_one_scale() {
        assert_eq!(curve(&points(&[0.0, 50.0, 100.0]), 100.0), "▁▄█");
        assert_eq!(curve(&points(&[100.0; 40]), 200.0).chars().count(), 14);
        assert_eq!(curve(&points(&[0.0]), 0.0), "▁");
        assert_eq!(curve(&[], 1.0), "");
    }

    #[test]
    fn a_row_for_each_host_and_what_they_say_together() {
        let host = |name: &str, iops: f64| HostRecord {
            host: name.to_owned(),
            targets: vec!["/dev/sdb".to_owned()],
            iops,
            share: iops / 150.0,
            clock_error_ns: Some(40_000),
            curve: points(&[iops]),
            ..HostRecord::default()
        };
        let merged = MergedRecord {
            hosts: vec![host("alpha", 100.0), host("beta", 50.0)],
            stragglers: vec!["beta".to_owned()],
            fairness: Some(0.9),
            intervals: 5,
            start_skew_ns: 250_000,
            clocks_measured: true,
            limited_by: HostsLimit {
                text: "beta does little".to_owned(),
                ..HostsLimit::default()
            },
            ..MergedRecord::default()
        };
        let run = RunRecord {
            merged: Some(Box::new(merged)),
            ..RunRecord::empty()
        };
        let document = stripewise_results::Document::new(vec![run]);
        let sheet = crate::runs_sheet(&document, &crate::RunsLook::default());
        let text = crate::sheet_text(&sheet, 400);
        for words in [
            "alpha  /dev/sdb",
            "66.7 %",
            "slow",
            "2 hosts together",
            "over 5 intervals in which all were measuring.",
            "Fairness 0.900",
            "Limit: beta does little.",
            "within 250 µs; clocks were compared to within 40 µs.",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        // The same in a file.
        let material = crate::Material::new("Two hosts", document);
        for text in [
            crate::html(&material).replace('\u{a0}', " "),
            crate::markdown(&material),
        ] {
            for words in ["alpha", "66.7 %", "Fairness 0.900", "Over time"] {
                assert!(text.contains(words), "{words}");
            }
        }
    }
}
