//! `compare`: published tables as printed, stored runs with and without
//! repetitions, files.

use crate::support::{Desk, Json};
use std::collections::BTreeMap;

const OFFSETS: &str = "dataset:oja-nisula-2007-offset";
const UNITS: &str = "dataset:oja-nisula-2007-allocation-unit";

/// A series of random reads on a simulated array; its id.
fn series(desk: &Desk, target: &str, more: &[&str]) -> String {
    let mut all = vec!["run", target, "--duration", "1s"];
    all.extend(more);
    let document = desk.json(&all);
    let first = document.at("runs.0");
    first
        .maybe("series")
        .unwrap_or_else(|| first.at("id"))
        .text()
}

fn comparisons(desk: &Desk, code: i32, arguments: &[&str]) -> Vec<Json> {
    let mut all = vec!["compare"];
    all.extend(arguments);
    all.push("--json");
    let document = desk.run(&all).ended(code).json();
    assert_eq!(document.at("schema_version").count(), 1);
    document.at("comparisons").items()
}

fn texts(record: &Json, list: &str) -> String {
    let items = record
        .maybe(list)
        .map(|list| list.items())
        .unwrap_or_default();
    items.iter().map(Json::text).collect::<Vec<_>>().join("\n")
}

/// The table of 2007 as its file has it: cells by operation, pattern and threads.
fn printed_rows() -> Vec<Vec<String>> {
    let csv = include_str!("../../../../datasets/oja-nisula-2007-offset.csv");
    let rows = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect());
    rows.collect()
}

#[test]
fn the_table_of_2007_comes_out_as_printed_row_by_row() {
    let answer = Desk::new().run(&["compare", OFFSETS]).done();
    assert!(
        answer
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
    let shown: Vec<Vec<String>> = answer
        .stdout
        .lines()
        .filter(|line| line.starts_with("read ") || line.starts_with("write "))
        .map(|line| {
            line.split_whitespace()
                .map(|cell| cell.replace(',', ""))
                .collect()
        })
        .collect();
    let printed: Vec<Vec<String>> = printed_rows()
        .into_iter()
        .map(|row| {
            let [operation, pattern, threads, a, b, diff, mb_a, mb_b, mb_diff] =
                <[String; 9]>::try_from(row).unwrap();
            vec![
                operation,
                pattern,
                "8K".to_owned(),
                threads,
                "4".to_owned(),
                a,
                b,
                diff,
                mb_a,
                mb_b,
                mb_diff,
            ]
        })
        .collect();
    assert_eq!((shown.len(), &shown), (36, &printed));
    for words in [
        "any of these differences may be chance",
        "all 36 printed differences of IOPS come out as printed",
        "sequential write, 32 threads, 64K: 78.46 for 9,772.27",
        "Average difference, random read, IOPS: 22.66 % over 9 rows.",
    ] {
        let flat = answer
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(flat.contains(words), "{words} is not in\n{}", answer.stdout);
    }
    // MiB/s are IOPS times the block: their means would say the same again.
    assert_eq!(answer.stdout.matches("Average difference").count(), 4);
    assert!(!answer.stdout.contains("MiB/s: "), "{}", answer.stdout);
    let markdown = Desk::new()
        .run(&["report", OFFSETS, "--format", "md"])
        .done()
        .stdout;
    for words in [
        "may be chance",
        "truncated to their last digit",
        "78.46 for",
    ] {
        assert_eq!(markdown.matches(words).count(), 1, "{words}: {markdown}");
    }
}

#[test]
fn all_seventy_two_published_iops_differences_come_out_as_printed() {
    let desk = Desk::new();
    let mut rows = 0;
    for table in [OFFSETS, UNITS] {
        for record in comparisons(&desk, 0, &[table]) {
            for row in record.at("rows").items() {
                let ours = row.at("difference_percent").number();
                let printed = row.at("published_difference_percent").number();
                assert_eq!(format!("{ours:.2}"), format!("{printed:.2}"));
                assert_eq!(row.at("verdict").text(), "undecided");
                assert!(row.maybe("interval_percent").is_none());
                rows += u32::from(row.at("metric").text() == "iops");
            }
        }
    }
    assert_eq!(rows, 72);
}

#[test]
fn five_offsets_are_held_against_the_first_or_the_one_that_is_named() {
    let desk = Desk::new();
    let table = "dataset:eva8100-2009-offset";
    let names = |arguments: &[&str]| -> Vec<(String, String)> {
        let records = comparisons(&desk, 0, arguments);
        let sides = |record: &Json| (record.at("a.name").text(), record.at("b.name").text());
        assert!(
            records
                .iter()
                .all(|record| record.at("rows").items().len() == 12)
        );
        records.iter().map(sides).collect()
    };
    let of = |a: &str, bs: [&str; 4]| bs.map(|b| (a.to_owned(), b.to_owned())).to_vec();
    assert_eq!(names(&[table]), of("31.5K", ["64K", "128K", "1M", "2M"]));
    assert_eq!(
        names(&[table, "--baseline", "1M"]),
        of("1M", ["31.5K", "64K", "128K", "2M"])
    );
    desk.run(&["compare", table, "--baseline", "3M"])
        .failed(2, &["has no level `3M`", "31.5K, 64K, 128K, 1M, 2M"]);
}

#[test]
fn repetitions_find_what_is_there_and_nothing_else() {
    let desk = Desk::new();
    let grid = ["--threads", "1,8", "--outstanding", "4", "--repeat", "6"];
    let misaligned = series(&desk, "sim:raid10-10k?offset=63s", &grid);
    let aligned = series(&desk, "sim:raid10-10k?offset=64K", &grid);
    let other_seed = [grid.as_slice(), &["--seed", "99"]].concat();
    let again = series(&desk, "sim:raid10-10k?offset=64K", &other_seed);

    let records = comparisons(&desk, 1, &[&misaligned, &aligned]);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].at("verdict").text(), "better");
    let rows = records[0].at("rows").items();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(
            (row.at("verdict").text(), row.at("blocks").count()),
            ("better".to_owned(), 6)
        );
        assert!(row.at("interval_percent.0").number() > 0.0);
    }
    assert!(texts(&records[0], "notes").contains("offset: 31.5K on A, 64K on B"));
    assert_eq!(records[0].at("a.from").items().len(), 12);

    let backwards = comparisons(&desk, 1, &[&aligned, &misaligned]);
    assert_eq!(backwards[0].at("verdict").text(), "worse");

    let same = comparisons(&desk, 0, &[&aligned, &again]);
    assert_eq!(same[0].at("verdict").text(), "no-difference");
    assert!(texts(&same[0], "sentences").starts_with("No difference larger than "));
}

#[test]
fn latencies_can_be_compared_and_less_is_better() {
    let desk = Desk::new();
    let grid = ["--threads", "8", "--outstanding", "4", "--repeat", "6"];
    let slow = series(&desk, "sim:raid10-10k?offset=63s", &grid);
    let fast = series(&desk, "sim:raid10-10k?offset=64K", &grid);
    for name in ["latency_mean", "latency_ns_mean", "mean"] {
        let records = comparisons(&desk, 1, &[&slow, &fast, "--metric", name]);
        let row = records[0].at("rows.0");
        assert_eq!(row.at("metric").text(), "latency_ns_mean");
        assert_eq!(row.at("verdict").text(), "better");
        assert!(row.at("difference_percent").number() < 0.0);
    }
}

#[test]
fn single_runs_have_a_difference_and_nobody_can_say_more() {
    let desk = Desk::new();
    series(&desk, "sim:raid10-10k?offset=63s", &["--threads", "8"]);
    series(&desk, "sim:raid10-10k?offset=64K", &["--threads", "8"]);
    let answer = desk.run(&["compare", "last~1", "last"]).done();
    assert!(
        answer
            .stdout
            .contains("One run on each side: this may be chance.")
    );
    assert!(!answer.stdout.contains("estimate"));
}

#[test]
fn a_published_table_against_ones_own_claims_nothing() {
    let desk = Desk::new();
    let id = series(
        &desk,
        "sim:raid10-10k?offset=64K",
        &["--threads", "1,8", "--outstanding", "4", "--repeat", "4"],
    );
    // A table for each of its columns, and one for a column that is named.
    let records = comparisons(&desk, 0, &[OFFSETS, &id]);
    assert_eq!(records.len(), 2);
    let one = comparisons(&desk, 0, &["dataset:oja-nisula-2007-offset:64K", &id]);
    assert_eq!(one.len(), 1);
    let row = one[0].at("rows.0");
    assert_eq!(row.at("a").number(), 589.11);
    assert!(row.maybe("interval_percent").is_none());
    let notes = texts(&one[0], "notes");
    assert!(notes.contains("34 cells of dataset:oja-nisula-2007-offset:64K have nothing to match"));
    assert!(notes.contains("78.46"));
}

#[test]
fn documents_are_compared_as_the_runs_they_hold() {
    let desk = Desk::new();
    let mut files = BTreeMap::new();
    for offset in ["63s", "64K"] {
        let target = format!("sim:raid10-10k?offset={offset}");
        let arguments = [
            "run",
            &target,
            "--duration",
            "1s",
            "--threads",
            "8",
            "--repeat",
            "6",
            "--json",
        ];
        let printed = desk.run(&arguments).done().stdout;
        files.insert(offset, desk.write(&format!("{offset}.json"), &printed));
    }
    let records = comparisons(&desk, 1, &[&files["63s"], &files["64K"]]);
    assert_eq!(records[0].at("rows.0.verdict").text(), "better");
    assert_eq!(records[0].at("b.name").text(), files["64K"]);
    // A name without a path is a file where the store knows no such run.
    let records = comparisons(&desk, 1, &["63s.json", "64K.json"]);
    assert_eq!(records[0].at("a.name").text(), "63s.json");
    let broken = desk.write("broken.json", "{\"schema_version\": 1, \"runs\": 7}");
    desk.run(&["compare", &broken, "last"])
        .failed(2, &["broken.json", "history show"]);
    let strange = desk.write("strange.txt", "hello");
    desk.run(&["compare", &strange, "last"])
        .failed(2, &["strange.txt"]);
}

#[test]
fn two_runs_under_other_loads_are_told_to_be_so() {
    let desk = Desk::new();
    for threads in ["2", "4"] {
        desk.json(&[
            "run",
            "sim:nvme",
            "--duration",
            "10ms",
            "--threads",
            threads,
        ]);
    }
    let compared = desk.run(&["compare", "last~1", "last"]).done();
    assert!(
        compared.stdout.contains("the loads differ"),
        "{}",
        compared.stdout
    );
}

#[test]
fn an_experiment_in_a_file_that_contradicts_itself_is_refused() {
    let desk = Desk::new();
    let more = [
        "--step",
        "10ms",
        "--blocks",
        "10",
        "--threads",
        "1",
        "--read",
        "--json",
    ];
    let printed = desk
        .run(&[&["align", "sim:nvme"], &more[..]].concat())
        .stdout;
    let document: serde_json::Value = serde_json::from_str(&printed).expect("a document");
    for (place, value) in [
        ("/experiment/plan/baseline", 999_u64),
        ("/experiment/plan/baseline", u64::MAX),
        ("/experiment/plan/primary", 999),
    ] {
        let mut odd = document.clone();
        *odd.pointer_mut(place).expect(place) = value.into();
        let file = desk.write("odd.json", &odd.to_string());
        desk.run(&["compare", &file])
            .failed(2, &["is not one of the"]);
    }
    // Counting it would take years.
    let mut odd = document.clone();
    let unit = odd.pointer_mut("/experiment/layout/stripe_unit_bytes");
    *unit.expect("a unit") = u64::MAX.into();
    let file = desk.write("odd.json", &odd.to_string());
    assert!(matches!(desk.run(&["compare", &file]).code, Some(0 | 1)));
}

#[test]
fn page_one_says_by_how_much_two_labelled_sides_differ() {
    let desk = Desk::new();
    let of = |target: &str, label: &str| {
        let run = ["run", target, "--label", label, "--duration", "5s"];
        let document = desk.json(&[&run[..], &["--repeat", "6"]].concat());
        document.at("runs.0.series").text()
    };
    let before = of("sim:raid10-10k?offset=63s", "before");
    let after = of("sim:raid10-10k?offset=64K", "after");
    let single = |label: &str| series(&desk, "sim:raid10-10k", &["--label", label]);
    let (one, other) = (single("before"), single("after"));
    let lead = |a: &str, b: &str, code: i32| {
        let page = desk.file(&format!("{a}-{b}.html"));
        let shown = desk.run(&["compare", a, b, "--report", &page]).ended(code);
        let page = std::fs::read_to_string(page).unwrap();
        let lead = page.lines().find(|line| line.contains("class=\"lead\""));
        (shown.stdout, page.clone(), lead.unwrap().to_owned())
    };
    let (shown, page, words) = lead(&before, &after, 1);
    assert!(
        shown.starts_with("IOPS of after against before\n"),
        "{shown}"
    );
    assert!(page.contains("<h1>after against before</h1>"));
    assert!(words.contains("% more IOPS (95 % interval "), "{words}");
    let (_, _, words) = lead(&one, &other, 0);
    assert!(
        words.contains("Undecided:</span> IOPS of after against before: "),
        "{words}"
    );
    assert!(words.contains("(no interval: too few runs)"), "{words}");
    // Labels that are the same tell nothing apart.
    let third = single("before");
    let (shown, _, _) = lead(&one, &third, 0);
    assert!(shown.contains(&format!("{third} against {one}")), "{shown}");
}

#[test]
fn several_are_compared_by_label_and_by_several_metrics() {
    let desk = Desk::new();
    for (label, target) in [
        ("aligned", "sim:raid10-10k?offset=1M"),
        ("63 sectors", "sim:raid10-10k?offset=63s"),
        ("half", "sim:raid10-10k?offset=32K"),
    ] {
        series(
            &desk,
            target,
            &["--outstanding", "16", "--repeat", "6", "--label", label],
        );
    }
    let arguments = [
        "aligned",
        "63 sectors",
        "half",
        "--metric",
        "iops,latency_p99",
    ];
    let records = comparisons(&desk, 1, &arguments);
    let said: Vec<(String, String, String)> = records
        .iter()
        .map(|record| {
            (
                record.at("a.name").text(),
                record.at("b.name").text(),
                record.at("rows.0.metric").text(),
            )
        })
        .collect();
    let said: Vec<(&str, &str, &str)> = said
        .iter()
        .map(|(a, b, metric)| (a.as_str(), b.as_str(), metric.as_str()))
        .collect();
    let expected = [
        ("aligned", "63 sectors", "iops"),
        ("aligned", "63 sectors", "latency_ns_p99"),
        ("aligned", "half", "iops"),
        ("aligned", "half", "latency_ns_p99"),
    ];
    assert_eq!(said, expected);
    assert_eq!(records[0].at("rows.0.verdict").text(), "worse");
    let shown = desk
        .run(&[&["compare"], arguments.as_slice()].concat())
        .ended(1)
        .stdout;
    // All of them side by side first, then each pair with its interval.
    let heading = shown.find("IOPS of each against aligned\n").expect(&shown);
    let pair = shown.find("63 sectors against aligned").expect(&shown);
    assert!(heading < pair, "{shown}");
    let row = shown
        .lines()
        .find(|line| line.starts_with("read "))
        .expect(&shown);
    assert!(
        row.matches('%').count() == 2 && row.contains("worse)"),
        "{row}"
    );
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    // A label that nothing carries is a mistake in use.
    desk.run(&["compare", "aligned", "nothing"])
        .failed(2, &["nothing"]);
    desk.run(&["compare", "aligned", "half", "--metric", "iops,speed"])
        .failed(2, &["`speed` is not a metric"]);
}
