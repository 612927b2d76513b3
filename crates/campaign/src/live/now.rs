//! The run in progress, as far as it is stored: intervals are stored while it runs, whichever
//! process started it.

use super::{Cursor, View, store};
use serde::Serialize;
use stripewise_conductor::failure::Outcome;
use stripewise_machine::System;
use stripewise_machine::observe::Snapshot;
use stripewise_results::{RunRecord, SCHEMA_VERSION};
use stripewise_stats::Histogram;
use stripewise_store::{Filter, RunSummary, Store, StoredInterval, UnfinishedRun};

/// Maximum number of intervals of a job per response: ten minutes at a second each.
const INTERVALS_MAX: u32 = 600;
/// Maximum number of concurrent runs shown.
const RUNS_MAX: usize = 8;
/// Maximum number of finished runs whose warnings are read per response.
const WARNED_MAX: usize = 8;
/// Minimum number of operations for a p99.9, as in records.
const P999_FROM: u64 = 10_000;

/// What runs now.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Now {
    /// Of the records.
    pub schema_version: u32,
    /// RFC 3339, UTC.
    pub at: String,
    /// This machine.
    pub host: HostNow,
    /// Runs that go on, what was begun last first.
    pub runs: Vec<RunNow>,
    /// What was seen with this answer: for the next question.
    pub cursor: String,
}

/// Counters of this machine; two answers give a load.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct HostNow {
    /// Its name.
    pub name: String,
    /// Time that its processors worked, all together.
    pub cpu_busy_ns: u64,
    /// Time that they did not.
    pub cpu_idle_ns: u64,
}

/// A run that goes on.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunNow {
    /// Its id.
    pub id: String,
    /// Between two runs of a series: this is the last one.
    pub is_between: bool,
    /// Whether the process that writes it is there; absent where that cannot be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_alive: Option<bool>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The series that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Its part in the series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_part: Option<String>,
    /// The machine that it runs on.
    pub host: String,
    /// The latency limit of its series, as typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<String>,
    /// Time that was asked for, without warm-up.
    pub duration_ns: u64,
    /// Measured so far.
    pub measured_ns: u64,
    /// Time until measuring ends, at most, of this run alone.
    pub left_ns: u64,
    /// Time until all that it belongs to ends, at most: a bench, an experiment. Of one on
    /// layouts an estimate, by the passes that it will probably need and what they took so
    /// far. Absent where it stands alone, and where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_of_all_ns: Option<u64>,
    /// Its jobs.
    pub jobs: Vec<JobNow>,
    /// The run of its series that ended last, with what was not seen of it yet: a short run
    /// reaches the store when it ends. Absent where all was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<RunBefore>,
    /// Its series so far, a part for each ladder.
    pub parts: Vec<PartNow>,
    /// Warnings of finished runs of its series that were not seen yet.
    pub warnings: Vec<WarningNow>,
}

/// The end of a run that is over.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunBefore {
    /// Its id.
    pub run: String,
    /// Its jobs.
    pub jobs: Vec<JobNow>,
}

/// A job that goes on.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct JobNow {
    /// Unique in its run.
    pub name: String,
    /// As the user named it.
    pub target: String,
    /// `random`, `sequential`, `stride`.
    pub pattern: String,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    /// Share of discards, 0 to 100.
    #[serde(skip_serializing_if = "super::history::is_zero")]
    pub discard_percent: u8,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// In flight per thread.
    pub outstanding: u32,
    /// Intervals that were not seen yet, in order.
    pub intervals: Vec<IntervalNow>,
}

/// An interval of a job.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct IntervalNow {
    /// From 0, without gaps.
    pub index: u64,
    /// Since the start of measuring.
    pub start_ns: u64,
    /// Its length.
    pub duration_ns: u64,
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// Operations in flight on average: rate times mean latency.
    pub outstanding_mean: f64,
    /// Operations that failed.
    pub errors: u64,
    /// Of reads, where there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<KindNow>,
    /// Of writes, where there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<KindNow>,
    /// Of discards, where there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard: Option<KindNow>,
}

impl IntervalNow {
    /// Each kind of operations, with its name.
    pub fn kinds(&self) -> [(&'static str, Option<&KindNow>); 3] {
        [
            ("read", self.read.as_ref()),
            ("write", self.write.as_ref()),
            ("discard", self.discard.as_ref()),
        ]
    }
}

/// Latencies of one kind in an interval.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct KindNow {
    /// Operations.
    pub operations: u64,
    /// Half of them.
    pub latency_ns_p50: u64,
    /// 99 % of them.
    pub latency_ns_p99: u64,
    /// 99.9 % of them; absent below 10,000 operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns_p999: Option<u64>,
    /// The slowest.
    pub latency_ns_max: u64,
}

/// A part of a series: a ladder.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PartNow {
    /// `random-read`.
    pub name: String,
    /// Its runs so far, in the order in which they ran.
    pub steps: Vec<StepNow>,
}

/// A finished step.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepNow {
    /// Id of its run.
    pub run: String,
    /// Threads times outstanding.
    pub in_flight: u32,
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// p99 of reads; where there were none of writes, else of discards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<u64>,
}

/// A warning of a finished run.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct WarningNow {
    /// Id of the run.
    pub run: String,
    /// Stable code.
    pub code: String,
    /// What it is.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}

/// The run in progress, and what happened since `seen`.
pub fn now(view: &View, seen: &Cursor) -> Outcome<Now> {
    let mut cursor = Cursor::default();
    cursor.warn(seen.warned());
    let mut runs = Vec::new();
    if let Some(store) = store(view)? {
        for (unfinished_runs, is_between) in going_on(&store)? {
            if let Some(run) = run_now(&store, unfinished_runs, is_between, seen, &mut cursor)? {
                runs.push(run);
            }
        }
    }
    let snapshot = Snapshot::take(&System::live(), &[], &[]);
    Ok(Now {
        schema_version: SCHEMA_VERSION,
        at: view.clock.timestamp(),
        host: HostNow {
            name: view.host.clone(),
            cpu_busy_ns: snapshot.cpu.busy_ns,
            cpu_idle_ns: snapshot.cpu.idle_ns,
        },
        runs,
        cursor: cursor.to_string(),
    })
}

/// Runs in progress whose process is not known to be gone; else the newest run, if its
/// series is still in progress.
fn going_on(store: &Store) -> Outcome<Vec<(UnfinishedRun, bool)>> {
    let mut all = store.unfinished_runs()?;
    all.retain(|one| one.is_alive != Some(false));
    all.truncate(RUNS_MAX);
    if !all.is_empty() {
        return Ok(all.into_iter().map(|one| (one, false)).collect());
    }
    let filter = Filter {
        limit: Some(1),
        ..Filter::default()
    };
    let newest = store.list_readable(&filter)?.runs.pop();
    let Some(run) = newest.filter(|run| run.series.is_some() && run.tool.is_none()) else {
        return Ok(Vec::new());
    };
    // Another process may have deleted it since.
    match store.is_alive(&run.id) {
        Ok(Some(true)) => {
            let is_alive = Some(true);
            Ok(vec![(UnfinishedRun { run, is_alive }, true)])
        }
        _ => Ok(Vec::new()),
    }
}

fn run_now(
    store: &Store,
    unfinished_runs: UnfinishedRun,
    is_between: bool,
    seen: &Cursor,
    cursor: &mut Cursor,
) -> Outcome<Option<RunNow>> {
    let UnfinishedRun { run, is_alive } = unfinished_runs;
    // Deleted or damaged: show the others anyway.
    let Ok(record) = store.load(&run.id) else {
        return Ok(None);
    };
    let (jobs, measured_ns) = jobs_now(store, &run, seen, cursor)?;
    let workloads = record.jobs.iter().map(|job| &job.workload);
    let requested = workloads
        .map(|workload| (workload.duration_ns, workload.ramp_ns))
        .max();
    let (duration_ns, ramp_ns) = requested.unwrap_or((0, 0));
    let whole = match measured_ns {
        0 => duration_ns.saturating_add(ramp_ns),
        _ => duration_ns,
    };
    let left_ns = match is_between {
        true => 0,
        false => whole.saturating_sub(measured_ns),
    };
    let after_ns = match run.series {
        Some(_) => store.left_after_ns(&run.id)?,
        None => None,
    };
    let of_series = siblings(store, &run)?;
    let before = match of_series.last().filter(|before| before.id != run.id) {
        Some(before) => before_now(store, before, seen, cursor)?,
        None => None,
    };
    let warnings = warnings(store, &of_series, seen, cursor);
    Ok(Some(RunNow {
        is_between,
        is_alive,
        latency_limit: record.latency_limit.clone(),
        duration_ns,
        measured_ns,
        left_ns,
        left_of_all_ns: after_ns.map(|after_ns| left_ns.saturating_add(after_ns)),
        jobs,
        before,
        parts: parts(&of_series),
        warnings,
        id: run.id,
        started_at: run.started_at,
        label: run.label,
        series: run.series,
        series_part: run.series_part,
        host: run.host,
    }))
}

/// The jobs of a run with their new intervals, and the end of the measured window.
fn jobs_now(
    store: &Store,
    run: &RunSummary,
    seen: &Cursor,
    cursor: &mut Cursor,
) -> Outcome<(Vec<JobNow>, u64)> {
    let mut jobs = Vec::with_capacity(run.jobs.len());
    let mut measured_ns = 0;
    for (index, job) in run.jobs.iter().enumerate() {
        let first = seen.next(&run.id, index);
        let new = store.intervals_from(&run.id, index, first, INTERVALS_MAX)?;
        let next = new.last().map_or(first, |(index, _)| index + 1);
        cursor.see(&run.id, index, next);
        let end = end_of(store, &run.id, index, next, new.last())?;
        measured_ns = measured_ns.max(end);
        jobs.push(JobNow {
            name: job.name.clone(),
            target: job.target.clone(),
            pattern: job.pattern.clone(),
            read_percent: job.read_percent,
            discard_percent: job.discard_percent,
            block_size_bytes: job.block_size_bytes,
            threads: job.threads,
            outstanding: job.outstanding,
            intervals: new.iter().map(interval_now).collect(),
        });
    }
    Ok((jobs, measured_ns))
}

/// The new intervals of a finished run.
fn before_now(
    store: &Store,
    run: &RunSummary,
    seen: &Cursor,
    cursor: &mut Cursor,
) -> Outcome<Option<RunBefore>> {
    let (jobs, _) = jobs_now(store, run, seen, cursor)?;
    let is_new = jobs.iter().any(|job| !job.intervals.is_empty());
    Ok(is_new.then(|| RunBefore {
        run: run.id.clone(),
        jobs,
    }))
}

/// End of a job's measured window.
fn end_of(
    store: &Store,
    run: &str,
    job: usize,
    next: u64,
    last: Option<&(u64, StoredInterval)>,
) -> Outcome<u64> {
    let end = |stored: &StoredInterval| {
        let interval = &stored.interval;
        interval.start_ns.saturating_add(interval.duration_ns)
    };
    if let Some((_, stored)) = last {
        return Ok(end(stored));
    }
    let Some(before) = next.checked_sub(1) else {
        return Ok(0);
    };
    let known = store.intervals_from(run, job, before, 1)?;
    Ok(known.last().map_or(0, |(_, stored)| end(stored)))
}

fn interval_now((index, stored): &(u64, StoredInterval)) -> IntervalNow {
    let interval = &stored.interval;
    let seconds = interval.duration_ns.max(1) as f64 / 1e9;
    let iops = interval.operations() as f64 / seconds;
    IntervalNow {
        index: *index,
        start_ns: interval.start_ns,
        duration_ns: interval.duration_ns,
        iops,
        mib_per_s: interval.bytes as f64 / seconds / 1_048_576.0,
        outstanding_mean: iops * interval.latency_ns_mean / 1e9,
        errors: interval.errors,
        read: kind_now(stored.histograms.read.as_ref()),
        write: kind_now(stored.histograms.write.as_ref()),
        discard: kind_now(stored.histograms.discard.as_ref()),
    }
}

fn kind_now(histogram: Option<&Histogram>) -> Option<KindNow> {
    let latencies = histogram?;
    Some(KindNow {
        operations: latencies.count(),
        latency_ns_p50: latencies.percentile(50.0)?,
        latency_ns_p99: latencies.percentile(99.0)?,
        latency_ns_p999: latencies
            .percentile(99.9)
            .filter(|_| latencies.count() >= P999_FROM),
        latency_ns_max: latencies.max()?,
    })
}

/// Finished runs of the same series, in chronological order.
fn siblings(store: &Store, run: &RunSummary) -> Outcome<Vec<RunSummary>> {
    let Some(series) = &run.series else {
        return Ok(Vec::new());
    };
    let filter = Filter::of_series(series);
    let mut runs = store.list_readable(&filter)?.runs;
    runs.retain(|run| run.status != stripewise_results::Status::Running);
    runs.reverse();
    Ok(runs)
}

fn parts(runs: &[RunSummary]) -> Vec<PartNow> {
    let mut parts: Vec<PartNow> = Vec::new();
    for run in runs {
        let (Some(name), [job]) = (&run.series_part, &run.jobs[..]) else {
            continue;
        };
        let step = StepNow {
            run: run.id.clone(),
            in_flight: job.threads.saturating_mul(job.outstanding),
            iops: job.iops,
            mib_per_s: job.mib_per_s,
            latency_ns_p99: (job.read_latency_ns_p99)
                .or(job.write_latency_ns_p99)
                .or(job.discard_latency_ns_p99),
        };
        match parts.iter_mut().find(|part| part.name == *name) {
            Some(part) => part.steps.push(step),
            None => parts.push(PartNow {
                name: name.clone(),
                steps: vec![step],
            }),
        }
    }
    parts
}

/// Warnings of runs that ended since; each run is read once.
fn warnings(
    store: &Store,
    runs: &[RunSummary],
    seen: &Cursor,
    cursor: &mut Cursor,
) -> Vec<WarningNow> {
    let new = runs.iter().filter(|run| run.id.as_str() > seen.warned());
    let mut warnings = Vec::new();
    let mut read = 0;
    for run in new {
        if run.warnings > 0 {
            // The others follow with the next response.
            if read == WARNED_MAX {
                break;
            }
            read += 1;
            if let Ok(record) = store.load(&run.id) {
                warnings.extend(warnings_of(&record));
            }
        }
        cursor.warn(&run.id);
    }
    warnings
}

fn warnings_of(record: &RunRecord) -> Vec<WarningNow> {
    let of_jobs = record.jobs.iter().flat_map(|job| &job.warnings);
    let all = record.warnings.iter().chain(of_jobs);
    let each = all.map(|warning| WarningNow {
        run: record.id.clone(),
        code: warning.code.clone(),
        text: warning.message.clone(),
        hint: warning.hint.to_string(),
    });
    each.collect()
}
