//! Converts a SQLIO result to a record, and back.
//!
//! The record has SQLIO's values: rates, whole milliseconds, its command's options. It has no
//! percentiles: SQLIO's histogram gives whole percents in whole milliseconds, from which no
//! percentile can be computed.

use super::report::{AccessPattern, Operation, Report};
use crate::absent::{Absent, fill};
use crate::foreign_result::kind;
use crate::imported_id::imported_id;
use crate::text::fingerprint;
use stripewise_results::{Imported, JobOutcome, JobRecord, RunRecord, Status, TargetFacts};
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern, Workload};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const BYTES_PER_MB: u64 = 1_048_576;

/// A result, and where it was found.
#[derive(Clone, Debug)]
pub(super) struct LocatedReport {
    pub(super) report: Report,
    /// Line of `sqlio v1.5.SG`.
    pub(super) line: u64,
    /// The command line before it.
    pub(super) command: Option<String>,
}

/// The record of a result.
pub(super) fn record(found: LocatedReport, source_name: &str) -> RunRecord {
    let LocatedReport {
        report,
        line,
        command,
    } = found;
    let content = fingerprint(&report.to_string());
    let mut absent = Absent::everything();
    let job = job(&report, &mut absent);
    let nothing = super::consistency::remark(&report);
    RunRecord {
        id: imported_id("sqlio", content, 0),
        status: match nothing {
            Some(_) => Status::Partial,
            None => Status::Complete,
        },
        partial_because: nothing.map(str::to_owned),
        command: command
            .iter()
            .flat_map(|line| line.split(' '))
            .map(str::to_owned)
            .collect(),
        imported: Some(Imported {
            tool: "sqlio".to_owned(),
            tool_version: Some(report.version.clone()),
            source: source_name.to_owned(),
            line: Some(line),
            details: serde_json::to_value(&report).ok(),
            absent: absent.into_set(),
            ..Imported::default()
        }),
        jobs: vec![job],
        ..RunRecord::empty()
    }
}

fn job(report: &Report, absent: &mut Absent) -> JobRecord {
    let mut targets = targets(report);
    let first = if targets.is_empty() {
        TargetFacts::unknown()
    } else {
        targets.remove(0)
    };
    absent.give("jobs.target.name");
    if first.size_bytes > 0 {
        absent.give("jobs.target.size_bytes");
    }
    JobRecord {
        name: "sqlio".to_owned(),
        target: first,
        further_targets: targets,
        workload: workload(report, absent),
        outcome: outcome(report, absent),
        ..JobRecord::default()
    }
}

fn targets(report: &Report) -> Vec<TargetFacts> {
    let size_of = |name: &str| {
        let prepared = report
            .prepared
            .iter()
            .find(|prepared| prepared.file == name);
        prepared.map_or(0, |prepared| {
            prepared.megabytes.saturating_mul(BYTES_PER_MB)
        })
    };
    let target = |name: &String| TargetFacts {
        name: name.clone(),
        size_bytes: size_of(name),
        ..TargetFacts::unknown()
    };
    report.files.iter().map(target).collect()
}

fn workload(report: &Report, absent: &mut Absent) -> Workload {
    let given = [
        "read_percent",
        "block_size_bytes",
        "threads",
        "outstanding",
        "duration_ns",
        // It has none.
        "think_time",
    ];
    absent.give_all("jobs.workload", &given);
    let mut workload = Workload {
        read_percent: match report.operation {
            Operation::Read => 100,
            Operation::Write => 0,
        },
        block_size_bytes: report.block_kib.saturating_mul(1024),
        threads: report.threads,
        // Without -o each thread waits for each operation.
        outstanding: report.outstanding.unwrap_or(1).max(1),
        duration_ns: report.seconds.saturating_mul(NS_PER_S),
        // Without -o a thread visits the files in turn; the threads of a parameter file have one
        // file each. Either way a thread's outstanding counts once, not per file.
        in_turn: report.files.len() > 1
            && (report.outstanding.is_none() || !report.pools.is_empty()),
        ..Workload::default()
    };
    match report.pattern {
        AccessPattern::Random => {
            absent.give_all("jobs.workload", &["pattern", "distribution"]);
            workload.pattern = Pattern::Random {
                distribution: Distribution::Uniform,
            };
        }
        AccessPattern::Sequential => {
            absent.give_all("jobs.workload", &["pattern", "cursor"]);
            workload.pattern = Pattern::Sequential {
                cursor: CursorKind::Shared,
            };
        }
        AccessPattern::Other(_) => {}
    }
    let cache = match report.buffering.as_deref() {
        // The default, which SQLIO does not print.
        None => Some(CacheMode::DirectSync),
        Some(super::HARDWARE_CACHE) => Some(CacheMode::Direct),
        // The other lines are not documented; Stripewise's are known.
        Some(words) => super::cache_of_words(words),
    };
    fill!(absent, workload.cache, cache);
    workload
}

fn outcome(report: &Report, absent: &mut Absent) -> JobOutcome {
    absent.give_all("jobs.outcome", &["iops", "mib_per_s"]);
    let mut outcome = JobOutcome {
        iops: report.iops_hundredths as f64 / 100.0,
        mib_per_s: report.mib_hundredths as f64 / 100.0,
        ..JobOutcome::default()
    };
    let Some(latency) = report.latency_ms else {
        return outcome;
    };
    let (name, side) = match report.operation {
        Operation::Read => ("read", &mut outcome.read),
        Operation::Write => ("write", &mut outcome.write),
    };
    let ms = [
        ("min", latency.min),
        ("mean", latency.avg),
        ("max", latency.max),
    ];
    let ns = ms.map(|(name, ms)| (name, Some(ms as f64 * NS_PER_MS as f64)));
    *side = kind(name, (None, None), ns, absent);
    outcome
}

/// Restores SQLIO's output from a record that was imported from it: identical to the original
/// except for lost white space. `None` for other records.
pub fn report_of(record: &RunRecord) -> Option<Report> {
    let imported = record.imported.as_ref()?;
    if imported.tool != "sqlio" {
        return None;
    }
    serde_json::from_value(imported.details.clone()?).ok()
}
