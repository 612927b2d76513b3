//! A required rate and a percentile together.
//!
//! Both are judged by one open loop at the required rate, with latency from the intended start: for
//! arrivals due in [from, stop - limit] everything is known at the stop: each is in time or beyond
//! (late, failed, never issued, never completed). No separate test of the rate is needed: above a
//! device's capability nearly all arrivals are late within seconds.

use super::share::{Second, clustering};
use crate::sample::Estimate;
use serde::{Deserialize, Serialize};

/// The parameters of an open-loop run, and how it kept its own schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// The latency threshold.
    pub limit_ns: u64,
    /// L, the share that may be beyond it.
    pub share_max: f64,
}

impl OpenLoop {
    /// Fewest operations in flight that must be allowed: ten times what the required rate has in
    /// flight at the limit, and at least 256.
    pub fn in_flight_cap_min(&self, rate: f64) -> u64 {
        let wanted = libm::ceil(10.0 * rate * self.limit_ns as f64 / 1e9);
        // Float to integer saturates.
        (wanted as u64).max(256)
    }

    /// Whether the run is void: the program itself delayed more than L/10 of the arrivals.
    pub fn is_void(&self, arrivals: u64, own_lags: u64) -> bool {
        own_lags as f64 > self.share_max / 10.0 * arrivals as f64
    }
}

/// What a closed ladder may show about a required rate at a latency limit: never "met", since it
/// does not include waits behind a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedLadder {
    /// Its plateau is below the required rate: missed.
    Missed,
    /// At the step below the required rate latency already exceeds the limit: an open loop is not
    /// worth trying, but the ladder does not decide.
    NotWorthTrying,
    /// Only an open loop can decide.
    Unknown,
}

/// `plateau` is the rate that no load exceeds, with its interval; `latency_below` the isotonic
/// latency at the step just below the required rate, in the unit of the limit.
pub fn closed_ladder(
    rate_min: f64,
    limit: f64,
    plateau: Option<Estimate>,
    latency_below: Option<f64>,
) -> ClosedLadder {
    if plateau.is_some_and(|plateau| plateau.high < rate_min) {
        ClosedLadder::Missed
    } else if latency_below.is_some_and(|latency| latency > limit) {
        ClosedLadder::NotWorthTrying
    } else {
        ClosedLadder::Unknown
    }
}

/// A requirement on a rate is undecided within this share of it.
pub const RATE_MARGIN: f64 = 0.02;
/// Student's t with 9 degrees of freedom, one- and two-sided at 95 %.
const T_ONE_SIDED: f64 = 1.833;
const T_TWO_SIDED: f64 = 2.262;

/// Result for a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateJudgement {
    /// The mean of the seconds.
    pub rate: f64,
    /// Lower end at 95 %, with the worst of 20 batches counted twice.
    pub low: f64,
    /// Upper end at 95 %.
    pub high: f64,
    low_one_sided: f64,
    high_one_sided: f64,
}

impl RateJudgement {
    /// Whether the rate is at least this, by more than 2 %.
    pub fn is_met(&self, rate_min: f64) -> bool {
        self.low_one_sided > rate_min && self.rate > rate_min * (1.0 + RATE_MARGIN)
    }

    /// Whether the rate is below this, by more than 2 %.
    pub fn is_missed(&self, rate_min: f64) -> bool {
        self.high_one_sided < rate_min && self.rate < rate_min * (1.0 - RATE_MARGIN)
    }
}

/// Judges the rate of a closed loop from each second's amount: with S their sum, M their number, V
/// the variance of the sum (the largest over all batch lengths, as in [`super::judge_share`]) and y
/// the smallest sum of a batch of M/20, low = (S + y)/(M + M/20) - t sqrt(V)/M, high = S/M + t
/// sqrt(V)/M, 9 degrees of freedom.
///
/// Falsely met at the border in up to 10 % of runs of ten minutes (16 % where states last as
/// long): hence the margin of 2 %. None below 20 seconds.
pub fn judge_rate(seconds: &[f64]) -> Option<RateJudgement> {
    let measured = seconds.len();
    if measured < 20 {
        return None;
    }
    let sums: Vec<Second> = seconds
        .iter()
        .map(|&amount| Second { count: 1.0, amount })
        .collect();
    let cluster = clustering(&sums);
    let length = measured / 20;
    let batches = seconds
        .chunks_exact(length)
        .map(|batch| batch.iter().sum::<f64>());
    let worst = batches.fold(f64::INFINITY, f64::min);
    let error = libm::sqrt(cluster.variance) / measured as f64;
    let rate = cluster.total / measured as f64;
    let careful = (cluster.total + worst) / (measured + length) as f64;
    Some(RateJudgement {
        rate,
        low: (careful - T_TWO_SIDED * error).clamp(0.0, rate),
        high: rate + T_TWO_SIDED * error,
        low_one_sided: careful - T_ONE_SIDED * error,
        high_one_sided: rate + T_ONE_SIDED * error,
    })
}
