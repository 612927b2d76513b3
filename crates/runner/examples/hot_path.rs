//! Measures the full path of an operation: worker, recorder, driver, engine.
//!
//! `hot_path ENGINE PATH OUTSTANDING SECONDS [THREADS]` with ENGINE one of uring,
//! threads, null: 8K random reads of PATH, every latency recorded. PATH is
//! opened through the page cache; give a file that fits in memory. For
//! instructions per operation run it under `valgrind --tool=callgrind`.
//! `sim` for ENGINE runs a simulated disk in virtual time instead; use `time` to see how many
//! simulated operations run per second of real time.
//! Without arguments: a tenth of a second of the null engine.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::Fifo;
use stripewise_io_engine::Engine;
use stripewise_io_engine::backend::{linux_io_uring::Uring, null::Null, portable_threads::Threads};
use stripewise_runner::drive::real::{self, RealJob};
use stripewise_runner::drive::virtual_time::{self, SimulatedJob};
use stripewise_runner::{AsPlanned, JobPlan, RunPlan, RunTotals};
use stripewise_workload::{Span, Workload};

const BLOCK_BYTES: u64 = 8192;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text =
        |index: usize, default: &'static str| arguments.get(index).map_or(default, String::as_str);
    let (engine, path) = (text(0, "null"), text(1, ""));
    let file = if path.is_empty() {
        None
    } else {
        Some(File::open(path)?)
    };
    let size_bytes = match &file {
        Some(file) => file.metadata()?.len(),
        None => 4 << 30,
    };
    let workload = Workload {
        block_size_bytes: BLOCK_BYTES,
        outstanding: text(2, "128").parse()?,
        threads: text(4, "1").parse()?,
        ..Workload::default()
    };
    let span = Span {
        start_bytes: 0,
        block_size_bytes: BLOCK_BYTES,
        blocks: size_bytes / BLOCK_BYTES,
    };
    let seconds: f64 = text(3, "0.1").parse()?;
    let plan = RunPlan {
        duration_ns: (seconds * 1e9) as u64,
        ..RunPlan::default()
    };
    let threads = workload.threads;
    let job = JobPlan::new(workload, span, 0);
    let files: Vec<Arc<File>> = file.into_iter().map(Arc::new).collect();
    let totals = match engine {
        "uring" => real_time::<Uring>(job, files, &plan)?,
        "threads" => real_time::<Threads>(job, files, &plan)?,
        "sim" => virtual_time::run(
            &[SimulatedJob {
                plan: job,
                arrays: vec![0],
            }],
            &mut [Fifo::new(size_bytes, 1_000)],
            &plan,
            &mut AsPlanned,
            &mut (),
            &AtomicU8::new(0),
        )?,
        _ => real_time::<Null>(job, files, &plan)?,
    };
    print(&totals, threads);
    Ok(())
}

fn real_time<E: Engine + 'static>(
    plan: JobPlan,
    files: Vec<Arc<File>>,
    run: &RunPlan,
) -> Result<RunTotals, stripewise_runner::Error> {
    let job = RealJob {
        plan,
        files,
        register_buffers: true,
        faults: None,
        hand_overs: None,
        checks: None,
    };
    real::run::<E>(&[job], &[], run, &mut AsPlanned, &mut (), &AtomicU8::new(0))
}

fn print(totals: &RunTotals, threads: u32) {
    let counts = &totals.jobs[0].counts;
    let operations = counts.operations();
    let latency = counts.latency_ns();
    println!(
        "{{\"operations\":{operations},\"ns_per_operation_and_thread\":{:.2},\
         \"cpu_user_ns_per_operation\":{:.2},\"latency_ns_mean\":{:.0},\"latency_ns_p99\":{},\
         \"errors\":{},\"drained\":{}}}",
        totals.measured_ns as f64 * f64::from(threads) / operations as f64,
        counts.cpu.user_ns as f64 / operations as f64,
        latency.mean().unwrap_or(0.0),
        latency.percentile(99.0).unwrap_or(0),
        counts.errors.total(),
        totals.jobs[0].drain.operations,
    );
}
