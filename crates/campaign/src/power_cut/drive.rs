//! The threads of a run that waits for a power cut: writers, each using an engine, and for
//! each writer a thread that flushes continuously.
//!
//! The extent that a flush covers is read before it is issued: a write that completes
//! meanwhile may or may not be part of it.

use crate::steps::verification::engine::{EngineRun, work};
use crate::steps::verification::tally::Measured;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use stripewise_conductor::failure::{Outcome, no_thread};
use stripewise_io_engine::{
    Clock, Completion, EngineName, FaultPlan, Next, OpenPlan, Operation, Source,
};
use stripewise_stats::Histogram;
use stripewise_verify::SeededRng;
use stripewise_verify::Step;
use stripewise_verify::cut::{CutWriter, Durability};

/// Maximum pause between two flushes of a writer, so that they find writes in all states.
const PAUSE_US_MAX: u64 = 20_000;
const STACK_BYTES: usize = 1 << 20;

/// Messages from threads to the one that reports to the witness.
pub(super) enum ThreadMessage {
    /// Writes 1 to `sequence` of a writer are durable.
    Durable { writer: usize, sequence: u64 },
    /// A flush failed.
    FlushFailed { writer: usize, why: String },
    /// A flushing thread has ended; latencies of its flushes.
    Flushed(Histogram),
    /// A writing thread has ended.
    Done(Box<Writer>, EngineRun),
}

/// State shared by a writer's thread and its flushing thread.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// All writes up to this one have completed.
    pub contiguous_to: AtomicU64,
    /// Bytes written, for the progress.
    pub bytes: AtomicU64,
}

/// A writer with its measurements.
pub(super) struct Writer {
    pub number: usize,
    pub writer: CutWriter,
    pub shared: Arc<Shared>,
    pub measured: Measured,
}

/// Parameters of the threads.
pub(super) struct Drive {
    pub engine: EngineName,
    pub faults: Option<FaultPlan>,
    pub clock: Clock,
    pub slots: u32,
    pub stop: Arc<AtomicBool>,
    pub words: SyncSender<ThreadMessage>,
}

/// The writer as seen by engines.
struct Operator {
    writer: Writer,
    issued_ns: Vec<u64>,
    stop: Arc<AtomicBool>,
    words: SyncSender<ThreadMessage>,
    now_ns: u64,
    reported: u64,
}

impl Source for Operator {
    fn next(&mut self, now_ns: u64) -> Next {
        self.now_ns = now_ns;
        if self.stop.load(Ordering::Relaxed) {
            self.writer.writer.stop();
        }
        match self.writer.writer.next_step() {
            // Its writers do not change file lengths.
            Step::Full | Step::Resize(_) => Next::Full,
            Step::Finished => Next::Finished,
            Step::Operation(step) => {
                self.issued_ns[step.slot as usize] = now_ns;
                Next::Operation(Operation {
                    slot: step.slot,
                    file: 0,
                    kind: step.kind,
                    offset_bytes: step.offset_bytes,
                    length_bytes: step.length_bytes,
                })
            }
        }
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        (self.writer.writer).data(operation.slot, self.now_ns, buffer);
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        self.now_ns = now_ns;
        self.issued_ns[slot as usize] = now_ns;
    }

    fn complete(&mut self, done: Completion) {
        self.now_ns = done.at_ns;
        let writer = &mut self.writer;
        if let Ok(bytes @ 1..) = u64::try_from(done.result) {
            let issued_ns = self.issued_ns[done.slot as usize];
            let latency_ns = done.at_ns.saturating_sub(issued_ns);
            writer.measured.add(true, bytes, latency_ns, done.at_ns);
            writer.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        writer.writer.complete(done.slot, done.result);
        let contiguous_to = writer.writer.contiguous_to();
        writer
            .shared
            .contiguous_to
            .store(contiguous_to, Ordering::Release);
        if writer.writer.worker().durability.is_of_each_write() && contiguous_to > self.reported {
            self.reported = contiguous_to;
            // The receiver is gone once the witness is.
            let _ = self.words.send(ThreadMessage::Durable {
                writer: writer.number,
                sequence: contiguous_to,
            });
        }
    }
}

/// Starts a writer on a separate thread.
pub(super) fn write(writer: Writer, file: Arc<File>, drive: &Drive) -> Outcome<()> {
    let slot_bytes = writer.writer.worker().write_bytes_max;
    let mut plan = OpenPlan::new(vec![file], drive.slots, slot_bytes, drive.clock);
    plan.faults.clone_from(&drive.faults);
    let mut operator = Operator {
        issued_ns: vec![0; drive.slots as usize],
        stop: Arc::clone(&drive.stop),
        words: drive.words.clone(),
        now_ns: 0,
        reported: 0,
        writer,
    };
    let (engine, words) = (drive.engine, drive.words.clone());
    let run = move || {
        let worked = work(engine, &plan, &mut operator);
        let _ = words.send(ThreadMessage::Done(Box::new(operator.writer), worked));
    };
    std::thread::Builder::new()
        .name("cut-writer".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(run)
        .map(drop)
        .map_err(|error| no_thread("to write with", &error))
}

/// Performs one flush of this kind.
pub(super) fn flush(file: &File, durability: Durability) -> std::io::Result<()> {
    match durability {
        Durability::DataSync => file.sync_data(),
        _ => file.sync_all(),
    }
}

/// Starts the thread that continuously flushes what a writer has written.
pub(super) fn flush_for_ever(
    number: usize,
    durability: Durability,
    shared: Arc<Shared>,
    file: File,
    drive: &Drive,
) -> Outcome<()> {
    let (stop, words, clock) = (Arc::clone(&drive.stop), drive.words.clone(), drive.clock);
    let run = move || {
        let mut reported = 0;
        let mut rng = SeededRng::new(number as u64);
        let mut took = Histogram::default();
        while !stop.load(Ordering::Relaxed) {
            let sequence = shared.contiguous_to.load(Ordering::Acquire);
            if sequence > reported {
                let issued_ns = clock.now_ns();
                let word = match flush(&file, durability) {
                    Ok(()) => ThreadMessage::Durable {
                        writer: number,
                        sequence,
                    },
                    Err(error) => ThreadMessage::FlushFailed {
                        writer: number,
                        why: error.to_string(),
                    },
                };
                took.record(clock.now_ns().saturating_sub(issued_ns));
                let failed = matches!(word, ThreadMessage::FlushFailed { .. });
                if words.send(word).is_err() || failed {
                    break;
                }
                reported = sequence;
            }
            std::thread::sleep(Duration::from_micros(rng.below(PAUSE_US_MAX)));
        }
        let _ = words.send(ThreadMessage::Flushed(took));
    };
    std::thread::Builder::new()
        .name("cut-flusher".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(run)
        .map(drop)
        .map_err(|error| no_thread("to flush with", &error))
}
