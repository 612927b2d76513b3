//! The driver for simulated arrays: one loop over all workers and arrays in
//! virtual time, on the calling thread. Same plans and seeds, same bytes out.

use crate::{Error, JobPlan, Observer, Policy, RunPlan, RunTotals};
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::Simulate;

/// One job on simulated arrays.
#[derive(Clone, Debug)]
pub struct SimulatedJob {
    /// What it does.
    pub plan: JobPlan,
    /// The array of each of `plan.spans`, as an index into `arrays`; several
    /// jobs may share one.
    pub arrays: Vec<usize>,
}

/// Runs `jobs` at once on `arrays`. `interrupt` as in
/// [`real::run`](crate::drive::real::run).
///
/// # Errors
/// [`Error::TimeStandsStill`] where operations take no time and the plan does
/// not limit their number; [`Error::Plan`] where a job names no array.
pub fn run<A: Simulate>(
    jobs: &[SimulatedJob],
    arrays: &mut [A],
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
    interrupt: &AtomicU8,
) -> Result<RunTotals, Error> {
    let _ = (jobs, arrays, plan, policy, observer, interrupt);
    Err(Error::Plan("not there yet".to_owned()))
}
