//! Witnesses of power cuts: what reaches them beside reports, where their files may lie, and
//! runs that are refused before they hear of them.

use crate::power_cut::{Listening, cut, judged, only_file};
use crate::support::{Desk, Loop, Mount, can_run, names, text};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use tempfile::TempDir;

/// A directory in memory, which is no disk, and so another one than that of any target.
fn in_memory() -> TempDir {
    let memory = tempfile::Builder::new().tempdir_in("/dev/shm");
    memory.expect("a directory in memory")
}

/// What a run sends to a witness: the head, and the records behind it.
fn sent_by_a_run(desk: &Desk) -> (Vec<u8>, Vec<u8>) {
    let volume = desk.volume();
    let kept = desk.file("sent");
    let piped = format!("|echo READY; cat > {kept}");
    desk.run(&cut(&volume, &piped, &["--duration", "200ms"]))
        .done();
    let mut head = std::fs::read(&kept).expect("sent");
    // A line, the header's length, the run's number, the header.
    let line = head.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    let length: [u8; 4] = head[line..line + 4].try_into().expect("four bytes");
    let records = head.split_off(line + 12 + u32::from_le_bytes(length) as usize);
    assert_eq!(records.len() % 16, 0);
    (head, records)
}

/// A connection to a witness, with its token; it has answered that it is ready.
fn connected(witness: &Listening) -> TcpStream {
    let (address, token) = witness.place.split_once('/').expect("a token");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream
        .write_all(format!("{token}\n").as_bytes())
        .expect("sent");
    let mut answer = [0; 6];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"READY\n");
    stream
}

#[test]
fn rubbish_between_records_is_dropped_and_counted() {
    let desk = Desk::new();
    let (head, records) = sent_by_a_run(&desk);
    let witness = Listening::start(&desk, "noisy.witness");
    let mut stream = connected(&witness);
    stream.write_all(&head).expect("sent");
    let noise = b"GET / HTTP/1.1\r\nHost: witness\r\n\r\n";
    let mut noises = 0;
    for part in records.chunks(3 * 16) {
        stream.write_all(noise).expect("sent");
        stream.write_all(part).expect("sent");
        noises += noise.len() as u64;
    }
    // Half a record at the end.
    stream.write_all(&records[..7]).expect("sent");
    drop(stream);
    let kept = witness.running.wait().done().json();
    assert_eq!(kept.at("records").count(), records.len() as u64 / 16);
    assert_eq!(kept.at("dropped_bytes").count(), noises + 7);
    let file = std::fs::read(&witness.file).expect("kept");
    assert!(file == [head, records].concat(), "what is none is not kept");
    judged(&desk, &witness.file, &only_file(&desk.volume()), 0);
}

#[test]
fn a_stream_that_begins_as_no_report_ends_the_witness_and_leaves_no_file() {
    let desk = Desk::new();
    for rubbish in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4096]] {
        let witness = Listening::start(&desk, "rubbish.witness");
        let mut stream = connected(&witness);
        stream.write_all(rubbish).expect("sent");
        let answer = witness.running.wait();
        answer.failed(3, &["does not come from", "hint:"]);
        assert!(!Path::new(&witness.file).exists());
    }
}

#[test]
fn strangers_that_say_nothing_keep_nobody_waiting() {
    let desk = Desk::new();
    let volume = desk.volume();
    let witness = Listening::start(&desk, "patient.witness");
    let (address, _) = witness.place.split_once('/').expect("a token");
    let silent: Vec<TcpStream> = (0..3)
        .map(|_| TcpStream::connect(address).expect("it listens"))
        .collect();
    let more = ["--duration", "200ms"];
    // One after the other, each would have had five seconds: more than a run waits.
    desk.run(&cut(&volume, &witness.place, &more)).done();
    let kept = witness.running.wait().done().json();
    assert_eq!(kept.at("refused_connections").count(), 3);
    drop(silent);
}

/// A witness that was stopped is as good as gone: nothing is recorded any more.
#[test]
fn a_witness_that_is_stopped_ends_the_run() {
    let desk = Desk::new();
    let volume = desk.volume();
    let witness = Listening::start(&desk, "stopped.witness");
    let mut run = desk.start(&cut(&volume, &witness.place, &[]));
    run.until("from now on the power may be cut");
    witness.running.signal(Signal::STOP);
    let answer = run.wait();
    witness.running.signal(Signal::CONT);
    // What was written until then is shown and stored.
    let says = ["the witness is gone", "recorded nothing for 4 s"];
    let answer = answer.ended(3).said(&says);
    let says = ["The power did not fail", "was informed"];
    answer.printed(&says);
    assert_eq!(desk.json(&["history"]).at("measurements").items().len(), 1);
}

/// What is refused is refused before a witness hears of it, and leaves no file behind.
#[test]
fn a_run_that_is_refused_leaves_the_witness_and_the_directory_as_they_are() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let theirs = desk.write("theirs", &"somebody's work\n".repeat(1 << 20));
    let memory = in_memory();
    let file = text(&memory.path().join("cut.witness")).to_owned();
    desk.run(&cut(&volume, &file, &["--size", "1M"]))
        .failed(2, &["too little for 2 writers", "--threads"]);
    desk.run(&cut(&volume, &file, &["--size", "10K"]))
        .failed(2, &["too little for the test file", "--size 1M"]);
    desk.run(&cut(&theirs, &file, &[]))
        .failed(3, &["--overwrite"]);
    let twice = [&cut(&volume, &file, &[])[..], &[&volume]].concat();
    desk.run(&twice).failed(2, &["named twice"]);
    let both = [&cut(&volume, &file, &[])[..], &[&theirs]].concat();
    desk.run(&both).failed(3, &["--overwrite"]);
    assert!(!Path::new(&file).exists());
    assert_eq!(names(&volume), Vec::<String>::new());
    let mut witness = Listening::start(&desk, "waiting.witness");
    desk.run(&cut(&theirs, &witness.place, &[]))
        .failed(3, &["--overwrite"]);
    // It still waits, for the run that is right.
    desk.run(&cut(&volume, &witness.place, &["--duration", "200ms"]))
        .done();
    witness.running.until("Reports come from");
    let kept = witness.running.wait().done().json();
    assert_eq!(kept.at("refused_connections").count(), 0);
}

/// A loop device is as much another disk as the one that its file lies on.
#[test]
fn a_file_may_lie_on_any_disk_but_those_below_the_target() {
    own_process!();
    let needs = ["root", "losetup", "mkfs.ext4", "mount"];
    if !can_run(
        "a_file_may_lie_on_any_disk_but_those_below_the_target",
        &needs,
    ) {
        return;
    }
    let desk = Desk::new();
    let volume = desk.volume();
    let memory = in_memory();
    let backing = memory.path().join("backing");
    let file = std::fs::File::create_new(&backing).expect("a backing file");
    file.set_len(32 << 20).expect("its size");
    let other = Loop::over(backing, memory, &[]);
    let same = Loop::new(32 << 20);
    for (device, is_other) in [(&other, true), (&same, false)] {
        let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], device, &[]);
        let witness = text(&mount.path.join("cut.witness")).to_owned();
        let run = desk.run(&cut(&volume, &witness, &["--duration", "300ms"]));
        if is_other {
            run.done();
            let after = judged(&desk, &witness, &only_file(&volume), 0);
            assert_eq!(after.at("witness.ended").json(), "true");
            std::fs::remove_file(only_file(&volume)).expect("ours");
        } else {
            run.failed(3, &["on the same disk", "hint:"]);
            assert_eq!(names(&volume), Vec::<String>::new());
        }
    }
}
