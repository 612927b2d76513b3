//! A worker alone, with the times that an engine would tell it.

use super::*;
use crate::summary::JobCounts;
use stripewise_io_engine::{Completion, Next, Source};
use stripewise_workload::{Arrivals, Rate, Span};

/// Issues two writes at 1,000 ns, the data of which is ready at 5,000 and 9,000,
/// and completes them at 10,000 and 11,000, the second one short if `short`.
fn two_writes(rate: Option<Rate>, operations_max: Option<u64>, short: bool) -> JobCounts {
    let workload = Workload {
        block_size_bytes: 4096,
        read_percent: 0,
        outstanding: 2,
        threads: 1,
        rate,
        ..Workload::default()
    };
    let span = Span {
        start_bytes: 0,
        block_size_bytes: 4096,
        blocks: 64,
    };
    let plan = JobPlan::new(workload, span, 0);
    let run = RunPlan {
        operations_max_per_thread: operations_max,
        ..RunPlan::default()
    };
    let window = Arc::new(Window::new(run.interval_ns));
    window.begin(0, 0, run.duration_ns);
    let mut worker = Worker::new(0, &plan, &streams(&plan), 0, &run, window);
    worker.begin();
    worker.advance(1_000);
    let mut now_ns = 1_000;
    let mut slots = Vec::new();
    for ready_ns in [5_000, 9_000] {
        let Next::Operation(operation) = worker.next(now_ns) else {
            panic!("two may be in flight");
        };
        worker.data(&operation, &mut [0; 4096]);
        worker.ready(operation.slot, ready_ns);
        slots.push(operation.slot);
        now_ns = ready_ns;
    }
    for (slot, at_ns, result) in [
        (slots[0], 10_000, 4096),
        (slots[1], 11_000, if short { 512 } else { 4096 }),
    ] {
        worker.complete(Completion {
            slot,
            result,
            at_ns,
        });
    }
    let mut counts = JobCounts::default();
    worker.recorder.drain_into(&mut counts, 4096);
    counts
}

#[test]
fn the_latency_of_a_write_counts_from_when_its_data_is_ready() {
    // On the short path and on the long one.
    for operations_max in [None, Some(100)] {
        let counts = two_writes(None, operations_max, false);
        let latency = counts.latency_ns();
        assert_eq!((latency.min(), latency.max()), (Some(2_000), Some(5_000)));
        assert_eq!(counts.in_flight_ns_sum, 7_000);
        let counts = two_writes(None, operations_max, true);
        assert_eq!(counts.latency_ns().max(), Some(5_000));
        assert_eq!(counts.in_flight_ns_sum, 7_000, "failed, but in flight");
    }
}

#[test]
fn in_an_open_loop_latency_counts_from_the_schedule_and_flight_from_the_data() {
    let rate = Rate {
        iops: 2_000_000.0,
        arrivals: Arrivals::Fixed,
    };
    for short in [false, true] {
        let counts = two_writes(Some(rate), None, short);
        // Due at 0 and 500.
        let longest_ns = if short { 10_000 } else { 10_500 };
        assert_eq!(counts.latency_ns().max(), Some(longest_ns));
        assert_eq!(counts.in_flight_ns_sum, 7_000);
        let open_loop = counts.open_loop;
        assert_eq!((open_loop.arrivals_due, open_loop.arrivals_issued), (2, 2));
        assert_eq!(open_loop.schedule_lag_ns_max, 8_500);
    }
}

/// Files of the first operations that a thread on two files has in flight at once.
fn in_flight_at_once(in_turn: bool) -> (u32, Vec<u16>) {
    let workload = Workload {
        outstanding: 2,
        in_turn,
        ..Workload::default()
    };
    let span = Span {
        start_bytes: 0,
        block_size_bytes: 8192,
        blocks: 64,
    };
    let plan = JobPlan {
        spans: vec![span, span],
        ..JobPlan::new(workload, span, 0)
    };
    let run = RunPlan::default();
    let window = Arc::new(Window::new(run.interval_ns));
    window.begin(0, 0, run.duration_ns);
    let mut worker = Worker::new(0, &plan, &streams(&plan), 0, &run, window);
    worker.begin();
    worker.advance(1_000);
    let mut files = Vec::new();
    while let Next::Operation(operation) = worker.next(1_000) {
        files.push(operation.file);
    }
    (worker.slots(), files)
}

#[test]
fn files_in_turn_share_what_a_thread_may_have_in_flight() {
    assert_eq!(in_flight_at_once(true), (2, vec![0, 1]));
    assert_eq!(in_flight_at_once(false), (4, vec![0, 1, 0, 1]));
}

const MS: u64 = 1_000_000;

/// A worker that reads with `outstanding` operations in flight and is watched for
/// pauses; measured for `duration_ns` in one interval.
fn watched(rate: Option<Rate>, duration_ns: u64) -> (Worker, Arc<Window>) {
    let workload = Workload {
        block_size_bytes: 4096,
        outstanding: 4,
        rate,
        ..Workload::default()
    };
    let span = Span {
        start_bytes: 0,
        block_size_bytes: 4096,
        blocks: 64,
    };
    let plan = JobPlan::new(workload, span, 0);
    let run = RunPlan {
        duration_ns,
        interval_ns: duration_ns,
        ..RunPlan::default()
    };
    let window = Arc::new(Window::new(run.interval_ns));
    window.begin(0, 0, run.duration_ns);
    window.pauses.watch(0, u64::MAX);
    let mut worker = Worker::new(0, &plan, &streams(&plan), 0, &run, Arc::clone(&window));
    worker.begin();
    (worker, window)
}

/// Goes through the beats until `until_ns`, as the thread does that drives it.
fn beats(worker: &mut Worker, from_ns: u64, until_ns: u64) {
    for at_ns in (from_ns..until_ns).step_by(BEAT_NS as usize) {
        worker.advance(at_ns);
    }
}

fn issue(worker: &mut Worker, now_ns: u64) -> u32 {
    match worker.next(now_ns) {
        Next::Operation(operation) => operation.slot,
        _ => panic!("there is room"),
    }
}

fn done(worker: &mut Worker, slot: u32, at_ns: u64, result: i32) {
    worker.complete(Completion {
        slot,
        result,
        at_ns,
    });
}

fn counts_of(worker: &mut Worker) -> JobCounts {
    let mut counts = JobCounts::default();
    while let Some(mut report) = worker.take_report() {
        report.recorder.drain_into(&mut counts, 4096);
    }
    counts
}

#[test]
fn a_pause_is_in_neither_the_latencies_nor_the_window() {
    let (mut worker, _) = watched(None, 1_000 * MS);
    beats(&mut worker, 0, 400 * MS);
    let early = issue(&mut worker, 300 * MS);
    let late = issue(&mut worker, 365 * MS);
    // The last sign of life is at 350 ms; then nothing runs for 2 s.
    done(&mut worker, early, 2_360 * MS, 4096);
    done(&mut worker, late, 2_361 * MS, 4096);
    let after = issue(&mut worker, 2_361 * MS);
    done(&mut worker, after, 2_368 * MS, 4096);
    assert!(!worker.has_report(), "650 ms of the window are left");
    beats(&mut worker, 2_410 * MS, 3_009 * MS);
    assert!(!worker.has_report());
    worker.advance(3_010 * MS);
    let report = worker.take_report().expect("the window is over");
    assert_eq!((report.start_ns, report.until_ns), (0, u64::MAX));
    worker.reports.push(report);
    let counts = counts_of(&mut worker);
    assert_eq!((counts.operations(), counts.bytes()), (3, 3 * 4096));
    // Those in flight over the pause took 50 ms or more, and anything.
    let latency = counts.latency_ns();
    assert_eq!(latency.count(), 1);
    assert_eq!((latency.min(), latency.max()), (Some(7 * MS), Some(7 * MS)));
    assert_eq!(counts.in_flight_ns_sum, u128::from((50 + 1 + 7) * MS));
}

/// On the short path, on the long one, and with latencies from a schedule; over one
/// pause and over two.
#[test]
fn what_was_in_flight_over_a_pause_has_no_latency() {
    let rate = Rate {
        iops: 1_000.0,
        arrivals: Arrivals::Fixed,
    };
    for (rate, is_short) in [(None, true), (None, false), (Some(rate), false)] {
        for pauses in [1, 2] {
            let (mut worker, _) = watched(rate, 1_000 * MS);
            if !is_short {
                worker.use_long_path();
            }
            worker.advance(0);
            let slots = [10, 11, 12].map(|at| issue(&mut worker, at * MS));
            let mut now_ns = 20 * MS;
            for _ in 0..pauses {
                now_ns += 600 * MS;
                worker.advance(now_ns);
            }
            done(&mut worker, slots[0], now_ns, 4096);
            done(&mut worker, slots[1], now_ns + 100, 4096);
            done(&mut worker, slots[2], now_ns + 200, 512);
            // The schedule goes on behind the pause.
            let slot = issue(&mut worker, now_ns + 4 * MS);
            done(&mut worker, slot, now_ns + 6 * MS, 4096);
            worker.finish();
            let counts = counts_of(&mut worker);
            assert_eq!(counts.operations(), 3, "{rate:?} {is_short} {pauses}");
            assert_eq!(counts.errors.total(), 1);
            let latency = counts.latency_ns();
            assert_eq!(latency.count(), 1, "{rate:?} {is_short} {pauses}");
            assert!(latency.min() >= Some(2 * MS), "{rate:?} {is_short}");
            assert!(counts.in_flight_ns_sum < u128::from(200 * MS));
        }
    }
}

#[test]
fn a_pause_at_the_stop_is_not_in_the_drain() {
    // Before the stop, and after it.
    for stopped_at_ns in [960 * MS, 1_040 * MS] {
        let (mut worker, _) = watched(None, 1_000 * MS);
        beats(&mut worker, 0, 900 * MS);
        let slot = issue(&mut worker, 900 * MS);
        beats(&mut worker, 900 * MS, stopped_at_ns + 1);
        let back_ns = stopped_at_ns + 5_000 * MS;
        worker.advance(back_ns);
        beats(&mut worker, back_ns, back_ns + 100 * MS);
        done(&mut worker, slot, back_ns + 100 * MS, 4096);
        let drain = worker.drain(u64::MAX);
        assert_eq!(drain.operations, 1, "{stopped_at_ns}");
        let latency_ns = stopped_at_ns - 900 * MS + 100 * MS;
        // The last sign of life may lie a beat before the pause.
        let counted = drain.latency_ns_max;
        assert!(
            (latency_ns - BEAT_NS..=latency_ns).contains(&counted),
            "{counted} of {latency_ns}"
        );
    }
}

#[test]
fn arrivals_that_fall_into_a_pause_are_not_due() {
    let rate = Rate {
        iops: 100.0,
        arrivals: Arrivals::Fixed,
    };
    let (mut worker, _) = watched(Some(rate), 1_000 * MS);
    let mut now_ns = 0;
    let mut paused = false;
    while worker.take_report().is_none_or(|report| {
        worker.reports.push(report);
        false
    }) {
        worker.advance(now_ns);
        while let Next::Operation(operation) = worker.next(now_ns) {
            done(&mut worker, operation.slot, now_ns, 4096);
        }
        now_ns += 5 * MS;
        if now_ns >= 500 * MS && !paused {
            paused = true;
            now_ns += 3_000 * MS;
        }
    }
    let counts = counts_of(&mut worker);
    let open_loop = counts.open_loop;
    // What was due between the last sign of life and the pause was issued twice
    // over at most: a beat's worth.
    assert!(
        (100..=105).contains(&open_loop.arrivals_due),
        "{open_loop:?}"
    );
    assert_eq!(open_loop.arrivals_due, open_loop.arrivals_issued);
    assert!(open_loop.schedule_lag_ns_max <= BEAT_NS, "{open_loop:?}");
    assert!(counts.latency_ns().max() <= Some(BEAT_NS));
}

#[test]
fn a_thread_that_a_device_blocks_cuts_nothing_out_while_others_live() {
    let (mut worker, window) = watched(None, 30_000 * MS);
    worker.advance(0);
    let slot = issue(&mut worker, 0);
    for beat in 0..1_000 {
        window.pauses.beat(beat * 20 * MS);
    }
    done(&mut worker, slot, 20_000 * MS, 4096);
    beats(&mut worker, 20_050 * MS, 30_001 * MS);
    assert_eq!(counts_of(&mut worker).latency_ns().max(), Some(20_000 * MS));
}

#[test]
fn failures_after_the_stop_are_counted_with_the_first_of_them() {
    let (mut worker, _) = watched(None, 1_000 * MS);
    let slots: Vec<u32> = (0..3).map(|_| issue(&mut worker, 0)).collect();
    beats(&mut worker, 0, 1_001 * MS);
    for (slot, result) in slots.into_iter().zip([4096, -5, 512]) {
        done(&mut worker, slot, 1_010 * MS, result);
    }
    let drain = worker.drain(u64::MAX);
    assert_eq!((drain.operations, drain.errors), (3, 2));
    let first = drain.first_error.expect("the first is kept");
    assert_eq!(first.failure, crate::Failure::Os(5));
    assert_eq!(counts_of(&mut worker).errors.total(), 0);
}
