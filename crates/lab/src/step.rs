//! Converts a run of a series to a step of its ladder.

use crate::answer::{AnswerRun, JudgedRun, is_disturbed};
use crate::ladder::{Load, Step};
use stripewise_results::{JobRecord, LatencySummary, RunRecord, Status};
use stripewise_stats::{LadderStep, LatencyStatistic, Slo};

/// The latencies that a job's limit applies to: see [`JobRecord::leading`].
pub fn latency_summary(job: &JobRecord) -> Option<&LatencySummary> {
    job.leading().latency_ns.as_ref()
}

/// The statistic that a limit applies to: see [`LatencySummary::limited`]. The maximum includes what
/// was in flight at the stop, as a stall at the end is one, too; of a mixed load, and of one with
/// explicit syncs, the record does not say of which kind that was.
pub fn latency_of(job: &JobRecord, slo: Slo) -> Option<u64> {
    let in_window = latency_summary(job)?.limited(slo.percentile);
    let (workload, at_stop) = (&job.workload, job.outcome.drain.latency_ns_max);
    let is_mixed = [workload.read_percent, workload.discard_percent]
        .into_iter()
        .any(|percent| !matches!(percent, 0 | 100));
    let is_of_one_kind = !is_mixed && workload.sync.is_none();
    Some(match slo.percentile {
        LatencyStatistic::Max if is_of_one_kind => in_window.max(at_stop),
        _ => in_window,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_workload::SyncPolicy;

    #[test]
    fn a_maximum_includes_what_was_in_flight_at_the_stop() {
        let mut job = JobRecord::default();
        job.workload.read_percent = 100;
        job.outcome.read.latency_ns = Some(LatencySummary {
            p99: 3_000_000,
            max: 4_000_000,
            ..LatencySummary::default()
        });
        job.outcome.drain.latency_ns_max = 900_000_000;
        let of = |job: &JobRecord, slo: &str| latency_of(job, slo.parse().expect("a limit"));
        assert_eq!(of(&job, "max<1s"), Some(900_000_000));
        assert_eq!(of(&job, "p99<1s"), Some(3_000_000));
        job.outcome.drain.latency_ns_max = 2_000_000;
        assert_eq!(of(&job, "max<1s"), Some(4_000_000));
        // It may have been a write.
        job.workload.read_percent = 70;
        job.outcome.drain.latency_ns_max = 900_000_000;
        assert_eq!(of(&job, "max<1s"), Some(4_000_000));
        // It may have been a sync, which takes longer than a write.
        job.workload.read_percent = 0;
        job.workload.sync = Some(SyncPolicy::fdatasync(1));
        job.outcome.write.latency_ns = job.outcome.read.latency_ns;
        assert_eq!(of(&job, "max<1s"), Some(4_000_000));
    }
}
