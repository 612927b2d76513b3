//! The Mann-Whitney-Wilcoxon rank-sum test and its interval, exact.
//!
//! U is the number of pairs (a, b) with b > a, ties counting a half. If both
//! samples come from one distribution, every choice of which values are the b is
//! equally likely, so P(U = u) is the share of such choices: a dynamic programme
//! over rank sums counts them (Mann and Whitney 1947). Counts are f64; all terms
//! are positive, so the relative error is below N * 1.1e-16, N values in all.
//!
//! *Ties* share their mean rank; the programme then runs over twice the ranks,
//! and the p-value is exact given the ties. *Size*: exact up to
//! [`EXACT_VALUES_MAX`] values in all, above with the normal approximation,
//! corrected for continuity and ties (Hollander and Wolfe 1999, 4.1).
//!
//! Not covered: samples of different spread. The interval is for a shift, and keeps its level if
//! one distribution is the other one shifted.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::sample::{Estimate, median, sorted};
use serde::{Deserialize, Serialize};

/// Most values of both samples together for which the distribution is exact.
pub const EXACT_VALUES_MAX: usize = 80;

/// Result of a test of "both samples come from one distribution".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RankSum {
    /// Pairs in which the value of B is larger, ties counting a half.
    pub u: f64,
    /// P(a U at least as extreme, on either side): twice the smaller of the other two, at most 1.
    pub p_two_sided: f64,
    /// P(a U as large or larger): small when B is larger.
    pub p_greater: f64,
    /// P(a U as small or smaller): small when B is smaller.
    pub p_less: f64,
}

/// Tests whether the values of `b` come from the same distribution as those of `a`.
///
/// None where a sample is empty or a value is not finite. One value against n
/// gives a two-sided p of at least 2 / (n + 1); two against two at least 1/3. The
/// least p of sizes m and n is 2 / C(m + n, m): 0.05 can be reached from 4 against
/// 4, 3 against 5, 2 against 8 and 1 against 39 on.
///
/// ```
/// use stripewise_stats::rank_sum;
/// let test = rank_sum(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
/// assert!((test.p_two_sided - 2.0 / 70.0).abs() < 1e-15);
/// ```
pub fn rank_sum(a: &[f64], b: &[f64]) -> Option<RankSum> {
    if !usable(a, b) {
        return None;
    }
    let (doubled, b_sum) = doubled_ranks(a, b);
    let n = b.len() as u64;
    let u_doubled = b_sum - n * (n + 1);
    let (p_less, p_greater) = if doubled.len() <= EXACT_VALUES_MAX {
        exact_tails(&doubled, b.len(), b_sum)
    } else {
        normal_tails(&doubled, a.len(), b.len(), 0.5 * u_doubled as f64)
    };
    Some(RankSum {
        u: 0.5 * u_doubled as f64,
        p_two_sided: (2.0 * p_less.min(p_greater)).min(1.0),
        p_greater,
        p_less,
    })
}

/// How much larger `b` is than `a`: the Hodges-Lehmann shift, which is the median
/// of all differences b - a, and the interval of all shifts that the exact test
/// does not reject: from the c-th smallest to the c-th largest difference, c the
/// largest number with P(U <= c - 1) <= (1 - level) / 2.
///
/// If one distribution is the other one shifted, it contains the shift with exactly the probability
/// returned as `level`, which is at least the requested one; ties only increase it. Above
/// [`EXACT_VALUES_MAX`] values c comes from the normal approximation and `level` is the requested
/// one.
///
/// None where the samples are too small for the level (see [`rank_sum`]; 1 and 2
/// values against few) or a value is not finite.
pub fn rank_sum_interval(a: &[f64], b: &[f64], level: f64) -> Option<Estimate> {
    if !usable(a, b) {
        return None;
    }
    let (c, achieved) = critical_count(a.len(), b.len(), level)?;
    let differences = differences(a, b);
    Some(Estimate {
        value: median(&differences)?,
        low: differences[c - 1],
        high: differences[differences.len() - c],
        level: achieved,
    })
}

/// The Hodges-Lehmann shift alone. None for an empty sample or a value that is
/// not finite; one value on each side gives their difference.
pub fn shift(a: &[f64], b: &[f64]) -> Option<f64> {
    usable(a, b).then(|| median(&differences(a, b))).flatten()
}

fn usable(a: &[f64], b: &[f64]) -> bool {
    let finite = a.iter().chain(b).all(|value| value.is_finite());
    finite && !a.is_empty() && !b.is_empty()
}

/// All b - a, sorted. Samples here are runs, hundreds at most.
fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = b
        .iter()
        .flat_map(|y| a.iter().map(move |x| y - x))
        .collect();
    sorted(&all)
}

/// Twice the mean rank of every value, sorted, and the sum of those of `b`.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<u64>, u64) {
    let mut values: Vec<(f64, bool)> = a.iter().map(|&v| (v, false)).collect();
    values.extend(b.iter().map(|&v| (v, true)));
    // Adding zero makes -0 and 0 a tie.
    values.sort_by(|x, y| (x.0 + 0.0).total_cmp(&(y.0 + 0.0)));
    let mut ranks = Vec::with_capacity(values.len());
    let mut b_sum = 0;
    for group in values.chunk_by(|x, y| x.0 == y.0) {
        // Ranks before+1 ..= before+k; twice their mean is first plus last.
        let doubled = 2 * ranks.len() as u64 + group.len() as u64 + 1;
        b_sum += doubled * group.iter().filter(|(_, of_b)| *of_b).count() as u64;
        ranks.extend(std::iter::repeat_n(doubled, group.len()));
    }
    (ranks, b_sum)
}

/// Number of choices of `n` ranks that sum to 0, 1...
fn ways(ranks: &[u64], n: usize) -> Vec<f64> {
    let total: u64 = ranks.iter().sum();
    let sums = total as usize + 1;
    let mut ways = vec![vec![0.0; sums]; n + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        let rank = rank as usize;
        for chosen in (1..=n.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            let (from, to) = (&fewer[chosen - 1], &mut more[0]);
            for (sum, &count) in from.iter().enumerate().take(sums - rank) {
                to[sum + rank] += count;
            }
        }
    }
    ways.swap_remove(n)
}

fn exact_tails(doubled: &[u64], n: usize, b_sum: u64) -> (f64, f64) {
    // Without ties all doubled ranks are even: half the work.
    let scale = if doubled.iter().all(|r| r % 2 == 0) {
        2
    } else {
        1
    };
    let ranks: Vec<u64> = doubled.iter().map(|r| r / scale).collect();
    let ways = ways(&ranks, n);
    let all: f64 = ways.iter().sum();
    let at = (b_sum / scale) as usize;
    let less: f64 = ways[..=at].iter().sum();
    let greater: f64 = ways[at..].iter().rev().sum();
    ((less / all).min(1.0), (greater / all).min(1.0))
}

fn normal_tails(doubled: &[u64], m: usize, n: usize, u: f64) -> (f64, f64) {
    let (m, n, all) = (m as f64, n as f64, (m + n) as f64);
    let ties: f64 = doubled
        .chunk_by(|x, y| x == y)
        .map(|group| {
            let t = group.len() as f64;
            t * t * t - t
        })
        .sum();
    let mean = 0.5 * m * n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return (1.0, 1.0);
    }
    let deviation = libm::sqrt(variance);
    (
        normal_cdf((u - mean + 0.5) / deviation),
        normal_cdf((mean - u + 0.5) / deviation),
    )
}

/// c and its level; none if even the extremes do not suffice.
fn critical_count(m: usize, n: usize, level: f64) -> Option<(usize, f64)> {
    let tail = 0.5 - 0.5 * level;
    if !(0.0..0.5).contains(&tail) {
        return None;
    }
    if m + n > EXACT_VALUES_MAX {
        let mean = 0.5 * (m * n) as f64;
        let deviation = libm::sqrt((m * n * (m + n + 1)) as f64 / 12.0);
        let c = libm::floor(mean + 0.5 + normal_quantile(tail) * deviation);
        return (c >= 1.0).then_some((c as usize, level));
    }
    let ranks: Vec<u64> = (1..=(m + n) as u64).collect();
    let ways = ways(&ranks, n);
    let all: f64 = ways.iter().sum();
    let (mut below, mut c) = (0.0, 0);
    for count in &ways[n * (n + 1) / 2..] {
        // A tail of exactly the requested size counts as reached.
        if below + count > all * tail * (1.0 + 1e-12) {
            break;
        }
        below += count;
        c += 1;
    }
    (c >= 1).then_some((c, 1.0 - 2.0 * below / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_behave_as_documented() {
        assert_eq!(rank_sum(&[], &[1.0]), None);
        assert_eq!(rank_sum(&[1.0], &[]), None);
        assert_eq!(rank_sum(&[1.0], &[f64::NAN]), None);
        assert_eq!(rank_sum(&[1.0], &[2.0]).unwrap().p_two_sided, 1.0);
        let two = rank_sum(&[1.0, 2.0], &[3.0, 4.0]).unwrap();
        assert!((two.p_two_sided - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(shift(&[1.0], &[3.5]), Some(2.5));
        assert_eq!(shift(&[], &[3.5]), None);
    }

    #[test]
    fn intervals_begin_where_the_test_can_reach_the_level() {
        let sample = |n: usize| (0..n).map(|k| k as f64).collect::<Vec<f64>>();
        for (m, n, some) in [
            (1, 1, false),
            (2, 2, false),
            (3, 3, false),
            (3, 4, false),
            (4, 4, true),
            (3, 5, true),
            (2, 7, false),
            (2, 8, true),
            (1, 38, false),
            (1, 39, true),
        ] {
            let interval = rank_sum_interval(&sample(m), &sample(n), 0.95);
            assert_eq!(interval.is_some(), some, "{m} against {n}");
            let mirrored = rank_sum_interval(&sample(n), &sample(m), 0.95);
            assert_eq!(mirrored.is_some(), some);
        }
    }

    #[test]
    fn the_interval_is_of_the_shifts_that_the_test_does_not_reject() {
        let a = [10.0, 11.5, 9.0, 12.25, 10.75];
        let b = [12.0, 13.5, 15.0, 11.0, 14.5, 13.0];
        let interval = rank_sum_interval(&a, &b, 0.95).unwrap();
        let rejected = |shift: f64| {
            let moved: Vec<f64> = b.iter().map(|v| v - shift).collect();
            rank_sum(&a, &moved).unwrap().p_two_sided <= 1.0 - interval.level + 1e-12
        };
        for inside in [interval.low + 0.01, interval.value, interval.high - 0.01] {
            assert!(!rejected(inside), "{inside}");
        }
        assert!(rejected(interval.low - 0.01) && rejected(interval.high + 0.01));
    }

    #[test]
    fn all_values_equal_is_no_difference() {
        let same = [2.0; 5];
        assert_eq!(rank_sum(&same, &same).unwrap().p_two_sided, 1.0);
        let many = [2.0; 60];
        assert_eq!(rank_sum(&many, &many).unwrap().p_two_sided, 1.0);
    }

    #[test]
    fn the_normal_approximation_continues_the_exact_one() {
        let a: Vec<f64> = (0..40).map(|k| f64::from(k * 37 % 41)).collect();
        let b: Vec<f64> = (0..40).map(|k| f64::from(k * 29 % 43) + 4.0).collect();
        let (doubled, sum) = doubled_ranks(&a, &b);
        let (less, greater) = exact_tails(&doubled, 40, sum);
        let u = 0.5 * (sum - 40 * 41) as f64;
        let (near_less, near_greater) = normal_tails(&doubled, 40, 40, u);
        assert!((less - near_less).abs() < 1e-3 && (greater - near_greater).abs() < 1e-3);
    }
}
