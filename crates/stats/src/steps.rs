//! Steps in a series: where its level changed, and a single drop.
//!
//! [`change_points`] is E-divisive (Matteson and James 2014) with Student's t-test in place of
//! random permutations, as in Hunter (Fleming et al. 2023), now Apache Otava: windows slide over
//! the series, each is cut where the energy distance between the parts is largest while the cut is
//! significant at ten times the requested p-value; then cuts that are not significant among all
//! others are merged away, the weakest first. No random numbers: the same series gives the same
//! steps. Two differences: variances are over n - 1, where Otava divides by n and rejects slightly
//! more often than stated; and all p-values are recomputed after each merge, where Otava 0.8 keeps
//! the left one.
//!
//! [`crate::step_down`] looks for one lasting drop, such as from burst credits.
//!
//! Both treat values as independent around their level; slow drift or waves look like steps, hence
//! `magnitude_min` and the comparison with a line.

use crate::distribution::student_two_sided;
use crate::sample::{mean, variance};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Criteria for a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangePointRule {
    /// Values examined together, at least 2.
    pub window: usize,
    /// Largest p-value of the t-test between adjacent stretches, below 1.
    pub p_value_max: f64,
    /// Smallest relative change; smaller steps are merged away. 0 keeps all.
    pub magnitude_min: f64,
}

impl Default for ChangePointRule {
    /// Otava's: windows of 50, p 0.001, any magnitude.
    fn default() -> Self {
        ChangePointRule {
            window: 50,
            p_value_max: 0.001,
            magnitude_min: 0.0,
        }
    }
}

/// A step between two stretches of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangePoint {
    /// Index of the first value of the later stretch.
    pub index: usize,
    /// Mean of the stretch before, back to the previous step.
    pub mean_before: f64,
    /// Mean of the stretch after, up to the next step.
    pub mean_after: f64,
    /// Two-sided p-value of Student's t-test between the two stretches; not corrected for the
    /// choice of the position.
    pub p_value: f64,
}

impl ChangePoint {
    /// The larger of |after/before - 1| and |before/after - 1|, so that halving
    /// and doubling are equally large; a mean of 0 leaves that side out.
    pub fn magnitude(&self) -> f64 {
        let relative = |a: f64, b: f64| if b == 0.0 { 0.0 } else { (a / b - 1.0).abs() };
        relative(self.mean_after, self.mean_before).max(relative(self.mean_before, self.mean_after))
    }
}

/// The steps of a series, in order. Empty for n = 0, 1 and 2 (two values that
/// differ say nothing about how much values differ) and where a value is not
/// finite. Time O(n * window).
///
/// Reliability: see the false alarms measured in `tests/it/monte_carlo.rs`; the position is chosen
/// and tested on the same data, so there are more than the p-value says.
///
/// ```
/// use stripewise_stats::{ChangePointRule, change_points};
/// let series: Vec<f64> = (0..40).map(|k| if k < 25 { 100.0 } else { 90.0 } + f64::from(k % 3)).collect();
/// let steps = change_points(&series, &ChangePointRule::default());
/// assert_eq!(steps.iter().map(|s| s.index).collect::<Vec<_>>(), [25]);
/// ```
pub fn change_points(series: &[f64], rule: &ChangePointRule) -> Vec<ChangePoint> {
    if series.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let weak = first_pass_p_value(rule.p_value_max);
    let cuts = split(series, rule.window.max(2), weak);
    merge(series, cuts, rule)
}

/// The first pass also keeps weak steps: some become significant only once their neighbours are
/// known.
fn first_pass_p_value(p_value_max: f64) -> f64 {
    if p_value_max < 0.05 {
        p_value_max * 10.0
    } else if p_value_max < 0.5 {
        p_value_max * 2.0
    } else {
        p_value_max
    }
}

/// Sliding windows; each starts at the last step found, or half a window further.
fn split(series: &[f64], window: usize, p_value_max: f64) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < series.len() {
        let end = (start + window).min(series.len());
        let found = divide(&series[start..end], p_value_max);
        let last = found.last().map_or(0, |&cut| start + cut);
        cuts.extend(found.iter().map(|cut| start + cut));
        start = last.max(start + window / 2);
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Repeatedly cuts a window at its best position while that is significant.
fn divide(window: &[f64], p_value_max: f64) -> Vec<usize> {
    let distances = Distances::new(window);
    let mut cuts: Vec<usize> = Vec::new();
    loop {
        let best = stretches(&cuts, window.len())
            .filter_map(|range| distances.best_cut(range.clone()).map(|cut| (cut, range)))
            .reduce(|best, next| if next.0.1 > best.0.1 { next } else { best });
        let Some(((cut, _), range)) = best else {
            return cuts;
        };
        let p = t_test(&window[range.start..cut], &window[cut..range.end]);
        if p > p_value_max {
            return cuts;
        }
        let place = cuts.partition_point(|&c| c < cut);
        cuts.insert(place, cut);
    }
}

/// The stretches between cuts.
fn stretches(cuts: &[usize], end: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(end));
    starts.zip(ends).map(|(start, end)| start..end)
}

/// Removes the weakest step until all are significant and large enough.
fn merge(series: &[f64], mut cuts: Vec<usize>, rule: &ChangePointRule) -> Vec<ChangePoint> {
    loop {
        let bounds: Vec<Range<usize>> = stretches(&cuts, series.len()).collect();
        let points: Vec<ChangePoint> = bounds
            .windows(2)
            .map(|pair| change_point(series, &pair[0], &pair[1]))
            .collect();
        let weakest = |key: fn(&ChangePoint) -> f64| {
            (0..points.len()).reduce(|a, b| {
                if key(&points[b]) > key(&points[a]) {
                    b
                } else {
                    a
                }
            })
        };
        let Some(doubtful) = weakest(|p| p.p_value) else {
            return points;
        };
        if points[doubtful].p_value >= rule.p_value_max {
            cuts.remove(doubtful);
            continue;
        }
        match weakest(|p| -p.magnitude()) {
            Some(small) if points[small].magnitude() <= rule.magnitude_min => {
                cuts.remove(small);
            }
            _ => return points,
        }
    }
}

fn change_point(series: &[f64], before: &Range<usize>, after: &Range<usize>) -> ChangePoint {
    let (before, index, after) = (&series[before.clone()], after.start, &series[after.clone()]);
    ChangePoint {
        index,
        mean_before: mean(before).unwrap_or(0.0),
        mean_after: mean(after).unwrap_or(0.0),
        p_value: t_test(before, after),
    }
}

/// Two-sided p-value of Student's t-test with a common variance. 1 below three
/// values in all or where the means are equal; 0 where they differ and nothing
/// varies.
fn t_test(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let degrees = n + m - 2.0;
    let (Some(a), Some(b)) = (mean(left), mean(right)) else {
        return 1.0;
    };
    if degrees <= 0.0 || a == b {
        return 1.0;
    }
    let squares =
        variance(left).unwrap_or(0.0) * (n - 1.0) + variance(right).unwrap_or(0.0) * (m - 1.0);
    let error = libm::sqrt(squares / degrees * (1.0 / n + 1.0 / m));
    if error == 0.0 {
        return 0.0;
    }
    student_two_sided((a - b) / error, degrees)
}

/// Sums of the distances within a window: `columns[k][i]` is the sum of
/// |z_j - z_k| over j < i.
struct Distances {
    columns: Vec<Vec<f64>>,
}

impl Distances {
    fn new(window: &[f64]) -> Self {
        let columns = window
            .iter()
            .map(|z| {
                let mut sums = Vec::with_capacity(window.len() + 1);
                let mut sum = 0.0;
                sums.push(sum);
                for other in window {
                    sum += (other - z).abs();
                    sums.push(sum);
                }
                sums
            })
            .collect();
        Distances { columns }
    }

    /// The cut of the largest energy distance between z[start..cut] and
    /// z[cut..end], over all ends within the range, and that distance.
    fn best_cut(&self, range: Range<usize>) -> Option<(usize, f64)> {
        let start = range.start;
        let mut best: Option<(usize, f64)> = None;
        let mut within_left = 0.0;
        for cut in start + 1..range.end {
            let n = (cut - start) as f64;
            let last = &self.columns[cut - 1];
            within_left += last[cut - 1] - last[start];
            let (mut across, mut within_right) = (0.0, 0.0);
            for end in cut + 1..=range.end {
                let m = (end - cut) as f64;
                let added = &self.columns[end - 1];
                across += added[cut] - added[start];
                within_right += added[end - 1] - added[cut];
                let mut distance = across;
                if n > 1.0 {
                    distance -= m / (n - 1.0) * within_left;
                }
                if m > 1.0 {
                    distance -= n / (m - 1.0) * within_right;
                }
                let distance = 2.0 * distance / (n + m);
                if best.is_none_or(|(_, most)| distance > most) {
                    best = Some((cut, distance));
                }
            }
        }
        best
    }
}
