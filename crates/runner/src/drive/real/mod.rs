//! The driver for real files: a thread and an engine per worker, in real time.
//!
//! The calling thread is the coordinator. It sleeps, takes reports, and calls the policy and the
//! observer; it never blocks a worker. Reports arrive by channel once an interval, and their
//! recorders return by another. A worker permanently blocked in the operating system cannot be
//! stopped: it is abandoned once the drain limit has passed, and its operations count as abandoned.
//! A heartbeat thread distinguishes a pause of the program from a silent device, so that pauses can
//! be cut out ([`crate::Pause`]).

mod coordinator;
mod heartbeat;
mod thread;

use crate::checked::Checks;
use crate::{Error, JobPlan, Observer, Policy, RunPlan, RunTotals};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_io_engine::backend::timed::HandOverLog;
use stripewise_io_engine::{Engine, FaultPlan};

/// One job on real files.
#[derive(Clone, Debug)]
pub struct RealJob {
    /// Its workload.
    pub plan: JobPlan,
    /// The files of `plan.spans`, opened for the workload's cache mode: one set for all threads, or
    /// one set per thread in order, depending on
    /// [`FILES_SERVE_ONE_ENGINE`](stripewise_io_engine::FILES_SERVE_ONE_ENGINE). Empty for engines
    /// that need none.
    pub files: Vec<Arc<File>>,
    /// Request registered buffers.
    pub register_buffers: bool,
    /// Faults to inject, for engines that support it.
    pub faults: Option<FaultPlan>,
    /// Where engines that time submissions record the times.
    pub hand_overs: Option<HandOverLog>,
    /// What its data is verified against, if requested.
    pub checks: Option<Checks>,
}

impl RealJob {
    /// The files of one thread.
    fn files_of(&self, thread: u32) -> &[Arc<File>] {
        let spans = self.plan.spans.len();
        let mut sets = self.files.chunks(spans.max(1));
        let first = sets.clone().next().unwrap_or_default();
        sets.nth(thread as usize).unwrap_or(first)
    }
}

/// Runs `jobs` concurrently, all threads on engine `E`, and returns when the last operation has
/// completed or the drain limit has passed. `cpus`: threads are pinned to these processors in turn;
/// empty: not pinned.
///
/// `interrupt` is checked about 20 times a second: 0 continues, 1 stops as at the planned end, 2
/// stops without waiting for operations in flight.
///
/// # Errors
/// If an engine cannot be opened or a thread cannot be created; nothing was issued then, so the
/// caller may retry with another engine. An engine that fails later is [`RunTotals::failure`].
pub fn run<E: Engine + 'static>(
    jobs: &[RealJob],
    cpus: &[u32],
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
    interrupt: &AtomicU8,
) -> Result<RunTotals, Error> {
    let plans: Vec<&JobPlan> = jobs.iter().map(|job| &job.plan).collect();
    super::check(&plans, plan)?;
    coordinator::Run::start::<E>(jobs, cpus, plan)?.into_totals(policy, observer, interrupt)
}
