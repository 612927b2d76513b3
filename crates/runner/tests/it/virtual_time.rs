//! Closed and open loops in virtual time, exact.

use crate::common::*;
use stripewise_array_sim::Fifo;
use stripewise_io_engine::Kind;
use stripewise_io_engine::backend::null::Null;
use stripewise_workload::Workload;

#[test]
fn a_fifo_disk_with_n_outstanding_has_latency_n_times_service() {
    for (outstanding, threads) in [(1, 1), (7, 1), (32, 1), (4, 8)] {
        let service_ns = 100_000;
        let workload = Workload {
            outstanding,
            threads,
            ..workload()
        };
        let plan = stripewise_runner::RunPlan {
            ramp_ns: 50 * MS,
            ..plan(SECOND)
        };
        let totals = simulate(workload, Fifo::new(1 << 30, service_ns), &plan);
        let reads = totals.jobs[0].counts.kind(Kind::Read);
        let in_flight = u64::from(outstanding * threads);
        assert_eq!(totals.measured_ns, SECOND);
        assert_eq!(totals.ramp_ns, 50 * MS);
        assert_eq!(reads.operations, SECOND / service_ns);
        assert_eq!(reads.bytes, 8192 * SECOND / service_ns);
        assert_eq!(reads.latency_ns.min(), Some(in_flight * service_ns));
        assert_eq!(reads.latency_ns.max(), Some(in_flight * service_ns));
        assert_eq!(totals.jobs[0].drain.operations, in_flight);
    }
}

#[test]
fn smoke_null() {
    let totals = run_real::<Null>(
        Workload {
            outstanding: 32,
            threads: 2,
            ..workload()
        },
        &plan(300 * MS),
    );
    eprintln!("{:?}", totals.jobs[0].counts.cpu);
    eprintln!("{:?} {:?}", totals.jobs[0].counts.operations(), totals.stop_reason);
    assert!(totals.jobs[0].counts.operations() > 1000);
}
