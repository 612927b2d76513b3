//! How long runs must be so that each sees the full variation of a recording's rate.

use super::recording::Recording;
use std::collections::BTreeMap;

/// Bin widths at which counts are examined.
const SCALES_NS: [u64; 4] = [10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];
/// Fewest bins for a result.
const BINS_MIN: u64 = 20;
/// An increase of dispersion between scales that indicates bursts on the longer one.
const RISE: f64 = 1.3;
const SHORTEST_NS: u64 = 10_000_000_000;

/// Run length for a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Four times the longest scale of its bursts, at least 10 s.
    pub run_ns: u64,
    /// Its rate varies on the longest scale examined, and perhaps beyond.
    pub varies_slowly: bool,
}

/// The run length that this recording needs.
pub fn run_length(recording: &Recording) -> RunLength {
    let mut longest_ns = 0;
    let mut before: Option<f64> = None;
    for scale_ns in SCALES_NS {
        let Some(dispersion) = dispersion(recording, scale_ns) else {
            break;
        };
        if before.is_some_and(|before| dispersion > RISE * before.max(1.0)) {
            longest_ns = scale_ns;
        }
        before = Some(dispersion);
    }
    RunLength {
        run_ns: (4 * longest_ns).max(SHORTEST_NS),
        varies_slowly: longest_ns == SCALES_NS[3],
    }
}

/// Variance over mean of the counts in bins of this width; 1 for independent arrivals.
fn dispersion(recording: &Recording, width_ns: u64) -> Option<f64> {
    let bins = recording.duration_ns() / width_ns;
    if bins < BINS_MIN {
        return None;
    }
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for one in &recording.requests {
        let bin = one.request.at_ns / width_ns;
        if bin < bins {
            *counts.entry(bin).or_default() += 1;
        }
    }
    let all: u64 = counts.values().sum();
    let mean = all as f64 / bins as f64;
    let squares: f64 = counts.values().map(|&count| (count * count) as f64).sum();
    (all > 0).then(|| (squares / bins as f64 - mean * mean) / mean)
}
