//! `format` as a user runs it, on loop devices of its own.

use crate::support::*;

#[test]
fn a_file_system_has_the_allocation_unit_and_the_stripes_that_were_asked_for() {
    own_process!();
    if !can_run(
        "a_file_system_has_the_allocation_unit",
        &["root", "losetup", "mkfs.ext4", "tune2fs"],
    ) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(64 * MIB));
    let line = [
        "format",
        &device.device,
        "--fs",
        "ext4",
        "--allocation-unit",
        "4K",
        "--stripe-unit",
        "64K",
        "--stripe-disks",
        "4",
    ];
    let plan = desk.run(&line).done();
    assert!(
        plan.stdout
            .contains("mkfs.ext4 -q -b 4096 -E stride=16,stripe_width=64"),
        "{}",
        plan.stdout
    );
    assert!(
        plan.stdout.lines().all(|line| line.chars().count() <= 100),
        "{}",
        plan.stdout
    );
    let made = desk.json(&[&line[..], &["--yes", "--destroy", device.name()]].concat());
    assert_eq!(made.at("report.allocation_unit_bytes").count(), 4096);
    assert_eq!(made.at("report.stripe_unit_bytes").count(), 64 << 10);
    assert_eq!(made.at("report.stripe_width_bytes").count(), 256 << 10);
    let shown_text = run("tune2fs", &["-l", &device.device]);
    assert!(
        shown_text.contains("Block size:               4096"),
        "{shown_text}"
    );
    // Now there is something to lose, and the plan says so.
    let plan = desk.run(&line).done();
    assert!(
        plan.stdout
            .contains("an ext4 file system on the whole of it"),
        "{}",
        plan.stdout
    );
}

#[test]
fn what_is_mounted_or_makes_no_sense_is_refused() {
    own_process!();
    if !can_run(
        "what_is_mounted_or_makes_no_sense",
        &["root", "losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(64 * MIB));
    let line = [
        "format",
        &device.device,
        "--fs",
        "ext4",
        "--allocation-unit",
    ];
    let with = |more: &[&str]| desk.run(&[&line[..], more].concat());
    let leave = ["--yes", "--destroy", device.name()];
    with(&["3K"]).failed(2, &["not a power of two"]);
    with(&["4K", "--stripe-unit", "64K"]).failed(2, &["--stripe-disks"]);
    with(&["4K", "--yes"]).failed(2, &["--yes needs --destroy NAME"]);
    let _mount = Mount::made(&["mkfs.ext4", "-q"], &device, &["-o", "ro"]);
    let before = std::fs::read(&device.device).unwrap();
    with(&[&["4K"], &leave[..]].concat()).failed(3, &["is mounted at"]);
    let plan = with(&["4K"]).ended(3);
    assert!(plan.stdout.contains("would be refused"), "{}", plan.stdout);
    assert!(std::fs::read(&device.device).unwrap() == before);
}
