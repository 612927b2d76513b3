//! One worker thread, from opening its engine to its final event.

use crate::checked::{Checks, Load, VerifyingWorker};
use crate::recorder::Recorder;
use crate::summary::{CpuTimes, DrainCounts};
use crate::window::Window;
use crate::worker::{Report, Worker};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use stripewise_io_engine::backend::thread;
use stripewise_io_engine::{Capabilities, Engine, Next, OpenPlan};

/// Longest wait, so that a stop is noticed although nothing completes.
const WAIT_NS_MAX: u64 = 50_000_000;

/// Emptied recorders are fetched this long before an edge: longer than a wait, so that a check
/// precedes every edge.
const RETURN_NS: u64 = 2 * WAIT_NS_MAX;

/// Events from a worker thread to the coordinator.
pub(super) enum Event {
    /// Its engine is open, or could not be opened.
    Opened(Result<Capabilities, stripewise_io_engine::Error>),
    /// A problem that does not end the run, to be recorded.
    Note(String),
    /// An interval is over.
    Report(Box<Report>),
    /// The thread ends; no further events follow.
    Done {
        drain: DrainCounts,
        failure: Option<stripewise_io_engine::Error>,
    },
}

/// Where all threads wait until every engine is open.
#[derive(Default)]
pub(super) struct Gate {
    /// `Some(true)`: start; `Some(false)`: end at once.
    state: Mutex<Option<bool>>,
    changed: Condvar,
}

impl Gate {
    /// Releases all threads, or ends them.
    pub(super) fn open(&self, go: bool) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(go);
        self.changed.notify_all();
    }

    fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(go) = *state {
                return go;
            }
            state = (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// State shared by all threads of a run.
pub(super) struct Shared {
    pub(super) gate: Gate,
    pub(super) window: Arc<Window>,
    pub(super) drain_limit_ns: u64,
    /// Do not wait for operations in flight.
    pub(super) hurry: AtomicBool,
}

/// One worker thread, ready to run.
pub(super) struct WorkerThread<L> {
    pub(super) index: usize,
    pub(super) load: L,
    pub(super) open: OpenPlan,
    pub(super) cpu: Option<u32>,
    pub(super) shared: Arc<Shared>,
    pub(super) events: Sender<(usize, Event)>,
    /// Emptied recorders are returned here.
    pub(super) returned: Receiver<Recorder>,
    /// Operations in flight, in case the thread has to be abandoned.
    pub(super) in_flight: Arc<AtomicU32>,
    pub(super) cpu_before: CpuTimes,
    /// Opened by the thread itself, before the run starts.
    pub(super) waits: Option<thread::Waits>,
}

impl WorkerThread<Worker> {
    /// The same with data verification, as a thread of this job.
    pub(super) fn checked(self, job: usize, checks: Checks) -> WorkerThread<VerifyingWorker> {
        WorkerThread {
            index: self.index,
            load: VerifyingWorker::new(self.load, job, checks),
            open: self.open,
            cpu: self.cpu,
            shared: self.shared,
            events: self.events,
            returned: self.returned,
            in_flight: self.in_flight,
            cpu_before: self.cpu_before,
            waits: self.waits,
        }
    }
}

impl<L: Load> WorkerThread<L> {
    /// The thread's main function.
    pub(super) fn run<E: Engine>(mut self) {
        if let Some(cpu) = self.cpu
            && let Err(error) = thread::pin(cpu)
        {
            let note = format!("a thread could not be pinned to processor {cpu}: {error}");
            self.send(Event::Note(note));
        }
        let mut engine = match E::open(&self.open) {
            Ok(engine) => engine,
            Err(error) => return self.send(Event::Opened(Err(error))),
        };
        self.send(Event::Opened(Ok(engine.capabilities().clone())));
        if !self.shared.gate.wait() {
            return;
        }
        self.waits = thread::Waits::of_this_thread();
        self.cpu_before = self.cpu_times();
        self.load.worker_mut().begin();
        let failure = self.drive(&mut engine).err();
        self.load.worker_mut().finish();
        self.exchange(u64::MAX);
        let mut drain = self.load.worker().drain(engine.now_ns());
        // Operations in flight have already had the drain limit.
        drain.abandoned += u64::from(engine.close(0).operations);
        self.in_flight.store(0, Ordering::Relaxed);
        self.send(Event::Done { drain, failure });
    }

    /// Submits, waits and reaps until no work is left.
    fn drive<E: Engine>(&mut self, engine: &mut E) -> stripewise_io_engine::Result<()> {
        let mut in_flight = 0;
        loop {
            let now_ns = engine.now_ns();
            self.load.worker_mut().advance(now_ns);
            let filled = engine.fill(&mut self.load, now_ns);
            in_flight += filled.taken;
            self.in_flight.store(in_flight, Ordering::Relaxed);
            self.exchange(now_ns);
            let mut until_ns = self.load.worker().boundary_ns().min(now_ns + WAIT_NS_MAX);
            if self.load.worker().is_finished() {
                if in_flight == 0 || self.has_drained_long_enough(now_ns) {
                    return Ok(());
                }
            } else if let Next::NotBefore(due_ns) = filled.then {
                until_ns = until_ns.min(due_ns);
            }
            engine.submit_and_wait(1, Some(until_ns))?;
            self.load.worker_mut().refresh();
            in_flight -= engine.reap(&mut self.load);
        }
    }

    /// Checked only when nothing is left to issue.
    #[cold]
    fn has_drained_long_enough(&self, now_ns: u64) -> bool {
        let stop_at_ns = self.shared.window.times().stop_at_ns;
        let limit_ns = stop_at_ns.saturating_add(self.shared.drain_limit_ns);
        self.load.worker().without_pauses(now_ns) >= limit_ns
            || self.shared.hurry.load(Ordering::Relaxed)
    }

    /// Sends finished reports and fetches emptied recorders: the latter only near an edge, as
    /// checking the channel costs as much as an operation.
    #[inline]
    fn exchange(&mut self, now_ns: u64) {
        let edge_is_near = self.load.worker().edge_ns() <= now_ns.saturating_add(RETURN_NS);
        if self.load.worker().has_report() || (edge_is_near && self.load.worker().wants_spare()) {
            self.exchange_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn exchange_now(&mut self) {
        if self.load.worker().wants_spare()
            && let Ok(recorder) = self.returned.try_recv()
        {
            self.load.worker_mut().give_back(recorder);
        }
        while let Some(report) = self.load.worker_mut().take_report() {
            self.send_report(report);
        }
    }

    #[cold]
    fn send_report(&mut self, mut report: Report) {
        let now = self.cpu_times();
        report.cpu = now.since(self.cpu_before);
        self.cpu_before = now;
        self.send(Event::Report(Box::new(report)));
    }

    /// If the coordinator is gone, it has abandoned this thread.
    fn send(&self, event: Event) {
        let _ = self.events.send((self.index, event));
    }

    /// CPU time of this thread so far.
    fn cpu_times(&self) -> CpuTimes {
        let (user_ns, system_ns) = thread::cpu_times_ns().unwrap_or_default();
        let waited_ns = self.waits.as_ref().and_then(thread::Waits::waited_ns);
        CpuTimes {
            user_ns,
            system_ns,
            waited_ns: waited_ns.unwrap_or_default(),
        }
    }
}
