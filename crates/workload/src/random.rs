//! One seed, many independent generators.
//!
//! All randomness of a job comes from xoshiro256++ (Blackman & Vigna, 2019), seeded with its `u64`
//! through SplitMix64. Each *purpose* (positions, kinds, arrivals, data) starts 2^192 steps after
//! the previous one (`long_jump`) and each thread 2^128 steps after the previous one (`jump`), so
//! no two streams overlap, and adding a thread or a write mix changes no other stream. The streams
//! are part of the format: golden digests in the tests pin them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What a generator is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Where operations go.
    Position = 0,
    /// Whether they read or write.
    Kind = 1,
    /// When they arrive.
    Arrival = 2,
    /// What is written.
    Data = 3,
    /// How ranks are scattered over the span; the same for all threads.
    Scatter = 4,
    /// The size of an operation, where there are several.
    Size = 5,
}

/// A generator of 64-bit words, all equally likely.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generator(Xoshiro256PlusPlus);

impl Generator {
    /// The generator of `thread` for `purpose`.
    pub(crate) fn new(seed: u64, purpose: Purpose, thread: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..purpose as u32 {
            generator.long_jump();
        }
        for _ in 0..thread {
            generator.jump();
        }
        Generator(generator)
    }

    /// The generator for a seed already derived for a single purpose.
    pub(crate) fn plain(seed: u64) -> Self {
        Generator(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next word.
    #[inline]
    pub(crate) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound` by multiply-shift: the upper half of the 128-bit product. No
    /// rejection, so the probability of each number is `1/bound` within 2^-64: for 2^41 blocks (1
    /// PiB of 512 bytes) a relative error of at most 2^-23, which no run is long enough to detect.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.word()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// A number in (0, 1], a multiple of 2^-53: safe for `ln`.
    #[inline]
    pub(crate) fn unit_above_zero(&mut self) -> f64 {
        ((self.word() >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// True with a probability of `threshold` / 2^64; see [`threshold`].
    #[inline]
    pub(crate) fn chance(&mut self, threshold: u64) -> bool {
        self.word() < threshold
    }
}

/// Derives the seed of part `index`, such as a file of a job, from `seed`, so that parts do not
/// move in step. Part 0 keeps the seed.
///
/// The finaliser of MurmurHash3 (Appleby) on the seed and an odd multiple of the index. The
/// multiplier differs from SplitMix64's increment, whose multiples would give generators that share
/// words of their states.
///
/// ```
/// use stripewise_workload::derived_seed;
/// assert_eq!(derived_seed(7, 0), 7);
/// assert_ne!(derived_seed(7, 1), derived_seed(7, 2));
/// ```
pub const fn derived_seed(seed: u64, index: u64) -> u64 {
    if index == 0 {
        return seed;
    }
    let mut word = seed ^ index.wrapping_mul(0xa076_1d64_78bd_642f);
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

/// The threshold of [`Generator::chance`] for `percent` in 1..=99.
pub(crate) fn threshold(percent: u8) -> u64 {
    debug_assert!((1..=99).contains(&percent));
    ((u128::from(percent) << 64) / 100) as u64
}
