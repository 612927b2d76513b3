//! The bytes after a stamp: a stream determined only by key and position.
//!
//! Each 8-byte word is the folded product that wyrand (Wang Yi, 2019) makes of a counter: one
//! multiplication per word, in any order, incompressible and different in every sector of every
//! generation. [`Sum`] distinguishes damage from identity: changing one word always changes it, as
//! all of its steps are invertible.

/// Added for each word.
const STEP: u64 = 0xa076_1d64_78bd_642f;
/// A counter is multiplied with itself combined with this.
const TWIST: u64 = 0xe703_7ed1_a0b4_28db;
/// An odd factor of the checksum.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The key of a sector's stream.
#[inline]
pub fn key(run: u64, offset_bytes: u64, generation: u32) -> u64 {
    let place = mix(run.wrapping_add(FACTOR)) ^ offset_bytes;
    mix(mix(place).wrapping_add(u64::from(generation).wrapping_mul(FACTOR)))
}

/// Word number `index` of the stream of `key`.
#[inline]
pub fn word(key: u64, index: u64) -> u64 {
    let counter = key.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    let product = u128::from(counter) * u128::from(counter ^ TWIST);
    (product >> 64) as u64 ^ product as u64
}

/// Words number `index` to `index + 3`.
#[inline]
pub(crate) fn four_words(key: u64, index: u64) -> [u64; 4] {
    [
        word(key, index),
        word(key, index + 1),
        word(key, index + 2),
        word(key, index + 3),
    ]
}

/// A checksum of words, in four lanes that a processor computes in parallel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum([u64; 4]);

impl Sum {
    pub(crate) fn new() -> Self {
        Sum([FACTOR, STEP, TWIST, !FACTOR])
    }

    /// Takes four words.
    #[inline]
    pub(crate) fn add(&mut self, words: [u64; 4]) {
        for (lane, word) in self.0.iter_mut().zip(words) {
            *lane = (*lane ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
    }

    #[inline]
    pub(crate) fn value(self) -> u64 {
        let fold = |sum: u64, lane: u64| (sum ^ lane).wrapping_mul(STEP).rotate_left(31);
        mix(self.0.into_iter().fold(TWIST, fold))
    }
}

/// The word at a position of a buffer.
#[inline]
pub(crate) fn word_at(bytes: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(bytes.as_chunks().0[index])
}

/// Four words, as [`Sum`] takes them.
#[inline]
pub(crate) fn words_of(bytes: &[u8; 32]) -> [u64; 4] {
    [
        word_at(bytes, 0),
        word_at(bytes, 1),
        word_at(bytes, 2),
        word_at(bytes, 3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_have_nothing_in_common() {
        let keys = [
            key(1, 0, 1),
            key(1, 512, 1),
            key(1, 0, 2),
            key(2, 0, 1),
            key(1, 1 << 40, 1),
        ];
        for (at, one) in keys.iter().enumerate() {
            for other in &keys[at + 1..] {
                let bits: u32 = (0..56)
                    .map(|index| (word(*one, index) ^ word(*other, index)).count_ones())
                    .sum();
                // 56 words of 64 bits: half of them differ, give or take six deviations.
                assert!((1612..=1972).contains(&bits), "{bits}");
            }
        }
    }

    #[test]
    fn every_changed_word_changes_the_sum() {
        let words: Vec<u64> = (0..64).map(|index| word(7, index)).collect();
        let sum = |words: &[u64]| {
            let mut sum = Sum::new();
            for four in words.chunks_exact(4) {
                sum.add([four[0], four[1], four[2], four[3]]);
            }
            sum.value()
        };
        let whole = sum(&words);
        for at in 0..64 {
            for bit in 0..64 {
                let mut changed = words.clone();
                changed[at] ^= 1 << bit;
                assert_ne!(sum(&changed), whole, "word {at}, bit {bit}");
                // A second flip in the same lane does not cancel the first one.
                changed[(at + 4) % 64] ^= 1 << bit;
                assert_ne!(sum(&changed), whole, "word {at}, bit {bit}, twice");
            }
        }
    }
}
