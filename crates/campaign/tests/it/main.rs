//! Use cases called as functions, nearly all on simulated arrays: no process, no terminal.

mod benches;
mod checking;
mod comparing;
mod experiments;
mod loads;
mod rules;
mod support;
mod verifying;

use stripewise_campaign::bench::{BenchOptions, bench, planned};
use stripewise_campaign::run::{RunExtras, run};
use stripewise_campaign::{Exit, Permissions};
use stripewise_lab::SeriesKind;
use stripewise_workload::{Request, RequestJob, Workload};
use support::{Desk, request};

#[test]
fn a_request_becomes_records_that_answer_it() {
    let desk = Desk::new();
    let context = desk.context();
    let mut store = context.open_store().expect("a store");
    let options_for = Request {
        repetitions: 2,
        ..request("sim:nvme", &[1, 4])
    };
    let permissions = Permissions::default();
    let ran = run(
        &context,
        &mut store,
        options_for.clone(),
        &permissions,
        RunExtras::default(),
    )
    .expect("it begins");
    ran.ended.expect("it ends well");
    assert_eq!(ran.records.len(), 4);
    assert_eq!(desk.event_log.of_kind("run"), 4);
    for (record, expected) in ran.records.iter().zip(options_for.runs()) {
        let answered = record.request();
        assert_eq!(answered.jobs[0].workload, expected[0].1);
        assert_eq!(answered.jobs[0].targets, ["sim:nvme"]);
        let stored = store.load(&record.id).expect("it is kept");
        assert_eq!(stored.request, record.request);
        // Repeated exactly, to the operation.
        let again = run(
            &context,
            &mut store,
            answered,
            &permissions,
            RunExtras::default(),
        )
        .expect("it begins");
        assert_eq!(again.records[0].jobs, record.jobs);
    }
}

#[test]
fn what_cannot_begin_says_what_kind_of_failure_it_is() {
    let desk = Desk::new();
    let context = desk.context();
    let mut store = context.open_store().expect("a store");
    let permissions = Permissions::default();
    let small = Request {
        jobs: vec![RequestJob {
            workload: Workload {
                block_size_bytes: 1_000,
                ..Workload::default()
            },
            ..request("sim:nvme", &[1]).jobs[0].clone()
        }],
        ..Request::default()
    };
    let cases = [
        (request("sim:nosuch", &[1]), Exit::Usage, None),
        (request("dataset:eva", &[1]), Exit::Usage, None),
        (small, Exit::Usage, Some("block")),
        (request("/nowhere/at/all", &[1]), Exit::Target, None),
    ];
    for (request, exit, option) in cases {
        let target = request.jobs[0].targets[0].clone();
        let Err(failure) = run(
            &context,
            &mut store,
            request,
            &permissions,
            RunExtras::default(),
        ) else {
            panic!("{target} began");
        };
        assert_eq!(
            (failure.exit, failure.option),
            (exit, option),
            "{target}: {failure}"
        );
    }
    assert_eq!(desk.event_log.of_kind("run"), 0);
}

#[test]
fn a_bench_stops_when_it_is_asked_to() {
    let desk = Desk::new();
    let context = desk.context();
    let options = BenchOptions {
        series: vec![SeriesKind::RandomRead],
        step_ns: Some(10_000_000),
        ..BenchOptions::of("sim:nvme")
    };
    let mut store = context.open_store().expect("a store");
    let permissions = Permissions::default();
    let plan = planned(&options).expect("a plan");
    let whole =
        bench(&context, &mut store, &options, plan.clone(), &permissions).expect("it begins");
    assert!(whole.records.len() > 3, "{}", whole.records.len());
    assert_eq!(desk.event_log.of_kind("run"), whole.records.len());
    assert!(desk.event_log.of_kind("interval") >= whole.records.len());
    desk.interrupt.raise(2);
    let cut = bench(&context, &mut store, &options, plan, &permissions).expect("it begins");
    assert!(cut.records.len() < 2, "{}", cut.records.len());
}
