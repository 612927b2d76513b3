//! Runs of a search: their plan, and their counts.

use serde::{Deserialize, Serialize};
use stripewise_stats::{ExceedanceDesign, ExceedanceRun};

/// Range of factors that are tried.
pub const FACTORS: [f64; 2] = [0.05, 20.0];

/// Parameters of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// The share that may be beyond the limit: 0.01 for p99.
    pub share: f64,
    /// Length of a run.
    pub run_ns: u64,
    /// Of the confirming run.
    pub confirm_ns: u64,
    /// Length of the recording: runs use random parts of it.
    pub recording_ns: u64,
    /// Whether parts of the recording are drawn per run or per block.
    pub design: ExceedanceDesign,
    /// Factors are multiples of this; 0: any.
    pub unit: f64,
    /// Seed of parts, order and thinning.
    pub seed: u64,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Finding the approximate range.
    Climb,
    /// Input for the fit.
    Fit,
    /// Confirming the answer.
    Confirm,
}

/// A planned run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// The load.
    pub factor: f64,
    /// Start within the recording.
    pub from_ns: u64,
    /// Seed of the copies' shifts and of thinning.
    pub seed: u64,
    /// Its block.
    pub block: u32,
    /// Its purpose.
    pub purpose: Purpose,
    /// Measured time in nanoseconds.
    pub length_ns: u64,
}

/// A completed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRun {
    /// As planned.
    pub planned: PlannedRun,
    /// Operations that were due.
    pub operations: u64,
    /// Those beyond the limit.
    pub beyond: u64,
}

impl LoadRun {
    /// The share beyond the limit, never zero.
    pub(super) fn share(&self) -> f64 {
        match self.operations {
            0 => 0.0,
            operations => (self.beyond as f64 + 0.5) / operations as f64,
        }
    }

    /// The counts as input for the statistics.
    pub(super) fn counts(&self) -> ExceedanceRun {
        ExceedanceRun {
            factor: self.planned.factor,
            operations: self.operations,
            beyond: self.beyond,
            seconds: self.planned.length_ns as f64 / 1e9,
            block: self.planned.block,
        }
    }
}
