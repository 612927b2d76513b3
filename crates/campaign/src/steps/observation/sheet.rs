//! An observation as a sheet: the cause, the load, and the supporting tables.

use super::compare::per;
use super::document::{GroupShare, ObservationDocument, ObservedDevice, SlowOperation};
use super::{tables, words};
use stripewise_report::{Sheet, again};
use stripewise_units::{ByteSize, counted, format_count, format_duration, format_iops};

const MIB: f64 = 1_048_576.0;
/// Maximum number of processes, roles or sizes in a line.
const NAMES_MAX: usize = 3;
const SIZES_MAX: usize = 2;

pub fn sheet(document: &ObservationDocument) -> Sheet {
    let day = document.started_at.get(..10).unwrap_or_default();
    let source = match document.source.kind.as_str() {
        "file" => document.source.format.clone().unwrap_or_default(),
        "counters" => {
            let of_database = document.source.format.clone();
            of_database.unwrap_or_else(|| "counters of the system".to_owned())
        }
        _ => "kernel events".to_owned(),
    };
    let mut observed = format_duration((document.observed_s * 1e9) as u64);
    // Of an idle machine the answer says what was observed.
    if !document.devices.is_empty() {
        let devices = counted(document.devices.len(), "device", "devices");
        observed.push_str(&format!(" of {devices}"));
    }
    let mut details = document.notes.clone();
    details.extend(
        document
            .cut_short
            .iter()
            .map(|why| format!("Cut short: {why}.")),
    );
    Sheet {
        title: document.target.name.clone(),
        subtitle: format!("{observed} \u{b7} {source} \u{b7} {day}"),
        verdict: words::verdict(document),
        answer: words::answer(document),
        details,
        findings: findings(document),
        tables: tables::tables(document),
        pointers: vec![again(&document.id)],
        ..Sheet::default()
    }
}

fn findings(document: &ObservationDocument) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        found.extend(value.map(|value| (name.to_owned(), value)));
    };
    let Some(device) = document.devices.first() else {
        return found;
    };
    add("load", Some(load(document, device)));
    add("processes", processes(document, device));
    add("groups", groups(device));
    add("files", roles(device));
    add("waits", waits(document));
    add("slow at", slow_moments(device));
    add("slowest", slowest(document));
    let others = document.devices.iter().skip(1).take(NAMES_MAX);
    let others: Vec<String> = others
        .map(
            |one| match per(operations(document, one), document.observed_s) {
                Some(iops) => format!("{} {} IOPS", one.name, format_iops(iops)),
                None => one.name.clone(),
            },
        )
        .collect();
    add("also busy", (!others.is_empty()).then(|| others.join(", ")));
    add("recording", recording(document));
    found
}

fn operations(document: &ObservationDocument, device: &ObservedDevice) -> u64 {
    // The system's counters have requests to flush among the writes, too.
    let source = &document.source;
    let flushes = match (source.kind.as_str(), &source.format) {
        ("counters", None) => 0,
        _ => device.flushes,
    };
    device.reads + device.writes + device.discards + flushes
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// `1,234 IOPS, 56.7 MiB/s, 70 % reads, 35 % sequential, 3.2 in flight, 8K 90 %`.
fn load(document: &ObservationDocument, device: &ObservedDevice) -> String {
    let bytes = device.read_bytes.saturating_add(device.write_bytes);
    let transfers = device.reads + device.writes;
    let least = match words::is_least(document) {
        true => "at least ",
        false => "",
    };
    let mut words = Vec::new();
    if let Some(iops) = per(operations(document, device), document.observed_s) {
        words.push(format!("{least}{} IOPS", format_iops(iops)));
    }
    if let Some(rate) = per(bytes, document.observed_s) {
        words.push(format!("{least}{:.1} MiB/s", rate / MIB));
    }
    if transfers > 0 {
        words.push(format!("{} reads", percent(device.reads, transfers)));
    }
    words.extend(
        device
            .sequential_share
            .map(|share| format!("{:.0} % sequential", 100.0 * share)),
    );
    words.extend(
        device
            .depth_mean
            .map(|depth| format!("{depth:.2} in flight")),
    );
    words.extend(sizes(device));
    words.join(", ")
}

/// The most frequent sizes.
fn sizes(device: &ObservedDevice) -> Vec<String> {
    let all = device.reads + device.writes + device.discards;
    let sizes = device.sizes.iter().take(SIZES_MAX);
    let sizes = sizes.map(|one| {
        let share = percent(one.operations, all);
        format!("{} {share}", ByteSize(one.size_bytes))
    });
    sizes.collect()
}

/// If several control groups did it: `/system.slice/postgresql.service 61 %, / 20 %`.
fn groups(device: &ObservedDevice) -> Option<String> {
    let all = device.by_group.iter().map(GroupShare::operations).sum();
    let shown = device.by_group.iter().take(NAMES_MAX).map(|one| {
        let share = percent(one.operations(), all);
        format!("{} {share}", one.group)
    });
    let shown: Vec<String> = shown.collect();
    (shown.len() > 1).then(|| shown.join(", "))
}

/// Processes combined by name: `postgres 61 % (8), kworker 19 %`.
fn processes(document: &ObservationDocument, device: &ObservedDevice) -> Option<String> {
    let all = operations(document, device);
    let mut names: Vec<(String, u64, usize)> = Vec::new();
    for one in &device.by_process {
        let name = match &one.name {
            // The part after the slash identifies one of the kernel's workers.
            Some(name) if name.starts_with("kworker/") => "kworker".to_owned(),
            Some(name) => name.clone(),
            None if one.pid.is_some() => tables::process_name(one),
            None => continue,
        };
        let operations = one.counts.operations();
        match names.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, sum, count)) => {
                *sum += operations;
                *count += 1;
            }
            None => names.push((name, operations, 1)),
        }
    }
    names.sort_by_key(|(_, operations, _)| u64::MAX - operations);
    let is_much = |one: &&(String, u64, usize)| 200 * one.1 >= all;
    let shown = names.iter().filter(is_much).take(NAMES_MAX);
    let shown = shown.map(|(name, part, count)| {
        let share = percent(*part, all);
        match count {
            1 => format!("{name} {share}"),
            many => format!("{name} {share} ({many})"),
        }
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn roles(device: &ObservedDevice) -> Option<String> {
    if device.by_role.iter().all(|one| one.role == "unknown") {
        return None;
    }
    let transfers = device.reads + device.writes + device.discards;
    // Flushes belong to no file, except where a database counts them by file.
    let of = |one: &super::RoleShare| one.counts.operations() - one.counts.flushes;
    let is_much = |one: &&super::RoleShare| 200 * of(one) >= transfers;
    let roles = device.by_role.iter().filter(is_much).take(NAMES_MAX);
    let roles: Vec<String> = roles
        .map(|one| {
            let product = one
                .product
                .as_ref()
                .map_or(String::new(), |name| format!("{name} "));
            let role = match one.role.as_str() {
                "file" => "other files",
                "unknown" => "no known file",
                role => role,
            };
            format!("{product}{role} {}", percent(of(one), transfers))
        })
        .collect();
    (!roles.is_empty()).then(|| roles.join(", "))
}

fn waits(document: &ObservationDocument) -> Option<String> {
    let closedness = &document.closedness;
    let elasticity = closedness.elasticity?;
    let meaning = match elasticity {
        _ if closedness.high <= 0.15 => "hardly",
        e if e > 0.5 => "yes",
        _ => "in part",
    };
    Some(format!(
        "{meaning}: 1 % more latency, {elasticity:.2} % fewer operations ({:.2}-{:.2})",
        closedness.low, closedness.high
    ))
}

fn slow_moments(device: &ObservedDevice) -> Option<String> {
    let width = device.timeline.width_ns.max(1);
    let moments = device.timeline.slow_ns.iter().take(3).filter_map(|&at| {
        let bin = device.timeline.bins.get((at / width) as usize)?;
        let mean = format_duration(bin.latency_ns_mean? as u64);
        Some(format!("{:.1} s ({mean})", at as f64 / 1e9))
    });
    let moments: Vec<String> = moments.collect();
    (!moments.is_empty()).then(|| moments.join(", "))
}

/// `postgres (5058)` for `postgres: checkpointer (5058)`.
fn short_name(name: &str) -> String {
    match (name.split_once(": "), name.rsplit_once(" (")) {
        (Some((program, _)), Some((_, pid))) => format!("{program} ({pid}"),
        _ => name.to_owned(),
    }
}

/// The slowest operation, and the slowest judged one with the device's other activity: neither
/// calm moments nor other loads are judged.
fn slowest(document: &ObservationDocument) -> Option<String> {
    let verdict = words::first(document)?;
    let judged = verdict.examples.first()?;
    let mut devices = document.devices.iter();
    let device = devices.find(|device| device.name == verdict.device);
    Some(
        match device.and_then(|device| slower(device, judged.latency_ns)) {
            Some(slower) => format!("{slower}; of those judged, {}", example(judged)),
            None => example(judged),
        },
    )
}

/// The slowest read, write or discard of a device, if it took longer than this.
fn slower(device: &ObservedDevice, than_ns: u64) -> Option<String> {
    let latency = &device.latency_ns;
    let kinds = [
        ("read", &latency.read),
        ("write", &latency.write),
        ("discard", &latency.discard),
    ];
    let longest = kinds.map(|(kind, latency)| (latency.as_ref().map_or(0, |one| one.max), kind));
    let (longest_ns, kind) = longest.into_iter().max()?;
    if longest_ns <= than_ns {
        return None;
    }
    let width_s = device.timeline.width_ns as f64 / 1e9;
    let mut bins = device.timeline.bins.iter();
    let at = bins.position(|bin| bin.latency_ns_max == Some(longest_ns));
    let at = at.map_or(String::new(), |bin| {
        format!(" from {:.1} s on", bin as f64 * width_s)
    });
    Some(format!("{kind}{at}: {}", format_duration(longest_ns)))
}

fn example(one: &SlowOperation) -> String {
    let by = one
        .process
        .as_ref()
        .map_or(String::new(), |name| format!(" by {}", short_name(name)));
    let size = match one.size_bytes {
        0 => String::new(),
        bytes => format!("{} ", ByteSize(bytes)),
    };
    let beside = match (one.in_flight, &one.busiest) {
        (0, _) => "nothing else in flight".to_owned(),
        (all, Some(busiest)) => {
            format!(
                "{all} in flight, {} of {}",
                one.of_busiest,
                short_name(busiest)
            )
        }
        (all, None) => format!("{all} in flight"),
    };
    format!(
        "{size}{}{by} at {:.3} s: {}, {} of it at the device; {beside}",
        one.kind,
        one.at_s,
        format_duration(one.latency_ns),
        format_duration(one.device_ns.unwrap_or(0)),
    )
}

fn recording(document: &ObservationDocument) -> Option<String> {
    let events = document.source.events?;
    let lost = document.lost_events?;
    let overhead = document.overhead_percent.map_or(String::new(), |percent| {
        format!(", {percent:.1} % of one processor for the observer")
    });
    Some(format!(
        "{} events, {} lost{overhead}",
        format_count(events),
        format_count(lost)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::observation::ObservationSource;
    use crate::steps::observation::document::ObservedMoment;
    use stripewise_results::LatencySummary;

    #[test]
    fn a_flush_that_is_among_the_writes_is_counted_once() {
        let device = ObservedDevice {
            writes: 10,
            flushes: 4,
            ..ObservedDevice::default()
        };
        let rate = |kind: &str| {
            let document = ObservationDocument {
                source: ObservationSource {
                    kind: kind.to_owned(),
                    ..ObservationSource::default()
                },
                observed_s: 1.0,
                ..ObservationDocument::default()
            };
            load(&document, &device)
        };
        assert!(rate("counters").starts_with("10.0 IOPS"));
        assert!(rate("kernel").starts_with("14.0 IOPS"));
    }

    #[test]
    fn the_slowest_of_all_is_said_where_it_was_not_judged() {
        let mut device = ObservedDevice::default();
        device.latency_ns.write = Some(LatencySummary {
            max: 45_000_000,
            ..LatencySummary::default()
        });
        device.timeline.width_ns = 100_000_000;
        device.timeline.bins = vec![ObservedMoment::default(); 30];
        device.timeline.bins[20].latency_ns_max = Some(45_000_000);
        let expected = "write from 2.0 s on: 45 ms";
        assert_eq!(slower(&device, 13_000_000).as_deref(), Some(expected));
        assert_eq!(slower(&device, 45_000_000), None);
    }
}
