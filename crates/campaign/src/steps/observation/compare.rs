//! Compares two observations: what has changed since the upgrade?

use super::document::{ObservationDocument, ObservedDevice, RoleShare, SCHEMA_VERSION};
use crate::steps::measured::{OBSERVATION, json_of};
use crate::steps::subject::unlike;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_results::LatencySummary;
use stripewise_stats::mean_interval;
use stripewise_units::{counted, format_duration, format_iops};

const MIB: f64 = 1_048_576.0;
/// Number of blocks per timeline, for the interval of its rate.
const BLOCKS: usize = 10;

/// Two observations: B against A.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ObservationComparison {
    /// Of this document.
    pub schema_version: u32,
    /// The reference.
    pub a: ObservedSide,
    /// What is held against it.
    pub b: ObservedSide,
    /// What was compared, of the busiest device of each.
    pub rows: Vec<ComparedRow>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ObservedSide {
    /// The observation's id.
    pub id: String,
    /// What was observed.
    pub target: String,
    /// Its busiest device.
    pub device: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// How long was observed, seconds.
    pub observed_s: f64,
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ComparedRow {
    /// What it is.
    pub what: String,
    /// `iops`, `mib_per_s`, `ns`, `operations` (in flight) or `percent`.
    pub unit: String,
    /// In A; null where A does not say.
    pub a: Option<f64>,
    /// In B.
    pub b: Option<f64>,
    /// B against A, per cent; null where one is missing or 0.
    pub change_percent: Option<f64>,
    /// The change that ten blocks of each allow, with 95 % confidence; of the whole rate.
    pub interval_percent: Option<[f64; 2]>,
}

/// Compares two observations, by their ids in the store or as files from `--json`.
/// `None` if neither is an observation.
///
/// # Errors
/// If only one of them is one, or the store cannot be read.
pub fn compare_observations(
    context: &Context,
    a: &str,
    b: &str,
) -> Outcome<Option<ObservationComparison>> {
    let read = |name: &str| -> Outcome<Option<ObservationDocument>> {
        let json = json_of(context, OBSERVATION, name)?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    };
    match (read(a)?, read(b)?) {
        (None, None) => Ok(None),
        (Some(a), Some(b)) => Ok(Some(compared(&a, &b))),
        (one, _) => {
            let (observation, other) = if one.is_some() { (a, b) } else { (b, a) };
            Err(unlike(
                context,
                other,
                format!("{observation} is an observation, and {other} is not"),
                "name two observations, by the ids that `observe` printed or as files of --json",
            ))
        }
    }
}

fn compared(a: &ObservationDocument, b: &ObservationDocument) -> ObservationComparison {
    let nothing = ObservedDevice::default();
    let first = a.devices.first().unwrap_or(&nothing);
    // The same device if both have it.
    let same = b.devices.iter().find(|one| one.name == first.name);
    let other = same.or(b.devices.first()).unwrap_or(&nothing);
    ObservationComparison {
        schema_version: SCHEMA_VERSION,
        a: side(a, first),
        b: side(b, other),
        rows: rows(a.observed_s, first, b.observed_s, other),
    }
}

fn side(document: &ObservationDocument, device: &ObservedDevice) -> ObservedSide {
    ObservedSide {
        id: document.id.clone(),
        target: document.target.name.clone(),
        device: device.name.clone(),
        started_at: document.started_at.clone(),
        observed_s: document.observed_s,
    }
}

/// The name of a figure, and its value.
type Figure<T, V> = (&'static str, fn(&T) -> V);

fn rows(a_s: f64, a: &ObservedDevice, b_s: f64, b: &ObservedDevice) -> Vec<ComparedRow> {
    let mut rows = vec![ComparedRow {
        interval_percent: rate_interval(a_s, a, b_s, b),
        ..row("operations", "iops", per(all(a), a_s), per(all(b), b_s))
    }];
    let mut add = |what: &str, unit: &str, a: Option<f64>, b: Option<f64>| {
        if a.is_some_and(|a| a > 0.0) || b.is_some_and(|b| b > 0.0) {
            rows.push(row(what, unit, a, b));
        }
    };
    let counts: [Figure<ObservedDevice, u64>; 4] = [
        ("reads", |one| one.reads),
        ("writes", |one| one.writes),
        ("flushes", |one| one.flushes),
        ("discards", |one| one.discards),
    ];
    for (what, of) in counts {
        add(what, "iops", per(of(a), a_s), per(of(b), b_s));
    }
    let mib = |bytes: u64, seconds: f64| per(bytes, seconds).map(|rate| rate / MIB);
    add(
        "read",
        "mib_per_s",
        mib(a.read_bytes, a_s),
        mib(b.read_bytes, b_s),
    );
    add(
        "written",
        "mib_per_s",
        mib(a.write_bytes, a_s),
        mib(b.write_bytes, b_s),
    );
    let kinds: [Figure<ObservedDevice, Option<LatencySummary>>; 3] = [
        ("reads", |one| one.latency_ns.read),
        ("writes", |one| one.latency_ns.write),
        ("flushes", |one| one.latency_ns.flush),
    ];
    for (what, of) in kinds {
        let (a, b) = (of(a), of(b));
        let figure = |of: fn(&LatencySummary) -> u64| {
            let ns = |one: &Option<LatencySummary>| one.as_ref().map(|one| of(one) as f64);
            (ns(&a), ns(&b))
        };
        let (p50, p99) = (figure(|one| one.p50), figure(|one| one.p99));
        add(&format!("{what}, p50"), "ns", p50.0, p50.1);
        add(&format!("{what}, p99"), "ns", p99.0, p99.1);
    }
    add("in flight", "operations", a.depth_mean, b.depth_mean);
    let percent = |one: &ObservedDevice| one.sequential_share.map(|share| 100.0 * share);
    add("sequential", "percent", percent(a), percent(b));
    for name in role_names(a, b) {
        let of = |device: &ObservedDevice, count: fn(&RoleShare) -> u64| -> u64 {
            let roles = device.by_role.iter().filter(|one| role_name(one) == name);
            roles.map(count).sum()
        };
        let counts: [Figure<RoleShare, u64>; 2] = [
            ("reads", |one| one.counts.reads),
            ("writes", |one| one.counts.writes),
        ];
        for (what, count) in counts {
            let (a, b) = (per(of(a, count), a_s), per(of(b, count), b_s));
            add(&format!("{what} of {name}"), "iops", a, b);
        }
    }
    rows
}

fn all(device: &ObservedDevice) -> u64 {
    device.reads + device.writes + device.flushes + device.discards
}

/// A rate, unless no time passed.
pub(super) fn per(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

fn row(what: &str, unit: &str, a: Option<f64>, b: Option<f64>) -> ComparedRow {
    let change = match (a, b) {
        (Some(a), Some(b)) if a > 0.0 => Some(100.0 * (b / a - 1.0)),
        _ => None,
    };
    ComparedRow {
        what: what.to_owned(),
        unit: unit.to_owned(),
        a,
        b,
        change_percent: change,
        interval_percent: None,
    }
}

fn role_name(one: &RoleShare) -> String {
    match &one.product {
        Some(product) => format!("{product} {}", one.role),
        None if one.role == "file" => "other files".to_owned(),
        None => "no known file".to_owned(),
    }
}

/// Distinct roles of both, in the order of A and then B.
fn role_names(a: &ObservedDevice, b: &ObservedDevice) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for one in a.by_role.iter().chain(&b.by_role) {
        let name = role_name(one);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The interval of the change of the total rate, from the spread of ten blocks of each timeline.
fn rate_interval(a_s: f64, a: &ObservedDevice, b_s: f64, b: &ObservedDevice) -> Option<[f64; 2]> {
    let (a_rate, b_rate) = (per(all(a), a_s)?, per(all(b), b_s)?);
    let half = relative_error(a_s, a)?.hypot(relative_error(b_s, b)?);
    let change = (b_rate / a_rate).ln();
    let percent = |logarithm: f64| 100.0 * (logarithm.exp() - 1.0);
    change
        .is_finite()
        .then(|| [percent(change - half), percent(change + half)])
}

/// Half the 95 % interval of the rate, relative to it; `None` for fewer than ten bins.
fn relative_error(seconds: f64, device: &ObservedDevice) -> Option<f64> {
    let timeline = &device.timeline;
    let block_ns = seconds * 1e9 / BLOCKS as f64;
    if timeline.bins.len() < BLOCKS || block_ns <= 0.0 {
        return None;
    }
    let mut blocks = [0.0; BLOCKS];
    for (k, bin) in timeline.bins.iter().enumerate() {
        let block = (k as f64 * timeline.width_ns as f64 / block_ns) as usize;
        blocks[block.min(BLOCKS - 1)] += bin.operations as f64;
    }
    let interval = mean_interval(&blocks, 0.95)?;
    (interval.value > 0.0).then(|| (interval.high - interval.value) / interval.value)
}

impl ObservationComparison {
    /// Text for a terminal.
    pub fn text(&self) -> String {
        let side = |letter: &str, side: &ObservedSide| {
            format!(
                "{letter}  {} {} of {}, {}, {:.1} s\n",
                side.id,
                side.device,
                side.started_at.get(..10).unwrap_or_default(),
                side.target,
                side.observed_s
            )
        };
        let mut text = side("A", &self.a) + &side("B", &self.b);
        let width = self
            .rows
            .iter()
            .map(|row| row.what.chars().count())
            .max()
            .unwrap_or(0);
        for row in &self.rows {
            let value =
                |value: Option<f64>| value.map_or("-".to_owned(), |value| figure(&row.unit, value));
            let change = row
                .change_percent
                .map_or(String::new(), |change| format!("{change:+.1} %"));
            let interval = row.interval_percent.map_or(String::new(), |[low, high]| {
                format!(" ({low:+.1} to {high:+.1})")
            });
            let (a, b) = (value(row.a), value(row.b));
            let line = format!(
                "  {:width$}  {a:>12}  {b:>12}  {change:>9}{interval}",
                row.what
            );
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

impl ObservationComparison {
    /// The sides, the change of the whole rate, and the largest one, in a line.
    pub fn line(&self) -> String {
        let side = |side: &ObservedSide| format!("{} on {}", side.id, side.device);
        let changes = self
            .rows
            .iter()
            .filter_map(|row| Some((row.what.as_str(), row.change_percent?)));
        let largest = changes
            .clone()
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        let words = |(what, percent): (&str, f64)| format!("{what} {percent:+.1} %");
        let mut parts: Vec<String> = changes.take(1).map(words).collect();
        parts.extend(largest.map(|largest| {
            let figures = counted(self.rows.len(), "figure", "figures");
            format!("largest change of {figures}: {}", words(largest))
        }));
        let [a, b] = [&self.a, &self.b].map(side);
        format!("A is {a}, B is {b}: {}", parts.join("; "))
    }
}

fn figure(unit: &str, value: f64) -> String {
    match unit {
        "iops" => format!("{} IOPS", format_iops(value)),
        "mib_per_s" => format!("{value:.1} MiB/s"),
        "ns" => format_duration(value as u64),
        "percent" => format!("{value:.0} %"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{KindCounts, ObservedMoment, ObservedTimeline};
    use super::*;

    fn observed(writes: u64, log_writes: u64) -> ObservationDocument {
        let bin = |k: u64| ObservedMoment {
            operations: writes / 100 + (k % 20) - 9,
            ..ObservedMoment::default()
        };
        ObservationDocument {
            observed_s: 10.0,
            devices: vec![ObservedDevice {
                name: "sda".to_owned(),
                writes,
                by_role: vec![RoleShare {
                    product: Some("PostgreSQL".to_owned()),
                    role: "log".to_owned(),
                    counts: KindCounts {
                        writes: log_writes,
                        ..KindCounts::default()
                    },
                }],
                timeline: ObservedTimeline {
                    width_ns: 100_000_000,
                    bins: (0..100).map(bin).collect(),
                    slow_ns: Vec::new(),
                },
                ..ObservedDevice::default()
            }],
            ..ObservationDocument::default()
        }
    }

    #[test]
    fn what_changed_is_named_by_role_and_the_rate_has_an_interval() {
        let compared = compared(&observed(10_000, 1_000), &observed(12_000, 1_400));
        let row = |what: &str| compared.rows.iter().find(|row| row.what == what).unwrap();
        let log = row("writes of PostgreSQL log");
        assert_eq!((log.a, log.b), (Some(100.0), Some(140.0)));
        assert!((log.change_percent.unwrap() - 40.0).abs() < 1e-9);
        let [low, high] = row("operations").interval_percent.unwrap();
        assert!(low < 20.0 && 20.0 < high && high < 30.0, "{low} {high}");
        assert!(compared.text().contains("+40.0 %"), "{}", compared.text());
    }
}
