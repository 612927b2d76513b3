//! Several looks at one measurement, with the error budget divided among them.

use super::share::{DueSecond, ShareJudgement, ShareRule, judge_share};
use super::split::{MinutesDiffer, minutes_differ};
use serde::{Deserialize, Serialize};

/// An interim analysis of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Seconds measured by then.
    pub seconds: usize,
    /// Met below this.
    pub alpha_met: f64,
    /// Missed below this.
    pub alpha_missed: f64,
}

/// When to look, and how to measure in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Q30: up to 30 minutes without a pause.
    Continuous,
    /// Q90: a run of 60 s at a random position in each 3 minutes, up to 30 of them in 90 minutes.
    /// The default for a verdict to sign.
    Spread,
}

const fn look(seconds: usize, alpha_met: f64, alpha_missed: f64) -> Look {
    Look {
        seconds,
        alpha_met,
        alpha_missed,
    }
}

const CONTINUOUS: [Look; 5] = [
    look(180, 0.0, 0.0025),
    look(300, 0.005, 0.0025),
    look(600, 0.01, 0.01),
    look(1_200, 0.015, 0.015),
    look(1_800, 0.02, 0.02),
];
const SPREAD: [Look; 4] = [
    look(300, 0.0, 0.005),
    look(600, 0.0, 0.01),
    look(1_200, 0.02, 0.015),
    look(1_800, 0.03, 0.02),
];

impl Design {
    /// The looks, in order.
    pub fn looks(self) -> &'static [Look] {
        match self {
            Design::Continuous => &CONTINUOUS,
            Design::Spread => &SPREAD,
        }
    }

    /// Seconds of a run, and of the window in which it starts at a random position; none if
    /// measuring is continuous.
    pub fn run_in_window_s(self) -> Option<(u64, u64)> {
        match self {
            Design::Continuous => None,
            Design::Spread => Some((60, 180)),
        }
    }

    /// Seconds measured, without an extension.
    pub fn seconds(self) -> usize {
        self.looks().last().map_or(0, |look| look.seconds)
    }
}

/// A verdict on a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QualifyVerdict {
    /// Shown to hold.
    Met,
    /// Shown not to hold.
    Missed,
    /// Neither: the normal answer between a third of the limit and three times it.
    Undecided,
}

/// The next step after a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QualifyStep {
    /// Continue measuring up to this many seconds in total.
    GoOn {
        /// The next look.
        until_seconds: usize,
    },
    /// The verdict is known.
    Done,
}

/// A qualification, fed second by second.
///
/// ```
/// use stripewise_stats::{Design, DueSecond, Qualification, QualifyStep, QualifyVerdict, ShareRule};
/// let mut qualification = Qualification::new(ShareRule::new(0.01), Design::Continuous, 1);
/// let bad = DueSecond { due: 200, beyond: 20 };
/// while qualification.feed(bad) != QualifyStep::Done {}
/// let outcome = qualification.outcome();
/// assert_eq!((outcome.verdict, outcome.seconds), (QualifyVerdict::Missed, 180));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Qualification {
    rule: ShareRule,
    design: Design,
    seed: u64,
    measured: Vec<DueSecond>,
    looks_done: usize,
    is_extended: bool,
    verdict: Option<QualifyVerdict>,
}

/// Result of a qualification.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QualifyOutcome {
    /// Undecided if it was stopped early.
    pub verdict: QualifyVerdict,
    /// Where the minutes differ: the verdict is that of the part since then.
    pub change: Option<MinutesDiffer>,
    /// The judged part; none if it is too short.
    pub judgement: Option<ShareJudgement>,
    /// All seconds measured.
    pub seconds: usize,
}

impl Qualification {
    /// Before any measurement. `seed` is for the random orders used to compare minutes.
    pub fn new(rule: ShareRule, design: Design, seed: u64) -> Qualification {
        Qualification {
            rule,
            design,
            seed,
            measured: Vec::new(),
            looks_done: 0,
            is_extended: false,
            verdict: None,
        }
    }

    /// The next second of due time. Runs of [`Design::Spread`] follow each other.
    pub fn feed(&mut self, second: DueSecond) -> QualifyStep {
        if self.verdict.is_none() {
            self.measured.push(second);
            if self.measured.len() >= self.next_look().seconds {
                self.look();
            }
        }
        match self.verdict {
            Some(_) => QualifyStep::Done,
            None => QualifyStep::GoOn {
                until_seconds: self.next_look().seconds,
            },
        }
    }

    /// Current result.
    pub fn outcome(&self) -> QualifyOutcome {
        let change = self.change();
        QualifyOutcome {
            verdict: self.verdict.unwrap_or(QualifyVerdict::Undecided),
            change,
            judgement: judge_share(self.since(change), self.rule),
            seconds: self.measured.len(),
        }
    }

    /// After an extension there is one more look, with the levels of the last.
    fn next_look(&self) -> Look {
        let looks = self.design.looks();
        let last = looks[looks.len() - 1];
        let extended = Look {
            seconds: 2 * last.seconds,
            ..last
        };
        looks.get(self.looks_done).copied().unwrap_or(extended)
    }

    fn look(&mut self) {
        let look = self.next_look();
        self.looks_done += 1;
        let is_last = self.looks_done >= self.design.looks().len();
        let change = self.change();
        let judged = judge_share(self.since(change), self.rule);
        let missed = judged.is_some_and(|judged| judged.p_missed < look.alpha_missed);
        let met = judged.is_some_and(|judged| judged.p_met < look.alpha_met);
        self.verdict = if missed {
            Some(QualifyVerdict::Missed)
        } else if change.is_some() && !self.is_extended {
            // No early "met" after a change; extended once by the same length.
            self.is_extended = is_last;
            None
        } else if met {
            Some(QualifyVerdict::Met)
        } else {
            is_last.then_some(QualifyVerdict::Undecided)
        };
    }

    fn change(&self) -> Option<MinutesDiffer> {
        minutes_differ(&self.measured, self.seed).filter(MinutesDiffer::is_change)
    }

    /// The part since the change.
    fn since(&self, change: Option<MinutesDiffer>) -> &[DueSecond] {
        &self.measured[change.map_or(0, |change| change.at_s)..]
    }
}
