//! Rates: arrivals follow the schedule whatever the disk does.

use crate::arrays::Scripted;
use crate::common::*;
use std::sync::atomic::AtomicU8;
use stripewise_results::Counting;
use stripewise_runner::drive::virtual_time;
use stripewise_runner::{AsPlanned, RunPlan};
use stripewise_workload::{Arrivals, Rate, Workload};

fn rated(iops: f64, arrivals: Arrivals) -> Workload {
    Workload {
        rate: Some(Rate { iops, arrivals }),
        outstanding: 1_024,
        ..workload()
    }
}

#[test]
fn a_poisson_load_waits_as_the_formula_for_m_d_1_says() {
    // Pollaczek and Khinchine: mean wait = rho * service / (2 * (1 - rho)).
    let service_ns = 100_000;
    for (rho, tolerance) in [(0.3, 0.03), (0.5, 0.03), (0.8, 0.05)] {
        let workload = Workload {
            threads: 4,
            ..rated(rho * 10_000.0, Arrivals::Poisson)
        };
        let plan = RunPlan {
            ramp_ns: SECOND,
            interval_ns: SECOND,
            ..plan(100 * SECOND)
        };
        let totals = simulate(workload, Scripted::new(service_ns), &plan);
        let counts = &totals.jobs[0].counts;
        let mean = counts.latency_ns().mean().expect("there were operations");
        let wait = mean - service_ns as f64;
        let expected = rho * service_ns as f64 / (2.0 * (1.0 - rho));
        let error = (wait / expected - 1.0).abs();
        assert!(
            error < tolerance,
            "rho {rho}: {wait} ns, expected {expected}"
        );
        let rate = counts.operations() as f64 / 100.0;
        assert!((rate / (rho * 10_000.0) - 1.0).abs() < 0.01, "{rate} IOPS");
        // Little's law, with the time in flight counted from issue.
        let in_flight = counts.in_flight_ns_sum as f64 / totals.measured_ns as f64;
        let product = rate * mean / 1e9;
        assert!(
            (in_flight / product - 1.0).abs() < 1e-3,
            "{in_flight} {product}"
        );
        assert_eq!(counts.open_loop.schedule_lag_ns_max, 0);
    }
}

#[test]
fn fixed_arrivals_below_capacity_never_wait() {
    for threads in [1, 5] {
        let workload = Workload {
            threads,
            ..rated(5_000.0, Arrivals::Fixed)
        };
        let totals = simulate(workload, Scripted::new(100_000), &plan(SECOND));
        let counts = &totals.jobs[0].counts;
        assert_eq!(counts.latency_ns().max(), Some(100_000));
        assert_eq!(counts.open_loop.arrivals_due, 5_000);
        assert_eq!(counts.open_loop.arrivals_issued, 5_000);
        assert_eq!(counts.operations() + totals.jobs[0].drain.operations, 5_000);
    }
}

#[test]
fn beyond_capacity_arrivals_queue_up_and_the_unissued_are_censored() {
    // 2,000 due in the second, 1,000 served; 8 may be in flight.
    let workload = Workload {
        outstanding: 8,
        ..rated(2_000.0, Arrivals::Fixed)
    };
    let totals = simulate(workload, Scripted::new(MS), &plan(SECOND));
    let counts = &totals.jobs[0].counts;
    assert_eq!(counts.operations(), 999);
    assert_eq!(counts.open_loop.arrivals_due, 2_000);
    assert_eq!(counts.open_loop.arrivals_issued, 999 + 8);
    assert_eq!(totals.jobs[0].drain.operations, 8);
    // The k-th (from 0) arrives at k / 2 ms and completes at k + 1 ms.
    let latency = counts.latency_ns();
    assert_eq!(latency.max(), Some(998 * MS / 2 + MS));
    assert_eq!(latency.min(), Some(MS));
    // Arrival 1,006 is due at 503 ms and issued when 999 have completed.
    assert_eq!(counts.open_loop.schedule_lag_ns_max, 999 * MS - 503 * MS);
    // In flight never more than 8, however late the schedule.
    assert!(counts.in_flight_ns_sum <= 8 * u128::from(totals.measured_ns));
}

#[test]
fn arrivals_of_the_ramp_are_not_due_in_the_window() {
    let plan = RunPlan {
        ramp_ns: 500 * MS,
        ..plan(SECOND)
    };
    let totals = simulate(rated(1_000.0, Arrivals::Fixed), Scripted::new(100), &plan);
    let open_loop = totals.jobs[0].counts.open_loop;
    assert_eq!(
        (open_loop.arrivals_due, open_loop.arrivals_issued),
        (1_000, 1_000)
    );
}

#[test]
fn a_stall_of_a_second_shows_in_the_open_loop_and_hides_in_the_closed_one() {
    let stalled = || Scripted {
        stall: SECOND..2 * SECOND,
        ..Scripted::new(100_000)
    };
    let jobs = [
        simulated_job(rated(1_000.0, Arrivals::Fixed), 0),
        simulated_job(workload(), 1),
    ];
    let totals = virtual_time::run(
        &jobs,
        &mut [stalled(), stalled()],
        &plan(10 * SECOND),
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    let totals = totals.expect("the plan is sound");
    let p999 = |job: usize| totals.jobs[job].counts.latency_ns().percentile(99.9);
    assert!(p999(0) >= Some(500 * MS), "open loop: {:?}", p999(0));
    assert!(p999(1) < Some(100 * MS), "closed loop: {:?}", p999(1));
    let longest = totals.jobs[1].counts.latency_ns().max();
    assert!(longest >= Some(SECOND), "it was there: {longest:?}");
}

/// Due and beyond of each second, and arrivals that the program itself held back.
fn due_of(
    workload: Workload,
    array: Scripted,
    duration_ns: u64,
    threshold_ns: u64,
) -> (Vec<(u64, u64)>, u64) {
    let mut job = simulated_job(workload, 0);
    job.plan.counting = Counting::transfers(vec![threshold_ns]);
    let totals = virtual_time::run(
        &[job],
        &mut [array],
        &plan(duration_ns),
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    let totals = totals.expect("the plan is sound");
    let record = totals.jobs[0].drain.due.record().expect("it is counted");
    let seconds = record.seconds.iter();
    let seconds = seconds.map(|second| (second.due, second.beyond[0]));
    (seconds.collect(), record.own_lags)
}

#[test]
fn arrivals_that_are_late_or_never_issued_are_beyond_in_the_second_they_were_due() {
    // As above: the k-th arrives at k / 2 ms, and takes k / 2 + 1 ms or is never issued. Those
    // due up to 900 ms are judged, 1,801 of them; up to k = 198 they are in time.
    let workload = Workload {
        outstanding: 8,
        ..rated(2_000.0, Arrivals::Fixed)
    };
    let found = due_of(workload, Scripted::new(MS), SECOND, 100 * MS);
    assert_eq!(found, (vec![(1_801, 1_801 - 199)], 0));
    let stalled = Scripted {
        stall: SECOND..2 * SECOND,
        ..Scripted::new(100_000)
    };
    let workload = rated(1_000.0, Arrivals::Fixed);
    let (seconds, own_lags) = due_of(workload, stalled, 10 * SECOND, 50 * MS);
    assert_eq!(own_lags, 0);
    assert_eq!(seconds.len(), 10);
    for (number, (due, beyond)) in seconds.iter().enumerate() {
        let expected = if number == 9 { 951 } else { 1_000 };
        assert_eq!(*due, expected, "second {number}");
        match number {
            1 => assert!(*beyond > 990, "{beyond}"),
            // What had piled up is in the way of those that follow.
            2 => assert!((1..200).contains(beyond), "{beyond}"),
            _ => assert_eq!(*beyond, 0, "second {number}"),
        }
    }
}

#[test]
fn several_files_share_the_rate() {
    let mut job = simulated_job(rated(3_000.0, Arrivals::Poisson), 0);
    job.plan.spans = vec![job.plan.spans[0]; 3];
    job.arrays = vec![0, 1, 2];
    let mut arrays = [1_000, 1_000, 1_000].map(Scripted::new);
    let totals = virtual_time::run(
        &[job],
        &mut arrays,
        &plan(20 * SECOND),
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    let due = totals.expect("the plan is sound").jobs[0]
        .counts
        .open_loop
        .arrivals_due;
    assert!(due.abs_diff(60_000) < 1_000, "{due} arrivals");
    for array in &arrays {
        let requests = array.log.borrow().requests.len() as u64;
        assert!(requests.abs_diff(20_000) < 600, "{requests} on one file");
    }
}

#[test]
fn fixed_arrivals_of_several_files_and_threads_interleave() {
    let mut job = simulated_job(
        Workload {
            threads: 2,
            ..rated(6_000.0, Arrivals::Fixed)
        },
        0,
    );
    job.plan.spans = vec![job.plan.spans[0]; 3];
    job.arrays = vec![0, 1, 2];
    let mut arrays = [1_000, 1_000, 1_000].map(Scripted::new);
    let totals = virtual_time::run(
        &[job],
        &mut arrays,
        &plan(SECOND),
        &mut AsPlanned,
        &mut (),
        &AtomicU8::new(0),
    );
    assert!(totals.is_ok());
    for (file, array) in (0..).zip(&arrays) {
        let log = array.log.borrow();
        let times: Vec<u64> = log.requests.iter().map(|(at_ns, _)| *at_ns).collect();
        // Every third arrival of the job is on this file.
        let expected = (0..2_000).map(|k| (3 * k + file) * SECOND / 6_000);
        assert_eq!(times, expected.collect::<Vec<u64>>(), "file {file}");
    }
}
