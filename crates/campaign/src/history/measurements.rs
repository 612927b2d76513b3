//! Measurements that are not runs: profiles, fills and verifications. The store keeps them
//! as documents; of each kind only what a line of the history shows is read.

use crate::context::store_failure;
use crate::failure::Outcome;
use crate::steps::measured::{FILL, KINDS, PROFILE};
use serde::{Deserialize, Serialize};
use stripewise_report::HistoryRow;
use stripewise_store::{Filter, KeptDocument, Store};
use stripewise_units::{format_bytes, format_iops};

const MIB: f64 = 1_048_576.0;

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Measurement {
    /// Its id.
    pub id: String,
    /// `profile`, `fill` or `verify`.
    pub kind: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Name of the machine.
    pub host: String,
    /// What was measured; of several targets the first.
    pub target: String,
    /// What was done: `burn-in`, `surface`, `fill`.
    pub what: String,
    /// What it came to: `115 MiB/s`, the median over a surface or the first rate of a fill;
    /// `13.9 MiB` that were verified.
    pub result: String,
    /// `passed`, `faults`, `cut short`; empty where there is nothing to say.
    pub status: String,
}

/// The fields that the kinds have, each under the names that it has there.
#[derive(Deserialize)]
struct Outline {
    id: String,
    #[serde(alias = "measured_at")]
    started_at: String,
    #[serde(default)]
    host: String,
    #[serde(default)]
    target: Option<Named>,
    #[serde(default)]
    targets: Vec<Named>,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    verdict: Option<String>,
    #[serde(default)]
    verified_bytes: u64,
    #[serde(default)]
    cut_short: Option<String>,
    #[serde(default)]
    rate_median_bytes_per_s: Option<f64>,
    #[serde(default)]
    stretches: Vec<Stretch>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Stretch {
    bytes_per_s: f64,
}

/// All of them that a filter lets through, the newest first. They have no label, no
/// series and no tool: a filter by one of those leaves them out.
pub fn measurements(store: &Store, filter: &Filter) -> Outcome<Vec<Measurement>> {
    let by_others = filter.label.is_some() || filter.series.is_some() || filter.tool.is_some();
    if by_others || filter.status.is_some() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for kind in KINDS {
        let documents = store.documents(kind).map_err(store_failure)?;
        // One of another version has no line, and takes no other with it.
        all.extend(documents.iter().filter_map(|document| of(kind, document)));
    }
    all.retain(|one| {
        let since = filter.since.as_deref();
        let target = filter.target.as_deref();
        since.is_none_or(|since| one.started_at.as_str() >= since)
            && target.is_none_or(|target| one.target.contains(target))
    });
    all.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    if let Some(limit) = filter.limit {
        all.truncate(limit as usize);
    }
    Ok(all)
}

fn of(kind: &str, document: &KeptDocument) -> Option<Measurement> {
    let outline: Outline = serde_json::from_str(&document.json).ok()?;
    let rate = |bytes_per_s: f64| format!("{} MiB/s", format_iops(bytes_per_s / MIB));
    let first = outline
        .target
        .or_else(|| outline.targets.into_iter().next());
    let (what, result) = match kind {
        PROFILE => ("surface", outline.rate_median_bytes_per_s.map(rate)),
        FILL => (
            "fill",
            outline.stretches.first().map(|one| rate(one.bytes_per_s)),
        ),
        _ => (
            outline.mode.as_deref().unwrap_or_default(),
            Some(format_bytes(outline.verified_bytes)),
        ),
    };
    let cut = outline.cut_short.map(|_| "cut short".to_owned());
    Some(Measurement {
        id: outline.id,
        kind: kind.to_owned(),
        started_at: outline.started_at,
        host: outline.host,
        target: first.map(|target| target.name).unwrap_or_default(),
        what: what.to_owned(),
        result: result.unwrap_or_default(),
        status: outline.verdict.or(cut).unwrap_or_default(),
    })
}

/// As a row of the table.
pub fn row(one: &Measurement) -> HistoryRow {
    HistoryRow {
        id: one.id.clone(),
        date: one.started_at.get(..10).unwrap_or_default().to_owned(),
        series: one.kind.clone(),
        target: one.target.clone(),
        what: one.what.clone(),
        amount: one.result.clone(),
        status: one.status.clone(),
        ..HistoryRow::default()
    }
}

/// Rows of runs, with when they began, and those of measurements as one list, the newest
/// first. Rows of runs keep their order, which is that of their storing: an imported
/// result is as old as its file, and stays where it was imported.
pub fn merged(
    runs: Vec<(Option<String>, HistoryRow)>,
    measurements: &[Measurement],
    limit: usize,
) -> Vec<HistoryRow> {
    let mut rest = measurements.iter().peekable();
    let mut rows = Vec::new();
    for (started_at, run) in runs {
        if let Some(started_at) = started_at {
            while let Some(one) = rest.next_if(|one| one.started_at > started_at) {
                rows.push(row(one));
            }
        }
        rows.push(run);
    }
    rows.extend(rest.map(row));
    rows.truncate(limit);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::verification::DOCUMENT_KIND as VERIFY;

    fn measurement(id: &str, started_at: &str) -> Measurement {
        Measurement {
            id: id.to_owned(),
            kind: PROFILE.to_owned(),
            started_at: started_at.to_owned(),
            host: String::new(),
            target: "sdb".to_owned(),
            what: "surface".to_owned(),
            result: String::new(),
            status: String::new(),
        }
    }

    #[test]
    fn measurements_stand_where_their_time_puts_them() {
        let run = |id: &str, started_at: Option<&str>| {
            let row = HistoryRow {
                id: id.to_owned(),
                ..HistoryRow::default()
            };
            (started_at.map(str::to_owned), row)
        };
        let runs = || {
            vec![
                run("imported", None),
                run("noon", Some("2026-11-22T12:00")),
                run("morning", Some("2026-11-22T08:00")),
            ]
        };
        let measurements = [
            measurement("ten", "2026-11-22T10:00"),
            measurement("six", "2026-11-22T06:00"),
        ];
        let ids = |limit: usize| -> Vec<String> {
            let rows = merged(runs(), &measurements, limit);
            rows.into_iter().map(|row| row.id).collect()
        };
        assert_eq!(ids(9), ["imported", "noon", "ten", "morning", "six"]);
        assert_eq!(ids(3), ["imported", "noon", "ten"]);
    }

    #[test]
    fn each_kind_says_what_it_came_to() {
        let kept = |json: &str| KeptDocument {
            name: "x".to_owned(),
            kept_at: String::new(),
            json: json.to_owned(),
        };
        let verify = r#"{"id":"v","mode":"burn-in","started_at":"2026-11-22T10:00:00Z",
            "host":"h","verdict":"faults","targets":[{"name":"sdb"}],"verified_bytes":1048576}"#;
        let row = |kind, json| row(&of(kind, &kept(json)).expect("a measurement"));
        let verified = row(VERIFY, verify);
        assert_eq!(verified.date, "2026-11-22");
        let words = [&verified.what, &verified.amount, &verified.status];
        assert_eq!(words, ["burn-in", "1 MiB", "faults"]);
        let profile = r#"{"id":"p","measured_at":"2026-11-22T10:00:00Z","target":{"name":"sda"},
            "rate_median_bytes_per_s":104857600.0,"cut_short":"the time given was over"}"#;
        let profiled = row(PROFILE, profile);
        let words = [&profiled.target, &profiled.amount, &profiled.status];
        assert_eq!(words, ["sda", "100 MiB/s", "cut short"]);
        let fill = r#"{"id":"f","measured_at":"2026-11-22T10:00:00Z","target":{"name":"sda"},
            "stretches":[{"bytes_per_s":1572864000.0}],"cut_short":null}"#;
        assert_eq!(row(FILL, fill).amount, "1,500 MiB/s");
        assert!(of(FILL, &kept("{}")).is_none());
    }
}
