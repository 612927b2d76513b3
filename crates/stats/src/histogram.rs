//! A log-linear histogram with 512 buckets an octave.
//!
//! Values below 1,024 are exact; above, a bucket is at most 1/512 of its value
//! wide, and its midpoint is at most 1/1,024 (0.098 %) off. Minimum, maximum,
//! sum and count are exact. Merging is exact, commutative and associative.

/// Largest value told apart, about 36 minutes in nanoseconds; larger ones count
/// as this (minimum, maximum and sum stay exact).
pub const VALUE_MAX: u64 = (1 << 41) - 1;
const BUCKETS: usize = (33 << 9) + 512;

/// Counts of values, u64 each: for totals. The hot path records in u32 (see
/// `runner`) and is merged into this at interval edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Number of buckets.
    pub const BUCKETS: usize = BUCKETS;

    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Histogram {
            counts: vec![0; BUCKETS],
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// The bucket of a value.
    #[inline]
    #[must_use]
    pub const fn index(value: u64) -> usize {
        let value = if value > VALUE_MAX { VALUE_MAX } else { value };
        let shift = 54u32.saturating_sub((value | 1).leading_zeros());
        ((shift as usize) << 9) + (value >> shift) as usize
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}
