//! The answer of a bench in all the places where it is shown, and answers compared.

use crate::support::{Desk, Json};

const LIMIT: [&str; 4] = ["--series", "random-read", "--slo", "p99<30ms"];

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
    let shown = desk.run(&["history", "show", &id]).done().stdout;
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
fn two_benches_are_compared_by_their_answers_first() {
    let desk = Desk::new();
    let aligned = bench(&desk, "sim:raid10-10k?offset=1M", &[]);
    let odd = bench(&desk, "sim:raid10-10k?offset=63s", &["--seed", "2"]);
    let id = |document: &Json| document.at("series.0.id").text();
    let answer = |document: &Json, name: &str| document.at("series.0.answer").at(name).number();
    let arguments = ["compare", &id(&aligned), &id(&odd)];
    let compared = desk
        .run(&[arguments.as_slice(), &["--json"]].concat())
        .ended(1)
        .json();
    let first = compared.at("comparisons.0");
    assert!(first.at("title").text().starts_with("answers at p99"));
    let rows = first.at("rows").items();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row.at("a").number(), answer(&aligned, "iops"));
    assert_eq!(row.at("b").number(), answer(&odd, "iops"));
    let ends: Vec<f64> = row
        .at("interval_percent")
        .items()
        .iter()
        .map(Json::number)
        .collect();
    let estimate = row.at("estimate_percent").number();
    assert!(
        ends[0] < estimate && estimate < ends[1],
        "{ends:?} {estimate}"
    );
    // An eighth of the reads takes two disks.
    assert!(ends[1] < 0.0 && ends[0] > -15.0, "{ends:?}");
    assert_eq!(row.at("verdict").text(), "worse");
    // Then ceilings, knees and the log; not step by step, unless a metric is asked for.
    let titles: Vec<String> = compared
        .at("comparisons")
        .items()
        .iter()
        .map(|record| record.at("title").text())
        .collect();
    assert!(titles[1].starts_with("ceilings of "), "{titles:?}");
    assert!(titles.len() <= 3, "{titles:?}");
    let steps = desk
        .run(&[arguments.as_slice(), &["--metric", "iops", "--json"]].concat())
        .ended(1)
        .json();
    let rungs = steps.at("comparisons").items().pop().expect("a table");
    assert!(rungs.at("rows").items().len() > 3, "{rungs:?}");
    let said = first.at("sentences").items()[0].text();
    let printed = desk.run(&arguments).ended(1).stdout;
    assert!(
        said.starts_with("Random read: ") && said.ends_with("less: worse."),
        "{said}"
    );
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&printed).contains(&flat(&said)), "{printed}");
}

#[test]
fn a_disk_is_held_to_an_array_of_its_kind() {
    let desk = Desk::new();
    let like = |target: &str, expected: &str, code: i32| {
        let answer = desk.run(&[
            "bench",
            target,
            "--series",
            "random-read,log",
            "--expect",
            expected,
            "--json",
        ]);
        answer.ended(code).json().at("requirements").items()
    };
    let itself = like("sim:raid10-10k", "sim:raid10-10k", 0);
    let names: Vec<String> = itself
        .iter()
        .map(|one| one.at("requirement").text())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("random-read answer>="), "{names:?}");
    assert!(names[1].starts_with("log p50<="), "{names:?}");
    assert!(itself.iter().all(|one| one.at("met").truth()));
    let slower = like("sim:raid10-10k", "sim:nvme", 1);
    assert!(!slower[0].at("met").truth());
    let words = slower[0].at("measured_words").text();
    assert!(
        words.contains("slower than this kind of storage"),
        "{words}"
    );
    // The expected bench is kept, and is not what was done last.
    let listed = desk.run(&["history"]).done().stdout;
    assert!(listed.contains("expected of sim:raid10-10k"), "{listed}");
    let last = desk.json(&["history", "show", "last"]);
    assert!(
        last.at("runs.0.jobs.0.target.name")
            .text()
            .contains("raid10")
    );
    desk.run(&["bench", "sim:nvme", "--expect", "raid10-10k"])
        .failed(2, &["not a simulated array"]);
}
