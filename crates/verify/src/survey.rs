//! Examines the stamps on a target: which runs wrote it, when, and what is wrong regardless of the
//! writer. [`crate::account`] compares it with those runs' records. Needs no map, and no memory
//! that grows with the target.

use crate::finished::{FinishedState, mark};
use crate::ledger::{content_of, hex, run_text};
use crate::map::Expected;
use crate::sector_reading::{SectorPlace, SectorReading, inspect_sector};
use crate::stamp::{Stamp, claimed, read_sector};
use std::collections::BTreeMap;
use std::ops::Range;
use stripewise_results::faults::{Class, Content, Fault};

/// Most faults stored; more are counted.
pub(crate) const FAULTS_MAX: usize = 10_000;
/// Most rows of sectors stored: 40 MiB, and one change per MiB of a tebibyte. Beyond that, faults
/// show only in the sums of the parts.
const ROWS_MAX: usize = 1 << 20;
/// Most distinct runs.
const RUNS_MAX: usize = 1_000;

/// Data left by one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunData {
    /// Its intact sectors.
    pub sectors: u64,
    /// When the oldest of them was written, nanoseconds since 1970.
    pub oldest_ns: u64,
    /// When the newest of them was written.
    pub newest_ns: u64,
    /// Sum of the times relative to the oldest, for the mean.
    sum_ns: u128,
    /// The largest generation.
    pub generation_max: u32,
}

impl RunData {
    /// The mean time of writing.
    pub fn mean_ns(&self) -> u64 {
        (self.sum_ns / u128::from(self.sectors.max(1))) as u64
    }
}

/// A run, and the number of the target within it.
pub(crate) type Owner = (u64, u16);

/// Contents of adjacent sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeContent {
    /// Nothing but zeros.
    Zeros,
    /// Something without a stamp.
    NoStamp,
    /// Data written here by this run.
    Data(Owner),
    /// A fault that needs no record.
    Fault,
}

/// Adjacent sectors with the same contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub span: Range<u64>,
    pub holds: RangeContent,
}

/// Sectors older than the write around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OlderSectors {
    pub span: Range<u64>,
    /// The stamp of that write.
    pub newer: Stamp,
}

/// Findings for a run whose record has a [`FinishedState`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub sectors: u64,
    pub newest_ns: u64,
    /// By part of the state.
    pub sums: Vec<u64>,
    /// By worker.
    pub newest: BTreeMap<u64, u64>,
}

/// A pass over a target.
#[derive(Debug)]
pub struct Survey {
    pub(crate) sector_bytes: u32,
    runs: BTreeMap<u64, RunData>,
    pub(crate) known: BTreeMap<Owner, FinishedState>,
    pub(crate) tallies: BTreeMap<Owner, Tally>,
    pub(crate) rows: Vec<Row>,
    pub(crate) older: Vec<OlderSectors>,
    /// Sectors without a stamp: never written, or wiped.
    unstamped_sectors: u64,
    pub(crate) faults: Vec<Fault>,
    pub(crate) faults_more: u64,
    sectors: u64,
}

impl Survey {
    /// For a target with this logical sector, and the records of finished runs.
    pub fn new(sector_bytes: u32, known: BTreeMap<(u64, u16), FinishedState>) -> Self {
        Survey {
            sector_bytes,
            runs: BTreeMap::new(),
            known,
            tallies: BTreeMap::new(),
            rows: Vec::new(),
            older: Vec::new(),
            unstamped_sectors: 0,
            faults: Vec::new(),
            faults_more: 0,
            sectors: 0,
        }
    }

    /// Takes a stretch of the target, in any order.
    pub fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let sector = self.sector_bytes as usize;
        // Until there is a preceding one, the first intact neighbour is used.
        let mut before: Option<Stamp> = bytes.chunks_exact(sector).find_map(read_sector);
        let mut at_bytes = offset_bytes;
        let mut stamps = Vec::with_capacity(bytes.len() / sector);
        for bytes in bytes.chunks_exact(sector) {
            self.sectors += 1;
            // A sector without its stamp most likely has its neighbour's generation.
            let expected = match before {
                Some(stamp) => Expected::Exactly(stamp.generation),
                None => Expected::Exactly(1),
            };
            let place = SectorPlace {
                run: claimed(bytes).or(before).map_or(0, |stamp| stamp.run),
                target: 0,
                offset_bytes: at_bytes,
                expected: &expected,
            };
            let mut here = None;
            let holds = match inspect_sector(bytes, None, &place) {
                SectorReading::Intact(stamp) => {
                    self.book(&stamp);
                    if stamp.offset_bytes == at_bytes {
                        before = Some(stamp);
                        here = Some(stamp);
                        self.count(&stamp);
                        RangeContent::Data((stamp.run, stamp.target))
                    } else {
                        self.wrong(Class::MisdirectedWrite, at_bytes, bytes, Some(&stamp));
                        RangeContent::Fault
                    }
                }
                SectorReading::Damaged(damage) => {
                    let claims = claimed(bytes);
                    self.wrong(Class::Damaged, at_bytes, bytes, claims.as_ref());
                    if let Some(fault) = self.faults.last_mut() {
                        fault.found.what = crate::judge::damage_in_words(damage);
                    }
                    RangeContent::Fault
                }
                SectorReading::Zeros => RangeContent::Zeros,
                SectorReading::Poison | SectorReading::Foreign => RangeContent::NoStamp,
            };
            self.unstamped_sectors +=
                u64::from(matches!(holds, RangeContent::Zeros | RangeContent::NoStamp));
            self.put(at_bytes, holds);
            stamps.push(here);
            at_bytes += sector as u64;
        }
        self.compare_neighbours(offset_bytes, &stamps);
    }

    /// Adds a sector to the rows.
    fn put(&mut self, at_bytes: u64, holds: RangeContent) {
        let end = at_bytes + u64::from(self.sector_bytes);
        let is_full = self.rows.len() >= ROWS_MAX;
        match self.rows.last_mut() {
            Some(last) if last.holds == holds && last.span.end == at_bytes => last.span.end = end,
            _ if is_full => {}
            _ => self.rows.push(Row {
                span: at_bytes..end,
                holds,
            }),
        }
    }

    /// Finds sectors older than a write of the same worker that covered them. Only within a
    /// stretch: what crosses its ends still shows in the sum of its part.
    fn compare_neighbours(&mut self, offset_bytes: u64, stamps: &[Option<Stamp>]) {
        let sector = u64::from(self.sector_bytes);
        let mut newer: Vec<Option<Stamp>> = vec![None; stamps.len()];
        let mut look = |last: &mut Option<Stamp>, number: usize| {
            let Some(stamp) = stamps[number] else { return };
            match *last {
                Some(write) if is_older(&stamp, &write, self.sector_bytes) => {
                    newer[number] = Some(write);
                }
                _ => *last = Some(stamp),
            }
        };
        let (mut before, mut behind) = (None, None);
        (0..stamps.len()).for_each(|number| look(&mut before, number));
        let backwards = (0..stamps.len()).rev();
        backwards.for_each(|number| look(&mut behind, number));
        for (number, newer) in newer.into_iter().enumerate() {
            let Some(newer) = newer else { continue };
            let start = offset_bytes + number as u64 * sector;
            let is_full = self.older.len() >= FAULTS_MAX;
            match self.older.last_mut() {
                Some(last) if last.span.end == start && last.newer.sequence == newer.sequence => {
                    last.span.end = start + sector;
                }
                _ if is_full => {}
                _ => self.older.push(OlderSectors {
                    span: start..start + sector,
                    newer,
                }),
            }
        }
    }

    /// Adds a correctly placed sector to what is known of its run.
    fn count(&mut self, stamp: &Stamp) {
        let owner = (stamp.run, stamp.target);
        let Some(state) = self.known.get(&owner) else {
            return;
        };
        let tally = self.tallies.entry(owner).or_insert_with(|| Tally {
            sums: vec![0; state.parts()],
            ..Tally::default()
        });
        tally.sectors += 1;
        tally.newest_ns = tally.newest_ns.max(stamp.written_ns);
        let part = stamp
            .offset_bytes
            .checked_div(state.part_bytes)
            .unwrap_or(u64::MAX);
        let sum = usize::try_from(part)
            .ok()
            .and_then(|part| tally.sums.get_mut(part));
        if let Some(sum) = sum {
            let mark = mark(stamp.run, stamp.offset_bytes, stamp.generation);
            *sum = sum.wrapping_add(mark);
        }
        let newest = tally.newest.entry(u64::from(stamp.worker)).or_default();
        *newest = (*newest).max(stamp.sequence);
    }

    fn book(&mut self, stamp: &Stamp) {
        if self.runs.len() >= RUNS_MAX && !self.runs.contains_key(&stamp.run) {
            return;
        }
        let run = self.runs.entry(stamp.run).or_insert(RunData {
            sectors: 0,
            oldest_ns: u64::MAX,
            newest_ns: 0,
            sum_ns: 0,
            generation_max: 0,
        });
        run.sectors += 1;
        run.oldest_ns = run.oldest_ns.min(stamp.written_ns);
        run.newest_ns = run.newest_ns.max(stamp.written_ns);
        run.sum_ns += u128::from(stamp.written_ns);
        run.generation_max = run.generation_max.max(stamp.generation);
    }

    fn wrong(&mut self, class: Class, offset_bytes: u64, bytes: &[u8], stamp: Option<&Stamp>) {
        let sector = u64::from(self.sector_bytes);
        let stray = stamp.map(|stamp| stamp.offset_bytes.wrapping_sub(offset_bytes));
        // Neighbours with the same history are one fault.
        if let Some(last) = self.faults.last_mut()
            && last.class == class
            && class == Class::MisdirectedWrite
            && last.offset_bytes + last.length_bytes == offset_bytes
            && last
                .meant_for_bytes
                .map(|at| at.wrapping_sub(last.offset_bytes))
                == stray
        {
            last.length_bytes += sector;
            return;
        }
        if self.faults.len() >= FAULTS_MAX {
            self.faults_more += 1;
            return;
        }
        let mut found = stamp.map_or_else(Content::default, |stamp| {
            content_of(stamp, self.sector_bytes)
        });
        found.what = match (class, stamp) {
            (Class::MisdirectedWrite, Some(stamp)) => {
                format!("data of byte {}", stamp.offset_bytes)
            }
            _ => "damage".to_owned(),
        };
        found.bytes = hex(&bytes[..16]);
        self.faults.push(Fault {
            class,
            target: 0,
            offset_bytes,
            length_bytes: sector,
            expected: Content {
                what: "data of this place".to_owned(),
                offset_bytes: Some(offset_bytes),
                run: stamp.map(|stamp| run_text(stamp.run)),
                ..Content::default()
            },
            found,
            first_difference_bytes: None,
            rereads: Vec::new(),
            meant_for_bytes: match class {
                Class::MisdirectedWrite => stamp.map(|stamp| stamp.offset_bytes),
                _ => None,
            },
            seen_unix_ns: None,
            seen_by_scan: false,
        });
    }

    /// Data left by each run, by number.
    pub fn runs(&self) -> &BTreeMap<u64, RunData> {
        &self.runs
    }

    /// Number of sectors examined.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Sectors without a stamp: never written by Stripewise, or wiped since.
    pub fn unstamped_sectors(&self) -> u64 {
        self.unstamped_sectors
    }
}

/// Whether a sector is older than this write of its worker, which covered it.
fn is_older(stamp: &Stamp, write: &Stamp, sector_bytes: u32) -> bool {
    let owner = |stamp: &Stamp| (stamp.run, stamp.target, stamp.worker);
    owner(stamp) == owner(write)
        && stamp.sequence < write.sequence
        && write.operation(sector_bytes).contains(&stamp.offset_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::{Origin, write_sector};

    fn image(sectors: u64) -> Vec<u8> {
        let mut bytes = vec![0; sectors as usize * 512];
        for (number, sector) in (0..).zip(bytes.chunks_exact_mut(512)) {
            let stamp = Stamp {
                run: 7,
                target: 0,
                origin: Origin::Page,
                generation: 3,
                offset_bytes: number * 512,
                worker: 0,
                sequence: number / 16,
                before: (number % 16) as u32,
                sectors: 16,
                written_ns: 1_000 + number,
            };
            write_sector(&stamp, sector);
        }
        bytes
    }

    fn faults_of(survey: Survey) -> Vec<Fault> {
        survey.judge(Some(64 * 512)).faults
    }

    #[test]
    fn a_whole_image_has_no_fault_and_an_age() {
        let mut survey = Survey::new(512, BTreeMap::new());
        survey.take(0, &image(64));
        let run = survey.runs()[&7];
        assert_eq!(
            (run.sectors, run.oldest_ns, run.newest_ns),
            (64, 1_000, 1_063)
        );
        assert_eq!(faults_of(survey), Vec::new());
    }

    #[test]
    fn one_changed_byte_anywhere_is_one_fault_there() {
        let whole = image(64);
        for at in (0..whole.len()).step_by(97) {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            let mut survey = Survey::new(512, BTreeMap::new());
            survey.take(0, &changed);
            let faults = faults_of(survey);
            assert_eq!(faults.len(), 1, "byte {at}");
            assert_eq!(faults[0].class, Class::Damaged, "byte {at}");
            assert_eq!(faults[0].offset_bytes, at as u64 / 512 * 512);
        }
    }

    #[test]
    fn what_lies_elsewhere_is_one_fault_and_what_has_no_stamp_is_counted() {
        let mut bytes = image(64);
        bytes.copy_within(0..4096, 16384);
        bytes[8192..9216].fill(0);
        let mut survey = Survey::new(512, BTreeMap::new());
        survey.take(0, &bytes);
        assert_eq!(survey.unstamped_sectors(), 2);
        let faults = faults_of(survey);
        assert_eq!(faults.len(), 1);
        let fault = &faults[0];
        assert_eq!(fault.class, Class::MisdirectedWrite);
        assert_eq!((fault.offset_bytes, fault.length_bytes), (16384, 4096));
        assert_eq!(fault.meant_for_bytes, Some(0));
    }
}
