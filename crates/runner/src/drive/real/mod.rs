//! The driver for real files: a thread and an engine for each worker, real time.
//!
//! The calling thread is the coordinator. It sleeps, takes reports, asks the
//! policy and tells the observer; it never stands in a worker's way. Reports
//! travel by channel once an interval, and their recorders come back by another.
//! A worker that is blocked in the operating system for good cannot be stopped:
//! it is left behind when the drain limit has passed, and its operations count
//! as abandoned. A thread beside them does nothing but give signs of life, so that a
//! pause of the program is told from a silent device, and cut out ([`crate::Pause`]).

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
    /// What it does.
    pub plan: JobPlan,
    /// The files of `plan.spans`, opened as the workload's cache mode wants: one
    /// set for all threads, or a set for each, one after the other, as
    /// [`FILES_SERVE_ONE_ENGINE`](stripewise_io_engine::FILES_SERVE_ONE_ENGINE)
    /// has it. Empty for engines that need none.
    pub files: Vec<Arc<File>>,
    /// Ask for registered buffers.
    pub register_buffers: bool,
    /// Faults to inject, for engines that do.
    pub faults: Option<FaultPlan>,
    /// Where engines that time hand-overs leave the times.
    pub hand_overs: Option<HandOverLog>,
    /// What its data is compared with, where that is asked for.
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
