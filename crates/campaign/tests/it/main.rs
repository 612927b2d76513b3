//! Use cases called as functions, on simulated arrays: no process, no terminal.

mod rules;

use std::cell::RefCell;
use std::rc::Rc;
use stripewise_campaign::bench::{BenchOptions, bench, planned};
use stripewise_campaign::run::{Beside, run};
use stripewise_campaign::{
    Clock, Context, Event, Exit, Interrupt, Observer, Permissions, Surroundings,
};
use stripewise_lab::SeriesKind;
use stripewise_workload::{PlanOrder, Request, RequestJob, Workload};
use tempfile::TempDir;

/// Names of the events, in order.
#[derive(Clone, Default)]
struct Heard(Rc<RefCell<Vec<serde_json::Value>>>);

impl Observer for Heard {
    fn hear(&self, event: &Event<'_>) {
        let value = serde_json::to_value(event).expect("an event is JSON");
        self.0.borrow_mut().push(value);
    }
}

impl Heard {
    fn of_kind(&self, kind: &str) -> usize {
        let all = self.0.borrow();
        all.iter().filter(|event| event["event"] == kind).count()
    }
}

/// A clock that stands still: nothing simulated depends on it.
struct Still;

impl Clock for Still {
    fn now_ns(&self) -> u64 {
        0
    }

    fn timestamp(&self) -> String {
        "2026-11-22T12:00:00.000Z".to_owned()
    }
}

struct Desk {
    directory: TempDir,
    heard: Heard,
    interrupt: Interrupt,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            directory: tempfile::tempdir().expect("a directory"),
            heard: Heard::default(),
            interrupt: Interrupt::default(),
        }
    }

    fn context(&self) -> Context {
        Context::new(Surroundings {
            clock: Box::new(Still),
            observer: Box::new(self.heard.clone()),
            interrupt: self.interrupt.clone(),
            store: Some(self.directory.path().join("results.db")),
            store_is_named: true,
            command: vec!["test".to_owned()],
            version: "0".to_owned(),
            chance: [7, 11],
        })
    }
}

fn request(target: &str, threads: &[u32]) -> Request {
    let jobs = threads.iter().map(|threads| RequestJob {
        name: "job".to_owned(),
        targets: vec![target.to_owned()],
        workload: Workload {
            threads: *threads,
            duration_ns: 20_000_000,
            ..Workload::default()
        },
    });
    Request {
        jobs: jobs.collect(),
        order: PlanOrder::Alone,
        ..Request::default()
    }
}

#[test]
fn a_request_becomes_records_that_answer_it() {
    let desk = Desk::new();
    let context = desk.context();
    let mut store = context.open_store().expect("a store");
    let asked = Request {
        repetitions: 2,
        ..request("sim:nvme", &[1, 4])
    };
    let permissions = Permissions::default();
    let ran = run(
        &context,
        &mut store,
        asked.clone(),
        &permissions,
        Beside::default(),
    )
    .expect("it begins");
    ran.ended.expect("it ends well");
    assert_eq!(ran.records.len(), 4);
    assert_eq!(desk.heard.of_kind("run"), 4);
    for (record, expected) in ran.records.iter().zip(asked.runs()) {
        let answered = record.asked();
        assert_eq!(answered.jobs[0].workload, expected[0].1);
        assert_eq!(answered.jobs[0].targets, ["sim:nvme"]);
        let kept = store.load(&record.id).expect("it is kept");
        assert_eq!(kept.request, record.request);
        // The same again, to the operation.
        let again = run(
            &context,
            &mut store,
            answered,
            &permissions,
            Beside::default(),
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
            Beside::default(),
        ) else {
            panic!("{target} began");
        };
        assert_eq!(
            (failure.exit, failure.option),
            (exit, option),
            "{target}: {failure}"
        );
    }
    assert_eq!(desk.heard.of_kind("run"), 0);
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
    assert_eq!(desk.heard.of_kind("run"), whole.records.len());
    assert!(desk.heard.of_kind("interval") >= whole.records.len());
    desk.interrupt.raise(2);
    let cut = bench(&context, &mut store, &options, plan, &permissions).expect("it begins");
    assert!(cut.records.len() < 2, "{}", cut.records.len());
}
