//! How many repetitions would tell.

use crate::distribution::student_quantile;

/// Repetitions of each side whose interval would reach about `wanted_percent` to
/// either side, if they scatter as those did from which `counts` values gave the
/// interval `[low, high]` in per cent at `level`: the scatter is read off the
/// interval as if it were Student's with the pooled variance, and a mean of n values
/// scatters by its root over n. Rounded up, 2 at least; infinite for an interval
/// without end. Below three values in all there is no interval: 2.
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
#[must_use]
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
    // So many that Student's factor is the normal distribution's.
    let ratio = student_quantile(upper, 1e6) * scatter / log(wanted_percent);
    (2.0 * ratio * ratio).ceil().max(LEAST)
}
