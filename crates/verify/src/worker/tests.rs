//! The end of a file that is cut and grows again, one operation at a time.

use super::*;
use crate::layout::{Plan, WorkerSet};
use stripewise_results::faults::Class;

/// The last sixteenth of it is cut and grows again.
const FILE_BYTES: usize = 1 << 20;
const SECTOR: usize = 512;

/// A file in memory, and the worker on its end.
struct End {
    worker: Worker,
    file: Vec<u8>,
    in_flight: Vec<(Operation, Vec<u8>)>,
    /// Where the file ends.
    length: usize,
    /// How often it was made shorter.
    cuts: u32,
    /// What is written goes bad.
    is_bad: bool,
    /// One in this many writes fails without reaching the file; 0 for none.
    fails_every: usize,
    writes: usize,
}

impl End {
    /// Written once, and about to be worked on.
    fn filled(seed: u64) -> End {
        let plan = Plan {
            grows: true,
            ..Plan::of_pages(1, 4, 60)
        };
        let mut worker_set = WorkerSet::new(seed);
        let layout = worker_set.layout(0, FILE_BYTES as u64, SECTOR as u32, &plan);
        let verify_targets = VerifyTargets::new(
            7,
            vec![layout.expect("room")],
            1_000,
            worker_set.all.len() as u16,
        );
        let mut all = worker_set.all.into_iter();
        let identity = all.find(|identity| matches!(identity.role, Role::Grows { .. }));
        let mut end = End {
            worker: Worker::new(Arc::new(verify_targets), identity.expect("one that grows")),
            file: vec![0; FILE_BYTES],
            in_flight: Vec::new(),
            length: FILE_BYTES,
            cuts: 0,
            is_bad: false,
            fails_every: 0,
            writes: 0,
        };
        end.worker.begin(Phase::Fill);
        end.finish();
        end.worker.begin(Phase::Work);
        end
    }

    /// One step; what is in flight longest completes where nothing else can be done.
    fn step(&mut self) -> Step {
        let step = self.worker.next_step();
        match step {
            Step::Operation(operation) => {
                let mut buffer = vec![0; operation.length_bytes as usize];
                match operation.kind {
                    Kind::Write => self.worker.data(operation.slot, 0, &mut buffer),
                    _ => self.worker.before_read(operation.slot, &mut buffer),
                }
                self.in_flight.push((operation, buffer));
            }
            Step::Resize(bytes) => {
                let bytes = bytes as usize;
                self.file[bytes..].fill(0);
                self.cuts += u32::from(bytes < self.length);
                self.length = bytes;
                self.worker.resized(None);
            }
            Step::Full | Step::Finished if !self.in_flight.is_empty() => self.complete(),
            Step::Full => panic!("it waits for nothing"),
            Step::Finished => {}
        }
        step
    }

    fn complete(&mut self) {
        let (operation, mut buffer) = self.in_flight.remove(0);
        let at = operation.offset_bytes as usize;
        let place = at..at + buffer.len();
        let mut result = buffer.len() as i32;
        if operation.kind == Kind::Write {
            self.writes += 1;
            if self.fails_every > 0 && self.writes.is_multiple_of(self.fails_every) {
                result = -5;
            } else {
                // An append makes it longer.
                self.length = self.length.max(place.end);
                self.file[place.clone()].copy_from_slice(&buffer);
                if self.is_bad {
                    damage(&mut self.file[place]);
                }
            }
        } else {
            // Behind the end there is nothing to read.
            buffer.truncate(self.length.saturating_sub(at));
            result = buffer.len() as i32;
            let read = buffer.len();
            buffer.copy_from_slice(&self.file[at..at + read]);
            self.worker.look(operation.slot, 0, &buffer);
        }
        self.worker.complete(operation.slot, result);
    }

    fn finish(&mut self) {
        while self.step() != Step::Finished || !self.in_flight.is_empty() {}
    }

    /// A cut waits for what is in flight.
    fn awaits_a_cut(&self) -> bool {
        self.worker.blocks_left.cuts_to().is_some() && self.worker.in_flight() > 0
    }

    /// Sectors of the part that grows which hold nothing but zeros.
    fn holes(&self) -> usize {
        let start = self.worker.region().start_bytes as usize;
        let sectors = self.file[start..].chunks(SECTOR);
        sectors
            .filter(|sector| sector.iter().all(|byte| *byte == 0))
            .count()
    }
}

/// Damages each sector.
fn damage(bytes: &mut [u8]) {
    let sectors = bytes.chunks_mut(SECTOR);
    sectors.for_each(|sector| sector[300] ^= 0x55);
}

#[test]
fn a_cut_that_waits_for_a_read_is_given_up_when_that_brings_a_fault() {
    let mut tried = 0;
    for seed in 0..8 {
        let mut end = End::filled(seed);
        let read = loop {
            end.step();
            let mut reads = (end.in_flight.iter()).filter(|(one, _)| one.kind == Kind::Read);
            match reads.next() {
                Some((read, _)) if end.awaits_a_cut() => break *read,
                _ => {}
            }
        };
        let at = read.offset_bytes as usize + 300;
        end.file[at] ^= 0x55;
        let struck = end.file[at];
        let cuts = end.cuts;
        for _ in 0..2_000 {
            end.step();
        }
        let faults = end.worker.take_faults();
        assert_eq!(faults.len(), 1, "seed {seed}");
        assert_eq!(faults[0].class, Class::Damaged);
        assert_eq!(faults[0].offset_bytes as usize, at / SECTOR * SECTOR);
        assert_eq!(end.cuts, cuts, "seed {seed}: it was cut");
        assert_eq!(end.file[at], struck, "what lies there stays");
        end.worker.stop();
        end.finish();
        assert_eq!(end.length, FILE_BYTES, "seed {seed}");
        tried += 1;
    }
    assert_eq!(tried, 8);
}

#[test]
fn where_all_that_is_left_is_wrong_the_file_gets_its_length_and_its_data_back() {
    let mut early = 0;
    for seed in 0..8 {
        let mut end = End::filled(seed);
        let start = end.worker.region().start_bytes as usize;
        let block = end.worker.region().block_bytes as usize;
        // Cut down to a block or two; from now on all goes bad.
        let left = loop {
            let step = end.step();
            let left = end.length - start;
            if matches!(step, Step::Resize(_)) && (block..=2 * block).contains(&left) {
                break left;
            }
        };
        end.is_bad = true;
        damage(&mut end.file[start..start + left]);
        // The driver is done once it has finished by itself.
        let is_over = |end: &mut End| end.step() == Step::Finished && end.in_flight.is_empty();
        if (0..500).any(|_| is_over(&mut end)) {
            early += 1;
        } else {
            end.worker.stop();
            end.finish();
        }
        assert_eq!(end.length, FILE_BYTES, "seed {seed}");
        assert_eq!(end.holes(), 0, "seed {seed}");
        end.worker.begin(Phase::Check);
        end.finish();
        let mut classes = end
            .worker
            .take_faults()
            .into_iter()
            .map(|fault| fault.class);
        assert!(classes.all(|class| class == Class::Damaged), "seed {seed}");
    }
    assert!(early > 0, "there was always something left to do");
}

#[test]
fn what_an_append_that_failed_did_not_add_is_not_read() {
    for seed in 0..8 {
        for fails_every in [2, 3, 5] {
            let mut end = End::filled(seed);
            end.fails_every = fails_every;
            for _ in 0..2_000 {
                end.step();
            }
            end.worker.stop();
            end.finish();
            assert_eq!(end.length, FILE_BYTES, "seed {seed}");
            end.worker.begin(Phase::Check);
            end.finish();
            let mut failed = end.worker.failed().iter();
            assert!(
                failed.all(|failed| failed.kind == Kind::Write),
                "seed {seed}, every {fails_every}: {:?}",
                end.worker.failed()
            );
            assert_eq!(end.worker.take_faults(), Vec::new(), "seed {seed}");
        }
    }
}
