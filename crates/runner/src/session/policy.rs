//! Runs until the duration has passed and enough operations have completed.

use crate::{Decision, IntervalSummary, Phase, Policy, RunPlan};

/// A run that needs more operations than its duration gives is extended to at most this multiple.
const LONGEST: u64 = 1_000;

/// Ends a run once both the duration and the number of operations are reached.
pub(super) struct MinimumOperations<'a> {
    /// Something below a job is gone, and continuing could do harm.
    is_lost: &'a dyn Fn() -> bool,
    duration_ns: u64,
    operations_min: u64,
    operations: u64,
}

impl<'a> MinimumOperations<'a> {
    pub(super) fn new(plan: &RunPlan, operations_min: u64, is_lost: &'a dyn Fn() -> bool) -> Self {
        MinimumOperations {
            is_lost,
            duration_ns: plan.duration_ns,
            operations_min,
            operations: 0,
        }
    }

    /// The plan with an open end, for this policy to determine.
    pub(super) fn open_ended(&self, plan: RunPlan) -> RunPlan {
        if self.operations_min == 0 {
            plan
        } else {
            RunPlan {
                duration_ns: u64::MAX,
                ..plan
            }
        }
    }
}

impl Policy for MinimumOperations<'_> {
    fn stops_now(&mut self) -> bool {
        (self.is_lost)()
    }

    fn interval(&mut self, summary: &IntervalSummary) -> Decision {
        if self.operations_min == 0 || summary.phase != Phase::Measuring {
            return Decision::Continue;
        }
        self.operations += summary
            .jobs
            .iter()
            .map(crate::JobCounts::operations)
            .sum::<u64>();
        let passed_ns = summary.start_ns + summary.duration_ns;
        let enough = self.operations >= self.operations_min && passed_ns >= self.duration_ns;
        if enough || passed_ns >= self.duration_ns.saturating_mul(LONGEST) {
            return Decision::StopAfter(passed_ns);
        }
        Decision::Continue
    }
}
