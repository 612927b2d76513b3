//! The supporting tables of the page and of CSV.

use super::compare::per;
use super::document::{GroupShare, KindCounts, ObservationDocument, ObservedDevice, ProcessShare};
use super::words;
use stripewise_report::{Column, SheetTable};
use stripewise_results::LatencySummary;
use stripewise_units::{ByteSize, format_bytes, format_count, format_duration, format_iops};

const MIB: f64 = 1_048_576.0;

/// Rate and latency of a device by kind: the table of the terminal.
pub fn kinds(document: &ObservationDocument, device: &ObservedDevice) -> SheetTable {
    let rate = |count: u64| per(count, document.observed_s);
    let latency = &device.latency_ns;
    let kinds = [
        ("reads", device.reads, device.read_bytes, latency.read),
        ("writes", device.writes, device.write_bytes, latency.write),
        ("flushes", device.flushes, 0, latency.flush),
        (
            "discards",
            device.discards,
            device.discard_bytes,
            latency.discard,
        ),
    ];
    let rows = kinds
        .into_iter()
        .filter(|(_, operations, ..)| *operations > 0)
        .map(|(name, operations, bytes, latency)| {
            let mut row = vec![
                name.to_owned(),
                format_count(operations),
                rate(operations).map_or_else(String::new, format_iops),
                match bytes {
                    0 => String::new(),
                    bytes => rate(bytes).map_or_else(String::new, mib),
                },
            ];
            row.extend(latency_cells(latency.as_ref()));
            row
        });
    let head = [
        device.name.as_str(),
        "operations",
        "IOPS",
        "MiB/s",
        "p50",
        "p99",
        "p99.9",
        "max",
    ];
    table("", &head, rows.collect())
}

/// The first column is text, the others are numbers.
fn table(title: &str, head: &[&str], rows: Vec<Vec<String>>) -> SheetTable {
    let column = |(k, heading): (usize, &&str)| match k {
        0 => Column::text(heading),
        // On a narrow terminal the last ones are dropped first, except p99 and the maximum.
        _ => Column::number(heading).dropped(match *heading {
            "p99.9" => 2,
            "MiB/s" => 1,
            _ => 0,
        }),
    };
    SheetTable::new(title, head.iter().enumerate().map(column), rows)
}

fn mib(bytes_per_s: f64) -> String {
    format!("{:.1}", bytes_per_s / MIB)
}

fn latency_cells(latency: Option<&LatencySummary>) -> [String; 4] {
    let Some(latency) = latency else {
        return Default::default();
    };
    let p999 = latency.p999.map(format_duration);
    [
        format_duration(latency.p50),
        format_duration(latency.p99),
        p999.unwrap_or_default(),
        format_duration(latency.max),
    ]
}

fn counts_cells(counts: &KindCounts) -> [String; 5] {
    [
        format_count(counts.reads),
        format_count(counts.writes),
        format_count(counts.flushes),
        format_bytes(counts.read_bytes),
        format_bytes(counts.write_bytes),
    ]
}

const COUNTS: [&str; 5] = ["reads", "writes", "flushes", "read", "written"];

fn with_counts<'a>(first: &'a str, last: &[&'a str]) -> Vec<&'a str> {
    let words = std::iter::once(first).chain(COUNTS);
    words.chain(last.iter().copied()).collect()
}

/// All tables, that of the terminal first.
pub fn tables(document: &ObservationDocument) -> Vec<SheetTable> {
    // A terminal shows the busiest device.
    let kinds = document.devices.iter().enumerate().map(|(k, one)| match k {
        0 => kinds(document, one),
        _ => kinds(document, one).as_detail(),
    });
    let mut tables: Vec<SheetTable> = kinds.collect();
    for device in &document.devices {
        tables.extend(of_device(device));
    }
    tables.extend([
        blame(document),
        slow_operations(document),
        closedness(document),
    ]);
    tables
}

fn group_row(one: &GroupShare) -> Vec<String> {
    vec![
        one.group.clone(),
        format_count(one.reads),
        format_count(one.writes),
        format_bytes(one.read_bytes),
        format_bytes(one.write_bytes),
    ]
}

fn of_device(device: &ObservedDevice) -> [SheetTable; 7] {
    let name = &device.name;
    let processes = device.by_process.iter().map(process_row);
    let roles = device.by_role.iter().map(|one| {
        let role = match &one.product {
            Some(product) => format!("{product} {}", one.role),
            None => one.role.clone(),
        };
        let mut row = vec![role];
        row.extend(counts_cells(&one.counts));
        row
    });
    let files = device.by_file.iter().map(|one| {
        let mut row = vec![one.path.clone()];
        row.extend(counts_cells(&one.counts));
        row
    });
    let has_means = device
        .by_file
        .iter()
        .any(|one| one.latency_ns_mean.is_some());
    let busiest = match has_means {
        true => with_means(device),
        false => table(
            &format!("Busiest files, {name}"),
            &with_counts("file", &[]),
            files.collect(),
        )
        .as_detail(),
    };
    let all = (device.reads + device.writes + device.discards).max(1) as f64;
    let sizes = device.sizes.iter().map(|one| {
        vec![
            ByteSize(one.size_bytes).to_string(),
            format_count(one.operations),
            format!("{:.1}", 100.0 * one.operations as f64 / all),
        ]
    });
    let named = |title: &str, head: &[&str], rows: Vec<Vec<String>>| {
        table(&format!("{title}, {name}"), head, rows).as_detail()
    };
    let processes = processes.collect();
    let groups = device.by_group.iter().map(group_row);
    [
        named(
            "Latency by stage",
            &["", "p50", "p99", "p99.9", "max"],
            stages(device),
        ),
        named(
            "Processes",
            &with_counts("process", &["p50", "p99"]),
            processes,
        ),
        named(
            "Control groups",
            &["group", "reads", "writes", "read", "written"],
            groups.collect(),
        ),
        named("Roles of files", &with_counts("role", &[]), roles.collect()),
        busiest,
        named("Sizes", &["size", "operations", "%"], sizes.collect()),
        named(
            "Slow moments",
            &["from", "operations", "mean", "longest"],
            slow_moments(device),
        ),
    ]
}

/// Files, or the units by which a database counts, with the means that it provides.
fn with_means(device: &ObservedDevice) -> SheetTable {
    let mean = |ns: Option<f64>| ns.map_or(String::new(), |ns| format_duration(ns as u64));
    let rows = device.by_file.iter().map(|one| {
        let means = one.latency_ns_mean.unwrap_or_default();
        vec![
            one.path.clone(),
            format_count(one.counts.reads),
            mean(means.read),
            format_count(one.counts.writes),
            mean(means.write),
            format_count(one.counts.flushes),
            mean(means.flush),
        ]
    });
    let head = ["", "reads", "mean", "writes", "mean", "flushes", "mean"];
    table(
        &format!("By what {} counts", device.name),
        &head,
        rows.collect(),
    )
}

/// Latencies at the device, and from the system call.
fn stages(device: &ObservedDevice) -> Vec<Vec<String>> {
    let at_device = &device.device_latency_ns;
    let calls = &device.call_latency_ns;
    let stages = [
        ("read at the device", at_device.read),
        ("write at the device", at_device.write),
        ("flush at the device", at_device.flush),
        ("read, from the system call", calls.read),
        ("write, from the system call", calls.write),
        ("flush, from the system call", calls.flush),
    ];
    let stages = stages.into_iter().filter_map(|(name, latency)| {
        let mut row = vec![name.to_owned()];
        row.extend(latency_cells(Some(&latency?)));
        Some(row)
    });
    stages.collect()
}

/// The bins of the timeline with the largest mean latency.
fn slow_moments(device: &ObservedDevice) -> Vec<Vec<String>> {
    let width = device.timeline.width_ns;
    let slow = device.timeline.slow_ns.iter().filter_map(|&at| {
        let bin = device.timeline.bins.get((at / width.max(1)) as usize)?;
        Some(vec![
            format!("{:.1} s", at as f64 / 1e9),
            format_count(bin.operations),
            bin.latency_ns_mean
                .map(|ns| format_duration(ns as u64))
                .unwrap_or_default(),
            bin.latency_ns_max.map(format_duration).unwrap_or_default(),
        ])
    });
    slow.collect()
}

/// The name of a process, with its id.
pub fn process_name(one: &ProcessShare) -> String {
    match (&one.name, one.pid) {
        (Some(name), Some(pid)) => format!("{name} ({pid})"),
        (Some(name), None) => name.clone(),
        (None, Some(pid)) => format!("process {pid}"),
        (None, None) => "not named".to_owned(),
    }
}

fn process_row(one: &ProcessShare) -> Vec<String> {
    let mut row = vec![process_name(one)];
    row.extend(counts_cells(&one.counts));
    let latency = latency_cells(one.latency_ns.as_ref());
    row.extend(latency[..2].iter().cloned());
    row
}

fn blame(document: &ObservationDocument) -> SheetTable {
    let rows = document.blame.iter().map(|one| {
        vec![
            one.device.clone(),
            words::place(&one.cause).to_owned(),
            words::noun(&one.cause).to_owned(),
            format_count(one.operations),
            words::share(one),
        ]
    });
    let head = ["device", "time lost", "cause", "slow operations", "share"];
    SheetTable::new(
        "Where slow operations lost their time",
        head,
        rows.collect(),
    )
    .as_detail()
}

fn slow_operations(document: &ObservationDocument) -> SheetTable {
    let ns = |ns: Option<u64>| ns.map(format_duration).unwrap_or_default();
    let of = |verdict: &super::BlameVerdict| -> Vec<Vec<String>> {
        let row = |one: &super::SlowOperation| {
            vec![
                verdict.device.clone(),
                format!("{:.3} s", one.at_s),
                format!("{} {}", one.kind, ByteSize(one.size_bytes)),
                one.process.clone().unwrap_or_default(),
                format_duration(one.latency_ns),
                ns(one.held_ns),
                ns(one.queued_ns),
                ns(one.device_ns),
                ns(one.wakeup_ns),
                format_count(one.in_flight),
                match &one.busiest {
                    Some(busiest) => format!("{} of {busiest}", one.of_busiest),
                    None => String::new(),
                },
            ]
        };
        verdict.examples.iter().map(row).collect()
    };
    let head = [
        "device",
        "at",
        "what",
        "process",
        "took",
        "held",
        "queued",
        "device",
        "wake-up",
        "in flight",
        "most",
    ];
    let rows = document.verdicts.iter().flat_map(of).collect();
    SheetTable::new("The slowest operations", head, rows).as_detail()
}

fn closedness(document: &ObservationDocument) -> SheetTable {
    let rows = document.closedness.tasks.iter().map(|one| {
        vec![
            one.process.clone(),
            format_count(one.operations),
            words::structure(&one.structure).to_owned(),
            one.elasticity
                .map(|e| format!("{e:.2}"))
                .unwrap_or_default(),
            one.slots
                .map(|slots| format!("{slots:.1}"))
                .unwrap_or_default(),
        ]
    });
    let head = [
        "process",
        "operations",
        "how it issues",
        "elasticity",
        "slots",
    ];
    SheetTable::new("Does the load wait for the disk?", head, rows.collect()).as_detail()
}

/// A row for each bin of each device.
pub fn timeline_csv(document: &ObservationDocument) -> String {
    let mut text = String::from("device,start_s,operations,bytes,latency_ns_mean,latency_ns_max\n");
    for device in &document.devices {
        for (k, bin) in device.timeline.bins.iter().enumerate() {
            let start = k as f64 * device.timeline.width_ns as f64 / 1e9;
            let mean = bin
                .latency_ns_mean
                .map(|ns| format!("{ns:.0}"))
                .unwrap_or_default();
            let max = bin
                .latency_ns_max
                .map(|ns| ns.to_string())
                .unwrap_or_default();
            text.push_str(&format!(
                "{},{start:.1},{},{},{mean},{max}\n",
                stripewise_report::csv_text(&device.name),
                bin.operations,
                bin.bytes
            ));
        }
    }
    text
}
