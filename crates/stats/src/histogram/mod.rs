//! A log-linear histogram with 512 buckets per octave.
//!
//! Values below 1,024 are exact; above, a bucket is at most 1/512 of its value
//! wide, and its midpoint is at most 1/1,024 (0.098 %) off. Minimum, maximum,
//! sum and count are exact. Merging is exact, commutative and associative.
//!
//! Invariant: only the touched range of buckets is stored, and its first and last count are not
//! zero. Histograms of the same values are therefore equal and of equal size, whatever the order of
//! the values.
//!
//! Not included: time, units, and subtraction (a difference has no exact minimum).

/// Largest distinct value, about 36 minutes in nanoseconds; larger ones count as this (minimum,
/// maximum and sum stay exact).
pub const VALUE_MAX: u64 = (1 << 41) - 1;

/// Resolution of percentiles: one billionth of a percent.
const PERCENT_STEPS: u128 = 1_000_000_000;

/// Counts of values, u64 each: for totals. The hot path records in u32 over a
/// flat array with the same [`Histogram::index`] and is added here at interval
/// edges by [`Histogram::add_counts`].
///
/// Memory is 8 bytes for each bucket between the smallest and the largest value
/// (4 KiB an octave), nothing while empty.
///
/// ```
/// use stripewise_stats::Histogram;
/// let mut latency_ns = Histogram::new();
/// for value in 1..=1_000 {
///     latency_ns.record(value * 1_000);
/// }
/// assert_eq!(latency_ns.count(), 1_000);
/// assert_eq!(latency_ns.max(), Some(1_000_000));
/// let p99 = latency_ns.percentile(99.0).unwrap();
/// assert!(p99.abs_diff(990_000) * 1_024 <= 990_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Bucket index of `counts[0]`; 0 while empty.
    first_index: usize,
    /// The touched range.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// A nonempty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub value_low: u64,
    /// Largest value of the bucket, included. The last bucket also holds what
    /// is larger than [`VALUE_MAX`].
    pub value_high: u64,
    /// Values in it, never 0.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Number of valid [`Histogram::index`] values.
    pub const BUCKETS: usize = Self::index(VALUE_MAX) + 1;

    /// An empty one; allocates nothing.
    pub const fn new() -> Self {
        Histogram {
            first_index: 0,
            counts: Vec::new(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// The bucket of a value, below [`Histogram::BUCKETS`].
    #[inline]
    pub const fn index(value: u64) -> usize {
        let value = if value > VALUE_MAX { VALUE_MAX } else { value };
        let shift = 54u32.saturating_sub((value | 1).leading_zeros());
        ((shift as usize) << 9) + (value >> shift) as usize
    }

    /// Smallest and largest value (included) of a bucket.
    ///
    /// # Panics
    /// When `index` is not below [`Histogram::BUCKETS`].
    pub const fn range_of(index: usize) -> (u64, u64) {
        assert!(index < Self::BUCKETS, "no such bucket");
        // The first 1,024 buckets are one wide; each further 512 are an octave.
        let shift = if index < 1024 { 0 } else { (index >> 9) - 1 };
        let low = ((index - (shift << 9)) as u64) << shift;
        (low, low + (1 << shift) - 1)
    }

    /// The midpoint of a bucket, rounded down: what a percentile reports. It is
    /// exact below 1,024 and at most 1/1,024 off above, up to [`VALUE_MAX`].
    ///
    /// # Panics
    /// When `index` is not below [`Histogram::BUCKETS`].
    pub const fn value_of(index: usize) -> u64 {
        let (low, high) = Self::range_of(index);
        low + (high - low) / 2
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts a value `count` times. A `count` of 0 does nothing.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let index = Self::index(value);
        self.cover(index, index);
        let slot = &mut self.counts[index - self.first_index];
        *slot = slot.saturating_add(count);
        let sum = u128::from(value).saturating_mul(u128::from(count));
        self.add_exact(count, sum, value, value);
    }

    /// Adds all values of another histogram. Exact, commutative and associative
    /// (up to 2^64 values, where counts stay at their largest).
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.cover(other.first_index, other.last_index());
        let from = other.first_index - self.first_index;
        for (mine, theirs) in self.counts[from..].iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.add_exact(other.count, other.sum, other.min, other.max);
    }

    /// Adds a recorder's flat counts: `counts[k]` values were in bucket `first_index + k`. `sum`,
    /// `min` and `max` are the recorder's exact ones; without counts they are ignored. Zeros at
    /// either end cost nothing. Returns how many values were added.
    ///
    /// # Panics
    /// When `counts` reach past the last bucket, or disagree with `min` and `max`: the recorder is
    /// broken then.
    // Not generic, so that it is compiled here, where debug builds optimise it.
    pub fn add_counts(
        &mut self,
        first_index: usize,
        counts: &[u32],
        sum: u128,
        min: u64,
        max: u64,
    ) -> u64 {
        let (Some(low), Some(high)) = (
            counts.iter().position(|&n| n != 0),
            counts.iter().rposition(|&n| n != 0),
        ) else {
            return 0;
        };
        assert_eq!(first_index + low, Self::index(min), "bucket of the minimum");
        assert_eq!(
            first_index + high,
            Self::index(max),
            "bucket of the maximum"
        );
        self.cover(first_index + low, first_index + high);
        let from = first_index + low - self.first_index;
        let mut total = 0;
        for (mine, &theirs) in self.counts[from..].iter_mut().zip(&counts[low..=high]) {
            let count = u64::from(theirs);
            *mine = mine.saturating_add(count);
            total += count;
        }
        self.add_exact(total, sum, min, max);
        total
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether no value was recorded.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Exact sum of all values, including those above [`VALUE_MAX`]; 0 when empty.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact sum over count, rounded once to f64; none when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value, exact; none when empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, exact; none when empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest value such that at least `percent` per cent of all values
    /// are at most as large: the value of rank ceil(n * percent / 100), R's
    /// type 1 (inverse of the empirical distribution function).
    ///
    /// Reported as the midpoint of its bucket, never outside the exact minimum
    /// and maximum: at most 1/1,024 off up to [`VALUE_MAX`], exact below 1,024.
    /// Ranks 1 and n are exact, so `percentile(100.0)` is the maximum and
    /// `percentile(0.0)` the minimum. It never falls as `percent` grows. Larger
    /// or smaller ones than 0 to 100 count as these; `percent` is rounded to one
    /// billionth, so that 99.9 % of 1,000 is rank 999 whatever binary fractions
    /// say.
    ///
    /// n = 0: none (also for a `percent` that is not a number). n = 1: that
    /// value, exact. n = 2: the smaller up to 50 %, the larger above, exact.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 || percent.is_nan() {
            return None;
        }
        let rank = self.rank_of(percent);
        if rank == 1 {
            return Some(self.min);
        }
        if rank >= self.count {
            return Some(self.max);
        }
        let mut seen = 0u64;
        for (k, &count) in self.counts.iter().enumerate() {
            seen = seen.saturating_add(count);
            if seen >= rank {
                return Some(Self::value_of(self.first_index + k).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// How many values are at most `limit`; the bucket of the limit counts as a
    /// whole, so the answer may belong to a limit 1/512 larger. 0 when empty.
    pub fn count_at_most(&self, limit: u64) -> u64 {
        if self.count == 0 || limit < self.min {
            return 0;
        }
        if limit >= self.max {
            return self.count;
        }
        let end = (Self::index(limit) + 1 - self.first_index).min(self.counts.len());
        self.counts[..end].iter().sum()
    }

    /// The nonempty buckets, smallest values first.
    pub fn nonzero(&self) -> impl DoubleEndedIterator<Item = Bucket> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(k, &count)| {
                let (value_low, value_high) = Self::range_of(self.first_index + k);
                Bucket {
                    value_low,
                    value_high,
                    count,
                }
            })
    }

    /// Removes all values but keeps the memory.
    pub fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        *self = Histogram {
            counts,
            ..Histogram::new()
        };
    }

    /// Adds `count` values of which only the range is known (at most one bucket
    /// wide): the sum takes the midpoint, the extremes the edges.
    pub(crate) fn add_bucket(&mut self, low: u64, high: u64, count: u64) {
        let index = Self::index(low);
        self.cover(index, index);
        let slot = &mut self.counts[index - self.first_index];
        *slot = slot.saturating_add(count);
        let middle = low + (high - low) / 2;
        self.add_exact(
            count,
            u128::from(middle).saturating_mul(u128::from(count)),
            low,
            high,
        );
    }

    /// Replaces minimum, maximum and sum by exact ones. False, and nothing is
    /// changed, where the counts contradict them.
    #[must_use]
    pub(crate) fn set_exact(&mut self, min: u64, max: u64, sum: u128) -> bool {
        if self.count == 0
            || min > max
            || Self::index(min) != self.first_index
            || Self::index(max) != self.last_index()
            || sum < u128::from(min).saturating_mul(u128::from(self.count))
            || sum > u128::from(max).saturating_mul(u128::from(self.count))
        {
            return false;
        }
        (self.min, self.max, self.sum) = (min, max, sum);
        true
    }

    fn rank_of(&self, percent: f64) -> u64 {
        let steps = (percent.clamp(0.0, 100.0) * PERCENT_STEPS as f64).round() as u128;
        let rank = (u128::from(self.count) * steps).div_ceil(100 * PERCENT_STEPS);
        // At most `count`, because `steps` is at most 100 * PERCENT_STEPS.
        (rank as u64).max(1)
    }

    fn last_index(&self) -> usize {
        self.first_index + self.counts.len() - 1
    }

    /// Grows the range to include `low..=high`. The caller adds to both, which keeps the invariant.
    fn cover(&mut self, low: usize, high: usize) {
        if self.counts.is_empty() {
            self.first_index = low;
        }
        if low < self.first_index {
            let missing = self.first_index - low;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first_index = low;
        }
        let length = high + 1 - self.first_index;
        if length > self.counts.len() {
            self.counts.resize(length, 0);
        }
    }

    fn add_exact(&mut self, count: u64, sum: u128, min: u64, max: u64) {
        self.count = self.count.saturating_add(count);
        self.sum = self.sum.saturating_add(sum);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }
}

#[cfg(test)]
mod tests;
