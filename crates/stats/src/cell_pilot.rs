//! How long a run of a cell must be, from the scatter between its runs.
//!
//! Runs of one cell may scatter far more than the operations within one: two streams are on one
//! copy of a mirror or on two, and a run of 5 s gives 1,081 or 2,422. No formula in the number of
//! operations captures that. So a pilot makes a few runs of minimum length, and if their rates
//! scatter too much, longer ones: by (s/w)^2 assuming scatter falls like 1/sqrt(length), at most
//! eight times as long at once. If longer runs do not scatter less, the difference is between runs,
//! and the shorter ones suffice.
//!
//! The number of runs is eight: if rates take one of two values at random, all eight take the same
//! one in 1 pilot of 128.

use crate::needed::scatter;

/// Runs of a pilot at each length.
const RUNS: usize = 8;
/// Longer runs that still scatter by more than this share of the shorter ones do not help.
const HELPS: f64 = 0.8;
/// Smallest factor between lengths: it halves scatter that falls with length, which eight runs can
/// distinguish from scatter that does not.
const TIMES_MIN: f64 = 4.0;
/// Largest factor.
const TIMES_MAX: f64 = 8.0;

/// What to run next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellStep {
    /// A run of this length, in seconds.
    Run {
        /// Length of its measured part.
        seconds: f64,
    },
    /// Runs of this length suffice.
    Done {
        /// Length of their measured part.
        seconds: f64,
    },
}

/// The pilot of one cell.
///
/// ```
/// use stripewise_stats::{CellPilot, CellStep};
/// // Runs of 5 s are 1,081 or 2,422; those of 40 s agree.
/// let mut pilot = CellPilot::new(5.0, 0.02, 600.0);
/// let mut runs = 0;
/// let seconds = loop {
///     match pilot.next() {
///         CellStep::Run { seconds } => {
///             let bimodal = if runs % 3 == 0 { 1_081.0 } else { 2_422.0 };
///             let even = 2_000.0 + f64::from(runs % 3);
///             pilot.completed(if seconds < 10.0 { bimodal } else { even });
///             runs += 1;
///         }
///         CellStep::Done { seconds } => break seconds,
///     }
/// };
/// assert_eq!((seconds, runs), (40.0, 16));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CellPilot {
    wanted: f64,
    seconds_max: f64,
    /// Length and scatter of the previous runs.
    before: Option<(f64, f64)>,
    seconds: f64,
    rates: Vec<f64>,
    is_done: bool,
}

impl CellPilot {
    /// A cell whose runs take at least `seconds` and at most `seconds_max`, and whose rates should
    /// scatter by at most `wanted` (0.02 is 2 %).
    pub fn new(seconds: f64, wanted: f64, seconds_max: f64) -> CellPilot {
        CellPilot {
            wanted,
            seconds_max: seconds_max.max(seconds),
            before: None,
            seconds,
            rates: Vec::new(),
            is_done: false,
        }
    }

    /// What to do next.
    pub fn next(&self) -> CellStep {
        let seconds = self.seconds;
        match self.is_done {
            true => CellStep::Done { seconds },
            false => CellStep::Run { seconds },
        }
    }

    /// Adds the rate of the requested run. One that is not above 0 is ignored: the run is requested
    /// again.
    pub fn completed(&mut self, rate: f64) {
        if rate.is_nan() || rate <= 0.0 || self.is_done {
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
        let in_vain = self.before.filter(|(_, before)| seen > HELPS * before);
        if let Some((shorter, _)) = in_vain.filter(|_| seen > self.wanted) {
            self.seconds = shorter;
            self.is_done = true;
        } else if seen <= self.wanted || self.seconds >= self.seconds_max {
            self.is_done = true;
        } else {
            let ratio = seen / self.wanted;
            let times = (ratio * ratio).clamp(TIMES_MIN, TIMES_MAX);
            self.before = Some((self.seconds, seen));
            self.seconds = (self.seconds * times).min(self.seconds_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The length for runs whose rates are drawn by `rate`, and the runs made.
    fn length(mut pilot: CellPilot, mut rate: impl FnMut(f64) -> f64) -> (f64, usize) {
        for made in 0..1_000 {
            match pilot.next() {
                CellStep::Run { seconds } => pilot.completed(rate(seconds)),
                CellStep::Done { seconds } => return (seconds, made),
            }
        }
        panic!("it does not end: {pilot:?}");
    }

    #[test]
    fn a_cell_that_scatters_little_keeps_short_runs() {
        let mut random = Random::new(1);
        let pilot = CellPilot::new(2.0, 0.02, 600.0);
        let found = length(pilot, |_| 500.0 * libm::exp(0.01 * random.normal()));
        assert_eq!(found, (2.0, 8));
    }

    #[test]
    fn scatter_that_falls_with_length_gets_longer_runs() {
        let mut enough = 0;
        for seed in 0..20 {
            let mut random = Random::new(seed);
            // 10 % at 1 s; 2 % takes 25 s.
            let pilot = CellPilot::new(1.0, 0.02, 600.0);
            let (seconds, _) = length(pilot, |seconds| {
                500.0 * libm::exp(0.1 / libm::sqrt(seconds) * random.normal())
            });
            enough += usize::from((8.0..257.0).contains(&seconds));
        }
        assert!(enough >= 18, "{enough} of 20");
    }

    #[test]
    fn where_runs_differ_however_long_they_are_short_ones_do() {
        let mut short = 0;
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let pilot = CellPilot::new(5.0, 0.1, 600.0);
            let bimodal = |_| match random.uniform() < 0.5 {
                true => 1_081.0,
                false => 2_422.0,
            };
            short += usize::from(length(pilot, bimodal).0 <= 40.0);
        }
        assert!(short >= 35, "{short} of 40");
    }

    #[test]
    fn lengths_have_an_end_and_runs_without_a_rate_are_made_again() {
        let mut random = Random::new(1);
        let mut made = 0;
        let pilot = CellPilot::new(10.0, 0.02, 15.0);
        let (seconds, count) = length(pilot, |_| {
            made += 1;
            if made % 2 == 0 {
                0.0
            } else {
                500.0 * libm::exp(0.2 * random.normal())
            }
        });
        assert!(seconds <= 15.0 && count >= 31, "{seconds} {count}");
    }
}
