//! The reference data for judging a capture, and its calm parts.

use crate::operation::Operation;
use std::collections::BTreeMap;
use stripewise_stats::{Quantile, median, quantile};

/// Fewest operations for a period to be judged.
const PERIOD_OPERATIONS_MIN: usize = 10;
/// A period is calm up to this multiple of the fastest quarter's median.
const CALM_FACTOR: f64 = 1.5;

/// Facts besides the operations.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Selects the operations of the load in question.
    pub is_own: &'a dyn Fn(&Operation) -> bool,
    /// The calm part of the capture, by arrival.
    pub is_calm: &'a dyn Fn(u64) -> bool,
    /// Length of the calm part, nanoseconds.
    pub calm_ns: u64,
    /// Length of the other part, nanoseconds.
    pub other_ns: u64,
    /// Threshold for slow; None: derived from the calm part.
    pub slow_ns: Option<u64>,
    /// The share of lost events.
    pub lost_share: f64,
    /// Share of time in which some task waited for a processor (`/proc/pressure/cpu`, "some"), 0 to
    /// 1, in the non-calm part; None if unknown.
    pub processor_pressure: Option<f64>,
    /// The same in the calm part: a permanent shortage explains no difference.
    pub calm_pressure: Option<f64>,
    /// Operations per second allowed by a control group of the load, or one above it; None if none
    /// is configured or known.
    pub configured_limit: Option<f64>,
}

/// Periods of a capture and which of them are calm: those with a median latency of at most 1.5
/// times that of the fastest quarter of periods.
///
/// Returns the start of each calm period; `period_ns` is their length. Periods with fewer than ten
/// operations are not judged.
pub fn calm_periods(operations: &[Operation], period_ns: u64) -> Vec<u64> {
    let mut periods: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for operation in operations {
        if let Some(ns) = operation.whole_ns() {
            let period = operation.arrived_ns / period_ns.max(1);
            periods.entry(period).or_default().push(ns as f64);
        }
    }
    let judged = periods.into_iter().filter_map(|(period, latencies)| {
        let is_enough = latencies.len() >= PERIOD_OPERATIONS_MIN;
        Some((period, median(&latencies).filter(|_| is_enough)?))
    });
    let judged: Vec<(u64, f64)> = judged.collect();
    let medians: Vec<f64> = judged.iter().map(|one| one.1).collect();
    let Some(usual) = quantile(&medians, 0.25, Quantile::Linear) else {
        return Vec::new();
    };
    let calm = judged.iter().filter(|one| one.1 <= CALM_FACTOR * usual);
    calm.map(|one| one.0 * period_ns.max(1)).collect()
}
