//! What the bytes look like to a device that compresses or deduplicates.
//!
//! [`examine`] is pure. [`sample`] reads evenly spread, 4 KiB-aligned pieces of
//! an open file or device, so that it works on descriptors with `O_DIRECT`; a
//! buffered descriptor leaves those pieces in the page cache, which the caller
//! has to want.

use crate::platform;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};

/// The unit in which devices deduplicate and compress, and in which we judge.
pub const BLOCK_BYTES: usize = 4096;

/// What a sample of a target looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Blocks of 4 KiB looked at.
    pub blocks: u64,
    /// Of those, all zeros.
    pub blocks_zero: u64,
    /// Of those that are not zeros, copies of one seen before in the sample.
    pub blocks_repeated: u64,
    /// Of those that are neither, blocks that a plain compressor would shrink
    /// by a tenth or more.
    pub blocks_compressible: u64,
}

/// Looks at whole blocks of 4 KiB; a shorter rest is left out. Repetition is
/// found within the pieces given together, by 64-bit hash.
#[must_use]
pub fn examine<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Content {
    let mut content = Content::default();
    let mut seen = HashSet::new();
    for piece in pieces {
        for block in piece.chunks_exact(BLOCK_BYTES) {
            content.blocks += 1;
            if block.iter().all(|byte| *byte == 0) {
                content.blocks_zero += 1;
                continue;
            }
            let mut hasher = DefaultHasher::new();
            hasher.write(block);
            if !seen.insert(hasher.finish()) {
                content.blocks_repeated += 1;
            } else if compressible(block) {
                content.blocks_compressible += 1;
            }
        }
    }
    content
}

/// Whether a compressor would save a tenth: by the skew of its byte values (as
/// entropy coders do) or by words of eight bytes that occur again (as LZ does).
///
/// In random data of 4,096 bytes the collision count sum(n_i * (n_i - 1)) of
/// byte values is 4096 * 4095 / 256, about 65,520, with a standard deviation
/// near 360 (about sqrt(2 * 65,520)). The limit is 1.3 times that, far outside
/// chance; a block that is one tenth zeros has 3.5 times, base64 text 4 times.
/// Eight-byte words practically never repeat in random data.
fn compressible(block: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    for byte in block {
        counts[usize::from(*byte)] += 1;
    }
    let collisions: u64 = counts
        .iter()
        .map(|count| u64::from(*count) * u64::from(count.saturating_sub(1)))
        .sum();
    let length = block.len() as u64;
    if collisions * 256 * 10 > length * (length - 1) * 13 {
        return true;
    }
    let mut words = HashSet::with_capacity(block.len() / 8);
    let repeated = block
        .chunks_exact(8)
        .filter(|word| !words.insert(*word))
        .count();
    repeated * 8 * 10 >= block.len()
}

/// Reads `pieces` pieces of 64 KiB, evenly spread over `span` bytes from
/// `start` on, and examines them. Pieces that cannot be read are left out; with
/// none readable the content is empty. At most 256 pieces (16 MiB) are read.
#[must_use]
pub fn sample(file: &File, start_bytes: u64, span_bytes: u64, pieces: u32) -> Content {
    const PIECE_BYTES: u64 = 64 << 10;
    let pieces = u64::from(pieces.clamp(1, 256)).min((span_bytes / PIECE_BYTES).max(1));
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for index in 0..pieces {
        let reach = span_bytes.saturating_sub(PIECE_BYTES.min(span_bytes));
        let step = u128::from(reach) * u128::from(index) / u128::from((pieces - 1).max(1));
        let offset = (start_bytes + u64::try_from(step).unwrap_or(0)) / 4096 * 4096;
        if let Some(piece) = read_piece(file, offset, PIECE_BYTES.min(span_bytes)) {
            kept.push(piece);
        }
    }
    examine(kept.iter().map(Vec::as_slice))
}

/// One aligned read; `None` when it fails or gives nothing.
fn read_piece(file: &File, offset_bytes: u64, length_bytes: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length_bytes)
        .ok()?
        .next_multiple_of(BLOCK_BYTES);
    // Direct I/O wants the buffer on a sector boundary: start inside a larger one.
    let mut buffer = vec![0u8; length + BLOCK_BYTES];
    let start = buffer.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
    let got = platform::read_at(file, &mut buffer[start..start + length], offset_bytes).ok()?;
    (got > 0).then(|| buffer[start..start + got].to_vec())
}
