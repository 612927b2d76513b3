//! Drives the target at a cap until a burst ends, then the rest, and the second drive.

use super::document::{BucketUnit, BurstResult};
use serde::{Deserialize, Serialize};
use stripewise_results::JobOutcome;
use stripewise_stats::{
    BurstUse, RateStep, Refill, STEP_SECONDS, TokenBucket, find_step, fit_bucket, fit_refill,
    is_lasting, median, rest_after_s, seconds_after_step,
};

const SECOND_NS: u64 = 1_000_000_000;
/// Length of a piece; the study evaluates the state between two pieces.
const PIECE_NS: u64 = 60 * SECOND_NS;
/// The second drive ends after this time, with or without a step.
const AGAIN_SECONDS_MAX: usize = 240;
/// A drive below this share of the rate that the grid showed does not reach it.
const REACHED_SHARE: f64 = 0.8;
/// A burst is back if half of the seconds of the second drive reach this share of its rate.
const BACK_SHARE: f64 = 0.9;
/// Also back if half of this many first seconds do: a small bucket is soon empty.
const FIRST_SECONDS: usize = 3;
/// Seconds that are measured after the second step.
const AGAIN_BEHIND_SECONDS: usize = 30;
/// Maximum length of a rest.
const REST_NS_MAX: u64 = 3_600 * SECOND_NS;
/// Time needed after a step at the end of the budget: measuring it, the rest, and the
/// second drive, at their usual lengths.
const BEHIND_STEP_NS: u64 = (320 + 600 + 120) * SECOND_NS;

/// The current stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stage {
    Drive,
    Rest,
    Again,
    Done,
}

/// What comes next.
pub(super) enum BurstNext {
    Piece(String),
    Rest(u64),
    Done,
}

/// The state of the burst measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Burst {
    pub(super) unit: BucketUnit,
    budget_ns: u64,
    /// Earlier use of the bucket, by time.
    earlier: Vec<BurstUse>,
    /// Rates by second, of the first drive and of the second. A burst that ended within the grid
    /// was driven there.
    rates: Vec<f64>,
    again: Vec<f64>,
    /// So many of the first are of the grid.
    #[serde(default)]
    pub(super) grid_s: usize,
    /// Rates by second of the grid at a cap that had not fallen, until the drive was seen.
    #[serde(default)]
    at_cap: Vec<f64>,
    /// Steps before this second did not last.
    from: usize,
    stage: Stage,
    /// The result of the first drive.
    pub(super) bucket: Option<TokenBucket>,
    rest_ns: u64,
    /// The result of the second.
    pub(super) refill: Option<Refill>,
}

impl Burst {
    /// At its beginning, with the rates by second of the grid at the cap, which fell there or not.
    pub(super) fn new(
        unit: BucketUnit,
        budget_ns: u64,
        earlier: Vec<BurstUse>,
        of_grid: Vec<f64>,
        has_fallen: bool,
    ) -> Burst {
        let (rates, at_cap) = match has_fallen {
            true => (of_grid, Vec::new()),
            false => (Vec::new(), of_grid),
        };
        Burst {
            unit,
            budget_ns,
            earlier,
            grid_s: rates.len(),
            rates,
            at_cap,
            again: Vec::new(),
            from: 0,
            stage: Stage::Drive,
            bucket: None,
            rest_ns: 0,
            refill: None,
        }
    }

    /// Upper bound from the start, in nanoseconds.
    pub(super) fn longest_ns(budget_ns: u64) -> u64 {
        budget_ns.saturating_add(BEHIND_STEP_NS)
    }

    /// Block size and depth that reach the cap.
    pub(super) fn load(&self) -> (u64, u32) {
        match self.unit {
            BucketUnit::Operations => (4 << 10, 64),
            BucketUnit::Bytes => (1 << 20, 64),
        }
    }

    /// Length of the first drive so far.
    fn driven_ns(&self) -> u64 {
        (self.rates.len() - self.grid_s) as u64 * SECOND_NS
    }

    pub(super) fn piece_ns(&self) -> u64 {
        match self.stage {
            Stage::Drive if self.step().is_none() => {
                let left_ns = self.budget_ns.saturating_sub(self.driven_ns());
                left_ns.clamp(SECOND_NS, PIECE_NS)
            }
            _ => PIECE_NS,
        }
    }

    /// Seconds of the first drive, or of the grid, before the rate fell, if it did.
    pub(super) fn driven_s(&self) -> usize {
        match (&self.bucket, self.step()) {
            (Some(bucket), _) => bucket.step_s,
            (None, Some(step)) => step.marked_at + 1 - STEP_SECONDS,
            (None, None) => self.rates.len(),
        }
    }

    /// The rate during these seconds.
    pub(super) fn driven_per_s(&self) -> Option<f64> {
        median(&self.rates[..self.driven_s()])
    }

    /// How it ended.
    pub(super) fn result(&self) -> BurstResult {
        match (self.stage, self.step()) {
            (Stage::Done, _) if self.recovered() => BurstResult::Ended,
            (Stage::Done, None) => BurstResult::NotEnded,
            (Stage::Done, Some(_)) if self.bucket.is_none() => BurstResult::NotMeasured,
            (Stage::Done, Some(_)) => BurstResult::NotRefilled,
            _ => BurstResult::Interrupted,
        }
    }

    /// The burst came back after the rest: a credit, not something that wore out. A burst
    /// that did not end again also counts as back, and so does one that ended before its end could
    /// be marked.
    pub(super) fn recovered(&self) -> bool {
        let before_end = find_step(&self.again, 0).map(|step| step.before_per_s);
        let first = &self.again[..self.again.len().min(FIRST_SECONDS)];
        let reached = [before_end.or_else(|| median(&self.again)), median(first)];
        let most = reached.into_iter().flatten().fold(0.0, f64::max);
        let bucket = self.bucket.filter(|_| self.stage == Stage::Done);
        bucket.is_some_and(|bucket| most >= BACK_SHARE * bucket.burst_per_s.value)
    }

    fn step(&self) -> Option<RateStep> {
        find_step(&self.rates, self.from)
    }

    pub(super) fn next(&self) -> BurstNext {
        match self.stage {
            Stage::Drive if self.step().is_some() => {
                BurstNext::Piece("Behind the end of the burst".to_owned())
            }
            Stage::Drive => BurstNext::Piece("Until the burst ends".to_owned()),
            Stage::Rest => BurstNext::Rest(self.rest_ns),
            Stage::Again => BurstNext::Piece("After the rest".to_owned()),
            Stage::Done => BurstNext::Done,
        }
    }

    pub(super) fn completed(&mut self, outcome: &JobOutcome) {
        let whole = outcome.intervals.iter();
        let whole = whole.filter(|interval| interval.duration_ns >= SECOND_NS / 2);
        let rates = whole.map(|interval| {
            let count = match self.unit {
                BucketUnit::Operations => interval.read_operations + interval.write_operations,
                BucketUnit::Bytes => interval.bytes,
            };
            count as f64 * 1e9 / interval.duration_ns as f64
        });
        let rates: Vec<f64> = rates.collect();
        match self.stage {
            Stage::Drive => {
                self.rates.extend(rates);
                self.look();
            }
            Stage::Again => {
                self.again.extend(rates);
                self.look_again();
            }
            Stage::Rest | Stage::Done => {}
        }
    }

    /// A burst that ended after the grid, or in the first seconds of the drive, was driven in the
    /// grid.
    fn join_grid(&mut self) {
        let mut all = std::mem::take(&mut self.at_cap);
        let rates = median(&all).zip(median(&self.rates));
        let is_below = rates.is_some_and(|(cap, driven)| driven < REACHED_SHARE * cap);
        if is_below && self.step().is_none() {
            self.grid_s = all.len();
            all.append(&mut self.rates);
            self.rates = all;
        }
    }

    /// Checks whether the first drive is over.
    fn look(&mut self) {
        self.join_grid();
        while let Some(step) = self.step() {
            match is_lasting(&self.rates, &step) {
                None => return,
                Some(false) => self.from = step.marked_at + 1,
                Some(true) => {
                    let bucket = fit_bucket(&self.rates, &step, &self.earlier, self.grid_s);
                    let enough = bucket
                        .as_ref()
                        .is_none_or(|bucket| self.rates.len() >= seconds_after_step(bucket.step_s));
                    if enough {
                        self.end_drive(bucket);
                    }
                    return;
                }
            }
        }
        if self.driven_ns() >= self.budget_ns {
            self.stage = Stage::Done;
        }
    }

    fn end_drive(&mut self, bucket: Option<TokenBucket>) {
        self.stage = Stage::Done;
        if let Some(bucket) = &bucket {
            let rest_ns = (rest_after_s(bucket) * SECOND_NS as f64) as u64;
            self.rest_ns = rest_ns.clamp(SECOND_NS, REST_NS_MAX);
            self.stage = Stage::Rest;
        }
        self.bucket = bucket;
    }

    fn look_again(&mut self) {
        let Some(bucket) = &self.bucket else {
            return;
        };
        let enough = find_step(&self.again, 0)
            .is_some_and(|step| self.again.len() >= step.marked_at + AGAIN_BEHIND_SECONDS);
        if enough || self.again.len() >= AGAIN_SECONDS_MAX {
            self.refill = fit_refill(bucket, &self.again, self.rest_ns as f64 / 1e9);
            self.stage = Stage::Done;
        }
    }

    /// Ends the rest and returns its length.
    pub(super) fn rested(&mut self) -> u64 {
        self.stage = Stage::Again;
        self.rest_ns
    }

    pub(super) fn left_ns(&self) -> u64 {
        match self.stage {
            Stage::Drive => Burst::longest_ns(self.budget_ns).saturating_sub(self.driven_ns()),
            Stage::Rest => self.rest_ns.saturating_add(2 * PIECE_NS),
            Stage::Again => PIECE_NS,
            Stage::Done => 0,
        }
    }
}
