//! How many repetitions are needed, and what the existing ones can detect.

use crate::distribution::student_quantile;
use crate::sample::standard_deviation;

/// The probability of finding a loss of [`smallest_loss`].
pub const DETECTION_CHANCE: f64 = 0.9;
/// Smaller differences are not relevant, in per cent.
const TOLERANCE_PERCENT_MIN: f64 = 1.0;

/// Scatter of runs: the standard deviation of the logarithms of their values, so that 0.02 is 2 %.
/// n = 0 and 1, or a value not above 0: none.
pub fn scatter(values: &[f64]) -> Option<f64> {
    let usable = values.iter().all(|value| value.is_finite() && *value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    usable.then(|| standard_deviation(&logarithms)).flatten()
}

/// Default tolerance for a difference, in per cent: 1 %, or the scatter of the target's runs,
/// whichever is larger.
pub fn default_tolerance_percent(scatter: f64) -> f64 {
    TOLERANCE_PERCENT_MIN.max(100.0 * libm::expm1(scatter))
}

/// The smallest loss, in per cent, that a comparison of `counts` runs of either side finds with a
/// probability of 90 %, for runs with this scatter and a tolerated loss of up to
/// `tolerance_percent`: on logarithms, the tolerance plus (t(1 - a/2) + t(0.9)) s sqrt(1/n + 1/m),
/// with n + m - 2 degrees of freedom and a = 1 - level. The interval of Student's pooled t must
/// exceed it; the exact rank-sum test needs 2 to 5 % more runs.
///
/// Below two degrees of freedom, or without runs on a side: 100, nothing is found.
///
/// ```
/// use stripewise_stats::smallest_loss_percent;
/// // Six runs that scatter by 2 %, against six.
/// let loss = smallest_loss_percent([6, 6], 0.02, 0.95, 1.0);
/// assert!((loss - 5.0).abs() < 0.1, "{loss}");
/// assert_eq!(smallest_loss_percent([1, 1], 0.02, 0.95, 1.0), 100.0);
/// ```
pub fn smallest_loss_percent(
    counts: [usize; 2],
    scatter: f64,
    level: f64,
    tolerance_percent: f64,
) -> f64 {
    let [a, b] = counts.map(|count| count as f64);
    let degrees = a + b - 2.0;
    if counts.contains(&0) || degrees < 2.0 {
        return 100.0;
    }
    let t = student_quantile((1.0 + level) / 2.0, degrees)
        + student_quantile(DETECTION_CHANCE, degrees);
    let beyond = t * scatter * libm::sqrt(1.0 / a + 1.0 / b);
    let tolerated = -libm::log1p(-tolerance_percent / 100.0);
    -100.0 * libm::expm1(-(tolerated + beyond))
}

/// Repetitions per side whose interval would reach about `wanted_percent` to either side, if they
/// scatter like the `counts` values that gave the interval `[low, high]` in per cent at `level`:
/// the scatter is derived from the interval as if it were Student's with the pooled variance, and a
/// mean of n values scatters by its root over n. Rounded up, at least 2; infinite for an unbounded
/// interval. Below three values in total there is no interval: 2.
///
/// ```
/// use stripewise_stats::repetitions_needed;
/// let of = |counts, interval| repetitions_needed(counts, interval, 0.95, 10.0);
/// assert_eq!(of([6, 6], [-9.090_909, 10.0]), 5.0);
/// // Wider by a factor of four on the scale of ratios: sixteen times as many.
/// assert_eq!(of([6, 6], [-31.698_65, 46.41]), 75.0);
/// // One old run and six new ones.
/// assert_eq!(of([1, 6], [-53.0, 113.6]), 63.0);
/// ```
pub fn repetitions_needed(
    counts: [usize; 2],
    [low, high]: [f64; 2],
    level: f64,
    wanted_percent: f64,
) -> f64 {
    const LEAST: f64 = 2.0;
    let log = |percent: f64| libm::log1p(percent / 100.0);
    let [a, b] = counts.map(|count| count as f64);
    let degrees = a + b - 2.0;
    if counts.contains(&0) || degrees < 1.0 {
        return LEAST;
    }
    let upper = (1.0 + level) / 2.0;
    let half = (log(high) - log(low)) / 2.0;
    let scatter = half / (student_quantile(upper, degrees) * (1.0 / a + 1.0 / b).sqrt());
    // So many that Student's factor equals the normal distribution's.
    let ratio = student_quantile(upper, 1e6) * scatter / log(wanted_percent);
    (2.0 * ratio * ratio).ceil().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, compare_samples};

    #[test]
    fn scatter_and_tolerance_of_few_runs() {
        assert_eq!(scatter(&[]), None);
        assert_eq!(scatter(&[5.0]), None);
        assert_eq!(scatter(&[5.0, 0.0]), None);
        let two = scatter(&[100.0, 102.0]).unwrap();
        assert!((two - 0.014).abs() < 0.0001, "{two}");
        for (scatter, expected) in [(0.0, 1.0), (0.005, 1.0), (0.03, 3.045)] {
            let tolerance = default_tolerance_percent(scatter);
            assert!((tolerance - expected).abs() < 0.001, "{tolerance}");
        }
    }

    #[test]
    fn a_loss_of_that_size_is_found_nine_times_in_ten() {
        for (counts, scatter) in [([6, 6], 0.02), ([10, 6], 0.05), ([3, 3], 0.01)] {
            let loss = smallest_loss_percent(counts, scatter, 0.95, 1.0);
            let mut random = Random::new(1);
            let mut runs = |count: usize, level: f64| -> Vec<f64> {
                let one = |_| level * libm::exp(scatter * random.normal());
                (0..count).map(one).collect()
            };
            let trials = 400;
            let found = (0..trials).filter(|_| {
                let (before, after) = (runs(counts[0], 100.0), runs(counts[1], 100.0 - loss));
                let compared = compare_samples(&before, &after, 0.95).unwrap();
                compared.interval_percent.unwrap().high < -1.0
            });
            let share = f64::from(found.count() as u32) / f64::from(trials);
            assert!(
                (0.82..0.95).contains(&share),
                "{counts:?}: {share} at {loss} %"
            );
        }
    }
}
