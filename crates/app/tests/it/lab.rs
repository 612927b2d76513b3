//! `lab`: plan files, interruption and resumption, and clean-up.

use crate::support::{Desk, Json, Running, names};
use rustix::process::Signal;

fn experiment(desk: &Desk) -> Json {
    let listed = desk.json(&["lab", "plans"]);
    listed.at("experiments").items()[0].clone()
}

/// Ids of the runs of all finished blocks.
fn runs_of_blocks(document: &Json) -> Vec<String> {
    let blocks = document.at("experiment.finished_blocks").items();
    let runs = blocks.iter().flat_map(|block| block.at("runs").items());
    runs.map(|run| run.at("run").text()).collect()
}

#[test]
fn the_plan_that_init_writes_runs_and_is_never_overwritten() {
    let desk = Desk::new();
    desk.run(&["lab", "init", "plan.toml"]).done();
    let written = std::fs::read_to_string(desk.file("plan.toml")).expect("a plan");
    desk.run(&["lab", "init", "plan.toml"])
        .failed(2, &["plan.toml already exists"]);
    let more = [
        "lab",
        "run",
        "plan.toml",
        "--step",
        "5s",
        "--blocks",
        "10",
        "--json",
    ];
    let document = desk.run(&more).ended(1).json();
    assert_eq!(document.at("experiment.kind").text(), "lab");
    assert_eq!(document.at("comparisons.0.rows").items().len(), 2);
    assert_eq!(
        document.at("comparisons.0.title").text(),
        "partition offset, random I/O"
    );
    let after = std::fs::read_to_string(desk.file("plan.toml")).expect("a plan");
    assert_eq!(written, after);
}

#[test]
fn mistakes_in_a_plan_are_told_with_their_line() {
    let desk = Desk::new();
    let bad = desk.write("bad.toml", "target = \"sim:nvme\"\nfaktor = \"block\"\n");
    desk.run(&["lab", "run", &bad])
        .failed(2, &["line 2", "faktor"]);
    let writes = desk.write(
        "writes.toml",
        "target = \"theirs\"\nfactor = \"threads\"\nlevels = [1, 2]\n[[cell]]\nwrite = true\n",
    );
    desk.write("theirs", &"x".repeat(1 << 20));
    // The plan names its target from the current directory.
    desk.process(&["lab", "run", &writes])
        .failed(3, &["--overwrite"]);
    desk.run(&["lab", "run", "nowhere.toml"])
        .failed(2, &["lab init"]);
}

/// An experiment in a directory that would take long, in its measurement.
fn measuring(desk: &Desk) -> Running {
    let volume = desk.volume();
    let mut running = desk.start(&[
        "align",
        &volume,
        "--read",
        "--threads",
        "1",
        "--size",
        "16M",
        "--step",
        "20ms",
        "--time",
        "10m",
        "--precision",
        "0.001",
        "--busy-ok",
        "--json",
    ]);
    running.until("Measuring");
    let id = |desk: &Desk| experiment(desk).at("blocks").count();
    running.until_true("a few blocks", || id(desk) >= 3);
    running
}

#[test]
fn an_interrupted_experiment_goes_on_without_repeating_a_block() {
    let desk = Desk::new();
    let running = measuring(&desk);
    running.signal(Signal::INT);
    let answer = running.wait().ended(130);
    let first = answer.json();
    assert_eq!(first.at("experiment.status").text(), "partial");
    assert_eq!(first.at("experiment.ended").text(), "interrupted");
    let before = runs_of_blocks(&first);
    assert!(!before.is_empty());
    assert!(names(desk.volume()).is_empty());
    let id = first.at("experiment.id").text();
    let blocks = (before.len() / 2 + 2).max(10).to_string();
    let resumed = desk.run(&[
        "lab",
        "resume",
        &id,
        "--blocks",
        &blocks,
        "--busy-ok",
        "--json",
    ]);
    let second = resumed.json();
    assert_eq!(second.at("experiment.id").text(), id);
    assert_eq!(second.at("experiment.status").text(), "complete");
    let after = runs_of_blocks(&second);
    assert_eq!(
        after.len().to_string(),
        (2 * blocks.parse::<usize>().unwrap()).to_string()
    );
    assert_eq!(
        after[..before.len()],
        before,
        "finished blocks are as they were"
    );
    // Done is done: it is shown again, and nothing runs.
    let again = desk.run(&["lab", "resume", &id, "--json"]).json();
    assert_eq!(runs_of_blocks(&again), after);
}

#[test]
fn an_experiment_that_another_process_is_measuring_is_not_resumed() {
    let desk = Desk::new();
    let running = measuring(&desk);
    let id = experiment(&desk).at("id").text();
    desk.run(&["lab", "resume", &id, "--busy-ok"])
        .failed(2, &["still being measured by another process", "hint: "]);
    running.signal(Signal::INT);
    running.wait().ended(130);
}

#[test]
fn an_experiment_whose_process_was_killed_goes_on() {
    let desk = Desk::new();
    let running = measuring(&desk);
    running.signal(Signal::KILL);
    running.wait().ended(137);
    let killed = experiment(&desk);
    assert!(killed.maybe("ended").is_none());
    let id = killed.at("id").text();
    let blocks = (killed.at("blocks").count() + 3).max(10).to_string();
    let resumed = desk.run(&[
        "lab",
        "resume",
        &id[..18],
        "--blocks",
        &blocks,
        "--busy-ok",
        "--json",
    ]);
    let document = resumed.json();
    assert_eq!(document.at("experiment.blocks").count().to_string(), blocks);
}

#[test]
fn clean_removes_what_was_made_and_only_with_yes() {
    let desk = Desk::new();
    desk.run(&[
        "align",
        "sim:nvme",
        "--threads",
        "1",
        "--step",
        "10ms",
        "--blocks",
        "10",
        "-q",
    ]);
    let id = experiment(&desk).at("id").text();
    let volume = desk.volume();
    let kept = format!("{volume}/kept");
    desk.run(&["prepare", &kept, "--size", "1M", "--busy-ok"])
        .done();
    std::fs::write(format!("{volume}/theirs"), b"x").expect("a file");
    let message = desk.run(&["lab", "clean"]).done();
    assert!(message.stdout.contains("--yes"), "{}", message.stdout);
    assert_eq!(names(&volume), ["kept", "theirs"]);
    desk.run(&["lab", "clean", "--yes"]).done();
    assert_eq!(names(&volume), ["theirs"]);
    desk.run(&["lab", "clean", &id]).done();
    assert!(!desk.ids().is_empty());
    desk.run(&["lab", "clean", &id, "--yes"]).done();
    assert!(desk.ids().is_empty());
    desk.run(&["lab", "resume", &id]).failed(2, &["lab plans"]);
}
