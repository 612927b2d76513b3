//! A worker with data verification: its writes carry stamps, and what its reads return is compared
//! with what the blocks may contain.
//!
//! A thread's source is chosen when it starts, and everything below is generic: a run without
//! verification is compiled as if this file did not exist. Any worker may write any block at any
//! time, so a read may return anything from what was certain when it was issued to what had been
//! issued when it completed. A mismatch ends the run: continuing would overwrite the evidence. The
//! caller reads it again and classifies it.

use crate::worker::Worker;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use stripewise_io_engine::{Completion, Kind, Next, Operation, Source};
use stripewise_verify::sector_reading::{Suspect, fill_with_poison, is_mixed, poison};
use stripewise_verify::stamp::{Origin, Stamp, read_sector, write_sector};
use stripewise_verify::{Region, VerifyTargets};

/// What a run's data is verified against, and the result.
#[derive(Clone, Debug)]
pub struct Checks {
    verify_targets: Arc<VerifyTargets>,
    /// The target's number in the field, by job and file.
    targets: Vec<Vec<u16>>,
    /// First sequence number of this run's writes, so that no two in a field share one.
    sequence_from: u64,
    /// Approximate nanoseconds since 1970 at 0 of the run's clock.
    epoch_ns: u64,
    totals: Arc<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    /// Number of the next worker, for stamps.
    worker: AtomicU16,
    found: AtomicBool,
    verified_bytes: AtomicU64,
    operations: AtomicU64,
}

impl Checks {
    /// For run number `round` of this field, whose targets each have one region and belong to it
    /// while no run is in progress. `targets`: the target's number by job and file.
    pub fn new(
        verify_targets: Arc<VerifyTargets>,
        targets: Vec<Vec<u16>>,
        round: u16,
        epoch_ns: u64,
    ) -> Checks {
        let owners = u16::try_from(verify_targets.layouts.len()).unwrap_or(u16::MAX);
        Checks {
            targets,
            sequence_from: u64::from(round) << 32,
            epoch_ns,
            totals: Arc::new(Totals {
                worker: AtomicU16::new(owners),
                ..Totals::default()
            }),
            verify_targets,
        }
    }

    /// The target number, sector size and region of an operation of a job.
    fn place(&self, job: usize, operation: &Operation) -> (u16, usize, &Region) {
        let target = self.targets[job][usize::from(operation.file)];
        let layout = &self.verify_targets.layouts[usize::from(target)];
        (target, layout.sector_bytes as usize, &layout.regions[0])
    }

    /// Whether a mismatch was found.
    pub fn found(&self) -> bool {
        self.totals.found.load(Ordering::Relaxed)
    }

    /// Bytes verified.
    pub fn verified_bytes(&self) -> u64 {
        self.totals.verified_bytes.load(Ordering::Relaxed)
    }

    /// Reads and writes completed in full.
    pub fn operations(&self) -> u64 {
        self.totals.operations.load(Ordering::Relaxed)
    }
}

/// The blocks of an operation.
fn blocks_of(region: &Region, operation: &Operation) -> Range<u64> {
    let first = region.block_at(operation.offset_bytes);
    first..first + u64::from(operation.length_bytes / region.block_bytes)
}

/// The load of a worker thread: the worker, with or without verification.
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
    /// Of a write: each block's new generation. Of a read: the latest certain generation of each.
    generations: Vec<u32>,
    poison: u64,
}

/// A worker with data verification.
pub(crate) struct VerifyingWorker {
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

impl VerifyingWorker {
    pub(crate) fn new(worker: Worker, job: usize, checks: Checks) -> VerifyingWorker {
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
        VerifyingWorker {
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

    fn compare(&mut self, slot: u32, bytes: &[u8]) {
        let verify_targets = &self.checks.verify_targets;
        let in_flight = &self.slots[slot as usize];
        let (target, sector_bytes, region) = self.checks.place(self.job, &in_flight.operation);
        let first = region.block_at(in_flight.operation.offset_bytes);
        let mut suspects = Vec::new();
        let mut verified = 0;
        for ((block, bytes), sure) in (first..)
            .zip(bytes.chunks(region.block_bytes as usize))
            .zip(&in_flight.generations)
        {
            // Nothing written by this run is certain to be there.
            if *sure == 0 {
                continue;
            }
            let (_, newest) = region.map.range(block);
            let mut offset_bytes = region.offset_of(block);
            for sector in bytes.chunks_exact(sector_bytes) {
                let right = read_sector(sector).is_some_and(|stamp| {
                    stamp.run == verify_targets.run
                        && stamp.target == target
                        && stamp.offset_bytes == offset_bytes
                        && (*sure..=newest).contains(&stamp.generation)
                });
                let place = (verify_targets.run, target, offset_bytes);
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
                .for_each(|suspect| verify_targets.add_suspect(target, suspect));
        }
    }
}

impl Load for VerifyingWorker {
    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }
}

impl Source for VerifyingWorker {
    const LOOKS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        self.now_ns = now_ns;
        // Nothing may overwrite the mismatch; the coordinator ends the run.
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
        // The length requested: fault injection may pass on only a part of it.
        let operation = self.slots[operation.slot as usize].operation;
        let (target, sector_bytes, region) = self.checks.place(self.job, &operation);
        self.sequence += 1;
        let mut stamp = Stamp {
            run: self.checks.verify_targets.run,
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
        let operation = self.slots[operation.slot as usize].operation;
        let (_, _, region) = self.checks.place(self.job, &operation);
        self.reads += 1;
        let word = poison(self.checks.verify_targets.run, self.number, self.reads);
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
            let (_, _, region) = self.checks.place(self.job, &operation);
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

impl Drop for VerifyingWorker {
    fn drop(&mut self) {
        let totals = &self.checks.totals;
        (totals.verified_bytes).fetch_add(self.verified_bytes, Ordering::Relaxed);
        (totals.operations).fetch_add(self.operations, Ordering::Relaxed);
    }
}
