//! Estimates what an experiment will need before it begins.

use super::plan::ExperimentPlan;
use super::rows::stopping_level;
use stripewise_stats::signed_rank_count_min;
use stripewise_units::{counted, format_duration};

/// The estimated effort of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Needs {
    /// Rows of all tables together.
    pub rows: usize,
    /// Runs of one block.
    pub runs_per_block: usize,
    /// Ramps and durations of one block.
    pub block_ns: u64,
    /// The primary hypothesis in words, if there is one.
    pub primary: Option<String>,
    /// Fewest blocks after which any row can have a verdict.
    pub blocks_for_verdict: u32,
    /// Their time.
    pub verdict_ns: u64,
    /// Fewest blocks after which it may stop on width.
    pub blocks_min: u32,
    /// Their time: the shortest the experiment can take.
    pub shortest_ns: u64,
    /// Maximum number of blocks, by number and by time.
    pub blocks_max: u32,
    /// Their time.
    pub longest_ns: u64,
    /// The given time suffices for a verdict.
    pub verdict_possible: bool,
    /// The plan in sentences, to be printed before the first run.
    pub sentences: Vec<String>,
}

/// The fewest blocks with which the exact test, corrected for this many rows, can
/// find anything: 6 for one row, 11 for 36 and 13 for 108 at a level of 0.95.
pub fn blocks_for_verdict(rows: usize, level: f64) -> u32 {
    let error = (1.0 - stopping_level(level)) / rows.max(1) as f64;
    let blocks = signed_rank_count_min(error).unwrap_or(usize::MAX);
    u32::try_from(blocks).unwrap_or(u32::MAX)
}

/// Expected number of blocks when the intervals are narrow
/// enough: widths shrink with the square root of the number of blocks.
pub fn blocks_likely(plan: &ExperimentPlan, done: u32, width_percent_max: Option<f64>) -> u32 {
    let wanted = match width_percent_max {
        Some(width) => {
            let ratio = width / plan.precision_percent;
            // A float-to-integer cast saturates.
            (f64::from(done) * ratio * ratio).ceil() as u32
        }
        None => 0,
    };
    wanted.clamp(plan.blocks_min, plan.blocks_max)
}

/// The needs of the plan. `overhead_ns` is the time a run takes in addition to its ramp and
/// duration.
pub fn needs(plan: &ExperimentPlan, overhead_ns: u64) -> Needs {
    let runs_per_block = plan.runs_per_block();
    let block_ns = plan.block_ns() + overhead_ns.saturating_mul(runs_per_block as u64);
    let blocks_for_verdict = blocks_for_verdict(plan.rows(), plan.level);
    let by_time = plan.time_budget_ns.map_or(u32::MAX, |budget| {
        u32::try_from(budget / block_ns.max(1)).unwrap_or(u32::MAX)
    });
    let blocks_max = plan.blocks_max.min(by_time.max(1));
    let times = |blocks: u32| block_ns.saturating_mul(u64::from(blocks));
    let mut needs = Needs {
        rows: plan.rows(),
        runs_per_block,
        block_ns,
        primary: primary(plan),
        blocks_for_verdict,
        verdict_ns: times(blocks_for_verdict),
        blocks_min: plan.blocks_min,
        shortest_ns: times(plan.blocks_min.min(blocks_max)),
        blocks_max,
        longest_ns: times(blocks_max),
        verdict_possible: blocks_max >= blocks_for_verdict,
        sentences: Vec::new(),
    };
    needs.sentences = sentences(plan, &needs);
    needs
}

fn primary(plan: &ExperimentPlan) -> Option<String> {
    let cell = plan.cells.get(plan.primary?)?;
    let baseline = &plan.levels.get(plan.baseline)?.name;
    let others: Vec<&str> = plan
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .filter(|name| name != baseline)
        .collect();
    Some(format!(
        "{} of {} differ between {baseline} and {}",
        plan.metric.words(),
        cell.name,
        others.join(", ")
    ))
}

fn sentences(plan: &ExperimentPlan, needs: &Needs) -> Vec<String> {
    let mut sentences = vec![format!(
        "{}: {} of {} with {}, in random order within each block.",
        counted(needs.rows, "row", "rows"),
        counted(plan.levels.len(), "level", "levels"),
        plan.factor,
        counted(plan.cells.len(), "workload", "workloads"),
    )];
    if let Some(primary) = &needs.primary {
        sentences.push(format!("Primary hypothesis: {primary}."));
    }
    sentences.push(format!(
        "A block is {} and takes {}; a verdict needs {}, {}.",
        counted(needs.runs_per_block, "run", "runs"),
        format_duration(needs.block_ns),
        counted(needs.blocks_for_verdict as usize, "block", "blocks"),
        format_duration(needs.verdict_ns),
    ));
    sentences.push(format!(
        "It stops when every interval is narrower than {} %, after {} ({}) at the earliest and {} ({}) at the latest.",
        plan.precision_percent,
        counted(needs.blocks_min.min(needs.blocks_max) as usize, "block", "blocks"),
        format_duration(needs.shortest_ns),
        counted(needs.blocks_max as usize, "block", "blocks"),
        format_duration(needs.longest_ns),
    ));
    if !needs.verdict_possible {
        sentences.push(format!(
            "No verdict is possible in this time: {} too few for {}. Give it {}, shorter runs or fewer rows.",
            counted(needs.blocks_max as usize, "block is", "blocks are"),
            counted(needs.rows, "row", "rows"),
            format_duration(needs.verdict_ns),
        ));
    }
    sentences
}
