//! Recorded loads: replayed, and grown until a latency limit.

use crate::support::Desk;
use std::fmt::Write as _;

/// Operations of 8 KiB, as MSR Cambridge's traces write them: instants in 100 ns from a
/// congruential generator, 250 a second on average, seven of ten read.
fn trace(operations: u64) -> String {
    let (mut x, mut at) = (1u64, 0.0f64);
    let mut next = || {
        x = x * 16_807 % 2_147_483_647;
        x
    };
    let mut text = String::new();
    for _ in 0..operations {
        at -= 40_000.0 * (next() as f64 / 2_147_483_647.0).ln();
        let drawn = next();
        let kind = if drawn % 10 < 7 { "Read" } else { "Write" };
        let offset = drawn % 100_000 * 8_192;
        let _ = writeln!(text, "{at:.0},web,0,{kind},{offset},8192,20000");
    }
    text
}

#[test]
fn a_recording_is_issued_as_it_was() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(20_000));
    let document = desk.json(&["run", "sim:nvme", "--trace", &load]);
    let job = document.at("runs.0.jobs.0");
    assert_eq!(job.at("workload.recorded.name").text(), "load.csv");
    let replay = job.at("outcome.replay");
    assert_eq!(replay.at("due").count(), 20_000);
    assert_eq!(replay.at("issued").count(), 20_000);
    assert!(replay.at("fidelity.score").number() <= 1.1);
    // The same object beside the run.
    let beside = document.at("runs.0.fidelity.score").number();
    assert!((beside - replay.at("fidelity.score").number()).abs() < 1e-12);
    assert_eq!(replay.at("lateness.verdict").text(), "valid");
    assert_eq!(job.at("outcome.arrivals_due").count(), 20_000);
    // Twice as fast is half the time; two copies are twice the operations.
    let fast = desk.json(&["run", "sim:nvme", "--trace", &load, "--speed", "2"]);
    let times = [&document, &fast].map(|one| one.at("runs.0.jobs.0.outcome.duration_ns").number());
    assert!((times[0] / times[1] - 2.0).abs() < 0.001, "{times:?}");
    let two = desk.json(&["run", "sim:nvme", "--trace", &load, "--copies", "2"]);
    let due = two.at("runs.0.jobs.0.outcome.replay.due").count();
    assert!(due.abs_diff(40_000) < 400, "{due}");
}

#[test]
fn a_replay_writes_to_a_file_of_its_own_and_says_how_much() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(400));
    std::fs::create_dir(desk.path().join("data")).unwrap();
    let data = desk.file("data");
    let run = desk.run(&[
        "run",
        &data,
        "--trace",
        &load,
        "--speed",
        "4",
        "--busy-ok",
        "--json",
    ]);
    assert!(run.stderr.contains("400 operations"), "{}", run.stderr);
    assert!(run.stderr.contains("writes"), "{}", run.stderr);
    let document = run.json();
    let replay = document.at("runs.0.jobs.0.outcome.replay");
    // How many leave in time is the machine's business.
    assert_eq!(replay.at("due").count(), 400);
    assert!((1..=400).contains(&replay.at("issued").count()));
    assert!(replay.at("not_judged").text().contains("shorter than 60 s"));
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // A file that Stripewise did not make is not written to.
    let mine = desk.write("data/mine", &"x".repeat(1 << 20));
    desk.run(&["run", &mine, "--trace", &load, "--busy-ok"])
        .ended(3);
    assert_eq!(
        std::fs::read(&mine).unwrap(),
        "x".repeat(1 << 20).as_bytes()
    );
}

#[test]
fn what_is_no_load_is_refused_before_anything_is_measured() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(400));
    let text = desk.write("notes.txt", "no trace at all\n");
    let cases: [(&[&str], &str); 11] = [
        (
            &["run", "sim:nvme", "--trace", &text],
            "no format that is known",
        ),
        (
            &["run", "sim:nvme", "--trace", "absent.csv"],
            "cannot read absent.csv",
        ),
        (
            &["run", "sim:nvme", "--trace", &load, "--block", "4K"],
            "--block cannot be combined",
        ),
        (
            &["run", "sim:nvme", "--trace", &load, "--speed", "0"],
            "--speed 0 is out of range",
        ),
        (&["headroom", "sim:nvme", "--load", &load], "20 runs"),
        (&["headroom", "sim:nvme", "--load", "absent"], "absent"),
        (
            &["headroom", "sim:nvme", "--load", &load, "--slo", "max<5ms"],
            "give a percentile",
        ),
        (
            &["headroom", "sim:nvme", "--load", &load, "--run", "0s"],
            "--run: 0 ns is shorter than a second",
        ),
        (
            &["headroom", "sim:nvme", "--load", &load, "--rate", "5"],
            "arrivals of its own",
        ),
        (
            &["headroom", "sim:nvme", "--load", "postgrsql", "--rate", "5"],
            "did you mean the profile `postgresql`",
        ),
        (
            &[
                "headroom",
                "sim:nvme",
                "--load",
                "postgresql",
                "--resume",
                "x",
            ],
            "no `headroom` of id x that can go on",
        ),
    ];
    for (arguments, says) in cases {
        let answer = desk.run(arguments).ended(2);
        assert!(answer.stderr.contains(says), "{says}: {}", answer.stderr);
        assert!(answer.stderr.contains("hint:"), "{}", answer.stderr);
    }
}

#[test]
fn headroom_has_two_answers_with_intervals() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(52_000));
    let headroom = [
        "headroom",
        "sim:raid10-10k",
        "--load",
        &load,
        "--slo",
        "p99<40ms",
    ];
    let document = desk.json(&headroom);
    // Runs of another target would be added to these.
    let id = document.at("id").text();
    desk.run(&["headroom", "sim:nvme", "--load", &load, "--resume", &id])
        .failed(2, &["the target was sim:raid10-10k and is sim:nvme"]);
    desk.run(&[
        "headroom", "--resume", &id, "--slo", "p99<40ms", "--seed", "2",
    ])
    .failed(2, &["different options: --seed was 1 and is 2"]);
    // All else is as it was: this one is only too far.
    desk.run(&["headroom", "--resume", &id])
        .failed(2, &["is finished"]);
    for way in ["more_users", "faster"] {
        let [low, factor, high] =
            ["low", "factor", "high"].map(|end| document.at(&format!("{way}.{end}")).number());
        assert!(
            low < factor && factor < high,
            "{way}: {low} {factor} {high}"
        );
        assert!((2.0..3.5).contains(&factor), "{way}: {factor}");
        assert_eq!(document.at(&format!("{way}.bound")).text(), "at");
        assert_eq!(document.at(&format!("{way}.limited_by")).text(), "writes");
    }
    assert!(document.at("refused").is_null());
    assert!(document.at("closed").is_null());
    assert!(document.at("fidelity.score").number() <= 1.5);
}

#[test]
fn an_answer_is_shown_again_drawn_and_compared() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(52_000));
    // The load is named by the observation that read it.
    let observed = desk.run(&["observe", "--from", &load, "--json"]).json();
    let observation = observed.at("id").text();
    let page = desk.file("headroom.html");
    let find = |target: &str, slo: &str, load: &str, more: &[&str]| {
        let words = ["headroom", target, "--load", load, "--slo", slo];
        desk.json(&[&words[..], more].concat())
    };
    let a = find("sim:raid10-10k", "p99<40ms", &observation, &["-o", &page]);
    let b = find("sim:raid10-10k?disks=6", "p99<40ms", &load, &[]);
    let [a_id, b_id] = [&a, &b].map(|one| one.at("id").text());
    assert_eq!(a.at("load.name").text(), "load.csv");
    let page = std::fs::read_to_string(&page)
        .expect("a page")
        .replace('\u{a0}', " ");
    for words in [
        "Beyond 40 ms",
        "The load over time",
        "are carried",
        "limit reached",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // The series' runs are in the history, and its answer is what is shown of it.
    let shown = desk.run(&["history", "show", &a_id]).done();
    assert!(shown.stdout.contains("More users: "), "{}", shown.stdout);
    let again = desk.json(&["history", "show", &a_id]);
    assert_eq!(
        again.at("more_users.factor").number(),
        a.at("more_users.factor").number()
    );
    let table = desk.file("runs.csv");
    desk.run(&["report", &a_id, "--format", "csv", "-o", &table])
        .done();
    let rows = std::fs::read_to_string(&table)
        .expect("a table")
        .lines()
        .count();
    assert_eq!(rows, 1 + a.at("runs").items().len());
    // Of one load on two targets.
    let compared = desk.json(&["compare", &a_id, &b_id]);
    let more = &compared.at("rows").items()[0];
    assert_eq!(more.at("growth").text(), "more users");
    let [low, times, high] = ["low", "times", "high"].map(|end| more.at(end).number());
    let ratio = b.at("more_users.factor").number() / a.at("more_users.factor").number();
    assert!(
        (times - ratio).abs() < 1e-9 && low < times && times < high,
        "{low} {times} {high}"
    );
    desk.run(&["compare", &a_id, &b_id])
        .done()
        .printed(&["B carries", "times"]);
    desk.run(&["baseline", "set", &a_id])
        .failed(2, &["is a headroom", "hint:"]);
    desk.run(&["compare", &a_id, &observation])
        .failed(2, &["is not", "hint:"]);
    // The answer goes with its runs, and can be deleted no second time.
    desk.run(&["history", "delete", &a_id]).done();
    desk.run(&["history", "show", &a_id]).failed(2, &["hint:"]);
    desk.run(&["history", "delete", &a_id])
        .failed(2, &["hint:"]);
    desk.run(&["history", "show", &b_id]).done();
}

#[test]
fn what_limits_found_goes_with_its_runs() {
    let desk = Desk::new();
    let limits = ["limits", "sim:raid10-10k", "--read-only", "--json"];
    let id = desk.run(&limits).json().at("id").text();
    desk.run(&["history", "show", &id]).done();
    // Its runs are no load that a check could repeat.
    desk.run(&["baseline", "set", &id])
        .failed(2, &["is an answer of limits", "hint:"]);
    desk.run(&["history", "delete", &id]).done();
    desk.run(&["history", "show", &id]).failed(2, &["hint:"]);
}

#[test]
fn a_spent_credit_is_no_reason_for_no_answer() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(52_000));
    let target = "sim:raid10-10k?limit.iops=420&limit.burst_operations=20000";
    let words = ["headroom", target, "--load", &load, "--slo", "p99<40ms"];
    // Of the load as it is, at most twice of it says nothing.
    let answer = desk.run(&[&words[..], &["--json"]].concat()).ended(1);
    let document = answer.json();
    desk.run(&["history", "show", "last", "-q"])
        .printed(&["Whether it carries the load as it is (1) is not known."]);
    assert!(document.at("refused").is_null());
    for way in ["more_users", "faster"] {
        assert_eq!(document.at(&format!("{way}.bound")).text(), "at-most");
        assert!(document.at(&format!("{way}.is_short_lived")).truth());
        assert!(document.at(&format!("{way}.held_for_s")).is_null());
    }
    // Where no factor holds the limit, that is a finding.
    let none = [
        "headroom",
        "sim:raid10-10k",
        "--load",
        &load,
        "--slo",
        "p99<1ms",
    ];
    desk.run(&none)
        .ended(1)
        .printed(&["The load is not carried", "none, the limit is exceeded"]);
}

#[test]
fn a_model_knows_that_its_load_waited() {
    let desk = Desk::new();
    let (mut x, mut at, mut text) = (1u64, 0.0f64, String::new());
    let mut drawn = || {
        x = x * 16_807 % 2_147_483_647;
        -(x as f64 / 2_147_483_647.0).ln()
    };
    for number in 0..32_000u64 {
        // One at a time, each begun when the one before is over and some time has passed.
        let (lasts, thinks) = (10_000.0 + 60_000.0 * drawn(), 20_000.0 * drawn());
        let offset = number * 7_919 % 100_000 * 8_192;
        let _ = writeln!(text, "{at:.0},web,0,Read,{offset},8192,{lasts:.0}");
        at += lasts + thinks;
    }
    let load = desk.write("load.csv", &text);
    let replay = ["run", "sim:raid10-10k", "--trace", &load, "--loop"];
    for kind in ["closed", "open"] {
        let shown = desk.run(&[&replay[..], &[kind]].concat()).done().stdout;
        for other in ["closed", "open"] {
            let is_there = shown.contains(&format!("\n{other} loop: "));
            assert_eq!(is_there, other == kind, "{shown}");
        }
    }
    let model = desk.file("load.swmodel");
    desk.run(&["observe", "--from", &load, "--model", &model, "-q"]);
    let words = [
        "headroom",
        "sim:raid10-10k",
        "--load",
        &model,
        "--slo",
        "p99<40ms",
    ];
    let document = desk.json(&words);
    assert!(
        document
            .at("closedness")
            .text()
            .starts_with("yes, when it was recorded")
    );
    assert_eq!(document.at("more_users.bound").text(), "at-least");
    let [factor, low] =
        ["factor", "low"].map(|end| document.at(&format!("more_users.{end}")).number());
    assert!((factor - low).abs() < 1e-12 && document.at("more_users.high").is_null());
    assert!(document.at("closed.rate_at_least").number() > 300.0);
    assert!(document.at("closed.users").is_null() && document.at("faster").is_null());
}

#[test]
fn an_observation_without_operations_is_no_load() {
    let desk = Desk::new();
    let load = desk.write("load.csv", &trace(400));
    let words = ["observe", "--from", &load, "--anonymous", "--json"];
    let observation = desk.run(&words).json().at("id").text();
    desk.run(&["headroom", "sim:nvme", "--load", &observation])
        .failed(2, &["kept no operations", "hint:"]);
}

#[test]
fn a_profile_has_headroom_at_a_rate_or_in_users() {
    let desk = Desk::new();
    let profile = ["headroom", "sim:raid10-10k", "--load", "postgresql"];
    let at_rate = [&profile[..], &["--rate", "60", "--slo", "p99<50ms"]].concat();
    let document = desk.json(&at_rate);
    assert!(document.at("more_users.factor").number() > 3.0);
    assert!(document.at("closed").is_null());
    let closed = [&profile[..], &["--slo", "p99<10s"]].concat();
    let document = desk.json(&closed);
    assert!(document.at("more_users").is_null());
    assert!(document.at("closedness").text().starts_with("yes"));
    let users = document.at("closed.users").number();
    assert!((users - users.round()).abs() < 1e-6, "{users}");
    // A mail says of what it is, and how it is shown again.
    let line = desk.run(&["history", "show", "last", "-q"]).done().stdout;
    let id = desk.json(&["history"]).at("history.0.series").text();
    assert!(
        line.starts_with("sim:raid10-10k at p99 < 10 s: Headroom of "),
        "{line}"
    );
    assert!(line.ends_with(&format!(" [{id}]\n")), "{line}");
    desk.run(&["history"]).done().printed(&[" users"]);
}
