//! What is counted of a job by the second, beside its totals.

use serde::{Deserialize, Serialize};

/// Which operations of a job are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedOperations {
    /// Reads, writes and discards; of an open loop all its arrivals, also those that were
    /// never issued.
    #[default]
    Transfers,
    /// Explicit syncs.
    Syncs,
}

/// Operations of one job are counted for every second in which they were due. Without
/// thresholds nothing is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counting {
    /// Which of them.
    pub operations: CountedOperations,
    /// Latencies in nanoseconds beyond which they are counted, by rising value.
    pub thresholds_ns: Vec<u64>,
    /// An arrival of an open loop that the program itself issues later than this counts as
    /// one of its own lags.
    pub lag_ns_max: u64,
}

impl Counting {
    /// Reads, writes and discards; the program's own lag is a tenth of the smallest threshold.
    #[must_use]
    pub fn transfers(thresholds_ns: Vec<u64>) -> Counting {
        Counting {
            operations: CountedOperations::Transfers,
            lag_ns_max: thresholds_ns.first().copied().unwrap_or(0) / 10,
            thresholds_ns,
        }
    }
}
