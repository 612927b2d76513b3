//! `partition` as a user runs it, on loop devices of its own.

use crate::support::*;

const TOOLS: [&str; 3] = ["root", "losetup", "sfdisk"];

/// Removes partitions that were made on a loop device, which outlive it.
pub struct Partitions<'a>(pub &'a Loop);

impl Drop for Partitions<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("partx")
            .args(["-d", &self.0.device])
            .output();
    }
}

fn bytes(device: &Loop) -> Vec<u8> {
    run("blockdev", &["--flushbufs", &device.device]);
    read_by_another(&device.device)
}

/// Where the report says that the old table is.
fn saved_in(report: &str) -> String {
    let (_, path) = report.split_once("--restore ").expect("a way back");
    path.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_plan_is_printed_and_nothing_is_written_without_leave() {
    own_process!();
    if !can_run("a_plan_is_printed", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(64 * MIB));
    let before = bytes(&device);
    let answer = desk
        .run(&["partition", &device.device, "--align", "64K"])
        .done()
        .printed(&[
            "Plan for",
            "nothing known",
            "65,536 bytes (64 KiB), sector 128",
            "protective MBR",
            &format!("To do it, add: --yes --destroy {}", device.name()),
        ]);
    assert!(
        answer
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100),
        "{}",
        answer.stdout
    );
    // The name alone is not enough.
    desk.run(&[
        "partition",
        &device.device,
        "--align",
        "64K",
        "--destroy",
        device.name(),
    ])
    .done();
    let plan = desk.json(&[
        "partition",
        &device.device,
        "--align",
        "63s",
        "--table",
        "mbr",
    ]);
    assert!(!plan.at("done").truth());
    assert_eq!(plan.at("plan.layout.start_bytes").count(), 32_256);
    assert_eq!(plan.at("plan.device.name").text(), device.name());
    assert!(plan.at("plan.judgement.checks").items().len() < 20);
    let line = [
        "partition",
        &device.device,
        "--align",
        "64K",
        "--stripe-unit",
        "256K",
    ];
    let judged = desk.json(&line);
    assert_eq!(judged.at("plan.judgement.verdict").text(), "splits-above");
    assert_eq!(judged.at("plan.judgement.verdict_bytes").count(), 64 << 10);
    assert!(bytes(&device) == before);
}

#[test]
fn a_partition_is_made_where_it_was_asked_for_and_the_old_table_comes_back() {
    own_process!();
    if !can_run("a_partition_is_made", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(64 * MIB));
    let _partitions = Partitions(&device);
    let leave = ["--yes", "--destroy", device.name()];
    let mut before = bytes(&device);
    let mut saved = Vec::new();
    for (align, table, start) in [
        ("63s", "mbr", 32_256),
        ("36K", "gpt", 36_864),
        ("1M", "gpt", MIB),
    ] {
        let line = [
            "partition",
            &device.device,
            "--align",
            align,
            "--table",
            table,
        ];
        let made = desk.json(&[&line[..], &leave].concat());
        assert!(made.at("done").truth());
        let partition = &made.at("report.partitions").items()[0];
        assert_eq!(partition.at("start_bytes").count(), start);
        let name = partition.at("name").text();
        let shown = std::fs::read_to_string(format!("/sys/class/block/{name}/start"));
        assert_eq!(
            shown.expect("it is shown").trim(),
            (start / 512).to_string()
        );
        let listed = run("sfdisk", &["-J", &device.device]);
        assert!(
            listed.contains(&format!("\"start\": {}", start / 512)),
            "{listed}"
        );
        saved.push((made.at("report.saved").text(), before));
        before = bytes(&device);
    }
    let again = ["partition", &device.device, "--align", "1M"];
    let answer = desk.run(&[&again[..], &leave].concat()).done();
    let all = format!("{}{}", answer.stderr, answer.stdout);
    assert_eq!(all.matches("verdict").count(), 1, "{all}");
    saved.push((saved_in(&answer.stdout), before));
    for (file, want) in saved.into_iter().rev() {
        assert!(file.contains("partition-tables"), "{file}");
        let line = ["partition", &device.device, "--restore", &file];
        let plan = desk.run(&line).done();
        plan.printed(&["the table that was saved from"]);
        let answer = desk.run(&[&line[..], &leave].concat()).done();
        // The verdict is of what was read back, not of the plan as well.
        assert!(!answer.stderr.contains("verdict"), "{}", answer.stderr);
        answer.printed(&["Restored the saved table"]);
        assert!(bytes(&device) == want, "{file}");
    }
}

#[test]
fn what_is_in_use_or_not_named_is_refused_with_three() {
    own_process!();
    if !can_run(
        "what_is_in_use_or_not_named",
        &["root", "losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(64 * MIB));
    let line = ["partition", &device.device, "--align", "1M"];
    let with = |more: &[&str]| desk.run(&[&line[..], more].concat());
    with(&["--yes"]).failed(2, &["--yes needs --destroy NAME"]);
    with(&["--yes", "--destroy", "sda"]).failed(3, &["does not name this device", device.name()]);
    with(&["--save", "/proc/x/y", "--yes", "--destroy", device.name()]).failed(
        2,
        &["/proc/x/y: the old partition table cannot be saved here"],
    );
    with(&[
        "--save",
        "/sys/kernel/x",
        "--yes",
        "--destroy",
        device.name(),
    ])
    .failed(
        3,
        &["/sys/kernel/x: the old partition table cannot be saved here"],
    );
    let mount = Mount::made(&["mkfs.ext4", "-q"], &device, &["-o", "ro"]);
    let before = bytes(&device);
    with(&["--yes", "--destroy", device.name()]).failed(3, &["is mounted at", mount.text()]);
    // The plan alone ends as doing it would.
    with(&[]).ended(3).printed(&[
        "in the way",
        "an ext4 file system on the whole of it",
        "it would be refused",
    ]);
    assert!(bytes(&device) == before);
}

#[test]
fn what_makes_no_sense_is_refused_with_two() {
    own_process!();
    if !can_run("what_makes_no_sense", &["root", "losetup"]) {
        return;
    }
    let (desk, device) = (
        Desk::new(),
        Loop::with(64 * MIB, &["--sector-size", "4096"]),
    );
    let path = &device.device;
    desk.run(&["partition", path]).failed(2, &["--align"]);
    desk.run(&["partition", path, "--align", "63s"])
        .failed(2, &["4096 bytes", "28K and 32K"]);
    desk.run(&["partition", path, "--align", "1M", "--size", "1G"])
        .failed(2, &["less than the 1 GiB asked for"]);
    desk.run(&["partition", path, "--align", "1M", "--restore", "x"])
        .failed(2, &["cannot be used with"]);
    desk.run(&["partition", path, "--restore", "/no/such/file"])
        .failed(2, &["/no/such/file"]);
    let mine = desk.write("mine", "mine");
    desk.run(&[
        "partition",
        path,
        "--align",
        "1M",
        "--save",
        &mine,
        "--yes",
        "--destroy",
        device.name(),
    ])
    .failed(2, &["cannot be saved", "--save FILE"]);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
}
