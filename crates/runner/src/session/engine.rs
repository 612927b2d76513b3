//! Chooses the engine once per run; everything below is generic.

use crate::drive::real::{self, RealJob};
use crate::{AsPlanned, Error, JobPlan, Observer, Policy, RunPlan, RunTotals};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_io_engine::backend::{
    faulty::Faulty,
    linux_io_uring::{Nvme, Uring, can_discard},
    null::Null,
    portable_threads::Threads,
    timed::{HandOverLog, HandOvers, Timed},
    windows_iocp::Iocp,
};
use stripewise_io_engine::{Choice, EngineName};
use stripewise_workload::{Span, Workload};

/// A job with its file open.
pub(super) struct OpenJob {
    pub(super) plan: JobPlan,
    /// As [`RealJob::files`]; empty for the null engine.
    pub(super) files: Vec<Arc<File>>,
}

impl OpenJob {
    fn real(self, settings: &super::Settings) -> RealJob {
        RealJob {
            plan: self.plan,
            files: self.files,
            register_buffers: true,
            faults: settings.faults.clone(),
            hand_overs: settings.time_hand_overs.then(HandOverLog::default),
            checks: settings.checks.clone(),
        }
    }
}

/// Result of a run.
pub(super) struct DriveResult {
    pub(super) totals: RunTotals,
    /// Why no better engine was chosen.
    pub(super) fallbacks: Vec<String>,
    /// Submission times by job, if requested.
    pub(super) hand_overs: Vec<Option<HandOvers>>,
}

/// Runs the jobs on the requested engine; with `auto`, on the best that works here, with the
/// reasons for not using a better one.
pub(super) fn drive(
    jobs: Vec<OpenJob>,
    settings: &super::Settings,
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
    interrupt: &AtomicU8,
) -> Result<DriveResult, Error> {
    let jobs: Vec<RealJob> = jobs.into_iter().map(|job| job.real(settings)).collect();
    let choice = choose(settings.engine, &jobs);
    let run = match (choice.engine, settings.faults.is_some()) {
        (EngineName::Null, _) => real::run::<Null>,
        (EngineName::Threads, true) => real::run::<Faulty<Threads>>,
        (EngineName::Threads, false) if settings.time_hand_overs => real::run::<Timed<Threads>>,
        (EngineName::Threads, false) => real::run::<Threads>,
        (EngineName::Iocp, true) => real::run::<Faulty<Iocp>>,
        (EngineName::Iocp, false) if settings.time_hand_overs => real::run::<Timed<Iocp>>,
        (EngineName::Iocp, false) => real::run::<Iocp>,
        (EngineName::Nvme, true) => real::run::<Faulty<Nvme>>,
        (EngineName::Nvme, false) if settings.time_hand_overs => real::run::<Timed<Nvme>>,
        (EngineName::Nvme, false) => real::run::<Nvme>,
        (_, true) => real::run::<Faulty<Uring>>,
        (_, false) if settings.time_hand_overs => real::run::<Timed<Uring>>,
        (_, false) => real::run::<Uring>,
    };
    let totals = run(&jobs, &settings.cpus, plan, policy, observer, interrupt)?;
    let hand_overs = jobs
        .iter()
        .map(|job| job.hand_overs.as_ref().map(HandOverLog::total))
        .collect();
    Ok(DriveResult {
        totals,
        fallbacks: choice.because.into_iter().collect(),
        hand_overs,
    })
}

/// The requested engine; with `auto`, the best that works here for all jobs.
fn choose(requested: EngineName, jobs: &[RealJob]) -> Choice {
    let choice = requested.choose();
    if requested != EngineName::Auto || choice.engine != EngineName::Uring {
        return choice;
    }
    let mut discarding = jobs.iter().filter(|job| job.plan.workload.discards());
    match discarding.try_for_each(|job| can_discard(&job.files).map(drop)) {
        Ok(()) => choice,
        Err(error) => Choice {
            engine: EngineName::Threads,
            because: Some(format!(
                "the threads engine is used instead of io_uring: {error}"
            )),
        },
    }
}

/// The program's own cost of an operation without a disk: nanoseconds per operation and thread,
/// measured with the null engine for `duration_ns`. `None` if it could not be measured.
pub fn own_cost_ns(duration_ns: u64) -> Option<f64> {
    let workload = Workload {
        outstanding: 32,
        ..Workload::default()
    };
    let span = Span {
        start_bytes: 0,
        block_size_bytes: workload.block_size_bytes,
        blocks: 1 << 20,
    };
    let job = RealJob {
        plan: JobPlan::new(workload, span, 0),
        files: Vec::new(),
        register_buffers: false,
        faults: None,
        hand_overs: None,
        checks: None,
    };
    let plan = RunPlan {
        interval_ns: duration_ns.max(1_000_000),
        ramp_ns: duration_ns / 10,
        duration_ns,
        ..RunPlan::default()
    };
    let interrupt = AtomicU8::new(0);
    let totals = real::run::<Null>(&[job], &[], &plan, &mut AsPlanned, &mut (), &interrupt).ok()?;
    let operations = totals.jobs.first()?.counts.operations();
    (operations > 0).then(|| totals.measured_ns as f64 / operations as f64)
}
