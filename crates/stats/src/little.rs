//! Little's law as a consistency check of a run: the mean number in the system is the rate times
//! the mean time in it, whatever the distributions.
//!
//! The law is exact for sums over all time. In a window of length T the
//! operations that straddle its edges make a difference of at most
//! N * L / T, with L the longest latency: the check allows for that and no more.

use serde::{Deserialize, Serialize};

/// A window's figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LittleInput {
    /// Mean number in flight, counted independently of the latencies (or the
    /// number that a closed loop keeps in flight).
    pub outstanding_mean: f64,
    /// Completions per second.
    pub iops: f64,
    /// Mean latency from issue to completion.
    pub latency_ns_mean: f64,
    /// Longest latency.
    pub latency_ns_max: f64,
    /// Length of the window.
    pub duration_ns: f64,
}

/// Result of the check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LittleCheck {
    /// `iops` times mean latency: the outstanding implied by the latencies.
    pub outstanding_implied: f64,
    /// Implied over counted, minus 1.
    pub deviation: f64,
    /// Largest |deviation| explained by the window's edges: longest latency over duration.
    pub deviation_max: f64,
    /// |deviation| is at most `deviation_max` plus 1 % for clock resolution.
    pub consistent: bool,
}

/// Checks a window against Little's law: outstanding = IOPS * latency. None if nothing was in
/// flight (0 operations) or a figure is not finite; with 1 or 2 operations the edges explain
/// everything and the check always passes.
///
/// ```
/// use stripewise_stats::{LittleInput, little};
/// // 128 outstanding on the 2007 array: 1,604 a second, 80 ms each.
/// let check = little(&LittleInput {
///     outstanding_mean: 128.0,
///     iops: 1_604.0,
///     latency_ns_mean: 79.8e6,
///     latency_ns_max: 400e6,
///     duration_ns: 300e9,
/// }).unwrap();
/// assert!(check.consistent);
/// ```
pub fn little(input: &LittleInput) -> Option<LittleCheck> {
    let outstanding_implied = input.iops * input.latency_ns_mean / 1e9;
    let deviation = outstanding_implied / input.outstanding_mean - 1.0;
    let deviation_max = input.latency_ns_max / input.duration_ns;
    if !deviation.is_finite() || !deviation_max.is_finite() {
        return None;
    }
    Some(LittleCheck {
        outstanding_implied,
        deviation,
        deviation_max,
        consistent: deviation.abs() <= deviation_max + 0.01,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_holds_within_the_edges_of_the_window_and_fails_beyond() {
        let base = LittleInput {
            outstanding_mean: 32.0,
            iops: 3_200.0,
            latency_ns_mean: 10e6,
            latency_ns_max: 100e6,
            duration_ns: 10e9,
        };
        for (latency_ns_mean, consistent) in [
            (10e6, true),
            (10.19e6, true),
            (9.81e6, true),
            (10.21e6, false),
            (5e6, false),
        ] {
            let check = little(&LittleInput {
                latency_ns_mean,
                ..base
            })
            .unwrap();
            assert_eq!(check.consistent, consistent, "{check:?}");
        }
    }

    #[test]
    fn without_operations_or_time_there_is_no_answer() {
        let none = LittleInput {
            outstanding_mean: 0.0,
            iops: 0.0,
            latency_ns_mean: 0.0,
            latency_ns_max: 0.0,
            duration_ns: 1e9,
        };
        assert_eq!(little(&none), None);
        let no_time = LittleInput {
            outstanding_mean: 1.0,
            duration_ns: 0.0,
            ..none
        };
        assert_eq!(little(&no_time), None);
    }
}
