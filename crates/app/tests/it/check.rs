//! `baseline` and `check`: change told and not told, what is not comparable,
//! requirements, gentleness.

use crate::support::{Answer, Desk, Json, users_file};
use rustix::process::Signal;

const ALIGNED: &str = "sim:raid10-10k?offset=64K";
const MISALIGNED: &str = "sim:raid10-10k?offset=63s";

/// A desk with a baseline of six repetitions of two workloads.
fn desk_with_baseline() -> Desk {
    let desk = Desk::new();
    let run = desk.json(&[
        "run",
        ALIGNED,
        "--duration",
        "1s",
        "--threads",
        "1,8",
        "--outstanding",
        "4",
        "--repeat",
        "6",
    ]);
    let id = run.at("runs.0.series").text();
    let answer = desk.run(&["baseline", "set", &id]).done();
    assert!(
        answer.stdout.contains("12 runs of 2 workloads"),
        "{}",
        answer.stdout
    );
    desk
}

/// `check --json` with these arguments, ending with a code.
fn checked(desk: &Desk, code: i32, arguments: &[&str]) -> Json {
    let mut all = vec!["check", "--json"];
    all.extend(arguments);
    desk.run(&all).ended(code).json()
}

fn said(answer: &Answer, words: &str) {
    let flat = answer
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        flat.contains(words),
        "`{words}` is not in\n{}",
        answer.stdout
    );
}

#[test]
fn nothing_changed_and_nothing_is_told() {
    let desk = desk_with_baseline();
    let before = desk.ids().len();
    let document = checked(&desk, 0, &[]);
    assert_eq!(document.at("verdict").text(), "no-difference");
    assert_eq!(document.at("baseline").text(), "baseline");
    assert_eq!(document.at("runs").items().len(), 12);
    assert_eq!(desk.ids().len(), before + 12, "its runs are kept");
    for row in document.at("comparisons.0.rows").items() {
        // The same array, the same seeds: the very same numbers.
        assert_eq!(row.at("a").number(), row.at("b").number());
    }
    said(
        &desk.run(&["check"]).done(),
        "No change was found. No difference larger than",
    );
}

#[test]
fn a_loss_is_found_and_a_gain_is_no_failure() {
    let desk = desk_with_baseline();
    let worse = desk.run(&["check", MISALIGNED]).ended(1);
    said(&worse, "Worse than the baseline.");
    said(&worse, "offset: 64K then, 31.5K now");
    let tolerated = desk.run(&["check", MISALIGNED, "--tolerate", "20"]).done();
    said(
        &tolerated,
        "Worse than the baseline, and tolerated: the loss may be no larger than 20 %.",
    );
    let gain = desk
        .run(&["check", "sim:raid10-10k?offset=64K&rpm=15000"])
        .done();
    said(&gain, "Better than the baseline.");
}

#[test]
fn what_is_not_comparable_is_refused_unless_it_was_changed_on_purpose() {
    let desk = desk_with_baseline();
    let before = desk.ids().len();
    let larger = "sim:raid10-10k?offset=64K&disks=6";
    desk.run(&["check", larger]).failed(
        3,
        &[
            "cannot be compared with the baseline `baseline`",
            "size in use:",
            "--changed",
        ],
    );
    assert_eq!(desk.ids().len(), before, "nothing was measured");
    let changed = desk
        .run(&["check", larger, "--changed", "4 to 6 disks"])
        .done();
    said(&changed, "after the change `4 to 6 disks`");
    said(&changed, "the difference may be caused by the size in use");
    let listed = desk.json(&["baseline"]);
    assert_eq!(
        listed.at("baselines.0.changes.0.words").text(),
        "4 to 6 disks"
    );
    assert_eq!(
        desk.json(&["history"]).at("history.0.label").text(),
        "4 to 6 disks"
    );
    // Stored runs that are not comparable are a mistake of the command line.
    desk.json(&[
        "run",
        larger,
        "--duration",
        "1s",
        "--threads",
        "8",
        "--outstanding",
        "4",
    ]);
    desk.run(&["check", "--run", "last"])
        .failed(2, &["size in use:"]);
}

#[test]
fn stored_runs_can_be_judged_instead_of_new_ones() {
    let desk = desk_with_baseline();
    desk.json(&[
        "run",
        MISALIGNED,
        "--duration",
        "1s",
        "--threads",
        "8",
        "--outstanding",
        "4",
        "--repeat",
        "6",
    ]);
    let before = desk.ids();
    let series = desk.json(&["history"]).at("history.0.series").text();
    let document = checked(&desk, 1, &["--run", &series, "--require", "read_iops>=1"]);
    assert_eq!(document.at("verdict").text(), "worse");
    assert!(document.at("requirements.0.met").truth());
    assert_eq!(desk.ids(), before, "nothing was measured");
}

#[test]
fn a_single_run_as_baseline_rests_on_todays_scatter() {
    let desk = Desk::new();
    desk.json(&[
        "run",
        ALIGNED,
        "--duration",
        "20s",
        "--threads",
        "8",
        "--outstanding",
        "4",
    ]);
    let set = desk
        .run(&["baseline", "set", "last", "--name", "old"])
        .done();
    assert!(set.stderr.contains("few repetitions"), "{}", set.stderr);
    let worse = desk.run(&["check", MISALIGNED]).ended(1);
    said(&worse, "rest on both sides scattering alike");
    // Its own repetitions make it firm.
    desk.run(&["baseline", "set", "last", "--name", "firm", "--repeat", "6"])
        .done();
    let document = checked(&desk, 0, &["--baseline", "firm"]);
    assert_eq!(document.at("comparisons.0.a.from").items().len(), 6);
}

#[test]
fn requirements_are_gates_with_and_without_a_baseline() {
    let desk = Desk::new();
    let met = ["--require", "read_iops>=100", "--repeat", "2"];
    let missed = ["--require", "log p99<1us", "--require", "write_iops>=10"];
    desk.run(&[&["check", ALIGNED, "--duration", "1s"], met.as_slice()].concat())
        .done();
    let all = [
        &[ALIGNED, "--duration", "1s"],
        met.as_slice(),
        missed.as_slice(),
    ]
    .concat();
    let document = checked(&desk, 1, &all);
    let outcomes: Vec<(String, bool)> = document
        .at("requirements")
        .items()
        .iter()
        .map(|one| (one.at("requirement").text(), one.at("met").truth()))
        .collect();
    let expected = [
        ("read_iops>=100", true),
        ("log p99<1us", false),
        ("write_iops>=10", true),
    ];
    assert_eq!(outcomes, expected.map(|(text, met)| (text.to_owned(), met)));
    assert!(document.maybe("baseline").is_none());

    let desk = desk_with_baseline();
    let answer = desk.run(&["check", "--require", "iops>=1000000"]).ended(1);
    said(&answer, "MISSED: iops>=1000000:");
    said(
        &answer,
        "(random read, 8K, 8 threads of 4; median of 6 runs)",
    );
    desk.run(&["check", "--require", "log p99<1h"]).ended(1);
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let desk = Desk::new();
    desk.run(&["check"])
        .failed(2, &["there is no baseline", "baseline set"]);
    for (requirement, says) in [
        ("fast>1", "`fast` is not a metric"),
        ("p99<5", "a latency has its unit"),
    ] {
        desk.run(&["check", "--require", requirement])
            .failed(2, &[says, "hint: "]);
    }
}

#[test]
fn a_baseline_outlives_its_runs() {
    let desk = desk_with_baseline();
    let series = desk.json(&["history"]).at("history.0.series").text();
    desk.run(&["history", "delete", &series]).done();
    checked(&desk, 0, &[]);
}

#[test]
fn a_gentle_check_only_reads_a_little_and_compares_with_its_like() {
    let desk = desk_with_baseline();
    let first = desk.run(&["check", "--gentle", "--repeat", "3"]).done();
    said(&first, "These are the first gentle runs");
    // The load is the baseline's: a hint that names a switch of it says so.
    let words: Vec<&str> = first.stdout.split_whitespace().collect();
    let flat = words.join(" ");
    assert!(
        !flat.contains("--duration") || flat.contains("(the baseline says this"),
        "{}",
        first.stdout
    );
    let run = desk.json(&["history", "show", "last"]);
    let workload = run.at("runs.0.jobs.0.workload");
    assert_eq!(workload.at("rate.iops").number(), 50.0);
    assert_eq!(
        (
            workload.at("threads").count(),
            workload.at("outstanding").count()
        ),
        (1, 1)
    );
    assert_eq!(workload.at("read_percent").count(), 100);
    let document = checked(&desk, 0, &["--gentle", "--repeat", "3"]);
    assert_eq!(
        document.at("comparisons.0.rows.0.metric").text(),
        "latency_ns_p50"
    );
    assert_eq!(document.at("verdict").text(), "no-difference");
    let volume = desk.volume();
    desk.run(&["check", &volume, "--gentle"])
        .failed(3, &["only reads", "prepare"]);
}

#[test]
fn a_real_file_is_run_again_as_it_was() {
    let desk = Desk::new();
    let file = desk.file("data");
    let content = users_file(&file, 8 << 20);
    // Its name in the directory of the command; check finds it from any other.
    let run = desk.json(&[
        "run",
        "data",
        "--duration",
        "100ms",
        "--repeat",
        "3",
        "--busy-ok",
    ]);
    let id = run.at("runs.0.series").text();
    desk.run(&["baseline", "set", &id]).done();
    let answer = desk.run(&["check", "--json", "--busy-ok", "--repeat", "3"]);
    // How fast the machine was a moment ago is nobody's promise.
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    let document = answer.json();
    assert_eq!(document.at("runs").items().len(), 3);
    let row = document.at("comparisons.0.rows.0");
    assert_eq!(row.at("blocks").count(), 3);
    row.at("interval_percent.0").number();
    assert!(
        !answer.stdout.contains("target: data then"),
        "{}",
        answer.stdout
    );
    assert_eq!(std::fs::read(&file).unwrap(), content, "it was only read");
    // Half of it is another thing.
    let other = desk.file("half");
    users_file(&other, 4 << 20);
    desk.run(&["check", &other, "--busy-ok"])
        .failed(3, &["size in use: 8 MiB then, 4 MiB now"]);
}

#[test]
fn an_interrupted_check_keeps_its_runs_and_concludes_nothing() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 4 << 20);
    desk.json(&["run", &file, "--duration", "100ms", "--busy-ok"]);
    let base = desk
        .json(&["history", "show", "last"])
        .at("runs.0.id")
        .text();
    desk.run(&["baseline", "set", &base]).done();
    // 100 repetitions of 100 ms: there is time to interrupt it.
    let mut running = desk.start(&["check", "--busy-ok", "--repeat", "100", "--json"]);
    running.until("Checking ...");
    running.signal(Signal::INT);
    let answer = running.wait().ended(130);
    assert!(answer.stderr.contains("interrupted"), "{}", answer.stderr);
    if !answer.stdout.is_empty() {
        assert!(answer.json().at("comparisons").items().is_empty());
    }
}
