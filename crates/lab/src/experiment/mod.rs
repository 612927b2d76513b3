//! Experiments: one factor at several levels, over cells of workload, in
//! randomised blocks.
//!
//! A block holds every level with every cell once, in random order, so that
//! slow drift affects both sides of each comparison. After each block,
//! the experiment stops on the *width* of its intervals alone, never on where
//! they lie; [`stopping_level`] explains why that keeps the promised level.
//!
//! Pure, except that an [`ExperimentRunner`] makes the runs. The same runs
//! always give the same tables and sentences, so a stored experiment can be
//! analysed again. Not covered: several factors at once (write their combinations
//! as levels), and factors that require a new partition or file system.

mod analysis;
mod blocks;
mod cause;
mod conduct;
mod drift;
mod kind;
mod metric;
mod needs;
mod plan;
mod rows;
mod schedule;
mod sentence;

pub use analysis::{analyse, analyse_blocks};
pub use blocks::{Block, BlockRun, blocks_of};
pub use cause::{Cause, CauseQuestion, LayoutFacts, Probe, Unexplained, judge_cause, third_offset};
pub use conduct::{
    Continuation, Ended, Experiment, ExperimentRunner, Progress, conduct, enough, next_block_ns,
    precise,
};
pub use drift::drift_of;
pub use metric::{Metric, UnknownMetric};
pub use needs::{Needs, blocks_for_verdict, blocks_likely, needs};
pub use plan::{Cell, ExperimentPlan, Level};
pub use rows::stopping_level;
pub use schedule::{PlannedRun, schedule};

#[cfg(test)]
mod tests;
