//! A tool's result to be converted to a record: what is `None` here is absent there.

use crate::absent::Absent;
use crate::imported_id::imported_id;
use serde_json::{Map, Value};
use stripewise_results::{
    EngineFacts, Errors, Imported, JobOutcome, JobRecord, KindOutcome, LatencySummary, RunRecord,
    TargetFacts,
};
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern, Workload};

/// Most threads, and most outstanding of each: their product fits 32 bits.
const COUNT_MAX: u64 = 65_535;

/// Reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ForeignKind {
    pub(crate) operations: Option<u64>,
    pub(crate) bytes: Option<u64>,
    /// Nanoseconds.
    pub(crate) latency_min: Option<f64>,
    pub(crate) latency_mean: Option<f64>,
    pub(crate) latency_max: Option<f64>,
}

impl ForeignKind {
    /// No operations, which is known.
    pub(crate) fn none() -> Self {
        ForeignKind {
            operations: Some(0),
            bytes: Some(0),
            ..ForeignKind::default()
        }
    }
}

/// One run with one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ForeignResult {
    pub(crate) job: String,
    pub(crate) target: Option<String>,
    pub(crate) read_percent: Option<u8>,
    pub(crate) random: Option<bool>,
    pub(crate) block_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
    pub(crate) outstanding: Option<u64>,
    pub(crate) asked_ns: Option<u64>,
    pub(crate) ramp_ns: Option<u64>,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) cache: Option<CacheMode>,
    pub(crate) measured_ns: Option<u64>,
    pub(crate) iops: Option<f64>,
    pub(crate) mib_per_s: Option<f64>,
    pub(crate) outstanding_mean: Option<f64>,
    pub(crate) errors: Option<u64>,
    pub(crate) read: ForeignKind,
    pub(crate) write: ForeignKind,
}

/// The origin of a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin<'a> {
    pub(crate) tool: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) source: &'a str,
    pub(crate) line: u64,
    /// Fingerprint of the result's text.
    pub(crate) content: u64,
    /// RFC 3339.
    pub(crate) started_at: Option<String>,
    pub(crate) command: Vec<String>,
    /// Values that records have no field for.
    pub(crate) details: Map<String, Value>,
}

impl ForeignResult {
    /// The record.
    pub(crate) fn record(&self, origin: &Origin<'_>) -> RunRecord {
        let mut absent = Absent::everything();
        let mut target = TargetFacts::unknown();
        if let Some(name) = &self.target {
            target.name.clone_from(name);
            absent.give("jobs.target.name");
        }
        let job = JobRecord {
            name: self
                .job
                .chars()
                .filter(|sign| !sign.is_control())
                .take(56)
                .collect(),
            target,
            further_targets: Vec::new(),
            workload: self.workload(&mut absent),
            engine: EngineFacts::default(),
            outcome: self.outcome(&mut absent),
            warnings: Vec::new(),
        };
        if origin.started_at.is_some() {
            absent.give("started_at");
        }
        RunRecord {
            id: imported_id(origin.tool, origin.content, 0),
            started_at: origin.started_at.clone().unwrap_or_default(),
            command: origin.command.clone(),
            jobs: vec![job],
            imported: Some(Imported {
                tool: origin.tool.to_owned(),
                tool_version: origin.version.clone(),
                source: origin.source.to_owned(),
                line: Some(origin.line),
                details: (!origin.details.is_empty())
                    .then(|| Value::Object(origin.details.clone())),
                absent: absent.into_set(),
                ..Imported::default()
            }),
            ..RunRecord::empty()
        }
    }

    fn workload(&self, absent: &mut Absent) -> Workload {
        let mut workload = Workload::default();
        let mut give = |name: &str| {
            absent.give(&format!("jobs.workload.{name}"));
        };
        if let Some(percent) = self.read_percent.filter(|percent| *percent <= 100) {
            workload.read_percent = percent;
            give("read_percent");
        }
        match self.random {
            Some(true) => {
                workload.pattern = Pattern::Random {
                    distribution: Distribution::Uniform,
                };
                give("pattern");
                give("distribution");
            }
            Some(false) => {
                workload.pattern = Pattern::Sequential {
                    cursor: CursorKind::Own,
                };
                give("pattern");
            }
            None => {}
        }
        if let Some(bytes) = self.block_bytes.filter(|bytes| *bytes > 0) {
            workload.block_size_bytes = bytes;
            give("block_size_bytes");
        }
        let count = |number: Option<u64>| {
            let number = number.filter(|number| (1..=COUNT_MAX).contains(number))?;
            u32::try_from(number).ok()
        };
        if let Some(threads) = count(self.threads) {
            workload.threads = threads;
            give("threads");
        }
        if let Some(outstanding) = count(self.outstanding) {
            workload.outstanding = outstanding;
            give("outstanding");
        }
        for (value, name) in [(self.asked_ns, "duration_ns"), (self.ramp_ns, "ramp_ns")] {
            let Some(ns) = value else { continue };
            match name {
                "duration_ns" => workload.duration_ns = ns,
                _ => workload.ramp_ns = ns,
            }
            give(name);
        }
        if let Some(bytes) = self.size_bytes.filter(|bytes| *bytes > 0) {
            workload.size_bytes = Some(bytes);
            give("size_bytes");
        }
        if let Some(cache) = self.cache {
            workload.cache = cache;
            give("cache");
        }
        workload
    }

    fn outcome(&self, absent: &mut Absent) -> JobOutcome {
        let mut outcome = JobOutcome {
            read: kind(&self.read, "read", absent),
            write: kind(&self.write, "write", absent),
            ..JobOutcome::default()
        };
        let mut give = |name: &str| {
            absent.give(&format!("jobs.outcome.{name}"));
        };
        let sum =
            |of: fn(&ForeignKind) -> Option<u64>| of(&self.read)?.checked_add(of(&self.write)?);
        if let Some(operations) = sum(|kind| kind.operations) {
            outcome.operations = operations;
            give("operations");
        }
        if let Some(bytes) = sum(|kind| kind.bytes) {
            outcome.bytes = bytes;
            give("bytes");
        }
        if let Some(ns) = self.measured_ns {
            outcome.duration_ns = ns;
            give("duration_ns");
        }
        if let Some(iops) = self.iops {
            outcome.iops = iops;
            give("iops");
        }
        if let Some(mib_per_s) = self.mib_per_s {
            outcome.mib_per_s = mib_per_s;
            give("mib_per_s");
        }
        if let Some(mean) = self.outstanding_mean {
            outcome.outstanding_mean = mean;
            give("outstanding_mean");
        }
        if let Some(total) = self.errors {
            outcome.errors = Errors {
                total,
                ..Errors::default()
            };
            give("errors");
        }
        outcome
    }
}

/// If there were none, that is known: they have no latency.
fn kind(result: &ForeignKind, name: &str, absent: &mut Absent) -> KindOutcome {
    let below = format!("jobs.outcome.{name}");
    let mut kind = KindOutcome::default();
    if let Some(operations) = result.operations {
        kind.operations = operations;
        absent.give(&format!("{below}.operations"));
    }
    if let Some(bytes) = result.bytes {
        kind.bytes = bytes;
        absent.give(&format!("{below}.bytes"));
    }
    let latencies = format!("{below}.latency_ns");
    if result.operations == Some(0) {
        absent.give(&latencies);
        return kind;
    }
    let mut summary = LatencySummary::default();
    let mut any = false;
    for (name, value) in [
        ("min", result.latency_min),
        ("mean", result.latency_mean),
        ("max", result.latency_max),
    ] {
        let Some(ns) = value else { continue };
        match name {
            "min" => summary.min = ns.round() as u64,
            "mean" => summary.mean = ns,
            _ => summary.max = ns.round() as u64,
        }
        absent.give(&format!("{latencies}.{name}"));
        any = true;
    }
    kind.latency_ns = any.then_some(summary);
    kind
}

/// Whether two numbers agree although one may be rounded: to `share` of the larger, plus `step`.
pub(crate) fn agrees(stated: f64, follows: f64, share: f64, step: f64) -> bool {
    (stated - follows).abs() <= follows.abs().max(stated.abs()) * share + step
}

/// The number in a cell: finite, and not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && (0.0..1e18).contains(&number)).then_some(number)
}
