//! The program on a terminal, and what it does when the terminal goes away.

use crate::support::machine::{append, can_run};
use crate::support::windows::measured;
use crate::support::{Desk, PATIENCE, code_of, names, wait_until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::time::Instant;

/// A terminal without a user; it is gone when this is.
struct Terminal {
    user: File,
}

impl Terminal {
    fn new() -> Terminal {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&user).expect("ours");
        unlockpt(&user).expect("open to us");
        Terminal { user: user.into() }
    }

    /// The side that programs have.
    fn side(&self) -> File {
        let name = ptsname(&self.user, Vec::new()).expect("a name");
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let mut options = File::options();
        options.read(true).write(true);
        options.open(path).expect("the program's side")
    }

    /// Starts a command on it. With `owned` it is the command's own terminal, whose
    /// end is a SIGHUP.
    fn start(&self, command: &Command, owned: bool) -> Process {
        let mut wrapped = match owned {
            true => Command::new("setsid"),
            false => Command::new("env"),
        };
        if owned {
            wrapped.arg("--ctty");
        }
        append(&mut wrapped, command);
        // Progress is not drawn on a terminal that cannot move its cursor.
        wrapped
            .env("TERM", "xterm")
            .stdin(self.side())
            .stdout(self.side())
            .stderr(self.side());
        Process(wrapped.spawn().expect("the program starts"))
    }

    /// What the program printed until a word was on the terminal.
    fn until(&mut self, word: &str) -> String {
        let mut seen = Vec::new();
        loop {
            let mut some = [0; 4096];
            let length = self.user.read(&mut some).unwrap_or(0);
            seen.extend_from_slice(&some[..length]);
            let text = String::from_utf8_lossy(&seen);
            if text.contains(word) {
                return text.into_owned();
            }
            assert!(length > 0, "no `{word}` in {text}");
        }
    }
}

/// A program that is killed if the test ends before it does.
struct Process(Child);

impl Process {
    fn ended(&mut self, code: i32) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("a status") {
                assert_eq!(code_of(status), Some(code));
                return;
            }
            assert!(began.elapsed() < PATIENCE, "it hangs");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until_stored(desk: &Desk) {
    wait_until("stored intervals", || measured(desk) > 0);
}

#[test]
fn a_terminal_that_is_closed_ends_the_run_which_is_kept_as_partial() {
    if !can_run("a_terminal_that_is_closed", &["setsid"]) {
        return;
    }
    for more in [&[][..], &["--quiet"], &["--json"]] {
        let desk = Desk::new();
        let volume = desk.volume();
        let run = ["run", &volume, "--busy-ok", "--size", "4M"];
        let long = ["--duration", "1h", "--interval", "100ms"];
        let terminal = Terminal::new();
        let mut process = terminal.start(&desk.command(&[&run, &long[..], more].concat()), true);
        until_stored(&desk);
        drop(terminal);
        process.ended(129);
        assert!(names(&volume).is_empty(), "{more:?}");
        let listed = desk.run(&["history", "--json"]).done();
        // The run ended by itself: nobody had to rebuild it.
        assert!(!listed.stderr.contains("unfinished"), "{}", listed.stderr);
        let row = listed.json().at("history.0");
        assert_eq!(row.at("status").text(), "partial", "{more:?}");
    }
}

#[test]
fn a_terminal_that_is_closed_while_a_file_is_filled_leaves_no_file() {
    if !can_run("a_terminal_that_is_closed_while_a_file", &["setsid"]) {
        return;
    }
    let desk = Desk::new();
    let volume = desk.volume();
    let run = ["run", &volume, "--busy-ok", "--size", "64M"];
    let mut terminal = Terminal::new();
    let mut process = terminal.start(&desk.command(&run), true);
    let drawn = terminal.until("Filling");
    // NO_COLOR is set: the line is erased, and nothing else is sent. What was read last may be cut.
    let mut escapes = drawn.split("\u{1b}[").skip(1);
    let erases = |rest: &str| rest.starts_with("2K") || "2K".starts_with(rest);
    assert!(escapes.all(erases), "{drawn:?}");
    drop(terminal);
    process.ended(129);
    assert!(names(&volume).is_empty());
}

#[test]
fn a_terminal_that_vanishes_without_a_signal_loses_the_answer_and_not_the_run() {
    let desk = Desk::new();
    let volume = desk.volume();
    let run = ["run", &volume, "--busy-ok", "--size", "4M"];
    let terminal = Terminal::new();
    let more = ["--duration", "1500ms", "--interval", "100ms"];
    let mut process = terminal.start(&desk.command(&[&run[..], &more].concat()), false);
    until_stored(&desk);
    drop(terminal);
    process.0.wait().expect("a status");
    let listed = desk.json(&["history"]);
    // A finding comes first: on a busy machine the run may be void.
    let is_void = desk
        .run(&["history", "show", "last"])
        .stdout
        .contains("VOID");
    process.ended(if is_void { 1 } else { 3 });
    assert_eq!(listed.at("history.0.status").text(), "complete");
}

#[test]
fn a_terminal_shows_progress_and_the_answer() {
    let desk = Desk::new();
    let volume = desk.volume();
    let run = [
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "500ms",
    ];
    let mut terminal = Terminal::new();
    let mut process = terminal.start(&desk.command(&run), false);
    let seen = terminal.until("history show");
    assert!(
        seen.contains("Measuring") && seen.contains("random read"),
        "{seen}"
    );
    // The bar is drawn again in its own line.
    assert!(seen.contains("\x1b[") && seen.contains('\r'), "{seen}");
    process.ended(0);
}
