//! 256 threads stay under 64 MiB, however wide their latencies spread.

use crate::common::*;
use stripewise_io_engine::backend::faulty::Faulty;
use stripewise_io_engine::backend::null::Null;
use stripewise_io_engine::{Effect, Fault, FaultPlan, When};
use stripewise_runner::AsPlanned;
use stripewise_runner::drive::real;
use stripewise_workload::Workload;

/// Peak resident memory of this process, where the system reports it.
fn resident_bytes_max() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1_024)
}

#[test]
fn threads_256_stay_under_64_mib() {
    if resident_bytes_max().is_none() {
        return skip("threads_256_stay_under_64_mib", "/proc/self/status");
    }
    // Its threads take the processors for as long as it runs.
    let _alone = alone();
    own_process!();
    // Delays from 1 us to 1 s: every octave between is touched.
    let faults = (0..20).map(|octave| Fault::Operation {
        when: When::PerMillion(1_000),
        kind: None,
        effect: Effect::Delay(1_000 << octave),
    });
    let mut job = real_job(Workload {
        threads: 256,
        outstanding: 4,
        read_percent: 50,
        block_size_bytes: 512,
        ..workload()
    });
    job.faults = Some(FaultPlan::new(1, faults.collect()));
    let none = std::sync::atomic::AtomicU8::new(0);
    let plan = plan(2 * SECOND);
    let totals = real::run::<Faulty<Null>>(&[job], &[], &plan, &mut AsPlanned, &mut (), &none)
        .expect("the engine opens");
    assert!(totals.jobs[0].counts.operations() > 0);
    let resident = resident_bytes_max().expect("it was there before");
    assert!(resident < 64 << 20, "{} MiB", resident >> 20);
}
