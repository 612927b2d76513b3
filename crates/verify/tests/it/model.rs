//! Disks in memory, and the loop that drives workers over them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use stripewise_units::Kind;
use stripewise_verify::{
    Fault, Ledger, Operation, Phase, Region, Role, SeededRng, Step, TargetLayout, VerifyTargets,
    Worker, WorkerIdentity,
};

pub const SECTOR: usize = 512;
pub const EIO: i32 = 5;
pub const RUN: u64 = 0x5eed;

/// What is wrong with one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing is written.
    Lost,
    /// Written at this distance from the start of the disk, instead of where it belongs.
    WrittenAt(u64),
    /// Written to the other disk.
    WrittenToOther,
    /// Only these sectors of it are written.
    Only(Range<usize>),
    /// Written, then this many bits of one of its sectors flip.
    Flipped { sector: usize, bits: usize },
    /// Written, then a sector's bytes move.
    ShiftedOffsets { sector: usize, by: usize },
    /// Written, then a part of a sector is zeros.
    Zeroed { sector: usize, bytes: Range<usize> },
    /// Zeros are written.
    Dropped,
    /// Foreign bytes are written.
    Foreign,
    /// Fails, and appears after the next successful write of the same place.
    Late,
    /// A read brings what was there before the last write.
    Stale,
    /// A read brings bytes from this place.
    ReadFrom(u64),
    /// A read's bits flip on the way.
    FlippedOnRead { sector: usize },
    /// A read returns this many sectors but reports all.
    ShortRead(usize),
    /// From now on every other read brings what was there before.
    Copies,
}

/// Two disks.
pub struct Disks {
    pub bytes: [Vec<u8>; 2],
    /// What was there before the last write of each byte.
    pub before: [Vec<u8>; 2],
    pub rng: SeededRng,
    late: Vec<(usize, u64, Vec<u8>)>,
    /// Where copies differ, and whose turn it is.
    copies: Option<(usize, Range<u64>, u64)>,
    /// Writes that have reached the disks, in order.
    pub writes: Vec<(usize, Range<u64>)>,
    /// By disk and sector: the turn in which the last write of it was over.
    pub written: [Vec<u64>; 2],
    /// Of the operation that is about to reach the disk: its worker, and the turn in which
    /// it was issued.
    pub now: (usize, u64),
    /// Changes of a file's length.
    pub resized: u64,
    /// What is cut off a file comes back when it grows.
    pub keeps_what_is_cut: bool,
    /// Reads of where copies differ, in order: whose, and whether the old copy came.
    pub of_copies: Vec<(usize, bool)>,
}

impl Disks {
    pub fn new(bytes: usize, seed: u64) -> Disks {
        Disks {
            bytes: [vec![0xee; bytes], vec![0xee; bytes]],
            before: [vec![0; bytes], vec![0; bytes]],
            rng: SeededRng::new(seed),
            late: Vec::new(),
            copies: None,
            writes: Vec::new(),
            written: [vec![0; bytes / SECTOR], vec![0; bytes / SECTOR]],
            now: (0, 0),
            resized: 0,
            keeps_what_is_cut: false,
            of_copies: Vec::new(),
        }
    }

    /// Whether all writes of this place were over when the operation that is about to reach
    /// the disk was issued.
    pub fn is_settled(&self, disk: usize, place: Range<u64>) -> bool {
        let sectors = place.start as usize / SECTOR..place.end as usize / SECTOR;
        (self.written[disk][sectors].iter()).all(|turn| *turn <= self.now.1)
    }

    /// Cuts a file, or lets it grow again. What was cut off is zeros then, or what it was.
    fn resize(&mut self, disk: usize, bytes: usize) {
        self.resized += 1;
        if !self.keeps_what_is_cut {
            let end = self.bytes[disk].len().max(bytes);
            self.bytes[disk][bytes..end].fill(0);
        }
    }

    fn put(&mut self, disk: usize, at: usize, data: &[u8]) {
        let place = at..at + data.len();
        let old = self.bytes[disk][place.clone()].to_vec();
        self.before[disk][place.clone()].copy_from_slice(&old);
        self.bytes[disk][place].copy_from_slice(data);
    }

    pub fn write(&mut self, disk: usize, at_bytes: u64, data: &[u8], wrong: Option<&Wrong>) -> i32 {
        let at = at_bytes as usize;
        let range = at_bytes..at_bytes + data.len() as u64;
        match wrong {
            None => {
                self.put(disk, at, data);
                self.writes.push((disk, range.clone()));
                let overlaps = |late: &(usize, u64, Vec<u8>)| late.0 == disk && late.1 == at_bytes;
                if let Some(found) = self.late.iter().position(overlaps) {
                    let (_, _, late) = self.late.remove(found);
                    if late.len() == data.len() {
                        self.put(disk, at, &late);
                    }
                }
            }
            Some(Wrong::Lost) => {}
            Some(Wrong::WrittenAt(other_place)) => self.put(disk, *other_place as usize, data),
            Some(Wrong::WrittenToOther) => self.put(1 - disk, at, data),
            Some(Wrong::Only(sectors)) => {
                let part = sectors.start * SECTOR..sectors.end * SECTOR;
                self.put(disk, at + part.start, &data[part]);
            }
            Some(Wrong::Dropped) => self.put(disk, at, &vec![0; data.len()]),
            Some(Wrong::Foreign) => {
                let noise: Vec<u8> = (0..data.len()).map(|_| self.rng.word() as u8).collect();
                self.put(disk, at, &noise);
            }
            Some(Wrong::Flipped { sector, bits }) => {
                self.put(disk, at, data);
                for _ in 0..*bits {
                    let bit = self.rng.below(SECTOR as u64 * 8) as usize;
                    self.bytes[disk][at + sector * SECTOR + bit / 8] ^= 1 << (bit % 8);
                }
            }
            Some(Wrong::ShiftedOffsets { sector, by }) => {
                self.put(disk, at, data);
                let start = at + sector * SECTOR;
                self.bytes[disk][start..start + SECTOR].rotate_right(*by);
            }
            Some(Wrong::Zeroed { sector, bytes }) => {
                self.put(disk, at, data);
                let start = at + sector * SECTOR;
                self.bytes[disk][start + bytes.start..start + bytes.end].fill(0);
            }
            Some(Wrong::Late) => {
                self.late.push((disk, at_bytes, data.to_vec()));
                return -EIO;
            }
            Some(Wrong::Copies) => {
                self.put(disk, at, data);
                self.copies = Some((disk, range, 0));
            }
            Some(other) => panic!("{other:?} is no fault of a write"),
        }
        data.len() as i32
    }

    pub fn read(&mut self, disk: usize, at_bytes: u64, buffer: &mut [u8], wrong: Option<&Wrong>) {
        let at = at_bytes as usize;
        let length = buffer.len();
        buffer.copy_from_slice(&match wrong {
            Some(Wrong::Stale) => self.before[disk][at..at + length].to_vec(),
            Some(Wrong::ReadFrom(other_place)) => {
                let from = *other_place as usize;
                self.bytes[disk][from..from + length].to_vec()
            }
            Some(Wrong::ShortRead(sectors)) => {
                let mut partly = buffer.to_vec();
                let came = sectors * SECTOR;
                partly[..came].copy_from_slice(&self.bytes[disk][at..at + came]);
                partly
            }
            Some(Wrong::FlippedOnRead { sector }) => {
                let mut flipped = self.bytes[disk][at..at + length].to_vec();
                flipped[sector * SECTOR + self.rng.below(SECTOR as u64) as usize] ^= 4;
                flipped
            }
            _ => self.bytes[disk][at..at + length].to_vec(),
        });
        let Some((other, range, reads)) = &mut self.copies else {
            return;
        };
        let overlaps = range.start < at_bytes + length as u64 && range.end > at_bytes;
        if *other == disk && overlaps {
            *reads += 1;
            let old = !reads.is_multiple_of(2);
            self.of_copies.push((self.now.0, old));
            if old {
                for byte in range.start.max(at_bytes)..range.end.min(at_bytes + length as u64) {
                    buffer[(byte - at_bytes) as usize] = self.before[disk][byte as usize];
                }
            }
        }
    }
}

/// A field of two disks: pages on both, a log on the first, a scan on each.
pub fn verify_targets(
    blocks: u64,
    block_bytes: u32,
    log_sectors: u64,
) -> (Arc<VerifyTargets>, Vec<Worker>) {
    let data_bytes = blocks * u64::from(block_bytes);
    let layout = |pages: u16, log: u16| {
        let mut regions = vec![Region::new(0, block_bytes, blocks, &[pages])];
        if log_sectors > 0 {
            regions.push(Region::new(data_bytes, SECTOR as u32, log_sectors, &[log]));
        }
        TargetLayout {
            sector_bytes: SECTOR as u32,
            regions,
        }
    };
    let layouts = vec![layout(0, 1), layout(2, 3)];
    let field = Arc::new(VerifyTargets::new(RUN, layouts, 1_000_000, 6));
    let pages = Role::Pages {
        read_percent: 40,
        gathers: false,
    };
    let identity = |id, target, region, role| WorkerIdentity {
        id,
        target,
        region,
        role,
        slots: 4,
        slot_bytes: 4 * block_bytes,
        seed: 7,
    };
    let mut worker_set = vec![identity(0, 0, 0, pages), identity(2, 1, 0, pages)];
    if log_sectors > 0 {
        worker_set.extend([identity(1, 0, 1, Role::Log), identity(3, 1, 1, Role::Log)]);
    }
    worker_set.extend([identity(4, 0, 0, Role::Scan), identity(5, 1, 0, Role::Scan)]);
    let worker = |identity| Worker::new(Arc::clone(&field), identity);
    let workers = worker_set.into_iter().map(worker).collect();
    (field, workers)
}

struct InFlight {
    worker: usize,
    operation: Operation,
    buffer: Vec<u8>,
    /// Operations that were over when it was issued.
    issued: u64,
}

/// Drives workers over disks, completing operations in any order.
pub struct Driver {
    pub workers: Vec<Worker>,
    pub disks: Disks,
    in_flight: VecDeque<InFlight>,
    /// Operations that are over.
    turn: u64,
    /// The model's time.
    pub now_ns: u64,
    /// Between two completions: at least this, and at most three times as much.
    pub service_ns: u64,
    /// Out of a thousand operations, this many fail, or are short, and report it.
    pub fail_per_thousand: u64,
    /// Reads that meet a write bring a part of it, down to words, as a page cache does.
    pub mixes: bool,
    /// Sectors that were brought so.
    pub mixed: u64,
}

/// Decides what goes wrong with an operation that is about to reach the disk: the
/// operation, and the disk.
pub type Strike<'a> = &'a mut dyn FnMut(&Operation, usize, &mut Disks) -> Option<Wrong>;

impl Driver {
    pub fn new(workers: Vec<Worker>, disks: Disks) -> Driver {
        Driver {
            workers,
            disks,
            in_flight: VecDeque::new(),
            turn: 0,
            now_ns: 0,
            service_ns: 1_000,
            fail_per_thousand: 0,
            mixes: false,
            mixed: 0,
        }
    }

    /// Runs a phase for at most this many operations, then to its end.
    pub fn phase(&mut self, phase: Phase, operations: u64, strike: Strike<'_>) {
        for worker in &mut self.workers {
            worker.begin(phase);
        }
        let mut issued = 0;
        loop {
            if issued >= operations {
                self.workers.iter_mut().for_each(Worker::stop);
            }
            let mut finished = 0;
            for index in 0..self.workers.len() {
                // A few at a time, so that workers and completions mix.
                for _ in 0..=self.disks.rng.below(3) {
                    match self.workers[index].next_step() {
                        Step::Operation(operation) => {
                            self.issue(index, operation);
                            issued += 1;
                        }
                        Step::Resize(bytes) => {
                            let worker = &mut self.workers[index];
                            let disk = usize::from(worker.identity().target);
                            self.disks.resize(disk, bytes as usize);
                            worker.resized(None);
                        }
                        Step::Full => break,
                        Step::Finished => {
                            finished += 1;
                            break;
                        }
                    }
                }
            }
            if self.in_flight.is_empty() && finished == self.workers.len() {
                return;
            }
            self.complete_some(strike);
        }
    }

    fn issue(&mut self, index: usize, operation: Operation) {
        let mut buffer = vec![0; operation.length_bytes as usize];
        let worker = &mut self.workers[index];
        match operation.kind {
            Kind::Write => worker.data(operation.slot, self.now_ns, &mut buffer),
            _ => worker.before_read(operation.slot, &mut buffer),
        }
        self.in_flight.push_back(InFlight {
            worker: index,
            operation,
            buffer,
            issued: self.turn,
        });
    }

    fn complete_some(&mut self, strike: Strike<'_>) {
        for _ in 0..=self.disks.rng.below(4) {
            if self.in_flight.is_empty() {
                return;
            }
            let at = self.disks.rng.below(self.in_flight.len() as u64) as usize;
            let Some(InFlight {
                worker,
                operation,
                mut buffer,
                issued,
            }) = self.in_flight.remove(at)
            else {
                return;
            };
            self.now_ns += self.service_ns + self.disks.rng.below(2 * self.service_ns);
            let disk = usize::from(self.workers[worker].identity().target);
            self.turn += 1;
            self.disks.now = (worker, issued);
            let wrong = strike(&operation, disk, &mut self.disks);
            let place = operation.offset_bytes;
            let result = if self.disks.rng.below(1000) < self.fail_per_thousand {
                self.fail(&operation, disk, &buffer)
            } else if operation.kind == Kind::Write {
                self.disks.write(disk, place, &buffer, wrong.as_ref())
            } else {
                self.disks.read(disk, place, &mut buffer, wrong.as_ref());
                if self.mixes {
                    self.mix(disk, place, &mut buffer);
                }
                buffer.len() as i32
            };
            if result > 0 {
                self.workers[worker].look(operation.slot, self.now_ns, &buffer[..result as usize]);
            }
            self.workers[worker].complete(operation.slot, result);
            if operation.kind == Kind::Write {
                let sectors = place as usize / SECTOR..(place as usize + buffer.len()) / SECTOR;
                self.disks.written[disk][sectors].fill(self.turn);
            }
        }
    }

    /// Of writes in flight over the place of a read, a part has been copied already.
    fn mix(&mut self, disk: usize, place: u64, buffer: &mut [u8]) {
        for write in &self.in_flight {
            let operation = &write.operation;
            let of_here = usize::from(self.workers[write.worker].identity().target) == disk;
            if operation.kind != Kind::Write || !of_here {
                continue;
            }
            let end = operation.offset_bytes + u64::from(operation.length_bytes);
            let from = place.max(operation.offset_bytes);
            let to = end.min(place + buffer.len() as u64);
            if from >= to {
                continue;
            }
            let words = self.disks.rng.below((to - from) / 8 + 1);
            let (at, source) = (from - place, from - operation.offset_bytes);
            for byte in 0..(words * 8) as usize {
                buffer[at as usize + byte] = write.buffer[source as usize + byte];
            }
            self.mixed += u64::from(!(words * 8).is_multiple_of(SECTOR as u64));
        }
    }

    /// An operation fails, and says so: nothing of it is done, or all, or a part.
    fn fail(&mut self, operation: &Operation, disk: usize, buffer: &[u8]) -> i32 {
        let sectors = self
            .disks
            .rng
            .below(buffer.len() as u64 / SECTOR as u64 + 1) as usize;
        let part = &buffer[..sectors * SECTOR];
        if operation.kind == Kind::Write {
            self.disks.write(disk, operation.offset_bytes, part, None);
        }
        match self.disks.rng.below(2) {
            0 if operation.kind == Kind::Write && part.len() < buffer.len() => part.len() as i32,
            _ => -EIO,
        }
    }

    /// All faults, settled.
    pub fn faults(&mut self) -> Vec<Fault> {
        let mut ledger = Ledger::default();
        for worker in &mut self.workers {
            ledger.take(worker.take_faults());
        }
        ledger.settled()
    }
}
