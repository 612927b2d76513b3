//! The main job: five ladders, a sentence each.

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
fn bench_runs_five_series_reads_before_writes() {
    let desk = Desk::new();
    let document = desk.json(&["bench", "sim:raid10-10k"]);
    assert_eq!(series_names(&document), SERIES);
    let expected = [(100, 8, 8), (100, 64, 8), (0, 8, 8), (0, 64, 8), (0, 8, 1)];
    for (name, (reads, kib, depth_max)) in SERIES.iter().zip(expected) {
        let runs = document.at("runs").items();
        let runs: Vec<&Json> = runs
            .iter()
            .filter(|run| run.at("series_part").text() == *name)
            .collect();
        for run in &runs {
            let workload = run.at("jobs.0.workload");
            assert_eq!(workload.at("read_percent").count(), reads, "{name}");
            assert_eq!(workload.at("block_size_bytes").count(), kib << 10, "{name}");
        }
        if depth_max == 1 {
            let workload = runs[0].at("jobs.0.workload");
            assert_eq!(runs.len(), 8);
            assert_eq!(workload.at("cache").text(), "direct-sync");
            assert_eq!(
                workload.at("threads").count() * workload.at("outstanding").count(),
                1
            );
        } else {
            assert!(runs.len() >= 3, "{name}: {} steps", runs.len());
        }
    }
}

#[test]
fn a_ladder_doubles_threads_first_and_outstanding_then() {
    let desk = Desk::new();
    let document = desk.json(&["bench", "sim:raid10-10k", "--series", "random-read"]);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let steps = document.at("series.0.steps").items();
    let mut in_flight = 0;
    for step in steps.iter().filter(|step| !step.at("bisection").truth()) {
        let (threads, outstanding) = (step.at("threads").count(), step.at("outstanding").count());
        assert!(threads <= cores, "{threads}");
        assert!(
            outstanding == 1 || threads == cores,
            "{threads} x {outstanding}"
        );
        if in_flight > 0 {
            assert!(threads * outstanding <= 2 * in_flight);
            assert!(threads * outstanding > in_flight);
        } else {
            assert_eq!(threads * outstanding, 1);
        }
        in_flight = threads * outstanding;
        for field in [
            "iops",
            "mib_per_s",
            "latency_ns.mean",
            "latency_ns.p50",
            "latency_ns.p99",
        ] {
            step.at(field);
        }
        // At least 30,000 operations a step, so p99.9 is shown.
        step.at("latency_ns.p999");
    }
    assert!(in_flight >= 16, "{in_flight}");
}

#[test]
fn the_knee_of_a_known_array_is_bracketed_and_marked() {
    let desk = Desk::new();
    // Sixty-four channels of 70 us or so: 3.4 GB/s of link end it.
    let document = desk.json(&["bench", "sim:nvme", "--series", "sequential-read"]);
    let knee = document.at("series.0.knee");
    let at = knee.at("plateau_in_flight").count();
    let bracket: Vec<u64> = knee
        .at("plateau_bracket")
        .items()
        .iter()
        .map(Json::count)
        .collect();
    assert!(bracket[0] <= at && at <= bracket[1], "{at} {bracket:?}");
    assert!((4..=16).contains(&at), "{at}");
    let steps = document.at("series.0.steps").items();
    let last = steps.last().expect("steps");
    assert!(last.at("threads").count() * last.at("outstanding").count() > at);
    let table = desk
        .run(&["bench", "sim:nvme", "--series", "sequential-read"])
        .done()
        .stdout;
    assert!(table.lines().any(|line| line.contains("knee")), "{table}");
}

#[test]
fn the_sentence_holds_the_latency_limit_and_the_interval_at_it() {
    const COMMAND: [&str; 6] = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read",
        "--slo",
        "p99<30ms",
    ];
    let desk = Desk::new();
    let document = desk.json(&COMMAND);
    let series = document.at("series.0");
    assert_eq!(series.at("slo").text(), "p99<30ms");
    let steps = series.at("steps").items();
    let p99 = |step: &Json| step.at("latency_ns.p99").count();
    let within = usize::try_from(series.at("within_limit").count()).expect("an index");
    assert!(p99(&steps[within]) < 30_000_000);
    let best = steps
        .iter()
        .filter(|step| p99(step) < 30_000_000)
        .map(|step| step.at("iops").number())
        .fold(0.0, f64::max);
    let answer = steps[within].at("iops").number();
    assert!(answer >= 0.9 * best, "{answer} {best}");
    // Between the largest step that meets the limit and the next, by twenty runs of its own.
    let found = series.at("answer");
    assert_eq!(found.at("at").text(), "limit");
    assert_eq!(found.at("runs").count(), 20);
    let (low, high) = (
        found.at("iops_low").number(),
        found.at("iops_high").number(),
    );
    let rate = found.at("iops").number();
    assert!(low < rate && rate < high, "{low} {rate} {high}");
    assert!(high / low < 1.2, "an array without noise: {low} {high}");
    let beyond = steps[within + 1].at("iops").number();
    assert!(
        rate >= 0.97 * answer && rate <= beyond,
        "{answer} {rate} {beyond}"
    );
    let runs = series.at("answer_runs").items();
    assert_eq!(runs.len(), 20);
    let blocks: Vec<u64> = document
        .at("runs")
        .items()
        .iter()
        .filter_map(|run| run.maybe("answer_block").map(|block| block.count()))
        .collect();
    assert_eq!(blocks.len(), 20);
    assert!((0..4).all(|block| blocks.iter().filter(|one| **one == block).count() == 5));
    let sentence = series.at("sentence").text();
    for word in [
        "Random read",
        "IOPS",
        "p99",
        "30 ms",
        "in flight",
        "ceiling",
    ] {
        assert!(sentence.contains(word), "{word}: {sentence}");
    }
    let printed = desk.run(&COMMAND).done().stdout;
    assert!(printed.contains(&sentence[..40]), "{printed}");
}

#[test]
fn only_the_series_that_were_named_are_run() {
    let desk = Desk::new();
    let document = desk.json(&["bench", "sim:raid10-10k", "--series", "log,sequential-read"]);
    let mut found = series_names(&document);
    found.sort();
    assert_eq!(found, ["log", "sequential-read"]);
    let document = desk.json(&["bench", "sim:raid10-10k", "--read-only"]);
    assert_eq!(series_names(&document), ["random-read", "sequential-read"]);
    let document = desk.json(&[
        "bench",
        "sim:raid10-10k",
        "--block",
        "16K",
        "--series",
        "random-read",
    ]);
    assert_eq!(
        document
            .at("runs.0.jobs.0.workload.block_size_bytes")
            .count(),
        16 << 10
    );
}

#[test]
fn the_same_seed_gives_the_same_bench() {
    let desk = Desk::new();
    let series = || {
        let document = desk.json(&[
            "bench",
            "sim:sata-ssd",
            "--series",
            "random-write",
            "--seed",
            "3",
        ]);
        let steps = document.at("series.0.steps").items();
        steps
            .iter()
            .map(|step| step.at("iops").number())
            .collect::<Vec<_>>()
    };
    assert_eq!(series(), series());
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
