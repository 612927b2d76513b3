//! `probe` and `profile` of what is mounted, in a cache, or gone in the middle.

use crate::support::slow_array::{Served, SlowArray};
use crate::support::{Desk, Loop, MIB, Mount, can_run, directory, skip, users_file};
use std::time::Duration;

/// Two disks that disappear behind so many reads.
fn disappearing(test: &str, reads_max: u64) -> Option<(Served, Loop)> {
    if !can_run(test, &["root", "losetup", "mount"]) {
        return None;
    }
    let array = SlowArray {
        size_bytes: 512 * MIB,
        disks: 2,
        unit_bytes: 64 << 10,
        first_unit_bytes: 0,
        partition_sector: 63,
        read: Duration::from_millis(2),
        reads_max,
    };
    let Some(served) = Served::start(array) else {
        skip(test, "/dev/fuse");
        return None;
    };
    let device = Loop::over(served.file(), directory(), &["--direct-io=on"]);
    Some((served, device))
}

#[test]
fn of_a_device_that_goes_while_it_is_read_the_profile_is_kept_and_marked() {
    own_process!();
    let test = "of_a_device_that_goes_while_it_is_read_the_profile_is_kept_and_marked";
    // Rereads and visits are some 560 reads, accesses a thousand more.
    let Some((_served, device)) = disappearing(test, 800) else {
        return;
    };
    let desk = Desk::new();
    let answer = desk.run(&["profile", &device.device, "--busy-ok", "--json"]);
    let found = answer.ended(4).json();
    let why = found.at("cut_short").text();
    assert!(why.contains("could be read before"), "{why}");
    assert!(!found.at("accesses").items().is_empty());
    assert_eq!(found.at("rates").items().len(), 0);
    assert_eq!(found.at("spots").items().len(), 0);
    // It is in the store, and says so there as well.
    let id = found.at("id").text();
    let kept = desk.run(&["history", "show", &id]);
    kept.done().printed(&["the device is gone"]);
}

#[test]
fn a_device_that_goes_while_it_is_probed_is_no_answer() {
    own_process!();
    let test = "a_device_that_goes_while_it_is_probed_is_no_answer";
    // Some of them are samples of the data.
    let Some((_served, device)) = disappearing(test, 1_500) else {
        return;
    };
    let desk = Desk::new();
    let probe = ["probe", "stripe", &device.device, "--busy-ok", "--json"];
    let found = desk.run(&probe).ended(4).json();
    assert_eq!(found.at("refused_code").text(), "unreadable");
    let why = found.at("refused").text();
    assert!(why.contains("reads failed"), "{why}");
    assert!(found.at("stripe_unit_bytes").is_null());
    assert!(found.at("reads").count() > 0);
}

#[test]
fn what_is_mounted_may_be_read_and_is_not_changed() {
    own_process!();
    let test = "what_is_mounted_may_be_read_and_is_not_changed";
    if !can_run(test, &["root", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(256 * MIB, &["--direct-io=on"]);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = format!("{}/precious", mount.text());
    let data = users_file(&file, MIB);
    for command in [
        &["profile", "--places", "16"][..],
        &["probe", "stripe"],
        &["probe", "flash"],
    ] {
        let words = [command, &[&device.device, "--busy-ok", "--time", "2s"]].concat();
        desk.run(&words).done();
    }
    // To be written, it may not be mounted, whatever is permitted.
    let fill = ["profile", "--fill", &device.device, "--busy-ok"];
    desk.run(&[&fill[..], &["--destroy", device.name()]].concat())
        .failed(3, &["mounted", mount.text()]);
    assert!(std::fs::read(&file).expect("there") == data);
}
