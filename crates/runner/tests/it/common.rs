//! What the tests share: small plans, and runs of one job in either driver.

use std::sync::atomic::AtomicU8;
use stripewise_array_sim::Simulate;
use stripewise_runner::drive::real::RealJob;
use stripewise_runner::drive::virtual_time::SimulatedJob;
use stripewise_runner::drive::{real, virtual_time};
use stripewise_runner::{AsPlanned, JobPlan, RunPlan, RunTotals};
use stripewise_workload::{Span, Workload};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// 8K random reads, one thread, one outstanding, on 1 GiB.
pub fn workload() -> Workload {
    Workload {
        block_size_bytes: 8192,
        threads: 1,
        outstanding: 1,
        ..Workload::default()
    }
}

pub fn span(workload: &Workload) -> Span {
    Span {
        start_bytes: 0,
        block_size_bytes: workload.block_size_bytes,
        blocks: (1 << 30) / workload.block_size_bytes,
    }
}

pub fn job(workload: Workload) -> JobPlan {
    let span = span(&workload);
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

pub fn real_job(plan: JobPlan) -> RealJob {
    RealJob {
        plan,
        files: Vec::new(),
        register_buffers: false,
        faults: None,
    }
}

/// One job on one array in virtual time.
pub fn simulate<A: Simulate>(workload: Workload, array: A, plan: &RunPlan) -> RunTotals {
    let job = SimulatedJob {
        plan: job(workload),
        arrays: vec![0],
    };
    let totals = virtual_time::run(
        &[job],
        &mut [array],
        plan,
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    totals.expect("the plan is sound")
}

/// One job on an engine in real time.
pub fn run_real<E: stripewise_io_engine::Engine + 'static>(
    workload: Workload,
    plan: &RunPlan,
) -> RunTotals {
    let jobs = [real_job(job(workload))];
    let none = AtomicU8::new(0);
    let totals = real::run::<E>(&jobs, &[], plan, &mut AsPlanned, &mut (), &none);
    totals.expect("the engine opens")
}
