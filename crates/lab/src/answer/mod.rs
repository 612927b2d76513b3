//! The answer of a series, with an interval.
//!
//! The steps of a climb are single runs, and the best of several single runs is often
//! just a lucky one. So a climb only finds *where* to look; the answer itself
//! is based on runs made afterwards ([`aim`]), in random order within blocks, and on nothing
//! that was used to choose the place ([`estimate`]).
//!
//! - If the latency limit is crossed within the climb: runs around the crossing, and
//!   the rate there by [`stripewise_stats::rate_at_limit`].
//! - If that is with fewer than ten in flight: runs of the whole loads around it, each
//!   judged by its own runs, and of the smallest load at which the climb reached its rate; the
//!   smallest one that gives the rate of the largest one that meets the limit, by
//!   [`stripewise_stats::rate_at_whole_load`].
//! - If it is not crossed: runs at the loads from which throughput no longer rises, and
//!   the smallest of them that gives as much as the others.
//! - If a stream stopped rising well before that: runs at one load of the plateau,
//!   and Huber's mean of their logarithms.
//! - If no load meets the limit: the same at the knee.
//! - If the data support no more than that: a bound.
//!
//! Pure, like all of this crate: [`crate::climb`] decides which run comes next.

mod estimate;
mod limit_search;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use estimate::{
    AnswerRun, CROSSING_RUNS_MIN, JudgedRun, LEVEL_RUNS_MIN, estimate, is_disturbed, where_to_move,
};
pub(crate) use limit_search::{AnswerGoal, Order, goal_of, least_in_flight};

/// How many runs a series spends on its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerPlan {
    /// Blocks of runs around a crossing.
    pub blocks: u32,
    /// Runs at one load if there is no crossing to find.
    pub level_runs: u32,
}

/// Loads around a crossing, relative to it: five within a factor of 1.6 either way.
/// Wider spacing shows more of the slope and less of the rate at the crossing: with 0.5 to 2,
/// intervals are a fifth wider, and where throughput bends sharply, the parabola fits
/// worse.
pub(crate) const AROUND: [f64; 5] = [0.629_96, 0.840_90, 1.0, 1.189_21, 1.587_40];

/// Runs of a block around a crossing.
pub const BLOCK_RUNS: u32 = AROUND.len() as u32;
