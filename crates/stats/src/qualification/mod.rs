//! Is a requirement on latency met, missed, or undecided?
//!
//! Stalls are clustered, so operations are not independent: treating them as such yields "met" in
//! half of the cases at the border. Decisions are based on measured *seconds*:
//!
//! - [`judge_share`] is Procedure Q: the share of operations beyond a threshold, with the largest
//!   clustering seen at any batch length;
//! - [`Qualification`] examines it several times during the run ([`Design`]), and checks for
//!   minutes that differ ([`split`]);
//! - [`judge_mean`] and [`judge_max`] are for requirements on the mean and the maximum;
//! - [`judge_latency`] judges all of these, for both a bench with a required rate and a
//!   qualification;
//! - [`OpenLoop`] and [`closed_ladder`] define how to judge a required rate together with a
//!   percentile.
//!
//! The procedure makes one assumption, printed with each verdict: clustered stalls last at most
//! about [`STALL_S`] in total. Rarer and longer episodes cannot be excluded by a measurement that
//! did not see one.
//!
//! `cargo xtask truth --only qualify` counts false verdicts for fourteen types of stalls.

mod latency;
mod mean;
mod rate;
mod sequence;
mod share;
mod split;

#[cfg(test)]
mod tests;

pub use latency::{
    LatencyFinding, LatencyJudgement, LatencyLimit, LatencySecond, earliest_met, judge_latency,
};
pub use mean::{MaxJudgement, MeanJudgement, judge_max, judge_mean};
pub use rate::{ClosedLadder, OpenLoop, RATE_MARGIN, RateJudgement, closed_ladder, judge_rate};
pub use sequence::{Design, Look, Qualification, QualifyOutcome, QualifyStep, QualifyVerdict};
pub use share::{DueSecond, ShareJudgement, ShareRule, judge_share};
pub use split::{MinutesDiffer, minutes_differ};

/// Clustered stalls last at most about this long in total, in seconds: the assumption printed with
/// every verdict.
pub const STALL_S: f64 = 1.0;

/// The share excluded on each side by a 95 % interval.
const ONE_SIDE: f64 = 0.025;

/// (z / t)^2 at 95 %, one-sided, with the 9 degrees of freedom of ten batches:
/// (1.645 / 1.833)^2, 0.805.
const DEGREES_SHARE: f64 = (1.645 / 1.833) * (1.645 / 1.833);
