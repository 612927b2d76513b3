//! Runs one series: asks the ladder for the next step, has it run, and stops
//! when the ladder does, the time is spent, or the run was interrupted.

use crate::ladder::{Limits, Load, NextStep, Step, Stop, next_step};
use crate::series::SeriesKind;
use crate::summary::{rates_of, step_of};
use stripewise_results::{RunRecord, Status};
use stripewise_stats::{LadderStep, bracketed};
use stripewise_workload::Workload;

/// What a bench needs of whoever runs its steps.
pub trait StepRunner {
    /// Why a step could not be run.
    type Error;
    /// Runs one step and keeps its record.
    ///
    /// # Errors
    /// When nothing could be measured.
    fn run_step(&mut self, kind: SeriesKind, workload: Workload) -> Result<RunRecord, Self::Error>;
    /// Time since the bench began; virtual for simulated targets.
    fn elapsed_ns(&self) -> u64;
    /// The steps that may still come in this series, at most, for the ETA.
    fn expect(&mut self, kind: SeriesKind, steps_left_max: u32);
}

/// One series to run.
#[derive(Clone, Debug)]
pub struct SeriesPlan {
    /// Which.
    pub kind: SeriesKind,
    /// Its load with one thread and one outstanding.
    pub workload: Workload,
    /// Where the ladder stops.
    pub limits: Limits,
    /// When it must have ended, on [`StepRunner::elapsed_ns`]; `None`: never.
    pub deadline_ns: Option<u64>,
}

/// How a series ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The ladder said so.
    Ladder(Stop),
    /// A single step was all there is to do.
    SingleStep,
    /// The time for it was spent.
    TimeSpent,
    /// Interrupted, or operations failed.
    Partial,
    /// Only some steps are at hand, and the first of the ladder is not among them.
    Fragment,
}

impl Ended {
    /// In words, for records.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Ended::Ladder(Stop::KneeBracketed) => "throughput no longer rises with more in flight",
            Ended::Ladder(Stop::LatencyLimit) => "latency grew too long",
            Ended::Ladder(Stop::InFlightLimit) => "reached the most that may be in flight",
            Ended::Ladder(Stop::NothingCompleted) => "no operation completed",
            Ended::SingleStep => "a single step",
            Ended::TimeSpent => "the time was spent",
            Ended::Partial => "stopped before its end",
            Ended::Fragment => "only some of its steps are here",
        }
    }
}

/// Steps that a ladder takes at most.
#[must_use]
pub fn steps_max(kind: SeriesKind, limits: &Limits) -> u32 {
    if kind.climbs() {
        limits.in_flight_max.max(1).ilog2() + 1 + limits.bisections_max
    } else {
        1
    }
}

/// The time that a series takes if its ladder goes to its end.
#[must_use]
pub fn longest_ns(plan: &SeriesPlan) -> u64 {
    u64::from(steps_max(plan.kind, &plan.limits)).saturating_mul(plan.workload.length_ns())
}

/// Runs a series to its end. Records come back in the order in which they ran.
///
/// # Errors
/// The first error of the runner; what ran before is already kept by it.
pub fn climb<R: StepRunner>(
    plan: &SeriesPlan,
    runner: &mut R,
) -> Result<(Vec<RunRecord>, Ended), R::Error> {
    let mut records: Vec<RunRecord> = Vec::new();
    let mut climbed: Vec<Step> = Vec::new();
    let mut rates: Vec<LadderStep> = Vec::new();
    let mut bisected: Vec<Step> = Vec::new();
    let step_ns = plan.workload.length_ns();
    loop {
        let bracketed = plan.kind.climbs() && bracketed(&rates);
        let next = if plan.kind.climbs() {
            next_step(&climbed, &bisected, bracketed, &plan.limits)
        } else if climbed.is_empty() {
            NextStep::Climb(Load {
                threads: 1,
                outstanding: 1,
            })
        } else {
            return Ok((records, Ended::SingleStep));
        };
        let (load, bisecting) = match next {
            NextStep::Climb(load) => (load, false),
            NextStep::Bisect(load) => (load, true),
            NextStep::Done(stop) => return Ok((records, Ended::Ladder(stop))),
        };
        // The first step always runs: a series without a number answers nothing.
        let late = plan
            .deadline_ns
            .is_some_and(|deadline| runner.elapsed_ns().saturating_add(step_ns) > deadline);
        if late && !climbed.is_empty() {
            return Ok((records, Ended::TimeSpent));
        }
        let done = u32::try_from(climbed.len() + bisected.len()).unwrap_or(u32::MAX);
        runner.expect(
            plan.kind,
            steps_max(plan.kind, &plan.limits).saturating_sub(done),
        );
        let workload = Workload {
            threads: load.threads,
            outstanding: load.outstanding,
            ..plan.workload.clone()
        };
        let record = runner.run_step(plan.kind, workload)?;
        let partial = record.status != Status::Complete;
        if let Some(job) = record.jobs.first() {
            let step = step_of(job, plan.limits.slo);
            if bisecting {
                bisected.push(step);
            } else {
                climbed.push(step);
                rates.push(rates_of(job));
            }
        }
        records.push(record);
        if partial {
            return Ok((records, Ended::Partial));
        }
    }
}
