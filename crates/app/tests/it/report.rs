//! `report` and `export`: files and formats, what they hold, and the JSON Schema
//! that real output is held to.

use crate::support::{Answer, Desk};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/schema/document-1.schema.json");
/// The documents of the other commands, a definition for each.
const COMMANDS: &str = include_str!("../../../../docs/schema/commands-1.schema.json");

#[path = "../../../../xtask/src/schema.rs"]
pub mod schema;

#[track_caller]
fn holds_to_schema(text: &str) {
    let found = schema::faults_of(text, SCHEMA);
    assert!(found.is_empty(), "{:#?}", &found[..found.len().min(5)]);
}

/// What `command` prints holds to the definition of this name.
#[track_caller]
fn holds_to_definition(desk: &Desk, name: &str, command: &[&str]) {
    let answer = desk.run(&crate::support::with_json(command));
    assert!(
        matches!(answer.code, Some(0 | 1)),
        "{name}: {}",
        answer.stderr
    );
    holds_to_definition_of(name, &answer.stdout);
}

/// A document holds to the definition of this name.
#[track_caller]
pub fn holds_to_definition_of(name: &str, document: &str) {
    let both = schema::definition(COMMANDS, name);
    let both = both.unwrap_or_else(|| panic!("no definition of {name}"));
    let found = schema::faults_of(document, &both);
    assert!(
        found.is_empty(),
        "{name}: {:#?}",
        &found[..found.len().min(5)]
    );
}

#[test]
fn what_a_schema_does_not_allow_or_name_is_a_fault() {
    let document = r#"{"schema_version": 1, "runs": []}"#;
    holds_to_schema(document);
    for (from, to, says) in [
        ("\"runs\"", "\"tuns\"", "tuns"),
        ("[]", "null", "null"),
        ("[]", "[{}]", "/runs/0"),
        (": 1", ": 2", "/schema_version"),
    ] {
        let found = schema::faults_of(&document.replace(from, to), SCHEMA);
        assert!(found.iter().any(|fault| fault.contains(says)), "{found:?}");
    }
}

#[test]
fn each_keyword_of_a_schema_has_its_faults() {
    let described = r##"{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {}}}}}"##;
    let if_a = r#"{"properties": {"a": {}}, "if": {"required": ["a"]}, "else": {"const": {}}}"#;
    let then = r#"{"if": {"type": "object"}, "then": {"properties": {"a": {}}}}"#;
    for (schema, conforms, does_not) in [
        (r#"{"type": "integer"}"#, "1", "1.5"),
        (r#"{"type": ["string", "null"]}"#, "null", "1"),
        (r#"{"const": null}"#, "null", "0"),
        (r#"{"enum": [1, 2]}"#, "2", "3"),
        (r#"{"minimum": 0}"#, "0", "-1"),
        (r#"{"maximum": 255}"#, "255", "256"),
        (r#"{"required": ["a"]}"#, r#"{"a": 1}"#, r#"{"b": 1}"#),
        (r#"{"properties": {"a": {}}}"#, r#"{"a": 1}"#, r#"{"b": 1}"#),
        (
            r#"{"additionalProperties": {"const": 1}}"#,
            r#"{"a": 1}"#,
            r#"{"a": 2}"#,
        ),
        (r#"{"additionalProperties": false}"#, "{}", r#"{"a": 1}"#),
        (r#"{"items": {"const": 1}}"#, "[1, 1]", "[1, 2]"),
        (
            r#"{"prefixItems": [{}, {"const": 1}]}"#,
            "[2, 1, 2]",
            "[1, 2]",
        ),
        (r#"{"minItems": 1}"#, "[1]", "[]"),
        (r#"{"maxItems": 1}"#, "[1]", "[1, 2]"),
        (r#"{"uniqueItems": true}"#, "[1, 2]", "[1, 2, 1]"),
        (r#"{"anyOf": [{"const": 1}, {"minimum": 0}]}"#, "1", "-1"),
        (r#"{"oneOf": [{"const": 1}, {"minimum": 2}]}"#, "1", "0"),
        (r#"{"oneOf": [{"const": 1}, {"minimum": 0}]}"#, "2", "1"),
        (described, r#"{"b": 1}"#, r#"{"c": 1}"#),
        (if_a, r#"{"a": 1}"#, r#"{"b": 1}"#),
        (then, r#"{"a": 1}"#, r#"{"b": 1}"#),
    ] {
        let found = schema::faults_of(conforms, schema);
        assert!(found.is_empty(), "{schema}: {found:?}");
        let found = schema::faults_of(does_not, schema);
        assert!(!found.is_empty(), "{schema} allows {does_not}");
    }
}

#[test]
#[should_panic(expected = "unknown field `pattern`")]
fn a_schema_with_a_keyword_that_nothing_checks_is_refused() {
    schema::faults_of("{}", r#"{"properties": {"a": {"pattern": "a"}}}"#);
}

#[test]
#[should_panic(expected = "no definition of #/$defs/a")]
fn a_schema_with_a_reference_that_leads_nowhere_is_refused() {
    schema::faults_of("{}", r##"{"properties": {"a": {"$ref": "#/$defs/a"}}}"##);
}

fn one_run(desk: &Desk, label: &str) {
    let arguments = [
        "run",
        "sim:nvme",
        "--outstanding",
        "4",
        "--duration",
        "1s",
        "--label",
        label,
        "--quiet",
    ];
    desk.run(&arguments).done();
}

#[test]
fn what_is_printed_holds_to_the_published_schema() {
    let desk = Desk::new();
    let bench = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read,log",
        "--step",
        "1s",
        "--no-report",
        "--json",
    ];
    holds_to_schema(&desk.run(&bench).done().stdout);
    let mixed = [
        "run",
        "sim:nvme",
        "--read-percent",
        "70",
        "--rate",
        "500",
        "--duration",
        "2s",
        "--json",
    ];
    holds_to_schema(&desk.run(&mixed).done().stdout);
    let on_file = [
        "run",
        &desk.volume(),
        "--busy-ok",
        "--write",
        "--sync",
        "fdatasync:8",
        "--size",
        "8M",
        "--duration",
        "100ms",
        "--json",
    ];
    holds_to_schema(&desk.run(&on_file).done().stdout);
    for table in ["oja-nisula-2007-offset", "mssqltips-2127"] {
        let name = format!("dataset:{table}");
        holds_to_schema(
            &desk
                .run(&["report", &name, "--format", "json"])
                .done()
                .stdout,
        );
    }
}

#[test]
fn the_document_of_verify_holds_to_its_schema() {
    let desk = Desk::new();
    let volume = desk.volume();
    let torn = "torn=4096@every=40 write";
    let mut command = vec!["verify", &volume, "--busy-ok", "--size", "8M"];
    command.extend(["--duration", "300ms", "--inject", torn]);
    holds_to_definition(&desk, "verify", &command);
}

/// A small question about layouts.
const ADVISE: [&str; 8] = [
    "advise",
    "sim:raid10-10k?offset=63s",
    "--mix",
    "random-read=90,log=10",
    "--vary",
    "offset=63s,1M",
    "--vary",
    "stripe-unit=64K,256K",
];

#[test]
fn the_documents_of_all_other_commands_hold_to_their_published_schema() {
    let desk = Desk::new();
    let repeated = |target: &str| {
        let run = ["run", target, "--duration", "2s", "--repeat", "6"];
        desk.json(&run).at("runs.0.series").text()
    };
    let (one, other) = (
        repeated("sim:raid10-10k?offset=63s"),
        repeated("sim:raid10-10k?offset=64K"),
    );
    desk.run(&["baseline", "set", &one]).done();
    let align = "align sim:raid10-10k --blocks 10 --read --threads 8 --step 1s";
    let align: Vec<&str> = align.split(' ').collect();
    let sqlio = "-kR -t2 -s1 -frandom -o4 -b8 -dL testfile.dat --drive L=sim:nvme";
    let sqlio: Vec<&str> = std::iter::once("sqlio").chain(sqlio.split(' ')).collect();
    let batch = "sqlio -kR -t2 -s1 -frandom -o4 -b8 testfile.dat\n";
    let batch = desk.write("batch.cmd", batch);
    let kept = desk.file("kept.dat");
    let fio = concat!(env!("CARGO_MANIFEST_DIR"), "/../compat/tests/data/fio.json");
    let last = desk.ids()[0].clone();
    let cases: [(&str, &[&str]); 26] = [
        ("compare", &["compare", &one, &other]),
        ("compare", &["compare", "dataset:oja-nisula-2007-offset"]),
        (
            "check",
            &["check", "--require", "iops>=1", "--require", "p99<1us"],
        ),
        ("baseline", &["baseline"]),
        ("align", &align),
        ("advise", &ADVISE),
        ("lab-plans", &["lab", "plans"]),
        ("prepare", &["prepare", &kept, "--size", "4M", "--busy-ok"]),
        ("lab-clean", &["lab", "clean"]),
        ("doctor", &["doctor"]),
        ("history", &["history"]),
        ("history-delete", &["history", "delete", &last]),
        ("sim-list", &["sim", "list"]),
        ("sim-show", &["sim", "show", "raid10-10k"]),
        ("import", &["import", fio]),
        // With runs of a series, one by itself and one of another tool.
        ("history", &["history"]),
        ("convert", &["convert", "--from", "sqlio", &batch]),
        ("sqlio", &sqlio),
        ("report", &["report", "last", "-o", "written.md"]),
        ("export", &["export", "-o", "written.csv"]),
        ("lab-init", &["lab", "init", "written.toml"]),
        ("baseline-remove", &["baseline", "remove", "baseline"]),
        ("lab-study", &["lab", "run", "study:van-dyke-2009"]),
        ("man", &["man", "."]),
        ("completions", &["completions", "zsh"]),
        ("version", &["--version"]),
    ];
    for (name, command) in cases {
        holds_to_definition(&desk, name, command);
    }
    let imported = ["report", fio, "--format", "json"];
    holds_to_schema(&desk.run(&imported).done().stdout);
    let required = ["report", &other, "--format", "json", "--require", "iops>=1"];
    holds_to_schema(&desk.run(&required).done().stdout);
    holds_to_schema(&desk.run(&["export", "--json"]).done().stdout);
}

#[test]
fn what_timed_reads_and_writes_tell_holds_to_its_schema() {
    let desk = Desk::new();
    let fill = "profile sim:nvme-consumer --fill --size 2G --idle 1s";
    let cases = [
        ("probe-stripe", "probe stripe sim:nvme"),
        ("probe-flash", "probe flash sim:sata-ssd --write 64M"),
        ("profile", "profile sim:sata-ssd"),
        ("profile-fill", fill),
    ];
    for (name, command) in cases {
        let words: Vec<&str> = command.split(' ').collect();
        holds_to_definition(&desk, name, &words);
    }
}

#[test]
fn a_file_that_exists_is_left_alone_and_the_refusal_names_it() {
    let desk = Desk::new();
    one_run(&desk, "x");
    let path = desk.write("mine.html", "mine");
    desk.run(&["report", "last", "-o", &path])
        .failed(2, &["mine.html", "already exists"]);
    desk.run(&["export", "-o", &path])
        .failed(2, &["mine.html", "already exists"]);
    desk.run(&["bench", "sim:nvme", "--report", &path])
        .failed(2, &["mine.html"]);
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "mine");
}

#[test]
fn the_end_of_the_files_name_gives_the_format() {
    let desk = Desk::new();
    one_run(&desk, "x");
    for (name, begins) in [
        ("a.html", b"<!doctype html>".as_slice()),
        ("a.svg", b"<svg "),
        ("a.png", b"\x89PNG\r\n"),
        ("a.csv", b"\xef\xbb\xbfrun_id,"),
        ("a.md", b"## "),
        ("a.json", b"{\n  \"schema_version\": 1"),
    ] {
        let path = desk.file(name);
        desk.run(&["report", "last", "-o", &path]).done();
        let bytes = std::fs::read(&path).expect("a file");
        assert!(bytes.starts_with(begins), "{name}");
    }
    let picture = ["report", "last", "--format", "svg", "--chart", "nonesuch"];
    desk.run(&picture).failed(2, &["nonesuch", "percentiles"]);
    // A picture is drawn where no format is given, and is not forgotten where another one is.
    let chart = ["report", "last", "--chart", "percentiles", "-o", "-"];
    desk.run(&[&chart[..], &["--format", "md"]].concat())
        .failed(2, &["--chart draws a picture, and md is none"]);
    let path = desk.file("stripewise-last.png");
    // Beside the store, which is the current directory of a process.
    desk.process(&chart[..4]).done();
    let bytes = std::fs::read(path).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG"));
}

#[test]
fn the_picture_of_a_bench_is_its_card_and_looks_as_asked() {
    let desk = Desk::new();
    let bench = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read,log",
        "--step",
        "1s",
        "--no-report",
    ];
    desk.run(
        &[
            &bench[..],
            &[
                "--label",
                "磁盘 \u{414}\u{438}\u{441}\u{43a}",
                "--time",
                "20s",
            ],
        ]
        .concat(),
    )
    .done();
    let path = desk.file("card.png");
    let look = ["--title", "Ours", "--source", "a forum", "--theme", "dark"];
    let size = ["--size", "1200x630", "-o", &path];
    desk.run(&[&["report", "last"], &look[..], &size[..]].concat())
        .done();
    let png = std::fs::read(&path).expect("a picture");
    assert_eq!(png[16..24], [0, 0, 4, 176, 0, 0, 2, 118], "1200 x 630");
    for words in ["Title\0\0\0\0\0Ours", "Source\0\0\0\0\0a forum", "磁盘"] {
        let found = png.windows(words.len()).any(|at| at == words.as_bytes());
        assert!(found, "{words}");
    }
    let card = desk.run(&["report", "last", "--format", "svg"]).done();
    for words in ["width=\"1920\" height=\"1080\"", "writes/s", "p50 durable"] {
        assert!(card.stdout.contains(words), "{words}");
    }
    for size in ["12", "9x9", "99999x1", "4000x320"] {
        desk.run(&["report", "last", "--format", "svg", "--size", size])
            .failed(2, &["--size"]);
    }
}

#[test]
fn csv_has_a_row_for_each_job_and_no_cell_is_a_formula() {
    let desk = Desk::new();
    one_run(&desk, "=HYPERLINK(\"http://x\",\"a,b\")");
    let csv = desk.run(&["export", "--format", "csv"]).done().stdout;
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert_eq!(lines[2], "");
    assert!(
        lines[1].contains("\"'=HYPERLINK(\"\"http://x\"\",\"\"a,b\"\")\""),
        "{csv}"
    );
    let columns = lines[0].split(',').count();
    // Outside of the one quoted cell, commas are what stands between cells.
    let outside: String = lines[1].split('"').step_by(2).collect();
    assert_eq!(outside.matches(',').count() + 1, columns);
    // What a published table does not say is empty, not 0.
    let csv = desk
        .run(&[
            "export",
            "dataset:oja-nisula-2007-offset",
            "--format",
            "csv",
        ])
        .done()
        .stdout;
    let mut lines = csv.split("\r\n");
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let first: Vec<&str> = lines.next().expect("a row").split(',').collect();
    let cell = |name: &str| {
        first[heading
            .iter()
            .position(|column| *column == name)
            .expect("a column")]
    };
    assert_eq!(
        (cell("iops"), cell("partition_offset_bytes")),
        ("400.45", "32256")
    );
    for name in [
        "operations",
        "seed",
        "read_latency_ns_p99",
        "errors",
        "started_at",
    ] {
        assert_eq!(cell(name), "", "{name}");
    }
}

#[test]
fn exported_lines_are_the_records_that_the_document_has() {
    let desk = Desk::new();
    one_run(&desk, "first");
    one_run(&desk, "second");
    let lines = desk.run(&["export"]).done().stdout;
    let records: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(records.len(), 2);
    let document = desk
        .run(&["report", "--all", "--format", "json"])
        .done()
        .stdout;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["runs"], Value::Array(records));
}

#[test]
fn a_bench_leaves_a_report_beside_the_store_and_says_where() {
    let desk = Desk::new();
    let answer = desk
        .run(&["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"])
        .done();
    let line = answer
        .stdout
        .lines()
        .find(|line| line.starts_with("Report  "))
        .expect("a line")
        .to_owned();
    let path = line.trim_start_matches("Report  ");
    assert!(
        path.starts_with(&desk.file("reports/")) && path.ends_with(".html"),
        "{path}"
    );
    let page = std::fs::read(path).expect("a page");
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    let quiet = desk
        .run(&[
            "bench",
            "sim:raid10-10k",
            "--series",
            "log",
            "--step",
            "1s",
            "--json",
        ])
        .done();
    assert!(quiet.stderr.contains("Report: "), "{}", quiet.stderr);
    let none = desk
        .run(&[
            "bench",
            "sim:raid10-10k",
            "--series",
            "log",
            "--step",
            "1s",
            "--no-report",
        ])
        .done();
    assert!(!none.stdout.contains("Report: "));
    assert_eq!(
        std::fs::read_dir(desk.file("reports"))
            .expect("a directory")
            .count(),
        2
    );
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let desk = Desk::new();
    for format in ["html", "svg", "png", "md", "csv", "json"] {
        let name = "dataset:eva8100-2009-offset";
        let paths = ["one", "two"].map(|word| desk.file(&format!("{word}.{format}")));
        for path in &paths {
            desk.run(&["report", name, "-o", path]).done();
        }
        let [one, two] = paths.map(|path| std::fs::read(path).expect("a file"));
        assert!(one == two, "{format}");
    }
}

#[test]
fn a_name_that_asks_for_no_known_format_is_refused() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    desk.run(&["report", "last", "-o", "report.pdf"])
        .failed(2, &["report.pdf", "--format"]);
    desk.run(&["report", "last", "-o", "report.pdf", "--format", "md"])
        .done();
}

/// What takes long stands behind the other tests in CI.
mod at_length {
    use super::*;

    /// Address space of the process in KiB: no less than what is resident.
    const MEMORY_KIB_MAX: u32 = 200 << 10;

    #[test]
    #[ignore = "15 s of processor time: cargo xtask ci long"]
    fn a_report_over_ten_thousand_runs_stays_within_200_mebibytes() {
        let desk = Desk::new();
        let counts = "1,2,3,4,5,6,7,8,9,10";
        let grid = ["run", "sim:nvme", "--duration", "1ms", "--interval", "1ms"];
        let load = ["--threads", counts, "--outstanding", counts];
        desk.run(&[&grid[..], &load, &["--repeat", "100", "--quiet"]].concat())
            .done();
        let page = desk.file("all.html");
        let store = desk.store();
        let mut limited = std::process::Command::new("sh");
        limited
            .args(["-c", &format!("ulimit -v {MEMORY_KIB_MAX}; exec \"$@\"")])
            .args([
                "sh",
                crate::support::program(),
                "report",
                "--all",
                "-o",
                &page,
            ])
            .arg("--store")
            .arg(&store);
        Answer::of(&mut limited).done();
        let page = std::fs::read_to_string(&page).expect("a page");
        assert!(page.len() < 2 << 20, "{} bytes", page.len());
        assert!(page.contains("10,000 runs"));
    }
}

/// Of hundreds of runs neither latencies nor intervals are kept; what a bench answers
/// needs them, and is the same on every page.
#[test]
fn a_report_on_all_that_is_stored_has_the_answers_of_its_benches() {
    let desk = Desk::new();
    let bench = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read,log",
        "--step",
        "1s",
    ];
    desk.run(&[&bench[..], &["--no-report", "--quiet"]].concat())
        .done();
    let alone = desk.json(&["history", "show", "last"]);
    let grid = "--threads 1,2,3,4,5 --outstanding 1,2,3,4,5,6,7,8 --block 1K,2K,4K,8K,16K,32K,64K,128K --duration 1ms --quiet";
    let grid: Vec<&str> = ["run", "sim:nvme"]
        .into_iter()
        .chain(grid.split(' '))
        .collect();
    desk.run(&grid).done();
    let all = desk.run(&["report", "--all", "--format", "json", "--output=-"]);
    let all = all.done().json();
    assert!(all.at("runs").items().len() > 300);
    for series in ["series.0", "series.1"] {
        for of in ["name", "answer", "knee"] {
            let path = format!("{series}.{of}");
            let [there, here] = [&all, &alone].map(|one| one.maybe(&path).map(|json| json.json()));
            assert_eq!(there, here, "{path}");
        }
    }
}
