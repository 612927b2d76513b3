//! Where the system gives no more threads or no larger files: an error that says
//! so, and nothing left behind.

use crate::support::machine::{append, can_run};
use crate::support::{Answer, Desk, names, text};
use std::process::Command;

/// Users that nobody else is, so that their threads can be counted: the limit is
/// one of a user, and root has none.
const USERS: [&str; 2] = ["64100", "64101"];

/// Runs a command as a user who may have `count` threads, the first included.
fn with_threads(desk: &Desk, user: &str, count: u32, arguments: &[&str]) -> Answer {
    let mut limited = Command::new("prlimit");
    limited.args([&format!("--nproc={count}"), "setpriv", "--clear-groups"]);
    limited.args(["--reuid", user, "--regid", user]);
    append(&mut limited, &desk.command(arguments));
    Answer::of(&mut limited)
}

/// A desk where everybody may write.
fn open_desk() -> Desk {
    let desk = Desk::new();
    let volume = desk.volume();
    for path in [text(desk.path()), &volume] {
        crate::support::run("chmod", &["777", path]);
    }
    desk
}

#[test]
fn no_thread_to_be_had_is_an_error_that_leaves_nothing() {
    if !can_run("no_thread_to_be_had", &["root", "setpriv", "prlimit"]) {
        return;
    }
    let file = |desk: &Desk| {
        let path = desk.file("kept");
        crate::support::users_file(&path, 4 << 20);
        path
    };
    let cases: &[(&str, &str)] = &[
        (
            "prepare volume/new --size 4M --busy-ok",
            "to fill the test file",
        ),
        (
            "run volume --size 4M --busy-ok --duration 50ms",
            "to fill the test file",
        ),
        (
            "bench volume --size 4M --busy-ok --step 50ms",
            "to fill the test file",
        ),
        (
            "run kept --busy-ok --duration 50ms",
            "cannot start a thread to keep results",
        ),
        ("run sim:nvme --duration 10ms --threads 1,2", "to simulate"),
        ("align sim:nvme --step 10ms --blocks 10", "to simulate"),
        ("import kept", "to read"),
        ("compare ./kept", "to read"),
        ("run --plan kept", "to read"),
    ];
    for (line, words) in cases {
        let desk = open_desk();
        file(&desk);
        let words_of: Vec<&str> = line.split(' ').collect();
        let answer = with_threads(&desk, USERS[0], 1, &words_of);
        answer.failed(3, &["cannot start ", words, "hint: "]);
        assert!(names(desk.volume()).is_empty(), "{line}");
        assert!(desk.ids().is_empty(), "{line}");
    }
}

#[test]
fn a_stack_that_is_too_small_is_an_error() {
    if !can_run("a_stack_that_is_too_small_is_an_error", &["prlimit"]) {
        return;
    }
    let desk = Desk::new();
    let with_stack = |bytes: u32| {
        let mut limited = Command::new("prlimit");
        limited.arg(format!("--stack={bytes}"));
        append(
            &mut limited,
            &desk.command(&["run", "sim:nvme", "--duration", "10ms"]),
        );
        Answer::of(&mut limited)
    };
    for bytes in [64 << 10, 512 << 10] {
        with_stack(bytes).failed(3, &["refused a stack of 1 MiB", "`ulimit -s`"]);
    }
    with_stack(1 << 20).done();
}

#[test]
fn one_thread_is_enough_to_fill_a_file_and_to_simulate() {
    if !can_run("one_thread_is_enough", &["root", "setpriv", "prlimit"]) {
        return;
    }
    let desk = open_desk();
    let volume = desk.volume();
    let prepare = ["prepare", "volume/new", "--size", "4M", "--busy-ok"];
    with_threads(&desk, USERS[1], 2, &prepare).done();
    assert_eq!(names(&volume), ["new"]);
    let grid = ["run", "sim:nvme", "--duration", "10ms", "--threads", "1,2"];
    with_threads(&desk, USERS[1], 2, &grid).done();
    assert_eq!(desk.ids().len(), 2);
}

#[test]
fn a_file_past_the_limit_of_the_shell_is_an_error_with_its_own_hint() {
    if !can_run("a_file_past_the_limit", &["prlimit"]) {
        return;
    }
    let desk = Desk::new();
    let volume = desk.volume();
    let large = ["--duration", "50ms", "--interval", "1ms", "--repeat", "20"];
    desk.run(&[&["run", "sim:nvme"], &large[..]].concat())
        .done();
    // What the store needs for itself fits into each limit.
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "2097152",
            "run volume --size 4M --busy-ok --duration 50ms",
            &["cannot fill", "ulimit -f"],
        ),
        (
            "2097152",
            "prepare volume/new --size 4M --busy-ok",
            &["cannot fill", "ulimit -f"],
        ),
        (
            "65536",
            "report --all -o all.html",
            &["all.html", "File too large", "ulimit -f unlimited"],
        ),
        (
            "65536",
            "export -o all.jsonl",
            &["File too large", "ulimit -f"],
        ),
    ];
    for (limit, line, says) in cases {
        let words: Vec<&str> = line.split(' ').collect();
        let mut limited = Command::new("prlimit");
        limited.arg(format!("--fsize={limit}"));
        append(&mut limited, &desk.command(&words));
        Answer::of(&mut limited).failed(3, says);
        assert!(names(&volume).is_empty(), "{line}");
    }
    for file in ["all.html", "all.jsonl"] {
        assert!(!desk.path().join(file).exists(), "{file} is cut");
    }
}

/// A store and a report that the limit on the size of files stops: neither is blamed on a
/// disk. `ulimit -f` counts 512 bytes.
#[test]
fn the_limit_on_the_size_of_files_is_named_where_it_stops_the_store_or_a_report() {
    let desk = Desk::new();
    desk.run(&["run", "sim:raid10-10k", "--duration", "1s"])
        .done();
    let limited = |desk: &Desk, blocks: &str, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        let program = command.get_program().to_owned();
        let all: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command = std::process::Command::new("sh");
        command.args(["-c", &script]).arg(program).args(all);
        Answer::of(&mut command)
    };
    let report = desk.file("report.html");
    limited(&desk, "600", &["report", "last", "-o", &report]).failed(3, &["ulimit -f unlimited"]);
    assert!(!std::path::Path::new(&report).exists());
    let run = ["run", "sim:raid10-10k", "--duration", "1s"];
    limited(&Desk::new(), "60", &run).failed(5, &["past 30 KiB", "ulimit -f unlimited"]);
}
