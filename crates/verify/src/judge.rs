//! From what came, and came again, to a verdict on each sector.

use crate::map::{Expected, Map};
use crate::see::{Damage, SectorPlace, Seen, Suspect, see};
use crate::stamp::Stamp;
use serde::{Deserialize, Serialize};

/// What went wrong.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The read was reported as done, and its bytes never came.
    NotRead,
    /// Bits, zeros or shifted bytes where something else was written.
    Damaged,
    /// Wrong once, and right when it was read again.
    Transient,
    /// What was there before the last write; right when it was read again.
    StaleRead,
    /// The last write is not there (it may lie outside of what was tested).
    LostWrite,
    /// A write landed elsewhere.
    MisdirectedWrite,
    /// A read brought what belongs elsewhere; right when it was read again.
    MisdirectedRead,
    /// What belongs to another target of the run.
    WrongDisk,
    /// A part of a write is there, and another part is not.
    Torn,
    /// What another run left.
    LeftOver,
    /// Data that Stripewise never wrote.
    Foreign,
    /// It changes from one read to the next.
    CopiesDiffer,
    /// Zeros where something was written.
    Dropped,
    /// A write that was reported as failed appeared after a later one.
    LateWrite,
    /// The device has less room than it says, and begins again from its start.
    FakeCapacity,
    /// A flush was reported as done, and what it covers did not survive.
    FlushedWriteLost,
    /// Damage beside a write that was in flight when the power went.
    Neighbour,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 17] = [
        Class::NotRead,
        Class::Damaged,
        Class::Transient,
        Class::StaleRead,
        Class::LostWrite,
        Class::MisdirectedWrite,
        Class::MisdirectedRead,
        Class::WrongDisk,
        Class::Torn,
        Class::LeftOver,
        Class::Foreign,
        Class::CopiesDiffer,
        Class::Dropped,
        Class::LateWrite,
        Class::FakeCapacity,
        Class::FlushedWriteLost,
        Class::Neighbour,
    ];

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::NotRead => "not-read",
            Class::Damaged => "damaged",
            Class::Transient => "transient",
            Class::StaleRead => "stale-read",
            Class::LostWrite => "lost-write",
            Class::MisdirectedWrite => "misdirected-write",
            Class::MisdirectedRead => "misdirected-read",
            Class::WrongDisk => "wrong-disk",
            Class::Torn => "torn",
            Class::LeftOver => "left-over",
            Class::Foreign => "foreign",
            Class::CopiesDiffer => "copies-differ",
            Class::Dropped => "dropped",
            Class::LateWrite => "late-write",
            Class::FakeCapacity => "fake-capacity",
            Class::FlushedWriteLost => "flushed-write-lost",
            Class::Neighbour => "neighbour",
        }
    }

    /// What it means, for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Class::NotRead => "a read was reported as done, but its bytes never came",
            Class::Damaged => "the data is damaged",
            Class::Transient => "a read brought wrong data once; the next ones were right",
            Class::StaleRead => "a read brought old data; the next ones were right",
            Class::LostWrite => "a write is lost (or went somewhere outside the tested range)",
            Class::MisdirectedWrite => "a write landed in the wrong place",
            Class::MisdirectedRead => {
                "a read brought data of another place; the next ones were right"
            }
            Class::WrongDisk => "the data of another target is here",
            Class::Torn => "only a part of a write arrived",
            Class::LeftOver => "the data of an earlier run is here",
            Class::Foreign => "something else wrote here",
            Class::CopiesDiffer => "the data changes from read to read, as copies that differ do",
            Class::Dropped => "zeros where data was written",
            Class::LateWrite => "a write that was reported as failed appeared later",
            Class::FakeCapacity => "the device has less room than it reports",
            Class::FlushedWriteLost => "a flushed write did not survive",
            Class::Neighbour => "data beside a write in flight was damaged",
        }
    }

    /// What lies there is wrong, and not only what once came from there.
    #[must_use]
    pub fn lasts(self) -> bool {
        !matches!(
            self,
            Class::NotRead | Class::Transient | Class::StaleRead | Class::MisdirectedRead
        )
    }
}

/// A stretch of a target that was read again, several times, while nobody wrote there.
pub(crate) struct Scene<'a> {
    pub run: u64,
    pub target: u16,
    pub sector_bytes: u32,
    pub start_bytes: u64,
    /// Each of them the whole stretch.
    pub rereads: &'a [Vec<u8>],
    /// What could not be read, by round.
    pub unread: &'a [Vec<std::ops::Range<u64>>],
    /// What the buffers of the rereads were filled with.
    pub poison: u64,
    pub map: &'a Map,
    pub region_start_bytes: u64,
    pub block_bytes: u32,
}

/// The verdict on one sector.
#[derive(Clone, Debug)]
pub(crate) struct SectorVerdict {
    pub class: Class,
    pub offset_bytes: u64,
    pub expected: Expected,
    /// What the verdict is about: what came first, or what lies there.
    pub seen: Seen,
    pub bytes: Vec<u8>,
    /// One word for each reread.
    pub rereads: Vec<&'static str>,
    pub seen_ns: Option<u64>,
    pub by_scan: bool,
}

impl Scene<'_> {
    fn expected(&self, offset_bytes: u64) -> (u64, Expected) {
        let block = (offset_bytes - self.region_start_bytes) / u64::from(self.block_bytes);
        (block, self.map.expected(block))
    }

    fn sectors(&self) -> u64 {
        let bytes = self.rereads.first().map_or(0, Vec::len) as u64;
        bytes / u64::from(self.sector_bytes)
    }

    /// The bytes of a sector in each round in which it could be read.
    fn again(&self, offset_bytes: u64) -> Vec<&[u8]> {
        let at = (offset_bytes - self.start_bytes) as usize;
        let range = at..at + self.sector_bytes as usize;
        let rounds = self.rereads.iter().zip(self.unread);
        rounds
            .filter(|(_, unread)| !unread.iter().any(|part| part.contains(&offset_bytes)))
            .map(|(bytes, _)| &bytes[range.clone()])
            .collect()
    }

    /// The verdicts on all sectors of the scene that are or were wrong. `suspects` are
    /// what came first, by offset; others are judged by the rereads alone.
    pub(crate) fn judge(&self, suspects: &[Suspect]) -> Vec<SectorVerdict> {
        let mut verdicts = Vec::new();
        for number in 0..self.sectors() {
            let offset_bytes = self.start_bytes + number * u64::from(self.sector_bytes);
            let (block, expected) = self.expected(offset_bytes);
            if expected.is_unknown() {
                continue;
            }
            let at = suspects.partition_point(|one| one.offset_bytes < offset_bytes);
            let first = suspects
                .get(at)
                .filter(|one| one.offset_bytes == offset_bytes);
            if let Some(mut verdict) = self.sector(offset_bytes, &expected, first) {
                if let Seen::Intact(stamp) = verdict.seen {
                    verdict.class = match verdict.class {
                        Class::LostWrite | Class::StaleRead
                            if self.map.has_failed(block, stamp.generation) =>
                        {
                            Class::LateWrite
                        }
                        Class::LostWrite if self.is_torn(offset_bytes, &stamp) => Class::Torn,
                        other => other,
                    };
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
        let seen_again: Vec<Seen> = (again.iter())
            .map(|bytes| see(bytes, Some(self.poison), &place))
            .collect();
        let is_right = |seen: &Seen| place.is_right(seen);
        let came = first.map(|first| see(&first.bytes, Some(first.poison), &place));
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
            // It cannot be read again: what came is all there is.
            let (first, came) = (first?, came?);
            let class = lasting(&came, &place)?;
            return Some(verdict(class, came, &first.bytes));
        }
        if right == again.len() {
            let (first, came) = (first?, came?);
            let class = passing(&came, &place)?;
            return Some(verdict(class, came, &first.bytes));
        }
        let wrong = seen_again.iter().position(|seen| !is_right(seen))?;
        let class = match (steady, seen_again[wrong]) {
            (_, Seen::Poison) => Class::NotRead,
            (false, _) => Class::CopiesDiffer,
            (true, seen) => lasting(&seen, &place)?,
        };
        Some(verdict(class, seen_again[wrong], again[wrong]))
    }

    /// An older generation lies there. Its write is torn, and not lost, where a part of a
    /// write that covers this sector, and is newer than what lies here, is found beside it.
    fn is_torn(&self, offset_bytes: u64, found: &Stamp) -> bool {
        let covers = |sector: &[u8]| {
            let stamp = crate::stamp::read_sector(sector);
            stamp.is_some_and(|stamp| {
                stamp.run == self.run
                    && stamp.target == self.target
                    && stamp.worker == found.worker
                    && stamp.sequence > found.sequence
                    && stamp.operation(self.sector_bytes).contains(&offset_bytes)
            })
        };
        let mut around = self.rereads[0].chunks_exact(self.sector_bytes as usize);
        around.any(covers)
    }
}

/// What each reread brought, compared with what came first.
fn words(
    first: Option<&Suspect>,
    again: &[&[u8]],
    seen: &[Seen],
    place: &SectorPlace<'_>,
) -> Vec<&'static str> {
    let word = |(bytes, seen): (&&[u8], &Seen)| match first {
        _ if place.is_right(seen) => "right",
        Some(first) if first.bytes[..] == **bytes => "the same",
        Some(_) => "wrong in another way",
        None => "wrong",
    };
    again.iter().zip(seen).map(word).collect()
}

/// The class of what lies there; `None` where it is right.
fn lasting(seen: &Seen, place: &SectorPlace<'_>) -> Option<Class> {
    Some(match seen {
        Seen::Poison => Class::NotRead,
        Seen::Zeros => Class::Dropped,
        Seen::Damaged(_) => Class::Damaged,
        Seen::Foreign => Class::Foreign,
        Seen::Intact(stamp) if stamp.run != place.run => Class::LeftOver,
        Seen::Intact(stamp) if stamp.target != place.target => Class::WrongDisk,
        Seen::Intact(stamp) if stamp.offset_bytes != place.offset_bytes => Class::MisdirectedWrite,
        Seen::Intact(stamp) if place.expected.accepts(stamp.generation) => return None,
        // Never issued: whoever wrote it was not this run.
        Seen::Intact(stamp) if stamp.generation > place.expected.newest() => Class::Foreign,
        Seen::Intact(_) => Class::LostWrite,
    })
}

/// The class of what came once and is right now. `None` for what may have been there when
/// it came.
fn passing(seen: &Seen, place: &SectorPlace<'_>) -> Option<Class> {
    Some(match seen {
        Seen::Poison => Class::NotRead,
        Seen::Zeros | Seen::Damaged(_) | Seen::Foreign => Class::Transient,
        Seen::Intact(stamp) if stamp.run != place.run => match stamp.offset_bytes {
            offset_bytes if offset_bytes == place.offset_bytes => Class::StaleRead,
            _ => Class::MisdirectedRead,
        },
        Seen::Intact(stamp) if stamp.target != place.target => Class::WrongDisk,
        Seen::Intact(stamp) if stamp.offset_bytes != place.offset_bytes => Class::MisdirectedRead,
        Seen::Intact(stamp) if place.expected.accepts(stamp.generation) => return None,
        Seen::Intact(stamp) if stamp.generation > place.expected.newest() => Class::Transient,
        // By a scan: its owner has written it again since, and what came was old then.
        Seen::Intact(_) => Class::StaleRead,
    })
}

/// What is wrong with damaged data, for people.
#[must_use]
pub fn damage_in_words(damage: Damage) -> String {
    match damage {
        Damage::Bits(1) => "one bit flipped".to_owned(),
        Damage::Bits(bits) => format!("{bits} bits differ"),
        Damage::Zeros => "a part is zeros".to_owned(),
        Damage::Shifted(by) if by < 0 => format!("shifted {} bytes to the front", -by),
        Damage::Shifted(by) => format!("shifted by {by} bytes"),
        Damage::Other => "the stamp does not fit the rest of the sector".to_owned(),
    }
}
