//! Synchronised starts: waits for an agreed instant once everything is
//! open, and records when the workers really started.

use crate::context::Context;
use crate::failure::Outcome;
use crate::observer::Progress;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::time::Duration;
use stripewise_disk_inspect::{Identity, Inspect, System};
use stripewise_results::{GroupRecord, Interval, RunRecord, Severity, StartRecord, Warning};
use stripewise_runner::IntervalSummary;
use stripewise_units::{WallTime, format_duration, is_sim_target, path_of};

/// Between the end of one run and the start of the next, if several follow one
/// instant: time for operations in flight.
const BETWEEN_RUNS_NS: u64 = 2_000_000_000;
/// How often a wait checks for an interrupt.
const LOOK_EVERY_NS: u64 = 20_000_000;
/// A start later than agreed by more than this causes a warning.
const LATE_NS: i64 = 10_000_000;

/// Coordinates a session's runs with those of other hosts. All calls come on the
/// thread that runs the session.
pub trait Companion: fmt::Debug {
    /// The targets were checked, but nothing has been opened, made or written yet. `plan`
    /// is the same on all hosts that are to measure the same.
    ///
    /// # Errors
    /// If this or another host cannot do it.
    fn checked(&self, context: &Context, targets: &[MeasuredPlace], plan: &str) -> Outcome<()> {
        let _ = (context, targets, plan);
        Ok(())
    }

    /// Everything is open. Returns when the workers may start: immediately in virtual time.
    ///
    /// # Errors
    /// If the group gives up.
    fn ready(&self, waiting: &WaitContext<'_>) -> Outcome<StartAgreement>;

    /// A measured interval of all jobs is complete.
    fn interval(&self, summary: &IntervalSummary, intervals: &[Interval]) {
        let _ = (summary, intervals);
    }

    /// Called regularly. `true` stops the run.
    fn stops(&self, context: &Context) -> bool {
        let _ = context;
        false
    }

    /// IOPS of all hosts together, if known.
    fn iops_now(&self) -> Option<f64> {
        None
    }

    /// The run is over, and its record stored unless the store refused it.
    fn finished(&self, context: &Context, record: &RunRecord) {
        let _ = (context, record);
    }
}

/// A file or device to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredPlace {
    /// As the user named it.
    pub name: String,
    /// Identifies it among those of its host.
    pub identity: Identity,
}

/// Files and devices among these targets. Test files in a directory and simulated arrays are
/// used by no other process.
pub fn places(targets: &[String]) -> Vec<MeasuredPlace> {
    let system = System::live();
    let real = targets.iter().filter(|text| !is_sim_target(text));
    let place = |text: &String| {
        let path = path_of(text);
        let identity = system.identity(&path).filter(|_| !path.is_dir())?;
        Some(MeasuredPlace {
            name: text.clone(),
            identity,
        })
    };
    real.filter_map(place).collect()
}

/// What a companion works with while it waits.
pub struct WaitContext<'a> {
    /// Store, clock, interrupt.
    pub context: &'a Context,
    /// Where the wait is shown.
    pub progress: &'a Progress<'a>,
    /// Position of the run's start on the progress scale.
    pub position: u64,
    /// The run's record as far as it is known.
    pub skeleton: &'a RunRecord,
    /// The run is in virtual time, in which there is no waiting.
    pub is_virtual: bool,
}

/// What the hosts agreed on.
#[derive(Clone, Debug, Default)]
pub struct StartAgreement {
    /// The instant, on this host's clock.
    pub at: Option<WallTime>,
    /// Offset of this host's clock from that of the group, and its error.
    pub clock: Option<ClockOffset>,
    /// The hosts that run together.
    pub group: Option<GroupRecord>,
}

/// Offset between two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// In nanoseconds.
    pub offset_ns: i64,
    /// Error bound in nanoseconds.
    pub error_ns: u64,
}

/// Starts runs at an instant that the user gave to each host. Further runs follow
/// at times that all hosts compute alike.
#[derive(Debug)]
pub struct ScheduledStart {
    next: Cell<WallTime>,
}

impl ScheduledStart {
    /// The first run starts at `first`.
    pub fn new(first: WallTime) -> ScheduledStart {
        ScheduledStart {
            next: Cell::new(first),
        }
    }
}

impl Companion for ScheduledStart {
    fn ready(&self, waiting: &WaitContext<'_>) -> Outcome<StartAgreement> {
        let at = self.next.get();
        let lengths = waiting.skeleton.jobs.iter();
        let length_ns = lengths.map(|job| job.workload.length_ns()).max();
        let after_ns = length_ns.unwrap_or(0).saturating_add(BETWEEN_RUNS_NS);
        self.next.set(WallTime(at.ns().saturating_add(after_ns)));
        if !waiting.is_virtual {
            wait_until(waiting, at);
        }
        Ok(StartAgreement {
            at: Some(at),
            ..StartAgreement::default()
        })
    }
}

/// Sleeps until the host's clock reads `at`, even if that clock is set meanwhile;
/// an interrupt ends it.
fn wait_until(waiting: &WaitContext<'_>, at: WallTime) {
    let context = waiting.context;
    let mut is_announced = false;
    while context.signal().is_none() {
        let Ok(left_ns @ 1..) = u64::try_from(at.since(context.wall())) else {
            return;
        };
        if !is_announced && left_ns > 2_000_000_000 {
            let left = format_duration(left_ns);
            context.status(format!(
                "Waiting for {at}, in {left}; Ctrl-C ends the wait."
            ));
        }
        is_announced = true;
        let title = format!("Starts in {}", format_duration(left_ns));
        waiting.progress.update(waiting.position, &title, None);
        std::thread::sleep(Duration::from_nanos(left_ns.min(LOOK_EVERY_NS)));
    }
}

/// When a run's workers started, as accurately as another thread can determine.
#[derive(Clone, Debug)]
pub(super) struct Started {
    agreed: StartAgreement,
    /// The host's clock at `read_ns`.
    wall: WallTime,
    /// The context's clock when the workers were released; later checks of the run's own time
    /// can only show that the start was earlier.
    at_ns: u64,
    /// The context's clock when `wall` was read.
    read_ns: u64,
    ramp_ns: u64,
    is_virtual: bool,
}

impl Started {
    /// Called when the workers are released.
    pub(super) fn now(waiting: &WaitContext<'_>, agreed: StartAgreement) -> Started {
        let (now_ns, wall) = (waiting.context.now_ns(), waiting.context.wall());
        let ramps = waiting.skeleton.jobs.iter().map(|job| job.workload.ramp_ns);
        Started {
            agreed,
            wall,
            at_ns: now_ns,
            read_ns: now_ns,
            ramp_ns: ramps.max().unwrap_or(0),
            is_virtual: waiting.is_virtual,
        }
    }

    /// At `now_ns` of the context's clock, the workers had run for `run_ns`.
    pub(super) fn look(&mut self, now_ns: u64, run_ns: u64) {
        // Delay between the two readings makes the start seem later, as does a
        // pause excluded from the run's time: the earliest estimate is right.
        let seen_ns = now_ns.saturating_sub(run_ns).max(self.read_ns);
        match self.at_ns == self.read_ns {
            // The first check: releasing the workers takes time itself.
            true => self.at_ns = seen_ns,
            false => self.at_ns = self.at_ns.min(seen_ns),
        }
    }

    /// The start for the record; none for simulated arrays, whose virtual time began at no
    /// agreed instant.
    pub(super) fn record(&self) -> Option<StartRecord> {
        let StartAgreement { at, clock, group } = self.agreed.clone();
        let started = match self.is_virtual {
            true => at?,
            false => WallTime(self.wall.ns().saturating_add(self.at_ns - self.read_ns)),
        };
        Some(StartRecord {
            measured_from: WallTime(started.ns().saturating_add(self.ramp_ns)),
            agreed: at,
            skew_ns: at.map(|at| started.since(at)),
            clock_offset_ns: clock.map(|clock| clock.offset_ns),
            clock_error_ns: clock.map(|clock| clock.error_ns),
            clock_drift_ns: None,
            group,
        })
    }

    /// The warning for a late start.
    pub(super) fn warning(&self) -> Option<Warning> {
        let late_ns = self
            .record()?
            .skew_ns
            .filter(|late_ns| *late_ns > LATE_NS)?;
        let late = format_duration(late_ns.unsigned_abs());
        Some(Warning {
            code: "late-start".to_owned(),
            severity: Severity::Warning,
            message: format!(
                "the workers started {late} after the agreed instant: opening and filling took longer"
            ),
            short: String::new(),
            hint:
                "agree on a later start, or make the test file beforehand with `stripewise prepare`"
                    .into(),
        })
    }
}
