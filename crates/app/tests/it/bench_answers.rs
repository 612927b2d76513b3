//! The answer of a bench in all the places where it is shown.

use crate::support::{Desk, Json};

const LIMIT: [&str; 6] = [
    "--series",
    "random-read",
    "--slo",
    "p99<30ms",
    "--step",
    "1s",
];

fn bench(desk: &Desk, target: &str, more: &[&str]) -> Json {
    desk.json(&[&["bench", target], LIMIT.as_slice(), more].concat())
}

#[test]
fn json_table_sentence_page_and_csv_agree_to_the_digit() {
    let desk = Desk::new();
    let page = desk.file("page.html");
    let document = bench(&desk, "sim:raid10-10k", &["--report", &page]);
    let series = document.at("series.0");
    let (id, answer) = (series.at("id").text(), series.at("answer"));
    let sentence = series.at("sentence").text();
    // `Random read: 1,234 IOPS (1,200-1,260) at p99 ...`
    let from = sentence.find(": ").expect("a colon") + 2;
    let to = sentence.find(')').expect("an interval") + 1;
    let words = &sentence[from..to];
    assert!(words.contains(" IOPS ("), "{sentence}");
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains(words), "the page lacks {words}");
    let show = ["history", "show", &id, "--ladders"];
    let shown = desk.run(&show).done().stdout;
    assert!(shown.contains(&format!("Answer: {words}")), "{shown}");
    let rounded = |name: &str| {
        let value = answer.at(name).number();
        let text = words.replace(',', "");
        let numbers = text.split(|sign: char| !sign.is_ascii_digit());
        let known: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
        let nearest = known.iter().map(|one| (one - value).abs());
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        assert!(nearest < 0.01 * value, "{name} {value}: {words}");
    };
    ["iops", "iops_low", "iops_high"]
        .into_iter()
        .for_each(rounded);

    // Percentiles are of all operations of the runs, also where only the document is left.
    let file = desk.write("bench.json", &document.json());
    let [of_store, of_file] = [&id, &file].map(|subject| {
        let text = desk.run(&["report", subject, "--format", "md"]).done();
        let mut rows = text.stdout.lines();
        let row = rows.find(|line| line.starts_with("| Random read"));
        row.expect("a row").to_owned()
    });
    assert_eq!(of_store, of_file);

    let csv = desk.run(&["export", &id, "--format", "csv"]).done().stdout;
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let column = |name: &str| {
        heading
            .iter()
            .position(|one| *one == name)
            .expect("a column")
    };
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == heading.len()), "{csv}");
    let is_answer = |row: &&Vec<&str>| !row[column("answer")].is_empty();
    let answers: Vec<&Vec<&str>> = rows.iter().filter(is_answer).collect();
    let [row] = answers.as_slice() else {
        panic!("{csv}")
    };
    for name in [
        "iops",
        "iops_low",
        "iops_high",
        "mib_per_s",
        "mib_per_s_low",
        "mib_per_s_high",
    ] {
        let cell: f64 = row[column(name)].parse().expect("a number");
        assert_eq!(cell, answer.at(name).number(), "{name}");
    }
    assert_eq!(row[column("answer")], answer.at("at").text());
    assert_eq!(
        (row[column("run_id")], row[column("series")]),
        ("", id.as_str())
    );
    assert_eq!(rows.len() - 1, document.at("runs").items().len());
}

#[test]
fn a_disk_is_held_to_an_array_of_its_kind() {
    let desk = Desk::new();
    let bench = ["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"];
    let like = [&bench[..], &["--expect", "sim:nvme", "--json"]].concat();
    let slower = desk.run(&like).ended(1).json().at("requirements").items();
    assert_eq!(slower.len(), 1);
    assert!(!slower[0].at("met").truth());
    // The expected bench is kept, and is not what was done last.
    let listed = desk.run(&["history"]).done().stdout;
    assert!(listed.contains("expected of sim:raid10-10k"), "{listed}");
    let last = desk.json(&["history", "show", "last"]);
    assert!(
        last.at("runs.0.jobs.0.target.name")
            .text()
            .contains("raid10")
    );
    // What was expected is kept with it.
    let kept = last.at("requirements").items();
    assert_eq!(kept.len(), 1);
    for field in ["requirement", "measured_words"] {
        assert_eq!(kept[0].at(field).text(), slower[0].at(field).text());
    }
    let shown = desk.run(&["history", "show", "last"]).done();
    shown.printed(&["MISSED: log p50<="]);
    desk.run(&["bench", "sim:nvme", "--expect", "raid10-10k"])
        .failed(2, &["not a simulated array"]);
}

/// 800 IOPS are reached with 32 in flight and a p99 of 15 ms with one: no load gives both.
#[test]
fn a_rate_and_a_latency_are_required_at_once() {
    let desk = Desk::new();
    let both = |rate: &str, latency: &str, more: &[&str]| {
        let bench = ["bench", "sim:raid10-10k", "--series", "random-read"];
        let bench = [&bench[..], &["--step", "1s"]].concat();
        let require = ["--require", rate, "--require", latency, "--no-report"];
        desk.run(&[&bench[..], &require, more].concat())
    };
    both("random-read iops>=800", "random-read p99<15ms", &[])
        .ended(1)
        .printed(&[
            "MISSED: random-read iops>=800",
            "MISSED: random-read p99<15ms",
        ]);
    // In the time of a quick look nothing shows that both are met, although a step meets both.
    let short = ["--time", "2m"];
    both("random-read iops>=300", "random-read p99<200ms", &short)
        .ended(1)
        .printed(&["UNDECIDED: random-read iops>=300", "--time"]);
    let explained = ["--explain"];
    both("random-read iops>=300", "random-read p99<200ms", &explained)
        .ended(0)
        .warned(&[
            "Required: random-read at 300 IOPS",
            "All times are simulated",
        ])
        .printed(&["open loop at 300 IOPS"]);
    // What was required is kept, and shown again.
    let shown = desk.run(&["history", "show", "last"]).done();
    let shown = shown.printed(&["2 requirements met", "met: random-read p99<200ms: together"]);
    // What it was measured of would take more lines.
    assert!(!shown.stdout.contains("open loop"), "{}", shown.stdout);
    let page = desk.run(&["report", "last", "--format", "md"]).done();
    page.printed(&["- met: random-read p99<200ms"]);
    both(
        "read_iops>=300",
        "p99<200ms",
        &["--series", "sequential-read"],
    )
    .failed(2, &["may mean several series"]);
    // The limit of a bench is required of any rate.
    let alone = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read",
        "--step",
        "1s",
        "--no-report",
    ];
    let rate = ["--require", "random-read iops>=300", "--explain"];
    desk.run(&[&alone[..], &rate].concat())
        .ended(1)
        .printed(&["MISSED: random-read iops>=300", "no load is within"]);
}

/// A median hides the one run that stalled.
#[test]
fn a_stall_misses_a_required_maximum() {
    let desk = Desk::new();
    let stalling = "sim:sata-ssd?faults.stall=300ms&faults.stall_interval=26s";
    let bench = ["bench", stalling, "--series", "random-read", "--no-report"];
    let require = ["--require", "random-read max<100ms"];
    desk.run(&[&bench[..], &require].concat())
        .ended(1)
        .printed(&["MISSED: random-read max<100ms: 300 ms"]);
    let stalling = "sim:sata-ssd?faults.stall=900ms&faults.stall_interval=40s";
    let run = ["run", stalling, "--outstanding", "8", "--duration", "10s"];
    let require = ["--require", "max<100ms", "--require", "iops>=55000"];
    desk.run(&[&run[..], &["--repeat", "6"], &require].concat())
        .ended(1)
        .printed(&[
            "MISSED: max<100ms: 900 ms",
            "; largest of 6 runs)",
            "UNDECIDED: iops>=55000: ",
        ]);
}

/// The rate at the latency limit does not tell whether arrivals at a required rate meet stalls.
#[test]
fn the_verdict_on_a_load_is_that_on_its_requirements() {
    let desk = Desk::new();
    let stalling = "sim:sata-ssd?faults.stall=300ms&faults.stall_interval=20s";
    let bench = ["bench", stalling, "--series", "random-read", "--no-report"];
    let require = [
        "--require",
        "random-read iops>=500",
        "--require",
        "random-read p99<5ms",
    ];
    let measured = desk.run(&[&bench[..], &require].concat()).ended(1);
    let document = desk.json(&["history", "show", "last"]);
    let required = document.at("requirements").items();
    let verdicts = required.iter().map(|one| one.at("series.0.verdict").text());
    let verdicts: Vec<String> = verdicts.collect();
    assert!(verdicts[0] == verdicts[1] && verdicts[0] != "met");
    let shown = desk.run(&["history", "show", "last"]).done();
    for text in [measured.stdout, shown.stdout] {
        let row = text.lines().find(|line| line.starts_with("Random read"));
        let row = row.expect("a row");
        assert!(row.trim_end().ends_with(&verdicts[0]), "{row}");
    }
}
