//! Runs one series: asks the ladder for the next step, has it run, and stops when the
//! ladder does, the time is spent, or the run was interrupted; then has the runs made that
//! the answer rests on.

use crate::answer::{
    Aim, AnswerPlan, BLOCK_RUNS, CROSSING_RUNS_MIN, Judged, Order, aim_of, where_to_move,
};
use crate::ladder::{Limits, Load, NextStep, Step, Stop, next_step};
use crate::series::SeriesKind;
use crate::step::{counts, judged_run, rates_of, step_of};
use stripewise_results::{RunRecord, Status};
use stripewise_stats::{LadderStep, bracketed};
use stripewise_workload::{Workload, derived_seed};

/// What a bench needs of whoever runs its steps.
pub trait StepRunner {
    /// Why a step could not be run.
    type Error;
    /// Runs one step and keeps its record; `answer_block` is that of a run made for the
    /// answer, and none of a step of the climb.
    ///
    /// # Errors
    /// When nothing could be measured.
    fn run_step(
        &mut self,
        kind: SeriesKind,
        workload: Workload,
        answer_block: Option<u32>,
    ) -> Result<RunRecord, Self::Error>;
    /// Time since the bench began; virtual for simulated targets.
    fn elapsed_ns(&self) -> u64;
    /// The runs that are still to come in this series, the next one included, for the ETA:
    /// of the climb at most, of the answer as a rule.
    fn expect(&mut self, kind: SeriesKind, runs_left: u32);
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
    /// Runs for the answer.
    pub answer: AnswerPlan,
    /// When it must have ended, on [`StepRunner::elapsed_ns`]; `None`: never.
    pub deadline_ns: Option<u64>,
    /// When the fewest runs that make an interval must have ended: a climb that took the
    /// series' whole time is not to leave it without one, as long as the bench has time.
    pub answer_deadline_ns: Option<u64>,
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
            Ended::Ladder(Stop::InFlightLimit) => "reached the maximum in flight",
            Ended::Ladder(Stop::NothingCompleted) => "no operation completed",
            Ended::SingleStep => "a single step",
            Ended::TimeSpent => "the time was up",
            Ended::Partial => "stopped before its end",
            Ended::Fragment => "only some of its steps are present",
        }
    }
}

/// Steps that a ladder takes at most.
#[must_use]
pub fn steps_max(kind: SeriesKind, limits: &Limits) -> u32 {
    if kind.climbs() {
        limits.in_flight_max.max(1).ilog2() + 1
    } else {
        1
    }
}

impl SeriesPlan {
    /// Runs for the answer, as a rule: around a crossing for random I/O, at one load
    /// otherwise.
    fn answer_runs(&self) -> u32 {
        match self.kind {
            SeriesKind::RandomRead | SeriesKind::RandomWrite => {
                self.answer.blocks.saturating_mul(BLOCK_RUNS)
            }
            // The step itself is not chosen among others, and counts.
            SeriesKind::Log => self.answer.level_runs.saturating_sub(1),
            SeriesKind::SequentialRead | SeriesKind::SequentialWrite => self.answer.level_runs,
        }
    }

    /// Runs of a ladder that goes to its end, with those for its answer.
    #[must_use]
    pub fn runs(&self) -> u32 {
        steps_max(self.kind, &self.limits).saturating_add(self.answer_runs())
    }
}

/// The time that a series takes if its ladder goes to its end. A crossing that has to be
/// looked for twice takes longer, where time is not limited.
#[must_use]
pub fn longest_ns(plan: &SeriesPlan) -> u64 {
    u64::from(plan.runs()).saturating_mul(plan.workload.length_ns())
}

/// Runs a series to its end. Records come back in the order in which they ran.
///
/// # Errors
/// The first error of the runner; what ran before is already kept by it.
pub fn measure_series<R: StepRunner>(
    plan: &SeriesPlan,
    runner: &mut R,
) -> Result<(Vec<RunRecord>, Ended), R::Error> {
    let (mut records, ended) = climb(plan, runner)?;
    if ended == Ended::Partial {
        return Ok((records, ended));
    }
    let whole = answer(plan, runner, &mut records)?;
    Ok((records, if whole { ended } else { Ended::Partial }))
}

/// The steps of the ladder.
fn climb<R: StepRunner>(
    plan: &SeriesPlan,
    runner: &mut R,
) -> Result<(Vec<RunRecord>, Ended), R::Error> {
    let mut records: Vec<RunRecord> = Vec::new();
    let mut climbed: Vec<Step> = Vec::new();
    let mut rates: Vec<LadderStep> = Vec::new();
    loop {
        let next = if plan.kind.climbs() {
            next_step(&climbed, bracketed(&rates), &plan.limits)
        } else if climbed.is_empty() {
            NextStep::Climb(Load {
                threads: 1,
                outstanding: 1,
            })
        } else {
            return Ok((records, Ended::SingleStep));
        };
        let load = match next {
            NextStep::Climb(load) => load,
            NextStep::Done(stop) => return Ok((records, Ended::Ladder(stop))),
        };
        // The first step always runs: a series without a number answers nothing.
        if !climbed.is_empty() && is_late(plan, runner) {
            return Ok((records, Ended::TimeSpent));
        }
        let done = u32::try_from(climbed.len()).unwrap_or(u32::MAX);
        runner.expect(plan.kind, plan.runs().saturating_sub(done));
        let record = runner.run_step(plan.kind, at_load(plan, load, 0), None)?;
        let partial = record.status != Status::Complete;
        if let Some(job) = record.jobs.first() {
            climbed.push(step_of(job, plan.limits.slo));
            rates.push(rates_of(job));
        }
        records.push(record);
        if partial {
            return Ok((records, Ended::Partial));
        }
    }
}

/// The next run would end after the time for the series.
fn is_late<R: StepRunner>(plan: &SeriesPlan, runner: &R) -> bool {
    is_later(plan, runner, plan.deadline_ns)
}

fn is_later<R: StepRunner>(plan: &SeriesPlan, runner: &R, deadline_ns: Option<u64>) -> bool {
    let run_ns = plan.workload.length_ns();
    let end_ns = runner.elapsed_ns().saturating_add(run_ns);
    deadline_ns.is_some_and(|deadline| end_ns > deadline)
}

/// The series' workload at a load; runs of an answer have seeds of their own, so that
/// none meets the positions of another.
fn at_load(plan: &SeriesPlan, load: Load, number: u64) -> Workload {
    Workload {
        threads: load.threads,
        outstanding: load.outstanding,
        seed: derived_seed(plan.workload.seed, number),
        ..plan.workload.clone()
    }
}

/// What the steps of a climb that count say about where to look. Void ones say nothing.
pub(crate) fn aim_of_records(
    kind: SeriesKind,
    limits_slo: stripewise_stats::Slo,
    records: &[&RunRecord],
) -> Option<Aim> {
    let climbed = records
        .iter()
        .filter(|run| run.answer_block.is_none() && counts(run));
    let jobs: Vec<_> = climbed.filter_map(|run| run.jobs.first()).collect();
    let mut steps: Vec<Step> = jobs.iter().map(|job| step_of(job, limits_slo)).collect();
    steps.sort_by_key(|step| step.load.in_flight());
    let rates: Vec<LadderStep> = jobs.iter().map(|job| rates_of(job)).collect();
    aim_of(kind, limits_slo, &steps, bracketed(&rates))
}

/// Has the runs made that the answer rests on. False where one of them was stopped.
fn answer<R: StepRunner>(
    plan: &SeriesPlan,
    runner: &mut R,
    records: &mut Vec<RunRecord>,
) -> Result<bool, R::Error> {
    let slo = plan.limits.slo;
    let all: Vec<&RunRecord> = records.iter().collect();
    let Some(aim) = aim_of_records(plan.kind, slo, &all) else {
        return Ok(true);
    };
    let mut runs = AnswerRuns {
        plan,
        runner,
        records,
        judged: Vec::new(),
        block: 0,
        end: None,
    };
    match aim {
        Aim::Level { load, .. } => {
            let count = match plan.kind.climbs() {
                true => plan.answer.level_runs,
                false => plan.answer.level_runs.saturating_sub(1),
            };
            for left in (1..=count).rev() {
                runs.block(&[load], left)?;
            }
        }
        Aim::Crossing { in_flight } => runs.around(in_flight)?,
    }
    Ok(runs.end != Some(End::Stopped))
}

/// Why no further run of an answer is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Stopped,
    TimeSpent,
}

/// The runs of an answer while they are made.
struct AnswerRuns<'a, R> {
    plan: &'a SeriesPlan,
    runner: &'a mut R,
    records: &'a mut Vec<RunRecord>,
    judged: Vec<Judged>,
    block: u32,
    end: Option<End>,
}

impl<R: StepRunner> AnswerRuns<'_, R> {
    /// Blocks around a crossing; where the fresh runs show it elsewhere, once more there,
    /// and all of them are kept. Runs that something disturbed are made again, once.
    fn around(&mut self, in_flight: f64) -> Result<(), R::Error> {
        let Limits {
            cores,
            in_flight_max,
            slo,
            ..
        } = self.plan.limits;
        let mut order = Order::new(self.plan.workload.seed, cores, in_flight_max);
        let mut centre = in_flight;
        for attempt in 0..2 {
            for block in 0..self.plan.answer.blocks {
                let left = (self.plan.answer.blocks - block).saturating_mul(BLOCK_RUNS);
                self.block(&order.block(centre), left)?;
            }
            match where_to_move(&self.judged, slo) {
                Some(load) if attempt == 0 => centre = load.clamp(centre / 4.0, centre * 4.0),
                _ => break,
            }
        }
        let again: Vec<Load> = self
            .judged
            .iter()
            .filter(|run| run.disturbed && run.counts)
            .map(|run| run.step.load)
            .take(BLOCK_RUNS as usize)
            .collect();
        let left = u32::try_from(again.len()).unwrap_or(0);
        self.block(&again, left)
    }

    /// The next run would end too late.
    fn is_late(&self) -> bool {
        let due = match self.judged.len() < CROSSING_RUNS_MIN {
            true => self.plan.answer_deadline_ns.max(self.plan.deadline_ns),
            false => self.plan.deadline_ns,
        };
        is_later(self.plan, self.runner, due)
    }

    /// A block; `left` runs are still to come, its own included.
    fn block(&mut self, loads: &[Load], left: u32) -> Result<(), R::Error> {
        for (&load, done) in loads.iter().zip(0..) {
            if self.end.is_none() && self.is_late() {
                self.end = Some(End::TimeSpent);
            }
            if self.end.is_some() {
                return Ok(());
            }
            let kind = self.plan.kind;
            self.runner.expect(kind, left.saturating_sub(done));
            let number = 1 + self.judged.len() as u64;
            let workload = at_load(self.plan, load, number);
            let record = self.runner.run_step(kind, workload, Some(self.block))?;
            self.judged
                .extend(judged_run(&record, self.plan.limits.slo));
            if record.status != Status::Complete {
                self.end = Some(End::Stopped);
            }
            self.records.push(record);
        }
        self.block += 1;
        Ok(())
    }
}
