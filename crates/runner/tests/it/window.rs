//! What counts and what does not: edges of the window, intervals, decisions of
//! a policy, the drain.

use crate::arrays::Scripted;
use crate::common::*;
use stripewise_io_engine::Kind;
use stripewise_runner::{
    AsPlanned, Decision, IntervalSummary, JobCounts, Observer, Phase, RunPlan, StopReason,
};
use stripewise_workload::Workload;

#[test]
fn the_window_holds_its_start_and_not_its_end() {
    // Completions at 10, 20, 30... ms.
    for (ramp, duration, expected) in [(50, 100, 10), (51, 100, 10), (0, 100, 9), (45, 5, 0)] {
        let plan = RunPlan {
            ramp_ns: ramp * MS,
            ..plan(duration * MS)
        };
        let totals = simulate(workload(), Scripted::new(10 * MS), &plan);
        let counted = totals.jobs[0].counts.operations();
        assert_eq!(counted, expected, "{ramp} ms ramp, {duration} ms");
        assert_eq!(totals.jobs[0].drain.operations, 1);
    }
}

#[test]
fn an_operation_that_began_in_the_ramp_counts_with_all_of_its_latency() {
    let plan = RunPlan {
        ramp_ns: 5 * MS,
        ..plan(10 * MS)
    };
    let totals = simulate(workload(), Scripted::new(10 * MS), &plan);
    let latency = &totals.jobs[0].counts.kind(Kind::Read).latency_ns;
    assert_eq!((latency.count(), latency.max()), (1, Some(10 * MS)));
}

#[test]
fn intervals_are_in_order_without_gaps_and_add_up_to_the_totals() {
    let plan = RunPlan {
        interval_ns: 100 * MS,
        ramp_ns: 250 * MS,
        duration_ns: 1_030 * MS,
        ..RunPlan::default()
    };
    let workload = Workload {
        read_percent: 60,
        threads: 3,
        outstanding: 2,
        ..workload()
    };
    let mut run_log = RunLog::default();
    let totals = simulate_with(
        workload,
        Scripted::new(70_000),
        &plan,
        &mut AsPlanned,
        &mut run_log,
    );
    let lengths = |phase: Phase| -> Vec<(u64, u64, u64)> {
        let of_phase = run_log.intervals.iter().filter(|i| i.phase == phase);
        of_phase
            .map(|i| (i.index, i.start_ns / MS, i.duration_ns / MS))
            .collect()
    };
    let ramp = lengths(Phase::Ramp);
    assert_eq!(ramp, [(0, 0, 100), (1, 100, 100), (2, 200, 50)]);
    let measured = lengths(Phase::Measuring);
    assert_eq!(measured.len(), 11);
    assert_eq!(measured[0], (0, 0, 100));
    assert_eq!(measured[10], (10, 1_000, 30));
    assert_eq!(totals.jobs[0].counts, sum_of_intervals(&run_log, 0));
    assert_eq!(
        run_log.measured,
        Some((vec![totals.jobs[0].counts.clone()], 1_030 * MS))
    );
    assert!(run_log.intervals.iter().all(|i| i.workers_late == 0));
    // Each interval holds what fits into it.
    for interval in &run_log.intervals {
        let expected = interval.duration_ns / 70_000;
        assert!(interval.jobs[0].operations().abs_diff(expected) <= 1);
    }
}

#[test]
fn a_policy_ends_the_ramp_and_the_run() {
    let plan = plan_without_end();
    let mut policy = |summary: &IntervalSummary| match (summary.phase, summary.index) {
        (Phase::Ramp, 2) => Decision::StartMeasuring,
        (Phase::Measuring, 1) => Decision::StopAfter(350 * MS),
        _ => Decision::Continue,
    };
    let mut run_log = RunLog::default();
    let totals = simulate_with(
        workload(),
        Scripted::new(MS),
        &plan,
        &mut policy,
        &mut run_log,
    );
    assert_eq!(totals.stop_reason, StopReason::Policy);
    assert_eq!(totals.ramp_ns, 300 * MS);
    assert_eq!(totals.measured_ns, 350 * MS);
    assert_eq!(totals.jobs[0].counts.operations(), 350);
    let last = run_log.intervals.last().expect("there are intervals");
    assert_eq!((last.index, last.duration_ns), (3, 50 * MS));
    assert_eq!(last.jobs[0].operations(), 50);
}

#[test]
fn a_policy_stops_at_once_or_past_the_planned_end() {
    let stop = |decision: Decision, duration_ns: u64| {
        let mut policy = move |summary: &IntervalSummary| match summary.index {
            1 => decision,
            _ => Decision::Continue,
        };
        let plan = plan(duration_ns);
        simulate_with(workload(), Scripted::new(MS), &plan, &mut policy, &mut ())
    };
    let totals = stop(Decision::Stop, SECOND);
    assert_eq!(totals.measured_ns, 200 * MS);
    assert_eq!(totals.jobs[0].counts.operations(), 199);
    let totals = stop(Decision::StopAfter(50 * MS), SECOND);
    assert_eq!(totals.measured_ns, 200 * MS, "50 ms have passed");
    let totals = stop(Decision::StopAfter(2 * SECOND), SECOND);
    assert_eq!(totals.measured_ns, 2 * SECOND, "extended");
    assert_eq!(totals.jobs[0].counts.operations(), 1_999);
    let totals = stop(Decision::StopAfter(2 * SECOND), 200 * MS);
    assert_eq!(totals.measured_ns, 200 * MS, "too late to go on");
}

#[test]
fn a_run_that_never_leaves_its_ramp_has_measured_nothing() {
    let mut policy = |summary: &IntervalSummary| match summary.index {
        3 => Decision::Stop,
        _ => Decision::Continue,
    };
    let mut run_log = RunLog::default();
    let totals = simulate_with(
        workload(),
        Scripted::new(MS),
        &plan_without_end(),
        &mut policy,
        &mut run_log,
    );
    assert_eq!((totals.ramp_ns, totals.measured_ns), (400 * MS, 0));
    assert_eq!(totals.jobs[0].counts, JobCounts::default());
    assert_eq!(run_log.measured.map(|measured| measured.1), Some(0));
}

#[test]
fn what_was_measured_is_handed_over_before_the_drain() {
    struct Order {
        array: Scripted,
        completed_when_measured: u64,
    }
    impl Observer for Order {
        fn measured(&mut self, _jobs: &[JobCounts], _measured_ns: u64) {
            self.completed_when_measured = self.array.log.borrow().completed;
        }
    }
    let array = Scripted {
        stall: 900 * MS..20 * SECOND,
        ..Scripted::new(MS)
    };
    let mut order = Order {
        array: array.clone(),
        completed_when_measured: 0,
    };
    let workload = Workload {
        outstanding: 4,
        ..workload()
    };
    let totals = simulate_with(workload, array, &plan(SECOND), &mut AsPlanned, &mut order);
    let counted = totals.jobs[0].counts.operations();
    assert_eq!(order.completed_when_measured, counted);
    assert_eq!(counted, 899);
    assert_eq!(totals.jobs[0].drain.operations, 4);
    assert!(totals.jobs[0].drain.latency_ns_max > 19 * SECOND);
}

#[test]
fn what_does_not_come_back_within_the_limit_is_abandoned() {
    let array = Scripted {
        stall: 500 * MS..u64::MAX / 2,
        ..Scripted::new(MS)
    };
    let plan = RunPlan {
        drain_limit_ns: 5 * SECOND,
        ..plan(SECOND)
    };
    let workload = Workload {
        outstanding: 3,
        threads: 2,
        ..workload()
    };
    let totals = simulate(workload, array, &plan);
    assert_eq!(totals.jobs[0].drain.abandoned, 6);
    assert_eq!(totals.jobs[0].drain.operations, 0);
    assert_eq!(totals.jobs[0].counts.operations(), 499);
}

fn plan_without_end() -> RunPlan {
    RunPlan {
        interval_ns: 100 * MS,
        ramp_ns: u64::MAX,
        duration_ns: u64::MAX,
        ..RunPlan::default()
    }
}
