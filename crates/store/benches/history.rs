//! Lists a history of 10,000 runs with two jobs each (goal: under 100 ms), and times the appending
//! of intervals (goal: under 2 ms per second of a run with 8 jobs at 100 ms).
//! `cargo bench -p stripewise-store`; with `--test` a small history, as a smoke test.

use std::time::Instant;
use stripewise_results::{
    HostFacts, Interval, JobOutcome, JobRecord, RunRecord, Status, TargetFacts, TargetKind,
};
use stripewise_stats::Histogram;
use stripewise_store::{Filter, IntervalHistograms, Owner, Store};

fn record(number: u32, jobs: usize) -> RunRecord {
    let job = |index| JobRecord {
        name: format!("job{index}"),
        target: TargetFacts {
            kind: TargetKind::Null,
            name: "/data".to_owned(),
            path: None,
            size_bytes: 1 << 30,
            partition_offset_bytes: None,
            logical_sector_bytes: 512,
            physical_sector_bytes: None,
            file_system: None,
            device: None,
            simulation: None,
        },
        outcome: JobOutcome {
            intervals: vec![Interval::default(); 10],
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    };
    RunRecord {
        id: format!("20261121-201530-{number:06}"),
        started_at: format!("2026-11-21T20:15:30.{number:06}Z"),
        status: Status::Complete,
        partial_because: None,
        merged: None,
        start: None,
        label: None,
        command: Vec::new(),
        request: None,
        version: "0.1.0".to_owned(),
        series: None,
        answer_block: None,
        sustained: None,
        experiment: None,
        imported: None,
        series_part: None,
        latency_limit: None,
        processors: Vec::new(),
        verification: None,
        fidelity: None,
        host: HostFacts::default(),
        jobs: (0..jobs).map(job).collect(),
        warnings: Vec::new(),
    }
}

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let runs = if small { 10 } else { 10_000 };
    // In memory if possible: saving 10,000 runs flushes 10,000 times.
    let directory = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let path = directory.path().join("store.db");
    let mut store = Store::open(&path, Owner::of_this_process("bench")).unwrap();
    for number in 0..runs {
        store.save_run(&record(number, 2)).unwrap();
    }
    let begun = Instant::now();
    let listed = Store::open_read_only(&path)
        .unwrap()
        .list(&Filter::default())
        .unwrap();
    println!(
        "{} runs opened and listed in {:?}",
        listed.len(),
        begun.elapsed()
    );
    assert_eq!(listed.len(), runs as usize);

    let mut latency_ns = Histogram::new();
    for value in 0..2_000 {
        latency_ns.record(80_000 + value * 37);
    }
    let both = IntervalHistograms {
        read: Some(&latency_ns),
        write: Some(&latency_ns),
        ..IntervalHistograms::default()
    };
    let mut run = store.begin_run(&record(runs, 8)).unwrap();
    let mut took = Vec::new();
    for index in 0..if small { 20 } else { 1_000 } {
        let interval = Interval {
            start_ns: index * 100_000_000,
            duration_ns: 100_000_000,
            ..Interval::default()
        };
        let begun = Instant::now();
        for job in 0..8 {
            store
                .append_interval(&mut run, job, &interval, both)
                .unwrap();
        }
        took.push(begun.elapsed());
    }
    took.sort();
    println!(
        "an interval of 8 jobs: median {:?}, 95 % {:?}, longest {:?}",
        took[took.len() / 2],
        took[took.len() * 95 / 100],
        took[took.len() - 1]
    );
}
