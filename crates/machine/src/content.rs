//! How compressible and deduplicable the bytes are.
//!
//! [`sample`] reads evenly spread, 4 KiB-aligned pieces of an open file or
//! device, so that it works on descriptors with `O_DIRECT`; a buffered descriptor leaves those
//! pieces in the page cache, which the caller has to accept.

use crate::platform;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::sync::LazyLock;

/// The unit in which devices deduplicate and compress, and which we examine.
pub const BLOCK_BYTES: usize = 4096;

/// Content statistics of a sample of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Content {
    /// Blocks of 4 KiB examined.
    pub blocks: u64,
    /// Of those, all zeros.
    pub blocks_zero: u64,
    /// Of those that are not zeros, copies of one seen before in the sample.
    pub blocks_repeated: u64,
    /// Of the rest, blocks that a plain compressor would shrink by a tenth or more.
    pub blocks_compressible: u64,
}

/// Statistics so far.
#[derive(Default)]
struct Examiner {
    content: Content,
    cache: HashSet<u64>,
}

impl Examiner {
    /// Examines whole blocks of 4 KiB; a shorter remainder is ignored. Detects repetition within
    /// all pieces, by 64-bit hash.
    fn add(&mut self, piece: &[u8]) {
        for block in piece.chunks_exact(BLOCK_BYTES) {
            self.content.blocks += 1;
            if block.iter().all(|byte| *byte == 0) {
                self.content.blocks_zero += 1;
            } else if !self.cache.insert(digest(block)) {
                self.content.blocks_repeated += 1;
            } else if compressible(block) {
                self.content.blocks_compressible += 1;
            }
        }
    }
}

/// Whether a compressor would save a tenth: by the skew of its byte values (as
/// entropy coders do) or by words of eight bytes that occur again (as LZ does).
///
/// 4,096 random bytes show an entropy near 7.95 bits a byte (8 less the bias of
/// a sample, 255 / (2 * 4096 * ln 2)), with a spread far below the distance to
/// 7.2, which is a tenth saved; base64 text has 6. Eight-byte words practically
/// never repeat in random data.
fn compressible(block: &[u8]) -> bool {
    const ENTROPY_BITS_MAX: f64 = 7.2;
    let mut counts = [0u32; 256];
    for byte in block {
        counts[usize::from(*byte)] += 1;
    }
    let length = block.len() as f64;
    // -sum(p log p) with p = c/n is log n - sum(c log c)/n; the logarithms of the counts typical of
    // random bytes come from a table, as a target is sampled before every run.
    let weighted: f64 = counts.iter().map(|&count| count_log_count(count)).sum();
    let entropy = length.log2() - weighted / length;
    entropy <= ENTROPY_BITS_MAX || repeated_words(block) * 8 * 10 >= block.len()
}

/// c log2 c.
fn count_log_count(count: u32) -> f64 {
    static SMALL: LazyLock<[f64; 64]> = LazyLock::new(|| {
        std::array::from_fn(|count| {
            if count == 0 {
                0.0
            } else {
                count as f64 * (count as f64).log2()
            }
        })
    });
    match SMALL.get(count as usize) {
        Some(known) => *known,
        None => f64::from(count) * f64::from(count).log2(),
    }
}

/// An odd number near 2^64 over the golden ratio: spreads words over the top bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

fn words(block: &[u8]) -> impl Iterator<Item = u64> + '_ {
    block
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
}

/// A 64-bit hash of a block; not for input crafted to collide.
fn digest(block: &[u8]) -> u64 {
    words(block).fold(0, |digest, word| {
        (digest.rotate_left(5) ^ word).wrapping_mul(SPREAD)
    })
}

/// Words of eight bytes that occurred before in the block, by an open-addressing table that is
/// never more than half full.
fn repeated_words(block: &[u8]) -> usize {
    const SLOTS: usize = 2 * BLOCK_BYTES / 8;
    let mut table = [0u64; SLOTS];
    let mut zero_seen = false;
    let mut repeated = 0;
    for word in words(block) {
        if word == 0 {
            // Zero marks a free slot, so it is counted separately.
            repeated += usize::from(std::mem::replace(&mut zero_seen, true));
            continue;
        }
        let mut slot = (word.wrapping_mul(SPREAD) >> 32) as usize % SLOTS;
        while table[slot] != 0 && table[slot] != word {
            slot = (slot + 1) % SLOTS;
        }
        repeated += usize::from(table[slot] == word);
        table[slot] = word;
    }
    repeated
}

/// Reads `pieces` pieces of 64 KiB, evenly spread over `span` bytes from `start`, and examines
/// them. Skips unreadable pieces; if none is readable the result is empty. Reads at most 256 pieces
/// (16 MiB).
pub fn sample(file: &File, start_bytes: u64, span_bytes: u64, pieces: u32) -> Content {
    const PIECE_BYTES: u64 = 64 << 10;
    let pieces = u64::from(pieces.clamp(1, 256)).min((span_bytes / PIECE_BYTES).max(1));
    let length = PIECE_BYTES
        .min(span_bytes)
        .next_multiple_of(BLOCK_BYTES as u64) as usize;
    // Direct I/O needs a sector-aligned buffer: start inside a larger one.
    let mut buffer = vec![0u8; length + BLOCK_BYTES];
    let start = buffer.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
    let piece = &mut buffer[start..start + length];
    let mut examiner = Examiner::default();
    for index in 0..pieces {
        let reach = span_bytes.saturating_sub(PIECE_BYTES.min(span_bytes));
        let step = u128::from(reach) * u128::from(index) / u128::from((pieces - 1).max(1));
        let offset = (start_bytes + u64::try_from(step).unwrap_or(0)) / 4096 * 4096;
        if let Ok(got) = platform::read_at(file, piece, offset) {
            examiner.add(&piece[..got]);
        }
    }
    examiner.content
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a generator (xorshift64*), different for each seed.
    fn random(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    fn examined(data: &[u8]) -> Content {
        let mut examiner = Examiner::default();
        examiner.add(data);
        examiner.content
    }

    fn of(data: &[u8]) -> (u64, u64, u64, u64) {
        let found = examined(data);
        (
            found.blocks,
            found.blocks_zero,
            found.blocks_repeated,
            found.blocks_compressible,
        )
    }

    #[test]
    fn random_data_is_plain_in_a_thousand_blocks() {
        assert_eq!(of(&random(1, 1000 * BLOCK_BYTES)), (1000, 0, 0, 0));
    }

    #[test]
    fn zeros_copies_and_text_are_told_apart() {
        let mut data = vec![0; 2 * BLOCK_BYTES];
        let one = random(2, BLOCK_BYTES);
        data.extend_from_slice(&one);
        data.extend_from_slice(&one);
        let text = b"INSERT INTO orders (id, customer, total) VALUES (";
        let text: Vec<u8> = text.iter().copied().cycle().take(BLOCK_BYTES).collect();
        data.extend_from_slice(&text);
        let base64: Vec<u8> = random(3, BLOCK_BYTES)
            .iter()
            .map(|byte| b'0' + byte % 64)
            .collect();
        data.extend_from_slice(&base64);
        assert_eq!(of(&data), (6, 2, 1, 2));
    }

    #[test]
    fn a_block_counts_as_compressible_from_about_a_tenth_on() {
        for (zeros, compressible) in [(0, 0), (40, 0), (200, 0), (1024, 1), (2048, 1)] {
            let mut block = random(4, BLOCK_BYTES);
            block[..zeros].fill(0);
            assert_eq!(of(&block), (1, 0, 0, compressible), "{zeros} zeros");
        }
    }

    #[test]
    fn less_than_a_block_is_not_judged() {
        assert_eq!(examined(&[0u8; 4095]), Content::default());
        assert_eq!(examined(&[]), Content::default());
    }
}
