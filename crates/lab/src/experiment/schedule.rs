//! The order of runs: a function of the plan's seed and the block's number.

use super::plan::ExperimentPlan;
use stripewise_results::ExperimentPlace;
use stripewise_stats::Random;
use stripewise_workload::Workload;

/// A run that an experiment requests.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// For the run's record.
    pub place: ExperimentPlace,
    /// Index of its level in the plan.
    pub level: usize,
    /// Index of its cell in the plan.
    pub cell: usize,
    /// The cell's workload with the level's options, and a seed of its own.
    pub workload: Workload,
}

/// The runs of block `block`, from 0, in chronological order: the
/// cells in random order, and the levels of each cell consecutively, again
/// in random order, so that little can change between two runs that are compared.
///
/// The same plan and block always give the same runs, so that an interrupted block
/// is repeated exactly. Every run has a seed of its own: if A
/// and B shared their positions, a chance property of these positions
/// would be taken for an effect of the levels, and on a simulated array, A against A
/// would differ by exactly zero.
pub fn schedule(plan: &ExperimentPlan, experiment: &str, block: u32) -> Vec<PlannedRun> {
    let mut random = Random::new(plan.seed);
    let mut of_block = Random::new(random.bits() ^ u64::from(block).wrapping_mul(GOLDEN));
    let mut cells: Vec<usize> = (0..plan.cells.len()).collect();
    of_block.shuffle(&mut cells);
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(plan.runs_per_block());
    for cell in cells {
        let mut levels: Vec<usize> = (0..plan.levels.len()).collect();
        of_block.shuffle(&mut levels);
        order.extend(levels.into_iter().map(|level| (level, cell)));
    }
    order
        .into_iter()
        .enumerate()
        .map(|(position, (level, cell))| PlannedRun {
            place: ExperimentPlace {
                experiment: experiment.to_owned(),
                block,
                position: u32::try_from(position).unwrap_or(u32::MAX),
                level: plan.levels[level].name.clone(),
                cell: u32::try_from(cell).unwrap_or(u32::MAX),
            },
            level,
            cell,
            workload: plan.levels[level].apply(&plan.cells[cell].workload, of_block.bits()),
        })
        .collect()
}

/// 2^64 divided by the golden ratio: makes the numbers of blocks differ in every
/// bit. The generator's own seeding (SplitMix64) does the mixing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
