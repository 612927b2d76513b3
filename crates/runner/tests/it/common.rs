//! What the tests share: small plans, and runs of one job in either driver.

pub use crate::skips::skip;
pub use crate::wait::wait_until;
use std::sync::atomic::AtomicU8;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stripewise_array_sim::Simulate;
use stripewise_io_engine::Engine;
use stripewise_runner::drive::real::RealJob;
use stripewise_runner::drive::virtual_time::SimulatedJob;
use stripewise_runner::drive::{real, virtual_time};
use stripewise_runner::{
    AsPlanned, IntervalSummary, JobCounts, JobPlan, Observer, Policy, RunPlan, RunTotals,
};
use stripewise_workload::{Span, Workload};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// Runs real threads one test at a time: their engine completes at once, so that each takes a whole
/// processor, and several would starve the thread that closes the intervals.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 8K random reads, one thread, one outstanding.
pub fn workload() -> Workload {
    Workload {
        block_size_bytes: 8192,
        threads: 1,
        outstanding: 1,
        ..Workload::default()
    }
}

/// A job on the first GiB.
pub fn job(workload: Workload) -> JobPlan {
    let span = Span {
        start_bytes: 0,
        block_size_bytes: workload.block_size_bytes,
        blocks: (1 << 30) / workload.block_size_bytes,
    };
    JobPlan::new(workload, span, 0)
}

/// No ramp, intervals of 100 ms.
pub fn plan(duration_ns: u64) -> RunPlan {
    RunPlan {
        interval_ns: 100 * MS,
        duration_ns,
        ..RunPlan::default()
    }
}

pub fn simulated_job(workload: Workload, array: usize) -> SimulatedJob {
    SimulatedJob {
        plan: job(workload),
        arrays: vec![array],
    }
}

pub fn real_job(workload: Workload) -> RealJob {
    RealJob {
        plan: job(workload),
        files: Vec::new(),
        register_buffers: false,
        faults: None,
        hand_overs: None,
        checks: None,
    }
}

/// One job on one array in virtual time.
pub fn simulate<A: Simulate>(workload: Workload, array: A, plan: &RunPlan) -> RunTotals {
    simulate_with(workload, array, plan, &mut AsPlanned, &mut ())
}

/// One job on one array in virtual time, with a policy and an observer.
pub fn simulate_with<A: Simulate>(
    workload: Workload,
    array: A,
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
) -> RunTotals {
    let (jobs, none) = ([simulated_job(workload, 0)], AtomicU8::new(0));
    let totals = virtual_time::run(&jobs, &mut [array], plan, policy, observer, &none);
    totals.expect("the plan is sound")
}

/// One job on an engine in real time.
pub fn run_real<E: Engine + 'static>(workload: Workload, plan: &RunPlan) -> RunTotals {
    let (jobs, none) = ([real_job(workload)], AtomicU8::new(0));
    let totals = real::run::<E>(&jobs, &[], plan, &mut AsPlanned, &mut (), &none);
    totals.expect("the engine opens")
}

/// Keeps all that a run says.
#[derive(Default)]
pub struct RunLog {
    pub intervals: Vec<IntervalSummary>,
    pub measured: Option<(Vec<JobCounts>, u64)>,
    pub ticks: u64,
}

impl Observer for RunLog {
    fn interval(&mut self, summary: &IntervalSummary) {
        assert!(self.measured.is_none(), "no interval after the last word");
        self.intervals.push(summary.clone());
    }

    fn measured(&mut self, jobs: &[JobCounts], measured_ns: u64) {
        assert!(self.measured.is_none(), "said once");
        self.measured = Some((jobs.to_vec(), measured_ns));
    }

    fn tick(&mut self, _now_ns: u64) {
        self.ticks += 1;
    }
}

/// Whether all threads reported in time for the last interval. One that did not run for a second
/// reports after it.
pub fn none_was_late(run_log: &RunLog) -> bool {
    run_log
        .intervals
        .last()
        .is_some_and(|last| last.workers_late == 0)
}

/// The measured intervals of one job, added up.
pub fn sum_of_intervals(run_log: &RunLog, job: usize) -> JobCounts {
    let mut sum = JobCounts::default();
    for interval in &run_log.intervals {
        if interval.phase == stripewise_runner::Phase::Measuring {
            sum.merge(&interval.jobs[job]);
        }
    }
    sum
}
