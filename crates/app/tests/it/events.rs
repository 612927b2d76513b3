//! `--events`: what happens as JSON lines, the document as the last of them.

use crate::support::{Desk, Json};

fn events(desk: &Desk, arguments: &[&str]) -> Vec<Json> {
    let mut all = arguments.to_vec();
    all.push("--events");
    let answer = desk.run(&all).done();
    let lines = answer.stdout.lines();
    lines
        .map(|line| Json::parse(line).expect("a line of JSON"))
        .collect()
}

fn of_kind<'a>(events: &'a [Json], kind: &str) -> Vec<&'a Json> {
    let is = |event: &&Json| event.at("event").text() == kind;
    events.iter().filter(is).collect()
}

#[test]
fn a_run_is_heard_from_its_plan_to_its_document() {
    let desk = Desk::new();
    let volume = desk.volume();
    let arguments = [
        "run",
        &volume,
        "--size",
        "8M",
        "--duration",
        "300ms",
        "--interval",
        "50ms",
        "--busy-ok",
    ];
    let events = events(&desk, &arguments);
    let plan = of_kind(&events, "plan");
    assert!(plan[0].at("text").text().contains("a test file of 8 MiB"));
    let runs = of_kind(&events, "run");
    assert_eq!(runs.len(), 1);
    let id = runs[0].at("run.id").text();
    let intervals = of_kind(&events, "interval");
    assert!(intervals.len() > 1, "{}", intervals.len());
    let mut operations = 0;
    for interval in intervals {
        assert_eq!(interval.at("run").text(), id);
        operations += interval.at("jobs.0.operations").count();
    }
    assert_eq!(
        operations,
        runs[0].at("run.jobs.0.outcome.operations").count()
    );
    assert!(!of_kind(&events, "begin").is_empty());
    assert!(!of_kind(&events, "end").is_empty());
    let last = events.last().expect("events");
    assert_eq!(last.at("event").text(), "document");
    assert_eq!(last.at("document.runs.0.id").text(), id);
}

#[test]
fn a_bench_and_a_grid_are_heard_run_by_run() {
    let desk = Desk::new();
    let commands: [&[&str]; 2] = [
        &[
            "bench",
            "sim:nvme",
            "--series",
            "random-read",
            "--step",
            "20ms",
            "--no-report",
        ],
        &[
            "run",
            "sim:nvme",
            "--block",
            "4K,8K",
            "--repeat",
            "2",
            "--duration",
            "10ms",
        ],
    ];
    for arguments in commands {
        let events = events(&desk, arguments);
        let last = events.last().expect("events");
        let kept = last.at("document.runs").items();
        let heard = of_kind(&events, "run");
        let ids =
            |runs: &[Json]| -> Vec<String> { runs.iter().map(|run| run.at("id").text()).collect() };
        let heard: Vec<Json> = heard.iter().map(|event| event.at("run")).collect();
        assert_eq!(ids(&heard), ids(&kept), "{arguments:?}");
    }
}

#[test]
fn events_and_one_document_exclude_each_other() {
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--events", "--json"])
        .failed(2, &["--events", "--json"]);
}
