//! A seeded bijection of `0..count` onto itself, in constant memory.
//!
//! Zipf's most popular ranks are small numbers; used directly as positions they would all lie at
//! the start of the span. This spreads them: rank r goes to block `place(r)`, and no two ranks
//! share a block. It mixes the bits inside the smallest power of two that holds `count` (each step
//! is invertible there) and repeats while the result lies outside (cycle walking; Black & Rogaway,
//! 2002): fewer than two rounds on average, as the domain is under twice `count`. It is not a
//! cipher; it only has to leave no pattern that a disk could notice.

use crate::random::{Generator, Purpose};

/// The bijection, with this many rounds of mixing.
#[derive(Clone, Debug)]
pub(crate) struct Scatter<const ROUNDS: usize = 3> {
    count: u64,
    mask: u64,
    shift: u32,
    multipliers: [u64; ROUNDS],
    addends: [u64; ROUNDS],
}

impl Scatter {
    /// A bijection of `0..count` (`count` at least 1) that depends on `seed` alone.
    pub(crate) fn new(seed: u64, count: u64) -> Self {
        Self::from_generator(Generator::new(seed, Purpose::Scatter, 0), count)
    }
}

impl<const ROUNDS: usize> Scatter<ROUNDS> {
    /// A bijection of `0..count` (`count` at least 1), keyed by the generator's next words.
    pub(crate) fn from_generator(mut generator: Generator, count: u64) -> Self {
        debug_assert!(count >= 1);
        let bits = 64 - (count - 1).leading_zeros();
        Scatter {
            count,
            mask: if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            },
            // Half the width, so that the upper half reaches the lower one.
            shift: bits.div_ceil(2).max(1),
            multipliers: std::array::from_fn(|_| generator.word() | 1),
            addends: std::array::from_fn(|_| generator.word()),
        }
    }

    /// Where `rank`, below the count, goes.
    #[inline]
    pub(crate) fn place(&self, rank: u64) -> u64 {
        debug_assert!(rank < self.count);
        let mut value = rank;
        loop {
            value = self.mix(value);
            if value < self.count {
                return value;
            }
        }
    }

    /// One step of the permutation of `0..=mask`: multiplying by an odd number,
    /// adding, and folding the upper half into the lower are all invertible.
    #[inline]
    fn mix(&self, mut value: u64) -> u64 {
        for (multiplier, addend) in self.multipliers.iter().zip(&self.addends) {
            value = value.wrapping_mul(*multiplier).wrapping_add(*addend) & self.mask;
            value ^= value >> self.shift;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_the_place_of_exactly_one_rank() {
        for count in [1, 2, 3, 5, 64, 65, 1000, 4097] {
            let scatter = Scatter::new(7, count);
            let mut places: Vec<u64> = (0..count).map(|rank| scatter.place(rank)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..count).collect::<Vec<_>>(), "{count} blocks");
        }
    }

    #[test]
    fn places_stay_inside_spans_of_any_size() {
        for count in [(1 << 45) + 12_345, 1 << 55, u64::MAX] {
            let scatter = Scatter::new(1, count);
            assert!((0..10_000).all(|rank| scatter.place(rank) < count));
            assert!((1..1_000).all(|back| scatter.place(count - back) < count));
        }
    }

    #[test]
    fn the_first_ranks_are_spread_over_the_whole_span() {
        let count = 1 << 41;
        for seed in 0..20 {
            let scatter = Scatter::new(seed, count);
            let mut sixteenths = [0_u32; 16];
            for rank in 0..1600 {
                sixteenths[(scatter.place(rank) >> 37) as usize] += 1;
            }
            assert!(
                sixteenths.iter().all(|&hits| (50..200).contains(&hits)),
                "seed {seed}: {sixteenths:?}"
            );
        }
    }

    #[test]
    fn seeds_differ() {
        let (one, two) = (Scatter::new(1, 1 << 30), Scatter::new(2, 1 << 30));
        let same = (0..1000).filter(|&rank| one.place(rank) == two.place(rank));
        assert_eq!(same.count(), 0);
    }
}
