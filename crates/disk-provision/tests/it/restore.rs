//! The old table, brought back byte for byte.

use super::support::*;
use std::path::Path;
use stripewise_disk_provision::{ErrorKind, TableKind, plan_restore};

const TOOLS: [&str; 3] = ["root", "losetup", "sfdisk"];

/// Feeds a script to `sfdisk`.
fn sfdisk(device: &Loop, script: &str) {
    let file = device.file("script");
    std::fs::write(&file, script).expect("a script");
    let line = format!(
        "sfdisk -q --wipe always --no-reread --no-tell-kernel {} < {}",
        device.device,
        file.display()
    );
    run("sh", &["-c", &line]);
}

fn restore(device: &Loop, file: &Path, save: &str) {
    let plan = plan_restore(device.path(), file, None).expect("a plan");
    assert_eq!(plan.in_the_way, None);
    device.execute(&plan, save).expect("it is brought back");
}

/// The device is compared byte by byte, again and again: no larger than [`TABLES`] need.
const SIZE: u64 = 12 * MIB;

/// Tables that are there before, as scripts for `sfdisk`.
const TABLES: [(&str, &str); 5] = [
    (
        "gpt",
        "label: gpt\nstart=2048, size=4096\nstart=8192, size=4096\n",
    ),
    (
        "mbr",
        "label: dos\nstart=63, size=4096\nstart=8192, size=4096, bootable\n",
    ),
    (
        "logical",
        "label: dos\nstart=2048, size=4096\nstart=8192, size=12288, type=5\nstart=10240, \
         size=2048\nstart=14336, size=2048\n",
    ),
    (
        "many",
        "label: gpt\ntable-length: 256\nstart=2048, size=4096\n",
    ),
    ("none", ""),
];

/// Something recognisable everywhere: each sector has a number.
fn noise(bytes: u64) -> Vec<u8> {
    let mut noise = Vec::new();
    for sector in 0..bytes / 512 {
        noise.extend_from_slice(&[(sector % 251) as u8; 512]);
    }
    noise
}

/// Every table is written over by one of this kind, and brought back.
fn old_tables_come_back_from_under(table: TableKind) {
    let noise = noise(SIZE);
    for (kind, script) in TABLES {
        let device = Loop::new(SIZE);
        // It must survive.
        std::fs::write(&device.device, &noise).expect("noise");
        if !script.is_empty() {
            sfdisk(&device, script);
        }
        let before = device.bytes();
        device.make("64K", table, "old");
        assert!(device.bytes() != before);
        restore(&device, &device.file("old"), "new");
        assert!(device.bytes() == before, "{kind} under {table:?}");
        // And the new one, from what the restoring saved.
        restore(&device, &device.file("new"), "old-again");
        assert_eq!(run("partx", &["-g", "-o", "START", &device.device]), "128");
    }
}

#[test]
fn old_tables_of_all_kinds_come_back_byte_for_byte_from_under_a_gpt() {
    own_process!();
    if can_run("old_tables_of_all_kinds", &TOOLS) {
        old_tables_come_back_from_under(TableKind::Gpt);
    }
}

#[test]
fn old_tables_of_all_kinds_come_back_byte_for_byte_from_under_an_mbr() {
    own_process!();
    if can_run("old_tables_of_all_kinds", &TOOLS) {
        old_tables_come_back_from_under(TableKind::Mbr);
    }
}

#[test]
fn logical_partitions_are_shown_by_the_kernel_again() {
    own_process!();
    if !can_run("logical_partitions_are_shown", &TOOLS) {
        return;
    }
    let device = Loop::new(64 * MIB);
    sfdisk(
        &device,
        "label: dos\nstart=2048, size=4096\nstart=8192, size=65536, type=5\nstart=10240, size=8192\n",
    );
    device.make("1M", TableKind::Gpt, "old");
    let plan = plan_restore(device.path(), &device.file("old"), None).unwrap();
    let numbers: Vec<u32> = plan.partitions.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2, 5]);
    let report = device.execute(&plan, "new").unwrap();
    let names: Vec<&str> = report
        .partitions
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let want: Vec<String> = [1, 2, 5]
        .map(|number| format!("{}p{number}", device.name()))
        .to_vec();
    assert_eq!(names, want);
}

#[test]
fn a_file_of_another_size_or_damaged_is_refused_and_nothing_is_written() {
    own_process!();
    if !can_run("a_file_of_another_size", &TOOLS) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Gpt, "old");
    let file = device.file("old");
    for (other, kind) in [
        (Loop::new(65 * MIB), ErrorKind::Refused),
        (
            Loop::with(64 * MIB, &["--sector-size", "4096"]),
            ErrorKind::Refused,
        ),
    ] {
        let error = plan_restore(other.path(), &file, None).unwrap_err();
        assert_eq!(error.kind, kind);
        assert_mentions(&error, &["saved from", "another disk"]);
    }
    let damaged = device.file("damaged");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &damaged,
        text.replacen("\"offset_bytes\": 0", "\"offset_bytes\": 512", 1),
    )
    .unwrap();
    let error = plan_restore(device.path(), &damaged, None).unwrap_err();
    assert_mentions(&error, &["damaged"]);
    let error = plan_restore(device.path(), Path::new("/etc/hostname"), None).unwrap_err();
    assert_mentions(&error, &["is not a saved partition table"]);
    assert_eq!(error.kind, ErrorKind::Usage);
}

#[test]
fn a_file_that_exists_is_never_saved_over_and_stops_everything() {
    own_process!();
    if !can_run("a_file_that_exists", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let save = device.file("old");
    std::fs::write(&save, "mine").unwrap();
    let before = device.bytes();
    let plan =
        stripewise_disk_provision::plan_partition(device.path(), &spec("1M", TableKind::Gpt), None)
            .unwrap();
    let error = device.execute(&plan, "old").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert_mentions(&error, &["cannot be saved", "--save FILE"]);
    assert!(device.bytes() == before);
    assert_eq!(std::fs::read_to_string(&save).unwrap(), "mine");
}

#[test]
fn where_the_old_table_cannot_be_saved_nothing_is_written() {
    own_process!();
    if !can_run("where_the_old_table", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    std::fs::write(device.file("plain"), "mine").unwrap();
    let before = device.bytes();
    let plan =
        stripewise_disk_provision::plan_partition(device.path(), &spec("1M", TableKind::Gpt), None)
            .unwrap();
    for (name, kind) in [
        // Its directory is a file; its name is invalid; and a directory without write permission.
        ("plain/new".to_owned(), ErrorKind::Usage),
        (".".to_owned(), ErrorKind::Usage),
        ("/proc/new".to_owned(), ErrorKind::Usage),
        ("n".repeat(300), ErrorKind::Usage),
        ("/sys/kernel/new".to_owned(), ErrorKind::Unusable),
    ] {
        let error = device.execute(&plan, &name).unwrap_err();
        // Neither is an I/O error of a run (exit code 4).
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert_mentions(&error, &["cannot be saved", "--save FILE"]);
    }
    assert!(device.bytes() == before);
}

#[test]
fn a_pipe_and_a_huge_file_are_no_saved_tables() {
    own_process!();
    if !can_run("a_pipe_and_a_huge_file", &["root", "losetup", "mkfifo"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let pipe = device.file("pipe");
    run("mkfifo", &[&pipe.display().to_string()]);
    let huge = device.file("huge");
    std::fs::File::create(&huge)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    for (path, words) in [(&pipe, "is not a file"), (&huge, "is too large")] {
        let error = plan_restore(device.path(), path, None).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_mentions(&error, &[words]);
    }
}
