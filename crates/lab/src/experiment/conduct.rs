//! Conducts an experiment: block after block until its intervals are narrow enough
//! or its time is spent.

use super::blocks::{Block, block_run};
use super::needs::blocks_likely;
use super::plan::ExperimentPlan;
use super::rows::rows_of;
use super::schedule::{PlannedRun, schedule};
use serde::{Deserialize, Serialize};
use stripewise_results::{RunRecord, Status};

/// Makes the runs of an experiment.
pub trait ExperimentRunner {
    /// Why a run could not be made.
    type Error;

    /// Makes one run and stores its record, whose `experiment` is `run.place`.
    ///
    /// # Errors
    /// If nothing could be measured.
    fn run_cell(&mut self, run: &PlannedRun) -> Result<RunRecord, Self::Error>;

    /// Time that the experiment has taken so far, in all sessions;
    /// virtual on simulated targets.
    fn elapsed_ns(&self) -> u64;

    /// A block is finished: shows it, and returns whether to go on.
    fn after_block(&mut self, progress: &Progress<'_>) -> Result<Continuation, Self::Error>;
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// Continue with the next block, unless the experiment has ended.
    On,
    /// Stop for now at the user's request. The experiment can be resumed.
    Stop,
}

/// Progress of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Finished so far, in all sessions.
    pub blocks: &'a [Block],
    /// Expected total number of blocks; at most what time allows.
    pub blocks_likely: u32,
    /// Width of the widest interval, in percentage points; `None` until every row
    /// has an interval.
    pub width_percent_max: Option<f64>,
    /// As [`ExperimentRunner::elapsed_ns`].
    pub elapsed_ns: u64,
    /// Estimated time remaining.
    pub left_ns: u64,
}

/// Why an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every interval is narrower than the precision asked for.
    Precise,
    /// The time for it was spent.
    TimeSpent,
    /// It has as many blocks as it may.
    BlocksMax,
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// A run broke off.
    BrokenOff,
    /// A run could not be made or kept.
    Failed,
}

impl Ended {
    /// As text for records and sentences.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Precise => "every interval is as narrow as requested",
            Ended::TimeSpent => "the time was up",
            Ended::BlocksMax => "the maximum number of blocks was reached",
            Ended::Interrupted => "interrupted; it can be resumed",
            Ended::BrokenOff => "a run was cut short",
            Ended::Failed => "a run failed",
        }
    }

    /// Nothing remains to be done.
    pub fn finished(self) -> bool {
        matches!(self, Ended::Precise | Ended::TimeSpent | Ended::BlocksMax)
    }
}

/// An experiment so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Experiment {
    /// Its id.
    pub id: String,
    /// What was to be done.
    pub plan: ExperimentPlan,
    /// Finished blocks, in order.
    pub blocks: Vec<Block>,
    /// Why it ended; `None` while it runs.
    pub ended: Option<Ended>,
    /// Time that it took, over all sessions.
    pub elapsed_ns: u64,
}

/// Carries out a plan, starting at the first block that is not in `finished`;
/// those blocks are not repeated.
///
/// # Errors
/// The first error of the runner, with the experiment so far.
pub fn conduct<R: ExperimentRunner>(
    plan: &ExperimentPlan,
    id: &str,
    finished: Vec<Block>,
    runner: &mut R,
) -> Result<Experiment, Box<(Experiment, R::Error)>> {
    let mut experiment = Experiment {
        id: id.to_owned(),
        plan: plan.clone(),
        blocks: finished,
        ended: None,
        elapsed_ns: runner.elapsed_ns(),
    };
    loop {
        if let Some(ended) = enough(&experiment, runner.elapsed_ns()) {
            return Ok(end(experiment, ended, runner.elapsed_ns()));
        }
        match one_block(&experiment, runner) {
            Ok(Some(block)) => experiment.blocks.push(block),
            Ok(None) => return Ok(end(experiment, Ended::BrokenOff, runner.elapsed_ns())),
            Err(error) => {
                let elapsed_ns = runner.elapsed_ns();
                return Err(Box::new((
                    end(experiment, Ended::Failed, elapsed_ns),
                    error,
                )));
            }
        }
        experiment.blocks.sort_by_key(|block| block.number);
        experiment.elapsed_ns = runner.elapsed_ns();
        let go = runner.after_block(&progress(&experiment));
        match go {
            Ok(Continuation::On) => {}
            Ok(Continuation::Stop) => {
                let ended = enough(&experiment, experiment.elapsed_ns);
                let elapsed_ns = experiment.elapsed_ns;
                return Ok(end(
                    experiment,
                    ended.unwrap_or(Ended::Interrupted),
                    elapsed_ns,
                ));
            }
            Err(error) => {
                let elapsed_ns = experiment.elapsed_ns;
                return Err(Box::new((
                    end(experiment, Ended::Failed, elapsed_ns),
                    error,
                )));
            }
        }
    }
}

fn end(experiment: Experiment, ended: Ended, elapsed_ns: u64) -> Experiment {
    Experiment {
        ended: Some(ended),
        elapsed_ns,
        ..experiment
    }
}

/// Makes the next block; `None` if a run was interrupted.
fn one_block<R: ExperimentRunner>(
    experiment: &Experiment,
    runner: &mut R,
) -> Result<Option<Block>, R::Error> {
    let plan = &experiment.plan;
    let number = next_block(&experiment.blocks);
    let mut runs = Vec::with_capacity(plan.runs_per_block());
    for planned in schedule(plan, &experiment.id, number) {
        let record = runner.run_cell(&planned)?;
        if record.status != Status::Complete {
            return Ok(None);
        }
        runs.push(block_run(plan, &record, planned.level, planned.cell));
    }
    Ok(Some(Block { number, runs }))
}

/// The lowest number that no finished block has.
fn next_block(blocks: &[Block]) -> u32 {
    (0..)
        .find(|number| blocks.iter().all(|block| block.number != *number))
        .unwrap_or(u32::MAX)
}

/// Why no further block begins after this much time; `None` if one does.
#[must_use]
pub fn enough(experiment: &Experiment, elapsed_ns: u64) -> Option<Ended> {
    let plan = &experiment.plan;
    let blocks = u32::try_from(experiment.blocks.len()).unwrap_or(u32::MAX);
    if blocks >= plan.blocks_min && precise(plan, &experiment.blocks) {
        return Some(Ended::Precise);
    }
    if blocks >= plan.blocks_max {
        return Some(Ended::BlocksMax);
    }
    let next_ns = block_ns(plan, blocks, elapsed_ns);
    let late = plan
        .time_budget_ns
        .is_some_and(|budget| elapsed_ns.saturating_add(next_ns) > budget);
    // One block is made in any case: it gives all values, though no interval.
    (late && blocks > 0).then_some(Ended::TimeSpent)
}

/// Estimated time of the next block of an experiment: as long as those before it.
pub fn next_block_ns(experiment: &Experiment) -> u64 {
    let blocks = u32::try_from(experiment.blocks.len()).unwrap_or(u32::MAX);
    block_ns(&experiment.plan, blocks, experiment.elapsed_ns)
}

fn block_ns(plan: &ExperimentPlan, blocks: u32, elapsed_ns: u64) -> u64 {
    match blocks {
        0 => plan.block_ns(),
        _ => (elapsed_ns / u64::from(blocks)).max(plan.block_ns()),
    }
}

/// Every row has an interval that is narrower than the precision. Ignores
/// where the intervals lie, so stopping on it does not favour a
/// finding.
pub fn precise(plan: &ExperimentPlan, blocks: &[Block]) -> bool {
    width_percent_max(plan, blocks).is_some_and(|width| width < plan.precision_percent)
}

fn width_percent_max(plan: &ExperimentPlan, blocks: &[Block]) -> Option<f64> {
    let rows = rows_of(plan, blocks);
    rows.iter()
        .map(|row| Some(row.comparison?.interval_percent?.width()))
        .try_fold(0.0, |widest: f64, width| Some(widest.max(width?)))
}

fn progress(experiment: &Experiment) -> Progress<'_> {
    let plan = &experiment.plan;
    let blocks = &experiment.blocks;
    let done = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    let each_ns = block_ns(plan, done, experiment.elapsed_ns);
    let by_time = plan.time_budget_ns.map_or(u32::MAX, |budget| {
        let left_ns = budget.saturating_sub(experiment.elapsed_ns);
        u32::try_from(left_ns / each_ns.max(1)).map_or(u32::MAX, |left| done.saturating_add(left))
    });
    let width_percent_max = width_percent_max(plan, blocks);
    let likely = blocks_likely(plan, done, width_percent_max)
        .min(by_time)
        .max(done);
    Progress {
        blocks,
        blocks_likely: likely,
        width_percent_max,
        elapsed_ns: experiment.elapsed_ns,
        left_ns: u64::from(likely - done).saturating_mul(each_ns),
    }
}
