//! Closed loops in virtual time: exact latencies and rates.

use crate::arrays::Scripted;
use crate::common::*;
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::Fifo;
use stripewise_io_engine::Kind;
use stripewise_results::{CountedOperations, Counting};
use stripewise_runner::drive::virtual_time;
use stripewise_runner::{AsPlanned, Error, RunPlan, StopReason};
use stripewise_workload::{SyncPolicy, ThinkTime, Workload};

#[test]
fn a_fifo_disk_with_n_outstanding_has_latency_n_times_service() {
    for (outstanding, threads) in [(1, 1), (7, 1), (32, 1), (4, 8), (1, 256)] {
        let service_ns = 100_000;
        let workload = Workload {
            outstanding,
            threads,
            ..workload()
        };
        let plan = RunPlan {
            ramp_ns: 50 * MS,
            ..plan(SECOND)
        };
        let totals = simulate(workload, Fifo::new(1 << 30, service_ns), &plan);
        let reads = totals.jobs[0].counts.kind(Kind::Read);
        let in_flight = u64::from(outstanding * threads);
        assert_eq!(totals.measured_ns, SECOND);
        assert_eq!(totals.ramp_ns, 50 * MS);
        assert_eq!(totals.stop_reason, StopReason::Duration);
        assert_eq!(reads.operations, SECOND / service_ns);
        assert_eq!(reads.bytes, 8192 * SECOND / service_ns);
        assert_eq!(reads.latency_ns.min(), Some(in_flight * service_ns));
        assert_eq!(reads.latency_ns.max(), Some(in_flight * service_ns));
        let drain = &totals.jobs[0].drain;
        assert_eq!(drain.operations, in_flight);
        assert_eq!(drain.latency_ns_max, in_flight * service_ns);
        assert_eq!((drain.abandoned, drain.errors), (0, 0));
    }
}

#[test]
fn threads_pause_once_a_number_of_operations_have_completed() {
    // A disk that takes 100 us for each operation, one at a time.
    for (threads, outstanding, every, pause_ns, expected) in [
        (1, 1, 1, 900_000, 1_000),
        // Eight of them take 800 us however many are in flight.
        (1, 1, 8, 200_000, 8_000),
        (1, 4, 8, 200_000, 8_000),
        (1, 32, 8, 200_000, 8_000),
        // Four threads, each once in 700 us: while one pauses, the others go on.
        (4, 1, 1, 600_000, 5_714),
    ] {
        let workload = Workload {
            threads,
            outstanding,
            think_time: Some(ThinkTime { pause_ns, every }),
            ..workload()
        };
        let totals = simulate(workload, Fifo::new(1 << 30, 100_000), &plan(SECOND));
        let reads = totals.jobs[0].counts.kind(Kind::Read);
        let spread = u64::from(threads) * u64::from(every);
        assert!(
            reads.operations.abs_diff(expected) <= spread,
            "{} for {expected}",
            reads.operations
        );
        // The pause is no part of anybody's latency.
        let in_flight = u64::from(outstanding.min(every) * threads);
        assert!(reads.latency_ns.max() <= Some(in_flight * 100_000));
    }
}

#[test]
fn an_owed_sync_is_done_before_the_pause() {
    let workload = Workload {
        read_percent: 0,
        outstanding: 2,
        sync: Some(SyncPolicy::fdatasync(2)),
        think_time: Some(ThinkTime {
            pause_ns: 10 * MS,
            every: 4,
        }),
        ..workload()
    };
    let totals = simulate(workload, Fifo::new(1 << 30, 100_000), &plan(SECOND));
    let counts = &totals.jobs[0].counts;
    let (writes, syncs) = (
        counts.kind(Kind::Write).operations,
        counts.kind(Kind::Sync).operations,
    );
    assert!(
        writes.abs_diff(2 * syncs) <= 2,
        "{writes} writes, {syncs} syncs"
    );
    // 4 writes and 2 syncs of at most 100 us each, then 10 ms.
    assert!((370..=400).contains(&writes), "{writes}");
    assert!(counts.kind(Kind::Sync).latency_ns.max() < Some(10 * MS));
}

/// Writes with a sync after every so many.
fn committing(outstanding: u32, every: u32) -> Workload {
    Workload {
        read_percent: 0,
        outstanding,
        sync: Some(SyncPolicy::fdatasync(every)),
        ..workload()
    }
}

#[test]
fn a_commit_lasts_from_its_first_write_to_the_end_of_its_sync() {
    let think_time = Some(ThinkTime {
        pause_ns: 10 * MS,
        every: 8,
    });
    let after_each = Workload {
        think_time,
        ..committing(1, 8)
    };
    // With two outstanding a request waits for the one before it.
    for (workload, shortest_ns, longest_ns) in [
        (committing(1, 1), 200_000, 200_000),
        (committing(1, 8), 900_000, 900_000),
        (after_each, 900_000, 900_000),
        (committing(2, 1), 300_000, 400_000),
    ] {
        let totals = simulate(workload, Fifo::new(1 << 30, 100_000), &plan(SECOND));
        let counts = &totals.jobs[0].counts;
        let commits = &counts.commits;
        assert_eq!(commits.operations, counts.kind(Kind::Sync).operations);
        assert_eq!(commits.latency_ns.min(), Some(shortest_ns));
        assert_eq!(commits.latency_ns.max(), Some(longest_ns));
    }
    // Here a commit would wait for its own load.
    let paused = Workload {
        think_time,
        ..committing(1, 16)
    };
    let totals = simulate(paused, Fifo::new(1 << 30, 100_000), &plan(SECOND));
    let counts = &totals.jobs[0].counts;
    assert!(counts.kind(Kind::Sync).operations > 0);
    assert_eq!(counts.commits.operations, 0);
}

#[test]
fn a_commit_that_the_stop_cut_off_counts_only_if_it_is_late_already() {
    // Two writes and a sync take 300 us. The last write of the second ends with it, 100 us after
    // its commit began.
    for (thresholds_ns, due, beyond) in [
        (vec![250_000, 350_000], 3_333, vec![3_333, 0]),
        (vec![300_000], 3_333, vec![0]),
        (vec![50_000], 3_334, vec![3_334]),
    ] {
        let mut job = simulated_job(committing(1, 2), 0);
        job.plan.counting = Counting {
            operations: CountedOperations::Commits,
            thresholds_ns,
            lag_ns_max: 0,
        };
        let mut arrays = [Fifo::new(1 << 30, 100_000)];
        let (plan, none) = (plan(SECOND), AtomicU8::new(0));
        let totals = virtual_time::run(&[job], &mut arrays, &plan, &mut AsPlanned, &mut (), &none);
        let totals = totals.expect("the plan is sound");
        let record = totals.jobs[0].drain.due.record().expect("it is counted");
        assert_eq!(record.seconds.len(), 1);
        assert_eq!(
            (record.seconds[0].due, &record.seconds[0].beyond),
            (due, &beyond)
        );
    }
}

#[test]
fn what_never_completed_is_late_only_by_what_was_waited_for_it() {
    for (threshold_ns, counted) in [(5 * MS, (900, 1)), (5 * SECOND, (899, 0))] {
        let mut job = simulated_job(workload(), 0);
        job.plan.counting = Counting::transfers(vec![threshold_ns]);
        // A read of 1 ms that is issued at 899 ms, and waited for until 2 s.
        let silent = Scripted {
            stall: 900 * MS..100 * SECOND,
            ..Scripted::new(MS)
        };
        let plan = RunPlan {
            drain_limit_ns: SECOND,
            ..plan(SECOND)
        };
        let (mut arrays, none) = ([silent], AtomicU8::new(0));
        let totals = virtual_time::run(&[job], &mut arrays, &plan, &mut AsPlanned, &mut (), &none);
        let totals = totals.expect("the plan is sound");
        let drain = &totals.jobs[0].drain;
        assert_eq!(drain.abandoned, 1);
        let record = drain.due.record().expect("it is counted");
        let second = &record.seconds[0];
        assert_eq!((second.due, second.beyond[0]), counted, "{threshold_ns}");
    }
}

#[test]
fn operations_of_several_sizes_are_counted_with_their_own_bytes() {
    for outstanding in [1, 16] {
        let workload = Workload {
            outstanding,
            block_size_bytes: 64 << 10,
            block_sizes: "4K:75,64K:25".parse().unwrap(),
            read_percent: 50,
            ..workload()
        };
        let totals = simulate(workload, Fifo::new(1 << 30, 100_000), &plan(SECOND));
        let counts = &totals.jobs[0].counts;
        let all = counts.kind(Kind::Read).operations + counts.kind(Kind::Write).operations;
        // What completes at the very end of the window is drained.
        assert!((9_999..=10_000).contains(&all), "{all}");
        let bytes = counts.kind(Kind::Read).bytes + counts.kind(Kind::Write).bytes;
        // Every operation has one of the two sizes, in about those shares.
        let large = (bytes - all * 4096) / (60 << 10);
        assert_eq!(all * 4096 + large * (60 << 10), bytes);
        assert!((2_300..2_700).contains(&large), "{large}");
        assert_eq!(totals.jobs[0].drain.errors, 0);
        assert_eq!(counts.errors.total(), 0);
    }
}

#[test]
fn littles_law_holds_exactly_on_a_busy_disk() {
    for in_flight in [1, 3, 16] {
        let workload = Workload {
            outstanding: in_flight,
            read_percent: 70,
            ..workload()
        };
        let plan = RunPlan {
            ramp_ns: 100 * MS,
            ..plan(SECOND)
        };
        let totals = simulate(workload, Scripted::new(50_000), &plan);
        let counts = &totals.jobs[0].counts;
        assert!(counts.kind(Kind::Write).operations > 1_000);
        assert_eq!(
            counts.in_flight_ns_sum,
            u128::from(in_flight) * u128::from(totals.measured_ns)
        );
    }
}

#[test]
fn a_sync_follows_every_n_writes() {
    for every in [1, 4, 10] {
        let array = Scripted::new(10_000);
        let log = array.log.clone();
        let workload = Workload {
            read_percent: 0,
            sync: Some(SyncPolicy::fdatasync(every)),
            ..workload()
        };
        let totals = simulate(workload, array, &plan(100 * MS));
        let kinds: Vec<Kind> = (log.borrow().requests.iter())
            .map(|(_, request)| request.kind)
            .collect();
        let period = every as usize + 1;
        for (number, &kind) in kinds.iter().enumerate() {
            let expected = if number % period == period - 1 {
                Kind::Sync
            } else {
                Kind::Write
            };
            assert_eq!(kind, expected, "operation {number}, a sync after {every}");
        }
        let counts = &totals.jobs[0].counts;
        let syncs = counts.kind(Kind::Sync);
        assert!(syncs.operations.abs_diff(10_000 / period as u64) <= 1);
        assert_eq!(syncs.bytes, 0);
        assert_eq!(counts.operations() + syncs.operations, 9_999);
        assert_eq!(counts.kind(Kind::Write).latency_ns.max(), Some(10_000));
    }
}

#[test]
fn with_many_outstanding_each_sync_still_covers_n_completed_writes() {
    let array = Scripted::new(10_000);
    let log = array.log.clone();
    let workload = Workload {
        read_percent: 0,
        outstanding: 16,
        sync: Some(SyncPolicy::fdatasync(5)),
        ..workload()
    };
    simulate(workload, array, &plan(100 * MS));
    // First in, first out: at 10 us times k the first k requests have completed.
    let log = log.borrow();
    let kind_of = |number: usize| log.requests[number].1.kind;
    let (mut syncs, mut writes, mut completed) = (0, 0, 0);
    for (issued_ns, request) in &log.requests {
        while completed < (issued_ns / 10_000) as usize {
            writes += usize::from(kind_of(completed) == Kind::Write);
            completed += 1;
        }
        if request.kind == Kind::Sync {
            syncs += 1;
            assert_eq!(writes, 5 * syncs, "sync {syncs} at {issued_ns}");
        }
    }
    assert!(syncs > 1_000, "{syncs}");
}

#[test]
fn jobs_on_several_arrays_run_side_by_side_and_twice_the_same() {
    let run = || {
        let mixed = Workload {
            read_percent: 50,
            outstanding: 8,
            threads: 2,
            ..workload()
        };
        let other = Workload {
            seed: 7,
            outstanding: 2,
            ..workload()
        };
        // Jobs 0 and 1 share array 0; job 2 has array 1 for itself.
        let jobs = [
            simulated_job(mixed, 0),
            simulated_job(other.clone(), 0),
            simulated_job(other, 1),
        ];
        let mut arrays = [Scripted::new(100_000), Scripted::new(20_000)];
        let mut run_log = RunLog::default();
        let totals = virtual_time::run(
            &jobs,
            &mut arrays,
            &plan(SECOND),
            &mut AsPlanned,
            &mut run_log,
            &AtomicU8::new(0),
        );
        let totals = totals.expect("the plan is sound");
        for job in 0..3 {
            assert_eq!(totals.jobs[job].counts, sum_of_intervals(&run_log, job));
        }
        let text = format!("{:?}", (&totals, &run_log.intervals));
        (totals, text)
    };
    let ((totals, first), (_, second)) = (run(), run());
    assert_eq!(first, second, "same seeds, same bytes");
    let operations: Vec<u64> = (totals.jobs.iter())
        .map(|job| job.counts.operations())
        .collect();
    // 18 in flight on array 0, each served in turn: the share is 16 to 2.
    assert!(operations[0].abs_diff(8_889) <= 1, "{operations:?}");
    assert!(operations[1].abs_diff(1_111) <= 1, "{operations:?}");
    assert_eq!(operations[2], SECOND / 20_000 - 1);
    assert_eq!(totals.jobs[2].counts.latency_ns().max(), Some(40_000));
}

#[test]
fn several_files_of_a_job_have_each_their_outstanding() {
    let mut job = simulated_job(
        Workload {
            outstanding: 4,
            ..workload()
        },
        0,
    );
    job.plan.spans = vec![job.plan.spans[0]; 3];
    job.arrays = vec![0, 1, 1];
    let mut arrays = [Scripted::new(10_000), Scripted::new(10_000)];
    let totals = virtual_time::run(
        &[job],
        &mut arrays,
        &plan(100 * MS),
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    let totals = totals.expect("the plan is sound");
    let latency = totals.jobs[0].counts.latency_ns();
    assert_eq!(totals.jobs[0].counts.operations(), 2 * 9_999);
    assert_eq!(latency.min(), Some(10_000), "the first ones find no queue");
    assert_eq!(latency.max(), Some(8 * 10_000), "two files, one disk");
    assert_eq!(totals.jobs[0].drain.operations, 12);
    // The first offset of each file differs: they are not used in lockstep.
    let first = |array: &Scripted, at: usize| array.log.borrow().requests[at].1.offset_bytes;
    assert_ne!(first(&arrays[0], 0), first(&arrays[1], 0));
    assert_ne!(first(&arrays[1], 0), first(&arrays[1], 1));
}

#[test]
fn an_operation_limit_ends_the_run_behind_the_last_completion() {
    let plan = RunPlan {
        operations_max_per_thread: Some(1_000),
        ..plan(u64::MAX)
    };
    let workload = Workload {
        threads: 3,
        outstanding: 2,
        ..workload()
    };
    let totals = simulate(workload, Scripted::new(1_000), &plan);
    assert_eq!(totals.stop_reason, StopReason::Operations);
    assert_eq!(totals.jobs[0].counts.operations(), 3_000);
    assert_eq!(totals.measured_ns, 3_000 * 1_000 + 1);
    assert_eq!(totals.jobs[0].drain.operations, 0);
}

#[test]
fn an_array_without_service_time_is_refused_not_waited_for() {
    let (jobs, none) = ([simulated_job(workload(), 0)], AtomicU8::new(0));
    let error = virtual_time::run(
        &jobs,
        &mut [Fifo::new(1 << 30, 0)],
        &plan(SECOND),
        &mut AsPlanned,
        &mut (),
        &none,
    )
    .expect_err("time does not move");
    assert!(matches!(error, Error::TimeStandsStill { at_ns: 0, .. }));
    assert!(error.hint().is_some_and(|hint| hint.contains("service")));
}

#[test]
fn plans_that_contradict_themselves_are_refused() {
    let refused = |job: virtual_time::SimulatedJob, plan: RunPlan| {
        let mut arrays = [Scripted::new(1_000)];
        let none = AtomicU8::new(0);
        let result = virtual_time::run(&[job], &mut arrays, &plan, &mut AsPlanned, &mut (), &none);
        matches!(result, Err(Error::Plan(_)))
    };
    let good = simulated_job(workload(), 0);
    assert!(!refused(good.clone(), plan(MS)));
    assert!(refused(simulated_job(workload(), 1), plan(MS)));
    let interval_ns = 60 * SECOND;
    assert!(refused(
        good.clone(),
        RunPlan {
            interval_ns,
            ..plan(MS)
        }
    ));
    let mut empty = good.clone();
    empty.plan.spans[0].blocks = 0;
    assert!(refused(empty, plan(MS)));
    let mut foreign = good;
    foreign.plan.spans[0].block_size_bytes = 4096;
    assert!(refused(foreign, plan(MS)));
}
