//! `bench` as a user meets it. What it runs and answers is tested as functions in
//! `campaign`.

use crate::support::{Desk, Json, codes, names};

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
fn the_table_marks_the_knee_and_ends_with_the_sentence() {
    let desk = Desk::new();
    let printed = desk
        .run(&[
            "bench",
            "sim:nvme",
            "--series",
            "sequential-read",
            "--step",
            "200ms",
        ])
        .done()
        .stdout;
    assert!(
        printed.lines().any(|line| line.contains("knee")),
        "{printed}"
    );
    let shown = desk.json(&["history", "show", "last"]);
    let sentence = shown.at("series.0.sentence").text();
    assert!(printed.contains(&sentence[..40]), "{printed}");
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
    assert!(names(&volume).is_empty());
    for word in ["caches and bursts possible", "Time: ", "Series: ", "16 MiB"] {
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
fn qualify_tells_its_time_before_anything_is_made() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut bench = desk.start(&[
        "bench",
        &volume,
        "--busy-ok",
        "--qualify",
        "--size",
        "64M",
        "--series",
        "random-read",
    ]);
    bench.until("Time: at most ");
    bench.until("Writes: ");
    bench.signal(rustix::process::Signal::INT);
    bench.wait().ended(130);
    assert!(names(&volume).is_empty());
}
