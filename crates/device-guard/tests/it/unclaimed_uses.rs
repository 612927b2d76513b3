//! A device that a process uses without a claim and without a descriptor in
//! `/proc/PID/fd` is not free.

use crate::machine::{Loop, can_run, skip_kernel};
use crate::user::User;
use std::path::Path;
use stripewise_device_guard::ErrorKind;
use stripewise_device_guard::claims::Availability;
use stripewise_device_guard::device::{Device, Permission};

/// The refusal of writing to a device that is used in this way, whatever switches are given;
/// checks that it is free before and afterwards.
fn check(test: &str, way: &str, expected_text: &str) {
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(8 << 20);
    let found = Device::find(device.path()).expect("found");
    let permission = Permission {
        destroy: Some(device.name()),
        unseen_ok: true,
        store: None,
    };
    found.judge(&permission).expect("free");
    let Some(user) = User::start(way, device.path()) else {
        return skip_kernel(test, way);
    };
    let error = found.judge(&permission).expect_err(way);
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
    let expected_text = format!("(pid {}{expected_text})", user.pid());
    assert!(error.what.contains(&expected_text), "{error}");
    drop(user);
    found.judge(&permission).expect("free again");
}

#[test]
fn a_mapped_device_is_refused() {
    own_process!();
    check(
        "a_mapped_device_is_refused",
        "mapped",
        "; mapped into memory",
    );
}

#[test]
fn a_device_registered_with_io_uring_is_refused() {
    own_process!();
    let test = "a_device_registered_with_io_uring_is_refused";
    check(test, "registered", "; registered with io_uring");
}

#[test]
fn a_device_open_in_a_thread_alone_is_refused() {
    own_process!();
    check("a_device_open_in_a_thread_alone_is_refused", "thread", "");
}

/// The node that was used may have any name, and none any more.
#[test]
fn the_name_of_a_mapped_device_does_not_matter() {
    own_process!();
    const TEST: &str = "the_name_of_a_mapped_device_does_not_matter";
    if !can_run(TEST, &["root", "losetup", "mknod"]) {
        return;
    }
    let device = Loop::new(8 << 20);
    let found = Device::find(device.path()).expect("found");
    // Where devices can be opened: a temporary file system may forbid it.
    let node = format!("/dev/{TEST}-{}", std::process::id());
    let number = found.number;
    let (major, minor) = (number.major.to_string(), number.minor.to_string());
    crate::machine::run("mknod", &[&node, "b", &major, &minor]);
    let user = User::start("mapped", Path::new(&node));
    std::fs::remove_file(&node).expect("it is removed");
    let Some(user) = user else {
        return skip_kernel(TEST, "mapped");
    };
    let reason = found.availability(None).in_the_way().expect("it is used");
    assert!(
        reason.contains(&format!("(pid {}; mapped", user.pid())),
        "{reason}"
    );
}

/// What is in flight cannot be looked up: it is for the user to say that it is another
/// device.
#[test]
fn while_a_descriptor_is_in_flight_no_device_is_taken_to_be_free() {
    own_process!();
    const TEST: &str = "while_a_descriptor_is_in_flight_no_device_is_taken_to_be_free";
    if !can_run(TEST, &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(8 << 20);
    let found = Device::find(device.path()).expect("found");
    let Some(user) = User::start("in-flight", device.path()) else {
        return skip_kernel(TEST, "scm_fds in fdinfo");
    };
    match found.availability(None) {
        Availability::Unverified(_) => {}
        other => panic!("{other:?}"),
    }
    drop(user);
}
