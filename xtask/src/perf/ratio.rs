//! Ratios of paired measurements.

use anyhow::{Context, Result};
use std::fmt;
use stripewise_stats::{hodges_lehmann, signed_rank_interval};

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.4} [{:.4}, {:.4}]",
            self.estimate, self.low, self.high
        )
    }
}

/// Ours to theirs, pair by pair: the Hodges-Lehmann estimate of the log ratio and the interval from
/// exact signed ranks at `level`. Needs at least 6 pairs at 95 %, 5 at 90 %.
pub fn of(ours: &[f64], theirs: &[f64], level: f64) -> Result<Ratio> {
    let logs: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .map(|(ours, theirs)| (ours / theirs).ln())
        .collect();
    let estimate = hodges_lehmann(&logs).context("no pairs")?;
    let interval = signed_rank_interval(&logs, level).context("too few pairs for an interval")?;
    Ok(Ratio {
        estimate: estimate.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
    })
}

/// Order of the programs in a pair: alternately forward and backward, so that no program always
/// follows the same one.
pub fn turn(pair: usize, place: usize, programs: usize) -> usize {
    if pair.is_multiple_of(2) {
        place
    } else {
        programs - 1 - place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_ratio_is_found_exactly_whatever_the_drift() {
        let theirs: Vec<f64> = (1..=10).map(|pair| f64::from(pair) * 1000.0).collect();
        let ours: Vec<f64> = theirs.iter().map(|iops| iops * 1.25).collect();
        let ratio = of(&ours, &theirs, 0.95).unwrap();
        assert!((ratio.estimate - 1.25).abs() < 1e-12);
        assert!((ratio.low - 1.25).abs() < 1e-12 && (ratio.high - 1.25).abs() < 1e-12);
    }

    #[test]
    fn two_pairs_give_no_interval() {
        assert!(of(&[1.0, 2.0], &[1.0, 2.0], 0.95).is_err());
    }

    #[test]
    fn each_program_is_first_as_often_as_last() {
        let order = |pair| (0..3).map(|place| turn(pair, place, 3)).collect::<Vec<_>>();
        assert_eq!(order(0), [0, 1, 2]);
        assert_eq!(order(1), [2, 1, 0]);
    }
}
