//! Reads a target from start to end without maps: the first step of `--image` and
//! `--after-cut`.

use super::document::PhaseOutcome;
use std::fs::File;
use std::sync::Arc;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::{
    Clock, Completion, Engine, Kind, Next, OpenPlan, Operation, Source, error_name,
};
use stripewise_results::KindOutcome;
use stripewise_units::format_bytes;

const CHUNK_BYTES: u64 = 1 << 20;
const SLOTS: u32 = 4;
const WAIT_NS: u64 = 50_000_000;
/// Maximum number of unreadable places listed.
const UNREAD_MAX: usize = 100;

/// The result of a pass.
#[derive(Default)]
pub struct Passed {
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Reads that completed.
    pub operations: u64,
    /// Unreadable chunks, with the reason.
    pub unread: Vec<String>,
    /// Their total number.
    pub unread_count: u64,
    /// Its duration in nanoseconds.
    pub duration_ns: u64,
    /// It reached the end.
    pub whole: bool,
}

impl Passed {
    /// Adds the pass over another target.
    pub fn add(&mut self, other: Passed) {
        self.read_bytes += other.read_bytes;
        self.operations += other.operations;
        self.unread.extend(other.unread);
        self.unread_count += other.unread_count;
        self.duration_ns += other.duration_ns;
        self.whole &= other.whole;
    }

    /// It as the only phase of a verification, in this cache mode.
    pub fn phase(&self, cache: &str) -> PhaseOutcome {
        let reads = KindOutcome {
            operations: self.operations,
            bytes: self.read_bytes,
            ..KindOutcome::default()
        };
        let none = KindOutcome::default();
        PhaseOutcome::of("check", cache, self.duration_ns, reads, none)
    }
}

struct Reader<'a> {
    context: &'a Context,
    /// Receives the data read: position and content.
    show: &'a mut dyn FnMut(u64, &[u8]),
    size_bytes: u64,
    at_bytes: u64,
    slots: Vec<Option<(u64, u32)>>,
    read_bytes: u64,
    operations: u64,
    unread: Vec<String>,
    unread_count: u64,
    stopped: bool,
}

impl Source for Reader<'_> {
    const LOOKS: bool = true;

    fn next(&mut self, _now_ns: u64) -> Next {
        self.stopped |= self.context.signal().is_some();
        if self.stopped || self.at_bytes >= self.size_bytes {
            return Next::Finished;
        }
        let Some(slot) = self.slots.iter().position(Option::is_none) else {
            return Next::Full;
        };
        let length_bytes = (self.size_bytes - self.at_bytes).min(CHUNK_BYTES) as u32;
        self.slots[slot] = Some((self.at_bytes, length_bytes));
        let operation = Operation {
            slot: slot as u32,
            file: 0,
            kind: Kind::Read,
            offset_bytes: self.at_bytes,
            length_bytes,
        };
        self.at_bytes += u64::from(length_bytes);
        Next::Operation(operation)
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn before_read(&mut self, _operation: &Operation, buffer: &mut [u8]) {
        buffer.fill(0xa5);
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        if let Some((offset_bytes, _)) = self.slots[slot as usize] {
            (self.show)(offset_bytes, transferred);
        }
    }

    fn complete(&mut self, done: Completion) {
        let Some((offset_bytes, length_bytes)) = self.slots[done.slot as usize].take() else {
            return;
        };
        if done.result == length_bytes as i32 {
            self.read_bytes += u64::from(length_bytes);
            self.operations += 1;
            return;
        }
        self.unread_count += 1;
        if self.unread.len() < UNREAD_MAX {
            let reason = match done.result {
                0.. => "short read".to_owned(),
                code => error_name(code.saturating_neg()),
            };
            self.unread.push(format!("{reason} at byte {offset_bytes}"));
        }
    }
}

/// Reads all of it, and passes it on piece by piece, in any order.
pub fn pass(
    context: &Context,
    file: File,
    size_bytes: u64,
    show: &mut dyn FnMut(u64, &[u8]),
) -> Outcome<Passed> {
    let clock = Clock::start();
    let plan = OpenPlan::new(vec![Arc::new(file)], SLOTS, CHUNK_BYTES as u32, clock);
    let mut engine = Threads::open(&plan).map_err(|error| {
        let hint = error.hint;
        Failure::of(Exit::Target, error).hinted(hint)
    })?;
    let mut reader = Reader {
        context,
        show,
        size_bytes,
        at_bytes: 0,
        slots: vec![None; SLOTS as usize],
        read_bytes: 0,
        operations: 0,
        unread: Vec::new(),
        unread_count: 0,
        stopped: false,
    };
    let title = "Reading everything";
    let progress = Progress::begin(context.observer(), false, size_bytes, title);
    let mut in_flight = 0;
    let mut shown_ns = 0;
    loop {
        let now_ns = engine.now_ns();
        let filled = engine.fill(&mut reader, now_ns);
        in_flight += filled.taken;
        if in_flight == 0 && filled.then == Next::Finished {
            break;
        }
        let waited = engine.submit_and_wait(1, Some(now_ns + WAIT_NS));
        waited.map_err(|error| Failure::of(Exit::Target, error))?;
        in_flight -= engine.reap(&mut reader);
        if now_ns.saturating_sub(shown_ns) >= WAIT_NS {
            shown_ns = now_ns;
            let left_ns = left_at_rate(now_ns, reader.read_bytes, size_bytes);
            let text = format!("{title}: {}", format_bytes(reader.read_bytes));
            progress.update(reader.read_bytes, &text, left_ns);
        }
    }
    drop(progress);
    let duration_ns = engine.now_ns();
    engine.close(0);
    Ok(Passed {
        read_bytes: reader.read_bytes,
        operations: reader.operations,
        unread: reader.unread,
        unread_count: reader.unread_count,
        duration_ns,
        whole: !reader.stopped,
    })
}
