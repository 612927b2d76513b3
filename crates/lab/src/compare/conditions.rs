//! The conditions under which each side was measured, and where they differ.

use serde::{Deserialize, Serialize};
use stripewise_results::{JobRow, RunRecord};
use stripewise_units::{ByteSize, format_bytes, format_duration};
use stripewise_workload::Workload;

/// A condition that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Condition {
    /// `file system`, `size in use`, `cache mode`...
    pub name: String,
    /// On side A.
    pub a: String,
    /// On side B.
    pub b: String,
    /// It alone may explain the difference of the numbers: `check`
    /// refuses to compare then.
    pub essential: bool,
}

/// One condition of a job, read from its record; `None` if it is unknown.
struct Reading {
    name: &'static str,
    essential: bool,
    value: Option<String>,
}

/// Conditions that define the load: if only one side states one, the other may
/// have any value.
const MAKES_THE_LOAD: [&str; 4] = ["pattern", "rate", "think time", "syncs"];

/// Conditions that are known on both sides and differ, the essential ones first. A property
/// of the load that only one side states is `unknown` on the other.
pub fn differing_conditions(a: &[RunRecord], b: &[RunRecord]) -> Vec<Condition> {
    let (mut on_a, mut on_b) = (collect(a), collect(b));
    for ((name, _, of_a), (_, _, of_b)) in on_a.iter_mut().zip(&mut on_b) {
        let says = |values: &[String]| values.iter().any(|value| value != "none");
        if !MAKES_THE_LOAD.contains(name) {
            continue;
        }
        if of_a.is_empty() && says(of_b) {
            of_a.push("unknown".to_owned());
        } else if of_b.is_empty() && says(of_a) {
            of_b.push("unknown".to_owned());
        }
    }
    let mut differing: Vec<Condition> = on_a
        .into_iter()
        .zip(on_b)
        .filter(|((_, _, a), (_, _, b))| !a.is_empty() && !b.is_empty() && a != b)
        .map(|((name, essential, a), (_, _, b))| Condition {
            name: name.to_owned(),
            a: a.join(", "),
            b: b.join(", "),
            essential,
        })
        .collect();
    differing.sort_by_key(|condition| !condition.essential);
    differing
}

/// Each condition with its distinct values on one side, sorted.
fn collect(runs: &[RunRecord]) -> Vec<(&'static str, bool, Vec<String>)> {
    let mut all: Vec<(&'static str, bool, Vec<String>)> = Vec::new();
    for row in JobRow::of(runs) {
        for (index, reading) in readings(&row).into_iter().enumerate() {
            if all.len() <= index {
                all.push((reading.name, reading.essential, Vec::new()));
            }
            if let Some(value) = reading.value
                && !all[index].2.contains(&value)
            {
                all[index].2.push(value);
            }
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    for (_, _, values) in &mut all {
        values.sort();
    }
    all
}

/// All conditions of a job, always in the same order.
fn readings(row: &JobRow<'_>) -> Vec<Reading> {
    let mut all = of_target(row);
    all.extend(of_workload(row));
    all
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn of_target(row: &JobRow<'_>) -> Vec<Reading> {
    let target = &row.job.target;
    let file_system = target.file_system.as_ref();
    let device = target.device.as_ref();
    let reading = |name, essential, value| Reading {
        name,
        essential,
        value,
    };
    vec![
        reading(
            "file system",
            true,
            file_system.and_then(|fs| text(&fs.kind)),
        ),
        reading("size in use", true, size_in_use(row)),
        reading(
            "kind of target",
            true,
            row.given("jobs.target.kind", ())
                .filter(|()| row.run.imported.is_none())
                .map(|()| kind_words(row).to_owned()),
        ),
        reading(
            "allocation unit",
            false,
            file_system
                .and_then(|fs| fs.allocation_unit_bytes)
                .map(|bytes| ByteSize(bytes).to_string()),
        ),
        reading(
            "offset",
            false,
            row.offset_bytes().map(|bytes| ByteSize(bytes).to_string()),
        ),
        reading("target", false, text(&row.job.full_target_names())),
        reading(
            "device",
            false,
            device.and_then(|device| text(&device.name)),
        ),
        reading(
            "host",
            false,
            given_text(row, "host.name", &row.run.host.name),
        ),
        reading("kernel", false, row.run.host.kernel.clone()),
    ]
}

/// What sets the pace of a workload besides the disk: its rate, syncs and think time.
fn pace_of(workload: &Workload) -> [String; 3] {
    let rate = match workload.rate {
        Some(rate) => format!("{} IOPS", rate.iops),
        None => "none".to_owned(),
    };
    let sync = match workload.sync {
        Some(sync) => format!("{}:{}", sync.call, sync.every),
        None if workload.dsync => "each write durable".to_owned(),
        None => "none".to_owned(),
    };
    let think = match workload.think_time {
        Some(think) => think.to_string(),
        None => "none".to_owned(),
    };
    [rate, sync, think]
}

fn of_workload(row: &JobRow<'_>) -> Vec<Reading> {
    let workload = &row.job.workload;
    let reading = |name, essential, value| Reading {
        name,
        essential,
        value,
    };
    let json = |value: serde_json::Result<serde_json::Value>| {
        let value = value.ok()?;
        Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    };
    let [rate, sync, think] = pace_of(workload);
    let data = format!(
        "{} % compressible, {} % dedupable",
        workload.data.compressible_percent, workload.data.dedupable_percent
    );
    vec![
        reading(
            "cache mode",
            true,
            row.given("jobs.workload.cache", ())
                .and_then(|()| json(serde_json::to_value(workload.cache))),
        ),
        reading(
            "block size",
            true,
            // In full: two distributions may begin and end alike.
            match workload.block_sizes.is_empty() {
                true => row.block_text(),
                false => Some(workload.block_sizes.to_string()),
            },
        ),
        reading("pattern", true, row.pattern().map(str::to_owned)),
        reading("rate", true, row.given("jobs.workload.rate", rate)),
        reading(
            "think time",
            true,
            row.given("jobs.workload.think_time", think),
        ),
        reading("syncs", true, row.given("jobs.workload.sync", sync)),
        reading(
            "data written",
            true,
            row.given("jobs.workload.data", data)
                .filter(|_| workload.read_percent < 100),
        ),
        reading(
            "measured time",
            false,
            row.given("jobs.workload.duration_ns", workload.duration_ns)
                .map(format_duration),
        ),
        reading(
            "engine",
            false,
            given_text(row, "jobs.engine", &row.job.engine.name),
        ),
        reading(
            "processors",
            false,
            row.given("jobs.engine", cpus_words(&row.job.engine.cpus)),
        ),
    ]
}

fn cpus_words(cpus: &[u32]) -> String {
    let numbers: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [] => "any".to_owned(),
        _ => numbers.join("+"),
    }
}

fn given_text(row: &JobRow<'_>, path: &str, value: &str) -> Option<String> {
    row.given(path, value).and_then(text)
}

/// How many bytes the job used: its own limit, else all of its target from its
/// first byte on.
fn size_in_use(row: &JobRow<'_>) -> Option<String> {
    let workload = &row.job.workload;
    let requested = row
        .given("jobs.workload.size_bytes", workload.size_bytes)
        .flatten();
    let whole = row
        .given("jobs.target.size_bytes", row.job.target.size_bytes)
        .filter(|bytes| *bytes > 0)
        .map(|bytes| bytes.saturating_sub(workload.base_offset_bytes));
    requested.or(whole).map(format_bytes)
}

fn kind_words(row: &JobRow<'_>) -> &'static str {
    use stripewise_results::TargetKind;
    match row.job.target.kind {
        // A test file that was kept is an ordinary file the next time.
        TargetKind::File | TargetKind::TestFile => "file",
        TargetKind::Device => "device",
        TargetKind::Simulated => "simulated array",
        TargetKind::Null => "null engine",
    }
}
