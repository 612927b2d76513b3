//! `probe stripe --accept`: what timed reads showed of an array that does not tell, and what
//! `disks`, `align` and `advise` make of it.

use crate::support::slow_array::{Served, SlowArray};
use crate::support::{Desk, Loop, MIB, can_run, directory, run, skip, unwrapped};
use rustix::process::Signal;
use std::io::Write;
use std::time::Duration;
use stripewise_store::{Owner, Store};

/// Three disks, units of 64K from byte 5,120 on, and a partition at 63 sectors.
const ARRAY: SlowArray = SlowArray {
    size_bytes: 1 << 30,
    disks: 3,
    unit_bytes: 64 << 10,
    first_unit_bytes: 5_120,
    partition_sector: 63,
    read: Duration::from_millis(3),
    reads_max: u64::MAX,
};

const METHOD: &str = "timed reads (probe stripe)";

#[test]
fn an_accepted_pattern_is_used_and_marked_as_measured() {
    own_process!();
    let test = "an_accepted_pattern_is_used_and_marked_as_measured";
    if !can_run(test, &["root", "losetup", "mount", "partx"]) {
        return;
    }
    let Some(served) = Served::start(ARRAY) else {
        return skip(test, "/dev/fuse");
    };
    let desk = Desk::new();
    let device = Loop::over(served.file(), directory(), &["--direct-io=on"]);
    let partition = first_partition(&device);
    let probe = ["probe", "stripe", &partition, "--accept", "--busy-ok"];
    let found = desk.json(&probe);
    if found.at("stripe_unit_bytes").is_null() {
        // The reads of a machine that is busy with other work show no pattern. That is
        // said, and nothing is kept; to repeat it could take for ever there.
        assert!(!found.at("refused").text().is_empty(), "{found:?}");
        assert!(!found.at("accepted").truth(), "{found:?}");
        let known = desk.run(&["disks", &device.device]);
        assert!(!known.stdout.contains("measured"), "{}", known.stdout);
        return;
    }
    assert_eq!(found.at("stripe_unit_bytes").count(), 65_536, "{found:?}");
    // Byte 32,256 of the device is byte 0 of the partition.
    assert_eq!(found.at("phase_bytes").count(), 5_120 + 65_536 - 32_256);
    assert_eq!(found.at("disks").count(), 3);
    assert!(found.at("accepted").truth());
    is_used_and_marked(&desk, &device, &found.at("measured_at").text());
}

#[test]
fn a_measured_fact_is_used_and_marked_as_one() {
    own_process!();
    let test = "a_measured_fact_is_used_and_marked_as_one";
    if !can_run(test, &["root", "losetup", "partx"]) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(ARRAY.size_bytes));
    std::fs::OpenOptions::new()
        .write(true)
        .open(&device.backing)
        .and_then(|mut file| file.write_all(&ARRAY.table()))
        .expect("a table");
    first_partition(&device);
    let measured_at = "2026-11-23T15:00:00Z";
    keep_as_measured(&desk, &device, measured_at);
    is_used_and_marked(&desk, &device, measured_at);
}

/// The partition of the table, which not all kernels read themselves.
fn first_partition(device: &Loop) -> String {
    run("partx", &["-a", &device.device]);
    format!("{}p1", device.device)
}

/// Keeps what `probe stripe --accept` keeps of [`ARRAY`]: what was given, as measured.
fn keep_as_measured(desk: &Desk, device: &Loop, measured_at: &str) {
    desk.run(&["disks", &device.device, "--stripe-unit", "64K", "--keep"]);
    let owner = Owner::of_this_process("test");
    let mut store = Store::open(&desk.store(), owner).expect("a store");
    let mut kept = store.documents("layout").expect("documents").remove(0);
    let mut facts: serde_json::Value = serde_json::from_str(&kept.json).expect("facts");
    facts["measured"] = serde_json::json!({
        "method": METHOD,
        "measured_at": measured_at,
        "stripe_unit_bytes_interval": [65_536, 65_536],
        "first_unit_bytes": ARRAY.first_unit_bytes,
        "first_unit_bytes_interval": [ARRAY.first_unit_bytes, ARRAY.first_unit_bytes],
        "disks": ARRAY.disks,
        "confidence": 0.999,
    });
    kept.json = facts.to_string();
    store.store_document("layout", &kept).expect("kept");
}

/// Lines are wrapped where the terminal ends.
#[track_caller]
fn says(text: &str, all: &[&str]) {
    let words = unwrapped(text);
    for expected in all {
        assert!(words.contains(expected), "`{expected}` is not in {words}");
    }
}

/// `disks`, `align` and `advise` know the pattern of [`ARRAY`] as measured: method, date and
/// interval.
#[track_caller]
fn is_used_and_marked(desk: &Desk, device: &Loop, measured_at: &str) {
    let (partition, day) = (format!("{}p1", device.device), &measured_at[..10]);
    // The verdict counts from where units begin.
    let looked = desk.run(&["disks", &device.device]).ended(1);
    let found = [
        "measured: stripe unit 64K (65536-65536 bytes) on 3 disks, units begin at byte 5120",
        METHOD,
        day,
        "(32256 - 5120) mod 65536 = 27136 (stripe unit 64K, measured by timed reads)",
        "splits above 512",
    ];
    says(&looked.stdout, &found);
    let seen = desk.run(&["disks", &device.device, "--json"]).json();
    // The file behind it may lie on another loop device.
    let disks = seen.at("disks").items();
    let ours = disks
        .iter()
        .find(|disk| disk.at("name").text() == device.name());
    let fact = ours.expect("it is there").at("given.measured");
    assert_eq!(fact.at("measured_at").text(), measured_at);
    assert_eq!(fact.at("first_unit_bytes").count(), 5_120);
    let interval = fact.at("stripe_unit_bytes_interval").items();
    assert_eq!(interval[1].count(), 65_536);

    // The first start behind 1 MiB at which a unit begins: 16 units on, 1,029K.
    let fact = format!("64K (65536-65536 bytes) is a measured fact: {METHOD}, {day}");
    let align = ["align", &partition, "--read", "--busy-ok", "--anyway"];
    let mut aligning = desk.start(&align);
    aligning.until("is a measured fact");
    aligning.until("1029K");
    says(aligning.said(), &[&fact]);
    aligning.signal(Signal::INT);
    aligning.wait();

    let writes = ["--mix", "random-write=100", "--busy-ok"];
    let advised = desk.run(&[&["advise", &partition][..], &writes].concat());
    let found = [
        "choose offset 1029K",
        "begin at byte 5120, as they were measured here",
        &fact,
    ];
    says(&advised.stdout, &found);

    desk.run(&["disks", &device.device, "--forget"]);
    let forgotten = desk.run(&["disks", &device.device]);
    let message = &forgotten.stdout;
    assert!(!message.contains("measured by timed reads"), "{message}");
}

#[test]
fn without_an_answer_nothing_is_accepted() {
    own_process!();
    let test = "without_an_answer_nothing_is_accepted";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    let probe = ["probe", "stripe", &device.device, "--accept", "--busy-ok"];
    // It is all zeros, which voids what was read.
    let answer = desk.run(&probe).ended(1);
    answer
        .printed(&["No answer"])
        .warned(&["nothing was accepted"]);
    let seen = desk.run(&["disks", &device.device]);
    assert!(!seen.stdout.contains("measured"), "{}", seen.stdout);
}
