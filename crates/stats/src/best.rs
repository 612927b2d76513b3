//! Which of several alternatives is the best: comparisons with the best (Hsu 1984), by a
//! bootstrap of whole passes.
//!
//! A row is a pass: every alternative measured once (or several times, averaged), under conditions
//! shared by the alternatives. Effects of a pass common to all alternatives are removed first.
//! Larger values are better.
//!
//! With e = value - mean of its pass, m_l the mean of alternative l, r = e - m_l and
//! s^2 = sum r^2 / ((n-1)(k-1)), passes are drawn again and again with replacement, and
//! the same formulas give r*_l and s*. An alternative is kept unless the best one is
//! ahead of it by more than q_l s, q_l the quantile of (max_j r*_j - r*_l) / s* at the
//! level asked for. By simulation sets at 95 % hold the truly best one in 95.0 to 97.9 %
//! (6 to 12 passes, 8 to 24 alternatives) and are 1.04 times as large as those of an
//! oracle that knows the noise; Tukey's range makes them 1.5 times as large.
//!
//! How far an alternative that is out is behind the best: in the event that the best, b, lies within
//! d_b s of its true place against every other one (d_i the quantile of max_j |r*_j - r*_i| / s*), it
//! is one of the set, so the lead ends at the largest m_l - m_i + d_i s over the i of the set, or
//! at 0 (Edwards and Hsu 1983). One that is no rival has the smallest m_l - m_i - d_i s as the lower
//! end. By simulation all intervals together hold in 93 to 100 %.
//!
//! With fewer than six passes there are too few distinct draws (with two passes none that vary), so
//! half widths are at least those of Student's t with Bonferroni's correction.
//!
//! Not supported: rows with gaps. A pass with an alternative that was not measured is not a row.

use crate::distribution::student_quantile;
use crate::random::Random;
use crate::sample::{Estimate, Quantile, quantile_sorted};

/// Resamples behind the quantiles of this module.
pub const BEST_RESAMPLES: usize = 1_999;

/// From this many passes on only the bootstrap is used.
const BOOTSTRAP_PASSES: usize = 6;

/// Passes over the same alternatives, centred.
#[derive(Clone, Debug)]
pub struct Passes {
    means: Vec<f64>,
    residuals: Vec<Vec<f64>>,
    spread: f64,
    level_of_all: f64,
}

/// Alternatives that may be the best.
#[derive(Clone, Debug, PartialEq)]
pub struct BestSet {
    /// Whether each alternative may be the best.
    pub in_set: Vec<bool>,
    /// Each alternative's lead over the best of its rivals (negative: behind), with a simultaneous
    /// interval: Hsu's for rivals that may be the best, which contains 0. It ends at 0 or below for
    /// alternatives that are out.
    pub ahead: Vec<Estimate>,
    /// The largest half width of those intervals, before they are cut at 0: how close two
    /// alternatives may be and still be distinguished.
    pub resolution: f64,
}

impl Passes {
    /// Centres the rows. `None` for fewer than two rows or alternatives, rows of
    /// different lengths, and values that are not finite.
    ///
    /// ```
    /// use stripewise_stats::Passes;
    /// // The second alternative is ahead by 2 in every pass, whatever the pass is like.
    /// let rows = vec![vec![10.0, 12.0], vec![20.1, 22.0], vec![14.9, 17.0], vec![8.0, 10.1]];
    /// let best = Passes::new(&rows).unwrap().best(&[true, true], 0.95, 1);
    /// assert_eq!(best.in_set, [false, true]);
    /// ```
    pub fn new(rows: &[Vec<f64>]) -> Option<Passes> {
        let (n, k) = (rows.len(), rows.first()?.len());
        let whole = |row: &Vec<f64>| row.len() == k && row.iter().all(|value| value.is_finite());
        if n < 2 || k < 2 || !rows.iter().all(whole) {
            return None;
        }
        let of_row = |row: &Vec<f64>| row.iter().sum::<f64>() / k as f64;
        let level_of_all = rows.iter().map(of_row).sum::<f64>() / n as f64;
        let centred: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let middle = of_row(row);
                row.iter().map(|value| value - middle).collect()
            })
            .collect();
        let mean = |l: usize| centred.iter().map(|row| row[l]).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..k).map(mean).collect();
        let residuals: Vec<Vec<f64>> = centred
            .iter()
            .map(|row| row.iter().zip(&means).map(|(e, m)| e - m).collect())
            .collect();
        let squares: f64 = residuals.iter().flatten().map(|r| r * r).sum();
        Some(Passes {
            spread: libm::sqrt(squares / ((n - 1) * (k - 1)) as f64),
            means,
            residuals,
            level_of_all,
        })
    }

    /// Mean of each alternative, from the mean over all of them.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// s: the standard deviation of an alternative within a pass, after removing pass and
    /// alternative effects.
    pub const fn spread(&self) -> f64 {
        self.spread
    }

    /// Which alternatives may be the best, at `level` for all statements together. Only `rivals`
    /// can be better than another one: other alternatives are compared with them, but nothing with
    /// those. Without rivals all are kept.
    ///
    /// # Panics
    /// If `rivals` is not as long as a row.
    pub fn best(&self, rivals: &[bool], level: f64, seed: u64) -> BestSet {
        let k = self.means.len();
        assert_eq!(rivals.len(), k, "one for each alternative");
        let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(BEST_RESAMPLES); k];
        let mut drawn_apart = drawn.clone();
        self.draw(seed, |means, spread| {
            let (first, second) = two_largest(means, rivals);
            let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = means.iter().copied().fold(f64::INFINITY, f64::min);
            for l in 0..k {
                let largest = best_but(l, first, second).map_or(means[l], |(_, value)| value);
                // The alternative itself is among the candidates for the largest.
                drawn[l].push((largest.max(means[l]) - means[l]) / spread);
                drawn_apart[l].push((most - means[l]).max(means[l] - least) / spread);
            }
        });
        let least = self.student_half(level);
        let half_widths = |mut drawn: Vec<Vec<f64>>| -> Vec<f64> {
            let each = drawn.iter_mut();
            each.map(|values| upper(values, level).max(least) * self.spread)
                .collect()
        };
        let (half, apart) = (half_widths(drawn), half_widths(drawn_apart));
        let (first, second) = two_largest(&self.means, rivals);
        let ahead_of =
            |l: usize| best_but(l, first, second).map_or(0.0, |(_, value)| self.means[l] - value);
        let resolution = half.iter().copied().fold(0.0, f64::max);
        let in_set: Vec<bool> = (0..k).map(|l| -ahead_of(l) <= half[l]).collect();
        // The best of the rivals is one of the set, and between these.
        let candidates = || (0..k).filter(|&i| rivals[i] && in_set[i]);
        let lows = candidates().map(|i| self.means[i] - apart[i]);
        let highs = candidates().map(|i| self.means[i] + apart[i]);
        let best_low = lows.fold(f64::INFINITY, f64::min);
        let best_high = highs.fold(f64::NEG_INFINITY, f64::max);
        let is_rival = |l: usize| rivals[l] || first.is_none();
        let ahead = |l: usize| {
            let value = ahead_of(l);
            Estimate {
                value,
                low: match is_rival(l) {
                    true => (value - resolution).min(0.0),
                    false => self.means[l] - best_high,
                },
                high: match (is_rival(l), in_set[l]) {
                    (true, true) => (value + resolution).max(0.0),
                    (false, true) => (self.means[l] - best_low).max(0.0),
                    (_, false) => (self.means[l] - best_low).min(0.0),
                },
                level,
            }
        };
        BestSet {
            ahead: (0..k).map(ahead).collect(),
            in_set,
            resolution,
        }
    }

    /// The gain of every alternative over `reference`, with simultaneous intervals at `level`, so
    /// that the one that looks best may be picked afterwards. (Unadjusted, the gain of the picked
    /// one is wrong in 9 to 18 %.)
    ///
    /// # Panics
    /// If there is no such alternative.
    pub fn gains_over(&self, reference: usize, level: f64, seed: u64) -> Vec<Estimate> {
        self.around(level, seed, Some(reference))
    }

    /// The mean of each alternative over all passes, on the scale of the rows, with simultaneous
    /// intervals at `level`. Effects of a pass common to all alternatives are excluded.
    pub fn levels(&self, level: f64, seed: u64) -> Vec<Estimate> {
        let moved = |estimate: Estimate| estimate.map(|value| value + self.level_of_all);
        let around = self.around(level, seed, None);
        around.into_iter().map(moved).collect()
    }

    /// Means, relative to that of the reference if there is one, with simultaneous intervals of
    /// equal width.
    fn around(&self, level: f64, seed: u64, reference: Option<usize>) -> Vec<Estimate> {
        let from = |means: &[f64]| reference.map_or(0.0, |l| means[l]);
        let mut drawn = Vec::with_capacity(BEST_RESAMPLES);
        self.draw(seed, |means, spread| {
            let origin = from(means);
            let farthest = means.iter().map(|mean| (mean - origin).abs());
            drawn.push(farthest.fold(0.0, f64::max) / spread);
        });
        let half = upper(&mut drawn, level).max(self.student_half(level)) * self.spread;
        let of_mean = |(l, mean): (usize, &f64)| {
            let value = mean - from(&self.means);
            // The reference's gain over itself is 0.
            let half = if reference == Some(l) { 0.0 } else { half };
            Estimate {
                value,
                low: value - half,
                high: value + half,
                level,
            }
        };
        self.means.iter().enumerate().map(of_mean).collect()
    }

    /// Minimum half width, in spreads, of a difference of two alternatives with few passes: t of
    /// (n - 1)(k - 1) degrees at 1 - (1 - level) / 2k, times sqrt(2 / n); 0 if only the bootstrap
    /// is used.
    fn student_half(&self, level: f64) -> f64 {
        let (n, k) = (self.residuals.len(), self.means.len());
        if n >= BOOTSTRAP_PASSES {
            return 0.0;
        }
        let degrees = ((n - 1) * (k - 1)) as f64;
        let p = 1.0 - (1.0 - level) / (2.0 * k as f64);
        student_quantile(p, degrees) * libm::sqrt(2.0 / n as f64)
    }

    /// Draws passes with replacement; `each` gets the means of their residuals and their spread, if
    /// that is above 0.
    fn draw(&self, seed: u64, mut each: impl FnMut(&[f64], f64)) {
        let (n, k) = (self.residuals.len(), self.means.len());
        let squares_of = |row: &Vec<f64>| row.iter().map(|r| r * r).sum::<f64>();
        let squares: Vec<f64> = self.residuals.iter().map(squares_of).collect();
        // Rounding residue of zero spreads.
        let least = squares.iter().sum::<f64>() * 1e-12;
        let mut random = Random::new(seed);
        let mut means = vec![0.0; k];
        for _ in 0..BEST_RESAMPLES {
            means.fill(0.0);
            let mut sum = 0.0;
            for _ in 0..n {
                let pass = random.below(n);
                sum += squares[pass];
                for (mean, r) in means.iter_mut().zip(&self.residuals[pass]) {
                    *mean += r;
                }
            }
            means.iter_mut().for_each(|mean| *mean /= n as f64);
            let of_means: f64 = means.iter().map(|mean| mean * mean).sum();
            let rest = sum - n as f64 * of_means;
            if rest > least {
                each(&means, libm::sqrt(rest / ((n - 1) * (k - 1)) as f64));
            }
        }
    }
}

/// The largest value among the rivals and the second largest, each with its index.
type Largest = Option<(usize, f64)>;

fn two_largest(values: &[f64], rivals: &[bool]) -> (Largest, Largest) {
    let (mut first, mut second): (Largest, Largest) = (None, None);
    for (l, &value) in values.iter().enumerate() {
        if !rivals[l] {
            continue;
        }
        if first.is_none_or(|(_, most)| value > most) {
            (first, second) = (Some((l, value)), first);
        } else if second.is_none_or(|(_, most)| value > most) {
            second = Some((l, value));
        }
    }
    (first, second)
}

/// The largest of all rivals except `l`.
fn best_but(l: usize, first: Largest, second: Largest) -> Largest {
    match first {
        Some((index, _)) if index == l => second,
        other => other,
    }
}

/// The quantile of the draws; 0 if nothing varied.
fn upper(drawn: &mut [f64], level: f64) -> f64 {
    drawn.sort_unstable_by(f64::total_cmp);
    quantile_sorted(drawn, level, Quantile::Linear).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_or_broken_input_has_no_answer() {
        assert!(Passes::new(&[]).is_none());
        assert!(Passes::new(&[vec![1.0, 2.0]]).is_none());
        assert!(Passes::new(&[vec![1.0], vec![2.0]]).is_none());
        assert!(Passes::new(&[vec![1.0, 2.0], vec![2.0]]).is_none());
        assert!(Passes::new(&[vec![1.0, f64::NAN], vec![2.0, 1.0]]).is_none());
    }

    #[test]
    fn without_any_noise_only_the_best_is_kept_and_equals_stay_together() {
        let rows = vec![vec![1.0, 2.0, 2.0]; 4];
        let passes = Passes::new(&rows).unwrap();
        let best = passes.best(&[true; 3], 0.95, 1);
        assert_eq!(best.in_set, [false, true, true]);
        assert!(best.resolution < 1e-9);
        let gains = passes.gains_over(0, 0.95, 1);
        assert!((gains[1].value - 1.0).abs() < 1e-12 && gains[1].width() < 1e-9);
    }

    #[test]
    fn what_is_no_rival_puts_nobody_out() {
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|pass| {
                let wobble = f64::from(pass % 3) * 0.01;
                vec![1.0 + wobble, 5.0 - wobble, 2.0]
            })
            .collect();
        let passes = Passes::new(&rows).unwrap();
        assert_eq!(
            passes.best(&[true; 3], 0.95, 1).in_set,
            [false, true, false]
        );
        let without = passes.best(&[true, false, true], 0.95, 1);
        assert_eq!(without.in_set, [false, true, true]);
    }

    #[test]
    fn intervals_of_what_may_be_the_best_contain_zero_and_no_other_rival_is_ahead() {
        let mut random = Random::new(3);
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|_| {
                (0..5)
                    .map(|l| f64::from(l) * 0.01 + 0.02 * random.normal())
                    .collect()
            })
            .collect();
        let best = Passes::new(&rows).unwrap().best(&[true; 5], 0.95, 9);
        for (in_set, ahead) in best.in_set.iter().zip(&best.ahead) {
            assert!(ahead.low <= 0.0 && (ahead.high >= 0.0 || !in_set));
        }
        let first = best.ahead.iter().filter(|ahead| ahead.value > 0.0).count();
        assert_eq!(first, 1);
    }

    /// Their intervals are about what they are behind, and end at 0 only where that is close.
    #[test]
    fn what_cannot_be_the_best_has_an_interval_that_ends_below_zero() {
        const TRIALS: usize = 60;
        let mut random = Random::new(5);
        let truth = [-0.3, -0.1, 0.0, 0.0, 0.001];
        let (mut out, mut held) = (0, 0);
        for _ in 0..TRIALS {
            let row = |_| {
                let values = truth.iter().map(|value| value + 0.01 * random.normal());
                values.collect::<Vec<f64>>()
            };
            let rows: Vec<Vec<f64>> = (0..8).map(row).collect();
            let best = Passes::new(&rows).unwrap().best(&[true; 5], 0.95, 9);
            for (in_set, ahead) in best.in_set.iter().zip(&best.ahead) {
                assert!(*in_set || ahead.high <= 0.0, "{ahead:?}");
                assert!(ahead.low <= ahead.value && ahead.value <= ahead.high);
                out += usize::from(!in_set);
            }
            assert!(best.ahead[0].high < -0.25 && best.ahead[1].high < -0.05);
            let leads = [-0.301, -0.101, -0.001, -0.001, 0.001];
            let is_in = |(ahead, lead): (&Estimate, f64)| ahead.low <= lead && lead <= ahead.high;
            held += usize::from(best.ahead.iter().zip(leads).all(is_in));
        }
        assert!(out >= 2 * TRIALS, "{out}");
        assert!(held >= TRIALS * 90 / 100, "{held} of {TRIALS}");
    }

    /// Alternatives that are never chosen do not affect how far the others are behind the best.
    #[test]
    fn intervals_of_what_is_out_are_against_rivals_alone() {
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|pass| {
                let wobble = f64::from(pass % 3) * 0.01;
                vec![1.0 + wobble, 5.0 - wobble, 2.0]
            })
            .collect();
        let best = Passes::new(&rows)
            .unwrap()
            .best(&[true, false, true], 0.95, 1);
        assert!(!best.in_set[0] && best.ahead[0].high < -0.9);
        assert!(best.ahead[1].low > 2.9 && best.ahead[1].high < 3.1);
    }

    #[test]
    fn few_passes_claim_no_more_than_they_hold() {
        let mut random = Random::new(11);
        for (passes, alternatives) in [(2, 2), (2, 4), (3, 3), (4, 2), (5, 4)] {
            const TRIALS: usize = 200;
            let held = (0..TRIALS).filter(|_| {
                let row = |_| (0..alternatives).map(|_| 0.01 * random.normal()).collect();
                let rows: Vec<Vec<f64>> = (0..passes).map(row).collect();
                let passes = Passes::new(&rows).unwrap();
                let best = passes.best(&vec![true; alternatives], 0.95, 5);
                let gains = passes.gains_over(0, 0.95, 5);
                // All are equal: the first is no worse, and there are no gains.
                best.in_set[0] && gains.iter().all(|gain| gain.low <= 0.0 && gain.high >= 0.0)
            });
            let held = held.count();
            assert!(
                held >= TRIALS * 93 / 100,
                "{passes} passes: {held} of {TRIALS}"
            );
        }
    }

    #[test]
    fn levels_are_on_the_scale_of_the_rows() {
        let rows = vec![vec![10.0, 12.0], vec![11.0, 12.9], vec![9.0, 11.1]];
        let levels = Passes::new(&rows).unwrap().levels(0.95, 1);
        assert!((levels[0].value - 10.0).abs() < 1e-9);
        assert!((levels[1].value - 12.0).abs() < 1e-9);
        assert!(levels[0].low < 10.0 && levels[0].high > 10.0);
    }
}
