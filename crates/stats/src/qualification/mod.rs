//! Is a requirement on latency met, missed, or undecided?
//!
//! Stalls come together, so operations are not independent: counting them as such says
//! "met" in half of the cases at the border. What decides is measured *seconds*:
//!
//! - [`judge_share`] is Procedure Q: the share of operations beyond a threshold, with the
//!   largest clustering that any length of batches shows;
//! - [`Qualification`] looks at it several times while the run goes on ([`Design`]), and
//!   looks for minutes that differ ([`split`]);
//! - [`judge_mean`] and [`judge_max`] are for requirements on the mean and the maximum;
//! - [`judge_latency`] is the judge of all of these, the same for a bench with a required
//!   rate and for a qualification;
//! - [`OpenLoop`] and [`closed_ladder`] say what a required rate together with a
//!   percentile may be judged by.
//!
//! The procedure rests on one assumption, printed with each verdict: stalls that come
//! together last at most about [`STALL_S`] in total. Rarer and longer episodes cannot be
//! excluded by a measurement that did not see one.
//!
//! `cargo xtask truth --only qualify` counts false verdicts on fourteen kinds of stalls.

mod latency;
mod mean;
mod rate;
mod sequence;
mod share;
mod split;

#[cfg(test)]
mod tests;

pub use latency::{LatencyFinding, LatencyJudgement, LatencyLimit, LatencySecond, judge_latency};
pub use mean::{MaxJudgement, MeanJudgement, judge_max, judge_mean};
pub use rate::{ClosedLadder, OpenLoop, RateJudgement, closed_ladder, judge_rate};
pub use sequence::{Design, Look, Qualification, QualifyOutcome, QualifyStep, QualifyVerdict};
pub use share::{DueSecond, ShareJudgement, ShareRule, judge_share};
pub use split::{MinutesDiffer, minutes_differ};

/// Stalls that come together last at most about so long in total, in seconds: the
/// assumption that every verdict is printed with.
pub const STALL_S: f64 = 1.0;

/// What intervals at 95 % leave out on each side.
const ONE_SIDE: f64 = 0.025;

/// (z / t)^2 at 95 %, one-sided, with the 9 degrees of freedom of ten batches:
/// (1.645 / 1.833)^2, 0.805.
const DEGREES_SHARE: f64 = (1.645 / 1.833) * (1.645 / 1.833);
