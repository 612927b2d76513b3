//! The stored runs as a list for pages and programs.

use super::{View, store};
use crate::steps::documents::verdicts_as_requested;
use crate::steps::measured::{self, Measurement};
use serde::Serialize;
use stripewise_conductor::failure::Outcome;
use stripewise_results::Status;
pub use stripewise_store::Filter as Query;
use stripewise_store::{RunSummary, Store};

/// A run of the list.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// How it ended.
    pub status: Status,
    /// The user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The series that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Its part in the series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_part: Option<String>,
    /// The machine that it ran on.
    pub host: String,
    /// The tool that made an imported result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Warnings of the run and of its jobs.
    pub warnings: u64,
    /// What became of `--require`, of a series as a whole: `met`, `missed` or `undecided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// Its jobs.
    pub jobs: Vec<EntryJob>,
}

/// A job of the list.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct EntryJob {
    /// Unique in its run.
    pub name: String,
    /// As the user named it.
    pub target: String,
    /// `random`, `sequential`, `stride`.
    pub pattern: String,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    /// Share of discards, 0 to 100.
    #[serde(skip_serializing_if = "is_zero")]
    pub discard_percent: u8,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// In flight per thread.
    pub outstanding: u32,
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// 99 % of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_latency_ns_p99: Option<u64>,
    /// 99 % of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency_ns_p99: Option<u64>,
    /// 99 % of discards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_latency_ns_p99: Option<u64>,
    /// Failed operations.
    pub errors: u64,
}

impl EntryJob {
    /// The p99 of each of its kinds of operations, with the kind's name.
    pub fn latencies_ns_p99(&self) -> [(&'static str, Option<u64>); 3] {
        [
            ("read", self.read_latency_ns_p99),
            ("write", self.write_latency_ns_p99),
            ("discard", self.discard_latency_ns_p99),
        ]
    }
}

impl Entry {
    /// Whether it is no longer in progress.
    pub fn is_finished(&self) -> bool {
        self.status != Status::Running
    }
}

/// Runs that match the query, most recently stored first.
pub fn history(view: &View, query: &Query) -> Outcome<Vec<Entry>> {
    entries(view, query, |store, runs| {
        verdicts_as_requested(store, runs)
    })
}

/// The same without verdicts, for which whole runs must be read.
pub fn last_runs(view: &View, query: &Query) -> Outcome<Vec<Entry>> {
    entries(view, query, |_, runs| vec![None; runs.len()])
}

fn entries(
    view: &View,
    query: &Query,
    verdicts: impl Fn(&Store, &[RunSummary]) -> Vec<Option<&'static str>>,
) -> Outcome<Vec<Entry>> {
    let Some(store) = store(view)? else {
        return Ok(Vec::new());
    };
    let listing = store.list_readable(query)?;
    let verdicts = verdicts(&store, &listing.runs);
    let runs = listing.runs.into_iter().zip(verdicts);
    Ok(runs.map(|(run, verdict)| entry(run, verdict)).collect())
}

/// Profiles, fills and verifications that match the query, newest first; they
/// have no runs.
pub fn measurements(view: &View, query: &Query) -> Outcome<Vec<Measurement>> {
    match store(view)? {
        // As of runs, those that can be read are shown.
        Some(store) => Ok(measured::measurements(&store, query)?.0),
        None => Ok(Vec::new()),
    }
}

pub(super) fn is_zero(percent: &u8) -> bool {
    *percent == 0
}

fn entry(run: RunSummary, verdict: Option<&'static str>) -> Entry {
    let jobs = run.jobs.into_iter().map(|job| EntryJob {
        name: job.name,
        target: job.target,
        pattern: job.pattern,
        read_percent: job.read_percent,
        discard_percent: job.discard_percent,
        block_size_bytes: job.block_size_bytes,
        threads: job.threads,
        outstanding: job.outstanding,
        iops: job.iops,
        mib_per_s: job.mib_per_s,
        read_latency_ns_p99: job.read_latency_ns_p99,
        write_latency_ns_p99: job.write_latency_ns_p99,
        discard_latency_ns_p99: job.discard_latency_ns_p99,
        errors: job.errors,
    });
    Entry {
        jobs: jobs.collect(),
        id: run.id,
        started_at: run.started_at,
        status: run.status,
        label: run.label,
        series: run.series,
        series_part: run.series_part,
        host: run.host,
        tool: run.tool,
        warnings: run.warnings,
        verdict,
    }
}
