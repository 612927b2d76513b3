//! Patterns, offsets, rates and syncs have their documented effect, on arrays with known truth.

use crate::support::{Desk, with};
use stripewise_results::RunRecord;
use stripewise_workload::{
    Arrivals, CursorKind, Distribution, Pattern, Rate, Request, SIMULATED_OPERATIONS_MIN,
    SyncPolicy, Workload,
};

const SECOND_NS: u64 = 1_000_000_000;

fn iops(record: &RunRecord) -> f64 {
    record.jobs[0].outcome.iops
}

#[test]
fn repetitions_do_everything_again() {
    let loads = [1, 4].map(|outstanding| Workload {
        outstanding,
        duration_ns: 10_000_000,
        ..Workload::default()
    });
    let records = Desk::new().run(Request {
        repetitions: 3,
        ..with("sim:nvme", loads)
    });
    let depths = records.iter().map(|run| run.jobs[0].workload.outstanding);
    assert_eq!(depths.collect::<Vec<_>>(), [1, 4, 1, 4, 1, 4]);
}

#[test]
fn a_misaligned_base_offset_costs_what_the_arithmetic_says() {
    // 8K on a 64K unit crosses it once in eight if the start is not a multiple of 8K.
    let loads = [0, 36 << 10].map(|base_offset_bytes| Workload {
        outstanding: 64,
        base_offset_bytes,
        ..Workload::default()
    });
    let records = Desk::new().run(Request {
        simulated_operations_min: SIMULATED_OPERATIONS_MIN,
        ..with("sim:raid10-10k?offset=0", loads)
    });
    let gain = iops(&records[0]) / iops(&records[1]);
    assert!((1.02..1.2).contains(&gain), "{gain}");
}

#[test]
fn patterns_mean_what_they_say_on_a_disk_that_seeks() {
    let patterns = [
        (Workload::default().pattern, 1),
        (
            Pattern::Sequential {
                cursor: CursorKind::Own,
            },
            1,
        ),
        (
            Pattern::Sequential {
                cursor: CursorKind::Shared,
            },
            4,
        ),
        (
            Pattern::Sequential {
                cursor: CursorKind::Own,
            },
            4,
        ),
        (
            Pattern::Stride {
                stride_bytes: 64 << 20,
                cursor: CursorKind::Own,
            },
            1,
        ),
        (
            Pattern::Random {
                distribution: Distribution::Hot {
                    space_percent: 1,
                    operations_percent: 99,
                },
            },
            1,
        ),
    ];
    let loads = patterns.map(|(pattern, threads)| Workload {
        pattern,
        threads,
        duration_ns: 5 * SECOND_NS,
        ..Workload::default()
    });
    let records = Desk::new().run(with("sim:disk-7k2", loads));
    let rates: Vec<f64> = records.iter().map(iops).collect();
    let [random, sequential, shared, own, stride, hot] = rates[..] else {
        panic!("{} runs", rates.len())
    };
    assert!(sequential > 20.0 * random, "{sequential} {random}");
    // One position for all threads is a stream, one for each is as bad as random.
    assert!(shared > 20.0 * own, "{shared} {own}");
    // A stride across the disk requires seeks; one across a hundredth of it, short seeks.
    assert!(stride < sequential / 10.0, "{stride} {sequential}");
    assert!(hot > 1.2 * random, "{hot} {random}");
}

#[test]
fn a_poisson_rate_waits_longer_than_a_fixed_one() {
    let loads = [Arrivals::Fixed, Arrivals::Poisson].map(|arrivals| Workload {
        rate: Some(Rate {
            iops: 100.0,
            arrivals,
        }),
        outstanding: 64,
        duration_ns: 60 * SECOND_NS,
        ..Workload::default()
    });
    let records = Desk::new().run(with("sim:disk-15k", loads));
    let mean = |record: &RunRecord| {
        let read = &record.jobs[0].outcome.read;
        read.latency_ns.as_ref().expect("reads").mean
    };
    let (fixed, poisson) = (mean(&records[0]), mean(&records[1]));
    assert!(poisson > 1.1 * fixed, "{poisson} {fixed}");
}

#[test]
fn a_rate_that_the_target_cannot_give_is_told_with_what_was_left_out() {
    let job = Desk::new().job(
        "sim:disk-7k2",
        Workload {
            rate: Some(Rate {
                iops: 2_000.0,
                arrivals: Arrivals::Fixed,
            }),
            outstanding: 4,
            duration_ns: 5 * SECOND_NS,
            ..Workload::default()
        },
    );
    let open_loop = job.outcome.open_loop.as_ref().expect("a rate");
    assert_eq!(open_loop.arrivals_due, 10_000);
    assert!(open_loop.arrivals_issued < 5_000, "{open_loop:?}");
    // Latency counts from the intended start: seconds, not milliseconds.
    let latency = job.outcome.read.latency_ns.as_ref().expect("reads");
    assert!(latency.p50 > 500_000_000);
    let mut codes = job.warnings.iter().map(|warning| warning.code.as_str());
    assert!(codes.any(|code| code == "arrivals-not-issued"));
}

#[test]
fn syncs_are_counted_and_timed_apart() {
    for every in [1, 4] {
        let job = Desk::new().job(
            "sim:sata-ssd",
            Workload {
                read_percent: 0,
                sync: Some(SyncPolicy::fdatasync(every)),
                duration_ns: SECOND_NS,
                ..Workload::default()
            },
        );
        let writes = job.outcome.write.operations;
        let syncs = job.outcome.sync.as_ref().expect("syncs");
        let expected = writes / u64::from(every);
        assert!(
            syncs.operations.abs_diff(expected) <= 1,
            "{every}: {writes} {}",
            syncs.operations
        );
        assert!(syncs.latency_ns.is_some());
        assert_eq!(job.outcome.operations, writes);
    }
}

#[test]
fn two_hundred_and_fifty_six_threads_work_in_virtual_time() {
    let job = Desk::new().job(
        "sim:nvme",
        Workload {
            threads: 256,
            outstanding: 4,
            duration_ns: 20_000_000,
            ..Workload::default()
        },
    );
    assert_eq!(job.workload.threads, 256);
    assert!(job.outcome.outstanding_mean > 900.0);
}

#[test]
fn sixty_five_thousand_operations_in_flight_work_in_virtual_time() {
    let job = Desk::new().job(
        "sim:nvme",
        Workload {
            threads: 16,
            outstanding: 4096,
            duration_ns: SECOND_NS,
            ..Workload::default()
        },
    );
    // The array takes 1,024 at once; all others wait in the program.
    assert!(job.outcome.outstanding_mean > 60_000.0);
}
