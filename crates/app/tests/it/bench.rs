//! `bench` as a user meets it. What it runs and answers is tested as functions in
//! `campaign`.

use crate::support::{Desk, Json, codes, names, unwrapped};

const SERIES: [&str; 5] = [
    "random-read",
    "sequential-read",
    "random-write",
    "sequential-write",
    "log",
];

fn series_names(document: &Json) -> Vec<String> {
    let series = document.at("series").items();
    series
        .iter()
        .map(|series| series.at("name").text())
        .collect()
}

#[test]
fn the_ladder_marks_the_knee_and_ends_with_the_answer() {
    let desk = Desk::new();
    let printed = desk
        .run(&[
            "bench",
            "sim:nvme",
            "--series",
            "sequential-read",
            "--step",
            "200ms",
            "--ladders",
        ])
        .done()
        .stdout;
    assert!(
        printed.lines().any(|line| line.contains("knee")),
        "{printed}"
    );
    let shown = desk.json(&["history", "show", "last"]);
    let sentence = shown.at("series.0.sentence").text();
    let answer = sentence.split(": ").nth(1).expect("an answer");
    let answer = answer.split(" at ").next().expect("a rate");
    assert!(printed.contains(&format!("Answer: {answer}")), "{printed}");
}

#[test]
fn only_the_series_that_were_named_are_run() {
    let desk = Desk::new();
    let named = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read,log",
        "--step",
        "1s",
    ];
    let more = ["--read-only", "--block", "16K"];
    let document = desk.json(&[&named[..], &more].concat());
    assert_eq!(series_names(&document), ["random-read"]);
    let workload = document.at("runs.0.jobs.0.workload");
    assert_eq!(workload.at("block_size_bytes").count(), 16 << 10);
}

/// Two of the runs for the answer meet a stall, which a robust mean hides.
#[test]
fn an_answer_says_what_stalls_cost() {
    let desk = Desk::new();
    let target = "sim:sata-ssd?faults.stall=300ms&faults.stall_interval=11400ms";
    let bench = ["bench", target, "--series", "random-read", "--block", "16K"];
    let document = desk.json(&bench);
    // Steps of one seed would all meet a stall, or none.
    let seed = |step: usize| document.at(&format!("runs.{step}.jobs.0.workload.seed"));
    assert!((1..6).all(|step| seed(step).count() != seed(step - 1).count()));
    let answer = document.at("series.0.answer");
    let full = answer.at("in_full");
    assert_eq!(full.at("runs_apart").count(), 2);
    assert_eq!(full.at("runs").count(), answer.at("runs").count());
    assert!((full.at("difference_percent").number() + 20.0).abs() < 1.0);
    // 33,920 IOPS, and 33,030 in the long run.
    assert!((full.at("iops").number() / 32_760.0 - 1.0).abs() < 0.01);
    assert!(full.at("iops").number() < answer.at("iops_low").number());
    let [low, high] = ["iops_low", "iops_high"].map(|end| full.at(end).number());
    assert!((low..=high).contains(&33_030.0), "{low} {high}");
    let shown = desk.run(&["history", "show", "last"]).done().stdout;
    let shown = unwrapped(&shown);
    let expected = "2 of 12 runs were slower by 20 %; counted in full the rate is 32,";
    assert!(shown.contains(expected), "{shown}");
    assert!(!shown.contains("step-down"), "{shown}");
}

/// Reads spend it as writes do, and what lasts is the answer.
#[test]
fn a_burst_credit_is_spent_before_the_answer() {
    let desk = Desk::new();
    let target = "sim:ebs-gp2-100?limit.burst_operations=50000";
    let document = desk.json(&["bench", target, "--series", "random-read"]);
    let series = document.at("series.0");
    let rate = series.at("answer.iops").number();
    assert!((rate / 300.0 - 1.0).abs() < 0.02, "{rate}");
    let sustained = series.at("sustained");
    assert_eq!(sustained.at("claim").text(), "sustained");
    assert!((sustained.at("absorbed_iops").number() / 3_000.0 - 1.0).abs() < 0.05);
    let sentence = series.at("sentence").text();
    assert!(
        sentence.contains("Before that a burst credit lasts: "),
        "{sentence}"
    );
    assert!(sentence.contains(" are read."), "{sentence}");
}

#[test]
fn bench_measures_a_real_directory_and_leaves_nothing() {
    let desk = Desk::new();
    let volume = desk.volume();
    let answer = desk
        .run(&[
            "bench",
            &volume,
            "--busy-ok",
            "--size",
            "16M",
            "--time",
            "5s",
            "--step",
            "100ms",
            "--json",
        ])
        .done();
    let document = answer.json();
    assert_eq!(series_names(&document), SERIES);
    assert!(codes(&document).contains(&"quick-run".to_owned()));
    // Five seconds do not suffice to see what a cache absorbs.
    for series in document.at("series").items() {
        let why = series.maybe("no_answer").map(|words| words.text());
        let is_read = series.at("name").text().ends_with("read");
        assert_eq!(why.is_none(), is_read, "{why:?}");
        assert!(why.is_none_or(|why| why.contains("sustained writes were not measured")));
    }
    assert!(names(&volume).is_empty());
    for word in [
        "results may include caches and burst credit",
        "Time: ",
        "Series: ",
        "16 MiB",
    ] {
        assert!(answer.stderr.contains(word), "{word}: {}", answer.stderr);
    }
    for job in document
        .at("runs")
        .items()
        .iter()
        .flat_map(|run| run.at("jobs").items())
    {
        assert_eq!(job.at("outcome.errors.total").count(), 0);
    }
}

#[test]
fn a_thorough_bench_prints_its_time_before_anything_is_made() {
    let desk = Desk::new();
    let volume = desk.volume();
    // The second is its old name.
    for switch in ["--thorough", "--qualify"] {
        let mut bench = desk.start(&[
            "bench",
            &volume,
            "--busy-ok",
            switch,
            "--size",
            "64M",
            "--series",
            "random-read",
        ]);
        bench.until("Time: at most ");
        bench.until("Writes: ");
        bench.signal(rustix::process::Signal::INT);
        bench.wait().ended(130);
    }
    assert!(names(&volume).is_empty());
}

#[test]
fn a_target_that_is_not_there_is_refused_before_the_expected_array_is_simulated() {
    let desk = Desk::new();
    let bench = desk.run(&["bench", "/nowhere", "--expect", "sim:nvme"]);
    assert!(
        !bench.stderr.contains("First the same bench"),
        "{}",
        bench.stderr
    );
    assert!(bench.stderr.contains("/nowhere"), "{}", bench.stderr);
    desk.run(&["history"]).printed(&["Nothing is stored yet"]);
}
