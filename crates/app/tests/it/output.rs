//! What goes where: one document on stdout, everything else on stderr.

use crate::support::{Desk, here, names, text};
use std::process::Command;

/// The longest line that a table may have.
const COLUMNS_MAX: usize = 100;

fn check_width(text: &str, what: &str) {
    for line in text.lines() {
        let columns = line.chars().count();
        assert!(columns <= COLUMNS_MAX, "{what}: {columns} columns: {line}");
    }
}

#[test]
fn json_prints_one_document_and_nothing_else() {
    let desk = Desk::new();
    let volume = desk.volume();
    let kept = desk.file("kept");
    let commands: [&[&str]; 11] = [
        &["run", "sim:nvme", "--duration", "10ms"],
        &[
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "4M",
            "--duration",
            "50ms",
        ],
        &["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"],
        &["prepare", &kept, "--size", "4M", "--busy-ok"],
        &["history"],
        &["history", "show", "last"],
        &["history", "delete"],
        &["sim", "list"],
        &["sim", "show", "nvme"],
        &["doctor"],
        &["doctor", &volume],
    ];
    for command in commands {
        let ids = desk.ids();
        let mut all = command.to_vec();
        if command == ["history", "delete"] {
            all.push(&ids[0]);
        }
        let document = desk.json(&all);
        assert_eq!(document.at("schema_version").count(), 1, "{command:?}");
    }
}

#[test]
fn people_read_answers_on_stdout_and_progress_on_stderr() {
    let desk = Desk::new();
    let volume = desk.volume();
    let load = ["--busy-ok", "--size", "4M", "--duration", "100ms"];
    let mut all = vec!["run", &volume];
    all.extend(load);
    let answer = desk.run(&all).done();
    assert!(answer.stdout.contains("random read"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("Filling"), "{}", answer.stdout);
    for word in ["Target: ", "Reads: ", "Writes: ", "Filling", "Measuring"] {
        assert!(answer.stderr.contains(word), "{word}: {}", answer.stderr);
    }
    // No escape sequences and no redrawn lines where nobody looks.
    assert!(
        !answer.stderr.contains(['\x1b', '\r']),
        "{:?}",
        answer.stderr
    );
    assert!(!answer.stdout.contains('\x1b'));
    all.push("--quiet");
    assert_eq!(desk.run(&all).done().stderr, "");
}

#[test]
fn the_plan_is_printed_before_the_first_byte() {
    let desk = Desk::new();
    let volume = desk.volume();
    let answer = desk
        .run(&[
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "4M",
            "--duration",
            "50ms",
            "--write",
        ])
        .done();
    let position = |word: &str| answer.stderr.find(word).unwrap_or_else(|| panic!("{word}"));
    assert!(position("Writes: ") < position("Filling"));
    assert!(position("4 MiB") < position("Measuring"));
}

#[test]
fn an_export_is_one_document_where_json_is_asked_for() {
    let desk = Desk::new();
    for _ in 0..2 {
        desk.run(&["run", "sim:nvme", "--duration", "10ms"]).done();
    }
    let document = desk.json(&["export"]);
    assert_eq!(document.at("schema_version").count(), 1);
    let runs = document.at("runs").items();
    assert_eq!(runs.len(), 2);
    let lines = desk.run(&["export"]).done().stdout;
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.contains(&runs[1].at("id").text()));
    desk.run(&["export", "--json", "--format", "csv"])
        .failed(2, &["--format"]);
    let file = desk.file("all.jsonl");
    let written = desk.json(&["export", "-o", &file]);
    assert_eq!(written.at("export.records").count(), 2);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), lines);
    let script = desk.json(&["completions", "fish"]);
    assert!(
        script
            .at("script")
            .text()
            .contains("complete -c stripewise")
    );
    std::fs::create_dir(desk.path().join("man")).unwrap();
    let pages = desk.json(&["man", &desk.file("man")]);
    assert!(pages.at("pages").items().len() > 20);
}

#[test]
fn tables_fit_a_hundred_columns() {
    let desk = Desk::new();
    let volume = desk.volume();
    let commands: [&[&str]; 9] = [
        &[
            "run",
            "sim:nvme",
            "--duration",
            "20ms",
            "--threads",
            "1,256",
            "--outstanding",
            "1,64",
            "--block",
            "512,64K",
            "--base-offset",
            "31.5K,1M",
        ],
        &[
            "run",
            "sim:oja-nisula-2007?offset=63s&stripe_unit=64K",
            "--duration",
            "20s",
            "--write",
        ],
        &[
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "4M",
            "--duration",
            "100ms",
            "--read-percent",
            "50",
            "--threads",
            "1,2",
        ],
        &[
            "bench",
            "sim:raid10-10k",
            "--step",
            "1s",
            "--label",
            "a label that is rather long for a table of results",
        ],
        &["history"],
        &["history", "show", "last"],
        &["sim", "list"],
        &["doctor", &volume],
        &["--help"],
    ];
    for command in commands {
        let answer = desk.run(command).done();
        check_width(&answer.stdout, &format!("{command:?}"));
    }
    for command in [
        "run",
        "bench",
        "prepare",
        "history",
        "sim",
        "doctor",
        "completions",
        "man",
    ] {
        let answer = desk.run(&[command, "--help"]).done();
        check_width(&answer.stdout, command);
        assert_eq!(answer.stderr, "");
    }
}

#[test]
fn the_version_is_printed_without_touching_anything() {
    let desk = Desk::new();
    let answer = desk.run(&["--version"]).done();
    assert_eq!(
        answer.stdout,
        format!("stripewise {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(!desk.store().exists());
}

#[test]
fn completions_are_printed_for_every_shell() {
    let desk = Desk::new();
    for (shell, word) in [
        ("bash", "complete "),
        ("zsh", "#compdef stripewise"),
        ("fish", "complete -c stripewise"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = desk.run(&["completions", shell]).done();
        assert!(script.stdout.contains(word), "{shell}");
        assert!(script.stdout.contains("outstanding"), "{shell}");
        assert_eq!(script.stderr, "");
    }
    let script = desk.run(&["completions", "bash"]).done();
    let path = desk.write("completion.bash", &script.stdout);
    let read = Command::new("bash").args(["-n", &path]).output();
    assert!(
        read.is_ok_and(|read| read.status.success()),
        "bash cannot read it"
    );
}

#[test]
fn man_pages_are_written_and_never_replace_anything() {
    let desk = Desk::new();
    let directory = desk.path().join("man");
    desk.run(&["man", text(&directory)]).failed(
        3,
        &["is not a directory", "hint: name a directory that exists"],
    );
    assert!(!directory.exists());
    std::fs::create_dir(&directory).unwrap();
    desk.run(&["man", text(&directory)]).done();
    let pages = names(&directory);
    for page in [
        "stripewise.1",
        "stripewise-run.1",
        "stripewise-bench.1",
        "stripewise-history.1",
    ] {
        assert!(
            pages.iter().any(|name| name == page),
            "{page} is not in {pages:?}"
        );
    }
    let page = std::fs::read_to_string(directory.join("stripewise-run.1")).expect("a page");
    assert!(
        page.contains("outstanding") && page.starts_with(".ie"),
        "{}",
        &page[..80]
    );
    assert!(!page.contains("inject"));
    std::fs::write(directory.join("stripewise-run.1"), "mine").expect("written");
    desk.run(&["man", text(&directory)])
        .failed(2, &["stripewise"]);
    let kept = std::fs::read_to_string(directory.join("stripewise-run.1")).expect("a page");
    assert_eq!(kept, "mine");
}

#[test]
fn a_command_line_without_sense_is_a_usage_error() {
    for arguments in [
        &[][..],
        &["measure"],
        &["run", "--bogus"],
        &["history", "purge"],
    ] {
        let answer = here(arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert_eq!(answer.stdout, "", "{arguments:?}");
    }
}

#[test]
fn colour_is_for_terminals_and_on_demand() {
    let desk = Desk::new();
    desk.json(&["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"]);
    let series = desk.json(&["history", "show", "last"]);
    let series = series.at("runs.0.series").text();
    for (when, coloured) in [("auto", false), ("never", false), ("always", true)] {
        let shown = desk
            .run(&["history", "show", &series, "--color", when])
            .done();
        assert_eq!(shown.stdout.contains('\x1b'), coloured, "{when}");
    }
}
