//! A against B in blocks: the difference in per cent, its interval, a p-value.
//!
//! Within a block both were measured close together and in random order, so slow drift affects
//! both. Each block gives d = ln(B / A); the estimate is the Hodges-Lehmann centre of the d, the
//! interval the exact signed-rank one, both converted back to per cent by exp(d) - 1. This replaces
//! running all of A and then all of B: see the tests for how badly that does.

use crate::hodges_lehmann::hodges_lehmann;
use crate::sample::Estimate;
use crate::wilcoxon::{signed_rank, signed_rank_interval};
use serde::{Deserialize, Serialize};

/// One block's two values, in the same unit, both above 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pair {
    /// Of A, the reference.
    pub a: f64,
    /// Of B.
    pub b: f64,
}

/// B compared with A over blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Comparison {
    /// Number of blocks.
    pub blocks: usize,
    /// (B / A - 1) * 100.
    pub difference_percent: f64,
    /// The same with its interval; none with too few blocks for the level.
    pub interval_percent: Option<Estimate>,
    /// Two-sided, exact, of "no difference"; before any correction for many rows.
    pub p_value: f64,
}

impl Comparison {
    /// Whether the interval excludes 0.
    pub fn found(&self) -> bool {
        self.interval_percent
            .is_some_and(|interval| !interval.contains(0.0))
    }

    /// The x of "no difference larger than x % was found": the end of the interval that is farther
    /// from 0. None without an interval.
    pub fn difference_percent_max(&self) -> Option<f64> {
        self.interval_percent
            .map(|interval| interval.low.abs().max(interval.high.abs()))
    }
}

/// Compares B with A over blocks.
///
/// None without blocks and where a value is not finite and above 0. n = 1 and 2
/// give a difference and no interval, as does every n below
/// [`crate::signed_rank_count_min`] of 1 - level (6 blocks for 95 %).
///
/// ```
/// use stripewise_stats::{Pair, compare_blocks};
/// let blocks: Vec<Pair> = [12.1, 12.6, 12.4, 12.7, 12.3, 12.5, 12.9]
///     .iter()
///     .map(|percent| Pair { a: 1_000.0, b: 1_000.0 * (1.0 + percent / 100.0) })
///     .collect();
/// let comparison = compare_blocks(&blocks, 0.95).unwrap();
/// assert!(comparison.found());
/// assert!((comparison.difference_percent - 12.5).abs() < 0.01);
/// ```
pub fn compare_blocks(pairs: &[Pair], level: f64) -> Option<Comparison> {
    let logarithms = log_ratios(pairs)?;
    let percent = |d: f64| 100.0 * libm::expm1(d);
    Some(Comparison {
        blocks: pairs.len(),
        difference_percent: percent(hodges_lehmann(&logarithms)?),
        interval_percent: signed_rank_interval(&logarithms, level).map(|i| i.map(percent)),
        p_value: signed_rank(&logarithms)?.p_two_sided,
    })
}

/// ln(B / A) of each block; none where a value is not finite and above 0.
pub fn log_ratios(pairs: &[Pair]) -> Option<Vec<f64>> {
    pairs
        .iter()
        .map(|pair| {
            let usable = |v: f64| v.is_finite() && v > 0.0;
            (usable(pair.a) && usable(pair.b)).then(|| libm::log(pair.b / pair.a))
        })
        .collect()
}

/// The usual column, (B - A) / A * 100, as the articles print it. None if A is 0 or either is not
/// finite.
pub fn difference_percent(a: f64, b: f64) -> Option<f64> {
    let difference = (b - a) / a * 100.0;
    difference.is_finite().then_some(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(percents: &[f64]) -> Vec<Pair> {
        percents
            .iter()
            .map(|percent| Pair {
                a: 500.0,
                b: 500.0 * (1.0 + percent / 100.0),
            })
            .collect()
    }

    #[test]
    fn few_blocks_have_a_difference_but_no_interval() {
        assert_eq!(compare_blocks(&[], 0.95), None);
        for n in 1..6 {
            let seen = compare_blocks(&blocks(&[3.0; 5][..n]), 0.95).unwrap();
            assert!((seen.difference_percent - 3.0).abs() < 1e-9);
            assert_eq!((seen.interval_percent, seen.found()), (None, false));
            assert_eq!(seen.difference_percent_max(), None);
        }
    }

    #[test]
    fn values_without_a_logarithm_are_refused() {
        for (a, b) in [
            (0.0, 1.0),
            (1.0, 0.0),
            (-1.0, 1.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            assert_eq!(compare_blocks(&[Pair { a, b }], 0.95), None);
        }
    }

    #[test]
    fn swapping_a_and_b_mirrors_the_ratio() {
        let forward = blocks(&[1.0, -0.5, 2.0, 1.5, 0.2, 0.9, 1.1, -0.1]);
        let backward: Vec<Pair> = forward.iter().map(|p| Pair { a: p.b, b: p.a }).collect();
        let (f, b) = (
            compare_blocks(&forward, 0.95).unwrap(),
            compare_blocks(&backward, 0.95).unwrap(),
        );
        let mirrored = |percent: f64| 100.0 * (1.0 / (1.0 + percent / 100.0) - 1.0);
        let (fi, bi) = (f.interval_percent.unwrap(), b.interval_percent.unwrap());
        assert!((mirrored(fi.low) - bi.high).abs() < 1e-9);
        assert!((mirrored(fi.high) - bi.low).abs() < 1e-9);
        assert!((f.p_value - b.p_value).abs() < 1e-12);
    }

    #[test]
    fn the_classic_column_is_the_articles() {
        // Oja and Nisula 2007: random reads, 1 and 8 threads, and a write.
        for (a, b, printed) in [
            (400.45, 589.11, "47.11"),
            (1071.10, 1267.99, "18.38"),
            (314.82, 348.02, "10.55"),
        ] {
            assert_eq!(format!("{:.2}", difference_percent(a, b).unwrap()), printed);
        }
        assert_eq!(difference_percent(0.0, 1.0), None);
    }
}
