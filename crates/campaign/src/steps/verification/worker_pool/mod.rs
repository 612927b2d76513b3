//! Threads and engines that run the workers of `stripewise_verify`.

use super::engine::{DRAIN_LIMIT_NS, work};
use super::tally::Measured;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome, no_thread};
use stripewise_io_engine::{
    Clock, Completion, EngineName, FaultPlan, Kind, Next, OpenPlan, Operation, Source, error_name,
};
use stripewise_targets::Resizer;
use stripewise_units::format_bytes;
use stripewise_verify::{Failed, Phase, Step, Worker};

/// The coordinator's allowance on top of the engines' wait for operations in flight.
const GRACE_NS: u64 = 5_000_000_000;
/// How often the coordinator polls.
const TICK: Duration = Duration::from_millis(50);
const STACK_BYTES: usize = 1 << 20;
/// Time of issue of a slot without an operation.
const IDLE: u64 = 0;

/// The operation in flight on one slot, readable from another thread.
#[derive(Debug, Default)]
pub struct InFlightGauge {
    /// Its time of issue plus one; 0: nothing is in flight.
    issued_ns: AtomicU64,
    offset_bytes: AtomicU64,
    /// Length, with the lowest bit set for a write.
    length_bytes: AtomicU64,
}

/// An operation in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Time of issue on the workers' clock.
    pub issued_ns: u64,
    /// Its position.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// It writes.
    pub writes: bool,
}

impl InFlightGauge {
    /// Sets the operation in flight from `now_ns` on.
    pub fn issued(&self, operation: &Operation, now_ns: u64) {
        let writes = u64::from(operation.kind == Kind::Write);
        self.offset_bytes
            .store(operation.offset_bytes, Ordering::Relaxed);
        let length = u64::from(operation.length_bytes) << 1 | writes;
        self.length_bytes.store(length, Ordering::Relaxed);
        self.issued_ns.store(now_ns + 1, Ordering::Release);
    }

    /// Clears it.
    pub fn completed(&self) {
        self.issued_ns.store(IDLE, Ordering::Release);
    }

    /// The operation in flight, if any.
    pub fn in_flight(&self) -> Option<InFlight> {
        let issued_ns = self.issued_ns.load(Ordering::Acquire).checked_sub(1)?;
        let length = self.length_bytes.load(Ordering::Relaxed);
        Some(InFlight {
            issued_ns,
            offset_bytes: self.offset_bytes.load(Ordering::Relaxed),
            length_bytes: length >> 1,
            writes: length & 1 == 1,
        })
    }
}

/// A worker with everything needed to run it.
pub struct WorkerSlot {
    /// The worker.
    pub worker: Worker,
    /// Index of its target.
    pub target: usize,
    /// Operations in flight, by slot.
    pub gauges: Arc<[InFlightGauge]>,
    /// Its measurements in the phase.
    pub measured: Measured,
    /// Truncates and grows its file, if that is its work.
    pub resizer: Option<Resizer>,
    /// Its buffers are scattered over memory while it works.
    pub scatters: bool,
}

impl WorkerSlot {
    /// Without measurements.
    pub fn new(worker: Worker, target: usize) -> WorkerSlot {
        let slots = worker.identity().slots;
        WorkerSlot {
            gauges: (0..slots).map(|_| InFlightGauge::default()).collect(),
            worker,
            target,
            measured: Measured::default(),
            resizer: None,
            scatters: false,
        }
    }

    /// Distinct failures, as text.
    pub fn failed(&self) -> impl Iterator<Item = String> {
        self.worker.failed().iter().map(in_words)
    }
}

fn in_words(failed: &Failed) -> String {
    let reason = match failed.number {
        0 => "short transfer".to_owned(),
        NEVER_CAME_BACK => "never came back".to_owned(),
        number => error_name(number),
    };
    let what = match failed.kind {
        Kind::Read => "read of",
        Kind::Write => "write of",
        _ => return format!("{reason} when the file's length was changed"),
    };
    let length = format_bytes(u64::from(failed.length_bytes));
    format!("{reason} at byte {} ({what} {length})", failed.offset_bytes)
}

/// Signals shared by all threads of a phase.
#[derive(Debug, Default)]
pub struct Signals {
    /// Start no new operations.
    pub stop: AtomicBool,
    /// Bytes transferred, for the progress.
    pub bytes: AtomicU64,
}

/// The worker as seen by engines.
struct Operator {
    slot: WorkerSlot,
    signals: Arc<Signals>,
    now_ns: u64,
    /// The operation in flight on each slot.
    open: Vec<Option<Operation>>,
}

impl Operator {
    /// The worker's next step; changes of its file's length are carried out here.
    fn step(&mut self) -> Step {
        loop {
            let step = self.slot.worker.next_step();
            let Step::Resize(bytes) = step else {
                return step;
            };
            let resizer = self.slot.resizer.as_ref();
            // Without one, nothing was truncated: the data there must not be taken for zeros.
            let done = match resizer {
                Some(file) => file.resize(bytes),
                None => Err(std::io::ErrorKind::Unsupported.into()),
            };
            let failed = done.err().map(|error| error.raw_os_error().unwrap_or(0));
            self.slot.worker.resized(failed);
        }
    }
}

impl Source for Operator {
    const LOOKS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        self.now_ns = now_ns;
        if self.signals.stop.load(Ordering::Relaxed) {
            self.slot.worker.stop();
        }
        match self.step() {
            Step::Full | Step::Resize(_) => Next::Full,
            Step::Finished => Next::Finished,
            Step::Operation(step) => {
                let operation = Operation {
                    slot: step.slot,
                    // The second file is the one with durable writes.
                    file: u16::from(step.durable),
                    kind: step.kind,
                    offset_bytes: step.offset_bytes,
                    length_bytes: step.length_bytes,
                };
                self.open[step.slot as usize] = Some(operation);
                self.slot.gauges[step.slot as usize].issued(&operation, now_ns);
                Next::Operation(operation)
            }
        }
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.slot.worker.data(operation.slot, self.now_ns, buffer);
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        self.now_ns = now_ns;
        if let Some(operation) = &self.open[slot as usize] {
            self.slot.gauges[slot as usize].issued(operation, now_ns);
        }
    }

    fn before_read(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.slot.worker.before_read(operation.slot, buffer);
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        self.slot.worker.look(slot, self.now_ns, transferred);
    }

    fn complete(&mut self, done: Completion) {
        self.now_ns = done.at_ns;
        let slot = done.slot as usize;
        let gauge = &self.slot.gauges[slot];
        let issued_ns = gauge.in_flight().map_or(done.at_ns, |one| one.issued_ns);
        gauge.completed();
        if let Some(operation) = self.open[slot].take()
            && let Ok(bytes) = u32::try_from(done.result)
            && bytes == operation.length_bytes
        {
            let latency_ns = done.at_ns.saturating_sub(issued_ns);
            let writes = operation.kind == Kind::Write;
            let measured = &mut self.slot.measured;
            measured.add(writes, u64::from(bytes), latency_ns, done.at_ns);
            (self.signals.bytes).fetch_add(u64::from(bytes), Ordering::Relaxed);
        }
        self.slot.worker.complete(done.slot, done.result);
    }
}

/// Parameters of a phase.
#[derive(Debug)]
pub struct Drive {
    /// I/O engine.
    pub engine: EngineName,
    /// Faults to inject, for tests.
    pub faults: Option<FaultPlan>,
    /// The clock that all workers share.
    pub clock: Clock,
}

/// A thread's final message.
enum WorkerMessage {
    Done(
        Box<WorkerSlot>,
        Vec<String>,
        Option<stripewise_io_engine::Error>,
    ),
    NotOpened(stripewise_io_engine::Error),
}

/// A phase in progress.
pub struct WorkerPool {
    words: Receiver<WorkerMessage>,
    threads: usize,
    /// The signals of its threads.
    pub signals: Arc<Signals>,
    /// By slot: its target and its operations in flight.
    pub gauges: Vec<(usize, Arc<[InFlightGauge]>)>,
    slots: Vec<WorkerSlot>,
    /// Why no better engine was available.
    pub fallbacks: Vec<String>,
    failure: Option<stripewise_io_engine::Error>,
}

impl WorkerPool {
    /// Starts a phase: each worker with its files, on a separate thread.
    pub fn start(
        slots: Vec<(WorkerSlot, Vec<Arc<File>>)>,
        phase: Phase,
        drive: &Drive,
    ) -> Outcome<WorkerPool> {
        let (sender, words) = channel();
        let mut pool = WorkerPool {
            words,
            threads: 0,
            signals: Arc::default(),
            gauges: Vec::new(),
            slots: Vec::new(),
            fallbacks: Vec::new(),
            failure: None,
        };
        for (mut slot, files) in slots {
            slot.worker.begin(phase);
            slot.measured = Measured::default();
            pool.gauges.push((slot.target, Arc::clone(&slot.gauges)));
            let identity = *slot.worker.identity();
            let mut plan = OpenPlan::new(files, identity.slots, identity.slot_bytes, drive.clock);
            plan.faults.clone_from(&drive.faults);
            plan.features.scattered = slot.scatters && phase == Phase::Work;
            let engine = match plan.features.scattered {
                true => EngineName::Threads,
                false => drive.engine,
            };
            let operator = Operator {
                open: vec![None; identity.slots as usize],
                slot,
                signals: Arc::clone(&pool.signals),
                now_ns: 0,
            };
            let sender = sender.clone();
            std::thread::Builder::new()
                .name(format!("verify-{}", identity.id))
                .stack_size(STACK_BYTES)
                .spawn(move || live(operator, &plan, engine, &sender))
                .map_err(|error| {
                    pool.signals.stop.store(true, Ordering::Relaxed);
                    no_thread("to verify with", &error)
                })?;
            pool.threads += 1;
        }
        Ok(pool)
    }

    /// Waits for a tick, or until all are done; returns true then.
    pub fn wait(&mut self) -> bool {
        while self.threads > 0 {
            match self.words.recv_timeout(TICK) {
                Ok(WorkerMessage::Done(slot, fallbacks, failure)) => {
                    self.threads -= 1;
                    self.slots.push(*slot);
                    for fallback in fallbacks {
                        if !self.fallbacks.contains(&fallback) {
                            self.fallbacks.push(fallback);
                        }
                    }
                    self.failure = self.failure.take().or(failure);
                }
                Ok(WorkerMessage::NotOpened(error)) => {
                    self.threads -= 1;
                    self.stop();
                    self.failure.get_or_insert(error);
                }
                Err(RecvTimeoutError::Timeout) => return false,
                // A thread that panicked has printed why.
                Err(RecvTimeoutError::Disconnected) => self.threads = 0,
            }
        }
        true
    }

    /// Starts no new operations.
    pub fn stop(&self) {
        self.signals.stop.store(true, Ordering::Relaxed);
    }

    /// How long the coordinator waits for the threads after a stop.
    pub const fn patience_ns() -> u64 {
        DRAIN_LIMIT_NS + GRACE_NS
    }

    /// The workers, and the number of threads that never ended.
    pub fn finish(mut self) -> Outcome<(Vec<WorkerSlot>, usize)> {
        if let Some(error) = self.failure.take() {
            let hint = error.hint;
            return Err(Failure::of(Exit::Target, error).hinted(hint));
        }
        self.slots.sort_by_key(|slot| slot.worker.identity().id);
        Ok((self.slots, self.threads))
    }
}

/// The main function of a thread.
fn live(
    mut operator: Operator,
    plan: &OpenPlan,
    engine: EngineName,
    sender: &Sender<WorkerMessage>,
) {
    let worked = work(engine, plan, &mut operator);
    let word = match (worked.opened, worked.failure) {
        (false, Some(error)) => WorkerMessage::NotOpened(error),
        (_, failure) => {
            // An abandoned operation may still complete: its blocks are undefined from here on.
            let left: Vec<u32> = (operator.open.iter().flatten())
                .map(|operation| operation.slot)
                .collect();
            for slot in left {
                operator.slot.gauges[slot as usize].completed();
                operator.slot.worker.complete(slot, -NEVER_CAME_BACK);
            }
            WorkerMessage::Done(Box::new(operator.slot), worked.fallbacks, failure)
        }
    };
    let _ = sender.send(word);
}

/// The error number of abandoned operations: `ETIMEDOUT`.
const NEVER_CAME_BACK: i32 = 110;

#[cfg(test)]
mod tests;
