//! Wilcoxon's signed-rank test and its interval, exact.
//!
//! W is the sum of the ranks of |d| over the positive d. If the d are symmetric
//! around 0, every rank has either sign with probability 1/2, so P(W = w) is the
//! share of the 2^n sets of ranks that sum to w: a dynamic programme over sums
//! gives it exactly (Wilcoxon 1945). Probabilities are kept as f64; all terms
//! are positive, so the relative error is below n * 1.1e-16.
//!
//! *Ties* in |d| share their mean rank; the programme then runs over twice the
//! ranks, and the p-value is exact given the ties. *Zeros* are dropped, as
//! Wilcoxon did; the interval keeps them. *Size*: exact up to
//! [`EXACT_COUNT_MAX`] differences, above with the normal approximation and
//! continuity correction (p-values within 0.001, those up to 0.06 within 0.0003).
//!
//! Not included: Pratt's treatment of zeros, one-sided intervals.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::hodges_lehmann::{finite_sorted, hodges_lehmann, walsh_average, walsh_count};
use crate::sample::Estimate;
use serde::{Deserialize, Serialize};

/// Most differences for which the distribution is exact.
pub const EXACT_COUNT_MAX: usize = 200;

/// Result of a signed-rank test of "the differences are symmetric around 0".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SignedRank {
    /// Nonzero differences.
    pub count: usize,
    /// Sum of the ranks of the positive ones, W.
    pub rank_sum: f64,
    /// P(a W at least as far from its mean, on either side): twice the smaller of the other two, at
    /// most 1.
    pub p_two_sided: f64,
    /// P(a W as large or larger): small when differences are positive.
    pub p_greater: f64,
    /// P(a W as small or smaller): small when differences are negative.
    pub p_less: f64,
}

/// Tests whether differences are symmetric around 0.
///
/// n = 0 (or only zeros): all p-values 1. n = 1: two-sided 1, one-sided 1/2.
/// n = 2: two-sided at least 1/2. 0.05 can be reached from n = 6 on, see
/// [`signed_rank_count_min`]. None where a difference is not finite.
///
/// ```
/// use stripewise_stats::signed_rank;
/// let test = signed_rank(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
/// assert_eq!(test.p_two_sided, 2.0 / 64.0);
/// ```
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    nonzero.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&nonzero);
    let sum_doubled: u64 = nonzero
        .iter()
        .zip(&doubled)
        .filter(|(d, _)| **d > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let (p_less, p_greater) = if nonzero.len() <= EXACT_COUNT_MAX {
        exact_tails(&doubled, sum_doubled)
    } else {
        normal_tails(&doubled, sum_doubled)
    };
    Some(SignedRank {
        count: nonzero.len(),
        rank_sum: 0.5 * sum_doubled as f64,
        p_two_sided: (2.0 * p_less.min(p_greater)).min(1.0),
        p_greater,
        p_less,
    })
}

/// The Hodges-Lehmann estimate of the centre of differences and the interval of
/// all centres that the exact test does not reject: from the c-th smallest to
/// the c-th largest Walsh average, c the largest number with
/// P(W <= c - 1) <= (1 - level) / 2.
///
/// For continuous symmetric differences it contains the true value with exactly the probability
/// returned as `level`, which is at least the requested one (for n = 10 and 95 %: 95.1 %). Ties
/// only increase it. Above [`EXACT_COUNT_MAX`] differences c comes from the normal approximation
/// and `level` is the requested one.
///
/// None where n is too small for the level (n <= 5 for 95 %, so n = 0, 1 and 2;
/// see [`signed_rank_count_min`]) or a difference is not finite.
///
/// ```
/// use stripewise_stats::signed_rank_interval;
/// let d = [8.0, 11.0, 9.0, 13.0, 10.0, 7.0, 12.0];
/// let interval = signed_rank_interval(&d, 0.95).unwrap();
/// assert_eq!((interval.value, interval.low, interval.high), (10.0, 8.0, 12.0));
/// assert!(signed_rank_interval(&d[..5], 0.95).is_none());
/// ```
pub fn signed_rank_interval(differences: &[f64], level: f64) -> Option<Estimate> {
    let sorted = finite_sorted(differences)?;
    let (c, achieved) = critical_count(sorted.len(), level)?;
    let all = walsh_count(sorted.len());
    Some(Estimate {
        value: hodges_lehmann(&sorted)?,
        low: walsh_average(&sorted, c),
        high: walsh_average(&sorted, all + 1 - c),
        level: achieved,
    })
}

/// The smallest number of differences with which the exact two-sided test can
/// reach `p_value` at all: the least n with 2 / 2^n <= `p_value`. 6 for 0.05; 11
/// for 0.05 / 36 and 13 for 0.05 / 108, the first of Holm's thresholds over
/// tables of so many rows. None where `p_value` is not above 0; 1 from 1 on.
pub fn signed_rank_count_min(p_value: f64) -> Option<usize> {
    (p_value > 0.0)
        .then(|| (1..=1_100).find(|&n| libm::ldexp(2.0, -n) <= p_value))
        .flatten()
        .map(|n| n as usize)
}

/// c and its level.
fn critical_count(n: usize, level: f64) -> Option<(u64, f64)> {
    let tail = 0.5 - 0.5 * level;
    if !(0.0..0.5).contains(&tail) {
        return None;
    }
    if n > EXACT_COUNT_MAX {
        let (mean, deviation) = moments(n);
        let c = libm::floor(mean + 0.5 + normal_quantile(tail) * deviation);
        return (c >= 1.0).then_some((c as u64, level));
    }
    let ranks: Vec<u64> = (1..=n as u64).collect();
    let mut below = 0.0;
    let mut c = 0u64;
    for probability in distribution(&ranks) {
        // Sums of many halves have a rounding error; a tail of exactly the requested size counts as
        // reached.
        if below + probability > tail * (1.0 + 1e-12) {
            break;
        }
        below += probability;
        c += 1;
    }
    (c >= 1).then_some((c, 1.0 - 2.0 * below))
}

/// Mean and standard deviation of W for n differences without ties.
fn moments(n: usize) -> (f64, f64) {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    (mean, libm::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0))
}

/// P(sum = w) for w = 0, 1... when each rank is in the sum with probability 1/2.
fn distribution(ranks: &[u64]) -> Vec<f64> {
    let total: u64 = ranks.iter().sum();
    let mut probability = vec![0.0; total as usize + 1];
    probability[0] = 1.0;
    let mut reached = 0usize;
    for &rank in ranks {
        let rank = rank as usize;
        reached += rank;
        for w in (0..=reached).rev() {
            let with = if w >= rank {
                probability[w - rank]
            } else {
                0.0
            };
            probability[w] = 0.5 * (probability[w] + with);
        }
    }
    probability
}

/// Twice the mean ranks of values sorted by magnitude.
fn doubled_ranks(rising: &[f64]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(rising.len());
    for group in rising.chunk_by(|a, b| a.abs() == b.abs()) {
        let before = ranks.len() as u64;
        // Ranks before+1 ..= before+k; twice their mean is first plus last.
        let doubled = 2 * before + group.len() as u64 + 1;
        ranks.extend(std::iter::repeat_n(doubled, group.len()));
    }
    ranks
}

/// P(W <= w) and P(W >= w) for doubled ranks.
fn exact_tails(doubled: &[u64], sum_doubled: u64) -> (f64, f64) {
    // Without ties all doubled ranks are even: half the work.
    let scale = if doubled.iter().all(|r| r % 2 == 0) {
        2
    } else {
        1
    };
    let ranks: Vec<u64> = doubled.iter().map(|r| r / scale).collect();
    let probability = distribution(&ranks);
    let w = (sum_doubled / scale) as usize;
    let less: f64 = probability[..=w].iter().sum();
    let greater: f64 = probability[w..].iter().rev().sum();
    (less.min(1.0), greater.min(1.0))
}

/// The same by the normal approximation, with the variance reduced for ties.
fn normal_tails(doubled: &[u64], sum_doubled: u64) -> (f64, f64) {
    let squares: f64 = doubled.iter().map(|&r| (r * r) as f64).sum();
    let mean = 0.25 * doubled.iter().sum::<u64>() as f64;
    let deviation = 0.25 * libm::sqrt(squares);
    let w = 0.5 * sum_doubled as f64;
    (
        normal_cdf((w - mean + 0.5) / deviation),
        normal_cdf((mean - w + 0.5) / deviation),
    )
}

#[cfg(test)]
mod tests;
