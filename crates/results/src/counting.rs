//! Per-second counts of a job, in addition to its totals.

use serde::{Deserialize, Serialize};

/// Which operations of a job are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedOperations {
    /// Reads, writes and discards; in an open loop all arrivals, including those never issued.
    #[default]
    Transfers,
    /// Commits: an explicit sync with the writes since the one before.
    #[serde(alias = "syncs")]
    Commits,
}

/// A job's operations are counted for every second in which they were due. Without thresholds
/// nothing is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counting {
    /// The operations counted.
    pub operations: CountedOperations,
    /// Latency thresholds in nanoseconds, ascending.
    pub thresholds_ns: Vec<u64>,
    /// An arrival of an open loop issued later than this by the program itself counts as one of its
    /// own lags.
    pub lag_ns_max: u64,
}

impl Counting {
    /// Reads, writes and discards; the program's own lag limit is a tenth of the smallest
    /// threshold.
    pub fn transfers(thresholds_ns: Vec<u64>) -> Counting {
        Counting {
            operations: CountedOperations::Transfers,
            lag_ns_max: thresholds_ns.first().copied().unwrap_or(0) / 10,
            thresholds_ns,
        }
    }
}
