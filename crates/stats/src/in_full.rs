//! What a robust mean leaves out: its runs counted in full.
//!
//! Huber's mean and the median limit the influence of runs that are far from the others. That is
//! right where something outside of the storage disturbed them, and wrong where the storage itself
//! stalls now and then: in the long run these seconds count like all others. The values alone do
//! not tell which it was, so the plain mean is reported where the interval of the robust one
//! excludes it.
//!
//! Simulated with 5 to 20 runs that scatter by 0.1 to 10 %: without stalls the plain mean is
//! outside the 95 % interval of Huber's in fewer than 1 of 100 cases. Where one
//! run in seven loses a fifth and the others scatter by 0.3 %, it is in 94 of 100.
//!
//! How many runs met a stall is chance, so the plain mean has an interval of its own: that of their
//! share (Clopper and Pearson), times what one of them loses. Simulated with 8 to 20 runs of 1.5 s
//! and stalls of 0.3 to 3 s every 5 to 60 s, it held the long-run rate in 92 to 97 of 100 cases
//! in which runs were apart; the interval of the robust mean hardly ever does.

use crate::distribution::{border, incomplete_beta};
use crate::robust::scale_of;
use crate::sample::mean;
use serde::{Deserialize, Serialize};

/// A run is apart from the others from this many scales on.
const APART_SCALES: f64 = 5.0;
/// Fewer runs do not tell which of them are apart.
const RUNS_MIN: usize = 3;
/// Confidence of the interval.
const LEVEL: f64 = 0.95;

/// The plain mean of runs, relative to their robust mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFull {
    /// The plain mean over the robust one.
    pub ratio: f64,
    /// Its 95 % interval: more or fewer of the runs may be apart in the long run. Absent in what
    /// older versions stored.
    #[serde(default)]
    pub ends: Option<[f64; 2]>,
    /// Runs far from the others, on the side of the plain mean.
    pub apart: usize,
    /// By how much these differ from the robust mean on average, as a share of it: negative if
    /// they are slower.
    pub apart_share: f64,
    /// All runs.
    pub runs: usize,
}

/// The plain mean of runs from their rates over the robust one.
///
/// A run is apart if it differs by five scales - of the median absolute difference over 0.6745 -,
/// or by half of the largest difference, whichever is less: one always is. n = 0, 1 and 2, a ratio
/// that is not finite, and runs whose mean is the robust one: none.
///
/// ```
/// use stripewise_stats::in_full;
/// let found = in_full(&[1.001, 0.999, 1.0, 1.002, 0.85, 0.998]).unwrap();
/// assert_eq!((found.apart, found.runs), (1, 6));
/// assert!((found.ratio - 0.975).abs() < 1e-9 && (found.apart_share + 0.15).abs() < 1e-9);
/// assert_eq!(in_full(&[1.0; 6]), None);
/// ```
pub fn in_full(ratios: &[f64]) -> Option<InFull> {
    if ratios.len() < RUNS_MIN || !ratios.iter().all(|ratio| ratio.is_finite()) {
        return None;
    }
    let ratio = mean(ratios)?;
    let side = if ratio < 1.0 { -1.0 } else { 1.0 };
    let differences: Vec<f64> = ratios.iter().map(|ratio| ratio - 1.0).collect();
    let beyond = differences.iter().map(|difference| side * difference);
    let largest = beyond.fold(0.0, f64::max);
    if ratio == 1.0 || largest <= 0.0 {
        return None;
    }
    let far = (APART_SCALES * scale_of(&differences)).min(0.5 * largest);
    let is_apart = |difference: &&f64| side * **difference >= far && side * **difference > 0.0;
    let apart: Vec<f64> = differences.iter().filter(is_apart).copied().collect();
    let (apart_share, runs) = (mean(&apart)?, ratios.len());
    // What the others contribute is certain by comparison.
    let others = ratio - apart_share * apart.len() as f64 / runs as f64;
    let [fewest, most] =
        share_interval(apart.len(), runs).map(|share| others + share * apart_share);
    Some(InFull {
        ratio,
        ends: Some([fewest.min(most), fewest.max(most)]),
        apart: apart.len(),
        apart_share,
        runs,
    })
}

/// Clopper's and Pearson's interval of the share of which `count` of `all` were seen.
fn share_interval(count: usize, all: usize) -> [f64; 2] {
    let (count, all) = (count as f64, all as f64);
    let tail = 0.5 * (1.0 - LEVEL);
    let low = match count > 0.0 {
        true => beta_quantile(count, all - count + 1.0, tail),
        false => 0.0,
    };
    let high = match count < all {
        true => beta_quantile(count + 1.0, all - count, 1.0 - tail),
        false => 1.0,
    };
    [low, high]
}

/// Where the beta distribution reaches `p`.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    border(1.0, |share| incomplete_beta(a, b, share) < p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, robust_mean_interval};

    /// Logarithms of the rates of runs that scatter by `noise`, and of which each one in `stalls`
    /// is slower by 20 %.
    fn runs(count: usize, noise: f64, stalls: Option<usize>, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let each = (0..count).map(|_| {
            let stalls = stalls.is_some_and(|one_in| random.below(one_in) == 0);
            noise * random.normal() + if stalls { libm::log(0.8) } else { 0.0 }
        });
        each.collect()
    }

    /// Whether the interval of the robust mean excludes the plain one.
    fn is_excluded(logarithms: &[f64]) -> Option<InFull> {
        let found = robust_mean_interval(logarithms, 0.95)?.map(libm::exp);
        let ratios = logarithms.iter().map(|log| libm::exp(*log) / found.value);
        let full = in_full(&ratios.collect::<Vec<_>>())?;
        (!found.contains(found.value * full.ratio)).then_some(full)
    }

    #[test]
    fn stalls_that_a_robust_mean_hides_are_counted() {
        let mut hidden = 0;
        for seed in 0..200 {
            let logarithms = runs(20, 0.003, Some(7), seed);
            let stalled = logarithms.iter().filter(|log| **log < -0.1).count();
            let Some(found) = is_excluded(&logarithms) else {
                continue;
            };
            hidden += 1;
            // One that scatters widely may be among them.
            assert!(found.apart.abs_diff(stalled) <= 1, "{seed}: {found:?}");
            assert!((found.apart_share + 0.2).abs() < 0.11, "{seed}: {found:?}");
            assert_eq!(found.runs, 20);
            // Counted in full, it is the plain mean.
            let robust = robust_mean_interval(&logarithms, 0.95).expect("20 runs");
            let rates: Vec<f64> = logarithms.iter().map(|log| libm::exp(*log)).collect();
            let plain = mean(&rates).expect("20 runs");
            assert!((libm::exp(robust.value) * found.ratio - plain).abs() < 1e-9);
        }
        assert!(hidden > 150, "{hidden} of 200");
    }

    #[test]
    fn without_stalls_the_interval_holds_the_plain_mean() {
        for (count, noise) in [(5, 0.01), (8, 0.003), (12, 0.03), (20, 0.1)] {
            let excluded = (0..500).filter(|&seed| {
                let logarithms = runs(count, noise, None, seed);
                is_excluded(&logarithms).is_some()
            });
            let excluded = excluded.count();
            assert!(excluded <= 15, "{count} runs: {excluded} of 500");
        }
    }

    /// By R: binom.test(3, 20), (1, 8) and (8, 8).
    #[test]
    fn a_share_has_the_interval_of_the_binomial_distribution() {
        for (count, all, low, high) in [
            (3, 20, 0.032_071, 0.378_927),
            (1, 8, 0.003_160, 0.526_509),
            (8, 8, 0.630_583, 1.0),
            (0, 8, 0.0, 0.369_417),
        ] {
            let found = share_interval(count, all);
            let is_near = |index: usize, value: f64| (found[index] - value).abs() < 1e-5;
            assert!(is_near(0, low) && is_near(1, high), "{count}: {found:?}");
        }
    }

    /// Runs of 1.5 s on storage that stalls for a second somewhere in each 30 s.
    #[test]
    fn the_interval_in_full_holds_the_long_run_rate() {
        let (stall_s, every_s, run_s) = (1.0, 30.0, 1.5);
        let (mut shown, mut held) = (0, 0);
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let each = (0..20).map(|_| {
                let at_s = every_s * random.below(1_000_000) as f64 / 1e6 - stall_s;
                let lost_s = (at_s + stall_s).min(run_s) - at_s.max(0.0);
                let rate = 1.0 - lost_s.max(0.0) / run_s;
                libm::log(rate.max(0.01)) + 0.002 * random.normal()
            });
            let logarithms: Vec<f64> = each.collect();
            let Some(full) = is_excluded(&logarithms) else {
                continue;
            };
            let [low, high] = full.ends.expect("an interval");
            assert!(low <= full.ratio && full.ratio <= high, "{full:?}");
            shown += 1;
            held += usize::from((low..=high).contains(&(1.0 - stall_s / every_s)));
        }
        assert!(shown > 100, "{shown} of 300");
        assert!(held * 100 >= shown * 85, "{held} of {shown}");
    }

    #[test]
    fn few_or_equal_runs_say_nothing() {
        for ratios in [
            &[][..],
            &[1.0],
            &[1.0, 0.5],
            &[1.0; 8],
            &[1.0, f64::NAN, 1.0],
        ] {
            assert_eq!(in_full(ratios), None, "{ratios:?}");
        }
        let fast = in_full(&[1.0, 1.0, 1.4, 1.0]).expect("one was faster");
        assert_eq!((fast.apart, fast.runs), (1, 4));
        assert!((fast.apart_share - 0.4).abs() < 1e-12);
    }
}
