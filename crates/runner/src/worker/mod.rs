//! A worker: a state machine that returns its next operation and is notified of completions. It
//! never blocks and never reads a clock, so real threads and virtual time can both drive it; it
//! owns all policy of one thread of one job.
//!
//! Two paths. The short one serves a closed loop on one file without syncs: a slot from the free
//! list, a position from the stream, and on completion one comparison with the length, one with the
//! next edge of time, one histogram bucket. Everything else (open loops, several files, syncs,
//! failures, the drain) takes the long one. A worker leaves the short path by emptying its free
//! list and setting the result it compares with to one that no completion has, so the short path
//! needs no further checks. Including the io_uring engine, an operation takes 92 instructions on
//! x86-64, excluding the kernel; `examples/hot_path.rs` measures it.

mod long_path;
mod replay;
mod source;
#[cfg(test)]
mod tests;

use crate::lane::Lane;
use crate::pauses::{BEAT_NS, Gap, LATE_NS};
use crate::plan::{JobPlan, RunPlan};
use crate::recorder::{NO_COMMIT, Recorder, UNMEASURED};
use crate::replay::Replay;
use crate::summary::{CpuTimes, DrainCounts};
use crate::think::Think;
use crate::window::{Phase, Span, Times, Window};
use std::sync::Arc;
use stripewise_io_engine::Kind;
use stripewise_workload::{Streams, Workload, derived_seed};

/// A result that no completion has: error numbers end far above it.
const NO_RESULT: i32 = i32::MIN;

/// The end of the free list; no worker has that many slots.
const NO_SLOT: u32 = u32::MAX;

/// State of an operation in flight.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot {
    /// Latency counts from here. With [`UNMEASURED`] once the program was paused while the
    /// operation was in flight.
    start_ns: u64,
    /// When it was issued; for reads only on the long path. Of a sync: when the commit that it ends
    /// began, marked as `start_ns`, or [`NO_COMMIT`].
    issued_ns: u64,
    offset_bytes: u64,
    /// While free, on the short path: the next free slot. In flight, on the long path: the
    /// operation's bytes.
    next_free: u32,
    lane: u16,
    kind: Kind,
}

impl Slot {
    /// When it was due, without its mark: a sync, when the commit that it ends began.
    fn due_ns(&self) -> u64 {
        let due_ns = match self.kind {
            Kind::Sync => self.issued_ns,
            Kind::Read | Kind::Write | Kind::Discard => self.start_ns,
        };
        due_ns & !UNMEASURED
    }

    /// Whether it is a sync that ends a commit.
    fn is_commit(&self) -> bool {
        self.kind == Kind::Sync && self.issued_ns != NO_COMMIT
    }
}

/// A closed interval being sent to the coordinator.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) phase: Phase,
    /// Start of the interval, on the run's clock, from which pauses are cut out.
    pub(crate) start_ns: u64,
    /// Everything this worker completed before this time has been reported.
    pub(crate) until_ns: u64,
    pub(crate) recorder: Recorder,
    /// Filled in by the driver: the worker has no clock.
    pub(crate) cpu: CpuTimes,
}

/// One thread of one job.
pub(crate) struct Worker {
    /// First free slot of the short path; [`NO_SLOT`] while on the long one. The last one freed is
    /// the first one used: its buffer is in the cache.
    short_free: u32,
    slots: Box<[Slot]>,
    /// The result of a complete operation, on the short path.
    short_result: i32,
    /// Bytes of an operation, if all have one size.
    length_bytes: u32,
    /// Operations have several sizes.
    mixed: bool,
    /// The next edge or beat, whichever comes first: a completion at or after it needs checking.
    boundary_ns: u64,
    recorder: Recorder,
    first: Lane,
    others: Vec<Lane>,
    /// Free slots of the long path.
    free: Vec<u32>,
    /// The lane whose turn it is, if there are several.
    turn: usize,
    /// On the short path.
    simple: bool,
    /// Lanes count what they have in flight; not if the worker began on the short path, where free
    /// slots are the only limit.
    lanes_count: bool,
    open_loop: bool,
    /// Think time; such a worker is on the long path from the start.
    think: Option<Think>,
    /// Operations come from a recording; such a worker is also on the long path.
    replay: Option<Box<Replay>>,
    /// Operations still to be issued.
    remaining: u64,
    job: usize,
    interval: Span,
    /// The run's times on the engine's clock, which includes pauses.
    times: Times,
    /// What `times` is derived from: start of measuring and stop on the run's clock.
    moving: (u64, u64),
    /// The next edge: a completion at or after it belongs to another interval.
    edge_ns: u64,
    /// When it checks next for a pause; `u64::MAX`: never.
    beat_ns: u64,
    /// Pauses cut out here, and their sum.
    pauses: usize,
    pauses_ns: u64,
    window: Arc<Window>,
    spares: Vec<Recorder>,
    reports: Vec<Report>,
    drain: DrainCounts,
    /// All slots were taken until then.
    full_until_ns: u64,
    failures_in_a_row: u32,
    failures_in_a_row_max: u32,
    fingerprint: u64,
    gave_up: bool,
}

/// The streams of a job, one per file. All threads of a job must be made from the same ones,
/// because they may share a cursor.
pub(crate) fn streams(job: &JobPlan) -> Vec<Streams> {
    let of_file = |(file, span): (usize, &stripewise_workload::Span)| {
        let mut workload: Workload = job.workload.clone();
        // Files of one job must not be used in lockstep; the first one has the streams that a job
        // on it alone would have. Lanes generate their own arrivals, which are divided over files
        // and threads.
        workload.seed = derived_seed(workload.seed, file as u64);
        Streams::new(&workload, *span)
    };
    job.spans.iter().enumerate().map(of_file).collect()
}

impl Worker {
    /// Thread `thread` of job number `job`. `streams` come from [`streams`].
    ///
    /// # Panics
    /// If the job has no span, or its block size does not fit 31 bits.
    pub(crate) fn new(
        job: usize,
        plan: &JobPlan,
        streams: &[Streams],
        thread: u32,
        run: &RunPlan,
        window: Arc<Window>,
    ) -> Self {
        let lane = |file: usize| Lane::new(plan, &streams[file], file, thread);
        let first = lane(0);
        let others: Vec<Lane> = (1..streams.len()).map(lane).collect();
        // With its files in turn, a thread has no more slots than on one of them; the lanes are
        // polled one after the other.
        let slots: u32 = match plan.workload.in_turn {
            true => first.limit(),
            false => first.limit() + others.iter().map(Lane::limit).sum::<u32>(),
        };
        let think = plan.workload.think_time.map(Think::new);
        let replay = (plan.recorded.clone()).map(|load| Box::new(Replay::new(load, slots)));
        let simple = others.is_empty()
            && first.is_simple()
            && plan.is_short()
            && replay.is_none()
            && run.operations_max_per_thread.is_none();
        let length = i32::try_from(plan.workload.block_size_bytes).expect("at most 64 MiB");
        let open_loop = plan.workload.has_due_times();
        // The lowest slots are on top, so a partly used set of buffers stays small.
        let free = if simple {
            Vec::new()
        } else {
            (0..slots).rev().collect()
        };
        let times = window.times();
        let unused = |slot: u32| Slot {
            start_ns: 0,
            issued_ns: 0,
            offset_bytes: 0,
            next_free: if slot + 1 < slots { slot + 1 } else { NO_SLOT },
            lane: 0,
            kind: Kind::Read,
        };
        Worker {
            short_free: if simple { 0 } else { NO_SLOT },
            slots: (0..slots).map(unused).collect(),
            short_result: if simple { length } else { NO_RESULT },
            length_bytes: length as u32,
            mixed: first.stream.is_mixed() || replay.is_some(),
            boundary_ns: u64::MAX,
            recorder: Recorder::new(open_loop),
            first,
            others,
            free,
            turn: 0,
            simple,
            lanes_count: !simple && replay.is_none(),
            open_loop,
            think,
            replay,
            remaining: run.operations_max_per_thread.unwrap_or(u64::MAX),
            job,
            interval: times.interval_at(0),
            times,
            moving: (times.measure_from_ns, times.stop_at_ns),
            edge_ns: u64::MAX,
            beat_ns: u64::MAX,
            pauses: 0,
            pauses_ns: 0,
            window,
            spares: vec![Recorder::new(open_loop)],
            reports: Vec::with_capacity(4),
            drain: DrainCounts::of_job(plan),
            full_until_ns: 0,
            failures_in_a_row: 0,
            failures_in_a_row_max: match run.errors_max_in_a_row {
                0 => u32::MAX,
                limit => limit,
            },
            fingerprint: 0,
            gave_up: false,
        }
    }

    /// Most operations that it has in flight.
    pub(crate) fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The run starts; its times are set in the window.
    pub(crate) fn begin(&mut self) {
        self.times = self.window.times();
        self.moving = (self.times.measure_from_ns, self.times.stop_at_ns);
        self.interval = self.times.interval_at(self.times.start_ns);
        if self.window.pauses.are_watched() {
            self.beat_ns = self.times.start_ns + BEAT_NS;
        }
        self.set_edge(self.interval.end_ns);
        let start_ns = self.times.start_ns;
        self.first.begin(start_ns);
        if let Some(replay) = &mut self.replay {
            replay.begin(start_ns);
        }
        for lane in &mut self.others {
            lane.begin(start_ns);
        }
    }

    /// Checks whether the run's times were moved. Once per batch, before completions.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        let moving = self.window.moving();
        if moving != self.moving {
            self.moving = moving;
            self.times = self.window.times().later(self.pauses_ns);
            let limit_ns = match self.interval.phase {
                Phase::Ramp => self.times.measure_from_ns.min(self.times.stop_at_ns),
                Phase::Measuring => self.times.stop_at_ns,
                Phase::Draining => return,
            };
            let end_ns = self
                .interval
                .start_ns
                .saturating_add(self.times.interval_ns);
            self.set_edge(end_ns.min(limit_ns));
        }
    }

    /// Advances to `now_ns`: closes the interval if it is over. Once per batch, before polling for
    /// operations.
    #[inline]
    pub(crate) fn advance(&mut self, now_ns: u64) {
        self.refresh();
        if now_ns >= self.boundary_ns {
            self.cross(now_ns);
        }
    }

    /// The next time at which [`Worker::advance`] acts: the next edge or beat.
    pub(crate) fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// The end of the interval.
    pub(crate) fn edge_ns(&self) -> u64 {
        self.edge_ns
    }

    /// A time of the engine's clock on the run's clock, without the pauses cut out here.
    pub(crate) fn without_pauses(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.pauses_ns)
    }

    fn set_edge(&mut self, edge_ns: u64) {
        self.edge_ns = edge_ns;
        self.boundary_ns = edge_ns.min(self.beat_ns);
    }

    /// Whether no more operations will come.
    pub(crate) fn is_finished(&self) -> bool {
        self.interval.phase == Phase::Draining || self.remaining == 0 || self.gave_up
    }

    /// Nothing more will complete: closes the last interval if open.
    pub(crate) fn finish(&mut self) {
        if self.interval.phase != Phase::Draining {
            if self.gave_up {
                self.give_up_arrivals();
            }
            self.close(u64::MAX);
            self.interval.phase = Phase::Draining;
            self.set_edge(u64::MAX);
        }
    }

    /// Whether a closed interval is waiting to be taken.
    #[inline]
    pub(crate) fn has_report(&self) -> bool {
        !self.reports.is_empty()
    }

    /// The oldest closed interval not taken yet.
    #[inline]
    pub(crate) fn take_report(&mut self) -> Option<Report> {
        if self.reports.is_empty() {
            return None;
        }
        Some(self.reports.remove(0))
    }

    /// Whether the next interval could not be closed for want of a spare recorder.
    #[inline]
    pub(crate) fn wants_spare(&self) -> bool {
        self.spares.is_empty()
    }

    /// Takes back an emptied recorder.
    pub(crate) fn give_back(&mut self, recorder: Recorder) {
        self.spares.push(recorder);
    }

    /// Operations completed after the stop, up to `now_ns`.
    pub(crate) fn drain(&self, now_ns: u64) -> DrainCounts {
        self.last_word(now_ns)
    }

    fn lane(&mut self, lane: u16) -> &mut Lane {
        match lane {
            0 => &mut self.first,
            other => &mut self.others[usize::from(other) - 1],
        }
    }

    /// `at_ns` is at or past the edge or the beat.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, at_ns: u64) {
        if at_ns >= self.beat_ns {
            self.beat(at_ns);
            if at_ns < self.edge_ns {
                return;
            }
        }
        let span = self.times.interval_at(at_ns);
        if span.phase == Phase::Draining {
            self.give_up_arrivals();
            self.close(u64::MAX);
            self.use_long_path();
        } else if span.phase == self.interval.phase && self.spares.is_empty() {
            // The coordinator is behind: extend the interval.
            self.set_edge(span.end_ns);
            return;
        } else {
            self.close(self.without_pauses(span.start_ns));
        }
        self.interval = span;
        self.set_edge(span.end_ns);
    }

    /// Beats, and cuts out any pause.
    fn beat(&mut self, at_ns: u64) {
        let pauses = &self.window.pauses;
        let late_ns = at_ns.saturating_sub(self.beat_ns);
        self.beat_ns = at_ns.saturating_add(BEAT_NS);
        if late_ns < LATE_NS {
            pauses.beat(at_ns);
        } else {
            for gap in pauses.look(at_ns, self.pauses) {
                self.cut_out(gap, at_ns);
            }
        }
        self.set_edge(self.edge_ns);
    }

    /// The program was paused: moves all times before the pause's end so that the window excludes
    /// it. The device kept working during the pause, so operations in flight have no measured
    /// latency, only a lower bound down to 0: they are marked, and counted without one.
    fn cut_out(&mut self, gap: Gap, at_ns: u64) {
        let by_ns = gap.length_ns();
        self.pauses += 1;
        self.pauses_ns += by_ns;
        self.times = self.times.later(by_ns);
        self.interval.start_ns = self.interval.start_ns.saturating_add(by_ns);
        self.interval.end_ns = self.interval.end_ns.saturating_add(by_ns);
        self.edge_ns = self.edge_ns.saturating_add(by_ns);
        for slot in &mut self.slots {
            // Free slots are marked too: issuing an operation overwrites that.
            let start_ns = slot.start_ns & !UNMEASURED;
            if start_ns < gap.to_ns {
                slot.start_ns = gap.moved(start_ns, at_ns) | UNMEASURED;
            }
            let mark = slot.issued_ns & UNMEASURED;
            slot.issued_ns = gap.moved(slot.issued_ns ^ mark, at_ns) | mark;
        }
        if let Some(think) = &mut self.think {
            think.cut_out(gap);
        }
        if let Some(replay) = &mut self.replay {
            replay.move_arrivals(by_ns);
        }
        self.first.cut_out(gap, at_ns);
        for lane in &mut self.others {
            lane.cut_out(gap, at_ns);
        }
    }

    fn close(&mut self, until_ns: u64) {
        if self.recorder.fingerprint() != self.fingerprint {
            self.failures_in_a_row = 0;
        }
        self.fingerprint = 0;
        let spare = self.spares.pop();
        let fresh = spare.unwrap_or_else(|| Recorder::new(self.open_loop));
        self.reports.push(Report {
            phase: self.interval.phase,
            start_ns: self.without_pauses(self.interval.start_ns),
            until_ns,
            recorder: std::mem::replace(&mut self.recorder, fresh),
            cpu: CpuTimes::default(),
        });
    }
}
