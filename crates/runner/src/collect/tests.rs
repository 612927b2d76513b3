//! What becomes of reports that come late.

use super::*;
use crate::policy::AsPlanned;
use crate::summary::CpuTimes;

const MS: u64 = 1_000_000;
const PACE: Pace = Pace {
    guard_ns: 2 * MS,
    lateness_max_ns: 100 * MS,
    last_lateness_max_ns: 1_000 * MS,
};

#[derive(Default)]
struct RunLog {
    intervals: Vec<(u64, u32)>,
    measured: Option<u64>,
}

impl Observer for RunLog {
    fn interval(&mut self, summary: &IntervalSummary) {
        let operations = summary.jobs[0].operations();
        self.intervals.push((operations, summary.workers_late));
    }

    fn measured(&mut self, jobs: &[JobCounts], _measured_ns: u64) {
        self.measured = Some(jobs[0].operations());
    }
}

/// Two threads of one job, two intervals of 20 ms without a ramp.
fn collector() -> Collector {
    let window = Arc::new(Window::new(20 * MS));
    let plan = RunPlan {
        interval_ns: 20 * MS,
        duration_ns: 40 * MS,
        ..RunPlan::default()
    };
    window.begin(0, 0, plan.duration_ns);
    let mut collector = Collector::new(window, &plan, PACE, vec![4096], &[0, 0]);
    collector.begin();
    collector
}

/// `operations` that were completed from `start_ns` on.
fn report(start_ns: u64, operations: u64) -> Report {
    let mut recorder = Recorder::new(false);
    for _ in 0..operations {
        recorder.kinds[0].record(1_000);
    }
    Report {
        phase: Phase::Measuring,
        start_ns,
        until_ns: start_ns + 20 * MS,
        recorder,
        cpu: CpuTimes::default(),
    }
}

#[test]
fn a_late_report_goes_into_the_interval_that_is_open() {
    let (mut collector, mut run_log) = (collector(), RunLog::default());
    collector.accept(0, report(0, 5));
    collector.emit(119 * MS, &mut AsPlanned, &mut run_log);
    assert!(run_log.intervals.is_empty(), "100 ms are waited for it");
    collector.emit(120 * MS, &mut AsPlanned, &mut run_log);
    assert_eq!(run_log.intervals, [(5, 1)]);
    collector.accept(1, report(0, 7));
    collector.accept(0, report(20 * MS, 3));
    collector.accept(1, report(20 * MS, 2));
    collector.emit(130 * MS, &mut AsPlanned, &mut run_log);
    assert_eq!(run_log.intervals, [(5, 1), (12, 0)]);
    assert_eq!(run_log.measured, Some(17));
    assert_eq!(collector.into_totals().jobs[0].counts.operations(), 17);
}

#[test]
fn the_last_interval_waits_longer_and_what_comes_after_it_counts_in_the_totals() {
    let (mut collector, mut run_log) = (collector(), RunLog::default());
    for worker in [0, 1] {
        collector.accept(worker, report(0, 5));
    }
    collector.accept(0, report(20 * MS, 4));
    collector.emit(1_039 * MS, &mut AsPlanned, &mut run_log);
    assert_eq!(
        run_log.intervals,
        [(10, 0)],
        "no later one could take it in"
    );
    collector.emit(1_040 * MS, &mut AsPlanned, &mut run_log);
    assert_eq!(run_log.intervals, [(10, 0), (4, 1)]);
    assert_eq!(run_log.measured, Some(14));
    collector.accept(1, report(20 * MS, 6));
    let totals = collector.into_totals();
    assert_eq!(totals.jobs[0].counts.operations(), 20, "nothing is lost");
}
