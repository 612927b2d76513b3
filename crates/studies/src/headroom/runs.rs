//! Runs of a search: how they are planned, and what was counted.

use serde::{Deserialize, Serialize};
use stripewise_stats::{ExceedanceDesign, ExceedanceRun};

/// Factors that are tried.
pub const FACTORS: [f64; 2] = [0.05, 20.0];

/// What a search is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// The share that may be beyond the limit: 0.01 for p99.
    pub share: f64,
    /// Length of a run, and of the confirming one.
    pub run_ns: u64,
    /// Of the confirming run.
    pub confirm_ns: u64,
    /// Length of the recording: runs use random parts of it.
    pub recording_ns: u64,
    /// Parts of the recording are drawn for each run, or for each block.
    pub design: ExceedanceDesign,
    /// Factors are multiples of this; 0: any.
    pub unit: f64,
    /// Of parts, orders and thinning.
    pub seed: u64,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To find about where.
    Climb,
    /// To be fitted.
    Fit,
    /// To confirm.
    Confirm,
}

/// A run that is to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// The load.
    pub factor: f64,
    /// Where in the recording it begins.
    pub from_ns: u64,
    /// Of the copies' shifts and what is thinned.
    pub seed: u64,
    /// Its block.
    pub block: u32,
    /// What for.
    pub purpose: Purpose,
    /// How long it measures.
    pub length_ns: u64,
}

/// A run that was made.
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
    /// The share beyond the limit, and never nothing.
    pub(super) fn share(&self) -> f64 {
        match self.operations {
            0 => 0.0,
            operations => (self.beyond as f64 + 0.5) / operations as f64,
        }
    }

    /// For the statistics.
    pub(super) fn counts(&self) -> ExceedanceRun {
        ExceedanceRun {
            factor: self.planned.factor,
            operations: self.operations,
            beyond: self.beyond,
            block: self.planned.block,
        }
    }
}
