//! Power cuts: what is written, what a flush covers, and what must be there afterwards.
//!
//! The map of expectations dies in the cut, so place and length of each write follow from
//! (run, worker, sequence) alone: replaying the writes that a witness saw covered brings
//! back what each sector must at least hold.

use crate::judge::Class;
use crate::ledger::{Content, Fault, run_text};
use crate::stamp::{Origin, Stamp, read_sector, write_sector};
use crate::work::Dice;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What makes writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Durability {
    /// `fsync`; of a device, its flush.
    Flush = 1,
    /// `fdatasync`.
    DataSync = 2,
    /// Each write by itself (`O_DSYNC`): FUA where a device has it.
    EachWrite = 3,
}

impl Durability {
    /// All of them.
    pub const ALL: [Durability; 3] = [
        Durability::Flush,
        Durability::DataSync,
        Durability::EachWrite,
    ];

    pub(crate) fn of(number: u8) -> Option<Durability> {
        Durability::ALL
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }

    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Durability::Flush => "fsync",
            Durability::DataSync => "fdatasync",
            Durability::EachWrite => "O_DSYNC",
        }
    }
}

/// The writes of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutWorker {
    /// Its number.
    pub worker: u16,
    /// The target's.
    pub target: u16,
    /// How its writes become durable.
    pub durability: Durability,
    /// The part of the target that it alone writes: first byte.
    pub start_bytes: u64,
    /// And length.
    pub length_bytes: u64,
    /// Logical sector.
    pub sector_bytes: u32,
    /// The largest write.
    pub write_bytes_max: u32,
}

impl CutWorker {
    /// Place and length of write number `sequence`, from 1.
    #[must_use]
    pub fn place(&self, run: u64, sequence: u64) -> (u64, u32) {
        let mut dice = Dice::new(run ^ u64::from(self.worker) << 48 ^ sequence);
        let sector = u64::from(self.sector_bytes);
        let sectors = self.length_bytes / sector;
        let most = (u64::from(self.write_bytes_max) / sector).clamp(1, sectors);
        // Small ones are the most frequent, as logs and pages are.
        let most = most >> dice.below(6);
        let length = 1 + dice.below(most.max(1));
        let first = dice.below(sectors - length + 1);
        (self.start_bytes + first * sector, (length * sector) as u32)
    }

    fn sectors(&self) -> u64 {
        self.length_bytes / u64::from(self.sector_bytes)
    }

    fn sector_at(&self, offset_bytes: u64) -> u64 {
        (offset_bytes - self.start_bytes) / u64::from(self.sector_bytes)
    }

    /// Makes the data of a write.
    pub fn data(&self, run: u64, sequence: u64, now_ns: u64, buffer: &mut [u8]) {
        let (offset_bytes, length_bytes) = self.place(run, sequence);
        let mut stamp = Stamp {
            run,
            target: self.target,
            origin: Origin::Cut,
            // Every write has a number of its own; no two sectors are alike.
            generation: sequence as u32,
            offset_bytes,
            worker: self.worker,
            sequence,
            before: 0,
            sectors: length_bytes / self.sector_bytes,
            written_ns: now_ns,
        };
        for sector in buffer.chunks_exact_mut(self.sector_bytes as usize) {
            write_sector(&stamp, sector);
            stamp.offset_bytes += u64::from(self.sector_bytes);
            stamp.before += 1;
        }
    }
}

/// Which writes are home: all up to some number, and some beyond it.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    all_to: u64,
    beyond: BTreeSet<u64>,
}

impl Prefix {
    /// A write has completed.
    pub fn completed(&mut self, sequence: u64) {
        self.beyond.insert(sequence);
        while self.beyond.remove(&(self.all_to + 1)) {
            self.all_to += 1;
        }
    }

    /// Writes 1 to this one have all completed: what a flush that is issued now covers.
    /// The highest that has completed would claim writes still in flight.
    #[must_use]
    pub fn all_to(&self) -> u64 {
        self.all_to
    }
}

/// What the sectors of one worker hold after a cut.
#[derive(Debug)]
pub struct Aftermath {
    run: u64,
    worker: CutWorker,
    covered: u64,
    /// By sector: the last covered write of it; 0 for none.
    least: Vec<u64>,
    /// By sector: the write that was found; `None` where there is none of this worker.
    found: Vec<Option<u64>>,
    /// When each sixteenth... of the found writes was written: by sequence.
    times: BTreeMap<u64, u64>,
    newest: u64,
    newest_ns: u64,
}

/// Times that are remembered, to tell when a lost write was written.
const TIMES_MAX: usize = 65_536;
/// Physical sector of drives that report sectors of 512 bytes and have larger ones.
const PHYSICAL_BYTES: u64 = 4096;

/// What came of one worker's writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survival {
    /// Writes that were flushed.
    pub covered_writes: u64,
    /// Of those, writes of which something is lost.
    pub lost_writes: u64,
    /// Writes beyond the last flush of which something survived.
    pub beyond_writes: u64,
    /// Of those, how many only in part.
    pub torn_writes: u64,
    /// Writes beyond the last flush that are missing, while later ones survived.
    pub reordered: bool,
}

impl Aftermath {
    /// Of a worker whose writes up to `covered` were flushed.
    #[must_use]
    pub fn new(run: u64, worker: CutWorker, covered: u64) -> Self {
        let sectors = worker.sectors() as usize;
        let mut least = vec![0; sectors];
        for sequence in 1..=covered {
            let (offset_bytes, length_bytes) = worker.place(run, sequence);
            let first = worker.sector_at(offset_bytes) as usize;
            let count = (length_bytes / worker.sector_bytes) as usize;
            least[first..first + count].fill(sequence);
        }
        Aftermath {
            run,
            worker,
            covered,
            least,
            found: vec![None; sectors],
            times: BTreeMap::new(),
            newest: 0,
            newest_ns: 0,
        }
    }

    /// Its part of the target.
    #[must_use]
    pub fn span(&self) -> Range<u64> {
        self.worker.start_bytes..self.worker.start_bytes + self.worker.length_bytes
    }

    /// Whose writes they are.
    #[must_use]
    pub fn worker(&self) -> &CutWorker {
        &self.worker
    }

    /// Takes bytes of its part, whole sectors.
    pub fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let sector = self.worker.sector_bytes as usize;
        let first = self.worker.sector_at(offset_bytes) as usize;
        for (number, bytes) in bytes.chunks_exact(sector).enumerate() {
            let at = first + number;
            let here = offset_bytes + (number * sector) as u64;
            let Some(stamp) = read_sector(bytes) else {
                continue;
            };
            if stamp.run != self.run
                || stamp.target != self.worker.target
                || stamp.worker != self.worker.worker
                || stamp.offset_bytes != here
                || !self.covers(stamp.sequence, here)
            {
                continue;
            }
            self.found[at] = Some(stamp.sequence);
            if self.times.len() < TIMES_MAX {
                self.times.insert(stamp.sequence, stamp.written_ns);
            }
            self.newest = self.newest.max(stamp.sequence);
            self.newest_ns = self.newest_ns.max(stamp.written_ns);
        }
    }

    /// Nothing of its part was ever found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.newest == 0
    }

    /// When the newest write that survived was written: about when the power went.
    #[must_use]
    pub fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    fn covers(&self, sequence: u64, offset_bytes: u64) -> bool {
        let (start, length) = self.worker.place(self.run, sequence);
        (start..start + u64::from(length)).contains(&offset_bytes)
    }

    /// What survived, and the faults. `outstanding`: how many writes the worker had in
    /// flight at most. `row_bytes`: what one write in flight may damage around it.
    #[must_use]
    pub fn judge(&self, outstanding: u64, cut_ns: u64) -> (Survival, Vec<Fault>) {
        let in_flight = self.in_flight(outstanding);
        let mut lost: BTreeSet<u64> = BTreeSet::new();
        let mut faults: Vec<Fault> = Vec::new();
        let sector = u64::from(self.worker.sector_bytes);
        for (at, least) in self.least.iter().enumerate() {
            if *least == 0 || self.found[at].is_some_and(|found| found >= *least) {
                continue;
            }
            let offset_bytes = self.worker.start_bytes + at as u64 * sector;
            let row = offset_bytes / PHYSICAL_BYTES;
            let neighbour = self.found[at].is_none() && in_flight.contains(&row);
            if !neighbour {
                lost.insert(*least);
            }
            let class = match neighbour {
                true => Class::Neighbour,
                false => Class::FlushedWriteLost,
            };
            match faults.last_mut() {
                Some(last)
                    if last.class == class
                        && last.offset_bytes + last.length_bytes == offset_bytes
                        && last.expected.sequence == Some(*least) =>
                {
                    last.length_bytes += sector;
                }
                _ => faults.push(self.fault(class, offset_bytes, *least, self.found[at], cut_ns)),
            }
        }
        let (beyond_writes, torn_writes, reordered) = self.beyond();
        let survival = Survival {
            covered_writes: self.covered,
            lost_writes: lost.len() as u64,
            beyond_writes,
            torn_writes,
            reordered,
        };
        (survival, faults)
    }

    /// Physical sectors that a write in flight at the cut touched.
    fn in_flight(&self, outstanding: u64) -> BTreeSet<u64> {
        let to = self.newest.max(self.covered) + outstanding;
        (self.covered + 1..=to)
            .flat_map(|sequence| {
                let (start, length) = self.worker.place(self.run, sequence);
                start / PHYSICAL_BYTES..=(start + u64::from(length) - 1) / PHYSICAL_BYTES
            })
            .collect()
    }

    /// What survived beyond the last flush: how many writes, how many of them in part, and
    /// whether one is missing that is older than one that survived.
    fn beyond(&self) -> (u64, u64, bool) {
        let present: BTreeSet<u64> = (self.found.iter().flatten())
            .copied()
            .filter(|found| *found > self.covered)
            .collect();
        let (mut torn, mut missing) = (0, false);
        for sequence in self.covered + 1..=self.newest {
            let (start, length) = self.worker.place(self.run, sequence);
            let first = self.worker.sector_at(start) as usize;
            let count = (length / self.worker.sector_bytes) as usize;
            let found = &self.found[first..first + count];
            // Sectors that a later write took over say nothing of this one.
            let older = found
                .iter()
                .any(|found| found.is_none_or(|found| found < sequence));
            if present.contains(&sequence) {
                torn += u64::from(older);
            } else {
                missing |= older;
            }
        }
        (present.len() as u64, torn, missing)
    }

    /// When a write was written, by the nearest one before it that survived.
    fn written_ns(&self, sequence: u64) -> Option<u64> {
        let before = self.times.range(..=sequence).next_back();
        before.map(|(_, written_ns)| *written_ns)
    }

    fn fault(
        &self,
        class: Class,
        offset_bytes: u64,
        least: u64,
        found: Option<u64>,
        cut_ns: u64,
    ) -> Fault {
        let (start, length) = self.worker.place(self.run, least);
        let content = |what: String, sequence| Content {
            what,
            run: Some(run_text(self.run)),
            worker: Some(self.worker.worker),
            sequence,
            ..Content::default()
        };
        let what = match found {
            Some(found) => format!("write {found}"),
            None => "none of this run's writes".to_owned(),
        };
        Fault {
            class,
            target: self.worker.target,
            offset_bytes,
            length_bytes: u64::from(self.worker.sector_bytes),
            expected: Content {
                operation: Some(Origin::Cut.name().to_owned()),
                operation_offset_bytes: Some(start),
                operation_length_bytes: Some(u64::from(length)),
                written_unix_ns: self.written_ns(least),
                ..content(
                    format!(
                        "write {least} or a later one, flushed with {}",
                        self.worker.durability.name()
                    ),
                    Some(least),
                )
            },
            found: content(what, found),
            first_difference_bytes: None,
            rereads: Vec::new(),
            meant_for_bytes: None,
            seen_unix_ns: Some(cut_ns),
            seen_by_scan: false,
        }
    }
}
