//! Injected faults do what their plan says, over real engines.

use std::fs::File;
use std::sync::Arc;
use stripewise_io_engine::backend::faulty::Faulty;
use stripewise_io_engine::backend::null::Null;
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::conformance::{Fixture, contents, pattern};
use stripewise_io_engine::{
    Clock, Completion, Engine, FaultPlan, Kind, Next, OpenPlan, Operation, Source,
};

use crate::fixture::Files;

/// Issues operations in order with a fixed number of slots; keeps everything.
struct Sequence {
    operations: Vec<Operation>,
    issued: usize,
    free: Vec<u32>,
    /// (operation's number from 0, issued, completed), by slot while in flight.
    current: Vec<(usize, u64)>,
    /// By the operation's number: result, issued, completed.
    results: Vec<(i32, u64, u64)>,
}

impl Sequence {
    fn new(slots: u32, operations: Vec<Operation>) -> Self {
        Sequence {
            results: vec![(i32::MIN, 0, 0); operations.len()],
            operations,
            issued: 0,
            free: (0..slots).rev().collect(),
            current: vec![(0, 0); slots as usize],
        }
    }

    /// Consecutive reads of 4 KiB.
    fn reads(slots: u32, count: u64) -> Self {
        let read = |block| Operation {
            slot: 0,
            file: 0,
            kind: Kind::Read,
            offset_bytes: block * 4096,
            length_bytes: 4096,
        };
        Sequence::new(slots, (0..count).map(read).collect())
    }

    fn results(&self) -> Vec<i32> {
        self.results.iter().map(|(result, ..)| *result).collect()
    }
}

impl Source for Sequence {
    fn next(&mut self, now_ns: u64) -> Next {
        let Some(operation) = self.operations.get(self.issued) else {
            return Next::Finished;
        };
        let Some(slot) = self.free.pop() else {
            return Next::Full;
        };
        self.current[slot as usize] = (self.issued, now_ns);
        self.issued += 1;
        Next::Operation(Operation { slot, ..*operation })
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        for (offset, byte) in (operation.offset_bytes..).zip(buffer) {
            *byte = !pattern(offset);
        }
    }

    fn complete(&mut self, done: Completion) {
        let (number, issued_ns) = self.current[done.slot as usize];
        self.results[number] = (done.result, issued_ns, done.at_ns);
        self.free.push(done.slot);
    }
}

fn plan(file: File, slots: u32, faults: &str) -> OpenPlan {
    let mut plan = OpenPlan::new(vec![Arc::new(file)], slots, 4096, Clock::start());
    plan.faults = Some(faults.parse::<FaultPlan>().expect("a plan of faults"));
    plan
}

fn play<E: Engine>(plan: &OpenPlan, source: &mut Sequence) {
    let mut engine = Faulty::<E>::open(plan).expect("opens");
    assert!(
        engine
            .capabilities()
            .fallbacks
            .iter()
            .any(|f| f.contains("on purpose")),
        "injected faults are confessed"
    );
    let mut in_flight = 0;
    loop {
        in_flight += engine.fill(source, engine.now_ns()).taken;
        if in_flight == 0 {
            break;
        }
        engine.submit_and_wait(1, None).expect("works");
        in_flight -= engine.reap(source);
    }
    assert_eq!(engine.close(u64::MAX).operations, 0);
}

fn results<E: Engine>(slots: u32, count: u64, faults: &str) -> Vec<i32> {
    let mut source = Sequence::reads(slots, count);
    play::<E>(&plan(Files.file(count * 4096), slots, faults), &mut source);
    source.results()
}

#[test]
fn the_nth_operation_fails_and_no_other() {
    for slots in [1, 4] {
        let results = results::<Threads>(slots, 20, "fail=5@nth=7");
        let mut expected = [4096; 20];
        expected[6] = -5;
        assert_eq!(results, expected, "{slots} slots");
    }
}

#[test]
fn every_operation_can_fail() {
    assert_eq!(results::<Threads>(4, 20, "fail=28@every=1"), [-28; 20]);
    assert_eq!(results::<Null>(4, 20, "fail=28@every=1"), [-28; 20]);
}

#[test]
fn a_range_of_offsets_fails_whoever_touches_it() {
    // Bytes 8191 to 12288: the last byte of block 1, all of 2, the first of 3.
    let results = results::<Threads>(2, 6, "fail=5@offsets=8191..12289 read");
    assert_eq!(results, [4096, -5, -5, -5, 4096, 4096]);
}

#[test]
fn short_transfers_report_less() {
    let results = results::<Threads>(2, 6, "short=512@every=3");
    assert_eq!(results, [4096, 4096, 512, 4096, 4096, 512]);
}

#[test]
fn a_share_of_operations_is_drawn_from_the_seed() {
    let first = results::<Null>(4, 1000, "seed=7; fail=5@permillion=100000");
    assert_eq!(
        first,
        results::<Null>(1, 1000, "seed=7; fail=5@permillion=100000")
    );
    assert_ne!(
        first,
        results::<Null>(4, 1000, "seed=8; fail=5@permillion=100000")
    );
    let failed = first.iter().filter(|result| **result == -5).count();
    // Binomial: mean 100, standard deviation 9.5; fixed by the seed.
    assert!((60..140).contains(&failed), "{failed} of 1000");
}

#[test]
fn a_torn_write_claims_success() {
    let file = Files.file(8192);
    let mut source = Sequence::new(
        1,
        vec![Operation {
            slot: 0,
            file: 0,
            kind: Kind::Write,
            offset_bytes: 4096,
            length_bytes: 4096,
        }],
    );
    let second = file.try_clone().expect("a second handle");
    play::<Threads>(&plan(second, 1, "torn=1024@nth=1"), &mut source);
    assert_eq!(source.results(), [4096]);
    for (offset, byte) in (0..).zip(contents(&file)) {
        let written = (4096..5120).contains(&offset);
        assert_eq!(byte == !pattern(offset), written, "at {offset}");
    }
}

#[test]
fn a_delayed_operation_completes_late_and_the_others_do_not_wait_for_it() {
    let mut source = Sequence::reads(2, 50);
    play::<Null>(&plan(Files.file(0), 2, "delay=30000000@nth=1"), &mut source);
    let (result, issued_ns, completed_ns) = source.results[0];
    assert_eq!(result, 4096);
    assert!(completed_ns - issued_ns >= 30_000_000);
    // The other slot did all the rest in the meantime.
    assert!(
        source.results[1..]
            .iter()
            .all(|(_, _, at_ns)| *at_ns <= completed_ns)
    );
}

#[test]
fn during_a_stall_nothing_completes() {
    // From the clock's start, as any time to get going would depend on the machine.
    let until_ns = 60_000_000;
    let mut source = Sequence::reads(4, 100);
    let faults = format!("stall@between=0..{until_ns}");
    play::<Null>(&plan(Files.file(4096), 4, &faults), &mut source);
    assert_eq!(source.results(), [4096; 100]);
    assert!(
        source
            .results
            .iter()
            .all(|(_, _, at_ns)| *at_ns >= until_ns)
    );
    // Only those that fit were issued in the meantime.
    let issued = source
        .results
        .iter()
        .filter(|(_, issued_ns, _)| *issued_ns < until_ns);
    assert!(issued.count() <= 4);
}

#[test]
fn engines_of_one_run_count_operations_together() {
    let plan = plan(Files.file(4096 * 8), 1, "fail=5@nth=12");
    let (mut first, mut second) = (Sequence::reads(1, 8), Sequence::reads(1, 8));
    play::<Threads>(&plan, &mut first);
    play::<Threads>(&plan.clone(), &mut second);
    assert_eq!(first.results(), [4096; 8]);
    assert_eq!(second.results()[3], -5);
}

#[test]
fn plans_that_make_no_sense_are_refused_with_a_reason() {
    let cases = [
        ("fail=5", "EFFECT@WHEN"),
        ("fail@nth=1", "positive"),
        ("fail=0@nth=1", "positive"),
        ("fail=5@nth", "needs =NUMBER"),
        ("fail=5@nth=x", "number"),
        ("fail=5@offsets=5", "FROM..UNTIL"),
        ("explode@nth=1", "fail, short"),
        ("fail=5@nth=1 erase", "read, write, sync or discard"),
        ("stall@nth=1", "between"),
        ("seed=x", "seed="),
    ];
    for (text, part) in cases {
        let error = text.parse::<FaultPlan>().expect_err(text).to_string();
        assert!(
            error.contains(part) && error.contains(text),
            "{text}: {error}"
        );
    }
    let empty: FaultPlan = " ; ".parse().expect("nothing goes wrong");
    assert!(empty.faults().is_empty());
}
