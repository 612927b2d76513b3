//! `compare`: a published table as printed, and files. What is concluded of stored runs is
//! tested as functions in `campaign`.

use crate::support::{Desk, Json, unwrapped};
use std::collections::BTreeMap;

const OFFSETS: &str = "dataset:oja-nisula-2007-offset";

fn comparisons(desk: &Desk, code: i32, arguments: &[&str]) -> Vec<Json> {
    let mut all = vec!["compare"];
    all.extend(arguments);
    all.push("--json");
    let document = desk.run(&all).ended(code).json();
    assert_eq!(document.at("schema_version").count(), 1);
    document.at("comparisons").items()
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
        let flat = unwrapped(&answer.stdout);
        assert!(flat.contains(words), "{words} is not in\n{}", answer.stdout);
    }
    // MiB/s are IOPS times the block: their means would say the same again.
    let flat: Vec<&str> = answer.stdout.split_whitespace().collect();
    let means = flat
        .windows(2)
        .filter(|words| *words == ["Average", "difference,"]);
    assert_eq!(means.count(), 4);
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
    let page = desk.file("page.html");
    let with_page = ["compare", &files["63s"], &files["64K"], "--report", &page];
    desk.run(&with_page).ended(1).printed(&["better"]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("class=\"lead\""));
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
