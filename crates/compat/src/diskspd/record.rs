//! Converts both of DiskSpd's formats to a record: one job for each time span.

use crate::absent::{Absent, fill};
use crate::foreign_result;
use crate::imported_id::imported_id;
use serde_json::{Map, Value};
use stripewise_results::{Imported, JobOutcome, JobRecord, KindOutcome, RunRecord, TargetFacts};
use stripewise_workload::{
    Arrivals, CacheMode, CursorKind, Distribution, Pattern, Rate, ThinkTime, Workload,
};

/// Most threads, and most outstanding of each: their product fits 32 bits.
pub(super) const COUNT_MAX: u64 = 65_535;

/// Parameters of a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) size_bytes: Option<u64>,
    pub(super) read_percent: Option<u8>,
    pub(super) pattern: Option<Pattern>,
    pub(super) block_bytes: Option<u64>,
    pub(super) outstanding: Option<u32>,
    pub(super) threads: Option<u32>,
    pub(super) base_offset_bytes: Option<u64>,
    /// Only bytes before this one were used (`-f`).
    pub(super) end_bytes: Option<u64>,
    /// Several operations at the same position at once (`-p`).
    pub(super) is_parallel: bool,
    /// Random positions are not uniformly distributed (`-rd`).
    pub(super) is_uneven: bool,
    pub(super) cache: Option<CacheMode>,
    /// Milliseconds of pause after a number of operations (`-j`, `-i`); 0 without one.
    pub(super) think_ms: Option<u64>,
    pub(super) burst: Option<u64>,
    /// Rate limit of each of its threads (`-g`), if any.
    pub(super) limit: Option<Limit>,
    /// There is no line about write-through.
    pub(super) cache_by_default: bool,
}

/// Rate limit of a target's threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// Operations per second.
    Iops(u64),
    /// Bytes per millisecond.
    BytesPerMs(u64),
}

impl Target {
    /// Bytes used from its base offset, where an end is given.
    fn used_bytes(&self) -> Option<u64> {
        let end = self.end_bytes.filter(|end| *end > 0)?;
        end.checked_sub(self.base_offset_bytes?)
            .filter(|bytes| *bytes > 0)
    }
}

/// Reads, writes, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// Milliseconds of the available percentiles, by name.
    pub(super) latency_ms: [Option<f64>; 8],
}

/// Names of [`Counted::latency_ms`].
pub(super) const LATENCIES: [&str; 8] = ["min", "mean", "p50", "p90", "p95", "p99", "p999", "max"];

/// One time span.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeSpan {
    pub(super) targets: Vec<Target>,
    /// Threads over all targets (`-F`), if given.
    pub(super) threads_in_all: Option<u32>,
    /// In flight for each of those threads, over all targets (`-O`).
    pub(super) requests_of_thread: Option<u32>,
    pub(super) asked_ns: Option<u64>,
    pub(super) ramp_ns: Option<u64>,
    pub(super) seed: Option<u64>,
    /// The parameters announce latencies.
    pub(super) measures_latency: bool,
    pub(super) measured_ns: Option<u64>,
    pub(super) read: Counted,
    pub(super) write: Counted,
    /// As printed, if printed; otherwise from counts and time.
    pub(super) iops: Option<f64>,
    pub(super) mib_per_s: Option<f64>,
}

/// Properties of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) source: String,
    pub(super) line: u64,
    pub(super) content: u64,
    pub(super) command: Vec<String>,
    pub(super) host: Option<String>,
    pub(super) version: Option<String>,
    pub(super) started_at: Option<String>,
}

/// The record of a time span; `number` from 0.
pub(super) fn record(frame: &Frame, span: &TimeSpan, number: u64) -> RunRecord {
    let mut absent = Absent::everything();
    let job = job(span, &mut absent);
    let mut record = RunRecord {
        id: imported_id("diskspd", frame.content, number),
        command: frame.command.clone(),
        jobs: vec![job],
        ..RunRecord::empty()
    };
    // Later time spans began later, at an unknown time.
    if let Some(started_at) = frame.started_at.as_ref().filter(|_| number == 0) {
        started_at.clone_into(&mut record.started_at);
        absent.give("started_at");
    }
    let mut details = Map::new();
    let is_limited = span.targets.iter().any(|target| target.limit.is_some());
    if is_limited {
        let of_rate = "its threads are held to a rate (-g): operations wait for each other, as those of an open loop do not";
        details.insert("throughput".to_owned(), Value::from(of_rate));
    }
    if let Some(host) = &frame.host {
        details.insert("computer_name".to_owned(), Value::from(host.as_str()));
    }
    record.imported = Some(Imported {
        tool: "diskspd".to_owned(),
        tool_version: frame.version.clone(),
        source: frame.source.clone(),
        line: Some(frame.line),
        details: (!details.is_empty()).then_some(Value::Object(details)),
        absent: absent.into_set(),
        ..Imported::default()
    });
    record
}

fn job(span: &TimeSpan, absent: &mut Absent) -> JobRecord {
    let mut targets: Vec<TargetFacts> = span
        .targets
        .iter()
        .map(|target| TargetFacts {
            name: target.path.clone(),
            size_bytes: target.size_bytes.unwrap_or(0),
            ..TargetFacts::unknown()
        })
        .collect();
    let first = if targets.is_empty() {
        TargetFacts::unknown()
    } else {
        absent.give("jobs.target.name");
        targets.remove(0)
    };
    if first.size_bytes > 0 {
        absent.give("jobs.target.size_bytes");
    }
    JobRecord {
        name: "diskspd".to_owned(),
        target: first,
        further_targets: targets,
        workload: workload(span, absent),
        outcome: outcome(span, absent),
        ..JobRecord::default()
    }
}

/// The value common to all targets; `None` if they differ.
fn common<T: PartialEq + Copy>(targets: &[Target], of: impl Fn(&Target) -> Option<T>) -> Option<T> {
    let first = of(targets.first()?)?;
    targets
        .iter()
        .all(|target| of(target) == Some(first))
        .then_some(first)
}

/// In flight for each thread and target. The total of a thread pool over several targets does not
/// determine it.
fn outstanding(span: &TimeSpan) -> Option<u32> {
    match span
        .requests_of_thread
        .filter(|_| span.threads_in_all.is_some())
    {
        Some(requests) => (span.targets.len() == 1).then_some(requests),
        None => common(&span.targets, |target| target.outstanding),
    }
}

fn workload(span: &TimeSpan, absent: &mut Absent) -> Workload {
    let mut workload = Workload::default();
    let targets = &span.targets;
    // With -F, threads work on all targets; otherwise each target has its own.
    let threads = span
        .threads_in_all
        .or(common(targets, |target| target.threads));
    let percent = common(targets, |target| target.read_percent);
    let pattern = common(targets, |target| target.pattern);
    let block_bytes = common(targets, |target| target.block_bytes);
    let base_offset_bytes = common(targets, |target| target.base_offset_bytes);
    let used_bytes = common(targets, Target::used_bytes);
    let cache = common(targets, |target| target.cache);
    fill!(absent, workload.duration_ns, span.asked_ns);
    fill!(absent, workload.ramp_ns, span.ramp_ns);
    fill!(absent, workload.read_percent, percent);
    fill!(absent, workload.pattern, pattern);
    match pattern {
        Some(Pattern::Random { .. }) if targets.iter().any(|target| target.is_uneven) => {}
        Some(Pattern::Random { .. }) => {
            absent.give("jobs.workload.distribution");
        }
        Some(Pattern::Sequential { .. }) => {
            absent.give("jobs.workload.cursor");
        }
        Some(Pattern::Stride { .. }) => {
            absent.give_all("jobs.workload", &["cursor", "stride_bytes"]);
        }
        None => {}
    }
    fill!(absent, workload.block_size_bytes, block_bytes);
    fill!(absent, workload.outstanding, outstanding(span));
    fill!(absent, workload.threads, threads);
    fill!(absent, workload.think_time, common(targets, think_of));
    fill!(absent, workload.rate, rate(span));
    fill!(absent, workload.base_offset_bytes, base_offset_bytes);
    fill!(absent, workload.size_bytes, used_bytes.map(Some));
    fill!(absent, workload.cache, cache);
    fill!(absent, workload.seed, span.seed);
    workload
}

/// Inner `None`: it does not pause. Outer `None`: unknown, or not expressible as think time: with
/// several operations in flight DiskSpd counts completed ones.
fn think_of(target: &Target) -> Option<Option<ThinkTime>> {
    match (target.think_ms?, target.burst?) {
        (0, _) | (_, 0) => Some(None),
        (ms, burst) if target.outstanding == Some(1) => Some(Some(ThinkTime {
            pause_ns: ms.checked_mul(1_000_000)?,
            every: u32::try_from(burst).ok()?,
        })),
        _ => None,
    }
}

/// Rate limit over all targets; `None` if unknown.
fn rate(span: &TimeSpan) -> Option<Option<Rate>> {
    if span.targets.is_empty() {
        return None;
    }
    if span.targets.iter().all(|target| target.limit.is_none()) {
        return Some(None);
    }
    let of_target = |target: &Target| {
        let of_thread = match target.limit? {
            Limit::Iops(iops) => iops as f64,
            Limit::BytesPerMs(bytes) => bytes as f64 * 1e3 / target.block_bytes? as f64,
        };
        let threads = span.threads_in_all.or(target.threads)?;
        Some(of_thread * f64::from(threads))
    };
    let iops = span.targets.iter().map(of_target).sum::<Option<f64>>()?;
    let arrivals = Arrivals::Fixed;
    Some((iops > 0.0).then_some(Rate { iops, arrivals }))
}

fn outcome(span: &TimeSpan, absent: &mut Absent) -> JobOutcome {
    let mut outcome = JobOutcome {
        operations: span.read.operations.saturating_add(span.write.operations),
        bytes: span.read.bytes.saturating_add(span.write.bytes),
        read: kind(&span.read, "read", absent),
        write: kind(&span.write, "write", absent),
        ..JobOutcome::default()
    };
    absent.give_all("jobs.outcome", &["operations", "bytes"]);
    let seconds = span
        .measured_ns
        .map(|ns| ns as f64 / 1e9)
        .filter(|seconds| *seconds > 0.0);
    let per_second = |count: u64| seconds.map(|seconds| count as f64 / seconds);
    let iops = span.iops.or(per_second(outcome.operations));
    let mib = per_second(outcome.bytes).map(|bytes| bytes / 1_048_576.0);
    fill!(absent, outcome.duration_ns, span.measured_ns);
    fill!(absent, outcome.iops, iops);
    fill!(absent, outcome.mib_per_s, span.mib_per_s.or(mib));
    outcome
}

fn kind(counted: &Counted, name: &str, absent: &mut Absent) -> KindOutcome {
    let latencies_ns = counted.latency_ms.map(|ms| ms.map(|ms| ms * 1e6));
    let latencies_ns = LATENCIES.into_iter().zip(latencies_ns);
    let counts = (Some(counted.operations), Some(counted.bytes));
    foreign_result::kind(name, counts, latencies_ns, absent)
}

/// Positions of operations.
pub(super) fn random() -> Pattern {
    Pattern::Random {
        distribution: Distribution::Uniform,
    }
}

/// Consecutive blocks with a position for each thread, or one for all; with another distance
/// between starts, strides.
pub(super) fn steps(step_bytes: Option<u64>, block_bytes: Option<u64>, shared: bool) -> Pattern {
    let cursor = if shared {
        CursorKind::Shared
    } else {
        CursorKind::Own
    };
    match step_bytes {
        Some(stride_bytes) if block_bytes.is_some_and(|block| block != stride_bytes) => {
            Pattern::Stride {
                stride_bytes,
                cursor,
            }
        }
        _ => Pattern::Sequential { cursor },
    }
}

/// Printed seconds in nanoseconds; `None` below 0 or beyond a year.
pub(super) fn seconds_ns(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=31_622_400.0)
        .contains(&seconds)
        .then(|| (seconds * 1e9).round() as u64)
}

/// Milliseconds as printed.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let ms: f64 = text.trim().parse().ok()?;
    (0.0..=1e12).contains(&ms).then_some(ms)
}
