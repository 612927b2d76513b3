//! Published tables as records: one record for each printed cell, marked as
//! imported by the tool `dataset`.
//!
//! What the authors printed and the conditions they named are in the records; everything else is
//! listed in `imported.absent` and never made up. Two properties of a workload are taken from the
//! tool used: SQLIO's random positions are uniform, and its threads share one sequential position.
//!
//! The tables are in the repository's directory `datasets/` and embedded in the program.

mod conditions;
mod table;
#[cfg(test)]
mod tests;

use conditions::Conditions;
use std::collections::BTreeSet;
use std::sync::Arc;
use stripewise_results::{Imported, JobOutcome, JobRecord, RunRecord, TargetFacts};
use stripewise_workload::{CursorKind, Distribution, Pattern, Workload};
use table::{Cell, Table};

/// A published table.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name used in `dataset:NAME`.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// The factor whose levels are its columns: `partition offset`; empty if it has one column.
    pub factor: &'static str,
    /// Names of its columns in order; empty if it has only one.
    pub levels: Vec<String>,
    /// A record for each cell: row by row, each in the order of the columns. A
    /// record's `series_part` is the name of its column.
    pub runs: Vec<RunRecord>,
    /// Differences printed by the authors.
    pub differences: Vec<PublishedDifference>,
    /// Caveats for reading the table, found by rules in its figures.
    pub notes: Vec<String>,
}

/// A difference between two columns as printed by the authors.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedDifference {
    /// `read`, `write`.
    pub operation: String,
    /// `random`, `sequential`.
    pub pattern: String,
    /// Threads.
    pub threads: u32,
    /// `iops` or `mib_per_s`.
    pub metric: &'static str,
    /// Percent of the first column.
    pub percent: f64,
}

/// Names of all published tables, each with a one-line description.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    conditions::ALL.iter().map(|one| (one.name, one.about))
}

/// The published table of this name, if any.
pub fn dataset(name: &str) -> Option<Dataset> {
    let conditions = conditions::ALL.iter().find(|one| one.name == name)?;
    let table = Table::parse(conditions.csv);
    let mut runs = Vec::new();
    for cell in &table.cells {
        runs.push(record(conditions, cell));
    }
    Some(Dataset {
        name: conditions.name,
        about: conditions.about,
        factor: conditions.factor,
        notes: table::misprints(&table.cells, conditions.block_size_bytes),
        differences: table.differences,
        levels: table.levels,
        runs,
    })
}

/// Fields that no published table provides.
const NEVER_GIVEN: [&str; 25] = [
    "started_at",
    "version",
    "host.name",
    "host.cpu",
    "jobs.target.size_bytes",
    "jobs.target.logical_sector_bytes",
    "jobs.workload.ramp_ns",
    "jobs.workload.size_bytes",
    "jobs.workload.cache",
    "jobs.workload.sync",
    "jobs.workload.data",
    "jobs.workload.seed",
    "jobs.engine",
    "jobs.outcome.operations",
    "jobs.outcome.bytes",
    "jobs.outcome.read.operations",
    "jobs.outcome.read.bytes",
    "jobs.outcome.write.operations",
    "jobs.outcome.write.bytes",
    "jobs.outcome.outstanding_mean",
    "jobs.outcome.cpu_user_ns_per_operation",
    "jobs.outcome.cpu_system_ns_per_operation",
    "jobs.outcome.errors",
    "jobs.outcome.drain",
    "jobs.outcome.intervals",
];

fn record(conditions: &Conditions, cell: &Cell) -> RunRecord {
    let mut absent: BTreeSet<String> = NEVER_GIVEN.iter().map(|&p| p.to_owned()).collect();
    let mut lacks = |path: &str| {
        absent.insert(path.to_owned());
    };
    if conditions.operating_system.is_none() {
        lacks("host.operating_system");
    }
    if conditions.duration_ns.is_none() {
        lacks("jobs.workload.duration_ns");
        lacks("jobs.outcome.duration_ns");
    }
    if cell.threads.is_none() {
        lacks("jobs.workload.threads");
    }
    if cell.mb_per_s.is_none() {
        lacks("jobs.outcome.mib_per_s");
    }
    let target = target(conditions, cell);
    let mut run = RunRecord {
        id: format!("{}:{}", conditions.name, cell.id),
        series: Some(conditions.name.to_owned()),
        series_part: cell.level.clone(),
        imported: Some(Imported {
            tool: "dataset".to_owned(),
            source: conditions.name.to_owned(),
            line: Some(cell.line),
            absent: Arc::new(absent),
            ..Imported::default()
        }),
        ..RunRecord::empty()
    };
    run.host.operating_system = conditions.operating_system.unwrap_or("").to_owned();
    run.host.kernel = conditions.kernel.map(str::to_owned);
    run.jobs.push(JobRecord {
        name: "job".to_owned(),
        target,
        workload: workload(conditions, cell),
        outcome: JobOutcome {
            iops: cell.iops.value,
            mib_per_s: cell.mb_per_s.as_ref().map_or(0.0, |figure| figure.value),
            duration_ns: conditions.duration_ns.unwrap_or(0),
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    });
    run
}

fn target(conditions: &Conditions, cell: &Cell) -> TargetFacts {
    let unit = cell.unit_bytes.or(conditions.allocation_unit_bytes);
    TargetFacts {
        name: conditions.place.to_owned(),
        partition_offset_bytes: cell.offset_bytes.or(conditions.partition_offset_bytes),
        file_system: (unit.is_some() || conditions.file_system.is_some()).then(|| {
            stripewise_results::FileSystemFacts {
                kind: conditions.file_system.unwrap_or("").to_owned(),
                allocation_unit_bytes: unit,
                ..stripewise_results::FileSystemFacts::default()
            }
        }),
        ..TargetFacts::unknown()
    }
}

fn workload(conditions: &Conditions, cell: &Cell) -> Workload {
    let unknown = Workload::default();
    Workload {
        read_percent: if cell.operation == "read" { 100 } else { 0 },
        pattern: if cell.pattern == "random" {
            Pattern::Random {
                distribution: Distribution::Uniform,
            }
        } else {
            Pattern::Sequential {
                cursor: CursorKind::Shared,
            }
        },
        block_size_bytes: cell.block_size_bytes.unwrap_or(conditions.block_size_bytes),
        // Where threads are unknown, the outstanding count is a total.
        threads: cell.threads.unwrap_or(1),
        outstanding: cell.outstanding_total.unwrap_or(conditions.outstanding),
        duration_ns: conditions.duration_ns.unwrap_or(unknown.duration_ns),
        ..unknown
    }
}
