//! How long a run of a cell must be, and how many make one value, by the scatter between
//! its own runs.
//!
//! Runs of one cell may scatter far more than the operations within one do: two streams lie
//! on one copy of a mirror or on two, and a run of 5 s gives 1,081 or 2,422. No formula in
//! the number of operations knows that. So a pilot makes a few runs as short as they may
//! be, and where their rates scatter too much, longer ones: by (s/w)^2 as far as scatter
//! falls like 1/sqrt(length), eight times as long at most at once. Where longer runs do not
//! scatter less, the difference is between runs, and K = (s/w)^2 runs of the shorter length
//! are averaged for one value.
//!
//! The number of runs is eight: where rates take one of two values at random, all of eight
//! take the same in 1 pilot of 128.

use crate::needed::scatter;
use serde::{Deserialize, Serialize};

/// Runs of a pilot at each length.
const RUNS: usize = 8;
/// Longer runs that still scatter by this share of the shorter ones do not help.
const HELPS: f64 = 0.8;
/// Shortest step from one length to the next: that halves scatter that falls with length,
/// which eight runs can tell from scatter that does not.
const TIMES_MIN: f64 = 4.0;
/// Longest step.
const TIMES_MAX: f64 = 8.0;

/// What to run next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellStep {
    /// A run of this length, in seconds.
    Run {
        /// Its measured part.
        seconds: f64,
    },
    /// Length and number are known.
    Done(CellPlan),
}

/// How a cell is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// Length of a run, in seconds.
    pub seconds: f64,
    /// Runs that are averaged for one value.
    pub runs: usize,
    /// What such a value is expected to scatter by, as a standard deviation of logarithms.
    pub scatter: f64,
    /// That is more than was asked for, because neither longer nor more runs are allowed.
    pub is_short: bool,
}

/// The pilot of one cell.
///
/// ```
/// use stripewise_stats::{CellPilot, CellStep};
/// // Runs of 5 s are 1,081 or 2,422; those of 40 s agree.
/// let mut pilot = CellPilot::new(5.0, 0.02, 600.0, 30);
/// let mut runs = 0;
/// let plan = loop {
///     match pilot.next() {
///         CellStep::Run { seconds } => {
///             let bimodal = if runs % 3 == 0 { 1_081.0 } else { 2_422.0 };
///             let even = 2_000.0 + f64::from(runs % 3);
///             pilot.completed(if seconds < 10.0 { bimodal } else { even });
///             runs += 1;
///         }
///         CellStep::Done(plan) => break plan,
///     }
/// };
/// assert_eq!((plan.seconds, plan.runs, runs), (40.0, 1, 16));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPilot {
    wanted: f64,
    seconds_max: f64,
    runs_max: usize,
    /// Length and scatter of the runs before.
    before: Option<(f64, f64)>,
    seconds: f64,
    rates: Vec<f64>,
    plan: Option<CellPlan>,
}

impl CellPilot {
    /// A cell whose runs take at least `seconds` and at most `seconds_max`, of which up to
    /// `runs_max` may be averaged, and whose values are to scatter by `wanted` at most
    /// (0.02 is 2 %).
    #[must_use]
    pub fn new(seconds: f64, wanted: f64, seconds_max: f64, runs_max: usize) -> CellPilot {
        CellPilot {
            wanted,
            seconds_max: seconds_max.max(seconds),
            runs_max: runs_max.max(1),
            before: None,
            seconds,
            rates: Vec::new(),
            plan: None,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn next(&self) -> CellStep {
        match self.plan {
            Some(plan) => CellStep::Done(plan),
            None => CellStep::Run {
                seconds: self.seconds,
            },
        }
    }

    /// The rate of the run that was asked for. One that is not above 0 counts for nothing:
    /// the run is asked for again.
    pub fn completed(&mut self, rate: f64) {
        if rate.is_nan() || rate <= 0.0 || self.plan.is_some() {
            return;
        }
        self.rates.push(rate);
        if self.rates.len() == RUNS {
            let seen = scatter(&self.rates).unwrap_or(0.0);
            self.decide(seen);
            self.rates.clear();
        }
    }

    fn decide(&mut self, seen: f64) {
        if seen <= self.wanted {
            self.plan = Some(CellPlan {
                seconds: self.seconds,
                runs: 1,
                scatter: seen,
                is_short: false,
            });
            return;
        }
        let helped = self.before.filter(|(_, before)| seen > HELPS * before);
        let is_longest = self.seconds >= self.seconds_max;
        if let Some((seconds, before)) = helped {
            self.plan = Some(self.average(seconds, before.max(seen)));
        } else if is_longest {
            self.plan = Some(self.average(self.seconds, seen));
        } else {
            let ratio = seen / self.wanted;
            let times = (ratio * ratio).clamp(TIMES_MIN, TIMES_MAX);
            self.before = Some((self.seconds, seen));
            self.seconds = (self.seconds * times).min(self.seconds_max);
        }
    }

    fn average(&self, seconds: f64, scatter: f64) -> CellPlan {
        let ratio = scatter / self.wanted;
        // Float to integer saturates.
        let wanted = libm::ceil(ratio * ratio) as usize;
        let runs = wanted.clamp(1, self.runs_max);
        CellPlan {
            seconds,
            runs,
            scatter: scatter / libm::sqrt(runs as f64),
            is_short: wanted > self.runs_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The plan for runs of a length whose rates are drawn by `rate`, and the runs made.
    fn plan(mut pilot: CellPilot, mut rate: impl FnMut(f64) -> f64) -> (CellPlan, usize) {
        for made in 0..1_000 {
            match pilot.next() {
                CellStep::Run { seconds } => pilot.completed(rate(seconds)),
                CellStep::Done(plan) => return (plan, made),
            }
        }
        panic!("it does not end: {pilot:?}");
    }

    #[test]
    fn a_cell_that_scatters_little_keeps_short_runs() {
        let mut random = Random::new(1);
        let pilot = CellPilot::new(2.0, 0.02, 600.0, 30);
        let (plan, made) = plan(pilot, |_| 500.0 * libm::exp(0.01 * random.normal()));
        assert_eq!(
            (plan.seconds, plan.runs, plan.is_short, made),
            (2.0, 1, false, 8)
        );
    }

    #[test]
    fn scatter_that_falls_with_length_gets_longer_runs() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            // 10 % at 1 s; 2 % takes 25 s.
            let pilot = CellPilot::new(1.0, 0.02, 600.0, 30);
            let (plan, _) = plan(pilot, |seconds| {
                500.0 * libm::exp(0.1 / libm::sqrt(seconds) * random.normal())
            });
            assert!(plan.runs <= 6 && !plan.is_short, "{plan:?}");
            let measured_s = plan.seconds * plan.runs as f64;
            assert!((8.0..129.0).contains(&measured_s), "{plan:?}");
        }
    }

    #[test]
    fn what_differs_from_run_to_run_is_averaged_over_runs() {
        let mut averaged = 0;
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let pilot = CellPilot::new(5.0, 0.1, 600.0, 60);
            let bimodal = |_| {
                if random.uniform() < 0.5 {
                    1_081.0
                } else {
                    2_422.0
                }
            };
            let (plan, _) = plan(pilot, bimodal);
            // ln of the two differs by 0.807: a deviation of 0.4, 16 runs.
            averaged += usize::from((8..30).contains(&plan.runs) && plan.seconds <= 40.0);
        }
        assert!(averaged >= 37, "{averaged} of 40");
        let mut alternate = 0;
        let pilot = CellPilot::new(5.0, 0.01, 600.0, 4);
        let (plan, _) = plan(pilot, |_| {
            alternate += 1;
            if alternate % 2 == 0 { 1_081.0 } else { 2_422.0 }
        });
        assert!(
            plan.is_short && plan.runs == 4 && plan.scatter > 0.1,
            "{plan:?}"
        );
    }

    #[test]
    fn lengths_have_an_end_and_runs_without_a_rate_are_made_again() {
        let mut random = Random::new(1);
        let mut made = 0;
        let pilot = CellPilot::new(10.0, 0.02, 15.0, 100);
        let (plan, count) = plan(pilot, |_| {
            made += 1;
            if made % 2 == 0 {
                0.0
            } else {
                500.0 * libm::exp(0.2 * random.normal())
            }
        });
        assert!(plan.seconds <= 15.0 && plan.runs > 20, "{plan:?}");
        assert!(count >= 31, "{count}");
    }
}
