//! The coordinator of a real run: starts the workers, takes their reports, and ends the run
//! whatever the device does.

use super::RealJob;
use super::heartbeat::Heartbeat;
use super::thread::{Event, Gate, Shared, WorkerThread};
use crate::collect::{Collector, Pace};
use crate::pauses::PAUSE_NS_MIN;
use crate::recorder::Recorder;
use crate::summary::{CpuTimes, DrainCounts, StopReason};
use crate::window::Window;
use crate::worker::{Worker, streams};
use crate::{Error, Observer, Policy, RunPlan, RunTotals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use stripewise_io_engine::{Clock, Engine, IoFeatures, OpenPlan};
use stripewise_workload::{CacheMode, SyncCall, Workload};

/// How often the interrupt flag is checked and the observer's tick called.
const TICK_NS: u64 = 50_000_000;
/// A run starved of CPU is extended by at most its planned length, and at least by this.
const STARVED_NS_MIN: u64 = 10_000_000_000;
/// Extra time past the drain limit before a worker is abandoned.
const GRACE_NS: u64 = 500_000_000;
/// How long an interval waits at most for a late thread.
const LATENESS_NS_MAX: u64 = 1_000_000_000;
/// Worker threads need little: the engines own the buffers.
const STACK_BYTES: usize = 512 << 10;

/// The coordinator's side of a worker thread.
struct Link {
    job: usize,
    thread: u32,
    handle: Option<JoinHandle<()>>,
    returns: Sender<Recorder>,
    in_flight: Arc<AtomicU32>,
    done: bool,
}

/// A run whose threads have been started.
pub(super) struct Run {
    clock: Clock,
    plan: RunPlan,
    shared: Arc<Shared>,
    links: Vec<Link>,
    events: Receiver<(usize, Event)>,
    collector: Collector,
    /// When it last checked for pauses, on the engines' clock.
    looked_ns: u64,
    /// Pauses cut out, and their sum.
    pauses: usize,
    pauses_ns: u64,
}

/// Kernel features that the workload's operations need.
fn features(workload: &Workload) -> IoFeatures {
    IoFeatures {
        discards: workload.discards(),
        dontcache: workload.cache == CacheMode::Dontcache,
        atomic: workload.atomic,
        dsync: workload.dsync,
        fsync: workload
            .sync
            .is_some_and(|sync| sync.call == SyncCall::Fsync),
        poll: workload.poll,
        scattered: false,
    }
}

impl Run {
    /// Starts all threads and waits until their engines are open.
    pub(super) fn start<E: Engine + 'static>(
        jobs: &[RealJob],
        cpus: &[u32],
        plan: &RunPlan,
    ) -> Result<Run, Error> {
        let window = Arc::new(Window::new(plan.interval_ns));
        let shared = Arc::new(Shared {
            gate: Gate::default(),
            window: Arc::clone(&window),
            drain_limit_ns: plan.drain_limit_ns,
            hurry: AtomicBool::new(false),
        });
        let (sender, events) = channel();
        let pace = Pace {
            guard_ns: Window::GUARD_NS,
            lateness_max_ns: plan.interval_ns.clamp(100_000_000, LATENESS_NS_MAX),
            last_lateness_max_ns: LATENESS_NS_MAX,
        };
        let threads = |job: usize| (0..jobs[job].plan.workload.threads).map(move |_| job);
        let jobs_of_workers: Vec<usize> = (0..jobs.len()).flat_map(threads).collect();
        let blocks = jobs.iter().map(|job| job.plan.block_bytes_of_each());
        let collector = Collector::new(window, plan, pace, blocks.collect(), &jobs_of_workers);
        let mut run = Run {
            clock: Clock::start(),
            plan: *plan,
            shared,
            links: Vec::with_capacity(jobs_of_workers.len()),
            events,
            collector,
            looked_ns: 0,
            pauses: 0,
            pauses_ns: 0,
        };
        let started = (jobs.iter().enumerate())
            .try_for_each(|(number, job)| run.start_job::<E>(number, job, cpus, &sender));
        drop(sender);
        if let Err(error) = started.and_then(|()| run.wait_until_open()) {
            run.shared.gate.open(false);
            run.join();
            return Err(error);
        }
        Ok(run)
    }

    /// Starts the threads of one job.
    fn start_job<E: Engine + 'static>(
        &mut self,
        number: usize,
        job: &RealJob,
        cpus: &[u32],
        sender: &Sender<(usize, Event)>,
    ) -> Result<(), Error> {
        let streams = streams(&job.plan);
        for thread in 0..job.plan.workload.threads {
            let window = Arc::clone(&self.shared.window);
            let worker = Worker::new(number, &job.plan, &streams, thread, &self.plan, window);
            let length_bytes = job.plan.workload.block_size_bytes as u32;
            let files = job.files_of(thread).to_vec();
            let mut open = OpenPlan::new(files, worker.slots(), length_bytes, self.clock);
            open.register_buffers = job.register_buffers;
            open.features = features(&job.plan.workload);
            open.faults.clone_from(&job.faults);
            open.hand_overs.clone_from(&job.hand_overs);
            let (returns, returned) = channel();
            let in_flight = Arc::new(AtomicU32::new(0));
            let index = self.links.len();
            let body = WorkerThread {
                index,
                load: worker,
                open,
                cpu: (!cpus.is_empty()).then(|| cpus[index % cpus.len()]),
                shared: Arc::clone(&self.shared),
                events: sender.clone(),
                returned,
                in_flight: Arc::clone(&in_flight),
                cpu_before: CpuTimes::default(),
                waits: None,
            };
            let live: Box<dyn FnOnce() + Send> = match job.checks.clone() {
                None => Box::new(move || body.run::<E>()),
                Some(checks) => {
                    let body = body.checked(number, checks);
                    Box::new(move || body.run::<E>())
                }
            };
            let handle = std::thread::Builder::new()
                .name(format!("worker-{number}-{thread}"))
                .stack_size(STACK_BYTES)
                .spawn(live)
                .map_err(|source| Error::Thread {
                    job: number,
                    thread,
                    source,
                })?;
            self.links.push(Link {
                job: number,
                thread,
                handle: Some(handle),
                returns,
                in_flight,
                done: false,
            });
        }
        Ok(())
    }

    fn wait_until_open(&mut self) -> Result<(), Error> {
        let mut open = 0;
        while open < self.links.len() {
            let Ok((index, event)) = self.events.recv() else {
                return Err(Error::Plan(
                    "a worker thread died while it opened its engine".into(),
                ));
            };
            match event {
                Event::Opened(Ok(capabilities)) => {
                    open += 1;
                    self.collector.capabilities(index, capabilities);
                }
                Event::Opened(Err(source)) => {
                    return Err(Error::Open {
                        job: self.links[index].job,
                        thread: self.links[index].thread,
                        source,
                    });
                }
                Event::Note(note) => self.collector.note(note),
                Event::Report(_) | Event::Done { .. } => {}
            }
        }
        Ok(())
    }

    /// Starts the workers and sees the run through.
    pub(super) fn into_totals(
        mut self,
        policy: &mut dyn Policy,
        observer: &mut dyn Observer,
        interrupt: &AtomicU8,
    ) -> Result<RunTotals, Error> {
        observer.started(&self.collector.all_capabilities());
        let start_ns = self.clock.now_ns();
        let (ramp_ns, duration_ns) = (self.plan.ramp_ns, self.plan.duration_ns);
        self.shared.window.begin(start_ns, ramp_ns, duration_ns);
        self.looked_ns = start_ns;
        let watches = self.plan.watches_for_pauses;
        let heartbeat = watches
            .then(|| {
                let window = Arc::clone(&self.shared.window);
                let planned_ns = ramp_ns.saturating_add(duration_ns).max(STARVED_NS_MIN);
                Heartbeat::start(window, self.clock, start_ns, planned_ns)
            })
            .flatten();
        if watches && heartbeat.is_none() {
            self.collector.note(
                "a pause of the program would not be noticed: no thread was available to watch for one"
                    .into(),
            );
        }
        self.collector.begin();
        self.shared.gate.open(true);
        let mut tick_ns = start_ns;
        loop {
            self.take_events();
            let now_ns = self.now_ns();
            self.look_at(interrupt, now_ns);
            if policy.stops_now() {
                self.collector.stop(now_ns, StopReason::Policy);
            }
            self.collector.emit(now_ns, policy, observer);
            if now_ns >= tick_ns {
                tick_ns = now_ns + TICK_NS;
                observer.tick(now_ns - start_ns);
            }
            if self.collector.is_closed() && (self.all_done() || self.is_hopeless(now_ns)) {
                break;
            }
        }
        drop(heartbeat);
        self.abandon();
        self.join();
        Ok(self.collector.into_totals())
    }

    /// Waits for an event until the next edge, at most a tick; then takes all pending ones.
    fn take_events(&mut self) {
        let now_ns = self.now_ns();
        let edge_ns = self.shared.window.times().interval_at(now_ns).end_ns;
        let wait_ns = edge_ns
            .saturating_sub(now_ns)
            .min(self.plan.look_ns)
            .clamp(100_000, TICK_NS);
        match self.events.recv_timeout(Duration::from_nanos(wait_ns)) {
            Ok((index, event)) => self.handle(index, event),
            Err(RecvTimeoutError::Timeout) => {}
            // All threads have ended; those that sent no `Done` have panicked.
            Err(RecvTimeoutError::Disconnected) => {
                for index in 0..self.links.len() {
                    self.last_word(index, DrainCounts::default());
                }
            }
        }
        while let Ok((index, event)) = self.events.try_recv() {
            self.handle(index, event);
        }
    }

    fn handle(&mut self, index: usize, event: Event) {
        match event {
            Event::Report(report) => {
                let recorder = self.collector.accept(index, *report);
                // A thread that has ended needs no recorder.
                let _ = self.links[index].returns.send(recorder);
            }
            Event::Done { drain, failure } => {
                if let Some(failure) = failure {
                    let now_ns = self.now_ns();
                    self.collector.failed(index, failure, now_ns);
                }
                self.last_word(index, drain);
            }
            Event::Note(note) => self.collector.note(note),
            Event::Opened(_) => {}
        }
    }

    fn last_word(&mut self, index: usize, drain: DrainCounts) {
        if !self.links[index].done {
            self.links[index].done = true;
            self.collector.done(index, drain);
        }
        if self.all_done() {
            // Before the planned stop only if no operations remain to be issued.
            let now_ns = self.now_ns();
            self.collector.stop(now_ns, StopReason::Operations);
        }
    }

    /// The run's clock, from which pauses are cut out.
    fn now_ns(&mut self) -> u64 {
        let at_ns = self.clock.now_ns();
        let pauses = &self.shared.window.pauses;
        if pauses.are_watched() {
            if at_ns.saturating_sub(self.looked_ns) < PAUSE_NS_MIN {
                pauses.beat(at_ns);
            } else {
                for gap in pauses.look(at_ns, self.pauses) {
                    let run_ns = gap.from_ns.saturating_sub(self.pauses_ns);
                    self.collector.paused(run_ns, gap.length_ns());
                    self.pauses += 1;
                    self.pauses_ns += gap.length_ns();
                }
            }
            self.looked_ns = at_ns;
        }
        at_ns.saturating_sub(self.pauses_ns)
    }

    fn look_at(&mut self, interrupt: &AtomicU8, now_ns: u64) {
        let level = interrupt.load(Ordering::Relaxed);
        if level > 0 {
            self.collector.stop(now_ns, StopReason::Interrupted);
        }
        if level > 1 {
            self.shared.hurry.store(true, Ordering::Relaxed);
        }
    }

    fn all_done(&self) -> bool {
        self.links.iter().all(|link| link.done)
    }

    /// Whether some worker has not returned although its time is up.
    fn is_hopeless(&self, now_ns: u64) -> bool {
        let stop_at_ns = self.shared.window.times().stop_at_ns;
        let hurry = self.shared.hurry.load(Ordering::Relaxed);
        let limit_ns = if hurry { 0 } else { self.plan.drain_limit_ns };
        now_ns >= stop_at_ns.saturating_add(limit_ns).saturating_add(GRACE_NS)
    }

    /// Abandons blocked threads; their operations count as abandoned.
    fn abandon(&mut self) {
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            if link.done {
                continue;
            }
            link.handle = None;
            let drain = DrainCounts {
                abandoned: u64::from(link.in_flight.load(Ordering::Relaxed)),
                ..DrainCounts::default()
            };
            let name = format!("worker-{}-{}", link.job, link.thread);
            self.collector.done(index, drain);
            self.collector.note(format!(
                "{name} is blocked in the operating system and was abandoned"
            ));
        }
    }

    fn join(&mut self) {
        for link in &mut self.links {
            if let Some(handle) = link.handle.take() {
                // The thread itself has already printed the panic.
                let _ = handle.join();
            }
        }
    }
}
