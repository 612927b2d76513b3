//! Requirements on the mean and on the maximum.

use super::share::{Second, clustering};
use super::{DEGREES_SHARE, ONE_SIDE};
use crate::distribution::{border, incomplete_gamma, student_two_sided};
use crate::sample::median;
use serde::{Deserialize, Serialize};

/// Result for a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanJudgement {
    /// The mean, in the unit of the limit.
    pub mean: f64,
    /// Probability of so small a mean if the true mean were the limit.
    pub p_met: f64,
    /// Probability of so large a mean if the true mean were the limit.
    pub p_missed: f64,
    /// The smallest limit that is not missed at 2.5 %, at most the mean.
    pub low: f64,
    /// The largest limit that is not met at 2.5 %, at least the mean; infinite beyond a thousand
    /// times the mean.
    pub high: f64,
}

/// Largest limit considered for an interval, as a multiple of the mean.
const LIMITS_MAX: f64 = 1e3;

/// Judges a mean latency against `limit_s`: per second of due time `(operations, sum of
/// their latencies in seconds)`.
///
/// Batch means and Student's t say "met" too often: a stall of D seconds adds D^2/2, so a
/// few stalls are most of the mean. The excess e = mean - b over the median b of the
/// seconds' means is taken as a gamma variable instead, of at least its standard error se: less
/// cannot be told from a mean below the median. With se^2 = V/N^2 (V as in
/// [`super::judge_share`]), D0 the assumed stall and T the seconds measured:
/// w = max(se^2/e, D0^2/(2T)); A = 0.805; k = A e/w;
/// x = A max(Y20/N - b/20, D0^2/(2T))/w, Y20 the largest sum of a batch of T/20;
/// P_met = 1 - P(k + x + 1, A (L - b)/w), P the lower incomplete gamma function;
/// P_missed from Student's t of (mean - L)/se with 9 degrees of freedom.
///
/// False "met": 0 to 8 % in most processes of stalls; freezes of 3 s break it (their
/// 4.5 s^2 each need 75 minutes at a limit of 5 ms), states of 10 minutes reach 19 %.
/// None below 20 seconds, or where no operation was due.
pub fn judge_mean(seconds: &[(u64, f64)], limit_s: f64, stall_s: f64) -> Option<MeanJudgement> {
    let sums: Vec<Second> = seconds
        .iter()
        .map(|&(count, amount)| Second {
            count: count as f64,
            amount,
        })
        .collect();
    let count: f64 = sums.iter().map(|second| second.count).sum();
    if sums.len() < 20 || count <= 0.0 {
        return None;
    }
    let measured = sums.len() as f64;
    let means: Vec<f64> = sums
        .iter()
        .filter(|second| second.count > 0.0)
        .map(|second| second.amount / second.count)
        .collect();
    let body = median(&means)?;
    let cluster = clustering(&sums);
    let mean = cluster.total / count;
    let variance = cluster.variance / (count * count);
    let least = stall_s * stall_s / (2.0 * measured);
    let error = libm::sqrt(variance);
    let excess = (mean - body).max(error).max(1e-6);
    let unit = (variance / excess).max(least);
    let shape = DEGREES_SHARE * excess / unit;
    let worst = (cluster.worst / count - body / 20.0).max(least);
    let more = DEGREES_SHARE * worst / unit;
    let met = |limit: f64| match limit <= body {
        true => 1.0,
        false => 1.0 - incomplete_gamma(shape + more + 1.0, DEGREES_SHARE * (limit - body) / unit),
    };
    let missed = |limit: f64| above(mean - limit, error);
    let most = LIMITS_MAX * mean.max(1e-9);
    let high = match met(most) > ONE_SIDE {
        true => f64::INFINITY,
        false => border(most, |limit| met(limit) > ONE_SIDE),
    };
    Some(MeanJudgement {
        mean,
        p_met: met(limit_s),
        p_missed: missed(limit_s),
        // P_missed rises with the limit, P_met falls.
        low: border(most, |limit| missed(limit) < ONE_SIDE).min(mean),
        high: high.max(mean),
    })
}

/// P(T >= difference / error) with 9 degrees of freedom.
fn above(difference: f64, error: f64) -> f64 {
    if error <= 0.0 {
        return if difference > 0.0 { 0.0 } else { 1.0 };
    }
    let half = 0.5 * student_two_sided(difference / error, 9.0);
    if difference > 0.0 { half } else { 1.0 - half }
}

/// Result for a maximum. It is never met for certain: the next operation may take longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MaxJudgement {
    /// Some operations were beyond it: missed.
    Missed {
        /// Operations beyond.
        beyond: u64,
    },
    /// None was beyond it.
    NoneSeen {
        /// Operations measured.
        operations: u64,
        /// Events beyond it are rarer than one in this many seconds, at 95 %: a third of the
        /// seconds measured (-1/ln 0.05).
        rarer_than_one_per_s: f64,
    },
}

/// Judges a maximum: missed at the first excess (in a valid run). None if nothing was due or
/// measured.
pub fn judge_max(operations: u64, beyond: u64, measured_s: f64) -> Option<MaxJudgement> {
    if operations == 0 || measured_s.is_nan() || measured_s <= 0.0 {
        return None;
    }
    Some(match beyond {
        0 => MaxJudgement::NoneSeen {
            operations,
            rarer_than_one_per_s: measured_s / -libm::log(0.05),
        },
        beyond => MaxJudgement::Missed { beyond },
    })
}
