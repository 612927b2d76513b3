//! `verify --power-cut`, `witness` and `verify --after-cut`: what survived, what did not,
//! and what is refused before the first byte.

use crate::report::holds_to_definition_of;
use crate::support::{Desk, Json, Running, long_enough, names, text};
use rustix::process::Signal;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A witness that listens, and where it does.
pub(crate) struct Listening {
    pub running: Running,
    pub place: String,
    pub file: String,
}

impl Listening {
    pub fn start(desk: &Desk, name: &str) -> Listening {
        let file = desk.file(name);
        let listen = ["witness", &file, "--listen", "127.0.0.1:0", "--json"];
        let mut running = desk.start(&listen);
        // Long lines are wrapped: the place has one to itself.
        running.until("127.0.0.1:");
        let message = running.said().replace("\n  ", " ");
        let place = message
            .split("--witness=")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next())
            .expect("a place");
        Listening {
            place: place.to_owned(),
            running,
            file,
        }
    }
}

/// A short run that waits for a power cut, on a directory.
pub(crate) fn cut<'a>(volume: &'a str, witness: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["verify", volume, "--power-cut", "--witness", witness];
    all.push("--busy-ok");
    if !more.contains(&"--size") {
        all.extend(["--size", "8M"]);
    }
    all.extend(more);
    all
}

/// The one file in a directory.
pub(crate) fn only_file(volume: &str) -> PathBuf {
    let found = names(volume);
    assert_eq!(found.len(), 1, "{found:?}");
    Path::new(volume).join(&found[0])
}

pub(crate) fn judged(desk: &Desk, witness: &str, target: &Path, code: i32) -> Json {
    let after = [
        "verify",
        "--after-cut",
        witness,
        text(target),
        "--busy-ok",
        "--json",
    ];
    desk.run(&after).ended(code).json()
}

fn lost(document: &Json) -> u64 {
    document.at("survival.0.lost_writes").count()
}

#[test]
fn every_kind_of_durability_passes_and_is_told_apart() {
    let desk = Desk::new();
    for (kind, name) in [
        ("flush", "fsync"),
        ("fdatasync", "fdatasync"),
        ("fua", "FUA"),
        ("dsync", "O_DSYNC"),
    ] {
        let volume = desk.file(kind);
        std::fs::create_dir(&volume).expect("a directory");
        let witness = Listening::start(&desk, &format!("{kind}.witness"));
        let more = ["--sync", kind, "--duration", "400ms", "--json"];
        let document = desk.run(&cut(&volume, &witness.place, &more)).done().json();
        assert_eq!(document.at("mode").text(), "power-cut", "{kind}");
        holds_to_definition_of("verify", &document.json());
        let kept_at = document.at("targets.0.kept_at").text();
        assert_eq!(kept_at, text(&only_file(&volume)), "{kind}");
        let kept = witness.running.wait().done().json();
        holds_to_definition_of("witness", &kept.json());
        assert_eq!(kept.at("ending").text(), "ended", "{kind}");
        assert_eq!(kept.at("dropped_bytes").count(), 0, "{kind}");
        let after = judged(&desk, &witness.file, &only_file(&volume), 0);
        holds_to_definition_of("verify", &after.json());
        assert_eq!(after.at("verdict").text(), "passed", "{kind}");
        assert_eq!(after.at("survival.0.durability").text(), name);
        assert_eq!(after.at("run").text(), kept.at("run").text());
        assert!(after.at("witness.records").count() >= 3, "{kind}");
    }
}

/// Ctrl-C at a terminal reaches both ends of a pipe.
#[test]
fn a_witness_in_a_pipe_that_is_stopped_with_the_run_is_no_error() {
    let desk = Desk::new();
    let volume = desk.volume();
    let witness = desk.file("piped.witness");
    let piped = format!("|echo READY; head -c 2000 > {witness}; kill -INT $PPID");
    let answer = desk.run(&cut(&volume, &piped, &["--json"])).ended(130);
    assert_eq!(answer.json().at("verdict").text(), "interrupted");
    let notes = answer.json().at("notes").json();
    assert!(notes.contains("recorded no normal end"), "{notes}");
    let after = judged(&desk, &witness, &only_file(&volume), 0);
    assert_eq!(lost(&after), 0);
    // One that goes away by itself is an error.
    let other = desk.file("other");
    std::fs::create_dir(&other).expect("a directory");
    let alone = "|echo READY; head -c 2000 > /dev/null";
    let gone = desk.run(&cut(&other, alone, &["--json"])).ended(3);
    let gone = gone.said(&["the witness is gone"]).json();
    assert_eq!(gone.at("verdict").text(), "interrupted");
}

#[test]
fn a_run_that_is_killed_is_judged_by_what_the_witness_saw() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let witness = Listening::start(&desk, "killed.witness");
    let mut running = desk.start(&cut(&volume, &witness.place, &[]));
    running.until("from now on the power may be cut");
    let length = || std::fs::metadata(&witness.file).map_or(0, |file| file.len());
    let before = length();
    running.until_true("reports of its work", || length() > before + 16 * 16);
    running.signal(Signal::KILL);
    running.wait().ended(137);
    let kept = witness.running.wait().done().json();
    assert_eq!(kept.at("ending").text(), "closed");
    let path = only_file(&volume);
    let after = judged(&desk, &witness.file, &path, 0);
    assert_eq!(lost(&after), 0);
    // The same disk with a part of it gone: what was flushed is missed, and named.
    let file = OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("it opens");
    file.write_all_at(&vec![0; 64 << 10], 1 << 20)
        .expect("wiped");
    let after = judged(&desk, &witness.file, &path, 1);
    assert!(lost(&after) >= 1);
    assert_eq!(
        after.at("faults_by_class.flushed-write-lost").count(),
        after.at("faults").items().len() as u64
    );
    let wiped: u64 = (after.at("faults").items().iter())
        .map(|fault| fault.at("length_bytes").count())
        .sum();
    assert_eq!(wiped, 64 << 10, "neither less nor more");
    let after = [
        "verify",
        "--after-cut",
        &witness.file,
        text(&path),
        "--busy-ok",
    ];
    desk.run(&after).ended(1).printed(&[
        "A flushed write did not survive: ",
        "first at 1 MiB",
        "before the cut",
    ]);
    // A disk that lost everything and a wrong one look alike.
    file.write_all_at(&vec![0; 8 << 20], 0).expect("wiped");
    let after = judged(&desk, &witness.file, &path, 1);
    let notes = after.at("notes").json();
    assert!(notes.contains("has a stamp of the run"), "{notes}");
}

#[test]
fn a_disk_that_loses_parts_of_writes_is_caught() {
    let desk = Desk::new();
    let inject = ["--inject", "torn=512@every=7 write", "--json"];
    let measure = |duration: &str| {
        let volume = desk.file(&format!("in-{duration}"));
        std::fs::create_dir(&volume).expect("a directory");
        let witness = Listening::start(&desk, &format!("{duration}.witness"));
        let more = [&inject[..], &["--duration", duration]].concat();
        let document = desk.run(&cut(&volume, &witness.place, &more)).done().json();
        witness.running.wait().done();
        let writes = document.at("phases.1.write.operations").count();
        (writes, witness.file, volume)
    };
    let (_, witness, volume) = long_enough(measure, |(writes, ..)| *writes > 100);
    let after = judged(&desk, &witness, &only_file(&volume), 1);
    assert!(lost(&after) >= 1);
}

#[test]
fn reports_come_through_a_command_and_into_a_file_of_another_disk() {
    let desk = Desk::new();
    let volume = desk.volume();
    let file = desk.file("piped.witness");
    let program = crate::support::program();
    let command = format!("|{program} witness {file} --stdin");
    desk.run(&cut(&volume, &command, &["--duration", "300ms"]))
        .done();
    judged(&desk, &file, &only_file(&volume), 0);
    // In memory, which is no disk, so that it is another one than ours for certain.
    let volume = desk.file("second");
    std::fs::create_dir(&volume).expect("a directory");
    let memory = tempfile::Builder::new()
        .tempdir_in("/dev/shm")
        .expect("a directory in memory");
    let file = text(&memory.path().join("cut.witness")).to_owned();
    desk.run(&cut(&volume, &file, &["--duration", "300ms"]))
        .done()
        .warned(&["in memory"]);
    judged(&desk, &file, &only_file(&volume), 0);
}

#[test]
fn a_witness_that_is_not_there_is_missed_before_the_first_byte() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let closed_port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed_port.local_addr().expect("an address");
    drop(closed_port);
    desk.run(&cut(&volume, &format!("{address}/0af3"), &[]))
        .failed(3, &["is not there", "nothing was written"]);
    desk.run(&cut(&volume, "|exit 3", &[]))
        .failed(3, &["is not there"]);
    desk.run(&cut(&volume, "|echo something else", &[]))
        .failed(3, &["but not like a witness"]);
    let memory = tempfile::Builder::new()
        .tempdir_in("/dev/shm")
        .expect("a directory in memory");
    let taken = text(&memory.path().join("taken")).to_owned();
    std::fs::write(&taken, "mine").expect("written");
    desk.run(&cut(&volume, &taken, &[]))
        .failed(3, &["cannot make the witness's file"]);
    assert_eq!(std::fs::read_to_string(&taken).expect("there"), "mine");
    desk.run(&cut(&volume, &desk.file("same-disk"), &[]))
        .failed(3, &["on the same disk"]);
    desk.run(&["verify", &volume, "--power-cut"])
        .failed(2, &["--witness"]);
    desk.run(&cut(&volume, "|cat", &["--cache", "mixed"]))
        .failed(2, &["one cache at a time"]);
    assert_eq!(names(&volume), Vec::<String>::new());
}

#[test]
fn a_witness_takes_one_connection_with_the_token_and_drops_the_rest() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut witness = Listening::start(&desk, "strict.witness");
    let (address, _) = witness.place.split_once('/').expect("a token");
    for greeting in ["wrong\n", "GET / HTTP/1.1\r\n\r\n", ""] {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(greeting.as_bytes()).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("closed");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{greeting}");
    }
    desk.run(&cut(&volume, &format!("{address}/wrong"), &[]))
        .failed(3, &["is the token right?"]);
    assert_eq!(names(&volume), Vec::<String>::new());
    let mut running = desk.start(&cut(&volume, &witness.place, &[]));
    witness.running.until("Reports come from");
    // Nobody else is let in.
    assert!(TcpStream::connect(address).is_err());
    running.until("from now on the power may be cut");
    running.signal(Signal::INT);
    let ended = running.wait().ended(130);
    assert!(
        ended.stdout.contains("The power did not fail"),
        "{}",
        ended.stdout
    );
    let kept = witness.running.wait().done().json();
    assert_eq!(kept.at("refused_connections").count(), 4);
}

#[test]
fn what_is_no_witness_of_this_target_is_refused() {
    own_process!();
    let desk = Desk::new();
    let [(one, one_file), (_, other_file)] = ["one", "other"].map(|name| {
        let volume = desk.file(name);
        std::fs::create_dir(&volume).expect("a directory");
        let witness = Listening::start(&desk, &format!("{name}.witness"));
        desk.run(&cut(&volume, &witness.place, &["--duration", "200ms"]))
            .done();
        witness.running.wait().done();
        (witness.file, only_file(&volume))
    });
    let after = |witness: &str, target: &str| {
        desk.run(&["verify", "--after-cut", witness, target, "--busy-ok"])
    };
    after(&one, text(&other_file)).failed(3, &["holds the run"]);
    after(text(&other_file), text(&one_file)).failed(2, &["not a witness file"]);
    after(&desk.file("missing"), text(&one_file)).failed(2, &["not a witness file"]);
    after(&one, desk.path().to_str().expect("text")).failed(2, &["is a directory"]);
    let both = [text(&one_file), text(&other_file)];
    desk.run(&["verify", "--after-cut", &one, both[0], both[1]])
        .failed(2, &["1 targets, and 2 are named"]);
    // A device that shrank.
    let shrunk = desk.file("shrunk");
    std::fs::copy(&one_file, &shrunk).expect("copied");
    let file = OpenOptions::new()
        .write(true)
        .open(&shrunk)
        .expect("it opens");
    file.set_len(7 << 20).expect("cut");
    after(&one, &shrunk).failed(3, &["smaller than it was"]);
    // The head alone promises nothing.
    let mut head = std::fs::read(&one).expect("readable");
    let end = head
        .windows(2)
        .rposition(|at| at == b"]}")
        .expect("a header")
        + 2;
    head.truncate(end);
    std::fs::write(desk.file("head"), &head).expect("written");
    after(&desk.file("head"), text(&one_file)).failed(3, &["nothing was promised"]);
}
