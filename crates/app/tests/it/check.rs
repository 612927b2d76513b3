//! `baseline` and `check` as a user meets them. What a check concludes is tested as
//! functions in `campaign`.

use crate::support::{Answer, Desk, Json, long_enough, unwrapped, users_file};
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
        "8s",
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

fn assert_prints(answer: &Answer, words: &str) {
    let flat = unwrapped(&answer.stdout);
    assert!(
        flat.contains(words),
        "`{words}` is not in\n{}",
        answer.stdout
    );
}

/// A stall of 2 s in a run of 3 s, now and then.
const STALLS: &str = r#"
level = "10"
disks = 4
stripe_unit = "64K"
offset = "1M"
[faults]
stall_interval = "8s"
stall = "2s"
spikes_per_million = 20000
spike_min = "50ms"
spike_max = "900ms"
"#;

#[test]
fn writes_that_a_cache_absorbs_at_first_are_no_baseline() {
    let desk = Desk::new();
    let run = ["run", "sim:sata-ssd", "--write", "--repeat", "6", "-q"];
    desk.run(&run).done();
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["6 of the 6 runs", "not steady", "--steady"]);
    desk.run(&["baseline", "set", "last", "--anyway"])
        .done()
        .warned(&["not-steady in 6 of 6 runs"]);
    desk.run(&[&run[..], &["--steady"]].concat()).done();
    desk.run(&["baseline", "set", "last", "--replace"]).done();
}

#[test]
fn what_cannot_be_told_is_a_line_with_its_interval() {
    let desk = Desk::new();
    let target = format!("sim:{}", desk.write("stalls.toml", STALLS));
    let run = ["run", &target, "--threads", "8", "--outstanding", "4"];
    let of = |seed: &str, runs: &str| {
        let more = ["--duration", "3s", "--seed", seed, "--repeat", runs];
        desk.run(&[&run[..], &more].concat()).done();
    };
    of("1", "6");
    // It scatters too much for a baseline that would show a loss.
    desk.run(&["baseline", "set", "last"]).ended(2);
    desk.run(&["baseline", "set", "last", "--anyway"]).done();
    of("5", "3");
    let answer = desk.run(&["check", "--run", "last", "-q"]).ended(1);
    let line = answer.stdout.trim_end();
    assert!(
        line.starts_with("UNDECIDED: read random 8K 8 threads of 4: "),
        "{line}"
    );
    assert!(
        line.contains(", 95 % interval ") && line.contains("Not enough repetitions"),
        "{line}"
    );
}

/// What is required is required of the rate that lasts.
#[test]
fn a_burst_credit_is_spent_before_a_rate_is_judged() {
    let desk = Desk::new();
    let target = "sim:ebs-gp2-100?limit.burst_operations=20000";
    let check = |rate: &str| desk.run(&["check", target, "--require", rate]);
    let missed = check("read_iops>=1000").ended(1).stdout;
    assert!(
        missed.contains("MISSED: read_iops>=1000: 300 IOPS"),
        "{missed}"
    );
    check("read_iops>=290").done();
}

/// The runs around its answer are repeated, and those at larger loads take longer.
#[test]
fn a_latency_is_required_of_a_repeated_bench_at_the_load_of_its_answer() {
    let desk = Desk::new();
    let bench = ["bench", "sim:disk-15k", "--series", "random-read"];
    desk.run(&[&bench[..], &["--slo", "p99<60ms"]].concat())
        .done();
    desk.run(&["baseline", "set", "last"]).done();
    let check = |limit: &str| desk.run(&["check", "--require", limit]);
    check("p99<62ms").done();
    check("random-read p99<50ms").ended(1);
}

#[test]
fn what_a_check_found_is_told_in_text_and_as_a_document() {
    let desk = desk_with_baseline();
    let document = checked(&desk, 1, &[MISALIGNED]);
    assert_eq!(document.at("verdict").text(), "worse");
    assert_eq!(document.at("baseline").text(), "baseline");
    assert_eq!(document.at("runs").items().len(), 12);
    let more = ["--tolerate", "20", "--require", "iops>=1000000"];
    let answer = desk
        .run(&[&["check", MISALIGNED], &more[..]].concat())
        .ended(1);
    for words in [
        "The loss is tolerated: it is not certainly above 20 %.",
        "offset: 64K then, 31.5K now",
        "MISSED: iops>=1000000:",
        "(random read, 8K, 8 threads of 4; median of 6 runs)",
    ] {
        assert_prints(&answer, words);
    }
    // The picture is passed on alone.
    let picture = desk.file("check.svg");
    desk.run(&["report", "last", "-o", &picture]).ended(0);
    let drawn = std::fs::read_to_string(picture).expect("a picture");
    for words in [
        "Requirement missed",
        "MISSED: iops&gt;=1000000:",
        "fewer IOPS",
    ] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    // The same from the store: what the runs alone do not say.
    let page = desk.file("check.md");
    desk.run(&["report", "last", "-o", &page]).ended(0);
    let page = std::fs::read_to_string(page).expect("a page");
    let shown = desk.run(&["history", "show", "last"]).ended(0);
    assert_prints(
        &shown,
        "The loss is tolerated: it is not certainly above 20 %.",
    );
    assert_prints(&shown, "MISSED: iops>=1000000:");
    for words in [
        "Check against the baseline\n",
        "64K then, 31.5K now",
        "worse",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let listed = desk.run(&["history"]).done().stdout;
    let of_checks = listed.lines().filter(|line| line.contains(" check "));
    let words: Vec<&str> = of_checks
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    assert_eq!(words, ["missed", "worse"], "{listed}");
    // What is tolerated there is not called worse here.
    let quiet = [&["check", MISALIGNED, "-q"], &more[..]].concat();
    let answer = desk.run(&quiet).ended(1);
    assert_prints(&answer, "MISSED: iops>=1000000:");
    assert!(!answer.stdout.contains("WORSE"), "{}", answer.stdout);
    let again = desk.run(&["history", "show", "last", "-q"]).ended(0);
    assert_eq!(again.stdout, answer.stdout);
    desk.run(&["check", "sim:raid10-10k?offset=64K&disks=6"])
        .failed(3, &["size in use:", "--changed"]);
}

#[test]
fn a_gentle_check_names_no_switch_that_it_does_not_take() {
    let desk = desk_with_baseline();
    let first = desk.run(&["check", "--gentle", "--repeat", "3"]).done();
    assert_prints(&first, "These are the first gentle runs");
    // The load is the baseline's: a hint that names a switch of it says so.
    let flat = unwrapped(&first.stdout);
    assert!(
        !flat.contains("--duration") || flat.contains("(the baseline says this"),
        "{}",
        first.stdout
    );
    let volume = desk.volume();
    desk.run(&["check", &volume, "--gentle"])
        .failed(3, &["only reads", "prepare"]);
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
fn a_real_file_is_run_again_as_it_was() {
    let desk = Desk::new();
    let file = desk.file("data");
    let content = users_file(&file, 8 << 20);
    let measure = |duration: &str| {
        // Its name in the directory of the command; check finds it from any other.
        let run = ["run", "data", "--duration", duration, "--repeat", "3"];
        let run = desk.json(&[&run[..], &["--busy-ok"]].concat());
        let id = run.at("runs.0.series").text();
        // Temporary files may lie in memory or on a cached loop device: those numbers are void,
        // like a window with too little in it.
        desk.run(&["baseline", "set", &id, "--replace", "--anyway"])
            .done();
        desk.run(&["check", "--json", "--busy-ok", "--repeat", "3"])
    };
    let answer = long_enough(measure, |answer| {
        let void = answer.json().maybe("comparisons.0.rows.0.void");
        !void.is_some_and(|codes| codes.json().contains("few-operations"))
    });
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
    // On a busy machine the run may have too few operations for a baseline.
    desk.run(&["baseline", "set", &base, "--anyway"]).done();
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
