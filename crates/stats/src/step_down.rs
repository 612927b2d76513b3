//! One lasting drop in a series of rates, as caused by an exhausted burst credit, a full write
//! cache or a throttled device.

use crate::distribution::student_two_sided;
use serde::{Deserialize, Serialize};

/// A drop from one level to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StepDown {
    /// Index of the first value at the lower level.
    pub index: usize,
    /// Mean before.
    pub mean_before: f64,
    /// Mean from there to the end.
    pub mean_after: f64,
    /// (before - after) / before, 0 to 1.
    pub drop_share: f64,
    /// Two-sided p-value of the t-test between the two, times the number of positions tried
    /// (Bonferroni), at most 1.
    pub p_value: f64,
}

/// Fewest values on each side of a drop: shorter ones are hiccups.
const SIDE_MIN: usize = 3;
/// A drop counts if chance produces a similar one in fewer than one of 1,000 series.
const P_VALUE_MAX: f64 = 0.001;
/// This share of the values after a drop is below the middle between both levels: after a stall the
/// rate is back.
const BELOW_SHARE_MIN: f64 = 0.9;
/// This share of them is above 0: what completes nothing has stalled, and shows no level.
const MOVING_SHARE_MIN: f64 = 0.75;

/// The single lasting drop of a series, if there is one of at least `drop_share_min` of the
/// preceding level.
///
/// Definition: the two-level least-squares fit, with each side at least three values and a
/// twentieth of the series long. It counts if its p-value is below 0.001, its residual is half
/// that of a straight line - a slow decline has no step -, and the lower level holds to the end:
/// nine in ten of its values are below the middle between both levels, and three in four above 0.
/// A stall in the last values is no step: neither one that ends before the series does nor one
/// that outlasts it. n = 0 to 5: none.
///
/// ```
/// use stripewise_stats::step_down;
/// let mut rates = vec![3_000.0; 40];
/// rates.extend([300.0; 20]);
/// let drop = step_down(&rates, 0.1).unwrap();
/// assert_eq!((drop.index, drop.mean_after), (40, 300.0));
/// ```
pub fn step_down(series: &[f64], drop_share_min: f64) -> Option<StepDown> {
    let n = series.len();
    let side = SIDE_MIN.max(n / 20);
    if n < 2 * side {
        return None;
    }
    let total: f64 = series.iter().sum();
    let centre = total / n as f64;
    let squares: f64 = series.iter().map(|v| (v - centre) * (v - centre)).sum();
    // Around the common mean the two-level fit leaves squares - s^2 (1/a + 1/b),
    // with s the centred sum of the first a values and b = n - a.
    let mut best: Option<(f64, usize)> = None;
    let mut sum = 0.0;
    for (k, v) in series.iter().enumerate() {
        if k >= side && k + side <= n {
            let (a, b) = (k as f64, (n - k) as f64);
            let gain = sum * sum * (1.0 / a + 1.0 / b);
            if sum > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, k));
            }
        }
        sum += v - centre;
    }
    let (_, index) = best?;
    let mean_before = series[..index].iter().sum::<f64>() / index as f64;
    let mean_after = series[index..].iter().sum::<f64>() / (n - index) as f64;
    let left = squares_around(&series[..index], mean_before)
        + squares_around(&series[index..], mean_after);
    let degrees = (n - 2) as f64;
    let error = libm::sqrt(left / degrees * (1.0 / index as f64 + 1.0 / (n - index) as f64));
    let places = (n + 1 - 2 * side) as f64;
    let p_value = if error > 0.0 {
        (student_two_sided((mean_before - mean_after) / error, degrees) * places).min(1.0)
    } else {
        0.0
    };
    let drop_share = (mean_before - mean_after) / mean_before;
    let found = mean_before > 0.0
        && drop_share >= drop_share_min
        && p_value < P_VALUE_MAX
        && holds(&series[index..], 0.5 * (mean_before + mean_after))
        && left <= 0.5 * squares_around_line(series, centre, squares);
    found.then_some(StepDown {
        index,
        mean_before,
        mean_after,
        drop_share,
        p_value,
    })
}

/// Whether the values after a drop stay at a level below `middle`.
fn holds(after: &[f64], middle: f64) -> bool {
    let share = |of: &dyn Fn(f64) -> bool| {
        let count = after.iter().filter(|value| of(**value)).count();
        count as f64 / after.len() as f64
    };
    share(&|value| value < middle) >= BELOW_SHARE_MIN
        && share(&|value| value > 0.0) >= MOVING_SHARE_MIN
}

fn squares_around(values: &[f64], centre: f64) -> f64 {
    values.iter().map(|v| (v - centre) * (v - centre)).sum()
}

/// Sum of squares around the mean left by the least-squares line.
fn squares_around_line(series: &[f64], centre: f64, squares: f64) -> f64 {
    let middle = 0.5 * (series.len() - 1) as f64;
    let (mut cross, mut x_squares) = (0.0, 0.0);
    for (k, v) in series.iter().enumerate() {
        let x = k as f64 - middle;
        cross += x * (v - centre);
        x_squares += x * x;
    }
    (squares - cross * cross / x_squares).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Levels with normal noise of 5 %.
    fn series(levels: &[(f64, usize)], seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        levels
            .iter()
            .flat_map(|&(level, n)| vec![level; n])
            .map(|level| level * (1.0 + 0.05 * random.normal()))
            .collect()
    }

    #[test]
    fn a_burst_credits_end_is_found_with_its_size() {
        for seed in 0..50 {
            let drop = step_down(&series(&[(3_000.0, 40), (1_000.0, 80)], seed), 0.1).unwrap();
            assert_eq!(drop.index, 40);
            assert!((drop.drop_share - 2.0 / 3.0).abs() < 0.02, "{drop:?}");
        }
    }

    #[test]
    fn what_is_no_lasting_drop_is_not_called_one() {
        let cases: [(&str, Vec<f64>); 7] = [
            ("nothing", vec![]),
            ("five values", vec![9.0, 9.0, 9.0, 1.0, 1.0]),
            ("a rise", series(&[(1_000.0, 40), (3_000.0, 40)], 1)),
            ("a level", vec![500.0; 60]),
            (
                "a hiccup",
                series(&[(3_000.0, 40), (300.0, 2), (3_000.0, 40)], 1),
            ),
            (
                "a slow fall",
                (0..90).map(|k| 3_000.0 - 20.0 * f64::from(k)).collect(),
            ),
            ("a small drop", series(&[(3_000.0, 400), (2_800.0, 400)], 1)),
        ];
        for (name, values) in cases {
            assert_eq!(step_down(&values, 0.1), None, "{name}");
        }
    }

    /// Tenths of a second in which a stall of 300 ms lies anywhere, also at either end.
    #[test]
    fn a_stall_is_no_step_wherever_it_lies() {
        for count in [15, 50] {
            for start in 0..count * 10 {
                let mut rates = series(&[(97_000.0, count)], start as u64);
                for (index, rate) in rates.iter_mut().enumerate() {
                    let (from, to) = (index * 10, index * 10 + 10);
                    let stalled = to.min(start + 30).saturating_sub(from.max(start));
                    *rate *= 1.0 - stalled as f64 / 10.0;
                }
                assert_eq!(step_down(&rates, 0.2), None, "{count}, {start}: {rates:?}");
            }
        }
        // A drop to a third whose level is met by a stall later on is one all the same.
        let mut rates = series(&[(3_000.0, 40), (1_000.0, 80)], 1);
        rates[100..103].fill(0.0);
        assert_eq!(step_down(&rates, 0.1).map(|drop| drop.index), Some(40));
    }

    #[test]
    fn noise_alone_makes_no_drop_in_2000_series() {
        let alarms = (0..2_000)
            .filter(|&seed| step_down(&series(&[(1_000.0, 60)], seed), 0.02).is_some())
            .count();
        // At most 1 in 1,000 by design; 7 would be a binomial tail of 0.1 %.
        assert!(alarms <= 6, "{alarms}");
    }
}
