//! Tables: what other tools and the kernel see in them.

use super::support::*;
use stripewise_disk_inspect::verdict::LayoutVerdict;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_disk_provision::{ErrorKind, PartitionOptions, Purpose, TableKind, plan_partition};

const TOOLS: [&str; 3] = ["root", "losetup", "sfdisk"];

/// What `sfdisk` says of the only partition: label, sector, start and size.
#[track_caller]
fn sfdisk(device: &str) -> (String, u64, u64, u64) {
    let text = run("sfdisk", &["-J", device]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let table = &value["partitiontable"];
    let partitions = table["partitions"].as_array().expect("partitions");
    assert_eq!(partitions.len(), 1, "{text}");
    let sector = table["sectorsize"].as_u64().unwrap_or(512);
    let number = |name: &str| partitions[0][name].as_u64().expect("a number") * sector;
    let label = table["label"].as_str().expect("a label").to_owned();
    (label, sector, number("start"), number("size"))
}

#[test]
fn every_alignment_in_either_table_is_what_sfdisk_and_the_kernel_see() {
    own_process!();
    if !can_run("every_alignment_in_either_table", &TOOLS) {
        return;
    }
    for (sector, aligns) in [
        (
            "512",
            &[
                ("63s", 32_256),
                ("31.5K", 32_256),
                ("36K", 36_864),
                ("64K", 65_536),
                ("1M", MIB),
            ][..],
        ),
        ("4096", &[("36K", 36_864), ("64K", 65_536), ("1M", MIB)][..]),
    ] {
        let device = Loop::with(64 * MIB, &["--sector-size", sector]);
        let mut count = 0;
        for (table, label) in [(TableKind::Gpt, "gpt"), (TableKind::Mbr, "dos")] {
            for (align, start) in aligns {
                count += 1;
                let report = device.make(align, table, &format!("old-{count}"));
                let case = format!("{align} {table:?} {sector}");
                let made = &report.partitions[0];
                assert_eq!(made.start_bytes, *start, "{case}");
                assert_eq!(made.name, format!("{}p1", device.name()), "{case}");
                let want = (
                    label.to_owned(),
                    sector.parse().unwrap(),
                    *start,
                    made.size_bytes,
                );
                assert_eq!(sfdisk(&device.device), want, "{case}");
                let shown = System::live()
                    .device_named(&made.name)
                    .expect("the kernel shows it");
                assert_eq!(
                    shown.partition.map(|place| place.start_bytes),
                    Some(*start),
                    "{case}"
                );
                assert_eq!(shown.size_bytes, made.size_bytes, "{case}");
                assert!(report.saved.as_ref().is_some_and(|file| file.exists()));
            }
        }
        run("sfdisk", &["--verify", &device.device]);
    }
}

#[test]
fn other_tools_find_nothing_wrong() {
    own_process!();
    if !can_run(
        "other_tools_find_nothing_wrong",
        &["root", "losetup", "sgdisk", "parted"],
    ) {
        return;
    }
    let device = Loop::new(64 * MIB);
    for (table, align) in [
        (TableKind::Gpt, "1M"),
        (TableKind::Mbr, "64K"),
        (TableKind::Gpt, "63s"),
    ] {
        device.make(align, table, &format!("old-{align}"));
        let parted = run(
            "parted",
            &[
                "--script",
                "--machine",
                &device.device,
                "unit",
                "B",
                "print",
            ],
        );
        let start = format!("1:{}B:", spec(align, table).align_bytes);
        assert!(parted.contains(&start), "{parted}");
        if table == TableKind::Gpt {
            let checked = run("sgdisk", &["--verify", &device.device]);
            assert!(checked.contains("No problems found"), "{checked}");
        }
    }
}

#[test]
fn size_and_type_are_as_asked_for() {
    own_process!();
    if !can_run("size_and_type_are_as_asked_for", &TOOLS) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let requested = PartitionOptions {
        size_bytes: Some(10 * MIB),
        purpose: Purpose::Windows,
        ..spec("64K", TableKind::Mbr)
    };
    let plan = plan_partition(device.path(), &requested, None).unwrap();
    assert!(plan.present.is_empty());
    device.execute(&plan, "old").unwrap();
    let (_, _, start, size) = sfdisk(&device.device);
    assert_eq!((start, size), (65_536, 10 * MIB));
    let text = run("sfdisk", &["-J", &device.device]);
    assert!(text.contains("\"type\": \"7\""), "{text}");
}

#[test]
fn a_plan_writes_nothing_and_tells_what_would_be_lost() {
    own_process!();
    if !can_run("a_plan_writes_nothing", &["root", "losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Mbr, "old");
    run("mkfs.ext4", &["-q", "-L", "orders", &device.partition()]);
    let before = device.bytes();
    let plan = plan_partition(device.path(), &spec("63s", TableKind::Gpt), None).unwrap();
    assert!(device.bytes() == before, "a plan only reads");
    assert_eq!(plan.present.table.as_deref(), Some("mbr"));
    let lost = &plan.present.partitions[0];
    assert_eq!((lost.number, lost.start_bytes), (1, MIB));
    assert_eq!(
        lost.holds.as_deref(),
        Some("an ext4 file system with the label `orders`")
    );
    assert_eq!(plan.layout.unwrap().start_bytes, 32_256);
    // 63 sectors are inside a physical sector of 4 KiB, not of 512 bytes.
    let verdict = plan.judgement.unwrap().verdict;
    let physical = plan.device.physical_sector_bytes;
    assert_eq!(
        verdict == LayoutVerdict::SectorSplit,
        physical == 4096,
        "{verdict:?}"
    );
}

#[test]
fn nothing_of_what_was_there_comes_to_light_again() {
    own_process!();
    let needs = [
        "root",
        "losetup",
        "mkfs.btrfs",
        "mkfs.xfs",
        "blkid",
        "sgdisk",
    ];
    if !can_run("nothing_of_what_was_there", &needs) {
        return;
    }
    let blkid = |device: &str| {
        let found = std::process::Command::new("blkid")
            .args(["--probe", device])
            .output();
        String::from_utf8_lossy(&found.expect("blkid").stdout).into_owned()
    };
    // A file system on the whole device.
    let device = Loop::new(128 * MIB);
    run("mkfs.btrfs", &["-q", &device.device]);
    let report = device.make("1M", TableKind::Mbr, "old-1");
    assert!(!blkid(&device.device).contains("btrfs"));
    assert!(blkid(&device.device).contains("PTTYPE=\"dos\""));
    // A file system at the place of the new partition, under a GPT that goes.
    device.make("1M", TableKind::Gpt, "old-2");
    run("mkfs.ext4", &["-q", &device.partition()]);
    device.make("1M", TableKind::Mbr, "old-3");
    assert!(!blkid(&device.partition()).contains("ext4"));
    let gdisk = std::process::Command::new("sgdisk")
        .args(["-p", &device.device])
        .output();
    let described = String::from_utf8_lossy(&gdisk.expect("sgdisk").stdout).into_owned();
    assert!(
        described.contains("GPT: not present") || described.contains("converting MBR"),
        "{described}"
    );
    assert_eq!(report.partitions.len(), 1);
}

#[test]
fn what_the_sectors_cannot_have_is_refused_with_the_nearest() {
    own_process!();
    if !can_run("what_the_sectors_cannot_have", &["root", "losetup"]) {
        return;
    }
    let device = Loop::with(64 * MIB, &["--sector-size", "4096"]);
    let error = plan_partition(device.path(), &spec("63s", TableKind::Gpt), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert_mentions(&error, &["31.5K", "4096 bytes", "nearest are 28K and 32K"]);
}

#[test]
fn a_write_error_half_way_says_how_to_go_back() {
    own_process!();
    let needs = ["root", "losetup", "mount"];
    if !can_run("a_write_error_half_way", &needs) {
        return;
    }
    // A sparse backing file on a file system that is full: writes of new blocks
    // fail below the loop device.
    let small = Mount::new(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
    let backing = small.path.join("backing");
    std::fs::File::create_new(&backing)
        .unwrap()
        .set_len(64 * MIB)
        .unwrap();
    let device = Loop::over(backing, directory(), &[]);
    let filler = vec![1u8; 256 << 10];
    // As much as fits; the rest is what fails.
    let _ = std::fs::write(small.path.join("filler"), &filler);
    let plan = plan_partition(device.path(), &spec("1M", TableKind::Gpt), None).unwrap();
    let error = device.execute(&plan, "old").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io);
    let restore = format!("--restore {}", device.file("old").display());
    assert_mentions(
        &error,
        &["failed (", "written before it", &restore, "--yes --destroy"],
    );
    assert!(device.file("old").exists());
}
