//! Compares what a power cut left with what the witness saw covered.

use crate::cut::CutWorker;
use crate::ledger::run_text;
use crate::stamp::{Origin, SEQUENCE_MAX, Stamp, claimed, read_sector};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use stripewise_results::faults::{Class, Content, Fault};

/// Number of times remembered, to date a lost write.
const TIMES_MAX: usize = 65_536;
/// Most faults stored per worker; more are counted.
const FAULTS_MAX: usize = 1_000;

/// Contents of a sector, in eight bytes: a write's number, or one of these above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SectorState(u64);

impl SectorState {
    /// It could not be read.
    const UNREAD: SectorState = SectorState(u64::MAX);
    const ZEROS: SectorState = SectorState(u64::MAX - 1);
    /// Intact, but of another location or worker.
    const MISPLACED: SectorState = SectorState(u64::MAX - 2);
    /// Intact, but of another run.
    const LEFT_OVER: SectorState = SectorState(u64::MAX - 3);
    /// The beginning of a stamp, but the wrong rest.
    const DAMAGED: SectorState = SectorState(u64::MAX - 4);
    const FOREIGN: SectorState = SectorState(u64::MAX - 5);

    /// The worker's write stored there.
    fn write(self) -> Option<u64> {
        (self.0 <= SEQUENCE_MAX).then_some(self.0)
    }

    /// Bytes that were never written as such: collateral damage looks like that, an older write or
    /// zeros do not.
    fn is_damage(self) -> bool {
        matches!(self, SectorState::DAMAGED | SectorState::FOREIGN)
    }

    fn in_words(self, other_run: Option<u64>) -> String {
        match self {
            SectorState::UNREAD => "nothing: it could not be read".to_owned(),
            SectorState::ZEROS => "zeros".to_owned(),
            SectorState::MISPLACED => "data of another place".to_owned(),
            SectorState::LEFT_OVER => other_run.map_or_else(
                || "data of another run".to_owned(),
                |run| format!("data of run {}", run_text(run)),
            ),
            SectorState::DAMAGED => "a damaged sector".to_owned(),
            SectorState::FOREIGN => "no stamp".to_owned(),
            SectorState(0) => "the first pass".to_owned(),
            SectorState(write) => format!("write {write}"),
        }
    }
}

/// Known circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Most writes that each worker had in flight.
    pub outstanding: u64,
    /// Bytes around a write in flight that may be damaged with it: a physical sector, or the row of
    /// a parity array.
    pub row_bytes: u64,
    /// The page cache was in between: a page may be sent while it changes, so a sector of a write
    /// in flight may be torn inside.
    pub buffered: bool,
    /// When the power failed, nanoseconds since 1970.
    pub cut_ns: u64,
}

/// Contents of one worker's sectors after a cut.
#[derive(Debug)]
pub struct PostCutState {
    run: u64,
    worker: CutWorker,
    /// `None`: not even the first pass was flushed, and nothing is guaranteed.
    covered: Option<u64>,
    /// By sector: its last covered write; 0 for the first pass.
    least: Vec<u64>,
    found: Vec<SectorState>,
    /// Times of some of the writes found, by sequence.
    times: BTreeMap<u64, u64>,
    newest: u64,
    newest_ns: u64,
    other_run: Option<u64>,
}

/// Outcome of one worker's writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Survival {
    /// Flushed writes.
    pub covered_writes: u64,
    /// Of those, partly or completely lost ones.
    pub lost_writes: u64,
    /// Writes beyond the last flush that survived at least partly.
    pub beyond_writes: u64,
    /// Of those, the number that survived only partly.
    pub torn_writes: u64,
    /// Writes beyond the last flush that are missing although later ones survived.
    pub reordered_writes: u64,
    /// Faults counted but not stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub faults_more: u64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Survival {
    /// Adds another worker's.
    pub fn add(&mut self, other: &Survival) {
        self.covered_writes += other.covered_writes;
        self.lost_writes += other.lost_writes;
        self.beyond_writes += other.beyond_writes;
        self.torn_writes += other.torn_writes;
        self.reordered_writes += other.reordered_writes;
        self.faults_more += other.faults_more;
    }
}

impl PostCutState {
    /// For a worker whose writes up to `covered` were flushed, after the first pass; `None` if not
    /// even that was.
    pub fn new(run: u64, worker: CutWorker, covered: Option<u64>) -> Self {
        let sectors = worker.sectors() as usize;
        let mut least = vec![0; sectors];
        for sequence in 1..=covered.unwrap_or(0) {
            let (offset_bytes, length_bytes) = worker.place(run, sequence);
            let first = worker.sector_at(offset_bytes) as usize;
            let count = (length_bytes / worker.sector_bytes) as usize;
            least[first..first + count].fill(sequence);
        }
        PostCutState {
            run,
            worker,
            covered,
            least,
            found: vec![SectorState::UNREAD; sectors],
            times: BTreeMap::new(),
            newest: 0,
            newest_ns: 0,
            other_run: None,
        }
    }

    /// Memory of one for a part of this size.
    pub fn bytes_of(worker: &CutWorker) -> u64 {
        worker.sectors() * (size_of::<u64>() + size_of::<SectorState>()) as u64
    }

    /// Its part of the target.
    pub fn span(&self) -> Range<u64> {
        self.worker.start_bytes..self.worker.start_bytes + self.worker.length_bytes
    }

    /// The worker.
    pub fn worker(&self) -> &CutWorker {
        &self.worker
    }

    /// Takes bytes of the target, ignoring those outside its part. `offset_bytes` is a multiple of
    /// the sector.
    pub fn take(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let sector = self.worker.sector_bytes as usize;
        let span = self.span();
        for (number, bytes) in bytes.chunks_exact(sector).enumerate() {
            let here = offset_bytes + (number * sector) as u64;
            if !span.contains(&here) {
                continue;
            }
            let at = self.worker.sector_at(here) as usize;
            self.found[at] = match read_sector(bytes) {
                Some(stamp) if self.is_own(&stamp, here) => {
                    if self.times.len() < TIMES_MAX {
                        self.times.insert(stamp.sequence, stamp.written_ns);
                    }
                    self.newest = self.newest.max(stamp.sequence);
                    self.newest_ns = self.newest_ns.max(stamp.written_ns);
                    SectorState(stamp.sequence)
                }
                other => self.other_than_own(bytes, other.as_ref()),
            };
        }
    }

    fn is_own(&self, stamp: &Stamp, here: u64) -> bool {
        stamp.run == self.run
            && stamp.target == self.worker.target
            && stamp.worker == self.worker.worker
            && stamp.offset_bytes == here
            && self.covers(stamp.sequence, here)
    }

    fn other_than_own(&mut self, bytes: &[u8], whole: Option<&Stamp>) -> SectorState {
        match whole {
            Some(stamp) if stamp.run == self.run => SectorState::MISPLACED,
            Some(stamp) => {
                self.other_run = Some(stamp.run);
                SectorState::LEFT_OVER
            }
            None if bytes.iter().all(|byte| *byte == 0) => SectorState::ZEROS,
            None if claimed(bytes).is_some() => SectorState::DAMAGED,
            None => SectorState::FOREIGN,
        }
    }

    /// Whether nothing of this run was found in its part.
    pub fn is_empty(&self) -> bool {
        self.found.iter().all(|lies| lies.write().is_none())
    }

    /// Whether all of its part could be read, and nothing there was ever written by this run, not
    /// even something damaged.
    pub fn holds_nothing(&self) -> bool {
        self.found.iter().all(|lies| {
            matches!(
                *lies,
                SectorState::ZEROS | SectorState::LEFT_OVER | SectorState::FOREIGN
            )
        })
    }

    /// Another run with sectors in its part.
    pub fn other_run(&self) -> Option<u64> {
        self.other_run
    }

    /// Time of the newest write that survived.
    pub fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    fn covers(&self, sequence: u64, offset_bytes: u64) -> bool {
        if sequence == 0 {
            return true;
        }
        let (start, length) = self.worker.place(self.run, sequence);
        (start..start + u64::from(length)).contains(&offset_bytes)
    }

    /// Determines survival and faults.
    pub fn judge(&self, known: &Circumstances) -> (Survival, Vec<Fault>) {
        let (beyond_writes, torn_writes, reordered_writes) = self.beyond();
        let mut survival = Survival {
            covered_writes: self.covered.unwrap_or(0),
            beyond_writes,
            torn_writes,
            reordered_writes,
            ..Survival::default()
        };
        if self.covered.is_none() {
            return (survival, Vec::new());
        }
        let in_flight = self.in_flight(known.outstanding);
        let mut lost: BTreeSet<u64> = BTreeSet::new();
        let mut faults: Vec<Fault> = Vec::new();
        let sector = u64::from(self.worker.sector_bytes);
        for (at, least) in self.least.iter().enumerate() {
            if self.found[at].write().is_some_and(|found| found >= *least) {
                continue;
            }
            let offset_bytes = self.worker.start_bytes + at as u64 * sector;
            let Some(class) = self.class(at, offset_bytes, &in_flight, known) else {
                continue;
            };
            if class == Class::FlushedWriteLost {
                lost.insert(*least);
            }
            let is_full = faults.len() >= FAULTS_MAX;
            match faults.last_mut() {
                Some(last)
                    if last.class == class
                        && last.offset_bytes + last.length_bytes == offset_bytes
                        && last.expected.sequence == Some(*least) =>
                {
                    last.length_bytes += sector;
                }
                _ if is_full => survival.faults_more += 1,
                _ => faults.push(self.fault(class, at, offset_bytes, known.cut_ns)),
            }
        }
        survival.lost_writes = lost.len() as u64;
        (survival, faults)
    }

    /// The class of a sector that holds less than was guaranteed; `None` if that is allowed, or if
    /// it could not be read and is counted as an error.
    fn class(
        &self,
        at: usize,
        offset_bytes: u64,
        in_flight: &[Range<u64>],
        known: &Circumstances,
    ) -> Option<Class> {
        if self.found[at] == SectorState::UNREAD {
            return None;
        }
        if !self.found[at].is_damage() {
            return Some(Class::FlushedWriteLost);
        }
        let row = offset_bytes / known.row_bytes * known.row_bytes;
        let touches = |from: u64, to: u64| {
            let first = in_flight.partition_point(|one| one.end <= from);
            in_flight.get(first).is_some_and(|one| one.start < to)
        };
        let sector = u64::from(self.worker.sector_bytes);
        if touches(offset_bytes, offset_bytes + sector) {
            return (!known.buffered).then_some(Class::Torn);
        }
        match touches(row, row + known.row_bytes) {
            true => Some(Class::Neighbour),
            false => Some(Class::FlushedWriteLost),
        }
    }

    /// The ranges of writes not covered by a flush, merged and in order.
    fn in_flight(&self, outstanding: u64) -> Vec<Range<u64>> {
        let covered = self.covered.unwrap_or(0);
        let to = self.newest.max(covered) + outstanding;
        let mut all: Vec<Range<u64>> = (covered + 1..=to)
            .map(|sequence| {
                let (start, length) = self.worker.place(self.run, sequence);
                start..start + u64::from(length)
            })
            .collect();
        all.sort_by_key(|one| one.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for one in all {
            match joined.last_mut() {
                Some(last) if one.start <= last.end => last.end = last.end.max(one.end),
                _ => joined.push(one),
            }
        }
        joined
    }

    /// Survival beyond the last flush: number of writes, number of partial ones, and number of
    /// missing ones older than one that survived.
    fn beyond(&self) -> (u64, u64, u64) {
        let covered = self.covered.unwrap_or(0);
        let present: BTreeSet<u64> = (self.found.iter())
            .filter_map(|lies| lies.write())
            .filter(|found| *found > covered)
            .collect();
        let (mut torn, mut missing) = (0, 0);
        for sequence in covered + 1..=self.newest {
            let (start, length) = self.worker.place(self.run, sequence);
            let first = self.worker.sector_at(start) as usize;
            let count = (length / self.worker.sector_bytes) as usize;
            let found = &self.found[first..first + count];
            // Sectors overwritten by a later write mean nothing for this one.
            let older = found
                .iter()
                .any(|lies| lies.write().is_none_or(|found| found < sequence));
            if present.contains(&sequence) {
                torn += u64::from(older);
            } else {
                missing += u64::from(older);
            }
        }
        (present.len() as u64, torn, missing)
    }

    /// Time of a write, from the nearest earlier one that survived.
    fn written_ns(&self, sequence: u64) -> Option<u64> {
        let before = self.times.range(..=sequence).next_back();
        before.map(|(_, written_ns)| *written_ns)
    }

    fn fault(&self, class: Class, at: usize, offset_bytes: u64, cut_ns: u64) -> Fault {
        let (least, found) = (self.least[at], self.found[at]);
        let (start, length) = match least {
            0 => (self.worker.start_bytes, self.worker.length_bytes),
            _ => {
                let (start, length) = self.worker.place(self.run, least);
                (start, u64::from(length))
            }
        };
        let name = |sequence| match sequence {
            0 => "the first pass".to_owned(),
            _ => format!("write {sequence}"),
        };
        let content = |what: String, sequence| Content {
            what,
            run: Some(run_text(self.run)),
            worker: Some(self.worker.worker),
            sequence,
            ..Content::default()
        };
        let origin = match least {
            0 => Origin::Fill,
            _ => Origin::Cut,
        };
        Fault {
            class,
            target: self.worker.target,
            offset_bytes,
            length_bytes: u64::from(self.worker.sector_bytes),
            expected: Content {
                operation: Some(origin.name().to_owned()),
                operation_offset_bytes: Some(start),
                operation_length_bytes: Some(length),
                written_unix_ns: self.written_ns(least),
                ..content(
                    format!(
                        "{} or a later one, flushed with {}",
                        name(least),
                        self.worker.durability.name()
                    ),
                    Some(least),
                )
            },
            found: content(found.in_words(self.other_run), found.write()),
            first_difference_bytes: None,
            rereads: Vec::new(),
            meant_for_bytes: None,
            seen_unix_ns: Some(cut_ns),
            seen_by_scan: false,
        }
    }
}
