//! A straight line through consecutive values: is there drift?
//!
//! Least squares of y over x = 0, 1, 2..., with Student's interval of the slope
//! (n - 2 degrees of freedom). Its level is exact for independent normal errors
//! of one variance, and near it for other errors that are not much skewed; with
//! errors that are correlated the interval is too narrow.

use crate::distribution::student_quantile;
use crate::sample::Estimate;

/// How much values change from the first to the last, in per cent, with its interval at `level`: by
/// the slope of their natural logarithms, which are given. None as for [`linear_trend`].
///
/// ```
/// use stripewise_stats::drift_percent;
/// let logarithms = [1.0_f64, 1.1, 1.21, 1.331].map(f64::ln);
/// let drift = drift_percent(&logarithms, 0.95).unwrap();
/// assert!((drift.value - 33.1).abs() < 1e-9);
/// ```
pub fn drift_percent(logarithms: &[f64], level: f64) -> Option<Estimate> {
    let slope = linear_trend(logarithms, level)?;
    let steps = (logarithms.len() - 1) as f64;
    Some(slope.map(|per_step| 100.0 * libm::expm1(steps * per_step)))
}

/// The slope per step, with its interval at `level`.
///
/// n = 0, 1 and 2: none, since a line through two points has no error to
/// measure. None where a value is not finite, or the level not between 0 and 1.
///
/// ```
/// use stripewise_stats::linear_trend;
/// let slope = linear_trend(&[1.0, 3.1, 4.9, 7.0, 9.1], 0.95).unwrap();
/// assert!((slope.value - 2.01).abs() < 1e-12);
/// assert!(slope.low > 1.9 && slope.high < 2.2);
/// ```
pub fn linear_trend(values: &[f64], level: f64) -> Option<Estimate> {
    let finite = values.iter().all(|value| value.is_finite());
    if values.len() < 3 || !finite || level <= 0.0 || level >= 1.0 {
        return None;
    }
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let spread = n * (n * n - 1.0) / 12.0;
    let centred = |(x, y): (usize, &f64)| (x as f64 - middle, y - mean);
    let product: f64 = values
        .iter()
        .enumerate()
        .map(centred)
        .map(|(x, y)| x * y)
        .sum();
    let slope = product / spread;
    let left: f64 = values
        .iter()
        .enumerate()
        .map(centred)
        .map(|(x, y)| (y - slope * x) * (y - slope * x))
        .sum();
    let error = libm::sqrt(left / (n - 2.0) / spread);
    let reach = student_quantile(0.5 + 0.5 * level, n - 2.0) * error;
    Some(Estimate {
        value: slope,
        low: slope - reach,
        high: slope + reach,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn too_few_values_have_no_trend() {
        for n in 0..3 {
            assert_eq!(linear_trend(&[1.0, 2.0, 3.0][..n], 0.95), None);
        }
        assert_eq!(linear_trend(&[1.0, f64::NAN, 3.0], 0.95), None);
        assert_eq!(linear_trend(&[1.0, 2.0, 3.0], 1.0), None);
    }

    #[test]
    fn a_textbook_regression_comes_out() {
        // R: confint(lm(c(2,4,5,4,5) ~ seq(0,4))): slope 0.6, -0.3002 to 1.5002.
        let slope = linear_trend(&[2.0, 4.0, 5.0, 4.0, 5.0], 0.95).unwrap();
        assert!((slope.value - 0.6).abs() < 1e-12);
        assert!((slope.low + 0.300_2).abs() < 1e-3 && (slope.high - 1.500_2).abs() < 1e-3);
    }

    #[test]
    fn the_interval_misses_no_drift_as_often_as_it_says() {
        let mut random = Random::new(11);
        let trials = 4_000;
        let missed = (0..trials)
            .filter(|_| {
                let values: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                !linear_trend(&values, 0.95).unwrap().contains(0.0)
            })
            .count();
        let share = missed as f64 / f64::from(trials);
        assert!((share - 0.05).abs() < 0.01, "{share}");
    }
}
