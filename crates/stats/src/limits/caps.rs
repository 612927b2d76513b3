//! Caps on operations and bytes per second: Huber means of the flat cells.

use super::cells::{
    AGAIN_RUNS, BYTES_CELLS, LimitCell, LimitRates, REPETITIONS_MIN, huber, unit_at,
};
use crate::in_full::{InFull, in_full};
use crate::robust::robust_mean_interval;
use crate::sample::{Estimate, median};
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// Added to either side of an interval, in logarithms: flat cells still differ a little, which
/// repetition does not average out.
const FLAT_SHARE: f64 = 0.01;
const LEVEL: f64 = 0.95;
/// Bytes of an operation of [`LimitCell::Small`].
const SMALL_BYTES: f64 = 4_096.0;
/// A rate beyond a unit this close, in logarithms, to what one way of counting allows is held by
/// it: less than half of the distance between two ways.
const COUNTING_SHARE: f64 = 0.1;
/// Smallest relevant change of a cap over time, in logarithms.
const DRIFT_MIN: f64 = 0.05;
/// And in standard errors.
const DRIFT_ERRORS: f64 = 4.0;
/// Fewest rounds on either side of a change, and runs of them.
const SIDE_ROUNDS_MIN: usize = 2;
const SIDE_RUNS_MIN: usize = 3;
/// Smallest relevant fall behind fewer rounds or runs, in logarithms: something else slows runs
/// down, but only a burst makes the first ones so much faster.
const EARLY_FALL_MIN: f64 = 0.2;

/// One cap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// Operations or bytes per second.
    pub per_s: Estimate,
    /// Its runs counted in full, where the interval excludes their plain mean.
    pub in_full: Option<InFull>,
}

/// The caps of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// Operations per second, if the rate does not depend on size and depth.
    pub iops: Option<Cap>,
    /// Bytes per second, if they do not depend on size.
    pub bytes_per_s: Option<Cap>,
    /// How large operations count.
    pub counting: Counting,
    /// Standard deviation of a run within its cell, relative.
    pub scatter: f64,
    /// Cells that differ by less, relatively, count as equal.
    pub tolerance: f64,
    /// Whether the scatter of a cell's mean is small enough to call a cap a limiter.
    pub is_quiet: bool,
    /// Runs of each cell.
    pub repetitions: usize,
    /// A cap changed during the measurement.
    pub drift: Option<Drift>,
}

/// How operations count that are larger than the block size at which the caps meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// By their bytes.
    Bytes,
    /// Once for each unit of this many bytes that they start: at multiples of it, that looks like
    /// a cap on bytes.
    Units(u64),
    /// Either, as the caps meet at a unit of this many bytes: nothing larger was measured that is
    /// no multiple of it, or its rate fits neither.
    Either(u64),
}

/// A cap that changed within the grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// (after - before) / before.
    pub change_share: f64,
    /// After so many rounds; `None`: behind the runs that write.
    pub after_rounds: Option<usize>,
    /// A load that shows it.
    pub cell: LimitCell,
}

impl LimitRates {
    /// The caps. `None` below three runs of each cell.
    pub fn caps(&self) -> Option<Caps> {
        let scatter = self.scatter()?;
        let of_iops = self.iops_cells();
        let bytes_per_s = self.level(&BYTES_CELLS, scatter.tolerance, |bytes| bytes as f64);
        let iops = self.level(of_iops, scatter.tolerance, |_| 1.0);
        let iops = iops.filter(|_| !self.is_small_held(bytes_per_s, scatter.tolerance));
        // If there is no cap of a type, a rate that rose belongs to none; one that fell may be the
        // reason.
        let of = |cells: &[LimitCell], cap: &Option<Cap>| {
            let drift = self.drift(cells, scatter.run);
            drift.filter(|drift| cap.is_some() || drift.change_share < 0.0)
        };
        let drift = of(of_iops, &iops)
            .or_else(|| of(&of_iops[..1], &iops))
            .or_else(|| of(&BYTES_CELLS, &bytes_per_s))
            .or_else(|| self.fall_behind_writes());
        Some(Caps {
            iops,
            bytes_per_s,
            counting: self.counting(),
            scatter: scatter.run,
            tolerance: scatter.tolerance,
            is_quiet: self.is_quiet(),
            repetitions: self.repetitions(),
            drift,
        })
    }

    /// How large operations count, from the rate a quarter beyond the unit at which the caps meet:
    /// the two ways differ by a fifth there, or by more.
    fn counting(&self) -> Counting {
        let Some((iops, bytes_per_s)) = self.levels() else {
            return Counting::Bytes;
        };
        let chosen = self.corners.unit_bytes;
        let Some(unit) = chosen.or_else(|| unit_at(libm::exp(bytes_per_s - iops))) else {
            return Counting::Bytes;
        };
        let beyond = self.log_mean(LimitCell::BeyondUnit);
        let size = self.block_size_bytes(LimitCell::BeyondUnit);
        let Some((beyond, size)) = beyond.zip(size) else {
            return Counting::Either(unit);
        };
        let is_near = |allowed: f64| (beyond - allowed).abs() < COUNTING_SHARE;
        if is_near(iops - LN_2) {
            Counting::Units(unit)
        } else if is_near(iops.min(bytes_per_s - libm::log(size as f64))) {
            Counting::Bytes
        } else {
            Counting::Either(unit)
        }
    }

    /// The common level of cells whose means are within the tolerance of the first.
    fn level(
        &self,
        cells: &[LimitCell],
        tolerance: f64,
        weight: impl Fn(u64) -> f64 + Copy,
    ) -> Option<Cap> {
        let means = cells
            .iter()
            .map(|cell| huber(&self.logs_of(&[*cell], weight)));
        let means: Option<Vec<f64>> = means.collect();
        let means = means?;
        let first = means.first()?;
        if means.iter().any(|mean| (mean - first).abs() >= tolerance) {
            return None;
        }
        let all = self.logs_of(cells, weight);
        let found = robust_mean_interval(&all, LEVEL)?;
        let wider = Estimate {
            low: found.low - FLAT_SHARE,
            high: found.high + FLAT_SHARE,
            ..found
        };
        let per_s = wider.map(libm::exp);
        let ratios = all.iter().map(|log| libm::exp(log - found.value));
        let full = in_full(&ratios.collect::<Vec<_>>());
        Some(Cap {
            per_s,
            in_full: full.filter(|full| !per_s.contains(per_s.value * full.ratio)),
        })
    }

    /// Whether a cap on bytes already holds blocks of 4 KiB: one on operations does not show then.
    fn is_small_held(&self, bytes_per_s: Option<Cap>, tolerance: f64) -> bool {
        let cap = bytes_per_s.map(|cap| libm::log(cap.per_s.value / SMALL_BYTES));
        let small = self.log_mean(LimitCell::Small);
        small
            .zip(cap)
            .is_some_and(|(small, cap)| (small - cap).abs() < tolerance)
    }

    /// The cap that holds 4 KiB reads, operations per second.
    pub(super) fn cap_of_small(&self, caps: &Caps) -> Option<f64> {
        let bytes = caps
            .bytes_per_s
            .filter(|_| self.is_small_held(caps.bytes_per_s, caps.tolerance));
        let of_bytes = bytes.map(|cap| cap.per_s.value / SMALL_BYTES);
        caps.iops.map(|cap| cap.per_s.value).or(of_bytes)
    }

    /// Writes or the mix are slower than a level of reads: a cap of their own, what they cost
    /// the device, or a burst that ended meanwhile.
    pub(super) fn writes_are_slower(&self) -> bool {
        let Some((cap, tolerance)) = self
            .caps()
            .and_then(|caps| Some((self.cap_of_small(&caps)?, caps.tolerance)))
        else {
            return false;
        };
        let level = libm::log(cap);
        let cells = [LimitCell::Mix, LimitCell::Writes].into_iter();
        let mut means = cells.filter_map(|cell| self.log_mean(cell));
        means.any(|mean| mean < level - tolerance)
    }

    /// Whether a measurement that stops here would show what a cap is refused for: each load has
    /// the fewest runs of a whole one, and reads were measured behind writes that are slower.
    pub fn shows_refusals(&self) -> bool {
        let is_back_measured = || self.of(LimitCell::SmallAgain).len() >= AGAIN_RUNS;
        self.repetitions() >= REPETITIONS_MIN && (!self.writes_are_slower() || is_back_measured())
    }

    /// What reads fell to while writes were measured, where the last runs behind these show it.
    pub(super) fn fall_behind_writes(&self) -> Option<Drift> {
        let again = self.logs(LimitCell::SmallAgain);
        let last = again.len().checked_sub(AGAIN_RUNS)?;
        let change = median(&again[last..])? - self.log_mean(LimitCell::Small)?;
        let before = self.of(LimitCell::Small).len();
        let count = 1.0 / AGAIN_RUNS as f64 + 1.0 / before as f64;
        let error = self.scatter()?.run * libm::sqrt(count);
        (-change > DRIFT_MIN.max(DRIFT_ERRORS * error)).then(|| Drift {
            change_share: libm::expm1(change),
            after_rounds: None,
            cell: LimitCell::Small,
        })
    }

    /// How much faster the first run of a load that shows a cap was than later ones, if not by
    /// chance: a burst ended during it, too early to count as a fall of the cap.
    pub fn first_run_ratio(&self) -> Option<f64> {
        let least = EARLY_FALL_MIN.max(DRIFT_ERRORS * self.scatter()?.run);
        let cells = self.iops_cells().iter().chain(&BYTES_CELLS);
        let distances = cells.filter_map(|cell| {
            let logs = self.logs(*cell);
            Some(logs.first()? - median(&logs)?)
        });
        let most = distances.fold(0.0, f64::max);
        (most > least).then(|| libm::exp(most))
    }

    /// The largest step of the cells' rates between two rounds, if one matters.
    fn drift(&self, cells: &[LimitCell], scatter: f64) -> Option<Drift> {
        let rounds = cells.iter().map(|cell| self.of(*cell).len()).min()?;
        let centred: Option<Vec<Vec<f64>>> = cells
            .iter()
            .map(|cell| {
                let logs = self.logs(*cell);
                let centre = median(&logs)?;
                Some(logs.into_iter().map(|log| log - centre).collect())
            })
            .collect();
        let centred = centred?;
        let early = SIDE_RUNS_MIN.div_ceil(cells.len());
        let side = SIDE_ROUNDS_MIN.max(early);
        let mut most: Option<Drift> = None;
        for after in early..=rounds.saturating_sub(side) {
            let part = |from: usize, to: usize| -> Vec<f64> {
                let parts = centred.iter().map(|logs| &logs[from..to]);
                parts.flatten().copied().collect()
            };
            let (before, behind) = (part(0, after), part(after, rounds));
            let (from, to) = (median(&before)?, median(&behind)?);
            let change = to - from;
            let count = 1.0 / before.len() as f64 + 1.0 / behind.len() as f64;
            let error = scatter * libm::sqrt(count);
            let middle = 0.5 * (from + to);
            // A few disturbed runs at either end are not a step.
            let holds = mostly(&before, |log| (log < middle) == (change > 0.0))
                && mostly(&behind, |log| (log > middle) == (change > 0.0));
            // A round that is still above belongs before a later step.
            let above = behind.iter().filter(|log| **log > middle).count();
            let may_be_early = -change > EARLY_FALL_MIN && above < cells.len();
            let is_shown = after >= side || may_be_early;
            let matters = change.abs() > DRIFT_MIN.max(DRIFT_ERRORS * error) && holds && is_shown;
            let share = libm::expm1(change);
            if matters && most.is_none_or(|most| share.abs() > most.change_share.abs()) {
                most = Some(Drift {
                    change_share: share,
                    after_rounds: Some(after),
                    cell: *cells.first()?,
                });
            }
        }
        most
    }
}

/// Whether this holds for three quarters of the values; of three, for all.
fn mostly(values: &[f64], holds: impl Fn(f64) -> bool) -> bool {
    let count = values.iter().filter(|value| holds(**value)).count();
    4 * count >= 3 * values.len()
}
