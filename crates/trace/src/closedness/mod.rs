//! Does a load wait for the disk? Determines whether a task's next operation depends on the
//! completion of an earlier one, or comes independently.
//!
//! "Arrivals see time averages" (Wolff, 1982): operations that come independently of the disk see
//! on average the mean number in flight. The shortfall seen by arrivals is E, the elasticity of the
//! load: by how many per cent its rate falls for each per cent that latency rises, 0 for an open
//! load, 1 for one that only waits. E over the mean in flight is R, the reciprocal of the number of
//! slots of a closed load, whatever its think time.
//!
//! Definitions. An *epoch* is an issue at least delta = min(100 us, a quarter of the median
//! latency) after the task's issue before it: a batch is one decision. Time counts at least
//! delta after the last own issue, so that both sides have the same condition. Intervals
//! are from ten blocks of equal numbers of epochs, with Student's t of nine degrees of
//! freedom at 99 % (3.25). Each block sees one operation fewer than there are, which is
//! corrected.
//!
//! Not covered: that a group commit's writes are elastic while its commits are not, and how a
//! thread pool would behave at its limit: E describes the current state.

mod collect;
mod serial;
mod sweep;

pub use collect::{LoadClosedness, TaskClosedness, TaskSpans};
pub use serial::Slope;

use sweep::Sweep;

/// Blocks of a recording.
const BLOCKS: usize = 10;
/// Student's t of nine degrees of freedom, 99.5 %.
const T9: f64 = 3.25;
/// Fewest epochs for a conclusion.
const EPOCHS_MIN: usize = 500;
/// Fewest epochs for each operation in flight.
const EPOCHS_PER_DEPTH: f64 = 200.0;
/// Below this, the rate hardly depends on latency.
pub const INSENSITIVE: f64 = 0.15;
/// With a larger share of lost events there is no result: gaps look like waiting.
pub const LOST_SHARE_MAX: f64 = 0.001;

/// The share of events that were lost beside those that were seen: the one rule for what
/// [`LOST_SHARE_MAX`] is held against, in verdicts, counts and recordings.
pub fn share_of_lost(lost: u64, seen: u64) -> f64 {
    lost as f64 / seen.saturating_add(lost).max(1) as f64
}

/// One operation of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// When it was requested: at the system call if known.
    pub issued_ns: u64,
    /// When it completed.
    pub completed_ns: u64,
}

/// How a task issues operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// One at a time, and each waits for the one before: closed.
    OneAtATime,
    /// One at a time; unclear whether by waiting or because it is fed.
    OneAtATimeCauseUnknown,
    /// Driven by a timer or a queue: open.
    Paced,
    /// A number of slots, each of which waits: closed.
    Closed,
    /// Independent of the disk, in bursts.
    OpenBursty,
    /// Independent of the disk.
    Open,
    /// Inconclusive.
    Undecided,
    /// Too few operations.
    TooFew,
}

impl Structure {
    /// Whether the load waits for its own completions.
    pub const fn is_closed(self) -> bool {
        matches!(self, Structure::OneAtATime | Structure::Closed)
    }

    /// Whether the load is independent of the disk.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Structure::Paced | Structure::Open | Structure::OpenBursty
        )
    }
}

/// The result for a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closedness {
    /// How it issues operations.
    pub structure: Structure,
    /// E, 0 to 1: per cent by which the rate falls per per cent that latency rises.
    pub elasticity: f64,
    /// Bounds of E, 0 to 1.
    pub elasticity_interval: [f64; 2],
    /// Slots of a closed load; None if the load is not closed, or a mixture.
    pub slots: Option<f64>,
    /// Own operations in flight, averaged over time.
    pub in_flight_mean: f64,
    /// R: E over the mean in flight, before any rule adjusts it.
    pub per_slot: f64,
    /// Slope of the next gap on latency; None for fewer than 60 gaps with nothing else in flight.
    pub slope: Option<Slope>,
    /// Number of decisions to issue.
    pub epochs: usize,
}

impl Closedness {
    const TOO_FEW: Closedness = Closedness {
        structure: Structure::TooFew,
        elasticity: 0.0,
        elasticity_interval: [0.0, 1.0],
        slots: None,
        in_flight_mean: 0.0,
        per_slot: 0.0,
        slope: None,
        epochs: 0,
    };

    /// Whether E is certainly below 0.15: latency hardly affects the rate, whatever the structure.
    /// Report this first.
    pub fn is_insensitive(&self) -> bool {
        self.structure != Structure::TooFew && self.elasticity_interval[1] < INSENSITIVE
    }
}

/// Mean and standard error.
#[derive(Clone, Copy, Debug)]
struct Measured {
    value: f64,
    error: f64,
}

impl Measured {
    fn low(self) -> f64 {
        self.value - T9 * self.error
    }

    fn high(self) -> f64 {
        self.value + T9 * self.error
    }
}

/// Results from the blocks.
struct Blocks {
    elasticity: Measured,
    per_slot: Measured,
    in_flight_mean: f64,
}

/// Classifies a task by its operations, in any order.
pub fn closedness(spans: &[Span]) -> Closedness {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    let Some(sweep) = Sweep::new(&spans) else {
        return Closedness::TOO_FEW;
    };
    let Some(blocks) = blocks_of(&sweep) else {
        return Closedness::TOO_FEW;
    };
    let epochs = sweep.epochs.len();
    let seen_p99 = sweep.seen_percentile(0.99);
    let is_serial = blocks.per_slot.low() > 0.6 && seen_p99 < 1.0;
    let needed = EPOCHS_PER_DEPTH * blocks.in_flight_mean;
    let is_enough = epochs >= EPOCHS_MIN && (is_serial || epochs as f64 >= needed);
    let slope = serial::slope(&sweep);
    let structure = if is_enough {
        structure_of(&sweep, &blocks, is_serial, slope)
    } else {
        Structure::TooFew
    };
    let busy = sweep.busy_share();
    let clamp = |value: f64| value.clamp(0.0, 1.0);
    let blocks_interval = [blocks.elasticity.low(), blocks.elasticity.high()].map(clamp);
    let (elasticity, elasticity_interval) = match structure {
        Structure::OneAtATime => (busy, [busy, busy]),
        Structure::OneAtATimeCauseUnknown => (busy, [0.0, busy]),
        Structure::Paced | Structure::Open | Structure::OpenBursty => {
            (0.0, [0.0, blocks_interval[1].min(INSENSITIVE)])
        }
        Structure::Closed | Structure::Undecided => {
            (clamp(blocks.elasticity.value), blocks_interval)
        }
        Structure::TooFew => (0.0, [0.0, 1.0]),
    };
    let slots = 1.0 / blocks.per_slot.value.max(1e-3);
    let is_mixture = sweep.in_flight_max as f64 > 1.6 * slots + 1.0;
    Closedness {
        structure,
        elasticity,
        elasticity_interval,
        slots: match structure {
            Structure::OneAtATime => Some(1.0),
            Structure::Closed if !is_mixture => Some(slots),
            _ => None,
        },
        in_flight_mean: blocks.in_flight_mean,
        per_slot: blocks.per_slot.value,
        slope,
        epochs,
    }
}

/// The rules in order.
fn structure_of(
    sweep: &Sweep,
    blocks: &Blocks,
    is_serial: bool,
    slope: Option<Slope>,
) -> Structure {
    // Gaps that begin and end with nothing in flight and do not depend on latency.
    let is_fed = slope.is_some_and(|slope| slope.high < 0.6);
    if is_serial {
        return match slope {
            Some(slope) if slope.low > 0.15 && slope.high > 0.6 => Structure::OneAtATime,
            Some(_) if is_fed => Structure::Paced,
            _ => Structure::OneAtATimeCauseUnknown,
        };
    }
    let is_constant = sweep.in_flight_dispersion < 0.5 && blocks.in_flight_mean > 1.5;
    let is_elastic = blocks.elasticity.low() > 0.0 && blocks.per_slot.value > 0.01;
    if is_constant || is_elastic {
        let is_regular = sweep.gap_variation < 0.5 && sweep.completions_answered < 0.1;
        if is_regular || is_fed {
            return Structure::Paced;
        }
        return Structure::Closed;
    }
    if blocks.elasticity.high() < 0.0 {
        return Structure::OpenBursty;
    }
    if blocks.elasticity.high() < INSENSITIVE || is_fed {
        return Structure::Open;
    }
    Structure::Undecided
}

/// Elasticity in blocks of equal numbers of epochs; None for fewer than six in each, or if a block
/// has no time.
fn blocks_of(sweep: &Sweep) -> Option<Blocks> {
    let epochs = sweep.epochs.len();
    if epochs < 6 * BLOCKS {
        return None;
    }
    let edge = |block: usize| epochs * block / BLOCKS;
    let share = BLOCKS as f64 / epochs as f64;
    let mut differences = Vec::with_capacity(BLOCKS);
    let mut in_flight = Vec::with_capacity(BLOCKS);
    for block in 0..BLOCKS {
        let (from, to) = (edge(block), edge(block + 1));
        let over_time = sweep.in_flight_between(from, to)?;
        let seen = sweep.seen[from..to].iter().map(|&seen| f64::from(seen));
        let seen = seen.sum::<f64>() / (to - from) as f64;
        differences.push((over_time - seen - share * over_time) / (1.0 - share));
        in_flight.push(over_time);
    }
    let count = BLOCKS as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let value = mean(&differences);
    let spread = stripewise_stats::standard_deviation(&differences)?;
    let in_flight_mean = mean(&in_flight);
    if in_flight_mean <= 0.0 {
        return None;
    }
    let (all, all_in_flight) = (value * count, in_flight_mean * count);
    let without: Vec<f64> = differences
        .iter()
        .zip(&in_flight)
        .map(|(one, flight)| (all - one) / (all_in_flight - flight))
        .collect();
    let centre = mean(&without);
    let squares: f64 = without
        .iter()
        .map(|one| (one - centre) * (one - centre))
        .sum();
    Some(Blocks {
        elasticity: Measured {
            value,
            error: spread / count.sqrt(),
        },
        per_slot: Measured {
            value: value / in_flight_mean,
            error: ((count - 1.0) / count * squares).sqrt(),
        },
        in_flight_mean,
    })
}

#[cfg(test)]
mod tests;
