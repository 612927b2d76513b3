//! A target's own history as its noise: is a new run one of those?
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
//! them where that level's variance is most of it.
//!
//! Left out: which stored runs belong together. A history has one load on one target, of
//! one kernel, firmware and size.

use crate::distribution::student_quantile;
use crate::sample::Estimate;
use crate::steps::{ChangePoint, ChangePointRule, change_points};
use serde::{Deserialize, Serialize};

/// Fewest runs of a history; below, two samples are compared.
pub const HISTORY_RUNS_MIN: usize = 30;
/// Fewest runs for an interval at 99 %.
pub const HISTORY_RUNS_99_MIN: usize = 200;
const ITERATIONS_MAX: usize = 200;
/// A variance below this share of the error's is none.
const SHARE_MIN: f64 = 1e-6;

/// A stored run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRun {
    /// Its rate or latency, above 0.
    pub value: f64,
    /// Any number that runs of one boot share.
    pub boot: u64,
    /// Hour of day, 0 to 23.
    pub hour: u8,
}

/// Where and when a new run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// As of [`HistoryRun`].
    pub boot: u64,
    /// As of [`HistoryRun`].
    pub hour: u8,
    /// Runs that are averaged, made in one go; at least 1.
    pub runs: usize,
}

/// What a history says of its noise. Standard deviations are of logarithms: 0.02 is 2 %.
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
    /// Runs.
    pub runs: usize,
    boots: Vec<u64>,
    hours: Vec<u8>,
    /// Mean and effects, in logarithms: the mean, boots, hours.
    effects: Vec<f64>,
    /// The inverse of the equations times the error's variance: errors of `effects`.
    errors: Vec<Vec<f64>>,
}

/// What a new run is against a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgainstHistory {
    /// Within the interval.
    Within,
    /// Below it.
    Below,
    /// Above it.
    Above,
}

impl History {
    /// The model of stored runs. None below 30 of them, or where a value is not finite and
    /// above 0.
    #[must_use]
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
                boot: 1 + boots.partition_point(|boot| *boot < run.boot),
                hour: 1 + boots.len() + hours.partition_point(|hour| *hour < run.hour),
            })
            .collect();
        let fit = Equations::new(&rows, boots.len(), hours.len()).fit()?;
        let deviation = |variance: f64| libm::sqrt(variance);
        Some(History {
            mean: libm::exp(fit.effects[0]),
            run_deviation: deviation(fit.variances.error),
            boot_deviation: deviation(fit.variances.boot),
            hour_deviation: deviation(fit.variances.hour),
            runs: runs.len(),
            boots,
            hours,
            effects: fit.effects,
            errors: fit.errors,
        })
    }

    /// Boots among the runs.
    #[must_use]
    pub fn boots(&self) -> usize {
        self.boots.len()
    }

    /// Standard deviation of a new run of an unknown boot and hour, in logarithms: the
    /// target's own noise.
    #[must_use]
    pub fn noise(&self) -> f64 {
        let parts = [self.run_deviation, self.boot_deviation, self.hour_deviation];
        libm::sqrt(parts.iter().map(|part| part * part).sum())
    }

    /// The level of intervals: 95 %, and 99 % from 200 runs on where that is asked for.
    #[must_use]
    pub fn level(&self, is_strict: bool) -> f64 {
        if is_strict && self.runs >= HISTORY_RUNS_99_MIN {
            0.99
        } else {
            0.95
        }
    }

    /// Where the mean of new runs lies at a level, as a value.
    #[must_use]
    pub fn predict(&self, new: NewRun, level: f64) -> Estimate {
        let boot = self.boots.binary_search(&new.boot).ok();
        let hour = self.hours.binary_search(&new.hour).ok();
        let known: Vec<usize> = std::iter::once(0)
            .chain(boot.map(|boot| 1 + boot))
            .chain(hour.map(|hour| 1 + self.boots.len() + hour))
            .collect();
        let value: f64 = known.iter().map(|&index| self.effects[index]).sum();
        let pairs = known
            .iter()
            .flat_map(|&i| known.iter().map(move |&j| (i, j)));
        let of_effects: f64 = pairs.map(|(i, j)| self.errors[i][j]).sum();
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
        let half = if variance > 0.0 {
            let degrees = variance * variance / spread;
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

    /// Judges the geometric mean of new runs. One run outside is a reason to run again, not
    /// a verdict: of hourly runs of an unchanged target one a day lies outside. The verdict
    /// is that of fresh runs, whose own mean is judged the same way.
    #[must_use]
    pub fn judge(&self, value: f64, new: NewRun, level: f64) -> AgainstHistory {
        let expected = self.predict(new, level);
        if value < expected.low {
            AgainstHistory::Below
        } else if value > expected.high {
            AgainstHistory::Above
        } else {
            AgainstHistory::Within
        }
    }

    /// The last change of level among runs in the order of time: its `index` is the first
    /// run of the new level. Hours' effects are taken out before, as they would look like
    /// steps; of boots that is left in, since a boot may be what changed.
    #[must_use]
    pub fn last_change(&self, runs: &[HistoryRun]) -> Option<ChangePoint> {
        let values: Vec<f64> = runs
            .iter()
            .map(|run| match self.hours.binary_search(&run.hour) {
                Ok(hour) => run.value * libm::exp(-self.effects[1 + self.boots.len() + hour]),
                Err(_) => run.value,
            })
            .collect();
        change_points(&values, &ChangePointRule::default()).pop()
    }
}

/// A run in the equations: where its boot and its hour stand in them.
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
    effects: Vec<f64>,
    errors: Vec<Vec<f64>>,
}

/// Henderson's equations without the ratios of variances, which change.
struct Equations {
    left: Vec<Vec<f64>>,
    right: Vec<f64>,
    squares: f64,
    /// The values' mean, which is taken off them: sums of squares keep their digits.
    centre: f64,
    runs: f64,
    boots: usize,
    hours: usize,
}

impl Equations {
    fn new(rows: &[Row], boots: usize, hours: usize) -> Equations {
        let size = 1 + boots + hours;
        let runs = rows.len() as f64;
        let centre = rows.iter().map(|row| row.value).sum::<f64>() / runs;
        let mut equations = Equations {
            left: vec![vec![0.0; size]; size],
            right: vec![0.0; size],
            squares: 0.0,
            centre,
            runs,
            boots,
            hours,
        };
        for row in rows {
            let value = row.value - centre;
            equations.squares += value * value;
            for i in [0, row.boot, row.hour] {
                equations.right[i] += value;
                for j in [0, row.boot, row.hour] {
                    equations.left[i][j] += 1.0;
                }
            }
        }
        equations
    }

    fn boot_range(&self) -> std::ops::Range<usize> {
        1..1 + self.boots
    }

    fn hour_range(&self) -> std::ops::Range<usize> {
        1 + self.boots..1 + self.boots + self.hours
    }

    /// One solution for given variances: effects, and the inverse of the left side.
    fn solve(&self, at: Variances) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
        let mut left = self.left.clone();
        let least = SHARE_MIN * at.error;
        for (range, variance) in [(self.boot_range(), at.boot), (self.hour_range(), at.hour)] {
            for index in range {
                left[index][index] += at.error / variance.max(least);
            }
        }
        let inverse = inverse(left)?;
        let effects = inverse
            .iter()
            .map(|row| row.iter().zip(&self.right).map(|(a, b)| a * b).sum())
            .collect();
        Some((effects, inverse))
    }

    fn fit(&self) -> Option<Fit> {
        let total = self.squares / (self.runs - 1.0);
        let mut at = Variances {
            error: 0.5 * total,
            boot: if self.boots > 1 { 0.25 * total } else { 0.0 },
            hour: if self.hours > 1 { 0.25 * total } else { 0.0 },
        };
        if total <= 0.0 {
            at.error = 0.0;
        }
        for _ in 0..ITERATIONS_MAX {
            if at.error <= 0.0 {
                break;
            }
            let (effects, inverse) = self.solve(at)?;
            let next = self.next(at, &effects, &inverse);
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
        let (mut effects, inverse) = match at.error > 0.0 {
            true => self.solve(at)?,
            false => (vec![0.0; self.right.len()], self.left.clone()),
        };
        effects[0] += self.centre;
        let errors = inverse
            .into_iter()
            .map(|row| row.into_iter().map(|value| value * at.error).collect());
        Some(Fit {
            variances: at,
            effects,
            errors: errors.collect(),
        })
    }

    /// A step of expectation and maximisation.
    fn next(&self, at: Variances, effects: &[f64], inverse: &[Vec<f64>]) -> Variances {
        let explained: f64 = effects.iter().zip(&self.right).map(|(a, b)| a * b).sum();
        let of = |range: std::ops::Range<usize>, variance: f64| {
            if variance <= 0.0 {
                return 0.0;
            }
            let count = range.len() as f64;
            let squares: f64 = range.clone().map(|i| effects[i] * effects[i]).sum();
            let trace: f64 = range.map(|i| inverse[i][i]).sum();
            (squares + at.error * trace) / count
        };
        Variances {
            error: ((self.squares - explained) / (self.runs - 1.0)).max(0.0),
            boot: of(self.boot_range(), at.boot),
            hour: of(self.hour_range(), at.hour),
        }
    }
}

/// The inverse of a symmetric positive matrix, by Gauss and Jordan in place.
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

    /// Hourly runs that scatter by 2 %, an hour's by 1 %, with a boot each ten days.
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

    #[test]
    fn intervals_at_99_percent_need_200_runs() {
        for (count, strict, level) in [(199, true, 0.95), (200, true, 0.99), (400, false, 0.95)] {
            let history = History::of(&hourly(count, 2, |_| 500.0)).unwrap();
            assert_eq!(history.level(strict), level, "{count}");
        }
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
        assert_eq!((history.noise(), history.boots()), (0.0, 1));
        let new = NewRun {
            boot: 2,
            hour: 6,
            runs: 1,
        };
        let expected = history.predict(new, 0.95);
        assert!((expected.low - 700.0).abs() < 1e-9 && expected.low == expected.high);
        assert_eq!(history.judge(699.0, new, 0.95), AgainstHistory::Below);
        assert_eq!(history.judge(701.0, new, 0.95), AgainstHistory::Above);
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
            let judged = history.judge(runs[60].value, new, 0.95);
            within += usize::from(judged == AgainstHistory::Within);
        }
        // 95 % of 60 and 2.75 standard deviations.
        assert!(within >= 52, "{within} of 60");
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
            let found = history.last_change(&runs).expect("a change");
            assert!(found.index.abs_diff(change) <= 4, "{found:?}");
            let new = NewRun {
                boot: 0,
                hour: runs[239].hour,
                runs: 3,
            };
            let mean = 1_000.0 * (1.0 - loss);
            if loss > 0.06 {
                assert_eq!(history.judge(mean, new, 0.95), AgainstHistory::Below);
            }
        }
        let steady = hourly(240, 5, |_| 1_000.0);
        assert_eq!(History::of(&steady).unwrap().last_change(&steady), None);
    }
}
