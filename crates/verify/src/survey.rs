//! What lies on a target by its own account: which runs wrote it, when, and what of it is
//! wrong whoever wrote it. Needs no map, and no memory that grows with the target.

use crate::ledger::{content_of, hex, run_text};
use crate::map::Expected;
use crate::see::{SectorPlace, Seen, see};
use crate::stamp::{Stamp, claimed, read_sector};
use std::collections::BTreeMap;
use stripewise_results::faults::{Class, Content, Fault};

/// Faults that are kept; more are counted.
const FAULTS_MAX: usize = 10_000;
/// Runs that are told apart.
const RUNS_MAX: usize = 1_000;

/// What one run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLeft {
    /// Whole sectors of it.
    pub sectors: u64,
    /// When the oldest of them was written, nanoseconds since 1970.
    pub oldest_ns: u64,
    /// When the newest of them was written.
    pub newest_ns: u64,
    /// Sum of the ages' distances from the oldest, for the mean.
    sum_ns: u128,
    /// The largest generation.
    pub generation_max: u32,
}

impl RunLeft {
    /// The mean time of writing.
    #[must_use]
    pub fn mean_ns(&self) -> u64 {
        (self.sum_ns / u128::from(self.sectors.max(1))) as u64
    }
}

/// A pass over a target.
#[derive(Debug)]
pub struct Survey {
    sector_bytes: u32,
    runs: BTreeMap<u64, RunLeft>,
    /// Sectors without a stamp: never written, or wiped.
    unstamped_sectors: u64,
    faults: Vec<Fault>,
    faults_more: u64,
    sectors: u64,
}

impl Survey {
    /// Of a target with this logical sector.
    #[must_use]
    pub fn new(sector_bytes: u32) -> Self {
        Survey {
            sector_bytes,
            runs: BTreeMap::new(),
            unstamped_sectors: 0,
            faults: Vec::new(),
            faults_more: 0,
            sectors: 0,
        }
    }

    /// Takes a stretch of the target, in any order.
    pub fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let sector = self.sector_bytes as usize;
        // Until there is one before, the first whole neighbour serves.
        let mut before: Option<Stamp> = bytes.chunks_exact(sector).find_map(read_sector);
        let mut at_bytes = offset_bytes;
        for bytes in bytes.chunks_exact(sector) {
            self.sectors += 1;
            // A sector whose stamp is gone is most likely of its neighbour's generation.
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
            match see(bytes, None, &place) {
                Seen::Intact(stamp) => {
                    self.book(&stamp);
                    if stamp.offset_bytes == at_bytes {
                        before = Some(stamp);
                    } else {
                        self.wrong(Class::MisdirectedWrite, at_bytes, bytes, Some(&stamp));
                    }
                }
                Seen::Damaged(damage) => {
                    let claims = claimed(bytes);
                    self.wrong(Class::Damaged, at_bytes, bytes, claims.as_ref());
                    if let Some(fault) = self.faults.last_mut() {
                        fault.found.what = crate::judge::damage_in_words(damage);
                    }
                }
                Seen::Poison | Seen::Zeros | Seen::Foreign => self.unstamped_sectors += 1,
            }
            at_bytes += sector as u64;
        }
    }

    fn book(&mut self, stamp: &Stamp) {
        if self.runs.len() >= RUNS_MAX && !self.runs.contains_key(&stamp.run) {
            return;
        }
        let run = self.runs.entry(stamp.run).or_insert(RunLeft {
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
        // Neighbours with the same story are one fault.
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

    /// What each run left, by its number.
    #[must_use]
    pub fn runs(&self) -> &BTreeMap<u64, RunLeft> {
        &self.runs
    }

    /// Sectors that were looked at.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Sectors without a stamp: never written by Stripewise, or wiped since.
    #[must_use]
    pub fn unstamped_sectors(&self) -> u64 {
        self.unstamped_sectors
    }

    /// The faults by their place, and how many more there were than are kept.
    #[must_use]
    pub fn into_faults(mut self) -> (Vec<Fault>, u64) {
        self.faults.sort_by_key(|fault| fault.offset_bytes);
        (self.faults, self.faults_more)
    }
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

    #[test]
    fn a_whole_image_has_no_fault_and_an_age() {
        let mut survey = Survey::new(512);
        survey.take(0, &image(64));
        let run = survey.runs()[&7];
        assert_eq!(
            (run.sectors, run.oldest_ns, run.newest_ns),
            (64, 1_000, 1_063)
        );
        assert_eq!(survey.into_faults(), (Vec::new(), 0));
    }

    #[test]
    fn one_changed_byte_anywhere_is_one_fault_there() {
        let whole = image(64);
        for at in (0..whole.len()).step_by(97) {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            let mut survey = Survey::new(512);
            survey.take(0, &changed);
            let (faults, _) = survey.into_faults();
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
        let mut survey = Survey::new(512);
        survey.take(0, &bytes);
        assert_eq!(survey.unstamped_sectors(), 2);
        let (faults, _) = survey.into_faults();
        assert_eq!(faults.len(), 1);
        let fault = &faults[0];
        assert_eq!(fault.class, Class::MisdirectedWrite);
        assert_eq!((fault.offset_bytes, fault.length_bytes), (16384, 4096));
        assert_eq!(fault.meant_for_bytes, Some(0));
    }
}
