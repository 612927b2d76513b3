//! Finished blocks, and how they are recognised among stored runs.

use super::plan::ExperimentPlan;
use serde::{Deserialize, Serialize};
use stripewise_results::{JobRow, RunRecord, Status};

/// A finished block: every level with every cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Block {
    /// From 0.
    pub number: u32,
    /// In the order in which they were made.
    pub runs: Vec<BlockRun>,
}

/// What is needed of a run to compare it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BlockRun {
    /// Its id.
    pub run: String,
    /// Index of its level in the plan.
    pub level: usize,
    /// Index of its cell in the plan.
    pub cell: usize,
    /// The metric's value, if the run has one above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

impl Block {
    /// The value of a level and cell.
    pub fn value(&self, level: usize, cell: usize) -> Option<f64> {
        self.runs
            .iter()
            .find(|run| run.level == level && run.cell == cell)?
            .value
    }
}

/// Extracts what an experiment needs from a run's record. The value is that of its first
/// job; `None` if it is not finite or not above 0, since ratios are compared.
pub(super) fn block_run(
    plan: &ExperimentPlan,
    record: &RunRecord,
    level: usize,
    cell: usize,
) -> BlockRun {
    let row = record.jobs.first().map(|job| JobRow { run: record, job });
    BlockRun {
        run: record.id.clone(),
        level,
        cell,
        value: row
            .and_then(|row| plan.metric.of(&row))
            .filter(|value| value.is_finite() && *value > 0.0),
    }
}

/// The finished blocks among the stored runs of an experiment, and the ids of
/// the runs that belong to none: those of interrupted blocks, which stay
/// in the store but out of the analysis. `runs` are those of one experiment in
/// chronological order.
///
/// If a block was interrupted and made again later, the last complete attempt
/// counts: an attempt begins at position 0 and its positions are
/// consecutive.
pub fn blocks_of(plan: &ExperimentPlan, runs: &[RunRecord]) -> (Vec<Block>, Vec<String>) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut unused: Vec<String> = Vec::new();
    let mut attempt: Vec<BlockRun> = Vec::new();
    let mut attempt_block = None;
    for record in runs {
        let Some(place) = &record.experiment else {
            unused.push(record.id.clone());
            continue;
        };
        let level = plan
            .levels
            .iter()
            .position(|level| level.name == place.level);
        let cell = usize::try_from(place.cell)
            .ok()
            .filter(|&cell| cell < plan.cells.len());
        let follows = attempt_block == Some(place.block)
            && usize::try_from(place.position) == Ok(attempt.len());
        if !follows {
            unused.extend(attempt.drain(..).map(|run| run.run));
            attempt_block = (place.position == 0).then_some(place.block);
        }
        let (Some(level), Some(cell), Some(number), Status::Complete) =
            (level, cell, attempt_block, record.status)
        else {
            unused.push(record.id.clone());
            unused.extend(attempt.drain(..).map(|run| run.run));
            attempt_block = None;
            continue;
        };
        attempt.push(block_run(plan, record, level, cell));
        if attempt.len() == plan.runs_per_block() {
            let runs = std::mem::take(&mut attempt);
            attempt_block = None;
            keep(&mut blocks, &mut unused, Block { number, runs });
        }
    }
    unused.extend(attempt.into_iter().map(|run| run.run));
    blocks.sort_by_key(|block| block.number);
    (blocks, unused)
}

/// A block is finished once; if it was made twice, the first counts.
fn keep(blocks: &mut Vec<Block>, unused: &mut Vec<String>, block: Block) {
    if blocks.iter().any(|known| known.number == block.number) {
        unused.extend(block.runs.into_iter().map(|run| run.run));
    } else {
        blocks.push(block);
    }
}
