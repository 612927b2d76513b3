//! What is asked of what is stored or in files: documents compared, baselines
//! replaced, experiments resumed and deleted, histories filtered; what only looks
//! makes nothing, and a pipe that nobody writes to does not hold anybody.

use crate::support::{Answer, Desk, program, text};
use rustix::process::Signal;
use std::process::Command;

/// A small experiment on an array that starts badly; its document.
fn experiment(desk: &Desk) -> crate::support::Json {
    let answer = desk.run(&[
        "align",
        "sim:raid10-10k?offset=63s",
        "--read",
        "--threads",
        "8",
        "--step",
        "2s",
        "--blocks",
        "10",
        "--json",
    ]);
    std::fs::write(desk.file("align.json"), &answer.stdout).expect("a file");
    answer.json()
}

#[test]
fn the_json_of_an_experiment_is_compared_without_its_store() {
    let desk = Desk::new();
    let document = experiment(&desk);
    assert_eq!(document.at("runs").items().len(), 20);
    let other_store = Desk::new();
    let file = desk.file("align.json");
    let again = other_store.run(&["compare", &file, "--json"]);
    // The experiment's own analysis, from its plan and runs: the same table.
    let (theirs, ours) = (
        document.at("comparisons.0"),
        again.json().at("comparisons.0"),
    );
    for field in [
        "rows.0.a",
        "rows.0.b",
        "rows.0.p_value",
        "rows.0.interval_percent.0",
    ] {
        assert_eq!(
            theirs.at(field).number(),
            ours.at(field).number(),
            "{field}"
        );
    }
    assert_eq!(theirs.at("verdict").text(), ours.at("verdict").text());
    // By another metric, and against a single run's document.
    other_store
        .run(&["compare", &file, "--metric", "latency_mean", "--json"])
        .json();
    let listed = desk.write("none.json", r#"{"schema_version": 1, "comparisons": []}"#);
    other_store
        .run(&["compare", &listed, &file])
        .failed(2, &["without runs", "history show"]);
}

#[test]
fn the_json_of_check_leads_to_its_runs() {
    let desk = Desk::new();
    let run = [
        "run",
        "sim:nvme",
        "--duration",
        "10ms",
        "--repeat",
        "6",
        "--json",
    ];
    let base = desk.run(&run).done();
    desk.write("base.json", &base.stdout);
    let id = base.json().at("runs.0.series").text();
    desk.run(&["baseline", "set", &id]).done();
    let check = desk.run(&["check", "--json"]).done();
    desk.write("check.json", &check.stdout);
    let compared = desk.json(&["compare", "./base.json", "./check.json"]);
    assert_eq!(compared.at("comparisons.0.rows.0.blocks").count(), 6);
}

#[test]
fn a_baseline_is_replaced_only_when_that_is_said() {
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--duration", "10ms", "-q"])
        .done();
    desk.run(&["baseline", "set", "last"]).done();
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["there is a baseline `baseline` already", "--replace"]);
    let replaced = desk.run(&["baseline", "set", "last", "--replace"]).done();
    replaced.printed(&["It replaces"]);
    desk.run(&["baseline", "set", "last", "--name", "other"])
        .done();
    let listed = desk.json(&["baseline", "list"]);
    assert_eq!(listed.at("baselines").items().len(), 2);
}

#[test]
fn a_check_runs_as_the_baseline_ran() {
    let desk = Desk::new();
    let volume = desk.volume();
    let how = [
        "run",
        &volume,
        "--size",
        "1M",
        "--duration",
        "200ms",
        "--interval",
        "50ms",
        "--cpus",
        "0",
        "--busy-ok",
        "-q",
    ];
    desk.run(&how).done();
    // Whatever lies below temporary files: a cached loop device makes it void.
    desk.run(&["baseline", "set", "last", "--anyway"]).done();
    let check = desk.run(&["check", "--repeat", "1", "--busy-ok", "--json"]);
    let id = check.json().at("runs.0").text();
    let run = desk.json(&["history", "show", &id]).at("runs.0.jobs.0");
    assert_eq!(run.at("engine.cpus.0").count(), 0);
    let intervals = run.at("outcome.intervals").items();
    assert_eq!(intervals[0].at("duration_ns").count(), 50_000_000);
}

#[test]
fn a_tolerated_loss_is_told_as_tolerated() {
    let desk = Desk::new();
    let run = [
        "run",
        "sim:raid10-10k?offset=64K",
        "--threads",
        "8",
        "--outstanding",
        "4",
        "--duration",
        "2s",
        "--repeat",
        "6",
        "--json",
    ];
    let id = desk.run(&run).done().json().at("runs.0.series").text();
    desk.run(&["baseline", "set", &id]).done();
    let check = ["check", "sim:raid10-10k?offset=63s", "--tolerate", "20"];
    let text = desk.run(&check).done().stdout;
    assert!(text.contains("The loss is tolerated"), "{text}");
    assert!(
        text.contains("64K then, 31.5K now") && !text.contains("on A"),
        "{text}"
    );
    let mut json = check.to_vec();
    json.push("--json");
    let document = desk.run(&json).done().json();
    assert_eq!(document.at("verdict").text(), "worse");
    assert_eq!(document.at("tolerate_percent").number(), 20.0);
}

#[test]
fn the_history_is_filtered_and_unknown_loads_are_no_numbers() {
    let desk = Desk::new();
    // Of a disk too few operations end in so short a time: void.
    for (target, code) in [("sim:nvme", 0), ("sim:disk-7k2", 1)] {
        desk.run(&["run", target, "--duration", "10ms", "--label", target, "-q"])
            .ended(code);
    }
    let sample = "../compat/tests/data/sqlio-plain.txt";
    let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(sample);
    desk.run(&["import", text(&sample)]).done();
    let ids = |arguments: &[&str]| {
        let mut all = vec!["history"];
        all.extend(arguments);
        desk.json(&all).at("history").items().len()
    };
    assert_eq!(ids(&[]), 3);
    assert_eq!(ids(&["--target", "disk-7k"]), 1);
    assert_eq!(ids(&["--label", "sim:nvme"]), 1);
    assert_eq!(ids(&["--tool", "sqlio"]), 1);
    // What does not say when it began is not since anything.
    assert_eq!(ids(&["--since", "1h"]), 2);
    assert_eq!(ids(&["--since", "2026-01-01"]), 2);
    assert_eq!(ids(&["--since", "2999-01-01T10:00"]), 0);
    desk.run(&["history", "--since", "yesterday"])
        .failed(2, &["`yesterday` is not a valid time", "2026-11-20"]);
    // What was stored last stands first; `last` was measured here.
    let listed = desk.json(&["history"]).at("history");
    assert_eq!(listed.items()[0].at("tool").text(), "sqlio");
    let last = desk.json(&["history", "show", "last"]);
    assert_eq!(last.at("runs.0.jobs.0.target.name").text(), "sim:disk-7k2");
}

#[test]
fn an_experiment_goes_with_the_last_of_its_runs() {
    let desk = Desk::new();
    let id = experiment(&desk).at("experiment.id").text();
    let plans = || desk.json(&["lab", "plans"]).at("experiments").items().len();
    assert_eq!(plans(), 1);
    let message = desk.run(&["history", "delete", &id]).done().stdout;
    assert!(
        message.contains("20 runs") && message.contains(&id),
        "{message}"
    );
    assert_eq!(plans(), 0);
}

#[test]
fn a_finished_experiment_says_why_nothing_is_left_and_goes_on_for_the_time_given() {
    let desk = Desk::new();
    let id = experiment(&desk).at("experiment.id").text();
    desk.run(&["lab", "resume", &id]).ended(1).warned(&[
        "10 blocks are finished, the maximum: this is what was found",
        "--blocks 20 continues it",
    ]);
    // Ten blocks took 44 s of the array's time; 9 s more are two blocks more.
    let more = [
        "lab",
        "resume",
        &id,
        "--blocks",
        "40",
        "--time",
        "9s",
        "--precision",
        "0.01",
        "--json",
    ];
    let document = desk.run(&more).json();
    assert_eq!(document.at("experiment.blocks").count(), 12);
}

#[test]
fn what_only_looks_makes_no_store() {
    let desk = Desk::new();
    let looking: [&[&str]; 7] = [
        &["history"],
        &["history", "show", "last"],
        &["baseline"],
        &["lab", "plans"],
        &["lab", "resume", "x"],
        &["export"],
        &["history", "delete", "x"],
    ];
    for arguments in looking {
        desk.run(arguments)
            .failed(5, &["there is no store at", "results.db", "--store"]);
        assert!(!desk.store().exists(), "{arguments:?}");
    }
    let missing = desk.file("no/such/place.db");
    Answer::of(Command::new(program()).args(["history", "--store", &missing])).ended(5);
    assert!(!desk.path().join("no").exists());
    // The usual place: nothing yet is no error.
    let mut usual = Command::new(program());
    usual
        .arg("history")
        .env("XDG_DATA_HOME", desk.path().join("data"));
    Answer::of(&mut usual).done();
    assert!(!desk.path().join("data").exists());
}

#[test]
fn a_pipe_that_nobody_writes_to_is_left_at_the_first_signal() {
    let desk = Desk::new();
    let pipe = desk.file("pipe.toml");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils").success());
    let array = format!("sim:{pipe}");
    // What measures nothing just ends.
    for (arguments, says) in [
        (vec!["compare", &pipe], None),
        (
            vec!["run", "--plan", &pipe],
            Some("interrupted while reading"),
        ),
        (vec!["run", &array], Some("interrupted while reading")),
        (vec!["sim", "show", &array], None),
    ] {
        let mut running = desk.start(&arguments);
        running.until("Waiting for");
        running.signal(Signal::INT);
        let answer = running.wait().ended(130);
        assert!(
            says.is_none_or(|says| answer.stderr.contains(says)),
            "{}",
            answer.stderr
        );
    }
}

#[test]
fn a_file_without_end_is_refused() {
    let desk = Desk::new();
    desk.run(&["compare", "/dev/zero"])
        .failed(2, &["larger than 256 MiB"]);
    desk.run(&["run", "--plan", "/dev/zero"])
        .failed(2, &["larger than 16 MiB", "--plan"]);
    let endless = desk.file("endless.toml");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link");
    desk.run(&["run", &format!("sim:{endless}")])
        .failed(2, &["larger than 16 MiB", "sim list"]);
    let large = desk.file("large.json");
    let file = std::fs::File::create(&large).expect("a file");
    file.set_len(5 << 30).expect("a sparse file");
    desk.run(&["report", &large])
        .failed(2, &["larger than 4 GiB"]);
}

#[test]
fn a_path_that_is_not_there_and_a_time_below_one_step_are_refused() {
    let desk = Desk::new();
    desk.run(&["doctor", "/nonexistent"])
        .failed(3, &["/nonexistent", "No such file"]);
    desk.run(&["bench", "sim:nvme", "--time", "1s"])
        .failed(2, &["--time 1s is too short", "--time 8s"]);
}
