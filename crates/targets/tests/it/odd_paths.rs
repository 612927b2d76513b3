//! Paths that lead to no storage: clear errors, no hanging, no side effects.

use crate::support::*;
use std::path::Path;
use stripewise_targets::ErrorKind::{NotFound, TooManyOutstanding, Unusable, Usage};
use stripewise_targets::{Intent, PlanContext, TargetName};

#[test]
fn what_is_no_storage_says_what_it_is_at_once() {
    own_process!();
    let top = directory();
    let fifo = top.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .expect("a fifo");
    let socket = top.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let cases: [(&Path, &str); 8] = [
        (&fifo, "named pipe"),
        (&socket, "socket"),
        (Path::new("/dev/null"), "character device"),
        (Path::new("/dev/zero"), "character device"),
        (Path::new("/proc/version"), "proc"),
        (Path::new("/proc"), "proc"),
        (Path::new("/sys/kernel"), "sysfs"),
        (Path::new("/sys/kernel/uevent_seqnum"), "sysfs"),
    ];
    for (path, expected_text) in cases {
        for intent in [reading(), overwriting()] {
            refused(plan(path, &intent), Unusable, expected_text);
        }
    }
}

#[test]
fn paths_that_lead_nowhere_say_why() {
    own_process!();
    let top = directory();
    let file = users_file(top.path(), "file", 4096);
    let broken = top.path().join("broken");
    std::os::unix::fs::symlink("gone", &broken).expect("a link");
    let circle = top.path().join("circle");
    std::os::unix::fs::symlink("circle", &circle).expect("a link");
    let cases = [
        (top.path().join("gone"), "does not exist"),
        (broken, "symbolic link to gone"),
        (circle, "circle"),
        (file.join("below"), "Check the spelling"),
    ];
    for (path, expected_text) in cases {
        refused(plan(&path, &reading()), NotFound, expected_text);
    }
    let long = top.path().join("x".repeat(300));
    assert!(plan(&long, &reading()).is_err());
}

#[test]
fn a_file_that_vanishes_after_the_plan_is_an_error_and_not_made_again() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "file", 1 << 16);
    for intent in [reading(), overwriting()] {
        let planned = plan(&path, &intent).expect("there");
        std::fs::remove_file(&path).expect("gone");
        refused(prepare(planned), NotFound, "does not exist");
        assert!(!path.exists());
        users_file(top.path(), "file", 1 << 16);
    }
}

#[test]
fn more_than_256_in_flight_must_be_asked_for_by_number() {
    own_process!();
    let top = directory();
    let path = users_file(top.path(), "file", 4096);
    let intent = |outstanding_total, outstanding_by_number| Intent {
        outstanding_total,
        outstanding_by_number,
        ..reading()
    };
    plan(&path, &intent(256, false)).expect("256 are no secret");
    refused(plan(&path, &intent(257, false)), TooManyOutstanding, "257");
    plan(&path, &intent(65_536, true)).expect("asked for by number");
}

#[test]
fn simulated_targets_and_datasets_are_not_opened_here() {
    own_process!();
    for name in ["sim:hdd", "dataset:x"] {
        let name: TargetName = name.parse().expect("a name");
        let error = stripewise_targets::plan(&name, &reading(), &PlanContext::none());
        assert_eq!(error.expect_err("no storage").kind, Usage);
    }
}
