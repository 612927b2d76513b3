//! A target's own history as its noise model: does a new run belong to it?
//!
//! ln of the value of run i = mean + effect of its boot + effect of its hour of day +
//! its own error, the three effects random and independent. Their variances are estimated
//! by restricted maximum likelihood (Patterson and Thompson 1971), by expectation and
//! maximisation on Henderson's mixed-model equations: with s the error's variance, u the
//! effects of one kind, q of them, and C their part of the inverse of the equations,
//! s' = (y'y - b'X'y - u'Z'y)/(n - 1) and s_u' = (u'u + s tr C)/q.
//!
//! A new run is predicted from the same equations: the mean, with the effects of its boot
//! and its hour where runs of these are stored; else their variance is added. The interval
//! is Student's. Its degrees of freedom are Satterthwaite's over the parts that make it up:
//! runs less boots and hours for the error, boots less one for a new boot, hours less one
//! for a new hour. They are never below those of the smallest level that counts, and near
//! them where that level's variance is most of it. Where fewer than four boots are stored,
//! the interval for a new one reaches 5 % to either side at least: one boot does not show how
//! much boots differ. The same goes for hours.
//!
//! Not included: which stored runs belong together. A history has one load on one target, with one
//! kernel, firmware and size.

use crate::distribution::{student_quantile, student_two_sided};
use crate::needed::default_tolerance_percent;
use crate::sample::Estimate;
use crate::steps::{ChangePointRule, change_points};
use serde::{Deserialize, Serialize};

/// Fewest runs of a history; with fewer, two samples are compared.
pub const HISTORY_RUNS_MIN: usize = 30;
/// Confidence for deciding that the level changed: there are many places at which it might have.
const LEVEL: f64 = 0.99;
const ITERATIONS_MAX: usize = 200;
/// A variance below this share of the error's counts as zero.
const SHARE_MIN: f64 = 1e-6;

/// A stored run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRun {
    /// Its rate or latency, above 0.
    pub value: f64,
    /// Any number shared by the runs of one boot.
    pub boot: u64,
    /// Hour of day, 0 to 23.
    pub hour: u8,
}

/// Conditions of a new run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// As of [`HistoryRun`].
    pub boot: u64,
    /// As of [`HistoryRun`].
    pub hour: u8,
    /// Runs that are averaged, made consecutively; at least 1.
    pub runs: usize,
}

/// A history's noise model. Standard deviations are of logarithms: 0.02 is 2 %.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The mean, as a value.
    pub mean: f64,
    /// Between runs of one boot and hour.
    pub run_deviation: f64,
    /// Between boots.
    pub boot_deviation: f64,
    /// Between hours of day.
    pub hour_deviation: f64,
    /// Number of runs.
    pub runs: usize,
    boots: Vec<u64>,
    hours: Vec<u8>,
    solution: Solution,
}

impl History {
    /// The model of stored runs. None below 30 of them, or where a value is not finite and
    /// above 0.
    pub fn of(runs: &[HistoryRun]) -> Option<History> {
        let usable = |run: &HistoryRun| run.value.is_finite() && run.value > 0.0;
        if runs.len() < HISTORY_RUNS_MIN || !runs.iter().all(usable) {
            return None;
        }
        let mut boots: Vec<u64> = runs.iter().map(|run| run.boot).collect();
        let mut hours: Vec<u8> = runs.iter().map(|run| run.hour).collect();
        boots.sort_unstable();
        boots.dedup();
        hours.sort_unstable();
        hours.dedup();
        let rows: Vec<Row> = runs
            .iter()
            .map(|run| Row {
                value: libm::log(run.value),
                boot: boots.partition_point(|boot| *boot < run.boot),
                hour: 1 + hours.partition_point(|hour| *hour < run.hour),
            })
            .collect();
        let fit = Equations::new(&rows, boots.len(), hours.len()).fit()?;
        let deviation = |variance: f64| libm::sqrt(variance);
        Some(History {
            mean: libm::exp(fit.solution.effects[0]),
            run_deviation: deviation(fit.variances.error),
            boot_deviation: deviation(fit.variances.boot),
            hour_deviation: deviation(fit.variances.hour),
            runs: runs.len(),
            boots,
            hours,
            solution: fit.solution,
        })
    }

    /// Standard deviation of a new run of an unknown boot and hour, in logarithms: the
    /// target's own noise.
    pub fn noise(&self) -> f64 {
        let parts = [self.run_deviation, self.boot_deviation, self.hour_deviation];
        libm::sqrt(parts.iter().map(|part| part * part).sum())
    }

    /// Interval for the mean of new runs at a level, as a value.
    pub fn predict(&self, new: NewRun, level: f64) -> Estimate {
        let expected = self.interval(new, level);
        if !self.is_unknown(new) {
            return expected;
        }
        Estimate {
            low: expected.low.min(expected.value / UNKNOWN_RATIO),
            high: expected.high.max(expected.value * UNKNOWN_RATIO),
            ..expected
        }
    }

    /// Two-sided p-value of the mean of new runs: they are outside of the interval at a level where
    /// it is below 1 minus the level. 1 within the 5 % by which boots or hours may differ that too
    /// few of are known.
    pub fn p_value(&self, value: f64, new: NewRun) -> f64 {
        let (expected, variance, degrees) = self.expected(new);
        let distance = libm::fabs(libm::log(value) - expected);
        if self.is_unknown(new) && distance <= libm::log(UNKNOWN_RATIO) || distance <= 0.0 {
            return 1.0;
        }
        match variance > 0.0 {
            true => student_two_sided(distance / libm::sqrt(variance), degrees),
            false => 0.0,
        }
    }

    /// One boot shows no difference between boots, and two or three little of it; the same goes for
    /// hours.
    fn is_unknown(&self, new: NewRun) -> bool {
        let is_new_boot = self.boots.binary_search(&new.boot).is_err();
        let is_new_hour = self.hours.binary_search(&new.hour).is_err();
        is_new_boot && self.boots.len() < BOOTS_MIN || is_new_hour && self.hours.len() < HOURS_MIN
    }

    /// The interval from the variances alone.
    fn interval(&self, new: NewRun, level: f64) -> Estimate {
        let (value, variance, degrees) = self.expected(new);
        let half = if variance > 0.0 {
            student_quantile(0.5 + 0.5 * level, degrees) * libm::sqrt(variance)
        } else {
            0.0
        };
        Estimate {
            value,
            low: value - half,
            high: value + half,
            level,
        }
        .map(libm::exp)
    }

    /// Expectation and variance of the logarithm of new runs' mean, and the degrees of freedom of the
    /// variance.
    fn expected(&self, new: NewRun) -> (f64, f64, f64) {
        let boot = self.boots.binary_search(&new.boot).ok();
        let hour = self.hours.binary_search(&new.hour).ok();
        let (value, of_effects) = self.solution.sum(boot, hour.map(|hour| 1 + hour));
        let square = |deviation: f64| deviation * deviation;
        let error = square(self.run_deviation) / new.runs.max(1) as f64;
        let degrees = |count: usize| count.saturating_sub(1).max(1) as f64;
        let levels = self.boots.len() + self.hours.len() - 1;
        let mut parts = vec![(
            error + of_effects,
            degrees(self.runs.saturating_sub(levels)),
        )];
        if boot.is_none() {
            parts.push((square(self.boot_deviation), degrees(self.boots.len())));
        }
        if hour.is_none() {
            parts.push((square(self.hour_deviation), degrees(self.hours.len())));
        }
        let variance: f64 = parts.iter().map(|(part, _)| part).sum();
        let spread: f64 = parts
            .iter()
            .map(|(part, degrees)| part * part / degrees)
            .sum();
        (value, variance, variance * variance / spread)
    }

    /// Values without the effect of their hour, which would look like steps.
    fn without_hours(&self, runs: &[HistoryRun]) -> Vec<f64> {
        let each = runs
            .iter()
            .map(|run| match self.hours.binary_search(&run.hour) {
                Ok(hour) => run.value * libm::exp(-self.solution.effects[1 + hour]),
                Err(_) => run.value,
            });
        each.collect()
    }
}

/// Fewest boots that show how much boots differ.
const BOOTS_MIN: usize = 4;
/// The same of hours of day.
const HOURS_MIN: usize = 4;
/// Below, a change between two boots must be this large, in per cent.
const CHANGE_PERCENT_UNKNOWN_BOOTS: f64 = 5.0;
/// The same as a ratio.
const UNKNOWN_RATIO: f64 = 1.0 + CHANGE_PERCENT_UNKNOWN_BOOTS / 100.0;
/// Error in the position of a change, in runs.
const PLACE_ERROR: usize = 4;

/// Level changes among runs in order of time that exceed the differences between boots: for each,
/// the index of the first run of the new level. The runs before it, back to the previous change,
/// form a history; those after it lie outside of it, as runs of the same boot, or of another if one
/// begins there, and by more than the runs' scatter and 1 %.
///
/// Empty if there are too few runs for a history.
pub fn level_changes(runs: &[HistoryRun]) -> Vec<usize> {
    let Some(whole) = History::of(runs) else {
        return Vec::new();
    };
    let values = whole.without_hours(runs);
    let places: Vec<usize> = change_points(&values, &ChangePointRule::default())
        .into_iter()
        .map(|change| change.index)
        .collect();
    let mut changes: Vec<usize> = Vec::new();
    for (number, &index) in places.iter().enumerate() {
        let from = changes.last().copied().unwrap_or(0);
        let to = places.get(number + 1).copied().unwrap_or(runs.len());
        let before = History::of(&runs[from..index]);
        if before.is_some_and(|before| before.is_left(runs, &values, index, to)) {
            changes.push(index);
        }
    }
    changes
}

impl History {
    /// Whether runs from `index` to `to` are on another level than this history of the preceding
    /// ones.
    fn is_left(&self, runs: &[HistoryRun], values: &[f64], index: usize, to: usize) -> bool {
        let near = index.saturating_sub(PLACE_ERROR)..(index + PLACE_ERROR).min(to);
        let last = runs[near.start].boot;
        let is_boot = runs[near].iter().any(|run| run.boot != last);
        // If of one boot, the one with this level.
        let boot = runs[index.max(to.min(index + PLACE_ERROR) - 1)].boot;
        let each = runs[index..to].iter().zip(&values[index..to]);
        let after: Vec<f64> = each
            .filter(|(run, _)| run.boot == boot)
            .map(|(_, value)| libm::log(*value))
            .collect();
        let level = libm::exp(after.iter().sum::<f64>() / after.len().max(1) as f64);
        let new = NewRun {
            boot: if is_boot { u64::MAX } else { boot },
            hour: u8::MAX,
            runs: after.len(),
        };
        let percent = 100.0 * libm::fabs(libm::log(level / self.mean));
        let least = default_tolerance_percent(self.run_deviation);
        let least = match is_boot && self.boots.len() < BOOTS_MIN {
            true => least.max(CHANGE_PERCENT_UNKNOWN_BOOTS),
            false => least,
        };
        percent > least && !self.interval(new, LEVEL).contains(level)
    }
}

/// A run in the equations: the number of its boot, and the index of its hour after the mean.
#[derive(Clone, Copy)]
struct Row {
    value: f64,
    boot: usize,
    hour: usize,
}

#[derive(Clone, Copy, Debug)]
struct Variances {
    error: f64,
    boot: f64,
    hour: f64,
}

struct Fit {
    variances: Variances,
    solution: Solution,
}

/// Mean and effects in logarithms, and their errors: the inverse of the equations, finally
/// multiplied by the error's variance. The joint error of two boots is not kept: it is not needed.
#[derive(Clone, Debug, PartialEq)]
struct Solution {
    /// The mean, then the hours.
    effects: Vec<f64>,
    /// Of these.
    errors: Vec<Vec<f64>>,
    boots: Vec<BootEffect>,
}

#[derive(Clone, Debug, PartialEq)]
struct BootEffect {
    effect: f64,
    error: f64,
    /// Covariance with the mean and the hours.
    errors: Vec<f64>,
}

impl Solution {
    /// The mean plus the effects of a boot and an hour, and the error of the sum.
    fn sum(&self, boot: Option<usize>, hour: Option<usize>) -> (f64, f64) {
        let known = || std::iter::once(0).chain(hour);
        let mut value: f64 = known().map(|i| self.effects[i]).sum();
        let pairs = known().flat_map(|i| known().map(move |j| (i, j)));
        let mut error: f64 = pairs.map(|(i, j)| self.errors[i][j]).sum();
        if let Some(boot) = boot.map(|boot| &self.boots[boot]) {
            value += boot.effect;
            error += boot.error + 2.0 * known().map(|i| boot.errors[i]).sum::<f64>();
        }
        (value, error)
    }

    fn scale_errors(&mut self, by: f64) {
        let of_boots = self
            .boots
            .iter_mut()
            .flat_map(|boot| boot.errors.iter_mut().chain([&mut boot.error]));
        for error in self.errors.iter_mut().flatten().chain(of_boots) {
            *error *= by;
        }
    }
}

/// Henderson's equations without the variance ratios, which change. No run belongs to two boots, so
/// their part is a diagonal, and is eliminated before the rest is inverted: there may be as many
/// boots as runs, but never more than 24 hours.
struct Equations {
    /// Of the mean and the hours.
    left: Vec<Vec<f64>>,
    right: Vec<f64>,
    /// For each boot: its number of runs in total and by hour, and the sum of their values.
    boots: Vec<(Vec<f64>, f64)>,
    squares: f64,
    /// Mean of the values, which is subtracted from them: sums of squares keep their precision.
    centre: f64,
    runs: f64,
}

impl Equations {
    fn new(rows: &[Row], boots: usize, hours: usize) -> Equations {
        let size = 1 + hours;
        let runs = rows.len() as f64;
        let centre = rows.iter().map(|row| row.value).sum::<f64>() / runs;
        let mut equations = Equations {
            left: vec![vec![0.0; size]; size],
            right: vec![0.0; size],
            boots: vec![(vec![0.0; size], 0.0); boots],
            squares: 0.0,
            centre,
            runs,
        };
        for row in rows {
            let value = row.value - centre;
            equations.squares += value * value;
            let (of_boot, sum) = &mut equations.boots[row.boot];
            *sum += value;
            for i in [0, row.hour] {
                equations.right[i] += value;
                of_boot[i] += 1.0;
                for j in [0, row.hour] {
                    equations.left[i][j] += 1.0;
                }
            }
        }
        equations
    }

    fn hours(&self) -> std::ops::Range<usize> {
        1..self.right.len()
    }

    /// One solution for given variances: effects, and the inverse of the left side.
    fn solve(&self, at: Variances) -> Option<Solution> {
        let ratio = |variance: f64| at.error / variance.max(SHARE_MIN * at.error);
        let (mut left, mut right) = (self.left.clone(), self.right.clone());
        for hour in self.hours() {
            left[hour][hour] += ratio(at.hour);
        }
        for (counts, sum) in &self.boots {
            let share = 1.0 / (counts[0] + ratio(at.boot));
            for i in 0..right.len() {
                right[i] -= counts[i] * share * sum;
                for (entry, count) in left[i].iter_mut().zip(counts) {
                    *entry -= counts[i] * share * count;
                }
            }
        }
        let errors = inverse(left)?;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let effects: Vec<f64> = errors.iter().map(|row| dot(row, &right)).collect();
        let boots = self.boots.iter().map(|(counts, sum)| {
            let share = 1.0 / (counts[0] + ratio(at.boot));
            let with: Vec<f64> = (errors.iter())
                .map(|row| -share * dot(row, counts))
                .collect();
            BootEffect {
                effect: share * (sum - dot(counts, &effects)),
                error: share * (1.0 - dot(counts, &with)),
                errors: with,
            }
        });
        Some(Solution {
            boots: boots.collect(),
            effects,
            errors,
        })
    }

    fn fit(&self) -> Option<Fit> {
        let total = self.squares / (self.runs - 1.0);
        let mut at = Variances {
            error: 0.5 * total,
            boot: if self.boots.len() > 1 {
                0.25 * total
            } else {
                0.0
            },
            hour: if self.hours().len() > 1 {
                0.25 * total
            } else {
                0.0
            },
        };
        if total <= 0.0 {
            at.error = 0.0;
        }
        for _ in 0..ITERATIONS_MAX {
            if at.error <= 0.0 {
                break;
            }
            let next = self.next(at, &self.solve(at)?);
            let moved = [
                (at.error, next.error),
                (at.boot, next.boot),
                (at.hour, next.hour),
            ];
            let moved = moved
                .map(|(a, b)| (a - b).abs())
                .into_iter()
                .fold(0.0, f64::max);
            at = next;
            if moved < 1e-7 * total {
                break;
            }
        }
        let none = SHARE_MIN * 100.0 * at.error;
        at.boot = if at.boot > none { at.boot } else { 0.0 };
        at.hour = if at.hour > none { at.hour } else { 0.0 };
        // If no values differ, there are no effects, and the variance ratios are irrelevant.
        let mut solution = self.solve(match at.error > 0.0 {
            true => at,
            false => Variances { error: 1.0, ..at },
        })?;
        solution.scale_errors(at.error);
        solution.effects[0] += self.centre;
        Some(Fit {
            variances: at,
            solution,
        })
    }

    /// A step of expectation and maximisation.
    fn next(&self, at: Variances, found: &Solution) -> Variances {
        let of_rest = found.effects.iter().zip(&self.right);
        let of_rest: f64 = of_rest.map(|(effect, right)| effect * right).sum();
        let of_boots = found.boots.iter().zip(&self.boots);
        let of_boots: f64 = of_boots.map(|(boot, (_, sum))| boot.effect * sum).sum();
        let of = |effects: &[(f64, f64)], variance: f64| {
            if variance <= 0.0 {
                return 0.0;
            }
            let squares: f64 = effects.iter().map(|(effect, _)| effect * effect).sum();
            let trace: f64 = effects.iter().map(|(_, error)| error).sum();
            (squares + at.error * trace) / effects.len() as f64
        };
        let boots: Vec<(f64, f64)> = (found.boots.iter())
            .map(|boot| (boot.effect, boot.error))
            .collect();
        let hours: Vec<(f64, f64)> = (self.hours())
            .map(|hour| (found.effects[hour], found.errors[hour][hour]))
            .collect();
        let unexplained = self.squares - of_rest - of_boots;
        Variances {
            error: (unexplained / (self.runs - 1.0)).max(0.0),
            boot: of(&boots, at.boot),
            hour: of(&hours, at.hour),
        }
    }
}

/// The inverse of a symmetric positive matrix, by Gauss-Jordan in place.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for pivot in 0..size {
        let value = matrix[pivot][pivot];
        if value.is_nan() || value <= 1e-12 {
            return None;
        }
        let mut row = std::mem::take(&mut matrix[pivot]);
        row[pivot] = 1.0;
        for entry in &mut row {
            *entry /= value;
        }
        for (index, other) in matrix.iter_mut().enumerate() {
            if index == pivot {
                continue;
            }
            let factor = other[pivot];
            if factor == 0.0 {
                continue;
            }
            other[pivot] = 0.0;
            for (entry, pivoted) in other.iter_mut().zip(&row) {
                *entry -= factor * pivoted;
            }
        }
        matrix[pivot] = row;
    }
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Hourly runs that scatter by 2 %, hours by 1 %, with a boot every ten days.
    fn hourly(count: usize, seed: u64, level: impl Fn(usize) -> f64) -> Vec<HistoryRun> {
        let mut random = Random::new(seed);
        let hours: Vec<f64> = (0..24).map(|_| 0.01 * random.normal()).collect();
        let boots: Vec<f64> = (0..=count / 240).map(|_| 0.005 * random.normal()).collect();
        (0..count)
            .map(|number| HistoryRun {
                value: level(number)
                    * libm::exp(hours[number % 24] + boots[number / 240] + 0.02 * random.normal()),
                boot: (number / 240) as u64,
                hour: (number % 24) as u8,
            })
            .collect()
    }

    #[test]
    fn below_thirty_runs_there_is_no_model() {
        let runs = hourly(30, 1, |_| 1_000.0);
        for count in [0, 1, 2, 29] {
            assert_eq!(History::of(&runs[..count]), None);
        }
        assert!(History::of(&runs).is_some());
        let mut unsound = runs;
        unsound[3].value = 0.0;
        assert_eq!(History::of(&unsound), None);
    }

    /// The equations of two boots of two runs each, one hour, solved by hand.
    #[test]
    fn boots_are_eliminated_as_if_the_whole_were_inverted() {
        let rows = [(1.0, 0), (2.0, 0), (5.0, 1), (8.0, 1)];
        let rows = rows.map(|(value, boot)| Row {
            value,
            boot,
            hour: 1,
        });
        let equations = Equations::new(&rows, 2, 1);
        let ratio_one = Variances {
            error: 1.0,
            boot: 1.0,
            hour: 1.0,
        };
        let found = equations.solve(ratio_one).expect("a solution");
        // [4 4 2 2; 4 5 2 2; 2 2 3 0; 2 2 0 3], its inverse times 4:
        // [7 -4 -2 -2; -4 4 0 0; -2 0 8/3 4/3; -2 0 4/3 8/3]; sums less their mean: -5 and 5.
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} and not {b}");
        near(found.errors[0][0], 7.0 / 4.0);
        near(found.errors[0][1], -1.0);
        near(found.errors[1][1], 1.0);
        near(found.effects[0], 0.0);
        for (boot, effect) in found.boots.iter().zip([-5.0 / 3.0, 5.0 / 3.0]) {
            near(boot.effect, effect);
            near(boot.error, 2.0 / 3.0);
            near(boot.errors[0], -0.5);
            near(boot.errors[1], 0.0);
        }
        near(
            found.sum(Some(0), Some(1)).1,
            7.0 / 4.0 + 1.0 - 2.0 + 2.0 / 3.0 - 1.0,
        );
    }

    #[test]
    fn a_history_may_have_as_many_boots_as_runs() {
        let mut runs = hourly(1_500, 6, |_| 1_000.0);
        for (number, run) in runs.iter_mut().enumerate() {
            run.boot = number as u64 / 2;
        }
        let boots: Vec<u64> = runs.iter().map(|run| run.boot).collect();
        let history = History::of(&runs).expect("a history");
        assert_eq!(history.solution.boots.len(), boots[1_499] as usize + 1);
        // The inverted matrix does not grow with the boots: that took minutes.
        assert_eq!(history.solution.errors.len(), 1 + 24);
        assert!((history.mean / 1_000.0 - 1.0).abs() < 0.01);
        assert!((0.015..0.025).contains(&history.noise()), "{history:?}");
    }

    #[test]
    fn runs_that_never_differ_have_no_noise() {
        let same = vec![
            HistoryRun {
                value: 700.0,
                boot: 1,
                hour: 5
            };
            40
        ];
        let history = History::of(&same).unwrap();
        assert_eq!(history.noise(), 0.0);
        let new = NewRun {
            boot: 1,
            hour: 5,
            runs: 1,
        };
        let expected = history.predict(new, 0.95);
        assert!((expected.low - 700.0).abs() < 1e-9 && expected.low == expected.high);
    }

    #[test]
    fn a_new_run_lies_in_its_interval_as_often_as_promised() {
        let mut within = 0;
        for seed in 0..60 {
            let runs = hourly(61, 100 + seed, |_| 1_000.0);
            let history = History::of(&runs[..60]).unwrap();
            let new = NewRun {
                boot: runs[60].boot,
                hour: runs[60].hour,
                runs: 1,
            };
            let expected = history.predict(new, 0.95);
            within += usize::from((expected.low..=expected.high).contains(&runs[60].value));
        }
        // 95 % of 60 and 2.75 standard deviations.
        assert!(within >= 52, "{within} of 60");
    }

    #[test]
    fn few_boots_do_not_show_how_much_a_new_one_may_differ() {
        let runs = hourly(240, 8, |_| 1_000.0);
        let ends = |boots: u64, boot| {
            let mut runs = runs.clone();
            for (number, run) in runs.iter_mut().enumerate() {
                run.boot = number as u64 * boots / 240;
            }
            let history = History::of(&runs).unwrap();
            let expected = history.predict(
                NewRun {
                    boot,
                    hour: 3,
                    runs: 6,
                },
                0.95,
            );
            [expected.low, expected.high].map(|end| libm::log(end / expected.value).abs())
        };
        // Six runs of a boot that is known scatter by 1 %.
        assert!(ends(1, 0).into_iter().all(|half| half < 0.03));
        for boots in 1..4 {
            let least = libm::log(1.05) - 1e-9;
            assert!(ends(boots, 99).into_iter().all(|half| half >= least));
        }
        assert!(ends(12, 99).into_iter().all(|half| half < 0.04));
        // As little do runs at one hour of each day show of another hour.
        let at_three = runs.iter().map(|run| HistoryRun { hour: 3, ..*run });
        let daily: Vec<HistoryRun> = at_three.collect();
        let of_hour = |hour| {
            let new = NewRun {
                boot: 0,
                hour,
                runs: 6,
            };
            let expected = History::of(&daily).unwrap().predict(new, 0.95);
            expected.high / expected.value
        };
        assert!(of_hour(3) < 1.03 && of_hour(15) > 1.049);
    }

    #[test]
    fn a_p_value_is_where_the_interval_ends() {
        let history = History::of(&hourly(240, 3, |_| 1_000.0)).unwrap();
        for (boot, runs) in [(0, 1), (0, 6), (99, 1)] {
            let new = NewRun {
                boot,
                hour: 3,
                runs,
            };
            for level in [0.5, 0.95, 0.99] {
                let expected = history.interval(new, level);
                if boot == 99 && expected.high < expected.value * UNKNOWN_RATIO {
                    // Of one boot, which does not show how much another may differ.
                    assert_eq!(history.p_value(expected.high, new), 1.0);
                    continue;
                }
                for end in [expected.low, expected.high] {
                    let p_value = history.p_value(end, new);
                    assert!((p_value - (1.0 - level)).abs() < 1e-6, "{level}: {p_value}");
                }
            }
            let usual = history.predict(new, 0.5).value;
            assert!(history.p_value(usual, new) > 0.999);
        }
    }

    #[test]
    fn the_mean_of_several_runs_is_known_better() {
        let history = History::of(&hourly(240, 3, |_| 1_000.0)).unwrap();
        let width = |runs, boot| {
            let expected = history.predict(
                NewRun {
                    boot,
                    hour: 3,
                    runs,
                },
                0.95,
            );
            expected.high - expected.low
        };
        assert!(width(3, 0) < 0.75 * width(1, 0));
        assert!(width(1, 7) >= width(1, 0));
    }

    #[test]
    fn the_first_run_of_a_change_is_named() {
        for (change, loss) in [(150, 0.05), (200, 0.10)] {
            let level = |number| {
                if number < change {
                    1_000.0
                } else {
                    1_000.0 * (1.0 - loss)
                }
            };
            let runs = hourly(240, 4, level);
            let history = History::of(&runs[..change]).unwrap();
            let found = level_changes(&runs);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].abs_diff(change) <= 4, "{found:?}");
            let new = NewRun {
                boot: 0,
                hour: runs[239].hour,
                runs: 3,
            };
            let mean = 1_000.0 * (1.0 - loss);
            if loss > 0.06 {
                assert!(mean < history.predict(new, 0.95).low);
            }
        }
    }

    #[test]
    fn what_boots_differ_by_is_no_change() {
        let mut changed = 0;
        for seed in 0..20 {
            let mut random = Random::new(900 + seed);
            let boots: Vec<f64> = (0..12).map(|_| 0.015 * random.normal()).collect();
            let mut runs = hourly(400, seed, |_| 1_000.0);
            for (number, run) in runs.iter_mut().enumerate() {
                run.boot = number as u64 / 36;
                run.value *= libm::exp(boots[number / 36]);
            }
            changed += usize::from(!level_changes(&runs).is_empty());
        }
        // The first boots alone do not show how much boots differ.
        assert!(changed <= 6, "{changed} of 20");
        assert!(level_changes(&hourly(29, 5, |_| 1_000.0)).is_empty());
    }
}
