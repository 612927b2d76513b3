//! File systems: made, read back by their own tools, mounted.

use super::support::*;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stripewise_disk_provision::{
    ErrorKind, FileSystemKind, FormatOptions, FormatReport, Stripe, TableKind, plan_format,
};

fn format_options(
    file_system: FileSystemKind,
    unit: u64,
    stripe: Option<(u64, u32)>,
) -> FormatOptions {
    FormatOptions {
        file_system,
        allocation_unit_bytes: unit,
        stripe: stripe.map(|(unit_bytes, data_disks)| Stripe {
            unit_bytes,
            data_disks,
        }),
    }
}

/// A disk with a partition at 64 KiB.
fn partitioned(bytes: u64) -> Loop {
    let device = Loop::new(bytes);
    device.make("64K", TableKind::Gpt, "old");
    device
}

#[track_caller]
fn make(device: &Loop, spec: &FormatOptions) -> FormatReport {
    let partition = device.partition();
    let plan = plan_format(Path::new(&partition), spec, None).expect("a plan");
    assert_eq!(plan.in_the_way, None);
    let name = partition.strip_prefix("/dev/").unwrap();
    let report = format_as(&plan, name);
    let report = report.unwrap_or_else(|error| panic!("{error}: {:?}", error.hint()));
    assert_eq!(
        report.allocation_unit_bytes,
        Some(spec.allocation_unit_bytes)
    );
    assert_eq!(
        (report.offset_bytes, report.offset_disk.as_str()),
        (65_536, device.name())
    );
    report
}

/// It is mounted, written to and read.
#[track_caller]
fn can_be_mounted(device: &Loop) {
    let mount = Mount::new(&[&device.partition()]);
    std::fs::write(mount.path.join("file"), "data").expect("it can be written");
    assert_eq!(
        std::fs::read_to_string(mount.path.join("file")).expect("and read"),
        "data"
    );
}

#[test]
fn ext4_has_its_block_its_cluster_and_its_stripe() {
    own_process!();
    if !can_run(
        "ext4_has_its_block",
        &["root", "losetup", "mkfs.ext4", "tune2fs"],
    ) {
        return;
    }
    let device = partitioned(128 * MIB);
    for (unit, stripe, lines) in [
        (1024, None, &["Block size: 1024"][..]),
        (
            4096,
            Some((64 << 10, 4)),
            &[
                "Block size: 4096",
                "RAID stride: 16",
                "RAID stripe width: 64",
            ][..],
        ),
        (
            64 << 10,
            None,
            &["Block size: 4096", "Cluster size: 65536"][..],
        ),
    ] {
        make(&device, &format_options(FileSystemKind::Ext4, unit, stripe));
        let reported = run("tune2fs", &["-l", &device.partition()]);
        let reported: String = reported.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in lines {
            assert!(reported.contains(line), "`{line}` is not in {reported}");
        }
        can_be_mounted(&device);
    }
}

#[test]
fn xfs_has_its_block_and_its_stripe_also_over_another_file_system() {
    own_process!();
    if !can_run(
        "xfs_has_its_block",
        &["root", "losetup", "mkfs.xfs", "xfs_info"],
    ) || !kernel_mounts("xfs_has_its_block", "xfs")
    {
        return;
    }
    // Sparse; mkfs.xfs wants room for a log of 64 MiB.
    let device = partitioned(2048 * MIB);
    for (unit, stripe, words) in [
        (
            4096,
            Some((64 << 10, 4)),
            &["bsize=4096", "sunit=16", "swidth=64"][..],
        ),
        (1024, None, &["bsize=1024"][..]),
    ] {
        make(&device, &format_options(FileSystemKind::Xfs, unit, stripe));
        let reported = run("xfs_info", &[&device.partition()]);
        for word in words {
            assert!(reported.contains(word), "`{word}` is not in {reported}");
        }
        can_be_mounted(&device);
    }
}

#[test]
fn btrfs_has_its_sector() {
    own_process!();
    if !can_run("btrfs_has_its_sector", &["root", "losetup", "mkfs.btrfs"])
        || !kernel_mounts("btrfs_has_its_sector", "btrfs")
    {
        return;
    }
    let device = partitioned(256 * MIB);
    make(&device, &format_options(FileSystemKind::Btrfs, 4096, None));
    let reported = run(
        "btrfs",
        &["inspect-internal", "dump-super", &device.partition()],
    );
    let reported: Vec<&str> = reported
        .lines()
        .filter(|line| line.starts_with("sectorsize"))
        .collect();
    assert!(reported[0].ends_with("4096"), "{reported:?}");
    can_be_mounted(&device);
}

#[test]
fn ntfs_has_its_cluster_and_knows_where_it_starts() {
    own_process!();
    if !can_run(
        "ntfs_has_its_cluster",
        &["root", "losetup", "mkfs.ntfs", "ntfsinfo"],
    ) {
        return;
    }
    let device = partitioned(128 * MIB);
    for cluster in [4096, 64 << 10] {
        make(
            &device,
            &format_options(FileSystemKind::Ntfs, cluster, None),
        );
        let reported = run("ntfsinfo", &["--mft", &device.partition()]);
        assert!(
            reported.contains(&format!("Cluster Size: {cluster}")),
            "{reported}"
        );
        let boot = &std::fs::read(device.partition()).unwrap()[..512];
        let hidden = u32::from_le_bytes(boot[0x1c..0x20].try_into().unwrap());
        assert_eq!(hidden, 128, "sectors before it");
    }
}

/// mkntfs leaves a superblock of btrfs where it is, and most leave md's near the
/// end: the device would be two things at once.
#[test]
fn nothing_is_left_of_what_was_there_before() {
    own_process!();
    if !can_run(
        "nothing_is_left_of_what_was_there",
        &[
            "root",
            "losetup",
            "mkfs.btrfs",
            "mkfs.ntfs",
            "mkfs.ext4",
            "blkid",
        ],
    ) {
        return;
    }
    let device = partitioned(256 * MIB);
    let partition = device.partition();
    let type_of = || run("blkid", &["-p", "-o", "value", "-s", "TYPE", &partition]);
    let size: u64 = run("blockdev", &["--getsize64", &partition])
        .trim()
        .parse()
        .unwrap();
    let near_end = (size / 512 - 16) / 8 * 8 * 512;
    for (file_system, name) in [
        (FileSystemKind::Btrfs, "btrfs"),
        (FileSystemKind::Ntfs, "ntfs"),
        (FileSystemKind::Ext4, "ext4"),
        (FileSystemKind::Ntfs, "ntfs"),
    ] {
        let file = std::fs::File::options()
            .write(true)
            .open(&partition)
            .unwrap();
        file.write_all_at(b"\xfc\x4e\x2b\xa9", near_end).unwrap();
        drop(file);
        make(&device, &format_options(file_system, 4096, None));
        assert_eq!(type_of().trim(), name);
        let mut bytes = [1; 4];
        let file = std::fs::File::open(&partition).unwrap();
        file.read_exact_at(&mut bytes, near_end).unwrap();
        assert_eq!(bytes, [0; 4], "{name}");
    }
}

#[test]
fn a_size_that_this_kernel_cannot_mount_is_refused_before_anything_is_written() {
    own_process!();
    if !can_run("a_size_that_this_kernel_cannot_mount", &["root", "losetup"]) {
        return;
    }
    let device = partitioned(128 * MIB);
    let known = std::fs::read_to_string("/sys/fs/btrfs/features/supported_sectorsizes");
    if known.is_ok_and(|sizes| sizes.contains("65536")) {
        return skip(
            "a_size_that_this_kernel_cannot_mount",
            "a kernel without large sectors",
        );
    }
    let spec = format_options(FileSystemKind::Btrfs, 64 << 10, None);
    let error = plan_format(Path::new(&device.partition()), &spec, None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unusable);
    assert_mentions(&error, &["cannot mount btrfs", "64K", "It mounts 4K"]);
}

#[test]
fn a_tool_that_fails_is_quoted() {
    own_process!();
    if !can_run("a_tool_that_fails", &["root", "losetup", "mkfs.btrfs"]) {
        return;
    }
    // Too small for btrfs.
    let device = partitioned(4 * MIB);
    let spec = format_options(FileSystemKind::Btrfs, 4096, None);
    let partition = device.partition();
    let plan = plan_format(Path::new(&partition), &spec, None).unwrap();
    let error = format_as(&plan, partition.strip_prefix("/dev/").unwrap()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ToolFailed);
    assert_mentions(&error, &["mkfs.btrfs -q -s 4096", "too small"]);
}
