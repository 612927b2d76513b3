//! Interfaces that decide when a run measures and stops, and that observe it.

use crate::summary::{IntervalSummary, JobCounts};

/// What to do after an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Continue as decided before.
    Continue,
    /// End the ramp now and measure from here on, for the planned duration. In the measured phase
    /// it means `Continue`.
    StartMeasuring,
    /// Stop this many nanoseconds after the start of measuring, whether earlier or later than
    /// decided before; at once if that has passed. In the ramp it means `Continue`.
    StopAfter(u64),
    /// Stop now.
    Stop,
}

/// Decides between intervals: ramp until steady, stop once precise enough. Called on the
/// coordinator's thread, in order of time, including the ramp's intervals.
pub trait Policy {
    /// Decides after one interval.
    fn interval(&mut self, summary: &IntervalSummary) -> Decision;

    /// Whether to stop at once, in the middle of an interval. Called whenever the real driver's
    /// coordinator wakes, see [`RunPlan::look_ns`](crate::RunPlan).
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

/// Observes a run. All methods are called on the coordinator's thread while the workers run. Each
/// does nothing by default.
pub trait Observer {
    /// The workers were started; `capabilities` of the first thread of each job.
    fn started(&mut self, capabilities: &[stripewise_io_engine::Capabilities]) {
        let _ = capabilities;
    }

    /// An interval is complete; called before the policy sees it.
    fn interval(&mut self, summary: &IntervalSummary) {
        let _ = summary;
    }

    /// Measuring has ended and every interval was passed on; `measured_ns` is the length of the
    /// window. Called before the drain, which a stalled device can prolong: store the result now.
    fn measured(&mut self, jobs: &[JobCounts], measured_ns: u64) {
        let _ = (jobs, measured_ns);
    }

    /// Called regularly with the time since the start of the workers: about 20 times a second by
    /// the real driver, and at interval edges by the other.
    fn tick(&mut self, now_ns: u64) {
        let _ = now_ns;
    }
}

/// Observes nothing.
impl Observer for () {}
