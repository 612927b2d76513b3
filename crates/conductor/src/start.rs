//! Starting together with others: waiting for an agreed instant once everything is
//! open, and recording when the workers really started.

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
use stripewise_units::{WallTime, format_duration, path_of};

/// Between the end of one run and the start of the next, where several follow one
/// instant: for what is still in flight.
const BETWEEN_RUNS_NS: u64 = 2_000_000_000;
/// How often a wait looks whether somebody wants it to end.
const LOOK_EVERY_NS: u64 = 20_000_000;
/// A start that is later than agreed by more than this is worth a warning.
const LATE_NS: i64 = 10_000_000;

/// What goes along with runs that others make at the same time. All calls come on the
/// thread that runs the session.
pub trait Companion: fmt::Debug {
    /// The targets were judged, and nothing has been opened, made or written yet. `plan`
    /// is the same on all hosts that are to measure the same.
    ///
    /// # Errors
    /// Where this or another host cannot do it.
    fn checked(&self, context: &Context, targets: &[MeasuredPlace], plan: &str) -> Outcome<()> {
        let _ = (context, targets, plan);
        Ok(())
    }

    /// Everything is open. Returns when the workers may start: at once in virtual time.
    ///
    /// # Errors
    /// Where nothing will come of it.
    fn ready(&self, waiting: &Waiting<'_>) -> Outcome<Agreed>;

    /// A measured interval of all jobs is complete.
    fn interval(&self, summary: &IntervalSummary, intervals: &[Interval]) {
        let _ = (summary, intervals);
    }

    /// Time passes. `true` stops the run.
    fn stops(&self, context: &Context) -> bool {
        let _ = context;
        false
    }

    /// Operations a second of all hosts together, where it knows.
    fn iops_now(&self) -> Option<f64> {
        None
    }

    /// The run is over, and the store has its record.
    fn finished(&self, context: &Context, record: &RunRecord) {
        let _ = (context, record);
    }
}

/// A file or device that is measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredPlace {
    /// As it was named.
    pub name: String,
    /// What it is among those of its host.
    pub identity: Identity,
}

/// Files and devices among these targets. Test files in a directory are nobody else's, and
/// so are simulated arrays.
#[must_use]
pub fn places(targets: &[String]) -> Vec<MeasuredPlace> {
    let system = System::live();
    let real = targets.iter().filter(|text| !text.starts_with("sim:"));
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

/// What a companion has while it waits.
pub struct Waiting<'a> {
    /// Store, clock, interrupt.
    pub context: &'a Context,
    /// Where the wait is shown.
    pub progress: &'a Progress<'a>,
    /// Where the run begins on its scale.
    pub position: u64,
    /// The run as far as it is known.
    pub skeleton: &'a RunRecord,
    /// It runs in virtual time, in which nothing is waited for.
    pub is_virtual: bool,
}

/// What was agreed upon.
#[derive(Clone, Debug, Default)]
pub struct Agreed {
    /// The instant, on this host's clock.
    pub at: Option<WallTime>,
    /// This host's clock minus that of the group, and how well that is known.
    pub clock: Option<ClockOffset>,
    /// Those that it runs with.
    pub group: Option<GroupRecord>,
}

/// What two clocks differ by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// Nanoseconds.
    pub offset_ns: i64,
    /// It is right to so many.
    pub error_ns: u64,
}

/// Starts runs at an instant that was given to each host by hand. Several runs follow
/// each other at times that all hosts work out alike.
#[derive(Debug)]
pub struct AtInstant {
    next: Cell<WallTime>,
}

impl AtInstant {
    /// The first run starts at `first`.
    #[must_use]
    pub fn new(first: WallTime) -> AtInstant {
        AtInstant {
            next: Cell::new(first),
        }
    }
}

impl Companion for AtInstant {
    fn ready(&self, waiting: &Waiting<'_>) -> Outcome<Agreed> {
        let at = self.next.get();
        let lengths = waiting.skeleton.jobs.iter();
        let length_ns = lengths.map(|job| job.workload.length_ns()).max();
        let after_ns = length_ns.unwrap_or(0).saturating_add(BETWEEN_RUNS_NS);
        self.next.set(WallTime(at.ns().saturating_add(after_ns)));
        if !waiting.is_virtual {
            wait_until(waiting, at);
        }
        Ok(Agreed {
            at: Some(at),
            ..Agreed::default()
        })
    }
}

/// Sleeps until the host's clock shows `at`, however often that clock is set meanwhile;
/// an interrupt ends it.
fn wait_until(waiting: &Waiting<'_>, at: WallTime) {
    let context = waiting.context;
    let mut is_said = false;
    while context.signal().is_none() {
        let Ok(left_ns @ 1..) = u64::try_from(at.since(context.wall())) else {
            return;
        };
        if !is_said && left_ns > 2_000_000_000 {
            let left = format_duration(left_ns);
            context.status(format!(
                "Waiting for {at}, in {left}; Ctrl-C ends the wait."
            ));
        }
        is_said = true;
        let title = format!("Starts in {}", format_duration(left_ns));
        waiting.progress.update(waiting.position, &title, None);
        std::thread::sleep(Duration::from_nanos(left_ns.min(LOOK_EVERY_NS)));
    }
}

/// When a run's workers started, as well as it can be told from beside it.
#[derive(Clone, Debug)]
pub(super) struct Started {
    agreed: Agreed,
    /// The host's clock at the moment below.
    wall: WallTime,
    /// The context's clock when the workers were let go; a look at the run's own time
    /// can only show that it was earlier.
    at_ns: u64,
    /// The context's clock when `wall` was read.
    read_ns: u64,
    ramp_ns: u64,
    is_virtual: bool,
}

impl Started {
    /// The workers are let go now.
    pub(super) fn now(waiting: &Waiting<'_>, agreed: Agreed) -> Started {
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

    /// At `now_ns` of the context's clock the workers had run for `run_ns`.
    pub(super) fn look(&mut self, now_ns: u64, run_ns: u64) {
        // What passes between the two readings makes the start seem later, as does a
        // pause that was cut out of the run's time: the earliest is right.
        let seen_ns = now_ns.saturating_sub(run_ns).max(self.read_ns);
        match self.at_ns == self.read_ns {
            // Not looked yet: letting go takes time itself.
            true => self.at_ns = seen_ns,
            false => self.at_ns = self.at_ns.min(seen_ns),
        }
    }

    /// What the record says of it; nothing of simulated arrays whose virtual time began
    /// at no agreed instant.
    pub(super) fn record(&self) -> Option<StartRecord> {
        let Agreed { at, clock, group } = self.agreed.clone();
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

    /// What the record must say about a start that came late.
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
