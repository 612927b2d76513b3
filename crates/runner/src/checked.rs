//! A worker whose data is verified: its writes carry stamps, and what its reads bring is
//! compared with what may be there.
//!
//! Which source a thread has is chosen when it starts, and everything below is generic: a
//! run without verification has the code that it would have without this file. Anybody may
//! write any block at any time, so a read may bring everything from what was sure when it
//! was issued to what had been issued when it came back. What looks wrong ends the run:
//! going on would overwrite the evidence. Whoever asked for the run reads it again and
//! calls it by its name.

use crate::worker::Worker;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use stripewise_io_engine::{Completion, Kind, Next, Operation, Source};
use stripewise_verify::sector_reading::{Suspect, fill_with_poison, is_mixed, poison};
use stripewise_verify::stamp::{Origin, Stamp, read_sector, write_sector};
use stripewise_verify::{Region, VerifyTargets};

/// What the data of a run is compared with, and what that came to.
#[derive(Clone, Debug)]
pub struct Checks {
    field: Arc<VerifyTargets>,
    /// By job and file: the number of the target in the field.
    targets: Vec<Vec<u16>>,
    /// Writes of this run are numbered from here, so that no two of a field have one number.
    sequence_from: u64,
    /// Nanoseconds since 1970 when the run's clock shows 0, about.
    epoch_ns: u64,
    totals: Arc<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    /// The next worker's number in stamps.
    worker: AtomicU16,
    found: AtomicBool,
    verified_bytes: AtomicU64,
    operations: AtomicU64,
}

impl Checks {
    /// For run number `round` of this field, whose targets each have one region and are its
    /// owners' as long as no run goes on. `targets`: by job and file, the target's number.
    #[must_use]
    pub fn new(
        field: Arc<VerifyTargets>,
        targets: Vec<Vec<u16>>,
        round: u16,
        epoch_ns: u64,
    ) -> Checks {
        let owners = u16::try_from(field.grounds.len()).unwrap_or(u16::MAX);
        Checks {
            targets,
            sequence_from: u64::from(round) << 32,
            epoch_ns,
            totals: Arc::new(Totals {
                worker: AtomicU16::new(owners),
                ..Totals::default()
            }),
            field,
        }
    }

    /// Something looked wrong.
    #[must_use]
    pub fn found(&self) -> bool {
        self.totals.found.load(Ordering::Relaxed)
    }

    /// Bytes that were compared.
    #[must_use]
    pub fn verified_bytes(&self) -> u64 {
        self.totals.verified_bytes.load(Ordering::Relaxed)
    }

    /// Reads and writes that completed whole.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.totals.operations.load(Ordering::Relaxed)
    }
}

/// The blocks of an operation.
fn blocks_of(region: &Region, operation: &Operation) -> Range<u64> {
    let first = region.block_at(operation.offset_bytes);
    first..first + u64::from(operation.length_bytes / region.block_bytes)
}

/// What a worker thread works for: the worker, alone or with its data verified.
pub(crate) trait Load: Source + Send + 'static {
    fn worker(&self) -> &Worker;
    fn worker_mut(&mut self) -> &mut Worker;
}

impl Load for Worker {
    #[inline(always)]
    fn worker(&self) -> &Worker {
        self
    }

    #[inline(always)]
    fn worker_mut(&mut self) -> &mut Worker {
        self
    }
}

/// An operation in flight.
#[derive(Clone, Debug)]
struct InFlight {
    operation: Operation,
    /// Of a write: each block's new generation. Of a read: what was sure of each.
    generations: Vec<u32>,
    poison: u64,
}

/// A worker whose data is verified.
pub(crate) struct Checked {
    worker: Worker,
    checks: Checks,
    job: usize,
    number: u16,
    sequence: u64,
    reads: u64,
    now_ns: u64,
    slots: Vec<InFlight>,
    verified_bytes: u64,
    operations: u64,
}

impl Checked {
    pub(crate) fn new(worker: Worker, job: usize, checks: Checks) -> Checked {
        let none = InFlight {
            operation: Operation {
                slot: 0,
                file: 0,
                kind: Kind::Sync,
                offset_bytes: 0,
                length_bytes: 0,
            },
            generations: Vec::new(),
            poison: 0,
        };
        Checked {
            number: checks.totals.worker.fetch_add(1, Ordering::Relaxed),
            slots: vec![none; worker.slots() as usize],
            sequence: checks.sequence_from,
            worker,
            checks,
            job,
            reads: 0,
            now_ns: 0,
            verified_bytes: 0,
            operations: 0,
        }
    }

    /// The number of an operation's target, and its region.
    fn place<'a>(&self, field: &'a VerifyTargets, operation: &Operation) -> (u16, &'a Region) {
        let target = self.checks.targets[self.job][usize::from(operation.file)];
        (target, &field.grounds[usize::from(target)].regions[0])
    }

    fn compare(&mut self, slot: u32, bytes: &[u8]) {
        let field = Arc::clone(&self.checks.field);
        let in_flight = &self.slots[slot as usize];
        let (target, region) = self.place(&field, &in_flight.operation);
        let sector_bytes = field.grounds[usize::from(target)].sector_bytes as usize;
        let first = region.block_at(in_flight.operation.offset_bytes);
        let mut suspects = Vec::new();
        let mut verified = 0;
        for ((block, bytes), sure) in (first..)
            .zip(bytes.chunks(region.block_bytes as usize))
            .zip(&in_flight.generations)
        {
            // Nothing of this run is there for certain.
            if *sure == 0 {
                continue;
            }
            let (_, newest) = region.map.range(block);
            let mut offset_bytes = region.offset_of(block);
            for sector in bytes.chunks_exact(sector_bytes) {
                let right = read_sector(sector).is_some_and(|stamp| {
                    stamp.run == field.run
                        && stamp.target == target
                        && stamp.offset_bytes == offset_bytes
                        && (*sure..=newest).contains(&stamp.generation)
                });
                let place = (field.run, target, offset_bytes);
                if !right && !is_mixed(sector, place, *sure..=newest) {
                    suspects.push(Suspect {
                        offset_bytes,
                        bytes: sector.into(),
                        poison: in_flight.poison,
                        seen_ns: self.checks.epoch_ns.saturating_add(self.now_ns),
                        by_scan: false,
                    });
                }
                verified += sector.len() as u64;
                offset_bytes += sector_bytes as u64;
            }
        }
        self.verified_bytes += verified;
        if !suspects.is_empty() {
            self.checks.totals.found.store(true, Ordering::Relaxed);
            suspects
                .into_iter()
                .for_each(|suspect| field.accuse(target, suspect));
        }
    }
}

impl Load for Checked {
    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }
}

impl Source for Checked {
    const LOOKS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        self.now_ns = now_ns;
        // Nothing more may overwrite what looked wrong; the coordinator ends the run.
        if self.checks.found() {
            return Next::Full;
        }
        let next = self.worker.next(now_ns);
        if let Next::Operation(operation) = next {
            self.slots[operation.slot as usize].operation = operation;
        }
        next
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        let field = Arc::clone(&self.checks.field);
        // As it was asked for: what injects faults may hand a part of it on.
        let operation = self.slots[operation.slot as usize].operation;
        let (target, region) = self.place(&field, &operation);
        let sector_bytes = field.grounds[usize::from(target)].sector_bytes as usize;
        self.sequence += 1;
        let mut stamp = Stamp {
            run: field.run,
            target,
            origin: Origin::Load,
            generation: 0,
            offset_bytes: operation.offset_bytes,
            worker: self.number,
            sequence: self.sequence,
            before: 0,
            sectors: operation.length_bytes / sector_bytes as u32,
            written_ns: self.checks.epoch_ns.saturating_add(self.now_ns),
        };
        let slot = &mut self.slots[operation.slot as usize];
        slot.generations.clear();
        let blocks = blocks_of(region, &operation);
        (slot.generations).extend(blocks.map(|block| region.map.issue(block)));
        let each = buffer.chunks_mut(region.block_bytes as usize);
        for (generation, bytes) in slot.generations.iter().zip(each) {
            stamp.generation = *generation;
            for sector in bytes.chunks_exact_mut(sector_bytes) {
                write_sector(&stamp, sector);
                stamp.offset_bytes += sector_bytes as u64;
                stamp.before += 1;
            }
        }
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        self.now_ns = now_ns;
        self.worker.ready(slot, now_ns);
    }

    fn before_read(&mut self, operation: &Operation, buffer: &mut [u8]) {
        let field = Arc::clone(&self.checks.field);
        let operation = self.slots[operation.slot as usize].operation;
        let (_, region) = self.place(&field, &operation);
        self.reads += 1;
        let word = poison(field.run, self.number, self.reads);
        fill_with_poison(word, buffer);
        let slot = &mut self.slots[operation.slot as usize];
        slot.poison = word;
        slot.generations.clear();
        let blocks = blocks_of(region, &operation);
        (slot.generations).extend(blocks.map(|block| region.map.range(block).0));
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        if self.slots[slot as usize].operation.kind == Kind::Read {
            self.compare(slot, transferred);
        }
    }

    fn complete(&mut self, done: Completion) {
        self.now_ns = done.at_ns;
        let operation = self.slots[done.slot as usize].operation;
        let whole = done.result == operation.length_bytes as i32;
        if operation.kind == Kind::Write {
            let field = Arc::clone(&self.checks.field);
            let (_, region) = self.place(&field, &operation);
            let first = region.block_at(operation.offset_bytes);
            let generations = &self.slots[done.slot as usize].generations;
            for (block, generation) in (first..).zip(generations) {
                region.map.settle(block, *generation, whole);
            }
        }
        self.operations += u64::from(whole && matches!(operation.kind, Kind::Read | Kind::Write));
        self.worker.complete(done);
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        let totals = &self.checks.totals;
        (totals.verified_bytes).fetch_add(self.verified_bytes, Ordering::Relaxed);
        (totals.operations).fetch_add(self.operations, Ordering::Relaxed);
    }
}
