//! The driver for real files: a thread and an engine for each worker, real time.

use crate::{Error, JobPlan, Observer, Policy, RunPlan, RunTotals};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_io_engine::{Engine, FaultPlan};

/// One job on real files.
#[derive(Clone, Debug)]
pub struct RealJob {
    /// What it does.
    pub plan: JobPlan,
    /// The files of `plan.spans`, opened as the workload's cache mode wants.
    pub files: Vec<Arc<File>>,
    /// Ask for registered buffers.
    pub register_buffers: bool,
    /// Faults to inject, for engines that do.
    pub faults: Option<FaultPlan>,
}

/// Runs `jobs` at once, all threads on engine `E`, and returns when the last
/// operation has completed or the drain limit has passed. `cpus`: threads are
/// pinned to these processors in turn; empty: they are not.
///
/// `interrupt` is looked at about 20 times a second: 0 goes on, 1 stops as at
/// the planned end, 2 stops without waiting for what is in flight.
///
/// # Errors
/// When an engine cannot be opened or a thread cannot be made; nothing was
/// issued then, so the caller may try again with another engine. An engine that
/// breaks later is [`RunTotals::failure`].
pub fn run<E: Engine + 'static>(
    jobs: Vec<RealJob>,
    cpus: &[u32],
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
    interrupt: &AtomicU8,
) -> Result<RunTotals, Error> {
    let _ = (jobs, cpus, plan, policy, observer, interrupt);
    Err(Error::Plan("not there yet".to_owned()))
}
