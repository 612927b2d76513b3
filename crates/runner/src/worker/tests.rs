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
