//! Names that are not UTF-8: they can be measured, and what is recorded of them is
//! text from which the name can be made again.

use super::support::{Answer, Desk, Json, long_enough};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A file as a user of Latin-1 may have it.
const FILE: &[u8] = b"a\xffb";
const SHORT: [&str; 3] = ["--duration", "100ms", "--busy-ok"];

/// The command with such a name behind its first words.
fn run(desk: &Desk, words: &[&str], name: impl AsRef<OsStr>, more: &[&str]) -> Answer {
    Answer::of(desk.command(words).arg(name).args(more))
}

/// A run whose window is long enough for operations to compare others with.
fn measured(desk: &Desk, name: impl AsRef<OsStr>) -> Json {
    let measure = |duration: &str| {
        let more = ["--duration", duration, "--busy-ok", "--json"];
        run(desk, &["run"], &name, &more).done().json()
    };
    let operations = "runs.0.jobs.0.outcome.operations";
    long_enough(measure, |document| document.at(operations).count() > 30)
}

/// Makes a file of this name that can be measured.
fn prepared(desk: &Desk, name: &[u8]) -> PathBuf {
    let path = desk.path().join(OsStr::from_bytes(name));
    let size = ["--size", "4M", "--busy-ok"];
    run(desk, &["prepare"], &path, &size).done();
    path
}

#[test]
fn a_file_whose_name_is_not_utf8_is_measured_shown_and_measured_again() {
    let desk = Desk::new();
    prepared(&desk, FILE);
    let name = OsStr::from_bytes(FILE);
    let document = measured(&desk, name);
    let job = super::support::only_job(&document);
    assert_eq!(job.at("target.name").text(), r"a\xffb");
    let command = document.at("runs").items()[0].at("command").items();
    assert!(command.iter().any(|word| word.text() == r"a\xffb"));
    desk.run(&["history"]).done().printed(&[r"a\xffb"]);
    let mut history = desk.command(&["history"]);
    let listed = Answer::of(history.arg("--target").arg(name)).done();
    listed.printed(&[r"a\xffb"]);
    run(&desk, &["disks"], name, &[]).printed(&[r"a\xffb is on "]);
    // What it says can be typed in a shell.
    desk.run(&["report", "last-run", "--format", "md"])
        .done()
        .printed(&["stripewise run --store ", r" $'a\xffb' --duration"]);
    let page = desk.run(&["report", "last-run", "-o", "-"]).done();
    assert!(page.stdout.contains(r"a\xffb"));

    // `check` finds the file by what was recorded.
    // Whatever lies below temporary files: a cached loop device makes it void.
    desk.run(&["baseline", "set", "last-run", "--anyway"])
        .done();
    let checked = desk.run(&["check", "--repeat", "1", "--busy-ok", "--json"]);
    assert!(matches!(checked.code, Some(0 | 1)), "{}", checked.stderr);
    assert!(
        checked.stderr.contains(r"Target: existing file"),
        "{}",
        checked.stderr
    );
    assert!(checked.stderr.contains(r"a\xffb"), "{}", checked.stderr);
    // On another target too.
    let other = prepared(&desk, b"\xe4");
    let more = ["--repeat", "1", "--busy-ok"];
    let other_store = run(&desk, &["check"], &other, &more);
    assert!(
        other_store.stderr.contains(r"\xe4"),
        "{}",
        other_store.stderr
    );
}

#[test]
fn a_name_that_looks_like_an_escape_is_another_file() {
    let desk = Desk::new();
    let bytes = prepared(&desk, b"a\xffb");
    let letters = prepared(&desk, br"a\xffb");
    assert_ne!(bytes, letters);
    std::fs::remove_file(&bytes).expect("removed");
    run(&desk, &["run"], &bytes, &SHORT).failed(3, &[r"a\xffb: does not exist"]);
    let job = super::support::only_job(&measured(&desk, &letters));
    let name = job.at("target.name").text();
    assert!(name.ends_with(r"/a\x5cxffb"), "{name}");
    // Whatever lies below temporary files: a cached loop device makes it void.
    desk.run(&["baseline", "set", "last-run", "--anyway"])
        .done();
    let checked = desk.run(&["check", "--repeat", "1", "--busy-ok"]);
    assert!(matches!(checked.code, Some(0 | 1)), "{}", checked.stderr);
}

#[test]
fn a_directory_whose_name_is_not_utf8_is_benched_and_left_empty() {
    let desk = Desk::new();
    let volume = desk.path().join(OsStr::from_bytes(b"d\xe4"));
    std::fs::create_dir(&volume).expect("a directory");
    let load = [
        "--series",
        "random-read",
        "--size",
        "16M",
        "--step",
        "50ms",
        "--busy-ok",
    ];
    let bench = run(&desk, &["bench"], &volume, &load);
    assert!(matches!(bench.code, Some(0 | 1)), "{}", bench.stderr);
    assert!(bench.stderr.contains(r"d\xe4"), "{}", bench.stderr);
    assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 0);
    desk.run(&["history"]).done().printed(&[r"d\xe4"]);
    // From inside, with no word of it on the command line.
    let more = [&SHORT[..], &["--size", "4M", "--keep"]].concat();
    let inside = Answer::of(desk.command(&["run", "."]).args(more).current_dir(&volume)).done();
    assert!(inside.stderr.contains(r"d\xe4"), "{}", inside.stderr);
    // What was kept is found again by the name in the store.
    assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 1);
    desk.run(&["lab", "clean", "--yes"])
        .done()
        .printed(&[r"d\xe4/stripewise-"]);
    assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 0);
}

#[test]
fn results_in_files_and_directories_of_such_names_are_read() {
    let desk = Desk::new();
    let document = desk.run(&["run", "sim:raid10-10k", "--json"]).done().stdout;
    let directory = desk.path().join(OsStr::from_bytes(b"\xf6"));
    std::fs::create_dir(&directory).expect("a directory");
    let file = directory.join(OsStr::from_bytes(FILE));
    std::fs::write(&file, document).expect("written");
    for subject in [&file, &directory] {
        run(&desk, &["report", "--format", "csv"], subject, &[])
            .done()
            .printed(&["sim:raid10-10k"]);
        run(&desk, &["compare", "last-run"], subject, &[])
            .done()
            .printed(&[r"\xf6"]);
        run(&desk, &["export"], subject, &[]).done();
        run(&desk, &["baseline", "set", "--replace"], subject, &[]).done();
    }
    let made = desk.path().join(OsStr::from_bytes(b"\xe9.html"));
    let mut report = desk.command(&["report", "last-run"]);
    let answer = Answer::of(report.arg("-o").arg(&made)).done();
    answer.printed(&[r"\xe9.html ("]);
    assert!(made.exists());
}

#[test]
fn arrays_and_tables_have_names_of_text() {
    let desk = Desk::new();
    for name in [&b"sim:a\xffb"[..], b"dataset:\xff"] {
        run(&desk, &["run"], OsStr::from_bytes(name), &[]).failed(2, &["not UTF-8"]);
    }
    // A backslash in them is one.
    let array = r"sim:raid10-10k?disks=\x34";
    let error = desk.run(&["run", array]).ended(2).stderr;
    assert!(!error.contains("x5c"), "{error}");
}

/// A name with a sign that turns the order of letters round looks like another one.
#[test]
fn signs_of_direction_are_shown_by_their_numbers() {
    let desk = Desk::new();
    let odd = "gpj.\u{202e}exe\u{200f}";
    let path = prepared(&desk, odd.as_bytes());
    let raw = |text: &str| text.contains(['\u{202e}', '\u{200f}']);
    let answer = run(&desk, &["run"], &path, &SHORT).done();
    assert!(
        answer.stderr.contains(r"gpj.\u{202e}exe\u{200f}"),
        "{}",
        answer.stderr
    );
    assert!(!raw(&answer.stderr) && !raw(&answer.stdout));
    for words in [
        &["history"][..],
        &["history", "show", "last-run"],
        &["report", "last-run", "--format", "md"],
        &["report", "last-run", "--format", "csv"],
    ] {
        let answer = desk.run(words).done();
        assert!(!raw(&answer.stdout) && !raw(&answer.stderr), "{words:?}");
    }
    // JSON has escapes of its own, which mean the same name.
    let answer = desk.run(&["history", "--json"]).done();
    assert!(!raw(&answer.stdout));
    assert_eq!(
        answer.json().at("history").items()[0].at("jobs").items()[0]
            .at("target")
            .text(),
        path.to_str().unwrap()
    );
}
