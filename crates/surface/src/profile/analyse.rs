//! Conclusions from surface measurements.

use super::batches::{self, BatchRate};
use super::rotation::{Rotation, rotation};
use super::seeks::{SeekCurve, seeks};
use super::zones::{Boundary, Zone, zones};
use super::{Measured, RateAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device with a longer median of random reads has moving parts.
pub(super) const MOVING_NS_MIN: u64 = 1_000_000;

/// A distribution of latencies, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of reads.
    pub count: u64,
    /// The least.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: u64,
    /// Half of them took no longer.
    pub p50_ns: u64,
    /// Nine of ten took no longer.
    pub p90_ns: u64,
    /// Of a hundred, 99 took no longer.
    pub p99_ns: u64,
    /// The most.
    pub max_ns: u64,
}

/// Conclusions from surface measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Lowest rate over the places, bytes per second; median and highest follow.
    pub rate_min: Option<f64>,
    /// Median rate.
    pub rate_median: Option<f64>,
    /// Highest rate.
    pub rate_max: Option<f64>,
    /// The rate reached by 5 % of the places, at least two: single ones may come from a cache.
    pub rate_high: Option<f64>,
    /// Zones, at least two; none if the rate is constant or falls evenly.
    pub zones: Vec<Zone>,
    /// Boundaries between the zones.
    pub boundaries: Vec<Boundary>,
    /// Access times of random reads.
    pub access: Option<Spread>,
    /// Seeks, if there is an arm.
    pub seeks: Option<SeekCurve>,
    /// Rotation, if detectable.
    pub rotation: Option<Rotation>,
    /// Bytes per second of a block that is reread, if served by a buffer.
    pub interface_bytes_per_s: Option<f64>,
    /// Latency of a read that does not access the medium.
    pub fixed_ns: Option<f64>,
    /// Whether position matters: false without an arm and without zones.
    pub position_matters: bool,
    /// If it does not: the rates by size and number of reads; empty if not measured.
    pub batches: Vec<BatchRate>,
}

/// Derives the conclusions.
pub fn analyse(measured: &Measured) -> Findings {
    let latencies: Vec<u64> = measured.accesses.iter().map(|one| one.latency_ns).collect();
    let access = spread(latencies);
    // If a read takes less than a millisecond nothing moves: steps of the rate come from a cache or
    // other load, and periods in time from the program.
    let moves = access.is_none_or(|access| access.p50_ns >= MOVING_NS_MIN);
    let rotation = rotation(&measured.visits).filter(|_| moves);
    let (fixed_ns, interface_bytes_per_s) = rereads(measured, rotation.as_ref());
    let seeks = rotation
        .and_then(|rotation| seeks(measured, rotation.revolution_ns, fixed_ns.unwrap_or(0.0)));
    let mut sorted: Vec<f64> = measured.rates.iter().map(|rate| rate.bytes_per_s).collect();
    sorted.sort_by(f64::total_cmp);
    let (zones, boundaries) = match moves {
        true => zones(&measured.rates, measured.size_bytes),
        false => (Vec::new(), Vec::new()),
    };
    Findings {
        rate_min: sorted.first().copied(),
        rate_median: sorted.get(sorted.len() / 2).copied(),
        rate_max: sorted.last().copied(),
        rate_high: sorted
            .len()
            .checked_sub(sorted.len().div_ceil(20).max(2))
            .and_then(|at| sorted.get(at).copied()),
        position_matters: moves
            && (seeks.is_some() || !zones.is_empty() || slopes(&measured.rates)),
        zones,
        boundaries,
        access,
        seeks,
        rotation,
        interface_bytes_per_s,
        fixed_ns,
        batches: batches::rates(&measured.batches),
    }
}

fn spread(mut latencies: Vec<u64>) -> Option<Spread> {
    latencies.sort_unstable();
    let count = latencies.len();
    let at = |part: f64| latencies[((count as f64 * part) as usize).min(count - 1)];
    let sum: u128 = latencies.iter().map(|one| u128::from(*one)).sum();
    (count > 0).then(|| Spread {
        count: count as u64,
        min_ns: latencies[0],
        mean_ns: (sum / count as u128) as u64,
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        max_ns: latencies[count - 1],
    })
}

/// Latency of rereads if served by a buffer: less than half a revolution, if there is one.
fn rereads(measured: &Measured, rotation: Option<&Rotation>) -> (Option<f64>, Option<f64>) {
    let limit_ns = rotation.map_or(f64::MAX, |rotation| rotation.revolution_ns / 2.0);
    let smallest = measured.rereads.iter().map(|read| read.0).min();
    let largest = measured.rereads.iter().map(|read| read.0).max();
    let median = |bytes: Option<u32>| {
        let mut times: Vec<u64> = measured
            .rereads
            .iter()
            .filter(|read| Some(read.0) == bytes)
            .map(|read| read.1)
            .collect();
        times.sort_unstable();
        let middle = times.get(times.len() / 2).map(|time| *time as f64);
        middle.filter(|time| *time < limit_ns)
    };
    let rate = median(largest)
        .zip(largest)
        .map(|(time_ns, bytes)| f64::from(bytes) * 1e9 / time_ns.max(1.0));
    (median(smallest), rate)
}

/// Whether the outer tenth is faster than the inner one by more than the spread of either.
fn slopes(rates: &[RateAt]) -> bool {
    let tenth = rates.len() / 10;
    if tenth < 3 {
        return false;
    }
    let range = |part: &[RateAt]| {
        let values = part.iter().map(|rate| rate.bytes_per_s);
        let low = values.clone().fold(f64::MAX, f64::min);
        (low, values.fold(0.0, f64::max))
    };
    let (outer, inner) = (range(&rates[..tenth]), range(&rates[rates.len() - tenth..]));
    outer.0 > inner.1 * 1.02 || inner.0 > outer.1 * 1.02
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::AccessAt;

    #[test]
    fn nothing_turns_where_reads_take_microseconds() {
        let access = |latency_ns| AccessAt {
            from_bytes: 0,
            offset_bytes: 0,
            latency_ns,
        };
        // Reads that end whole revolutions of 10 ms apart.
        let visits: Vec<(u32, u64)> = (0..480u64)
            .map(|number| {
                (
                    (number * 7 % 24) as u32,
                    number * (number % 5 + 1) * 10_000_000,
                )
            })
            .collect();
        let measured = |latency_ns| Measured {
            accesses: vec![access(latency_ns); 20],
            visits: visits.clone(),
            ..Measured::default()
        };
        assert_eq!(analyse(&measured(50_000)).rotation, None);
        assert!(analyse(&measured(8_000_000)).rotation.is_some());
    }
}
