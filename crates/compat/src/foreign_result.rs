//! A tool's result to be converted to a record: what is `None` here is absent there.

use crate::absent::{Absent, fill};
use crate::imported_id::imported_id;
use serde_json::{Map, Value};
use stripewise_results::{
    Errors, Imported, JobOutcome, JobRecord, KindOutcome, LatencySummary, RunRecord, TargetFacts,
};
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern, Workload};

/// Most threads, and most outstanding of each: their product fits 32 bits.
const COUNT_MAX: u64 = 65_535;

/// Reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ForeignKind {
    pub(crate) operations: Option<u64>,
    pub(crate) bytes: Option<u64>,
    /// As stated, where the counts or the time are not.
    pub(crate) iops: Option<f64>,
    pub(crate) mib_per_s: Option<f64>,
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
            workload: self.workload(&mut absent),
            outcome: self.outcome(&mut absent),
            ..JobRecord::default()
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
        let count = |number: Option<u64>| {
            let number = number.filter(|number| (1..=COUNT_MAX).contains(number))?;
            u32::try_from(number).ok()
        };
        let some_bytes = |bytes: Option<u64>| bytes.filter(|bytes| *bytes > 0);
        let (block_bytes, size_bytes) = (some_bytes(self.block_bytes), some_bytes(self.size_bytes));
        let percent = self.read_percent.filter(|percent| *percent <= 100);
        let pattern = self.random.map(|random| match random {
            true => Pattern::Random {
                distribution: Distribution::Uniform,
            },
            false => Pattern::Sequential {
                cursor: CursorKind::Own,
            },
        });
        fill!(absent, workload.read_percent, percent);
        fill!(absent, workload.pattern, pattern);
        if self.random == Some(true) {
            absent.give("jobs.workload.distribution");
        }
        fill!(absent, workload.block_size_bytes, block_bytes);
        fill!(absent, workload.threads, count(self.threads));
        fill!(absent, workload.outstanding, count(self.outstanding));
        fill!(absent, workload.duration_ns, self.asked_ns);
        fill!(absent, workload.ramp_ns, self.ramp_ns);
        fill!(absent, workload.size_bytes, size_bytes.map(Some));
        fill!(absent, workload.cache, self.cache);
        workload
    }

    fn outcome(&self, absent: &mut Absent) -> JobOutcome {
        let mut outcome = JobOutcome {
            read: self.read.outcome("read", absent),
            write: self.write.outcome("write", absent),
            ..JobOutcome::default()
        };
        let sum =
            |of: fn(&ForeignKind) -> Option<u64>| of(&self.read)?.checked_add(of(&self.write)?);
        let errors = self.errors.map(|total| Errors {
            total,
            ..Errors::default()
        });
        fill!(absent, outcome.operations, sum(|kind| kind.operations));
        fill!(absent, outcome.bytes, sum(|kind| kind.bytes));
        fill!(absent, outcome.duration_ns, self.measured_ns);
        fill!(absent, outcome.iops, self.iops);
        fill!(absent, outcome.mib_per_s, self.mib_per_s);
        fill!(absent, outcome.outstanding_mean, self.outstanding_mean);
        fill!(absent, outcome.errors, errors);
        outcome
    }
}

impl ForeignKind {
    fn outcome(&self, name: &str, absent: &mut Absent) -> KindOutcome {
        let latencies_ns = [
            ("min", self.latency_min),
            ("mean", self.latency_mean),
            ("max", self.latency_max),
        ];
        KindOutcome {
            iops: self.iops,
            mib_per_s: self.mib_per_s,
            ..kind(name, (self.operations, self.bytes), latencies_ns, absent)
        }
    }
}

/// The results of reads or writes, with the latencies that are known by name, in nanoseconds. If
/// there were no operations, that is known: they have no latency.
pub(crate) fn kind<'a>(
    name: &str,
    (operations, bytes): (Option<u64>, Option<u64>),
    latencies_ns: impl IntoIterator<Item = (&'a str, Option<f64>)>,
    absent: &mut Absent,
) -> KindOutcome {
    let below = format!("jobs.outcome.{name}");
    let mut kind = KindOutcome::default();
    if let Some(operations) = operations {
        kind.operations = operations;
        absent.give_in(&below, "operations");
    }
    if let Some(bytes) = bytes {
        kind.bytes = bytes;
        absent.give_in(&below, "bytes");
    }
    let latencies = format!("{below}.latency_ns");
    if operations == Some(0) {
        absent.give(&latencies);
        return kind;
    }
    for (name, value) in latencies_ns {
        let Some(ns) = value else { continue };
        put_latency(kind.latency_ns.get_or_insert_default(), name, ns);
        absent.give_in(&latencies, name);
    }
    kind
}

/// Sets the latency with this name in records, in nanoseconds.
pub(crate) fn put_latency(summary: &mut LatencySummary, name: &str, ns: f64) {
    let whole = ns.round() as u64;
    match name {
        "min" => summary.min = whole,
        "mean" => summary.mean = ns,
        "p50" => summary.p50 = whole,
        "p90" => summary.p90 = whole,
        "p95" => summary.p95 = Some(whole),
        "p99" => summary.p99 = whole,
        "p999" => summary.p999 = Some(whole),
        _ => summary.max = whole,
    }
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
