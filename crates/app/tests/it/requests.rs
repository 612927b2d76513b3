//! Requests: what was asked for, printed, kept in the record and run again. Stores of
//! versions that kept none are read as if they had.

use crate::support::{Desk, Json, TWO_JOBS};
use serde_json::Value;

/// A document without what differs from run to run: ids, times, the command line, and
/// the request that it is about.
fn measured(document: &Json, path: &str) -> Value {
    const OTHER: [&str; 5] = ["id", "series", "started_at", "command", "request"];
    let text = document.at(path).json();
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    strip(&mut value, &OTHER);
    value
}

fn strip(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            for name in names {
                fields.remove(*name);
            }
            fields.values_mut().for_each(|inner| strip(inner, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, names)),
        _ => {}
    }
}

/// What `--show-request` prints beside these arguments, as a file.
fn shown(desk: &Desk, arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.push("--show-request");
    let answer = desk.run(&all).done();
    desk.write("request.json", &answer.stdout)
}

#[test]
fn a_printed_request_runs_as_the_switches_did() {
    let desk = Desk::new();
    let plan = desk.write("plan.toml", &format!("run = \"both\"\n{TWO_JOBS}"));
    let cases: [&[&str]; 4] = [
        &["run", "sim:nvme", "--duration", "20ms"],
        &[
            "run",
            "sim:sata-ssd",
            "--block",
            "8K,64K",
            "--threads",
            "1,3",
            "--read-percent",
            "70",
            "--duration",
            "40ms",
            "--repeat",
            "2",
            "--interval",
            "5ms",
            "--cache-size",
            "1G",
            "--label",
            "a grid",
            "--require",
            "p99<5ms",
        ],
        &[
            "run",
            "sim:disk-7k2",
            "--rate",
            "60",
            "--arrivals",
            "poisson",
            "--seed",
            "9",
        ],
        &["run", "--plan", &plan, "--repeat", "2", "--cpus", "0"],
    ];
    for arguments in cases {
        let request = shown(&desk, arguments);
        assert!(!desk.store().exists() || !desk.ids().is_empty());
        let by_switches = desk.json(arguments);
        let by_request = desk.json(&["run", "--request", &request]);
        for part in ["runs", "requirements"] {
            let found = [&by_switches, &by_request]
                .map(|document| document.maybe(part).map(|_| measured(document, part)));
            assert_eq!(found[0], found[1], "{arguments:?}");
        }
        // Shown again it is the same text.
        let again = desk
            .run(&["run", "--request", &request, "--show-request"])
            .done();
        assert_eq!(
            again.stdout,
            std::fs::read_to_string(&request).expect("a file")
        );
    }
}

#[test]
fn the_request_in_a_record_runs_that_run_again() {
    let desk = Desk::new();
    let grid = desk.json(&[
        "run",
        "sim:nvme",
        "--threads",
        "1,2",
        "--duration",
        "10ms",
        "--repeat",
        "2",
    ]);
    let second = grid.at("runs.3");
    let request = desk.write("request.json", &second.at("request").json());
    let again = desk.json(&["run", "--request", &request]);
    assert_eq!(
        measured(&again, "runs.0.jobs"),
        measured(&grid, "runs.3.jobs")
    );
    assert_eq!(again.at("runs").items().len(), 1);
}

/// Each run of an experiment meets the array with its platters elsewhere, and older.
#[test]
fn the_request_of_a_run_of_an_experiment_runs_on_the_array_as_that_run_met_it() {
    let desk = Desk::new();
    let arguments = [
        "align",
        "sim:raid10-10k?offset=63s",
        "--threads",
        "2",
        "--step",
        "2s",
        "--blocks",
        "10",
        "--json",
    ];
    desk.run(&arguments);
    let ids = desk.ids();
    let outcome = |run: &Json| run.at("jobs.0.outcome").json();
    for id in [&ids[0], &ids[ids.len() - 1]] {
        let run = desk.json(&["history", "show", id]).at("runs.0");
        let request = desk.write("request.json", &run.at("request").json());
        let again = desk.json(&["run", "--request", &request]).at("runs.0");
        assert_eq!(outcome(&again), outcome(&run), "{id}");
    }
}

#[test]
fn a_request_in_a_record_means_the_same_file_from_everywhere() {
    let desk = Desk::new();
    let file = desk.write("mine", &"x".repeat(1 << 20));
    let there = std::path::Path::new(&file).parent().expect("a folder");
    let mut command = desk.command(&["run", "mine", "--duration", "10ms", "--busy-ok", "--json"]);
    let output = command.current_dir(there).output().expect("started");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let targets = &document["runs"][0]["request"]["jobs"][0]["targets"];
    assert_eq!(targets, &serde_json::json!([file]), "{document}");
}

#[test]
fn every_command_that_measures_keeps_what_it_asked_for() {
    let desk = Desk::new();
    let commands: [&[&str]; 4] = [
        &[
            "bench",
            "sim:nvme",
            "--series",
            "random-read",
            "--step",
            "20ms",
            "--no-report",
            "--label",
            "b",
        ],
        &[
            "align",
            "sim:nvme",
            "--threads",
            "2",
            "--step",
            "10ms",
            "--blocks",
            "10",
        ],
        &[
            "check",
            "sim:nvme",
            "--require",
            "read_iops>=1",
            "--duration",
            "10ms",
            "--repeat",
            "1",
        ],
        &[
            "sqlio",
            "--drive",
            "D=sim:nvme",
            "-s1",
            "-o2",
            "-t2",
            "D:\\x",
        ],
    ];
    for arguments in commands {
        let mut all = arguments.to_vec();
        all.push("--json");
        desk.run(&all);
        let id = desk.ids().remove(0);
        let run = desk.json(&["history", "show", &id]).at("runs.0");
        let request = desk.write("request.json", &run.at("request").json());
        assert_eq!(
            measured(&run, "request.jobs.0.workload"),
            measured(&run, "jobs.0.workload"),
            "{arguments:?}"
        );
        let answer = desk.run(&["run", "--request", &request, "--show-request"]);
        answer.done();
    }
}

#[test]
fn a_request_grants_nothing_and_takes_nothing_beside_it() {
    let desk = Desk::new();
    let request = shown(&desk, &["run", "sim:nvme", "--duration", "10ms"]);
    assert!(!desk.store().exists(), "showing a request runs nothing");
    let refused = |arguments: &[&str], needles: &[&str]| {
        let mut all = vec!["run", "--request", &request];
        all.extend(arguments);
        desk.run(&all).failed(2, needles);
    };
    refused(&["sim:sata-ssd"], &["--request", "cannot be used with"]);
    refused(&["--threads", "2"], &["--request", "--threads"]);
    refused(&["--label", "x"], &["--request", "--label"]);
    desk.run(&["run", "--request", &request, "--busy-ok"])
        .done();
    let text = std::fs::read_to_string(&request).expect("a file");
    let with = text.replacen('{', "{ \"overwrite\": true,", 1);
    let request = desk.write("with.json", &with);
    desk.run(&["run", "--request", &request])
        .failed(2, &["with.json", "`overwrite`", "--overwrite"]);
    // Writing to a file of the user's is refused as ever.
    let file = desk.write("mine", &"x".repeat(1 << 20));
    let request = shown(&desk, &["run", &file, "--write", "--duration", "10ms"]);
    desk.run(&["run", "--request", &request])
        .failed(3, &["mine", "--overwrite"]);
}

/// A desk whose store was written before records had requests.
fn desk_of_before() -> Desk {
    let desk = Desk::new();
    let bytes = include_bytes!("../fixtures/before-requests.db");
    std::fs::write(desk.store(), bytes).expect("a store");
    desk
}

/// The run that was kept last.
fn last(desk: &Desk) -> Json {
    let id = desk.ids().remove(0);
    desk.json(&["history", "show", &id]).at("runs.0")
}

fn intervals_ns(run: &Json) -> u64 {
    run.at("jobs.0.outcome.intervals.0.duration_ns").count()
}

#[test]
fn a_baseline_of_before_is_checked_with_what_its_runs_asked_for() {
    let desk = desk_of_before();
    let check = desk.json(&["check", "--repeat", "4"]);
    assert_eq!(check.at("verdict").text(), "no-difference");
    for row in check.at("comparisons.0.rows").items() {
        assert!(row.at("a").number() > 0.0);
    }
    let run = last(&desk);
    assert_eq!(intervals_ns(&run), 50_000_000, "--interval 50ms");
    assert_eq!(run.at("request.cache_size_bytes").count(), 1 << 30);
    assert_eq!(run.at("jobs.0.workload.threads").count(), 2);
}

#[test]
fn runs_of_before_become_a_baseline_that_keeps_their_requests() {
    let desk = desk_of_before();
    let history = desk.json(&["history", "--limit", "100"]).at("history");
    let is = |row: &Json, name: &str, text: &str| {
        let found = row.maybe(name).filter(|found| !found.is_null());
        found.is_some_and(|found| found.text() == text)
    };
    let series_of = |part: &str| {
        let rows = history.items();
        let mut of_part = rows.iter().filter(|row| is(row, "series_part", part));
        let row = of_part.find(|row| !is(row, "label", "nightly"));
        row.expect("a series").at("series").text()
    };
    let cases = [("grid", 100_000_000, 2), ("plan", 1_000_000_000, 3)];
    for (part, interval_ns, workloads) in cases {
        let series = series_of(part);
        desk.run(&["baseline", "set", &series, "--name", part])
            .done();
        // Deleting the runs takes nothing from the baseline.
        desk.run(&["history", "delete", &series]).done();
        // Two runs are too few to decide anything.
        let check = ["check", "--baseline", part, "--repeat", "2", "--json"];
        let check = desk.run(&check).ended(1).json();
        assert_eq!(check.at("runs").items().len(), 2 * workloads, "{part}");
        let run = last(&desk);
        assert_eq!(run.at("request.interval_ns").count(), interval_ns, "{part}");
    }
}

#[test]
fn an_experiment_of_before_goes_on() {
    let desk = desk_of_before();
    let plans = desk.json(&["lab", "plans"]);
    let id = plans.at("experiments.0.id").text();
    let answer = desk.run(&["lab", "resume", &id, "--blocks", "11", "--json"]);
    let experiment = answer.json().at("experiment");
    assert_eq!(experiment.at("blocks").count(), 11);
    assert_eq!(experiment.at("finished_blocks").items().len(), 11);
}
