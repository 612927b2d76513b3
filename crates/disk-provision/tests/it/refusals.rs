//! Devices that are really in use, each in another way.

use super::support::*;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use stripewise_device_guard::claims;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_disk_provision::{
    Destroy, ErrorKind, FileSystemKind, FormatOptions, Identifiers, TableKind, plan_format,
    plan_partition,
};

/// Neither a table nor a file system is written to it, the plan says why, and not
/// a byte changes.
#[track_caller]
fn refused(device: &Loop, path: &str, words: &[&str]) {
    refused_with_kernels(device, path, words, 0..0);
}

/// The same where the kernel itself writes to a part of it.
#[track_caller]
fn refused_with_kernels(device: &Loop, path: &str, words: &[&str], kernels: Range<usize>) {
    let bytes = || {
        let mut bytes = device.bytes();
        bytes[kernels.clone()].fill(0);
        bytes
    };
    let before = bytes();
    let name = path.strip_prefix("/dev/").unwrap();
    if path == device.device {
        let plan = plan_partition(Path::new(path), &spec("1M", TableKind::Gpt), None).unwrap();
        let reported = plan.in_the_way.clone().expect("something is in the way");
        for word in words {
            assert!(reported.contains(word), "`{word}` is not in: {reported}");
        }
        let error = execute_as(&plan, name, &device.file("never")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{error}");
        assert_mentions(&error, words);
    }
    let plan = plan_format(Path::new(path), &ext4(), None).unwrap();
    assert!(plan.in_the_way.is_some());
    let error = format_as(&plan, name).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
    assert_mentions(&error, words);
    assert!(bytes() == before, "not a byte changes");
    assert!(!device.file("never").exists());
}

fn ext4() -> FormatOptions {
    FormatOptions {
        file_system: FileSystemKind::Ext4,
        allocation_unit_bytes: 4096,
        stripe: None,
    }
}

#[test]
fn a_mounted_device() {
    own_process!();
    if !can_run("a_mounted_device", &["root", "losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    run("mkfs.ext4", &["-q", &device.device]);
    let mount = Mount::new(&["-o", "ro", &device.device]);
    refused(&device, &device.device, &["is mounted at", mount.text()]);
}

#[test]
fn a_disk_with_a_mounted_partition_and_that_partition() {
    own_process!();
    if !can_run(
        "a_disk_with_a_mounted_partition",
        &["root", "losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Gpt, "old");
    run("mkfs.ext4", &["-q", &device.partition()]);
    let _mount = Mount::new(&["-o", "ro", &device.partition()]);
    let words = [&format!("{}p1 is mounted at", device.name())[..]];
    refused(&device, &device.device, &words);
    refused(&device, &device.partition(), &words);
}

#[test]
fn swap() {
    own_process!();
    if !can_run("swap", &["root", "losetup", "mkswap", "swapon"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    // Ten pages, of which the first is the header and the others are the kernel's.
    run("mkswap", &[&device.device, "40"]);
    run("swapon", &[&device.device]);
    let _off = Undo("swapoff", vec![device.device.clone()]);
    let words = ["is in use as swap"];
    refused_with_kernels(&device, &device.device, &words, 4096..40_960);
}

#[test]
fn what_a_loop_device_stands_on() {
    own_process!();
    if !can_run("what_a_loop_device_stands_on", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let above = Loop::over(device.device.clone().into(), directory(), &[]);
    refused(&device, &device.device, &[above.name()]);
}

#[test]
fn a_member_of_a_mounted_btrfs() {
    own_process!();
    if !can_run(
        "a_member_of_a_mounted_btrfs",
        &["root", "losetup", "mkfs.btrfs"],
    ) || !kernel_mounts("a_member_of_a_mounted_btrfs", "btrfs")
    {
        return;
    }
    let (one, two) = (Loop::new(128 * MIB), Loop::new(128 * MIB));
    run(
        "mkfs.btrfs",
        &["-q", "-d", "raid0", &one.device, &two.device],
    );
    run("btrfs", &["device", "scan", &one.device, &two.device]);
    let _mount = Mount::new(&["-o", "ro", &one.device]);
    refused(&two, &two.device, &["is mounted at", "btrfs"]);
}

#[test]
fn one_that_somebody_has_claimed() {
    own_process!();
    if !can_run("one_that_somebody_has_claimed", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let claim = std::fs::File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::EXCL.bits() as i32)
        .open(device.path())
        .expect("a claim");
    refused(&device, &device.device, &["has claimed it"]);
    drop(claim);
}

#[test]
fn one_that_a_process_has_open() {
    own_process!();
    if !can_run("one_that_a_process_has_open", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let holder = Holder::of(device.path());
    refused(
        &device,
        &device.device,
        &[&format!("open in sleep (pid {})", holder.pid())],
    );
}

#[test]
fn a_read_only_device() {
    own_process!();
    if !can_run("a_read_only_device", &["root", "losetup"]) {
        return;
    }
    let device = Loop::with(64 * MIB, &["--read-only"]);
    refused(&device, &device.device, &["read-only"]);
}

#[test]
fn a_disk_with_a_read_only_partition_and_that_partition() {
    own_process!();
    if !can_run("a_read_only_partition", &["root", "losetup", "blockdev"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Mbr, "first");
    let partition = device.partition();
    run("blockdev", &["--setro", &partition]);
    let words = ["is set read-only", partition.strip_prefix("/dev/").unwrap()];
    refused(&device, &device.device, &words);
    refused(&device, &partition, &words);
    run("blockdev", &["--setrw", &partition]);
    // Protected between the plan and the leave.
    let plan = plan_format(Path::new(&partition), &ext4(), None).unwrap();
    assert_eq!(plan.in_the_way, None);
    run("blockdev", &["--setro", &partition]);
    let before = device.bytes();
    let error = format_as(&plan, words[1]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_mentions(&error, &words);
    assert!(device.bytes() == before);
    run("blockdev", &["--setrw", &partition]);
}

#[test]
fn another_name_than_the_kernels() {
    own_process!();
    if !can_run("another_name_than_the_kernels", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let before = device.bytes();
    let plan = plan_partition(device.path(), &spec("1M", TableKind::Gpt), None).unwrap();
    for name in ["", "loop", "loop99", "sda", "all", "/dev/disk/by-id/x"] {
        let error = execute_as(&plan, name, &device.file("never")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_mentions(&error, &["does not name this device", device.name()]);
    }
    assert!(device.bytes() == before);
}

#[test]
fn the_disk_under_the_root_file_system() {
    own_process!();
    let storage = System::live()
        .storage_of_path(Path::new("/"))
        .expect("a root");
    let Some(disk) = storage.bottom().first().map(|disk| disk.number) else {
        return skip(
            "the_disk_under_the_root_file_system",
            "a root file system on a disk",
        );
    };
    // The rule only: nothing here goes near that disk.
    let reported = claims::in_the_way(disk, None).expect("something is in the way");
    assert!(
        reported.contains("mounted") || reported.contains("root"),
        "{reported}"
    );
}

#[test]
fn a_device_that_changed_since_its_plan() {
    own_process!();
    if !can_run("a_device_that_changed", &["root", "losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let table = plan_partition(device.path(), &spec("1M", TableKind::Gpt), None).unwrap();
    let format = plan_format(device.path(), &ext4(), None).unwrap();
    run("mkfs.ext4", &["-q", &device.device]);
    let before = device.bytes();
    let error = device.execute(&table, "never").unwrap_err();
    assert_mentions(&error, &["has changed since the plan was made"]);
    let error = format_as(&format, device.name()).unwrap_err();
    assert_mentions(&error, &["has changed since the plan was made"]);
    assert!(device.bytes() == before);
}

#[test]
fn a_partition_has_no_table_and_a_disk_with_partitions_no_file_system() {
    own_process!();
    if !can_run(
        "a_partition_has_no_table",
        &["root", "losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Gpt, "old");
    let error = plan_partition(
        Path::new(&device.partition()),
        &spec("1M", TableKind::Gpt),
        None,
    )
    .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unusable);
    assert_mentions(&error, &["is a partition", &device.device]);
    let plan = plan_format(device.path(), &ext4(), None).unwrap();
    assert!(plan.in_the_way.as_ref().unwrap().contains("1 partition;"));
    let error = format_as(&plan, device.name()).unwrap_err();
    assert_mentions(&error, &["has a partition table", "format one of them"]);
}

#[test]
fn files_and_devices_that_cannot_bear_partitions_are_named_so() {
    own_process!();
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = plan_partition(file.path(), &spec("1M", TableKind::Gpt), None).unwrap_err();
    assert_mentions(&error, &["is not a block device", "losetup"]);
    let error =
        plan_partition(Path::new("/dev/no-such"), &spec("1M", TableKind::Gpt), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    if !can_run("devices_that_cannot_bear_partitions", &["root"]) {
        return;
    }
    // A compressed disk in memory of our own.
    let Ok(number) = std::fs::read_to_string("/sys/class/zram-control/hot_add") else {
        return skip_kernel("devices_that_cannot_bear_partitions", "zram");
    };
    let device = format!("/dev/zram{}", number.trim());
    let error = plan_partition(Path::new(&device), &spec("1M", TableKind::Gpt), None).unwrap_err();
    std::fs::write("/sys/class/zram-control/hot_remove", number.trim()).unwrap();
    assert_eq!(error.kind, ErrorKind::Unusable);
    assert_mentions(&error, &["shows no partitions"]);
}

#[test]
fn one_whose_users_cannot_be_seen_needs_the_word_of_whoever_asks() {
    own_process!();
    const TEST: &str = "one_whose_users_cannot_be_seen";
    if !can_run(TEST, &["root", "losetup", "unshare", "mkfs.ext4"]) {
        return;
    }
    if std::env::var_os(UNSEEN).is_none() {
        // Once more, in a process namespace of its own, which hides everybody else.
        let output = Command::new("unshare")
            .args(["-pf", "--mount-proc"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .arg("refusals::one_whose_users_cannot_be_seen_needs_the_word_of_whoever_asks")
            .env(UNSEEN, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("nothing was written unseen"), "{output:?}");
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let device = Loop::new(64 * MIB);
    let before = device.bytes();
    let never = device.file("never");
    let destroy = Destroy {
        name: device.name(),
        store: None,
        busy_ok: false,
        save: Some(save_file(&never)),
        now: NOW,
    };
    let ids = Identifiers { entropy: [1; 32] };
    let table = plan_partition(device.path(), &spec("1M", TableKind::Gpt), None).unwrap();
    let format = plan_format(device.path(), &ext4(), None).unwrap();
    for (unseen, in_the_way) in [
        (&table.unseen, &table.in_the_way),
        (&format.unseen, &format.in_the_way),
    ] {
        let reported = unseen.as_ref().expect("others cannot be seen");
        assert!(reported.contains("namespace"), "{reported}");
        assert_eq!(*in_the_way, None);
    }
    for error in [
        table.execute(&destroy, &ids).map(drop).unwrap_err(),
        format.execute(&destroy).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind, ErrorKind::NeedsBusyOk);
        assert_mentions(&error, &["cannot be seen from here", "--busy-ok"]);
    }
    assert!(device.bytes() == before, "not a byte changes");
    format_as(&format, device.name()).expect("whoever asks knows that it is free");
    println!("nothing was written unseen");
}

/// Set in the process namespace of its own.
const UNSEEN: &str = "STRIPEWISE_TEST_UNSEEN";
