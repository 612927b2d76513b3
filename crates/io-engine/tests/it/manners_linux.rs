//! Uncached, atomic and polled operations: whole, or refused by the kernel one by one.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::io::{ReadWriteFlags, preadv2};
use stripewise_io_engine::backend::linux_io_uring::{Uring, probe};
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::conformance::request_log::{PLAIN, RequiredFeatures, WithFeatures};
use stripewise_io_engine::conformance::{Fixture, Scope, pattern, patterns};
use stripewise_io_engine::{
    Clock, Completion, Engine, ErrorKind, IoFeatures, Kind, Next, OpenPlan, Operation, Source,
};

use crate::fixture::{Files, skip};

const BLOCK_BYTES: u32 = 8192;
const SLOTS: u32 = 8;
const UNSUPPORTED: i32 = -95;

/// They leave nothing in the page cache.
struct Uncached;

impl RequiredFeatures for Uncached {
    const FEATURES: IoFeatures = IoFeatures {
        dontcache: true,
        ..PLAIN
    };
}

/// Writes are durable by themselves, and syncs flush all metadata.
struct Durable;

impl RequiredFeatures for Durable {
    const FEATURES: IoFeatures = IoFeatures {
        dsync: true,
        fsync: true,
        ..PLAIN
    };
}

/// They go to pieces of memory, and come from them.
struct Scattered;

impl RequiredFeatures for Scattered {
    const FEATURES: IoFeatures = IoFeatures {
        scattered: true,
        ..PLAIN
    };
}

fn conforms_uncached<E: Engine>(test: &str) {
    let file = Files.file(4096);
    let mut byte = [0];
    let flag = ReadWriteFlags::from_bits_retain(0x80);
    if let Err(error) = preadv2(&file, &mut [IoSliceMut::new(&mut byte)], 0, flag) {
        return skip(test, &format!("a file system with RWF_DONTCACHE ({error})"));
    }
    match stripewise_io_engine::conformance::run::<WithFeatures<E, Uncached>>(&Files, Scope::Full) {
        Err(reason) => skip(test, &reason),
        Ok(report) => assert!(report.passed.len() >= 8, "too few cases: {report:?}"),
    }
}

#[test]
fn durable_writes_and_whole_syncs_conform() {
    use stripewise_io_engine::conformance::run;
    let mut reports = vec![run::<WithFeatures<Threads, Durable>>(&Files, Scope::Full)];
    match probe() {
        Ok(_) => reports.push(run::<WithFeatures<Uring, Durable>>(&Files, Scope::Full)),
        Err(error) => skip(
            "durable_writes_and_whole_syncs_conform",
            &format!("io_uring ({error})"),
        ),
    }
    for report in reports {
        let report = report.expect("the kernel takes the flags");
        assert!(report.passed.len() >= 8, "too few cases: {report:?}");
    }
}

#[test]
fn uncached_io_uring_conforms() {
    conforms_uncached::<Uring>("uncached_io_uring_conforms");
}

#[test]
fn uncached_threads_conform() {
    conforms_uncached::<Threads>("uncached_threads_conform");
}

#[test]
fn scattered_threads_conform() {
    match stripewise_io_engine::conformance::run::<WithFeatures<Threads, Scattered>>(
        &Files,
        Scope::Full,
    ) {
        Err(reason) => skip("scattered_threads_conform", &reason),
        Ok(report) => assert!(report.passed.len() >= 8, "too few cases: {report:?}"),
    }
    let plan = OpenPlan::new(Vec::new(), 1, 4096, Clock::start());
    assert!(Uring::open(&plan).is_ok() || probe().is_err());
    let refused = WithFeatures::<Uring, Scattered>::open(&plan).err();
    assert_eq!(refused.expect("refused").kind, ErrorKind::Unsupported);
}

/// What is written from scattered pieces of memory lies in the file in order, and comes back
/// so, whatever the length: with an odd number of pieces, and with a rest.
#[test]
fn scattered_operations_keep_the_order_of_the_file() {
    for bytes in [
        4096,
        8192,
        12_288,
        65_536 + 4096,
        1 << 20,
        4_300_800,
        1000,
        9000,
    ] {
        let whole = patterns(0..u64::from(bytes));
        for kind in [Kind::Write, Kind::Read] {
            let file = Files.file(if kind == Kind::Read { bytes.into() } else { 1 });
            let seen = file.try_clone().expect("the same file");
            let mut plan = OpenPlan::new(vec![Arc::new(file)], 1, bytes, Clock::start());
            plan.features = Scattered::FEATURES;
            let mut engine = Threads::open(&plan).expect("opens");
            let mut source = Whole {
                operation: Some(Operation {
                    slot: 0,
                    file: 0,
                    kind,
                    offset_bytes: 0,
                    length_bytes: bytes,
                }),
                seen: Vec::new(),
            };
            let now_ns = engine.now_ns();
            engine.fill(&mut source, now_ns);
            engine.submit_and_wait(1, None).expect("works");
            engine.reap(&mut source);
            assert!(source.seen == whole, "{kind:?} of {bytes}");
            let mut there = vec![0; bytes as usize];
            seen.read_exact_at(&mut there, 0).expect("as long");
            assert!(there == whole, "{kind:?} of {bytes}");
        }
    }
}

/// One operation, and what it transferred.
struct Whole {
    operation: Option<Operation>,
    seen: Vec<u8>,
}

impl Source for Whole {
    const LOOKS: bool = true;

    fn next(&mut self, _now_ns: u64) -> Next {
        (self.operation.take()).map_or(Next::Finished, Next::Operation)
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        buffer.copy_from_slice(&patterns(0..u64::from(operation.length_bytes)));
    }

    fn look(&mut self, _slot: u32, transferred: &[u8]) {
        self.seen = transferred.to_vec();
    }

    fn complete(&mut self, _done: Completion) {}
}

/// One operation on each slot, each on a block of its own.
struct OneEach {
    kind: Kind,
    issued: u32,
    results: Vec<i32>,
}

impl Source for OneEach {
    fn next(&mut self, _now_ns: u64) -> Next {
        if self.issued == SLOTS {
            return Next::Finished;
        }
        let slot = self.issued;
        self.issued += 1;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: self.kind,
            offset_bytes: u64::from(slot * BLOCK_BYTES),
            length_bytes: BLOCK_BYTES,
        })
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        for (offset, byte) in (operation.offset_bytes..).zip(buffer) {
            *byte = pattern(offset);
        }
    }

    fn complete(&mut self, done: Completion) {
        self.results.push(done.result);
    }
}

fn results<E: Engine>(file: File, features: IoFeatures, kind: Kind) -> (bool, Vec<i32>) {
    let mut plan = OpenPlan::new(vec![Arc::new(file)], SLOTS, BLOCK_BYTES, Clock::start());
    plan.features = features;
    let mut engine = E::open(&plan).expect("opens");
    let mut source = OneEach {
        kind,
        issued: 0,
        results: Vec::new(),
    };
    let now_ns = engine.now_ns();
    engine.fill(&mut source, now_ns);
    while source.results.len() < SLOTS as usize {
        let until_ns = engine.now_ns() + 1_000_000;
        engine
            .submit_and_wait(1, Some(until_ns))
            .expect("goes on working");
        engine.reap(&mut source);
    }
    // With nothing in flight a wait lasts until its time, and no longer.
    let until_ns = engine.now_ns() + 1_000_000;
    engine.submit_and_wait(1, Some(until_ns)).expect("works");
    assert!(engine.now_ns() >= until_ns);
    let polled = engine.capabilities().polled;
    assert_eq!(engine.close(u64::MAX).operations, 0);
    (polled, source.results)
}

/// Each is done in full or refused, and all are alike.
fn all_or_none(results: &[i32]) {
    let whole = results
        .iter()
        .all(|result| *result == BLOCK_BYTES.cast_signed());
    let refused = results.iter().all(|result| *result == UNSUPPORTED);
    assert!(whole || refused, "{results:?}");
}

#[test]
fn polled_operations_end_whether_the_device_polls_or_not() {
    const TEST: &str = "polled_operations_end_whether_the_device_polls_or_not";
    if let Err(error) = probe() {
        return skip(TEST, &format!("io_uring ({error})"));
    }
    let poll = IoFeatures {
        poll: true,
        ..IoFeatures::default()
    };
    for kind in [Kind::Read, Kind::Write] {
        match Files.direct(u64::from(SLOTS * BLOCK_BYTES)) {
            Err(needs) => return skip(TEST, &needs),
            Ok(file) => {
                let (polled, results) = results::<Uring>(file, poll, kind);
                assert!(polled);
                all_or_none(&results);
            }
        }
    }
}

#[test]
fn engines_that_cannot_poll_do_not_open() {
    let mut plan = OpenPlan::new(Vec::new(), 1, 4096, Clock::start());
    plan.features.poll = true;
    let error = Threads::open(&plan).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.to_string().contains("only io_uring polls"), "{error}");
}

#[test]
fn atomic_writes_are_whole_or_refused() {
    const TEST: &str = "atomic_writes_are_whole_or_refused";
    let atomic = IoFeatures {
        atomic: true,
        ..IoFeatures::default()
    };
    let file = || Files.direct(u64::from(SLOTS * BLOCK_BYTES));
    match (file(), file()) {
        (Ok(one), Ok(other)) => {
            all_or_none(&results::<Threads>(one, atomic, Kind::Write).1);
            if probe().is_ok() {
                all_or_none(&results::<Uring>(other, atomic, Kind::Write).1);
            }
            // Reads have nothing to be torn: the flag is not theirs.
            let (_, reads) = results::<Threads>(file().expect("as before"), atomic, Kind::Read);
            assert!(reads.iter().all(|read| *read == BLOCK_BYTES.cast_signed()));
        }
        (Err(needs), _) | (_, Err(needs)) => skip(TEST, &needs),
    }
}

/// Hands out discards of every other page, with a read of the page before each.
struct Discards {
    next: u32,
    done: Vec<(u32, i32)>,
}

const PAGES: u32 = 16;
const PAGE_BYTES: u32 = 4096;

impl Source for Discards {
    fn next(&mut self, _now_ns: u64) -> Next {
        if self.next == PAGES {
            return Next::Finished;
        }
        if self.next - self.done.len() as u32 >= 4 {
            return Next::Full;
        }
        let page = self.next;
        self.next += 1;
        Next::Operation(Operation {
            slot: page % 4,
            file: 0,
            kind: if page % 2 == 1 {
                Kind::Discard
            } else {
                Kind::Read
            },
            offset_bytes: u64::from(page * PAGE_BYTES),
            length_bytes: PAGE_BYTES,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn complete(&mut self, done: Completion) {
        self.done.push((done.slot, done.result));
    }
}

/// Discards between reads: each in the slot where something else was before.
fn discards_and_reads<E: Engine>() {
    let file = Files.file(u64::from(PAGES * PAGE_BYTES));
    let mut plan = OpenPlan::new(vec![Arc::new(file)], 4, PAGE_BYTES, Clock::start());
    plan.features.discards = true;
    let mut engine = E::open(&plan).expect("it opens");
    let mut source = Discards {
        next: 0,
        done: Vec::new(),
    };
    // One at a time, so that slots are free again in order.
    while source.done.len() < PAGES as usize {
        let now_ns = engine.now_ns();
        engine.fill(&mut source, now_ns);
        engine.submit_and_wait(4, None).expect("it works");
        engine.reap(&mut source);
    }
    engine.close(u64::MAX);
    for (slot, result) in &source.done {
        let expected = if slot % 2 == 1 { 0 } else { PAGE_BYTES as i32 };
        assert_eq!(*result, expected, "slot {slot}");
    }
    for page in 0..PAGES {
        let at = u64::from(page * PAGE_BYTES);
        let mut found = vec![1; PAGE_BYTES as usize];
        plan.files[0]
            .read_exact_at(&mut found, at)
            .expect("it is read");
        let expected = match page % 2 {
            1 => vec![0; PAGE_BYTES as usize],
            _ => patterns(at..at + u64::from(PAGE_BYTES)),
        };
        assert!(found == expected, "page {page}");
    }
}

#[test]
fn discards_make_holes_and_share_slots_with_reads() {
    discards_and_reads::<Threads>();
    match probe() {
        Ok(()) => discards_and_reads::<Uring>(),
        Err(error) => skip(
            "discards_make_holes_and_share_slots_with_reads",
            &error.to_string(),
        ),
    }
}
