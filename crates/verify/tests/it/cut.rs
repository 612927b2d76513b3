//! Power cuts of a model disk with a volatile cache: whatever an honest disk may leave
//! raises no alarm, and what a lying one loses is found.
//!
//! Some thousands of crash states here; a million in the ignored test, which
//! `cargo xtask nightly` runs.

use stripewise_verify::cut::{CutWorker, Durability, Prefix};
use stripewise_verify::power_cut_check::{Circumstances, PostCutState};
use stripewise_verify::witness::{Covered, Record, WitnessEvent};
use stripewise_verify::{Class, SeededRng};

const RUN: u64 = 0xc0_ffee;
const SECTOR: usize = 512;
const SECTORS: usize = 48;
const OUTSTANDING: usize = 8;
const CIRCUMSTANCES: Circumstances = Circumstances {
    outstanding: OUTSTANDING as u64,
    row_bytes: 4096,
    buffered: false,
    cut_ns: 0,
};

fn worker() -> CutWorker {
    CutWorker {
        worker: 3,
        target: 0,
        durability: Durability::Flush,
        start_bytes: 0,
        length_bytes: (SECTORS * SECTOR) as u64,
        sector_bytes: SECTOR as u32,
        write_bytes_max: 4096,
    }
}

/// What a disk does with a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    Honest,
    /// Reports it as done, and does nothing.
    SectorState,
}

/// A disk with a cache, and the witness's input.
struct Model {
    worker: CutWorker,
    rng: SeededRng,
    flush: Flush,
    /// By sector: the write that is on the medium for certain.
    durable: Vec<u64>,
    /// By sector: all later writes that were sent to it, done or not.
    cached: Vec<Vec<u64>>,
    issued: u64,
    in_flight: Vec<u64>,
    done: Vec<u64>,
    prefix: Prefix,
    covered: Covered,
}

impl Model {
    fn new(seed: u64, flush: Flush) -> Model {
        Model {
            worker: worker(),
            rng: SeededRng::new(seed),
            flush,
            durable: vec![0; SECTORS],
            cached: vec![Vec::new(); SECTORS],
            issued: 0,
            in_flight: Vec::new(),
            done: Vec::new(),
            prefix: Prefix::default(),
            covered: Covered::default(),
        }
    }

    fn sectors(&self, sequence: u64) -> std::ops::Range<usize> {
        let (offset_bytes, length_bytes) = self.worker.place(RUN, sequence);
        let first = offset_bytes as usize / SECTOR;
        first..first + length_bytes as usize / SECTOR
    }

    /// One write is in flight a sector: a disk may do two of them in any order.
    fn conflicts(&self, sequence: u64) -> bool {
        let sectors = self.sectors(sequence);
        let mut others = self.in_flight.iter().map(|other| self.sectors(*other));
        others.any(|other| other.start < sectors.end && sectors.start < other.end)
    }

    fn step(&mut self) {
        match self.rng.below(5) {
            0 | 1 if self.in_flight.len() < OUTSTANDING && !self.conflicts(self.issued + 1) => {
                self.issued += 1;
                self.in_flight.push(self.issued);
                for sector in self.sectors(self.issued) {
                    self.cached[sector].push(self.issued);
                }
            }
            2 | 3 if !self.in_flight.is_empty() => {
                let at = self.rng.below(self.in_flight.len() as u64) as usize;
                let sequence = self.in_flight.swap_remove(at);
                self.done.push(sequence);
                self.prefix.completed(sequence);
            }
            4 if self.rng.below(4) == 0 => self.flush(),
            _ => {}
        }
    }

    /// A flush that completes: it covers what had completed when it was issued, which is
    /// now.
    fn flush(&mut self) {
        let promised = self.prefix.contiguous_to();
        if self.flush == Flush::Honest {
            for sequence in std::mem::take(&mut self.done) {
                for sector in self.sectors(sequence) {
                    self.durable[sector] = self.durable[sector].max(sequence);
                }
            }
        }
        let record = Record {
            run: RUN as u16,
            target: self.worker.target,
            worker: self.worker.worker,
            news: WitnessEvent::Durable(self.worker.durability),
            sequence: promised,
        };
        self.covered.take(RUN, &record.bytes());
    }

    /// The power goes: of what is not durable any sector may be there, in any version.
    fn crash(&mut self) -> Vec<u64> {
        (0..SECTORS)
            .map(|sector| {
                let durable = self.durable[sector];
                let mut may = vec![durable];
                may.extend(self.cached[sector].iter().filter(|later| **later > durable));
                may[self.rng.below(may.len() as u64) as usize]
            })
            .collect()
    }

    fn image(&self, left: &[u64]) -> Vec<u8> {
        // The first pass is under all of it.
        let mut bytes = vec![0; SECTORS * SECTOR];
        self.worker.data(RUN, 0, 0, 500, &mut bytes);
        for (sector, sequence) in left.iter().enumerate().filter(|(_, one)| **one > 0) {
            let (offset_bytes, length_bytes) = self.worker.place(RUN, *sequence);
            let mut data = vec![0; length_bytes as usize];
            let written_ns = 1_000 + sequence;
            (self.worker).data(RUN, *sequence, offset_bytes, written_ns, &mut data);
            let from = (sector - self.sectors(*sequence).start) * SECTOR;
            let to = sector * SECTOR;
            bytes[to..to + SECTOR].copy_from_slice(&data[from..from + SECTOR]);
        }
        bytes
    }
}

/// Crashes this many disks and judges what is left.
fn crashes(count: u64, flush: Flush) {
    let mut lost = 0;
    for seed in 0..count {
        let mut model = Model::new(seed, flush);
        for _ in 0..40 + seed % 160 {
            model.step();
        }
        let covered = model.covered.sequence(0, 3);
        let left = model.crash();
        let mut state = PostCutState::new(RUN, worker(), covered);
        state.take(0, &model.image(&left));
        let covered = covered.unwrap_or(0);
        let (survival, faults) = state.judge(&CIRCUMSTANCES);
        // By the model's own account: what was promised and is older than promised.
        let mut promised = vec![0; SECTORS];
        for sequence in 1..=covered {
            for sector in model.sectors(sequence) {
                promised[sector] = sequence;
            }
        }
        let really_lost = (0..SECTORS).filter(|at| left[*at] < promised[*at]).count() as u64;
        let found: u64 = (faults.iter())
            .filter(|fault| fault.class == Class::FlushedWriteLost)
            .map(|fault| fault.length_bytes / SECTOR as u64)
            .sum();
        let beside: u64 = (faults.iter())
            .filter(|fault| fault.class == Class::Neighbour)
            .map(|fault| fault.length_bytes / SECTOR as u64)
            .sum();
        assert_eq!(found + beside, really_lost, "seed {seed}: {faults:#?}");
        if flush == Flush::Honest {
            assert_eq!((found, beside), (0, 0), "seed {seed}");
            assert_eq!(survival.lost_writes, 0);
        }
        assert_eq!(survival.covered_writes, covered);
        lost += u64::from(found > 0);
    }
    if flush == Flush::SectorState {
        assert!(lost > count / 2, "{lost} of {count} lies were seen");
    }
}

#[test]
fn no_crash_of_an_honest_disk_raises_an_alarm() {
    crashes(3_000, Flush::Honest);
}

#[test]
fn what_a_lying_flush_loses_is_found() {
    crashes(1_000, Flush::SectorState);
}

#[test]
#[ignore = "a million crash states: `cargo xtask nightly`"]
fn a_million_crashes_of_an_honest_disk_raise_no_alarm() {
    crashes(1_000_000, Flush::Honest);
}

/// Writes that were flushed in the tests below.
const COVERED: u64 = 20;

/// A disk with all writes up to that one.
fn whole_disk() -> (Model, Vec<u8>) {
    let model = Model::new(1, Flush::Honest);
    let newest: Vec<u64> = (0..SECTORS)
        .map(|sector| {
            let all = (1..=COVERED).filter(|one| model.sectors(*one).contains(&sector));
            all.max().unwrap_or(0)
        })
        .collect();
    let bytes = model.image(&newest);
    (model, bytes)
}

/// Writes lost, and each fault's class and what was found.
fn judged(bytes: &[u8], known: &Circumstances) -> (u64, Vec<(Class, String)>) {
    let mut state = PostCutState::new(RUN, worker(), Some(COVERED));
    state.take(0, bytes);
    let (survival, faults) = state.judge(known);
    let faults = faults.into_iter();
    let named = faults.map(|fault| (fault.class, fault.found.what));
    (survival.lost_writes, named.collect())
}

/// What lies in the place of a flushed write decides how its loss is called.
#[test]
fn damage_is_called_by_what_was_in_flight_around_it() {
    let (model, whole) = whole_disk();
    assert_eq!(judged(&whole, &CIRCUMSTANCES), (0, Vec::new()));
    let uncovered = COVERED + 1..=COVERED + OUTSTANDING as u64;
    let touched: Vec<bool> = (0..SECTORS)
        .map(|at| (uncovered.clone()).any(|one| model.sectors(one).contains(&at)))
        .collect();
    assert!(touched.contains(&true) && touched.contains(&false));
    for sector in 0..SECTORS {
        let row = &touched[sector / 8 * 8..sector / 8 * 8 + 8];
        let expected = match (touched[sector], row.contains(&true)) {
            (true, _) => Class::Torn,
            (false, true) => Class::Neighbour,
            (false, false) => Class::FlushedWriteLost,
        };
        let mut broken = whole.clone();
        broken[sector * SECTOR + 100] ^= 1;
        let faults = judged(&broken, &CIRCUMSTANCES).1;
        let named = [(expected, "a damaged sector".to_owned())];
        assert_eq!(faults, named, "{sector}");
        // Zeros are nothing that a write in flight leaves.
        broken[sector * SECTOR..(sector + 1) * SECTOR].fill(0);
        let faults = judged(&broken, &CIRCUMSTANCES).1;
        let named = [(Class::FlushedWriteLost, "zeros".to_owned())];
        assert_eq!(faults, named, "{sector}");
    }
}

/// A page may be sent while it changes: inside of a write in flight that is allowed.
#[test]
fn the_page_cache_may_tear_a_sector_of_a_write_in_flight() {
    let (model, mut bytes) = whole_disk();
    let inside = model.sectors(COVERED + 1).start;
    bytes[inside * SECTOR + 100] ^= 1;
    let buffered = Circumstances {
        buffered: true,
        ..CIRCUMSTANCES
    };
    assert_eq!(judged(&bytes, &buffered), (0, Vec::new()));
    assert_eq!(judged(&bytes, &CIRCUMSTANCES).1.len(), 1);
}

#[test]
fn a_blank_disk_has_lost_everything_that_was_promised() {
    let blank = vec![0; SECTORS * SECTOR];
    let (lost, faults) = judged(&blank, &CIRCUMSTANCES);
    assert!(lost > 1 && !faults.is_empty());
    // Where not even the first pass was flushed, nothing was.
    let mut state = PostCutState::new(RUN, worker(), None);
    state.take(0, &blank);
    assert_eq!(state.judge(&CIRCUMSTANCES).1, []);
    assert!(state.is_empty());
}

/// With several writes in flight the highest that has completed says nothing of the others.
#[test]
fn a_flush_covers_only_what_has_no_gap_before_it() {
    let mut prefix = Prefix::default();
    for sequence in [2, 3, 5] {
        prefix.completed(sequence);
    }
    assert_eq!(prefix.contiguous_to(), 0);
    prefix.completed(1);
    assert_eq!(prefix.contiguous_to(), 3);
    prefix.completed(4);
    assert_eq!(prefix.contiguous_to(), 5);
}

/// The map dies with the power: places follow from the numbers alone.
#[test]
fn places_are_within_the_part_and_the_same_each_time() {
    let worker = CutWorker {
        start_bytes: 1 << 20,
        ..worker()
    };
    for sequence in 1..5_000 {
        let (offset_bytes, length_bytes) = worker.place(RUN, sequence);
        assert_eq!((offset_bytes, length_bytes), worker.place(RUN, sequence));
        assert!(offset_bytes >= 1 << 20 && offset_bytes.is_multiple_of(512));
        assert!(offset_bytes + u64::from(length_bytes) <= (1 << 20) + worker.length_bytes);
        assert!((512..=4096).contains(&length_bytes) && length_bytes.is_multiple_of(512));
    }
}
