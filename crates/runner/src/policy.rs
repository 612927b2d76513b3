//! Who decides when a run measures and stops, and who watches it.

use crate::summary::{IntervalSummary, JobCounts};

/// What to do after an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on as decided before.
    Continue,
    /// End the ramp now and measure from here on, for the planned duration. In
    /// the measured phase it means `Continue`.
    StartMeasuring,
    /// Stop so many nanoseconds after the start of measuring, be it earlier or
    /// later than decided before; at once if that has passed. In the ramp it
    /// means `Continue`.
    StopAfter(u64),
    /// Stop now.
    Stop,
}

/// Decides between intervals: ramp until steady, stop when sure. Called on the
/// coordinator's thread, in order of time, for the ramp's intervals too.
pub trait Policy {
    /// Looks at one interval.
    fn interval(&mut self, summary: &IntervalSummary) -> Decision;

    /// Whether to stop at once, in the middle of an interval. Asked whenever the real
    /// driver's coordinator wakes, see [`RunPlan::look_ns`](crate::RunPlan).
    fn stops_now(&mut self) -> bool {
        false
    }
}

/// Ramp and duration as planned.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsPlanned;

impl Policy for AsPlanned {
    fn interval(&mut self, _summary: &IntervalSummary) -> Decision {
        Decision::Continue
    }
}

impl<F: FnMut(&IntervalSummary) -> Decision> Policy for F {
    fn interval(&mut self, summary: &IntervalSummary) -> Decision {
        self(summary)
    }
}

/// Watches a run. All methods are called on the coordinator's thread; the
/// workers go on meanwhile. Each does nothing unless it is written.
pub trait Observer {
    /// The workers were let go; `capabilities` of the first thread of each job.
    fn started(&mut self, capabilities: &[stripewise_io_engine::Capabilities]) {
        let _ = capabilities;
    }

    /// An interval is complete; called before the policy sees it.
    fn interval(&mut self, summary: &IntervalSummary) {
        let _ = summary;
    }

    /// Measuring is over and every interval was handed over; `measured_ns` is
    /// the length of the window. Called before the drain, which a stalled
    /// device can hold for long: store the result now.
    fn measured(&mut self, jobs: &[JobCounts], measured_ns: u64) {
        let _ = (jobs, measured_ns);
    }

    /// Time passes: `now_ns` since the start of the workers. Called about 20
    /// times a second by the real driver, and at interval edges by the other.
    fn tick(&mut self, now_ns: u64) {
        let _ = now_ns;
    }
}

/// Watches nothing.
impl Observer for () {}
