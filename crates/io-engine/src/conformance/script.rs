//! The source used by the cases: plays a list of operations and checks every general rule.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use super::{pattern, patterns};
use crate::backend::sys;
use crate::{Clock, Completion, Engine, Kind, Next, OpenPlan, Operation, Source};

/// Plays operations in order, as far as their slots are free.
#[derive(Default)]
pub(super) struct Script {
    pub waiting: VecDeque<Operation>,
    pub in_flight: BTreeMap<u32, Operation>,
    /// Completions, in order, with their operations.
    pub done: Vec<(Operation, Completion)>,
    /// Data transferred by the last operation of each slot.
    pub seen: BTreeMap<u32, Vec<u8>>,
    /// Writes in flight whose data was requested, and when it was ready.
    pub ready: BTreeMap<u32, Option<u64>>,
    /// How often the engine polled in vain.
    pub refused: u32,
}

impl Script {
    pub(super) fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        Script {
            waiting: operations.into_iter().collect(),
            ..Script::default()
        }
    }

    /// The results, in the order of the slots.
    pub(super) fn results(&self) -> Vec<i32> {
        let mut by_slot: Vec<_> = self.done.iter().map(|(o, c)| (o.slot, c.result)).collect();
        by_slot.sort_unstable();
        by_slot.into_iter().map(|(_, result)| result).collect()
    }

    /// Checks how many bytes a slot saw; their content is checked for every read.
    pub(super) fn assert_seen(&self, operation: &Operation, bytes: usize) {
        let seen = &self.seen[&operation.slot];
        assert_eq!(seen.len(), bytes, "bytes seen of {operation:?}");
    }
}

impl Source for Script {
    const LOOKS: bool = true;

    fn next(&mut self, _now_ns: u64) -> Next {
        let Some(operation) = self.waiting.front().copied() else {
            self.refused += 1;
            return if self.in_flight.is_empty() {
                Next::Finished
            } else {
                Next::Full
            };
        };
        if self.in_flight.contains_key(&operation.slot) {
            self.refused += 1;
            return Next::Full;
        }
        self.waiting.pop_front();
        self.in_flight.insert(operation.slot, operation);
        Next::Operation(operation)
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        assert_eq!(operation.kind, Kind::Write, "data is asked for writes only");
        assert_eq!(
            buffer.len(),
            operation.length_bytes as usize,
            "length of the buffer"
        );
        for (offset, byte) in (operation.offset_bytes..).zip(buffer) {
            *byte = !pattern(offset);
        }
        let before = self.ready.insert(operation.slot, None);
        assert_eq!(before, None, "data is asked for once");
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        let before = self.ready.insert(slot, Some(now_ns));
        assert_eq!(before, Some(None), "a write is ready once, after its data");
    }

    fn complete(&mut self, done: Completion) {
        let operation = self.in_flight.remove(&done.slot);
        let operation = operation.expect("a completion belongs to an operation in flight");
        if let Some(bytes) = self.seen.get(&done.slot).filter(|_| done.result > 0) {
            assert_eq!(
                bytes.len() as u64,
                done.result as u64,
                "looked before completing"
            );
        }
        if operation.kind == Kind::Write {
            let ready_ns = self.ready.remove(&done.slot).flatten();
            let ready_ns = ready_ns.expect("a write was ready before it completed");
            assert!(ready_ns <= done.at_ns, "{operation:?} was ready before");
        }
        self.done.push((operation, done));
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        let operation = self.in_flight.get(&slot);
        let operation = operation.expect("only operations in flight are shown");
        // No case reads what it has written, so reads find the pattern.
        if operation.kind == Kind::Read {
            let start = operation.offset_bytes;
            let expected = patterns(start..start + transferred.len() as u64);
            if *transferred != expected {
                let pairs = transferred.iter().zip(&expected);
                let wrong = pairs
                    .into_iter()
                    .position(|(seen, expected)| seen != expected);
                panic!("{operation:?} read a wrong byte, the first at {wrong:?}");
            }
        }
        self.seen.insert(slot, transferred.to_vec());
    }
}

/// Eight writes whose data takes long: that of each is done only when the preceding write has
/// reached the file.
pub(super) struct SlowWrites {
    file: File,
    clock: Clock,
    issued: u32,
    ready_ns: u64,
    pub completed: u32,
}

impl SlowWrites {
    pub(super) fn new(file: File, clock: Clock) -> Self {
        SlowWrites {
            file,
            clock,
            issued: 0,
            ready_ns: 0,
            completed: 0,
        }
    }
}

impl Source for SlowWrites {
    fn next(&mut self, now_ns: u64) -> Next {
        assert!(now_ns >= self.ready_ns, "time moves on with the data");
        if self.issued == 8 {
            return Next::Finished;
        }
        self.issued += 1;
        let slot = self.issued - 1;
        Next::Operation(write(slot, u64::from(slot) * 4096, 4096))
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        buffer.fill(b'w');
        std::thread::sleep(Duration::from_millis(1));
        let Some(before) = operation.offset_bytes.checked_sub(4096) else {
            return;
        };
        let limit_ns = self.clock.now_ns() + 300_000_000_000;
        let mut byte = [0];
        while sys::read_at(&self.file, &mut byte, before, 0).expect("reads") == 0 || byte != *b"w" {
            assert!(self.clock.now_ns() < limit_ns, "it was not submitted");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn ready(&mut self, _slot: u32, now_ns: u64) {
        assert!(now_ns <= self.clock.now_ns());
        self.ready_ns = now_ns;
    }

    fn complete(&mut self, done: Completion) {
        assert_eq!(done.result, 4096);
        self.completed += 1;
    }
}

/// A plan over some files.
pub(super) fn plan(files: Vec<File>, slots: u32, slot_size_bytes: u32) -> OpenPlan {
    let files = files.into_iter().map(Arc::new).collect();
    OpenPlan::new(files, slots, slot_size_bytes, Clock::start())
}

/// A read of file 0.
pub(super) fn read(slot: u32, offset_bytes: u64, length_bytes: u32) -> Operation {
    Operation {
        slot,
        file: 0,
        kind: Kind::Read,
        offset_bytes,
        length_bytes,
    }
}

/// A write to file 0.
pub(super) fn write(slot: u32, offset_bytes: u64, length_bytes: u32) -> Operation {
    Operation {
        kind: Kind::Write,
        ..read(slot, offset_bytes, length_bytes)
    }
}

/// A synchronisation of file 0.
pub(super) fn sync(slot: u32) -> Operation {
    Operation {
        kind: Kind::Sync,
        ..read(slot, 0, 0)
    }
}

/// Drives a script to its end, checking counts and times on the way.
pub(super) fn play<E: Engine>(engine: &mut E, script: &mut Script) {
    let mut in_flight = 0;
    loop {
        let now_ns = engine.now_ns();
        let filled = engine.fill(script, now_ns);
        assert!(
            !matches!(filled.then, Next::Operation(_)),
            "fill ends with a reason"
        );
        in_flight += filled.taken;
        assert_eq!(
            in_flight as usize,
            script.in_flight.len(),
            "operations in flight"
        );
        if in_flight == 0 {
            break;
        }
        engine.submit_and_wait(1, None).expect("the engine works");
        let before = script.done.len();
        let reaped = engine.reap(script);
        assert_eq!(
            reaped as usize,
            script.done.len() - before,
            "completions reaped"
        );
        for (operation, done) in &script.done[before..] {
            assert!(
                done.at_ns <= engine.now_ns(),
                "{operation:?} completed in the future"
            );
        }
        in_flight -= reaped;
    }
    assert!(script.waiting.is_empty(), "everything was issued");
}

/// Opens an engine, plays a script, closes it, and returns the script.
pub(super) fn played<E: Engine>(
    plan: &OpenPlan,
    operations: impl IntoIterator<Item = Operation>,
) -> Script {
    let mut engine = E::open(plan).expect("the engine opens");
    let mut script = Script::new(operations);
    play(&mut engine, &mut script);
    assert_eq!(engine.close(u64::MAX).operations, 0, "nothing is left");
    script
}
