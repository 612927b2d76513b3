//! Recognises data that [`DataSource`](crate::DataSource) wrote.
//!
//! Its noise identifies itself: each eight-byte word is the next state of the generator whose
//! previous state is 64 bytes before it. No superblock, text or archive looks like that, nor does
//! other noise (ciphertext, compressed data): one link matches by chance in one of 2^64 cases.

use crate::data::{GRAIN_BYTES, STEP_BYTES, dense_bytes, next_word};
use std::ops::Range;

/// Direct operations begin and end at multiples of this.
const SECTOR_BYTES: usize = 512;
const WORD_BYTES: usize = size_of::<u64>();
/// The least noise that contains a link.
const LINK_BYTES: usize = STEP_BYTES + WORD_BYTES;
/// This many zeros at the end of noise are not expected by chance in 10^17 blocks.
const ZEROS_BY_CHANCE: usize = 8;

/// Offset in `bytes`, which start at a multiple of 4 KiB in a target, of the first 4 KiB block that
/// a [`DataSource`](crate::DataSource) cannot have written, whatever its seed, pattern and
/// operation size; `None` if there is none. Zeros may be its own: the compressible part is zeros.
///
/// Limits. Fewer than 80 foreign bytes amid noise pass, and so do up to 64 bytes that end where a
/// percentage of compressible data would end, followed only by zeros. Compressible data written by
/// operations that are not whole sectors can be too short to be recognised amid zeros, and is
/// reported as foreign.
///
/// ```
/// use stripewise_workload::{DataPattern, DataSource, foreign_block};
///
/// let mut bytes = vec![0; 8192];
/// DataSource::new(DataPattern::default(), 1, 0).fill(0, &mut bytes);
/// assert_eq!(foreign_block(&bytes), None);
/// bytes[5000..5100].fill(b'x');
/// assert_eq!(foreign_block(&bytes), Some(4096));
/// ```
pub fn foreign_block(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).step_by(GRAIN_BYTES).find(|&start| {
        let end = bytes.len().min(start + GRAIN_BYTES);
        let is_of_sectors = sectors(start..end).all(|sector| is_of_one_operation(bytes, &sector));
        !(is_of_sectors || is_patchwork(bytes, start..end))
    })
}

fn sectors(block: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = block.end;
    block
        .step_by(SECTOR_BYTES)
        .map(move |start| start..end.min(start + SECTOR_BYTES))
}

/// One operation that began at a sector boundary wrote the whole sector: noise, then zeros from a
/// position that some percentage allows.
fn is_of_one_operation(bytes: &[u8], sector: &Range<usize>) -> bool {
    let all = &bytes[sector.clone()];
    let end = all.iter().rposition(|byte| *byte != 0);
    let noise = &all[..end.map_or(0, |last| last + 1)];
    let inside = sector.start % GRAIN_BYTES;
    let ends_as_asked = (0..=100).any(|percent| {
        let end = dense_bytes(percent).saturating_sub(inside).min(all.len());
        (noise.len()..noise.len() + ZEROS_BY_CHANCE).contains(&end)
    });
    ends_as_asked
        && (0..noise.len().saturating_sub(STEP_BYTES))
            .step_by(WORD_BYTES)
            .all(|at| linked_bytes(noise, at) == (noise.len() - at - STEP_BYTES).min(WORD_BYTES))
}

/// Written by operations of any length and place: noise of several, with zeros between. Only the
/// remains of one operation between others can be too short for a link, and a sector holds more
/// than that.
fn is_patchwork(bytes: &[u8], block: Range<usize>) -> bool {
    /// A remainder too short for a link, preceded by a partial word.
    const UNPROVEN_MAX: usize = LINK_BYTES + WORD_BYTES;
    // Noise may extend into the block from its neighbours.
    let context = block.start.saturating_sub(LINK_BYTES)..bytes.len().min(block.end + LINK_BYTES);
    let around = &bytes[context.clone()];
    let proofs = proofs(around);
    let of = |range: &Range<usize>| &proofs[range.start - context.start..range.end - context.start];
    let gaps = of(&block).split(|proof| *proof != Proof::Missing);
    gaps.into_iter().all(|gap| gap.len() < UNPROVEN_MAX)
        && sectors(block).all(|sector| {
            let is = |proof: Proof| of(&sector).contains(&proof);
            is_of_one_operation(bytes, &sector) || !is(Proof::Missing) || is(Proof::Noise)
        })
}

/// What identifies a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Missing,
    /// Part of a run of eight or more.
    Zeros,
    Noise,
}

fn proofs(bytes: &[u8]) -> Vec<Proof> {
    let mut proofs = vec![Proof::Missing; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let zeros = bytes[at..].iter().take_while(|byte| **byte == 0).count();
        if zeros >= ZEROS_BY_CHANCE {
            proofs[at..at + zeros].fill(Proof::Zeros);
        }
        at += zeros + 1;
    }
    // Zeros follow from zeros, and prove nothing.
    let links = |at: usize| match bytes[at..].first_chunk() {
        Some(&[0, 0, 0, 0, 0, 0, 0, 0]) => 0,
        _ => linked_bytes(bytes, at),
    };
    for at in 0..bytes.len().saturating_sub(STEP_BYTES) {
        match links(at) {
            WORD_BYTES => {
                proofs[at..at + WORD_BYTES].fill(Proof::Noise);
                proofs[at + STEP_BYTES..at + LINK_BYTES].fill(Proof::Noise);
            }
            // The last word may be partial: it counts after a whole one.
            part if at >= WORD_BYTES && links(at - WORD_BYTES) == WORD_BYTES => {
                proofs[at + STEP_BYTES..at + STEP_BYTES + part].fill(Proof::Noise);
            }
            _ => {}
        }
    }
    proofs
}

/// Number of bytes, at most a word, that continue the generator of the word at `at`.
fn linked_bytes(noise: &[u8], at: usize) -> usize {
    let Some(word) = noise[at..].first_chunk() else {
        return 0;
    };
    let next = next_word(u64::from_le_bytes(*word)).to_le_bytes();
    let after = noise[at + STEP_BYTES..].iter();
    after
        .zip(next)
        .take_while(|(byte, next)| **byte == *next)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Generator, Purpose};
    use crate::{DataPattern, DataSource};

    const FILE_BYTES: usize = 1 << 17;

    fn source(seed: u64, compressible_percent: u8, dedupable_percent: u8) -> DataSource {
        let pattern = DataPattern {
            compressible_percent,
            dedupable_percent,
        };
        DataSource::new(pattern, seed, 0)
    }

    /// Writes operations of this size at random multiples of `grid` bytes.
    fn rewrite(file: &mut [u8], source: &mut DataSource, size: usize, grid: usize, seed: u64) {
        let mut places = Generator::new(seed, Purpose::Position, 0);
        for _ in 0..FILE_BYTES / size / 2 {
            let at = places.below(((FILE_BYTES - size) / grid) as u64 + 1) as usize * grid;
            source.fill(at as u64, &mut file[at..at + size]);
        }
    }

    #[test]
    fn what_runs_leave_in_a_file_is_their_own() {
        for percent in (0..=100).step_by(10).chain([1, 2, 63, 97, 98, 99]) {
            for dedupable in [0, 30, 100] {
                let mut file = vec![0; FILE_BYTES];
                source(1, 0, 0).fill(0, &mut file);
                let mut other = source(2, percent, dedupable);
                let seed = u64::from(percent);
                for size in [512, 1024, 1536, 4096, 12_288, 65_536] {
                    rewrite(&mut file, &mut other, size, 512, seed);
                    rewrite(&mut file, &mut source(3, 50, 10), size, size, seed + 7);
                    let found = foreign_block(&file);
                    assert_eq!(found, None, "{percent} % of {dedupable} % by {size}");
                }
            }
        }
    }

    #[test]
    fn operations_that_are_no_whole_sectors_leave_their_own_too() {
        for (percent, dedupable) in [(0, 0), (0, 40), (30, 0), (75, 20), (90, 0), (100, 0)] {
            for size in [513, 777, 1000, 4095, 5001, 65_535] {
                let mut source = source(4, percent, dedupable);
                let mut file = vec![0; FILE_BYTES];
                source.fill(0, &mut file);
                rewrite(&mut file, &mut source, size, size, size as u64);
                // Over whole sectors left from another pattern.
                let mut plain = DataSource::new(DataPattern::default(), 6, 1);
                rewrite(&mut file, &mut plain, size + 8, size + 8, 3);
                let found = foreign_block(&file);
                assert_eq!(found, None, "{percent} % of {dedupable} % by {size}");
            }
        }
    }

    #[test]
    fn what_somebody_else_wrote_is_foreign_wherever_it_lies() {
        let text =
            b"a note of eighty letters and more, such as people leave in files, and rely on!!";
        let mut others = source(9, 0, 0);
        let mut ciphertext = [0; 4096];
        others.fill(0, &mut ciphertext);
        // Noise of another generator.
        for word in ciphertext.as_chunks_mut::<8>().0 {
            *word = (u64::from_le_bytes(*word).wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes();
        }
        let mut qcow2 = [0; 512];
        qcow2[..8].copy_from_slice(b"QFI\xfb\0\0\0\x03");
        qcow2[27] = 1;
        for (what, piece) in [
            ("text", &text[..]),
            ("ciphertext", &ciphertext),
            ("qcow2", &qcow2),
        ] {
            for percent in [0, 50] {
                for at in [0, 512, 4096, 8192 + 1536, 100_000 / 512 * 512] {
                    let mut file = vec![0; FILE_BYTES];
                    source(5, percent, 0).fill(0, &mut file);
                    file[at..at + piece.len()].copy_from_slice(piece);
                    assert_eq!(
                        foreign_block(&file),
                        Some(at / 4096 * 4096),
                        "{what} at {at}, {percent} %"
                    );
                }
            }
        }
        // Amid zeros, which may be ours, every foreign byte is detected.
        for at in [0, 40, 511, 4000, FILE_BYTES - 1] {
            let mut file = vec![0; FILE_BYTES];
            file[at] = b'!';
            assert_eq!(foreign_block(&file), Some(at / 4096 * 4096), "{at}");
        }
    }
}
