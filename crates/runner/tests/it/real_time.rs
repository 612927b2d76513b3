//! Real threads over the engine that does nothing: what must hold at any speed.

use crate::common::*;
use std::sync::atomic::{AtomicU8, Ordering};
use stripewise_io_engine::Kind;
use stripewise_io_engine::backend::null::Null;
use stripewise_runner::drive::real;
use stripewise_runner::{
    AsPlanned, Decision, IntervalSummary, JobCounts, Observer, Phase, Policy, RunPlan, StopReason,
};
use stripewise_workload::{Arrivals, Rate, ThinkTime, Workload};

#[test]
fn a_thread_that_thinks_issues_no_more_than_its_pauses_allow() {
    let _alone = alone();
    let workload = Workload {
        outstanding: 8,
        think_time: Some(ThinkTime {
            pause_ns: 10 * MS,
            every: 3,
        }),
        ..workload()
    };
    // Fewer where the machine is loaded, none where the thread was not given a processor in
    // time; never more.
    let mut counted = Vec::new();
    wait_until("a thread that thinks gets a processor", || {
        let totals = run_real::<Null>(workload.clone(), &plan(200 * MS));
        counted.push(totals.jobs[0].counts.operations());
        counted.len() >= 10 && counted.iter().any(|&count| count > 0)
    });
    assert!(counted.iter().all(|&count| count <= 63), "{counted:?}");
}

#[test]
fn intervals_of_many_threads_add_up_to_the_totals() {
    let _alone = alone();
    // What must hold at any speed holds in every run; in one of them all threads work.
    wait_until("all threads get a processor", intervals_add_up);
}

/// Whether there were operations of all kinds, and all of them in the intervals.
fn intervals_add_up() -> bool {
    let jobs = [
        real_job(Workload {
            threads: 3,
            outstanding: 16,
            ..workload()
        }),
        real_job(Workload {
            threads: 2,
            outstanding: 4,
            read_percent: 30,
            ..workload()
        }),
    ];
    let plan = RunPlan {
        interval_ns: 20 * MS,
        ramp_ns: 50 * MS,
        duration_ns: 250 * MS,
        ..RunPlan::default()
    };
    let (none, mut run_log) = (AtomicU8::new(0), RunLog::default());
    let totals = real::run::<Null>(&jobs, &[], &plan, &mut AsPlanned, &mut run_log, &none)
        .expect("the engine opens");
    assert_eq!(totals.stop_reason, StopReason::Duration);
    assert_eq!((totals.ramp_ns, totals.measured_ns), (50 * MS, 250 * MS));
    assert!(totals.failure.is_none() && totals.notes.is_empty());
    let measured: Vec<&IntervalSummary> = (run_log.intervals.iter())
        .filter(|interval| interval.phase == Phase::Measuring)
        .collect();
    let starts: Vec<u64> = measured.iter().map(|i| i.start_ns / MS).collect();
    assert_eq!(starts, (0..13).map(|n| n * 20).collect::<Vec<u64>>());
    for (job, result) in totals.jobs.iter().enumerate() {
        let counts = &result.counts;
        if none_was_late(&run_log) {
            assert_eq!(*counts, sum_of_intervals(&run_log, job));
        }
        assert_eq!(counts.operations(), counts.latency_ns().count());
        assert_eq!(counts.bytes(), counts.operations() * 8192);
        assert_eq!(counts.errors.total(), 0);
        // Little's law: never more in flight than requested.
        let requested = u128::from(jobs[job].plan.workload.threads)
            * u128::from(jobs[job].plan.workload.outstanding);
        let in_flight = counts.in_flight_ns_sum;
        // An operation in flight at the start counts whole: one interval of slack.
        let limit = requested * u128::from(totals.measured_ns + totals.ramp_ns);
        assert!(in_flight <= limit, "{in_flight} of {limit}");
        assert_eq!(result.capabilities.name, "null");
    }
    assert_eq!(run_log.measured.as_ref().map(|(_, ns)| *ns), Some(250 * MS));
    assert!(run_log.ticks > 0);
    let counts = [0, 1].map(|job| &totals.jobs[job].counts);
    let kinds = [Kind::Read, Kind::Write].map(|kind| counts[1].kind(kind).operations);
    let cpu_ns = counts[0].cpu.user_ns + counts[0].cpu.system_ns;
    none_was_late(&run_log)
        && counts[0].operations() > 0
        && kinds.iter().all(|&operations| operations > 0)
        && cpu_ns > 0
}

/// Raises the interrupt flag when two intervals have passed and something was counted.
struct Interrupter<'a> {
    flag: &'a AtomicU8,
    level: u8,
    operations: u64,
    measured: bool,
}

impl Observer for Interrupter<'_> {
    fn interval(&mut self, summary: &IntervalSummary) {
        self.operations += summary.jobs[0].operations();
        if summary.index >= 1 && self.operations > 0 {
            self.flag.store(self.level, Ordering::Relaxed);
        }
    }

    fn measured(&mut self, _jobs: &[JobCounts], _measured_ns: u64) {
        self.measured = true;
    }
}

#[test]
fn an_interrupt_stops_the_run_and_keeps_what_was_measured() {
    let _alone = alone();
    for level in [1, 2] {
        let flag = AtomicU8::new(0);
        let mut observer = Interrupter {
            flag: &flag,
            level,
            operations: 0,
            measured: false,
        };
        let jobs = [real_job(workload())];
        let plan = plan(1_000 * SECOND);
        let totals = real::run::<Null>(&jobs, &[], &plan, &mut AsPlanned, &mut observer, &flag)
            .expect("the engine opens");
        assert_eq!(totals.stop_reason, StopReason::Interrupted);
        assert!((200 * MS..plan.duration_ns).contains(&totals.measured_ns));
        assert!(totals.jobs[0].counts.operations() > 0);
        assert!(observer.measured);
    }
}

#[test]
fn an_interrupt_stops_a_virtual_run_too() {
    let _alone = alone();
    let flag = AtomicU8::new(0);
    let mut observer = Interrupter {
        flag: &flag,
        level: 1,
        operations: 0,
        measured: false,
    };
    let totals = stripewise_runner::drive::virtual_time::run(
        &[simulated_job(workload(), 0)],
        &mut [crate::arrays::Scripted::new(MS)],
        &plan(1_000_000 * SECOND),
        &mut AsPlanned,
        &mut observer,
        &flag,
    );
    let totals = totals.expect("the plan is sound");
    assert_eq!(totals.stop_reason, StopReason::Interrupted);
    assert_eq!(
        totals.measured_ns,
        200 * MS + 1,
        "the interval and this moment"
    );
    assert_eq!(totals.jobs[0].counts.operations(), 200);
    assert!(observer.measured);
}

#[test]
fn a_policy_ends_the_ramp_and_the_run_of_real_threads() {
    let _alone = alone();
    wait_until("all threads get a processor", the_policy_ends_ramp_and_run);
}

fn the_policy_ends_ramp_and_run() -> bool {
    let plan = RunPlan {
        interval_ns: 20 * MS,
        ramp_ns: u64::MAX,
        duration_ns: u64::MAX,
        ..RunPlan::default()
    };
    let mut policy = |summary: &IntervalSummary| match (summary.phase, summary.index) {
        (Phase::Ramp, 1) => Decision::StartMeasuring,
        (Phase::Measuring, 2) => Decision::StopAfter(200 * MS),
        _ => Decision::Continue,
    };
    let (jobs, none) = ([real_job(workload())], AtomicU8::new(0));
    let mut run_log = RunLog::default();
    let totals = real::run::<Null>(&jobs, &[], &plan, &mut policy, &mut run_log, &none)
        .expect("the engine opens");
    assert_eq!(totals.stop_reason, StopReason::Policy);
    assert!(totals.ramp_ns >= 40 * MS);
    assert!(totals.measured_ns >= 200 * MS);
    let measured: Vec<&IntervalSummary> = (run_log.intervals.iter())
        .filter(|i| i.phase == Phase::Measuring)
        .collect();
    if none_was_late(&run_log) {
        assert_eq!(sum_of_intervals(&run_log, 0), totals.jobs[0].counts);
    }
    let lengths: u64 = measured.iter().map(|i| i.duration_ns).sum();
    assert_eq!(lengths, totals.measured_ns, "no gaps");
    none_was_late(&run_log)
}

/// It has seen enough at its third question.
struct Sudden(u32);

impl Policy for Sudden {
    fn interval(&mut self, _: &IntervalSummary) -> Decision {
        Decision::Continue
    }

    fn stops_now(&mut self) -> bool {
        self.0 += 1;
        self.0 > 2
    }
}

#[test]
fn a_policy_can_stop_in_the_middle_of_an_interval() {
    let _alone = alone();
    wait_until("all threads get a processor", the_policy_stops_in_between);
}

fn the_policy_stops_in_between() -> bool {
    const LONG: u64 = 1_000 * SECOND;
    let plan = RunPlan {
        interval_ns: 10 * SECOND,
        duration_ns: LONG,
        look_ns: MS,
        ..RunPlan::default()
    };
    let (jobs, none) = ([real_job(workload())], AtomicU8::new(0));
    let mut run_log = RunLog::default();
    let totals = real::run::<Null>(&jobs, &[], &plan, &mut Sudden(0), &mut run_log, &none)
        .expect("the engine opens");
    assert_eq!(totals.stop_reason, StopReason::Policy);
    assert!(totals.measured_ns < LONG);
    if none_was_late(&run_log) {
        assert_eq!(sum_of_intervals(&run_log, 0), totals.jobs[0].counts);
    }
    none_was_late(&run_log)
}

#[test]
fn a_real_open_loop_issues_what_is_due() {
    let _alone = alone();
    let workload = Workload {
        rate: Some(Rate {
            iops: 2_000.0,
            arrivals: Arrivals::Fixed,
        }),
        threads: 2,
        outstanding: 64,
        ..workload()
    };
    let totals = run_real::<Null>(workload, &plan(500 * MS));
    let counts = &totals.jobs[0].counts;
    assert_eq!(
        counts.open_loop.arrivals_due, 1_000,
        "a schedule, not a speed"
    );
    assert!(counts.open_loop.arrivals_issued <= 1_000);
    let done = counts.operations() + totals.jobs[0].drain.operations;
    assert_eq!(done, counts.open_loop.arrivals_issued);
}

#[test]
fn threads_are_pinned_and_an_unknown_processor_is_only_a_remark() {
    let _alone = alone();
    let jobs = [real_job(Workload {
        threads: 2,
        ..workload()
    })];
    let none = AtomicU8::new(0);
    // Operations are counted, not time: on a loaded machine it may take long until either
    // thread gets a processor.
    let plan = RunPlan {
        operations_max_per_thread: Some(100),
        watches_for_pauses: false,
        ..plan(u64::MAX)
    };
    let run = |cpus: &[u32]| {
        real::run::<Null>(&jobs, cpus, &plan, &mut AsPlanned, &mut (), &none)
            .expect("the engine opens")
    };
    let totals = run(&[100_000]);
    assert_eq!(totals.notes.len(), 1, "{:?}", totals.notes);
    assert!(totals.notes[0].contains("processor 100000"));
    assert_eq!(totals.jobs[0].counts.operations(), 200);
}
