//! Classifies one sector by its bytes.

use crate::map::Expected;
use crate::stamp::{STAMP_BYTES, Stamp, claimed, data_of, read_sector};
use crate::stream::{mix, word_at};
use std::ops::RangeInclusive;

/// How a sector is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Number of flipped bits.
    Bits(u32),
    /// Part of it is zeros.
    Zeros,
    /// Its bytes are shifted by this distance backwards (or, negative, forwards).
    ShiftedOffsets(i32),
    /// Its stamp does not match the rest.
    Other,
}

/// Classification of a sector, by its own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorReading {
    /// The buffer's fill value: nothing was read, or not all of it.
    Poison,
    /// All zeros.
    Zeros,
    /// An intact sector of Stripewise, of any run and location.
    Intact(Stamp),
    /// Remains of one.
    Damaged(Damage),
    /// No stamp, and nothing similar to the written data.
    Foreign,
}

/// A sector that looked wrong, as read.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The offset read.
    pub offset_bytes: u64,
    /// The data read.
    pub bytes: Box<[u8]>,
    /// Fill value of the buffer before reading.
    pub poison: u64,
    /// When it was read, nanoseconds since 1970.
    pub seen_ns: u64,
    /// Seen by a read of many blocks at once, rather than by its owner.
    pub by_scan: bool,
}

/// Location that a sector was read from.
#[derive(Clone, Copy, Debug)]
pub struct SectorPlace<'a> {
    /// The run that owns the target.
    pub run: u64,
    /// The target's number.
    pub target: u16,
    /// The offset read.
    pub offset_bytes: u64,
    /// Expected contents of its block.
    pub expected: &'a Expected,
}

impl SectorPlace<'_> {
    /// Whether the data matches the expectation.
    pub fn is_right(&self, seen: &SectorReading) -> bool {
        match seen {
            SectorReading::Intact(stamp) => {
                self.is_of_here(stamp) && self.expected.accepts(stamp.generation)
            }
            SectorReading::Zeros => matches!(self.expected, Expected::Zeros(_)),
            _ => false,
        }
    }

    /// Whether a stamp is of this run, target and location.
    pub fn is_of_here(&self, stamp: &Stamp) -> bool {
        stamp.run == self.run
            && stamp.target == self.target
            && stamp.offset_bytes == self.offset_bytes
    }
}

/// The fill value of a buffer before read number `number` of a worker: never repeated, so that an
/// old buffer is not mistaken for a new one.
pub fn poison(run: u64, worker: u16, number: u64) -> u64 {
    mix(run ^ mix(number ^ u64::from(worker) << 48)) | 1
}

/// Fills a buffer with that value.
pub fn fill_with_poison(poison: u64, buffer: &mut [u8]) {
    buffer.as_chunks_mut().0.fill(poison.to_le_bytes());
}

/// Classifies this sector.
pub fn inspect_sector(
    sector: &[u8],
    poison: Option<u64>,
    place: &SectorPlace<'_>,
) -> SectorReading {
    if let Some(stamp) = read_sector(sector) {
        return SectorReading::Intact(stamp);
    }
    // A transfer stops at some point: what is missing is missing at the end.
    if poison.is_some_and(|poison| word_at(sector, sector.len() / 8 - 1) == poison) {
        return SectorReading::Poison;
    }
    if sector.iter().all(|byte| *byte == 0) {
        return SectorReading::Zeros;
    }
    let damage = candidates(sector, place)
        .into_iter()
        .find_map(|(offset, generation)| resemblance(sector, place.run, offset, generation));
    match (damage.or_else(|| shifted_stamp(sector)), claimed(sector)) {
        (Some(damage), _) => SectorReading::Damaged(damage),
        (None, Some(_)) => SectorReading::Damaged(Damage::Other),
        (None, None) => SectorReading::Foreign,
    }
}

/// Most generations that a sector is compared with.
const MIXED_MAX: u32 = 256;

/// Whether a read concurrent with writes of its location returned words of several of these
/// generations: memory is copied word by word, and the page cache and RAM disks guarantee no more.
pub fn is_mixed(
    sector: &[u8],
    (run, target, offset_bytes): (u64, u16, u64),
    generations: RangeInclusive<u32>,
) -> bool {
    let is_of_here = |stamp: &Stamp| {
        (stamp.run, stamp.target, stamp.offset_bytes) == (run, target, offset_bytes)
            && generations.contains(&stamp.generation)
    };
    let Some(stamp) = claimed(sector).filter(is_of_here) else {
        return false;
    };
    let newest = *generations.end();
    let oldest = (*generations.start()).max(newest.saturating_sub(MIXED_MAX));
    let data = &sector[STAMP_BYTES..];
    // Words not explained by any generation so far.
    let mut left: Vec<usize> = (0..data.len() / 8).map(|word| word * 8).collect();
    let mut several = false;
    for generation in oldest..=newest {
        let written = data_of(run, offset_bytes, generation, sector.len() as u32);
        let before = left.len();
        left.retain(|at| data[*at..at + 8] != written[*at..at + 8]);
        several |= left.len() < before && generation != stamp.generation;
    }
    several && left.is_empty()
}

/// Locations and generations that this sector may have had before it was damaged.
fn candidates(sector: &[u8], place: &SectorPlace<'_>) -> Vec<(u64, u32)> {
    let mut candidates = Vec::new();
    if let Some(stamp) = claimed(sector) {
        candidates.push((stamp.offset_bytes, stamp.generation));
        candidates.push((place.offset_bytes, stamp.generation));
    }
    match place.expected {
        Expected::AnyOf(several) => {
            candidates.extend(several.iter().map(|one| (place.offset_bytes, *one)));
        }
        expected => {
            let newest = expected.newest();
            let few = newest.saturating_sub(2).max(1)..=newest;
            candidates.extend(few.rev().map(|one| (place.offset_bytes, one)));
        }
    }
    candidates
}

/// A zeroed range has at least this length, and as many other bytes must match the written data.
const ZEROED_BYTES_MIN: usize = 8;

/// How the sector differs from this one, if they are similar at all.
fn resemblance(sector: &[u8], run: u64, offset_bytes: u64, generation: u32) -> Option<Damage> {
    let written = data_of(run, offset_bytes, generation, sector.len() as u32);
    let data = &sector[STAMP_BYTES..];
    let pairs = || data.iter().zip(&written);
    let equal = pairs().filter(|(one, other)| one == other).count();
    let other_than_zero = data.iter().filter(|byte| **byte != 0).count();
    let rest_is_right = pairs().all(|(found, written)| *found == 0 || found == written);
    let has_hole = (data.windows(8).chain(sector[..STAMP_BYTES].windows(8)))
        .any(|eight| eight.iter().all(|byte| *byte == 0) && !eight.is_empty());
    if rest_is_right
        && other_than_zero >= ZEROED_BYTES_MIN
        && equal + ZEROED_BYTES_MIN <= data.len()
    {
        return Some(Damage::Zeros);
    }
    // Zeros over the stamp only.
    if equal == data.len() && has_hole && sector[..STAMP_BYTES / 8].iter().all(|byte| *byte == 0) {
        return Some(Damage::Zeros);
    }
    // By chance one byte in 256 matches: never an eighth of them.
    if equal >= data.len() / 8 {
        let bits = pairs().map(|(found, written)| (found ^ written).count_ones());
        return Some(Damage::Bits(bits.sum::<u32>().max(1)));
    }
    shift(data, &written).map(Damage::ShiftedOffsets)
}

/// The shift of the sector's data; `None` if not found. Data that wrapped around is far away: the
/// shorter distance counts.
fn shift(data: &[u8], written: &[u8]) -> Option<i32> {
    const WINDOW: usize = 16;
    (0..data.len().saturating_sub(WINDOW))
        .step_by(32)
        .filter_map(|at| {
            let window = &data[at..at + WINDOW];
            let found = written.windows(WINDOW).position(|there| there == window)?;
            (found != at).then_some(at as i32 - found as i32)
        })
        .min_by_key(|by| by.unsigned_abs())
}

/// A stamp that begins inside the sector.
fn shifted_stamp(sector: &[u8]) -> Option<Damage> {
    let last = sector.len().checked_sub(STAMP_BYTES)?;
    (1..=last)
        .find(|at| claimed(&sector[*at..]).is_some())
        .map(|at| Damage::ShiftedOffsets(at as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::{Origin, write_sector};

    fn sector(generation: u32) -> Vec<u8> {
        let stamp = Stamp {
            run: 9,
            target: 1,
            origin: Origin::Page,
            generation,
            offset_bytes: 8192,
            worker: 1,
            sequence: 77,
            before: 0,
            sectors: 16,
            written_ns: 5,
        };
        let mut sector = vec![0; 512];
        write_sector(&stamp, &mut sector);
        sector
    }

    fn seen(sector: &[u8]) -> SectorReading {
        let expected = Expected::Exactly(4);
        let place = SectorPlace {
            run: 9,
            target: 1,
            offset_bytes: 8192,
            expected: &expected,
        };
        inspect_sector(sector, Some(0x1234_5678_9abc_def1), &place)
    }

    #[test]
    fn damage_has_a_name_wherever_it_strikes() {
        for at in 0..512 {
            let mut flipped = sector(4);
            flipped[at] ^= 0x10;
            assert!(
                matches!(
                    seen(&flipped),
                    SectorReading::Damaged(Damage::Bits(1) | Damage::Other)
                ),
                "byte {at}: {:?}",
                seen(&flipped)
            );
        }
        for (from, to) in [(0, 64), (0, 256), (256, 512), (100, 140), (64, 512 - 16)] {
            let mut zeroed = sector(4);
            zeroed[from..to].fill(0);
            let found = seen(&zeroed);
            assert_eq!(found, SectorReading::Damaged(Damage::Zeros), "{from}..{to}");
        }
        for by in [1, 3, 8, 64, 100, 300] {
            let mut right = sector(4);
            right.rotate_right(by);
            let found = seen(&right);
            // Rotated by 300 is rotated by 212 in the other direction.
            assert!(
                matches!(found, SectorReading::Damaged(Damage::ShiftedOffsets(found)) if found.rem_euclid(512) == by as i32),
                "{by}: {found:?}"
            );
            let mut left = sector(4);
            left.rotate_left(by);
            let found = seen(&left);
            assert!(
                matches!(found, SectorReading::Damaged(Damage::ShiftedOffsets(_))),
                "{by}: {found:?}"
            );
        }
    }

    #[test]
    fn words_of_several_generations_are_a_race_and_nothing_else_is() {
        let is_mixed = |sector: &[u8], to| is_mixed(sector, (9, 1, 8192), 4..=to);
        for at in (8..512).step_by(8) {
            let mut forward = sector(4);
            forward[..at].copy_from_slice(&sector(5)[..at]);
            let mut backward = sector(5);
            backward[..at].copy_from_slice(&sector(4)[..at]);
            for mixed in [&forward, &backward] {
                // Constant words at the start are the same in all.
                let is_whole = crate::stamp::read_sector(mixed).is_some();
                assert!(is_whole || is_mixed(mixed, 5), "byte {at}");
                assert!(!is_mixed(mixed, 4), "only one of them was there");
                let mut flipped = mixed.clone();
                flipped[(at + 100) % 448 + 64] ^= 1;
                assert!(!is_mixed(&flipped, 5), "byte {at}");
            }
        }
        for at in 0..512 {
            let mut flipped = sector(4);
            flipped[at] ^= 0x10;
            assert!(!is_mixed(&flipped, 5), "byte {at}");
        }
        let mut other = sector(4);
        other[256..].copy_from_slice(&sector(3)[256..]);
        assert!(!is_mixed(&other, 5), "older than what was sure");
        assert!(!is_mixed(&[0; 512], 5));
    }

    #[test]
    fn what_never_came_and_what_others_wrote() {
        let mut buffer = vec![0; 512];
        fill_with_poison(0x1234_5678_9abc_def1, &mut buffer);
        assert_eq!(seen(&buffer), SectorReading::Poison);
        let mut part = sector(4);
        part[200..].copy_from_slice(&buffer[200..]);
        assert_eq!(
            seen(&part),
            SectorReading::Poison,
            "a transfer that stopped"
        );
        assert_eq!(seen(&[0; 512]), SectorReading::Zeros);
        let text = b"somebody's precious data, again and again. ".repeat(12);
        assert_eq!(seen(&text[..512]), SectorReading::Foreign);
        assert!(matches!(seen(&sector(3)), SectorReading::Intact(stamp) if stamp.generation == 3));
    }
}
