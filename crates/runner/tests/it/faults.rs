//! Failed operations are data; failing devices end a run; stuck ones do not
//! hold it.

use crate::arrays::Scripted;
use crate::common::*;
use crate::engines::{BROKEN, Ill, STUCK, STUCK_THREADS, UNOPENABLE};
use std::sync::atomic::{AtomicU8, Ordering};
use stripewise_io_engine::backend::faulty::Faulty;
use stripewise_io_engine::backend::null::Null;
use stripewise_io_engine::{Effect, Fault, FaultPlan, Kind, When};
use stripewise_runner::drive::real;
use stripewise_runner::{
    AsPlanned, Decision, Error, Failure, IntervalSummary, Phase, Policy, RunPlan, StopReason,
};
use stripewise_workload::{Arrivals, Rate, Workload};

#[test]
fn failures_are_counted_by_kind_and_reason_and_have_no_latency() {
    let array = Scripted {
        fail_every: (10, -5),
        ..Scripted::new(100_000)
    };
    let log = array.log.clone();
    let workload = Workload {
        read_percent: 50,
        ..workload()
    };
    let mut run_log = RunLog::default();
    let totals = simulate_with(workload, array, &plan(SECOND), &mut AsPlanned, &mut run_log);
    let counts = &totals.jobs[0].counts;
    assert_eq!(counts.errors.total(), 999);
    assert_eq!(counts.operations(), 9_000);
    assert_eq!(counts.latency_ns().count(), 9_000);
    let mut by_kind = [0; 3];
    for entry in counts.errors.entries() {
        assert_eq!(entry.failure, Failure::Os(5));
        by_kind[entry.kind.index()] += entry.count;
    }
    let log = log.borrow();
    let tenth = |kind: Kind| {
        let tenths = log.requests.iter().skip(9).step_by(10).take(999);
        tenths.filter(|(_, request)| request.kind == kind).count() as u64
    };
    assert_eq!(by_kind, [tenth(Kind::Read), tenth(Kind::Write), 0]);
    let first = counts.errors.first().expect("there were failures");
    assert_eq!(first.first_offset_bytes, log.requests[9].1.offset_bytes);
    assert_eq!(first.first_at_ns, 10 * 100_000);
    // Each interval has its own.
    assert_eq!(run_log.intervals[3].jobs[0].errors.total(), 100);
    assert_eq!(sum_of_intervals(&run_log, 0), *counts);
}

#[test]
fn a_short_transfer_is_a_failure_of_its_own_kind() {
    let array = Scripted {
        fail_every: (4, 512),
        ..Scripted::new(100_000)
    };
    let totals = simulate(workload(), array, &plan(100 * MS));
    let entries = totals.jobs[0].counts.errors.entries().to_vec();
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].failure, entries[0].count),
        (Failure::Short, 249)
    );
    assert_eq!(totals.stop_reason, StopReason::Duration);
}

#[test]
fn failed_operations_were_in_flight_too() {
    // Half of the reads are short; four are in flight all the time.
    let half_short = || Scripted {
        fail_every: (2, 512),
        ..Scripted::new(100_000)
    };
    let closed = Workload {
        outstanding: 4,
        ..workload()
    };
    let totals = simulate(closed, half_short(), &plan(SECOND));
    let counts = &totals.jobs[0].counts;
    assert_eq!((counts.operations(), counts.errors.total()), (5_000, 4_999));
    let in_flight = counts.in_flight_ns_sum as f64 / totals.measured_ns as f64;
    assert!((in_flight - 4.0).abs() < 0.002, "{in_flight}");
    // One in flight, half of the time.
    let open = Workload {
        rate: Some(Rate {
            iops: 5_000.0,
            arrivals: Arrivals::Fixed,
        }),
        outstanding: 4,
        ..workload()
    };
    let totals = simulate(open, half_short(), &plan(SECOND));
    let in_flight = totals.jobs[0].counts.in_flight_ns_sum as f64 / totals.measured_ns as f64;
    assert!((in_flight - 0.5).abs() < 0.002, "{in_flight}");
}

#[test]
fn a_device_that_only_fails_ends_the_run_early() {
    let array = Scripted {
        fail_every: (1, -19),
        ..Scripted::new(100)
    };
    let workload = Workload {
        outstanding: 8,
        ..workload()
    };
    let totals = simulate(workload, array, &plan(1_000 * SECOND));
    assert_eq!(totals.stop_reason, StopReason::Errors { job: 0 });
    let errors = totals.jobs[0].counts.errors.total() + totals.jobs[0].drain.errors;
    assert!((1_000..1_010).contains(&errors), "{errors}");
    assert!(totals.measured_ns < SECOND);
}

#[test]
fn failures_among_successes_never_end_the_run() {
    let array = Scripted {
        fail_every: (2, -5),
        ..Scripted::new(10_000)
    };
    let plan = RunPlan {
        errors_max_in_a_row: 2,
        ..plan(SECOND)
    };
    let totals = simulate(workload(), array, &plan);
    assert_eq!(totals.stop_reason, StopReason::Duration);
    assert_eq!(totals.jobs[0].counts.errors.total(), 49_999);
    assert_eq!(totals.jobs[0].counts.operations(), 50_000);
}

#[test]
fn a_failing_real_device_ends_the_run_of_all_jobs() {
    let _alone = alone();
    let fail = Fault::Operation {
        when: When::EveryNth(1),
        kind: None,
        effect: Effect::Fail(5),
    };
    let mut failing = real_job(Workload {
        outstanding: 16,
        threads: 2,
        ..workload()
    });
    failing.faults = Some(FaultPlan::new(0, vec![fail]));
    let jobs = [real_job(workload()), failing];
    let none = AtomicU8::new(0);
    let plan = plan(100 * SECOND);
    let totals = real::run::<Faulty<Null>>(&jobs, &[], &plan, &mut AsPlanned, &mut (), &none)
        .expect("the engine opens");
    assert_eq!(totals.stop_reason, StopReason::Errors { job: 1 });
    let errors = &totals.jobs[1].counts.errors;
    assert!(errors.total() >= 1_000);
    assert_eq!(errors.entries()[0].failure, Failure::Os(5));
    assert_eq!(totals.jobs[1].counts.operations(), 0);
}

#[test]
fn a_real_stall_of_a_second_shows_in_the_open_loop_and_hides_in_the_closed_one() {
    let _alone = alone();
    let stall = |mut job: real::RealJob| {
        let fault = Fault::Stall(500 * MS..1_500 * MS);
        job.faults = Some(FaultPlan::new(0, vec![fault]));
        job
    };
    let open = Workload {
        rate: Some(Rate {
            iops: 1_000.0,
            arrivals: Arrivals::Poisson,
        }),
        outstanding: 64,
        ..workload()
    };
    let jobs = [stall(real_job(open)), stall(real_job(workload()))];
    let (none, plan) = (AtomicU8::new(0), plan(2_500 * MS));
    let run = || {
        real::run::<Faulty<Null>>(&jobs, &[], &plan, &mut AsPlanned, &mut (), &none)
            .expect("the engine opens")
    };
    let mut totals = run();
    // One at a time, no more than 25 of them can take 100 ms, on however busy a machine.
    wait_until("the closed loop gets a processor", || {
        let enough = totals.jobs[1].counts.operations() > 25_000;
        if !enough {
            totals = run();
        }
        enough
    });
    let p999 = |job: usize| totals.jobs[job].counts.latency_ns().percentile(99.9);
    assert!(p999(0) >= Some(500 * MS), "open loop: {:?}", p999(0));
    assert!(p999(1) < Some(100 * MS), "closed loop: {:?}", p999(1));
    let open_loop = totals.jobs[0].counts.open_loop;
    assert!(open_loop.arrivals_due > 2_000);
    assert!(open_loop.schedule_lag_ns_max >= 500 * MS, "slots ran out");
}

#[test]
fn an_engine_that_cannot_be_opened_ends_the_run_before_it_began() {
    let jobs = [real_job(Workload {
        threads: 4,
        ..workload()
    })];
    let none = AtomicU8::new(0);
    let mut run_log = RunLog::default();
    let plan = plan(SECOND);
    let error =
        real::run::<Ill<UNOPENABLE>>(&jobs, &[], &plan, &mut AsPlanned, &mut run_log, &none)
            .expect_err("the second engine is not there");
    assert!(matches!(error, Error::Open { job: 0, .. }));
    assert!(error.to_string().contains("it was not there"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("see a doctor"));
    assert!(run_log.intervals.is_empty() && run_log.measured.is_none());
}

#[test]
fn an_engine_that_breaks_ends_the_run_and_keeps_what_was_measured() {
    wait_until("the thread gets a processor", what_was_measured_is_kept);
}

fn what_was_measured_is_kept() -> bool {
    let jobs = [real_job(Workload {
        outstanding: 4,
        ..workload()
    })];
    let none = AtomicU8::new(0);
    let mut run_log = RunLog::default();
    let plan = plan(100 * SECOND);
    let totals = real::run::<Ill<BROKEN>>(&jobs, &[], &plan, &mut AsPlanned, &mut run_log, &none)
        .expect("it breaks only later");
    assert_eq!(totals.stop_reason, StopReason::EngineFailed { job: 0 });
    let failure = totals.failure.expect("it says why").to_string();
    assert!(failure.contains("fell to pieces"), "{failure}");
    assert_eq!(totals.jobs[0].counts.operations(), 4 * 9_999);
    if none_was_late(&run_log) {
        assert_eq!(sum_of_intervals(&run_log, 0), totals.jobs[0].counts);
    }
    none_was_late(&run_log)
}

/// Stops when two threads are stuck.
struct UntilStuck;

impl Policy for UntilStuck {
    fn interval(&mut self, _: &IntervalSummary) -> Decision {
        Decision::Continue
    }

    fn stops_now(&mut self) -> bool {
        STUCK_THREADS.load(Ordering::Relaxed) == 2
    }
}

#[test]
fn a_thread_that_never_comes_back_is_left_behind_with_its_operations() {
    let jobs = [real_job(Workload {
        outstanding: 4,
        threads: 2,
        ..workload()
    })];
    let none = AtomicU8::new(0);
    let mut run_log = RunLog::default();
    let plan = RunPlan {
        drain_limit_ns: 50 * MS,
        ..plan(u64::MAX)
    };
    let totals = real::run::<Ill<STUCK>>(&jobs, &[], &plan, &mut UntilStuck, &mut run_log, &none)
        .expect("the engine opens");
    assert_eq!(totals.stop_reason, StopReason::Policy);
    assert_eq!(totals.jobs[0].drain.abandoned, 2 * 4);
    assert_eq!(totals.notes.len(), 2, "{:?}", totals.notes);
    assert!(
        run_log.measured.is_some(),
        "said although two threads are stuck"
    );
    let last = run_log.intervals.last().expect("an interval");
    assert_eq!((last.phase, last.workers_late), (Phase::Measuring, 2));
}
