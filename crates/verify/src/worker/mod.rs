//! One worker of a burn-in: its next operation, its data, and its conclusions from reads. A state
//! machine without clock, thread or file.
//!
//! A worker owns a part of a region: only it writes there, with one write in flight per block, so
//! it knows for certain what a read must return. Scans own nothing. They read concurrently with
//! writes, and accept everything from what was certain when the read was issued to what may have
//! been in flight when it completed; suspect data is passed to its owner.
//!
//! Suspect data is not judged at once. The worker lets its operations in flight complete and issues
//! only the reads of the analysis (see `reread`) until there is a verdict.

use crate::fault_reread::FaultReread;
use crate::map::Expected;
use crate::sector_reading::{Suspect, fill_with_poison, is_mixed, poison};
use crate::stamp::{Origin, Stamp, read_sector, write_sector};
use crate::stream::mix;
use crate::verify_targets::{Region, VerifyTargets};
use crate::work::{DraftOperation, SeededRng, WorkerBlocks};
use crate::worker_identity::{Counts, Failed, Operation, Phase, Role, Step, WorkerIdentity};
use std::ops::Range;
use std::sync::Arc;
use stripewise_results::faults::Fault;
use stripewise_units::Kind;

#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub busy: bool,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    kind: Option<Kind>,
    origin: Option<Origin>,
    /// Of a write: each block's new generation. Of a scan: the certain generation of each.
    generations: Vec<u32>,
    pub poison: u64,
    sequence: u64,
}

impl Slot {
    fn span(&self) -> Range<u64> {
        self.offset_bytes..self.offset_bytes + u64::from(self.length_bytes)
    }
}

/// Most failed operations remembered, one per location; more are counted.
const FAILED_MAX: usize = 100;

/// Not simple: more about the block is in the side table.
const UNSURE: u32 = u32::MAX;

/// One worker.
#[derive(Debug)]
pub struct Worker {
    pub(crate) verify_targets: Arc<VerifyTargets>,
    pub(crate) identity: WorkerIdentity,
    pub(crate) slots: Vec<Slot>,
    free: Vec<u32>,
    phase: Phase,
    stopped: bool,
    blocks_left: WorkerBlocks,
    rng: SeededRng,
    held: Option<DraftOperation>,
    sequence: u64,
    reads: u64,
    suspects: Vec<Suspect>,
    reread: Option<FaultReread>,
    faults: Vec<Fault>,
    failed: Vec<Failed>,
    counts: Counts,
}

impl Worker {
    /// A worker that has done nothing yet.
    pub fn new(verify_targets: Arc<VerifyTargets>, identity: WorkerIdentity) -> Self {
        let region = &verify_targets.layouts[usize::from(identity.target)].regions[identity.region];
        let blocks_left = WorkerBlocks::new(identity.role, region.part_of(identity.id));
        Worker {
            slots: (0..identity.slots).map(|_| Slot::default()).collect(),
            free: (0..identity.slots).rev().collect(),
            phase: Phase::Fill,
            stopped: false,
            blocks_left,
            rng: SeededRng::new(mix(identity.seed) ^ u64::from(identity.id)),
            held: None,
            sequence: 0,
            reads: 0,
            suspects: Vec::new(),
            reread: None,
            faults: Vec::new(),
            failed: Vec::new(),
            counts: Counts::default(),
            verify_targets,
            identity,
        }
    }

    /// Its identity.
    pub fn identity(&self) -> &WorkerIdentity {
        &self.identity
    }

    /// Starts a phase; nothing is in flight.
    pub fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.stopped = false;
        self.held = None;
        self.blocks_left.begin(phase);
    }

    /// An earlier attempt of the same run had reached this block in this phase: all of its own
    /// blocks before it were written, and are not written (or read) again.
    pub fn go_on_from(&mut self, phase: Phase, block: u64) {
        let part = self.region().part_of(self.identity.id);
        let written = match phase {
            Phase::Fill => block.min(part.end),
            Phase::Work | Phase::Check => part.end,
        };
        for block in part.start..written {
            self.region().map.succeeded(block, 1);
        }
        self.blocks_left.skip_to(phase, block);
    }

    /// Current block of a pass; exact once nothing is in flight.
    pub fn reached(&self) -> u64 {
        self.blocks_left.reached()
    }

    /// Starts nothing new; an analysis still reaches its verdict.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Its counters.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The first failed operations, one per location.
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }

    /// The number of its newest write.
    pub fn newest(&self) -> u64 {
        self.sequence
    }

    /// The faults found since the last call.
    #[must_use]
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    pub(crate) fn region(&self) -> &Region {
        &self.verify_targets.layouts[usize::from(self.identity.target)].regions
            [self.identity.region]
    }

    pub(crate) fn sector_bytes(&self) -> u32 {
        self.verify_targets.layouts[usize::from(self.identity.target)].sector_bytes
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The next step.
    pub fn next_step(&mut self) -> Step {
        if self.reread.is_none() && self.identity.role != Role::Scan {
            if self.verify_targets.is_accused(self.identity.id) {
                self.suspects
                    .extend(self.verify_targets.suspects(self.identity.id));
            }
            if !self.suspects.is_empty() {
                if self.in_flight() > 0 {
                    return Step::Full;
                }
                let suspects = std::mem::take(&mut self.suspects);
                // It may be meant for blocks that are retired after the verdict.
                self.held = None;
                self.reread = FaultReread::begin(
                    &self.verify_targets,
                    &self.identity,
                    self.blocks_left.there(),
                    suspects,
                );
            }
        }
        if let Some(reread) = &self.reread {
            if self.in_flight() > 0 {
                return Step::Full;
            }
            let (offset_bytes, length_bytes) = reread.next();
            let draft = DraftOperation::read(offset_bytes, length_bytes);
            return self.issue(draft);
        }
        let grows = self.phase == Phase::Work && matches!(self.identity.role, Role::Grows { .. });
        if grows && let Some(step) = self.resize() {
            return step;
        }
        if self.stopped && !grows {
            return Step::Finished;
        }
        if self.free.is_empty() {
            return Step::Full;
        }
        let Some(draft) = self.held.take().or_else(|| self.draft()) else {
            if grows && !self.stopped {
                // None of the rest may be used: the file gets its length back, as at the end of the
                // work.
                self.stopped = true;
                return self.next_step();
            }
            return Step::Finished;
        };
        // One write in flight per block, and no read of a block being written.
        if self.identity.role != Role::Scan && self.conflicts(&draft) {
            self.held = Some(draft);
            return Step::Full;
        }
        self.issue(draft)
    }

    /// The file's next length, once nothing is in flight where it changes.
    fn resize(&mut self) -> Option<Step> {
        let end = self.blocks_left.resize(self.stopped, &mut self.rng)?;
        self.held = None;
        if self.in_flight() > 0 {
            return Some(Step::Full);
        }
        let Role::Grows { full_bytes } = self.identity.role else {
            return None;
        };
        let region = self.region();
        Some(Step::Resize(match end == region.map.blocks() {
            true => full_bytes,
            false => region.offset_of(end),
        }))
    }

    /// The file has the requested length, or could not be given it, for the reason of this error
    /// number.
    pub fn resized(&mut self, failed: Option<i32>) {
        let region = &self.verify_targets.layouts[usize::from(self.identity.target)].regions
            [self.identity.region];
        self.blocks_left
            .resized(&region.map, failed.is_none(), &mut self.rng);
        if let Some(number) = failed {
            let of_all = Failed {
                kind: Kind::Sync,
                offset_bytes: region.start_bytes,
                length_bytes: 0,
                number,
            };
            self.fails(of_all);
        }
    }

    fn fails(&mut self, failed: Failed) {
        self.counts.errors += 1;
        let place = |one: &Failed| (one.kind, one.offset_bytes);
        let is_known = (self.failed.iter()).any(|one| place(one) == place(&failed));
        if !is_known && self.failed.len() < FAILED_MAX {
            self.failed.push(failed);
        }
    }

    fn draft(&mut self) -> Option<DraftOperation> {
        let layout = &self.verify_targets.layouts[usize::from(self.identity.target)];
        if self.stopped {
            return self.blocks_left.rewrite(layout, &self.identity);
        }
        self.blocks_left
            .next(layout, &self.identity, self.phase, &mut self.rng)
    }

    fn conflicts(&self, draft: &DraftOperation) -> bool {
        let end = draft.offset_bytes + u64::from(draft.length_bytes);
        self.slots.iter().any(|slot| {
            slot.busy
                && (draft.origin.is_some() || slot.origin.is_some())
                && slot.offset_bytes < end
                && slot.span().end > draft.offset_bytes
        })
    }

    fn issue(&mut self, draft: DraftOperation) -> Step {
        let Some(number) = self.free.pop() else {
            return Step::Full;
        };
        let mut generations = std::mem::take(&mut self.slots[number as usize].generations);
        generations.clear();
        if draft.origin.is_some() {
            self.sequence += 1;
            let (region, blocks) = self.blocks(draft.offset_bytes, draft.length_bytes);
            generations.extend(blocks.map(|block| region.map.next_generation(block)));
        } else if self.identity.role == Role::Scan {
            let layout = &self.verify_targets.layouts[usize::from(self.identity.target)];
            if let Some(region) = layout.region_at(draft.offset_bytes) {
                let end = draft.offset_bytes + u64::from(draft.length_bytes);
                let blocks = region.block_at(draft.offset_bytes)..=region.block_at(end - 1);
                generations
                    .extend(blocks.map(|block| region.map.sure(block).map_or(UNSURE, u32::from)));
            }
        }
        let kind = if draft.origin.is_some() {
            Kind::Write
        } else {
            Kind::Read
        };
        self.slots[number as usize] = Slot {
            busy: true,
            offset_bytes: draft.offset_bytes,
            length_bytes: draft.length_bytes,
            kind: Some(kind),
            origin: draft.origin,
            generations,
            poison: 0,
            sequence: self.sequence,
        };
        Step::Operation(Operation {
            slot: number,
            durable: draft.durable,
            kind,
            offset_bytes: draft.offset_bytes,
            length_bytes: draft.length_bytes,
        })
    }

    /// The blocks of an operation in this worker's own region.
    fn blocks(&self, offset_bytes: u64, length_bytes: u32) -> (&Region, Range<u64>) {
        let region = self.region();
        let first = region.block_at(offset_bytes);
        let count = u64::from(length_bytes) / u64::from(region.block_bytes);
        (region, first..first + count)
    }

    /// Makes the data of a write, at `now_ns` of the workers' clock.
    pub fn data(&mut self, slot: u32, now_ns: u64, buffer: &mut [u8]) {
        let slot = &self.slots[slot as usize];
        let Some(origin) = slot.origin else { return };
        let sector_bytes = self.sector_bytes() as usize;
        let per_block = self.region().block_bytes as usize / sector_bytes;
        let mut stamp = Stamp {
            run: self.verify_targets.run,
            target: self.identity.target,
            origin,
            generation: 0,
            offset_bytes: slot.offset_bytes,
            worker: self.identity.id,
            sequence: slot.sequence,
            before: 0,
            sectors: slot.length_bytes / sector_bytes as u32,
            written_ns: self.verify_targets.epoch_ns.saturating_add(now_ns),
        };
        for (number, sector) in buffer.chunks_exact_mut(sector_bytes).enumerate() {
            stamp.generation = slot.generations[number / per_block];
            write_sector(&stamp, sector);
            stamp.offset_bytes += sector_bytes as u64;
            stamp.before += 1;
        }
    }

    /// Fills the buffer of a read with data that is on no disk.
    pub fn before_read(&mut self, slot: u32, buffer: &mut [u8]) {
        self.reads += 1;
        let word = match &self.reread {
            Some(reread) => reread.poison(),
            None => poison(self.verify_targets.run, self.identity.id, self.reads),
        };
        self.slots[slot as usize].poison = word;
        fill_with_poison(word, buffer);
    }

    /// Examines the data of a read; written data is ignored.
    pub fn look(&mut self, slot: u32, now_ns: u64, bytes: &[u8]) {
        let slot = slot as usize;
        if self.slots[slot].kind != Some(Kind::Read) {
            return;
        }
        if let Some(reread) = &mut self.reread {
            reread.take(self.slots[slot].offset_bytes, bytes);
            return;
        }
        self.counts.verified_bytes += match self.identity.role {
            Role::Scan => self.check_others(slot, now_ns, bytes),
            _ => self.check_own(slot, now_ns, bytes),
        };
    }

    fn suspect(&self, slot: usize, offset_bytes: u64, now_ns: u64, sector: &[u8]) -> Suspect {
        Suspect {
            offset_bytes,
            bytes: sector.into(),
            poison: self.slots[slot].poison,
            seen_ns: self.verify_targets.epoch_ns.saturating_add(now_ns),
            by_scan: self.identity.role == Role::Scan,
        }
    }

    fn check_own(&mut self, slot: usize, now_ns: u64, bytes: &[u8]) -> u64 {
        let start = self.slots[slot].offset_bytes;
        let sector_bytes = self.sector_bytes() as usize;
        let (run, target) = (self.verify_targets.run, self.identity.target);
        let (region, blocks) = self.blocks(start, bytes.len() as u32);
        let mut verified = 0;
        let mut suspects = Vec::new();
        for (block, bytes) in blocks.zip(bytes.chunks(region.block_bytes as usize)) {
            let expected = region.map.expected(block);
            if expected.is_unknown() {
                continue;
            }
            verified += bytes.len() as u64;
            let mut offset_bytes = region.offset_of(block);
            let zeros = matches!(expected, Expected::Zeros(_));
            for sector in bytes.chunks_exact(sector_bytes) {
                let right = match zeros {
                    true => sector.iter().all(|byte| *byte == 0),
                    false => read_sector(sector).is_some_and(|stamp| {
                        stamp.run == run
                            && stamp.target == target
                            && stamp.offset_bytes == offset_bytes
                            && expected.accepts(stamp.generation)
                    }),
                };
                if !right {
                    suspects.push(self.suspect(slot, offset_bytes, now_ns, sector));
                }
                offset_bytes += sector_bytes as u64;
            }
        }
        self.suspects.append(&mut suspects);
        verified
    }

    fn check_others(&self, slot: usize, now_ns: u64, bytes: &[u8]) -> u64 {
        let start = self.slots[slot].offset_bytes;
        let layout = &self.verify_targets.layouts[usize::from(self.identity.target)];
        let sector_bytes = layout.sector_bytes as usize;
        let Some(region) = layout.region_at(start) else {
            return 0;
        };
        let mut verified = 0;
        let first = region.block_at(start);
        for (number, bytes) in bytes.chunks(region.block_bytes as usize).enumerate() {
            let block = first + number as u64;
            let before = self.slots[slot].generations[number];
            let after = region.map.sure(block).map_or(UNSURE, u32::from);
            if before == UNSURE || after == UNSURE || before == 0 {
                continue;
            }
            verified += bytes.len() as u64;
            let mut offset_bytes = region.offset_of(block);
            for sector in bytes.chunks_exact(sector_bytes) {
                let right = read_sector(sector).is_some_and(|stamp| {
                    stamp.run == self.verify_targets.run
                        && stamp.target == self.identity.target
                        && stamp.offset_bytes == offset_bytes
                        && (before..=after + 1).contains(&stamp.generation)
                });
                let place = (self.verify_targets.run, self.identity.target, offset_bytes);
                if !right && !is_mixed(sector, place, before..=after + 1) {
                    let suspect = self.suspect(slot, offset_bytes, now_ns, sector);
                    self.verify_targets
                        .add_suspect(self.identity.target, suspect);
                }
                offset_bytes += sector_bytes as u64;
            }
        }
        verified
    }

    /// An operation has ended, with this many bytes or a negated error number. One that never came
    /// back also ends with an error.
    pub fn complete(&mut self, slot: u32, result: i32) {
        let whole = result == self.slots[slot as usize].length_bytes as i32;
        self.count(slot, result, whole);
        let slot_number = slot;
        let slot = &mut self.slots[slot as usize];
        slot.busy = false;
        let (offset_bytes, length_bytes) = (slot.offset_bytes, slot.length_bytes);
        let write = slot.origin.take().is_some();
        let generations = std::mem::take(&mut slot.generations);
        self.free.push(slot_number);
        if write {
            let (region, blocks) = self.blocks(offset_bytes, length_bytes);
            for (block, generation) in blocks.zip(&generations) {
                match whole {
                    true => region.map.succeeded(block, *generation),
                    false => region.map.unclear(block, *generation),
                }
            }
            if !whole && matches!(self.identity.role, Role::Grows { .. }) {
                self.blocks_left.write_failed();
                // A read waiting for an append.
                self.held.take_if(|held| held.origin.is_none());
            }
        } else if let Some(mut reread) = self.reread.take() {
            if !whole {
                reread.failed(offset_bytes, length_bytes);
            }
            self.reread = self.go_on_with(reread);
        }
        self.slots[slot_number as usize].generations = generations;
    }

    fn count(&mut self, slot: u32, result: i32, whole: bool) {
        let of = &self.slots[slot as usize];
        match whole {
            true => self.counts.operations += 1,
            false => self.fails(Failed {
                kind: of.kind.unwrap_or(Kind::Read),
                offset_bytes: of.offset_bytes,
                length_bytes: of.length_bytes,
                number: result.min(0).saturating_neg(),
            }),
        }
    }

    /// After a reread: the next one, or the verdict.
    fn go_on_with(&mut self, mut reread: FaultReread) -> Option<FaultReread> {
        if !reread.advance(&self.verify_targets, &self.identity) {
            return Some(reread);
        }
        let (faults, left) = reread.verdict(&self.verify_targets, &self.identity);
        if faults.iter().any(|fault| fault.class.lasts()) {
            self.blocks_left.keep();
        }
        self.verify_targets.found(faults.len());
        self.faults.extend(faults);
        // Suspects too far away are judged next.
        self.suspects.extend(left);
        None
    }
}

#[cfg(test)]
mod tests;
