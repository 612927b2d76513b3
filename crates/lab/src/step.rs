//! Converts a run of a series to a step of its ladder.

use crate::answer::{AnswerRun, JudgedRun, is_disturbed};
use crate::ladder::{Load, Step};
use stripewise_results::{JobRecord, LatencySummary, RunRecord, Status};
use stripewise_stats::{LadderStep, Slo};

/// The latencies that a job's limit applies to: see [`JobRecord::leading`].
pub fn latency_summary(job: &JobRecord) -> Option<&LatencySummary> {
    job.leading().latency_ns.as_ref()
}

/// The statistic that a limit applies to: see [`LatencySummary::limited`].
pub fn latency_of(job: &JobRecord, slo: Slo) -> Option<u64> {
    Some(latency_summary(job)?.limited(slo.percentile))
}

/// The load of a job.
#[must_use]
pub fn load_of(job: &JobRecord) -> Load {
    Load {
        threads: job.workload.threads,
        outstanding: job.workload.outstanding,
    }
}

/// A step as input for the ladder's rules.
pub fn step_of(job: &JobRecord, slo: Slo) -> Step {
    Step {
        load: load_of(job),
        iops: job.outcome.iops,
        latency_ns: latency_of(job, slo),
    }
}

/// A step as input for the statistics of the knee: the rate of each interval. The
/// last interval is left out if it is shorter than the others.
pub fn rates_of(job: &JobRecord) -> LadderStep {
    let intervals = &job.outcome.intervals;
    let full_ns = intervals.first().map_or(0, |first| first.duration_ns);
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.duration_ns == full_ns && full_ns > 0)
        .map(|interval| interval.operations() as f64 * 1e9 / interval.duration_ns as f64)
        .collect();
    LadderStep {
        load: u64::from(load_of(job).in_flight()),
        rates,
    }
}

/// Whether an answer may use it: it ran to completion and no warning voids it.
pub(crate) fn counts(run: &RunRecord) -> bool {
    let void = |job| !run.void_codes_of(job).is_empty();
    run.status == Status::Complete && !run.jobs.first().is_some_and(void)
}

/// A run with its histogram as input for the answer; `None` without a job.
pub(crate) fn answer_run(run: &RunRecord, slo: Slo) -> Option<AnswerRun<'_>> {
    Some(AnswerRun {
        judged: judged_run(run, slo)?,
        histogram: run.jobs.first()?.leading().histogram.as_ref(),
    })
}

/// A run as input for the answer; `None` without a job.
pub(crate) fn judged_run(run: &RunRecord, slo: Slo) -> Option<JudgedRun> {
    let job = run.jobs.first()?;
    Some(JudgedRun {
        step: step_of(job, slo),
        latency: latency_summary(job).copied(),
        counts: counts(run),
        disturbed: is_disturbed(run),
    })
}
