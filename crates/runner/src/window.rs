//! The times that divide a run: start, measure from, stop, and the interval edges between them.
//!
//! Shared between the coordinator, which may move them during the run (a policy ends the ramp, the
//! user presses Ctrl-C), and the workers, which read them once per batch. Each is a separate
//! atomic, read relaxed: no other memory is published with them, and a worker that sees a change
//! one batch late is covered by [`Window::GUARD_NS`].

use crate::pauses::Pauses;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The part of a run that a time belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before measuring; seen by the policy, not counted.
    Ramp,
    /// Completions in it count.
    Measuring,
    /// After the stop; counted separately.
    Draining,
}

/// One interval: its phase and position, nanoseconds on the run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its phase.
    pub phase: Phase,
    /// First nanosecond.
    pub start_ns: u64,
    /// The nanosecond after the last; `u64::MAX` while draining.
    pub end_ns: u64,
    /// Number of the interval in its phase, from 0.
    pub index: u64,
}

/// The run's times at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the workers started.
    pub start_ns: u64,
    /// Completions count from here; `u64::MAX`: not decided yet.
    pub measure_from_ns: u64,
    /// Nothing is issued and nothing counts from here on; `u64::MAX`: not decided yet.
    pub stop_at_ns: u64,
    /// Length of an interval, above 0.
    pub interval_ns: u64,
}

impl Times {
    /// The same times for a clock that is `pauses_ns` ahead of the run's.
    pub(crate) fn later(self, pauses_ns: u64) -> Times {
        Times {
            start_ns: self.start_ns.saturating_add(pauses_ns),
            measure_from_ns: self.measure_from_ns.saturating_add(pauses_ns),
            stop_at_ns: self.stop_at_ns.saturating_add(pauses_ns),
            interval_ns: self.interval_ns,
        }
    }

    /// The interval containing `at_ns`. Edges are counted from `start_ns` in the ramp and from
    /// `measure_from_ns` after it; the last interval of a phase may be short.
    pub fn interval_at(&self, at_ns: u64) -> Span {
        let (phase, origin_ns, limit_ns) = if at_ns >= self.stop_at_ns {
            return Span {
                phase: Phase::Draining,
                start_ns: self.stop_at_ns,
                end_ns: u64::MAX,
                index: 0,
            };
        } else if at_ns >= self.measure_from_ns {
            (Phase::Measuring, self.measure_from_ns, self.stop_at_ns)
        } else {
            let limit_ns = self.measure_from_ns.min(self.stop_at_ns);
            (Phase::Ramp, self.start_ns, limit_ns)
        };
        let index = at_ns.saturating_sub(origin_ns) / self.interval_ns;
        let start_ns = origin_ns + index * self.interval_ns;
        Span {
            phase,
            start_ns,
            end_ns: start_ns.saturating_add(self.interval_ns).min(limit_ns),
            index,
        }
    }
}

/// The shared times of a run.
#[derive(Debug)]
pub struct Window {
    start_ns: AtomicU64,
    measure_from_ns: AtomicU64,
    stop_at_ns: AtomicU64,
    interval_ns: u64,
    /// The job that gave up; `NO_WORKER` if none has.
    gave_up: AtomicUsize,
    /// Pauses cut out. The run's times above exclude them.
    pub(crate) pauses: Pauses,
}

/// No job.
const NO_WORKER: usize = usize::MAX;

impl Window {
    /// How far ahead of the clock the real driver sets a time, so that every worker has read it by
    /// then: longer than the handling of any batch.
    pub const GUARD_NS: u64 = 2_000_000;

    /// A window whose times are not known yet.
    pub fn new(interval_ns: u64) -> Self {
        Window {
            start_ns: AtomicU64::new(0),
            measure_from_ns: AtomicU64::new(u64::MAX),
            stop_at_ns: AtomicU64::new(u64::MAX),
            interval_ns: interval_ns.max(1),
            gave_up: AtomicUsize::new(NO_WORKER),
            pauses: Pauses::default(),
        }
    }

    /// The current times.
    #[inline]
    pub fn times(&self) -> Times {
        Times {
            start_ns: self.start_ns.load(Ordering::Relaxed),
            measure_from_ns: self.measure_from_ns.load(Ordering::Relaxed),
            stop_at_ns: self.stop_at_ns.load(Ordering::Relaxed),
            interval_ns: self.interval_ns,
        }
    }

    /// Start of measuring and stop; all that a worker needs to read per batch.
    #[inline]
    pub(crate) fn moving(&self) -> (u64, u64) {
        (
            self.measure_from_ns.load(Ordering::Relaxed),
            self.stop_at_ns.load(Ordering::Relaxed),
        )
    }

    /// Sets the start and what follows from the plan: `ramp_ns` until measuring, then `duration_ns`
    /// until the stop; `u64::MAX` leaves it open.
    pub(crate) fn begin(&self, start_ns: u64, ramp_ns: u64, duration_ns: u64) {
        self.start_ns.store(start_ns, Ordering::Relaxed);
        self.measure(start_ns.saturating_add(ramp_ns), duration_ns);
    }

    /// Measures from `at_ns` on, for `duration_ns`.
    pub(crate) fn measure(&self, at_ns: u64, duration_ns: u64) {
        let stop_at_ns = at_ns.saturating_add(duration_ns);
        self.measure_from_ns.store(at_ns, Ordering::Relaxed);
        self.stop_at_ns.store(stop_at_ns, Ordering::Relaxed);
    }

    /// Stops at `at_ns`, or earlier if so decided before.
    pub(crate) fn stop(&self, at_ns: u64) {
        self.stop_at_ns.fetch_min(at_ns, Ordering::Relaxed);
    }

    /// Stops shortly after `at_ns` because job number `job` fails persistently.
    pub(crate) fn give_up(&self, job: usize, at_ns: u64) {
        self.gave_up.store(job, Ordering::Relaxed);
        self.stop(at_ns.saturating_add(Self::GUARD_NS));
    }

    /// The job that gave up.
    pub(crate) fn gave_up(&self) -> Option<usize> {
        let job = self.gave_up.load(Ordering::Relaxed);
        (job != NO_WORKER).then_some(job)
    }

    /// Stops at `at_ns`, even if later than decided before.
    pub(crate) fn move_stop(&self, at_ns: u64) {
        self.stop_at_ns.store(at_ns, Ordering::Relaxed);
    }
}
