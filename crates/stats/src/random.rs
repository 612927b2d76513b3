//! Seeded random numbers for resampling: xoshiro256++, the same on every
//! machine and in every version (the stream is part of a result's identity).
//!
//! No entropy: use another seed for another draw.

use crate::distribution::normal_quantile;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A seeded generator.
///
/// ```
/// use stripewise_stats::Random;
/// let mut order = [0, 1, 2, 3];
/// Random::new(7).shuffle(&mut order);
/// let mut again = [0, 1, 2, 3];
/// Random::new(7).shuffle(&mut again);
/// assert_eq!(order, again);
/// ```
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The generator of a seed (expanded by SplitMix64, as its authors advise).
    pub fn new(seed: u64) -> Self {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An integer in 0..`end`, by multiplication (Lemire); no value is likelier than another by
    /// more than `end` / 2^64.
    ///
    /// # Panics
    /// If `end` is 0.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "a range has something in it");
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number in the open interval (0, 1), one of 2^53 equally spaced.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// A standard normal number, by inversion (one draw each, so that streams
    /// stay in step).
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform())
    }

    /// Puts the items in random order, all orders equally likely (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_is_pinned() {
        let mut random = Random::new(1);
        assert_eq!(
            [random.bits(), random.bits()],
            [0xcfc5_d07f_6f03_c29b, 0xbf42_4132_963f_e08d]
        );
    }

    #[test]
    fn all_orders_of_three_come_equally_often() {
        let mut random = Random::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        // Binomial(6000, 1/6): mean 1,000, standard deviation 28.9.
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|&n| (870..1_130).contains(&n)),
            "{seen:?}"
        );
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut random = Random::new(4);
        let values: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let square = values.iter().map(|v| v * v).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.04);
    }
}
