//! Plain samples: mean, spread, quantiles, and Student's interval of a mean.
//!
//! Values are finite numbers in any order; for an empty sample the result is `None`, never zero.
//! Infinite or undefined values do not panic but give infinite or undefined results.

use crate::distribution::student_quantile;
use serde::{Deserialize, Serialize};

/// A value and the interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval, 0 to 1: at least this share of such intervals contains the true
    /// value (each function states how exactly).
    pub level: f64,
}

impl Estimate {
    /// Upper end minus lower end.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether the interval contains `truth`, ends included.
    pub fn contains(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }

    /// The estimate on another scale. `rising` must be non-decreasing, so that the interval keeps
    /// its level.
    pub fn map(&self, rising: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            value: rising(self.value),
            low: rising(self.low),
            high: rising(self.high),
            level: self.level,
        }
    }
}

/// Definition of a sample quantile: three of the nine of Hyndman and Fan (1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantile {
    /// Type 1: the smallest value such that at least the share p is at most as
    /// large. Always one of the values; what [`crate::Histogram::percentile`] reports.
    Observed,
    /// Type 7: linear between the values, p = (k - 1)/(n - 1). The default of
    /// NumPy, R and spreadsheets.
    Linear,
    /// Type 8: linear, p = (k - 1/3)/(n + 1/3). About median-unbiased whatever
    /// the distribution.
    MedianUnbiased,
}

/// The arithmetic mean. n = 0: none; n = 1: that value. Rounding error below
/// n * 1.1e-16 of the mean of magnitudes.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The unbiased variance, over n - 1, in two passes. n = 0 and 1: none;
/// n = 2: half the squared difference.
pub fn variance(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() >= 2)?;
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// The square root of [`variance`]. n = 0 and 1: none.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(libm::sqrt)
}

/// Standard deviation over mean. n = 0 and 1: none; also where the mean is 0.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|&m| m != 0.0)?;
    Some(standard_deviation(values)? / centre.abs())
}

/// The median: the middle value, or the mean of the two middle ones.
/// n = 0: none; n = 1: that value; n = 2: their mean.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5, Quantile::Linear)
}

/// An interval that holds the median of the distribution with at least this probability
/// (0.95: in 95 of 100 samples), whatever the distribution: two values of the sample, the
/// k-th smallest and the k-th largest, with k as large as the binomial distribution of the
/// number of values below the median allows (Conover, Practical Nonparametric Statistics,
/// 3.2). n below 6 at 0.95: none, as even smallest and largest hold it less often.
///
/// ```
/// use stripewise_stats::median_interval;
/// let rates = [6.0, 1.0, 5.0, 2.0, 4.0, 3.0];
/// assert_eq!(median_interval(&rates, 0.95), Some([1.0, 6.0]));
/// assert_eq!(median_interval(&rates[..5], 0.95), None);
/// ```
pub fn median_interval(values: &[f64], level: f64) -> Option<[f64; 2]> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let n = values.len();
    let tail_max = (1.0 - level) / 2.0;
    // P(fewer than k values below the median) of Binomial(n, 1/2), by its logarithm: 2^-n
    // underflows where n is large.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut k = 0;
    while k < n / 2 + 1 {
        tail += libm::exp(log_term);
        if tail > tail_max {
            break;
        }
        k += 1;
        log_term += libm::log((n - k + 1) as f64 / k as f64);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let low = sorted.get(k.checked_sub(1)?)?;
    let high = sorted.get(n - k)?;
    Some([*low, *high])
}

/// A quantile at share `p` (0 to 1; beyond counts as these). n = 0: none, also
/// where p is not a number; n = 1: that value; n = 2: see [`Quantile`].
/// Takes O(n log n); see [`quantile_sorted`] for several at once.
///
/// ```
/// use stripewise_stats::{Quantile, quantile};
/// let rates = [4.0, 1.0, 3.0, 2.0];
/// assert_eq!(quantile(&rates, 0.5, Quantile::Observed), Some(2.0));
/// assert_eq!(quantile(&rates, 0.5, Quantile::Linear), Some(2.5));
/// ```
pub fn quantile(values: &[f64], p: f64, definition: Quantile) -> Option<f64> {
    quantile_sorted(&sorted(values), p, definition)
}

/// As [`quantile`], of values that are already in rising order.
pub fn quantile_sorted(sorted: &[f64], p: f64, definition: Quantile) -> Option<f64> {
    if sorted.is_empty() || p.is_nan() {
        return None;
    }
    let p = p.clamp(0.0, 1.0);
    let n = sorted.len() as f64;
    let position = match definition {
        // Shares such as 0.7 are not exact in binary; a value within a few rounding errors of a
        // whole rank counts as that rank.
        Quantile::Observed => libm::ceil(n * p * (1.0 - 4.0 * f64::EPSILON)),
        Quantile::Linear => (n - 1.0) * p + 1.0,
        Quantile::MedianUnbiased => (n + 1.0 / 3.0) * p + 1.0 / 3.0,
    }
    .clamp(1.0, n);
    let below = libm::floor(position);
    let index = below as usize - 1;
    let share = position - below;
    let low = sorted[index];
    let high = sorted[(index + 1).min(sorted.len() - 1)];
    Some(if share == 0.0 {
        low
    } else {
        low + share * (high - low)
    })
}

/// Student's interval of a mean: mean +- t * s / sqrt n. Exact where values are
/// independent and normal; rates of consecutive seconds are not independent
/// (use [`crate::Bootstrap`] with blocks). n = 0 and 1: none; n = 2: one degree
/// of freedom, 12.7 standard errors wide at 95 %.
pub fn mean_interval(values: &[f64], level: f64) -> Option<Estimate> {
    let value = mean(values)?;
    let error = standard_deviation(values)? / libm::sqrt(values.len() as f64);
    let t = student_quantile(0.5 + 0.5 * level, (values.len() - 1) as f64);
    Some(Estimate {
        value,
        low: value - t * error,
        high: value + t * error,
        level,
    })
}

/// A sorted copy.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}
