//! Steady state: SNIA's rule on rounds, and the same on a sliding window.
//!
//! SNIA Solid State Storage Performance Test Specification (Enterprise) 1.1 and
//! later, definition of steady state: over the measurement window, largest
//! minus smallest value are at most 20 % of the window's mean, and the
//! best-fitting line moves by at most 10 % of the mean from one end of the
//! window to the other. The window is five rounds there; for disks and arrays
//! it slides over intervals of one second.
//!
//! It determines when to start measuring, not whether two runs differ. With few operations per
//! interval it is affected by Poisson noise: a level series passes in 97 % of windows at 800
//! operations each (3.5 % standard deviation), in less than half at 120 (9 %).

use crate::sample::mean;
use serde::{Deserialize, Serialize};

/// A rule of steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SteadyRule {
    /// Values in the window, at least 2.
    pub window: usize,
    /// Largest allowed range as a share of the mean.
    pub range_share_max: f64,
    /// Largest allowed excursion of the fitted line as a share of the mean.
    pub slope_share_max: f64,
}

/// Result of the rule for one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Steadiness {
    /// Mean of the window.
    pub mean: f64,
    /// Largest minus smallest value over the mean.
    pub range_share: f64,
    /// |slope| * (window - 1) over the mean.
    pub slope_share: f64,
    /// Whether both are within their limits.
    pub steady: bool,
}

impl SteadyRule {
    /// SNIA's: 5 values, 20 %, 10 %.
    pub const SNIA: SteadyRule = SteadyRule {
        window: 5,
        range_share_max: 0.20,
        slope_share_max: 0.10,
    };

    /// The last window of a series. None while there are fewer values than the
    /// window takes (n = 0, 1, 2 with SNIA's), or where the mean is not above 0.
    ///
    /// ```
    /// use stripewise_stats::SteadyRule;
    /// let rounds = [400.0, 300.0, 208.0, 205.0, 203.0, 204.0, 202.0];
    /// assert!(!SteadyRule::SNIA.judge(&rounds[..6]).unwrap().steady);
    /// assert!(SteadyRule::SNIA.judge(&rounds).unwrap().steady);
    /// ```
    pub fn judge(&self, values: &[f64]) -> Option<Steadiness> {
        let start = values.len().checked_sub(self.window.max(2))?;
        let window = &values[start..];
        let centre = mean(window).filter(|m| m.is_finite() && *m > 0.0)?;
        let largest = window.iter().copied().fold(f64::MIN, f64::max);
        let smallest = window.iter().copied().fold(f64::MAX, f64::min);
        let range_share = (largest - smallest) / centre;
        let slope_share = (slope(window) * (window.len() - 1) as f64).abs() / centre;
        Some(Steadiness {
            mean: centre,
            range_share,
            slope_share,
            steady: range_share <= self.range_share_max && slope_share <= self.slope_share_max,
        })
    }

    /// Whether and from where a series of rates is steady, each over `value_ns` nanoseconds. A
    /// round is as many values as [`ROUND_NS_MIN`] takes, at least one; the window slides by single
    /// values.
    ///
    /// ```
    /// use stripewise_stats::{Settling, SteadyRule};
    /// let level = [500.0; 10];
    /// let rule = SteadyRule::SNIA;
    /// // Ten values of a second, and one second in all.
    /// assert_eq!(rule.settling(&level, 1_000_000_000), Settling::From(0));
    /// assert_eq!(rule.settling(&level, 100_000_000), Settling::TooShort);
    /// ```
    pub fn settling(&self, values: &[f64], value_ns: u64) -> Settling {
        let rounds = self.window.max(2);
        let each = usize::try_from(ROUND_NS_MIN.div_ceil(value_ns.max(1))).unwrap_or(usize::MAX);
        let window = each.saturating_mul(rounds);
        if values.len() < window {
            return Settling::TooShort;
        }
        let is_steady = |from: &usize| {
            let rates = values[*from..*from + window].chunks(each);
            let rounds: Vec<f64> = rates.filter_map(mean).collect();
            self.judge(&rounds).is_some_and(|seen| seen.steady)
        };
        match (0..=values.len() - window).find(is_steady) {
            Some(index) => Settling::From(index),
            None => Settling::Never,
        }
    }
}

/// The shortest meaningful round: shorter ones reflect the scheduler and the host, not the disk's
/// state. SNIA's own are a minute.
pub const ROUND_NS_MIN: u64 = 1_000_000_000;

/// Steady state of a whole series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// Shorter than the rule's rounds together: undetermined.
    TooShort,
    /// No window of it is steady.
    Never,
    /// The first steady window begins at the value with this index: measuring may start there.
    From(usize),
}

/// Slope of the least-squares line through (0, v0), (1, v1)...; 0 for one value.
fn slope(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let x_mean = 0.5 * (n - 1.0);
    let (mut above, mut below) = (0.0, 0.0);
    for (k, v) in values.iter().enumerate() {
        let x = k as f64 - x_mean;
        above += x * v;
        below += x * x;
    }
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SNIA's rule at its limits: the values, range share, slope share, steady.
    #[test]
    fn the_limits_of_the_rule_are_inclusive() {
        let cases: [(&str, [f64; 5], f64, f64, bool); 6] = [
            ("level", [100.0; 5], 0.0, 0.0, true),
            (
                "range at 20 %",
                [100.0, 110.0, 100.0, 90.0, 100.0],
                0.20,
                0.08,
                true,
            ),
            (
                "range above",
                [100.0, 111.0, 100.0, 89.0, 100.0],
                0.22,
                0.088,
                false,
            ),
            (
                "rising by 10 %",
                [95.0, 97.5, 100.0, 102.5, 105.0],
                0.10,
                0.10,
                true,
            ),
            (
                "rising by 12 %",
                [94.0, 97.0, 100.0, 103.0, 106.0],
                0.12,
                0.12,
                false,
            ),
            (
                "falling by 12 %",
                [106.0, 103.0, 100.0, 97.0, 94.0],
                0.12,
                0.12,
                false,
            ),
        ];
        for (name, values, range, slope, steady) in cases {
            let seen = SteadyRule::SNIA.judge(&values).unwrap();
            assert!((seen.range_share - range).abs() < 1e-12, "{name}: {seen:?}");
            assert!((seen.slope_share - slope).abs() < 1e-12, "{name}: {seen:?}");
            assert_eq!(seen.steady, steady, "{name}");
        }
    }

    #[test]
    fn too_short_a_series_or_no_throughput_is_no_steady_state() {
        for values in [&[][..], &[1.0], &[1.0, 1.0], &[1.0; 4], &[0.0; 5]] {
            assert_eq!(SteadyRule::SNIA.judge(values), None);
            let settling = SteadyRule::SNIA.settling(values, ROUND_NS_MIN);
            assert!(!matches!(settling, Settling::From(_)), "{values:?}");
        }
    }

    #[test]
    fn the_window_slides_to_the_first_level_stretch() {
        // An exponential decay from three times the level, like an SSD that fills up.
        let values: Vec<f64> = (0..30)
            .map(|k| 1_000.0 * (1.0 + 2.0 * libm::exp(-f64::from(k) / 4.0)))
            .collect();
        let Settling::From(from) = SteadyRule::SNIA.settling(&values, ROUND_NS_MIN) else {
            panic!("it settles");
        };
        assert_eq!(from, 10);
        let before = SteadyRule::SNIA.judge(&values[..from + 4]).unwrap();
        assert!(!before.steady && before.slope_share > 0.10);
    }

    #[test]
    fn a_series_that_swings_for_ever_never_settles() {
        let values: Vec<f64> = (0..100).map(|k| f64::from(1_000 + 300 * (k % 2))).collect();
        assert_eq!(
            SteadyRule::SNIA.settling(&values, ROUND_NS_MIN),
            Settling::Never
        );
    }

    #[test]
    fn nothing_is_said_about_rounds_shorter_than_a_second() {
        let rule = SteadyRule::SNIA;
        let ms = 1_000_000;
        for (values, value_ns, expected) in [
            // A step of one second in tenths, as in a quick bench.
            (10, 100 * ms, Settling::TooShort),
            (49, 100 * ms, Settling::TooShort),
            (50, 100 * ms, Settling::From(0)),
            (4, 1_000 * ms, Settling::TooShort),
            (5, 1_000 * ms, Settling::From(0)),
            // Longer intervals are rounds by themselves.
            (4, 10_000 * ms, Settling::TooShort),
            (5, 10_000 * ms, Settling::From(0)),
            // Two of these make a round.
            (9, 700 * ms, Settling::TooShort),
            (10, 700 * ms, Settling::From(0)),
            (5, 0, Settling::TooShort),
        ] {
            let found = rule.settling(&vec![100.0; values], value_ns);
            assert_eq!(found, expected, "{values} of {value_ns} ns");
        }
        // Noise within a round is averaged; the window begins between rounds.
        let mut rates: Vec<f64> = (0..60)
            .map(|tenth| f64::from(100 + 40 * (tenth % 2)))
            .collect();
        rates[..4].fill(1_000.0);
        assert_eq!(rule.settling(&rates, 100 * ms), Settling::From(4));
    }
}
