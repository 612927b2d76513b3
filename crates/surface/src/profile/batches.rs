//! What matters if position does not: read size and queue depth.

use super::BatchAt;
use serde::{Deserialize, Serialize};

/// Bytes per read and concurrent reads: sizes one at a time, then numbers of the smallest.
pub(super) const SETTINGS: [(u32, u32); 7] = [
    (4 << 10, 1),
    (16 << 10, 1),
    (64 << 10, 1),
    (512 << 10, 1),
    (4 << 10, 4),
    (4 << 10, 16),
    (4 << 10, 32),
];

/// The rate of concurrent reads of one size at random offsets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BatchRate {
    /// Bytes of each read.
    pub bytes: u32,
    /// Reads started together.
    pub reads: u32,
    /// Reads per second, from the median batch.
    pub reads_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}

/// The rate of each setting that was measured.
pub(super) fn rates(batches: &[BatchAt]) -> Vec<BatchRate> {
    let rate = |&(bytes, reads): &(u32, u32)| {
        let of = |batch: &&BatchAt| (batch.bytes, batch.reads) == (bytes, reads);
        let mut times: Vec<u64> = batches.iter().filter(of).map(|one| one.took_ns).collect();
        times.sort_unstable();
        let middle_ns = *times.get(times.len() / 2)?;
        let reads_per_s = f64::from(reads) * 1e9 / middle_ns.max(1) as f64;
        Some(BatchRate {
            bytes,
            reads,
            reads_per_s,
            bytes_per_s: reads_per_s * f64::from(bytes),
        })
    };
    SETTINGS.iter().filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_median_batch() {
        let batch = |reads, took_ns| BatchAt {
            bytes: 4096,
            reads,
            took_ns,
        };
        let found = rates(&[
            batch(1, 100_000),
            batch(1, 900_000),
            batch(1, 100_000),
            batch(4, 200_000),
        ]);
        let rates: Vec<(u32, f64)> = found
            .iter()
            .map(|one| (one.reads, one.reads_per_s))
            .collect();
        assert_eq!(rates, [(1, 10_000.0), (4, 20_000.0)]);
        assert!((found[1].bytes_per_s - 20_000.0 * 4096.0).abs() < 1e-6);
        assert!(super::rates(&[]).is_empty());
    }
}
