//! The cases. Each tests a promise in the trait's documentation.

use std::marker::PhantomData;

use super::script::{Script, SlowWrites, plan, play, played, read, sync, write};
use super::{Case, CaseOutcome, Fixture, pattern};
use crate::backend::sys;
use crate::{Engine, Kind, Next, Operation};

/// A page: suits every sector size.
const PAGE: u32 = 4096;
const MIB: u32 = 1 << 20;

/// The case for engines that submit only when told to.
pub(super) const NEVER_SUBMITTED: &str = "closing drops what was never submitted";

/// Names of cases that not every engine has to pass.
const SHORT_READ: &str = "a read across the end is short";
const READ_BEHIND_END: &str = "a read behind the end returns nothing";
const READY_WRITES: &str = "a ready write does not wait for the data of others";
const SEVERAL_FILES: &str = "several files keep apart";
const LARGE_BLOCKS: &str = "64 MiB operations work";
const BAD_INDEX: &str = "a file that is not there is a bad handle";
const WRITES: &str = "writes arrive in the file";
const SYNCS: &str = "syncs and transfers share a slot";
const ALL_SORTS: &str = "operations of all sorts share a slot";
/// Cases whose files have specific sizes, are read independently of the engine, or take operations
/// of any size.
pub(super) const OF_FILES: [&str; 5] = [
    SHORT_READ,
    READ_BEHIND_END,
    READY_WRITES,
    SEVERAL_FILES,
    LARGE_BLOCKS,
];
/// Cases that include syncs.
pub(super) const WITH_SYNCS: [&str; 4] = [BAD_INDEX, WRITES, SYNCS, ALL_SORTS];

/// Every case, simple ones first.
pub(super) fn all<E: Engine>() -> Vec<Case<E>> {
    let case = |name, needs_data, run| Case {
        name,
        needs_data,
        run,
    };
    vec![
        case("nothing to do ends at once", false, nothing_to_do),
        case("reads return the bytes of the file", true, whole_reads),
        case(SHORT_READ, true, short_read),
        case(READ_BEHIND_END, true, read_behind_end),
        case(BAD_INDEX, true, bad_index),
        case(
            "writing to a read-only file is a bad handle",
            true,
            bad_handle,
        ),
        case("failures stay with their operation", true, mixed_failures),
        case(
            "a misaligned direct read is an invalid argument",
            true,
            misaligned,
        ),
        case(WRITES, true, writes),
        case(READY_WRITES, true, ready_writes),
        case(SYNCS, true, syncs),
        case(ALL_SORTS, true, all_sorts),
        case(SEVERAL_FILES, true, several_files),
        case("a full engine does not ask", false, full),
        case("slots are used again and again", false, slots_again),
        case("512-byte operations work", true, small_blocks),
        case(LARGE_BLOCKS, true, large_blocks),
        case("4,096 operations are in flight at once", false, many_slots),
        case(
            "a wait for nothing lasts until its time",
            false,
            wait_for_time,
        ),
        case(
            "a wait whose time has come does not wait",
            false,
            wait_in_the_past,
        ),
        case(
            "submitting without waiting loses nothing",
            false,
            without_waiting,
        ),
        case("interrupted waits are no failures", false, interrupted),
        case("closing waits for what is in flight", true, close_waits),
        case(NEVER_SUBMITTED, true, close_drops),
        case("a closed limit gives up at once", false, close_at_once),
        case(
            "an engine may be dropped with operations in flight",
            false,
            dropped,
        ),
        case("plain buffers read the same bytes", true, plain_buffers),
    ]
}

const PASSED: Result<(), String> = Ok(());

fn passed<E>() -> CaseOutcome<E> {
    PASSED.map(|()| PhantomData)
}

fn nothing_to_do<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let script = played::<E>(&plan(vec![fixture.file(1)], 4, PAGE), []);
    assert_eq!(script.done.len(), 0);
    let mut engine = E::open(&plan(Vec::new(), 1, PAGE)).expect("opens without files");
    engine
        .submit_and_wait(1, None)
        .expect("nothing in flight, no time: returns");
    assert_eq!(engine.reap(&mut Script::default()), 0);
    passed()
}

fn whole_reads<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let plan = plan(vec![fixture.file(1 << 20)], 8, 4 * PAGE);
    // Offsets out of order, lengths that differ.
    let operations: Vec<_> = (0..8)
        .map(|slot| {
            read(
                slot,
                u64::from((slot * 5 + 3) % 8) * 65_536,
                PAGE * (slot % 4 + 1),
            )
        })
        .collect();
    let script = played::<E>(&plan, operations.clone());
    for operation in &operations {
        script.assert_seen(operation, operation.length_bytes as usize);
    }
    assert_eq!(script.done.len(), 8);
    passed()
}

fn short_read<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let operation = read(0, u64::from(PAGE), PAGE);
    let script = played::<E>(&plan(vec![fixture.file(5000)], 2, PAGE), [operation]);
    assert_eq!(script.results(), [904]);
    script.assert_seen(&operation, 904);
    passed()
}

fn read_behind_end<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let operations = [read(0, 8192, PAGE), read(1, 1 << 40, PAGE)];
    let script = played::<E>(&plan(vec![fixture.file(8192)], 2, PAGE), operations);
    assert_eq!(script.results(), [0, 0]);
    passed()
}

fn bad_index<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut operations = [
        read(0, 0, PAGE),
        write(1, 0, PAGE),
        sync(2),
        read(3, 0, PAGE),
    ];
    operations[3].file = u16::MAX;
    operations[..3].iter_mut().for_each(|o| o.file = 1);
    let script = played::<E>(&plan(vec![fixture.file(8192)], 4, PAGE), operations);
    assert_eq!(script.results(), [-sys::BAD_HANDLE; 4]);
    passed()
}

fn bad_handle<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let plan = plan(vec![fixture.read_only(8192)], 2, PAGE);
    let script = played::<E>(&plan, [write(0, 0, PAGE), read(1, 0, PAGE)]);
    let results = script.results();
    assert!(results[0] < 0, "a write that cannot be: {results:?}");
    if cfg!(unix) {
        assert_eq!(results[0], -sys::BAD_HANDLE);
    }
    assert_eq!(results[1], PAGE.cast_signed());
    passed()
}

fn mixed_failures<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut operations: Vec<_> = (0..64).map(|i| read(i % 4, 0, PAGE)).collect();
    for operation in operations.iter_mut().step_by(3) {
        operation.file = 7;
    }
    let script = played::<E>(&plan(vec![fixture.file(8192)], 4, PAGE), operations);
    for (operation, done) in &script.done {
        let expected = match operation.file {
            0 => PAGE.cast_signed(),
            _ => -sys::BAD_HANDLE,
        };
        assert_eq!(done.result, expected, "{operation:?}");
    }
    assert_eq!(script.done.len(), 64);
    passed()
}

fn misaligned<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let file = fixture.direct(65_536)?;
    let plan = plan(vec![file], 4, 2 * PAGE);
    let operations = [
        read(0, 1, PAGE),
        read(1, 0, PAGE + 1),
        read(2, 0, PAGE),
        read(3, 8192, 2 * PAGE),
    ];
    let script = played::<E>(&plan, operations);
    let results = script.results();
    if results[0] == PAGE.cast_signed() {
        return Err("a file system that refuses misaligned direct reads".to_owned());
    }
    let invalid = -sys::INVALID_ARGUMENT;
    assert_eq!(results, [invalid, invalid, 4096, 8192]);
    script.assert_seen(&operations[3], 8192);
    passed()
}

fn writes<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let file = fixture.file(65_536);
    let check = file.try_clone().expect("a second handle");
    let operations = [write(0, 0, PAGE), write(1, 16_384, 2 * PAGE), sync(2)];
    let script = played::<E>(&plan(vec![file], 3, 2 * PAGE), operations);
    assert_eq!(script.results(), [4096, 8192, 0]);
    let bytes = fixture.contents(&check);
    assert_eq!(bytes.len(), 65_536);
    for (offset, byte) in (0..).zip(bytes) {
        let written = offset < 4096 || (16_384..24_576).contains(&offset);
        let expected = if written {
            !pattern(offset)
        } else {
            pattern(offset)
        };
        assert_eq!(byte, expected, "at {offset}");
    }
    passed()
}

fn ready_writes<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let file = fixture.file(8 * u64::from(PAGE));
    let check = file.try_clone().expect("a second handle");
    let plan = plan(vec![file], 8, PAGE);
    let mut engine = E::open(&plan).expect("opens");
    let mut source = SlowWrites::new(check, plan.clock);
    let filled = engine.fill(&mut source, engine.now_ns());
    assert_eq!(filled.taken, 8);
    while source.completed < 8 {
        engine.submit_and_wait(1, None).expect("works");
        engine.reap(&mut source);
    }
    passed()
}

fn syncs<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    // Each slot alternates, so that nothing of a sync remains in it.
    let operations = (0..32).map(|i| match (i / 2) % 2 {
        0 => read(i % 2, u64::from(i) * 4096, PAGE),
        _ => sync(i % 2),
    });
    let script = played::<E>(&plan(vec![fixture.file(1 << 20)], 2, PAGE), operations);
    for (operation, done) in &script.done {
        assert_eq!(
            done.result,
            operation.length_bytes.cast_signed(),
            "{operation:?}"
        );
    }
    assert_eq!(script.done.len(), 32);
    let last = script.done.iter().rev().find(|(o, _)| o.length_bytes > 0);
    let (last, _) = last.expect("there was a read");
    script.assert_seen(last, PAGE as usize);
    passed()
}

fn all_sorts<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    // File 0 is only read, file 1 only written, file 2 does not exist.
    let sorts = [
        read(0, 0, 2 * PAGE),
        write(0, 0, 2 * PAGE),
        read(0, 0, PAGE),
        sync(0),
        read(0, 0, 2 * PAGE),
        write(0, 0, PAGE),
    ];
    let operations: Vec<_> = (0..180_u32)
        .map(|i| {
            let sort = sorts[(i * 5 % 6) as usize];
            Operation {
                slot: i % 4,
                file: match sort.kind {
                    _ if i % 17 == 16 => 2,
                    Kind::Read => 0,
                    Kind::Write | Kind::Sync | Kind::Discard => 1,
                },
                offset_bytes: u64::from(i * 7 % 14) * 4096,
                ..sort
            }
        })
        .collect();
    let files = vec![fixture.file(65_536), fixture.file(65_536)];
    let script = played::<E>(&plan(files, 4, 2 * PAGE), operations);
    for (operation, done) in &script.done {
        let expected = match operation.file {
            2 => -sys::BAD_HANDLE,
            _ => operation.length_bytes.cast_signed(),
        };
        assert_eq!(done.result, expected, "{operation:?}");
    }
    assert_eq!(script.done.len(), 180);
    passed()
}

fn several_files<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let sizes = [8192, 100, 0];
    let files = sizes.iter().map(|size| fixture.file(*size)).collect();
    let operations = (0..3).map(|slot| Operation {
        file: slot as u16,
        ..read(slot, 0, 2 * PAGE)
    });
    let script = played::<E>(&plan(files, 3, 2 * PAGE), operations);
    assert_eq!(script.results(), [8192, 100, 0]);
    passed()
}

fn full<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let plan = plan(vec![fixture.file(65_536)], 4, PAGE);
    let mut engine = E::open(&plan).expect("opens");
    // The source has a fifth operation, for a slot that does not exist.
    let mut script = Script::new((0..5).map(|slot| read(slot, 0, PAGE)));
    let filled = engine.fill(&mut script, 0);
    assert_eq!((filled.taken, filled.then), (4, Next::Full));
    assert_eq!(
        (script.refused, script.waiting.len()),
        (0, 1),
        "the source was not asked"
    );
    script.waiting.clear();
    while !script.in_flight.is_empty() {
        engine.submit_and_wait(1, None).expect("works");
        engine.reap(&mut script);
    }
    assert_eq!(script.done.len(), 4);
    passed()
}

fn slots_again<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let operations = (0..1000).map(|i| read(i % 7, u64::from(i % 16) * 4096, PAGE));
    let script = played::<E>(&plan(vec![fixture.file(65_536)], 7, PAGE), operations);
    assert_eq!(script.done.len(), 1000);
    // `Script` has checked that each slot had one operation at a time; those of
    // one slot must also come back in the order they were issued.
    for slot in 0..7 {
        let offsets: Vec<_> = script.done.iter().filter(|(o, _)| o.slot == slot).collect();
        let expected = (slot..1000).step_by(7).map(|i| u64::from(i % 16) * 4096);
        assert!(
            offsets.iter().map(|(o, _)| o.offset_bytes).eq(expected),
            "slot {slot}"
        );
        assert!(
            offsets.is_sorted_by_key(|(_, done)| done.at_ns),
            "slot {slot}"
        );
    }
    passed()
}

fn small_blocks<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let operations: Vec<_> = (0..16)
        .map(|slot| read(slot, u64::from(slot) * 512, 512))
        .collect();
    let script = played::<E>(&plan(vec![fixture.file(8192)], 16, 512), operations.clone());
    operations
        .iter()
        .for_each(|operation| script.assert_seen(operation, 512));
    passed()
}

fn large_blocks<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let operation = read(1, u64::from(MIB), 64 * MIB);
    let plan = plan(vec![fixture.file(65 << 20)], 2, 64 * MIB);
    let script = played::<E>(&plan, [operation]);
    assert_eq!(script.results(), [64 << 20]);
    script.assert_seen(&operation, 64 << 20);
    passed()
}

fn many_slots<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let plan = plan(vec![fixture.file(1 << 20)], 4096, 512);
    let mut engine = E::open(&plan).expect("opens with 4,096 slots");
    let mut script = Script::new((0..8192).map(|i| read(i % 4096, u64::from(i % 2048) * 512, 512)));
    let filled = engine.fill(&mut script, 0);
    assert_eq!((filled.taken, filled.then), (4096, Next::Full));
    while !script.in_flight.is_empty() {
        engine.submit_and_wait(1, None).expect("works");
        engine.reap(&mut script);
    }
    play(&mut engine, &mut script);
    assert!(script.done.iter().all(|(_, done)| done.result == 512));
    assert_eq!(script.done.len(), 8192);
    passed()
}

fn wait_for_time<E: Engine>(_fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(Vec::new(), 4, PAGE)).expect("opens");
    for at_least in [0, 1, 4] {
        let until_ns = engine.now_ns() + 3_000_000;
        // A signal may end a wait early, so retry; it must end eventually.
        while engine.now_ns() < until_ns {
            engine
                .submit_and_wait(at_least, Some(until_ns))
                .expect("works");
            assert_eq!(engine.reap(&mut Script::default()), 0);
        }
    }
    passed()
}

fn wait_in_the_past<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(vec![fixture.file(8192)], 2, PAGE)).expect("opens");
    engine.submit_and_wait(1, Some(0)).expect("works");
    let mut script = Script::new([read(0, 0, PAGE)]);
    engine.fill(&mut script, 0);
    // Submits anyway, so the operation ends if polled often enough.
    while !script.in_flight.is_empty() {
        engine.submit_and_wait(1, Some(0)).expect("works");
        engine.reap(&mut script);
    }
    assert_eq!(script.results(), [4096]);
    passed()
}

fn without_waiting<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(vec![fixture.file(65_536)], 16, PAGE)).expect("opens");
    let mut script = Script::new((0..64).map(|i| read(i % 16, u64::from(i % 16) * 4096, PAGE)));
    while !script.waiting.is_empty() || !script.in_flight.is_empty() {
        engine.fill(&mut script, 0);
        engine.submit_and_wait(0, None).expect("works");
        engine.reap(&mut script);
        std::thread::yield_now();
    }
    assert_eq!(script.done.len(), 64);
    passed()
}

fn interrupted<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(vec![fixture.file(65_536)], 16, PAGE)).expect("opens");
    let interrupting = fixture.interrupt_me()?;
    let until_ns = engine.now_ns() + 20_000_000;
    while engine.now_ns() < until_ns {
        engine
            .submit_and_wait(1, Some(until_ns))
            .expect("a signal is no failure");
    }
    let mut script = Script::new((0..400).map(|i| read(i % 16, u64::from(i % 16) * 4096, PAGE)));
    play(&mut engine, &mut script);
    drop(interrupting);
    assert!(script.done.iter().all(|(_, done)| done.result == 4096));
    passed()
}

fn close_waits<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let file = fixture.file(1 << 20);
    let check = file.try_clone().expect("a second handle");
    let mut engine = E::open(&plan(vec![file], 4, 64 * PAGE)).expect("opens");
    let mut script = Script::new((0..4).map(|i| write(i, u64::from(i) * 262_144, 64 * PAGE)));
    engine.fill(&mut script, 0);
    engine.submit_and_wait(0, None).expect("works");
    assert_eq!(engine.close(u64::MAX).operations, 0);
    let bytes = fixture.contents(&check);
    assert!(
        (0..)
            .zip(&bytes)
            .all(|(offset, byte)| *byte == !pattern(offset))
    );
    passed()
}

fn close_drops<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let file = fixture.file(65_536);
    let check = file.try_clone().expect("a second handle");
    let mut engine = E::open(&plan(vec![file], 4, PAGE)).expect("opens");
    // One: of several, the first may be submitted while data is made for others.
    let mut script = Script::new([write(0, 0, PAGE)]);
    engine.fill(&mut script, 0);
    assert_eq!(engine.close(u64::MAX).operations, 0);
    let bytes = fixture.contents(&check);
    assert!(
        (0..)
            .zip(&bytes)
            .all(|(offset, byte)| *byte == pattern(offset))
    );
    passed()
}

fn close_at_once<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(vec![fixture.file(8 << 20)], 8, MIB)).expect("opens");
    let mut script = Script::new((0..8).map(|i| read(i, u64::from(i * MIB), MIB)));
    engine.fill(&mut script, 0);
    engine.submit_and_wait(0, None).expect("works");
    assert!(engine.close(0).operations <= 8);
    passed()
}

fn dropped<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut engine = E::open(&plan(vec![fixture.file(8 << 20)], 8, MIB)).expect("opens");
    let mut script = Script::new((0..8).map(|i| read(i, u64::from(i * MIB), MIB)));
    engine.fill(&mut script, 0);
    engine.submit_and_wait(0, None).expect("works");
    drop(engine);
    passed()
}

fn plain_buffers<E: Engine>(fixture: &dyn Fixture) -> CaseOutcome<E> {
    let mut plan = plan(vec![fixture.file(65_536)], 4, 2 * PAGE);
    plan.register_buffers = false;
    let operations: Vec<_> = (0..4)
        .map(|i| read(i, u64::from(i) * 8192, 2 * PAGE))
        .collect();
    let script = played::<E>(&plan, operations.clone());
    operations
        .iter()
        .for_each(|operation| script.assert_seen(operation, 8192));
    passed()
}
