//! Derives a verdict on each sector from the first read and the rereads.

use crate::map::{Expected, Map};
use crate::sector_reading::{Damage, SectorPlace, SectorReading, Suspect, inspect_sector};
use crate::stamp::Stamp;
use std::ops::Range;
use stripewise_results::faults::Class;

/// A range of a target that was reread several times while no one wrote there.
pub(crate) struct Scene<'a> {
    pub run: u64,
    pub target: u16,
    pub sector_bytes: u32,
    /// The first of them covers the whole range.
    pub rereads: &'a [Reread],
    /// Fill value of the reread buffers.
    pub poison: u64,
    pub map: &'a Map,
    pub region_start_bytes: u64,
    pub block_bytes: u32,
    /// It is truncated and grows again: what was not written since is zeros.
    pub grows: bool,
}

/// Result of one round of rereads.
#[derive(Debug)]
pub(crate) struct Reread {
    pub start_bytes: u64,
    pub bytes: Vec<u8>,
    /// Ranges that could not be read.
    pub unread: Vec<Range<u64>>,
}

impl Reread {
    /// This sector, if it was read.
    pub(crate) fn sector(&self, offset_bytes: u64, sector_bytes: u32) -> Option<&[u8]> {
        let at = offset_bytes.checked_sub(self.start_bytes)? as usize;
        let is_unread = self.unread.iter().any(|part| part.contains(&offset_bytes));
        let bytes = self.bytes.get(at..at + sector_bytes as usize)?;
        (!is_unread).then_some(bytes)
    }
}

/// The verdict on one sector.
#[derive(Clone, Debug)]
pub(crate) struct SectorVerdict {
    pub class: Class,
    pub offset_bytes: u64,
    pub expected: Expected,
    /// The data judged: the first read, or what is stored.
    pub seen: SectorReading,
    pub bytes: Vec<u8>,
    /// One word per reread.
    pub rereads: Vec<&'static str>,
    pub seen_ns: Option<u64>,
    pub by_scan: bool,
}

impl Scene<'_> {
    fn expected(&self, offset_bytes: u64) -> (u64, Expected) {
        let block = (offset_bytes - self.region_start_bytes) / u64::from(self.block_bytes);
        (block, self.map.expected(block))
    }

    /// The bytes of a sector in each round in which it was readable.
    fn again(&self, offset_bytes: u64) -> Vec<&[u8]> {
        let rounds = self.rereads.iter();
        rounds
            .filter_map(|round| round.sector(offset_bytes, self.sector_bytes))
            .collect()
    }

    /// The verdicts on all sectors of the scene that are or were wrong. `suspects` are the first
    /// reads, by offset; others are judged by the rereads alone.
    pub(crate) fn judge(&self, suspects: &[Suspect]) -> Vec<SectorVerdict> {
        let mut verdicts = Vec::new();
        let whole = self.rereads.first();
        let (start_bytes, bytes) = whole.map_or((0, 0), |round| {
            (round.start_bytes, round.bytes.len() as u64)
        });
        for at_bytes in (0..bytes).step_by(self.sector_bytes as usize) {
            let offset_bytes = start_bytes + at_bytes;
            let (block, expected) = self.expected(offset_bytes);
            if expected.is_unknown() {
                continue;
            }
            let at = suspects.partition_point(|one| one.offset_bytes < offset_bytes);
            let first = suspects
                .get(at)
                .filter(|one| one.offset_bytes == offset_bytes);
            if let Some(mut verdict) = self.sector(offset_bytes, &expected, first) {
                if let SectorReading::Intact(stamp) = verdict.seen {
                    verdict.class = match verdict.class {
                        Class::LostWrite | Class::StaleRead
                            if self.map.has_failed(block, stamp.generation) =>
                        {
                            Class::LateWrite
                        }
                        Class::LostWrite if self.is_torn(offset_bytes, &stamp) => Class::Torn,
                        other => other,
                    };
                } else if verdict.class == Class::Dropped
                    && self.grows
                    && self.lies_in_part(offset_bytes)
                {
                    verdict.class = Class::Torn;
                }
                verdicts.push(verdict);
            }
        }
        verdicts
    }

    fn sector(
        &self,
        offset_bytes: u64,
        expected: &Expected,
        first: Option<&Suspect>,
    ) -> Option<SectorVerdict> {
        let place = SectorPlace {
            run: self.run,
            target: self.target,
            offset_bytes,
            expected,
        };
        let again = self.again(offset_bytes);
        let seen_again: Vec<SectorReading> = (again.iter())
            .map(|bytes| inspect_sector(bytes, Some(self.poison), &place))
            .collect();
        let is_right = |seen: &SectorReading| place.is_right(seen);
        let reread_sector =
            first.map(|first| inspect_sector(&first.bytes, Some(first.poison), &place));
        let verdict = |class, seen, bytes: &[u8]| SectorVerdict {
            class,
            offset_bytes,
            expected: expected.clone(),
            seen,
            bytes: bytes.to_vec(),
            rereads: words(first, &again, &seen_again, &place),
            seen_ns: first.map(|first| first.seen_ns),
            by_scan: first.is_some_and(|first| first.by_scan),
        };
        let steady = again.windows(2).all(|pair| pair[0] == pair[1]);
        let right = seen_again.iter().filter(|seen| is_right(seen)).count();
        if again.is_empty() {
            // It cannot be reread: the first read is all there is.
            let (first, reread_sector) = (first?, reread_sector?);
            let class = lasting(&reread_sector, &place)?;
            return Some(verdict(class, reread_sector, &first.bytes));
        }
        if right == again.len() {
            let (first, reread_sector) = (first?, reread_sector?);
            let class = passing(&reread_sector, &place)?;
            return Some(verdict(class, reread_sector, &first.bytes));
        }
        let wrong = seen_again.iter().position(|seen| !is_right(seen))?;
        let class = match (steady, seen_again[wrong]) {
            (_, SectorReading::Poison) => Class::NotRead,
            (false, _) => Class::CopiesDiffer,
            (true, seen) => lasting(&seen, &place)?,
        };
        Some(verdict(class, seen_again[wrong], again[wrong]))
    }

    /// An older generation is stored. Its write is torn, not lost, if part of a newer write that
    /// covers this sector is found next to it.
    fn is_torn(&self, offset_bytes: u64, found: &Stamp) -> bool {
        let is_newer = |stamp: &Stamp| match stamp.worker == found.worker {
            true => stamp.sequence > found.sequence,
            // With concurrent runs, any worker writes anywhere.
            false => stamp.written_ns > found.written_ns,
        };
        self.is_covered(offset_bytes, is_newer)
    }

    /// Zeros are stored, as in a file that was extended over it, and next to them another part of
    /// the expected write.
    fn lies_in_part(&self, offset_bytes: u64) -> bool {
        let is_the_last = |stamp: &Stamp| {
            let (_, expected) = self.expected(stamp.offset_bytes);
            expected.accepts(stamp.generation)
        };
        self.is_covered(offset_bytes, is_the_last)
    }

    /// Whether a nearby sector belongs to a write over this location and satisfies `holds`.
    fn is_covered(&self, offset_bytes: u64, holds: impl Fn(&Stamp) -> bool) -> bool {
        let covers = |sector: &[u8]| {
            let stamp = crate::stamp::read_sector(sector);
            stamp.is_some_and(|stamp| {
                stamp.run == self.run
                    && stamp.target == self.target
                    && stamp.operation(self.sector_bytes).contains(&offset_bytes)
                    && holds(&stamp)
            })
        };
        let mut around = self.rereads.iter().take(1);
        around.any(|round| (round.bytes.chunks_exact(self.sector_bytes as usize)).any(&covers))
    }
}

/// The result of each reread, compared with the first read.
fn words(
    first: Option<&Suspect>,
    again: &[&[u8]],
    seen: &[SectorReading],
    place: &SectorPlace<'_>,
) -> Vec<&'static str> {
    let word = |(bytes, seen): (&&[u8], &SectorReading)| match first {
        _ if place.is_right(seen) => "right",
        Some(first) if first.bytes[..] == **bytes => "the same",
        Some(_) => "wrong in another way",
        None => "wrong",
    };
    again.iter().zip(seen).map(word).collect()
}

/// The class of what is stored; `None` if it is correct.
fn lasting(seen: &SectorReading, place: &SectorPlace<'_>) -> Option<Class> {
    Some(match seen {
        seen if place.is_right(seen) => return None,
        SectorReading::Poison => Class::NotRead,
        SectorReading::Zeros => Class::Dropped,
        SectorReading::Damaged(_) => Class::Damaged,
        SectorReading::Foreign => Class::Foreign,
        SectorReading::Intact(stamp) if stamp.run != place.run => Class::LeftOver,
        SectorReading::Intact(stamp) if stamp.target != place.target => Class::WrongDisk,
        SectorReading::Intact(stamp) if stamp.offset_bytes != place.offset_bytes => {
            Class::MisdirectedWrite
        }
        // Never issued: not written by this run.
        SectorReading::Intact(stamp) if stamp.generation > place.expected.newest() => {
            Class::Foreign
        }
        // Truncated data has reappeared.
        SectorReading::Intact(_) if matches!(place.expected, Expected::Zeros(_)) => Class::LeftOver,
        SectorReading::Intact(_) => Class::LostWrite,
    })
}

/// The class of data that was wrong once and is correct now. `None` if it may have been correct at
/// that time.
fn passing(seen: &SectorReading, place: &SectorPlace<'_>) -> Option<Class> {
    Some(match seen {
        seen if place.is_right(seen) => return None,
        SectorReading::Poison => Class::NotRead,
        SectorReading::Zeros | SectorReading::Damaged(_) | SectorReading::Foreign => {
            Class::Transient
        }
        SectorReading::Intact(stamp) if stamp.run != place.run => match stamp.offset_bytes {
            offset_bytes if offset_bytes == place.offset_bytes => Class::StaleRead,
            _ => Class::MisdirectedRead,
        },
        SectorReading::Intact(stamp) if stamp.target != place.target => Class::WrongDisk,
        SectorReading::Intact(stamp) if stamp.offset_bytes != place.offset_bytes => {
            Class::MisdirectedRead
        }
        SectorReading::Intact(stamp) if stamp.generation > place.expected.newest() => {
            Class::Transient
        }
        // By a scan: its owner has rewritten it since, and the data was old then.
        SectorReading::Intact(_) => Class::StaleRead,
    })
}

/// Description of damaged data.
pub fn damage_in_words(damage: Damage) -> String {
    match damage {
        Damage::Bits(1) => "one bit flipped".to_owned(),
        Damage::Bits(bits) => format!("{bits} bits differ"),
        Damage::Zeros => "a part is zeros".to_owned(),
        Damage::ShiftedOffsets(by) if by < 0 => format!("shifted {} bytes to the front", -by),
        Damage::ShiftedOffsets(by) => format!("shifted by {by} bytes"),
        Damage::Other => "the stamp does not fit the rest of the sector".to_owned(),
    }
}
