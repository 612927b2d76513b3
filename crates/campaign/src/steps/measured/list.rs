//! Profiles, fills, verifications and observations as lines of the history. Reads only the fields
//! that a line shows, one document at a time.

use super::{FILL, KINDS, OBSERVATION, PROFILE};
use serde::{Deserialize, Serialize};
use stripewise_conductor::failure::Outcome;
use stripewise_store::{Filter, Store, StoredDocument, Unreadable};
use stripewise_units::{format_bytes, format_iops};

const MIB: f64 = 1_048_576.0;

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Measurement {
    /// Its id.
    pub id: String,
    /// `profile`, `fill`, `verify` or `observe`.
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

/// The fields of all kinds, each under the names that it has there.
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
    #[serde(default)]
    observed_s: f64,
    #[serde(default)]
    devices: Vec<ObservedLine>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    /// Full path if `name` is relative.
    #[serde(default)]
    path: Option<String>,
}

/// The fields of an observed device in a line.
#[derive(Deserialize)]
struct ObservedLine {
    reads: u64,
    writes: u64,
    discards: u64,
    flushes: u64,
}

#[derive(Deserialize)]
struct Stretch {
    bytes_per_s: f64,
}

/// All of them that match a filter, newest first. They have no label, no
/// series and no tool, so a filter by one of those excludes them. Damaged ones are left out, and
/// returned as well.
pub fn measurements(
    store: &Store,
    filter: &Filter,
) -> Outcome<(Vec<Measurement>, Vec<Unreadable>)> {
    let by_others = filter.label.is_some() || filter.series.is_some() || filter.tool.is_some();
    if by_others || filter.status.is_some() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut all, mut unreadable) = (Vec::new(), Vec::new());
    for kind in KINDS {
        // A document of another version is skipped without affecting others.
        let mut see = |document: StoredDocument| all.extend(of(kind, &document));
        let damaged = store.each_readable_document(kind, &mut see);
        unreadable.extend(damaged?);
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
    Ok((all, unreadable))
}

/// Total rate of all observed devices.
fn load(devices: &[ObservedLine], observed_s: f64) -> Option<String> {
    let of = |one: &ObservedLine| one.reads + one.writes + one.discards + one.flushes;
    let operations: u64 = devices.iter().map(of).sum();
    let iops = (observed_s > 0.0).then(|| operations as f64 / observed_s)?;
    Some(format!("{} IOPS", format_iops(iops)))
}

pub(crate) fn of(kind: &str, document: &StoredDocument) -> Option<Measurement> {
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
        OBSERVATION => ("load", load(&outline.devices, outline.observed_s)),
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
        target: first.map_or_else(String::new, |one| one.path.unwrap_or(one.name)),
        what: what.to_owned(),
        result: result.unwrap_or_default(),
        status: outline.verdict.or(cut).unwrap_or_default(),
    })
}
