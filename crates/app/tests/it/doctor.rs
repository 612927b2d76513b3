//! `doctor TARGET`: one block is read as a run would read it, and nothing is written.

use crate::support::{Desk, Json, Loop, MIB, can_run, users_file};
use std::os::unix::fs::MetadataExt;

/// What it found about reading, in order.
fn reads(document: &Json) -> Vec<(bool, String)> {
    let checks = document.at("checks").items();
    let reads = checks
        .iter()
        .filter(|check| check.at("name").text() == "read");
    reads
        .map(|check| (check.at("good").truth(), check.at("found").text()))
        .collect()
}

fn check_readable(found: &[(bool, String)]) {
    assert!(
        !found.is_empty() && found.iter().all(|(good, _)| *good),
        "{found:?}"
    );
    let says = "one block through threads works";
    assert!(found.iter().any(|(_, what)| what == says), "{found:?}");
}

#[test]
fn doctor_reads_one_block_of_a_file_through_every_engine_and_changes_nothing() {
    let desk = Desk::new();
    let file = desk.file("data");
    let before = users_file(&file, 64 << 10);
    let times = |path: &str| {
        let found = std::fs::metadata(path).expect("there");
        (found.mtime_nsec(), found.ctime_nsec(), found.ino())
    };
    let made = times(&file);
    check_readable(&reads(&desk.json(&["doctor", &file])));
    desk.run(&["doctor", &file])
        .done()
        .printed(&["one block through"]);
    desk.run(&["doctor", "--engine", &file]).done().printed(&[
        "clock: ",
        "system call: ",
        "timer: ",
        // Counted, or not as others use the disk.
        "batches: ",
    ]);
    assert_eq!(std::fs::read(&file).expect("readable"), before);
    assert_eq!(times(&file), made);
}

#[test]
fn doctor_reads_no_directory_and_says_so() {
    let desk = Desk::new();
    let found = reads(&desk.json(&["doctor", &desk.volume()]));
    assert_eq!(found.len(), 1);
    assert!(found[0].0 && found[0].1.contains("not tried"), "{found:?}");
    desk.run(&["doctor", "--engine", &desk.volume()])
        .done()
        .printed(&["batches: not counted"]);
}

#[test]
fn doctor_names_a_directory_that_no_test_file_fits_in() {
    let desk = Desk::new();
    let checks = desk.json(&["doctor", "/proc"]).at("checks").items();
    let message = checks
        .iter()
        .find(|check| check.at("name").text() == "test file");
    let message = message.expect("a test file is spoken of");
    assert!(!message.at("good").truth());
    assert!(!message.at("hint").text().is_empty());
}

#[test]
fn doctor_reads_a_device() {
    own_process!();
    if !can_run("doctor_reads_a_device", &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(16 * MIB);
    check_readable(&reads(&desk.json(&["doctor", &device.device])));
}

#[test]
fn what_doctor_cannot_read_is_a_target_that_cannot_be_used() {
    let desk = Desk::new();
    let empty = desk.write("empty", "");
    for (path, says) in [
        (empty.as_str(), "is empty"),
        ("/proc/version", "not storage"),
    ] {
        let answer = desk.run(&["doctor", path]).ended(3);
        assert!(answer.stdout.contains("warn read:"), "{}", answer.stdout);
        assert!(answer.stdout.contains("hint:"), "{}", answer.stdout);
        let document = desk.run(&["--json", "doctor", path]).ended(3).json();
        let found = reads(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].0 && found[0].1.contains(says), "{found:?}");
    }
}
