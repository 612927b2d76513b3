//! Block devices: reading is free, writing needs the device's name and a device that is not in use.

use crate::support::*;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use stripewise_results::TargetKind;
use stripewise_targets::ErrorKind::{
    Denied, NeedsBusyOk, NeedsDestroy, NoSpace, Refused, Unusable,
};
use stripewise_targets::{Access, Error, Intent, Plan, Result, Size};
use stripewise_workload::CacheMode;

const BYTES: u64 = 64 << 20;

/// Judged when no `stripewise` of another test is looking at all devices of the machine.
fn plan(path: impl AsRef<Path>, intent: &Intent) -> Result<Plan> {
    let mut judged = None;
    wait_until("no other test looks at the device", || {
        let found = crate::support::plan(&path, intent);
        let looks = |error: &Error| {
            format!("{error} {}", error.hint).contains("is open in stripewise (pid")
        };
        let looked_at = found.as_ref().err().is_some_and(looks);
        judged = Some(found);
        !looked_at
    });
    judged.expect("judged at least once")
}

/// Refused although named rightly, and the words say what is in the way; without
/// the name the hint says it, too.
fn check_never_written(device: impl AsRef<Path>, name: &str, expected_text: &str) -> Error {
    let error = refused(plan(&device, &destroying(name)), Refused, expected_text);
    refused(
        plan(&device, &discarding(destroying(name))),
        Refused,
        expected_text,
    );
    refused(plan(&device, &writing()), NeedsDestroy, expected_text);
    refused(
        plan(&device, &discarding(writing())),
        NeedsDestroy,
        expected_text,
    );
    plan(&device, &reading()).expect("reading is free");
    error
}

#[test]
fn writing_needs_exactly_the_kernels_name() {
    own_process!();
    if !can_run("writing_needs_exactly_the_kernels_name", &["losetup"]) {
        return;
    }
    let (device, other) = (Loop::new(BYTES), Loop::new(BYTES));
    let top = directory();
    let link = top.path().join("by-id");
    std::os::unix::fs::symlink(&device.device, &link).expect("a link");
    for path in [device.path(), &link] {
        let hint = format!("--destroy {}", device.name());
        refused(plan(path, &writing()), NeedsDestroy, &hint);
        refused(plan(path, &discarding(writing())), NeedsDestroy, &hint);
        for wrong in [
            "",
            "loop",
            "yes",
            other.name(),
            "/dev/disk/by-id/x",
            text(&link),
        ] {
            for options in [destroying(wrong), discarding(destroying(wrong))] {
                refused(plan(path, &options), Refused, "does not name this device");
            }
        }
        for right in [device.name(), &device.device] {
            let plan = plan(path, &destroying(right)).expect("nobody uses it");
            assert_eq!(plan.kind, TargetKind::Device);
            assert_eq!(plan.device_name.as_deref(), Some(device.name()));
            assert!(plan.to_string().contains("ALL DATA"), "{plan}");
        }
    }
}

#[test]
fn a_free_device_that_is_named_is_written_through_one_claim() {
    own_process!();
    if !can_run(
        "a_free_device_that_is_named_is_written_through_one_claim",
        &["losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &device.device]);
    let planned = plan(&device.device, &destroying(device.name())).expect("free");
    assert!(
        planned.to_string().contains("ext4"),
        "what will be lost is told: {planned}"
    );
    let target = prepare(planned).expect("free");
    assert_eq!(
        (target.size_bytes(), target.logical_sector_bytes()),
        (BYTES, 512)
    );
    let facts = target.facts().device.clone().expect("a device");
    assert_eq!(facts.name, device.name());
    // While it is claimed nobody can mount it.
    let top = directory();
    let mounted = try_run("mount", &[&device.device, text(top.path())]);
    if mounted {
        unmount(top.path());
    }
    assert!(!mounted, "the claim keeps others out");
    let file = target
        .open(CacheMode::DirectSync, Access::ReadWrite)
        .expect("opens");
    write_block(&file, BYTES - 4096, 0x5a).expect("writes");
    let error = write_block(&file, BYTES, 0x5a);
    assert!(
        error.is_err() || error.is_ok_and(|got| got == 0),
        "a device has an end"
    );
    drop((file, target));
    let mut last = [0u8; 16];
    let backing = std::fs::File::open(&device.backing).expect("opens");
    run("sync", &[&device.device]);
    backing.read_exact_at(&mut last, BYTES - 16).expect("reads");
    assert_eq!(last, [0x5a; 16]);
}

#[test]
fn a_device_on_a_sparse_file_is_not_written_beyond_the_room_below() {
    own_process!();
    const TEST: &str = "a_device_on_a_sparse_file_is_not_written_beyond_the_room_below";
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let device = Loop::new(8 << 40);
    plan(&device.device, &reading()).expect("reading takes no space");
    refused(
        plan(&device.device, &destroying(device.name())),
        NoSpace,
        "sparse file",
    );
    let part = Intent {
        size: Size::Exactly(1 << 20),
        ..destroying(device.name())
    };
    plan(&device.device, &part).expect("a part of it fits");
}

#[test]
fn reading_a_device_needs_no_flag_and_cannot_write() {
    own_process!();
    if !can_run(
        "reading_a_device_needs_no_flag_and_cannot_write",
        &["losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &device.device]);
    let _mount = Mount::new(&[&device.device]);
    let target = target(&device.device, &reading());
    let file = target.open(CacheMode::Direct, Access::Read).expect("opens");
    write_block(&file, 0, 0).expect_err("not open for writing");
    assert!(target.open(CacheMode::Direct, Access::Write).is_err());
}

#[test]
fn mounted_devices_are_never_written() {
    own_process!();
    if !can_run(
        "mounted_devices_are_never_written",
        &["losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &device.device]);
    let free = plan(&device.device, &destroying(device.name())).expect("not mounted yet");
    let mount = Mount::new(&[&device.device]);
    check_never_written(&device.device, device.name(), text(&mount.path));
    refused(prepare(free), Refused, text(&mount.path));
    // Read-only mounts count, too.
    run("mount", &["-o", "remount,ro", text(&mount.path)]);
    check_never_written(&device.device, device.name(), "mounted");
}

/// Names of any bytes: of a mount point, which must hide neither itself nor other mounts,
/// and of the file behind a loop device.
#[test]
fn mounts_and_backings_that_are_not_utf_8_are_seen() {
    own_process!();
    use std::os::unix::ffi::OsStrExt;
    const TEST: &str = "mounts_and_backings_that_are_not_utf_8_are_seen";
    if !can_run(TEST, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let top = directory();
    let odd = |name: &[u8]| top.path().join(std::ffi::OsStr::from_bytes(name));
    let device = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &device.device]);
    let at = odd(b"at \xff");
    std::fs::create_dir(&at).expect("a mount point");
    let mounted = Command::new("mount").arg(&device.device).arg(&at).status();
    assert!(mounted.expect("mount").success());
    let judged = plan(&device.device, &destroying(device.name()));
    // Another device, mounted where everybody can read it.
    let second = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &second.device]);
    let mount = Mount::new(&[&second.device]);
    check_never_written(&second.device, second.name(), text(&mount.path));
    // A file on that mount backs a loop device; and what lies below is known.
    let backing = at.join(std::ffi::OsStr::from_bytes(b"backing\xfe"));
    std::fs::write(&backing, vec![7; 8 << 20]).expect("room");
    let above = Loop::over(backing.clone(), directory(), &[]);
    let file = plan(&backing, &overwriting());
    let system = stripewise_disk_inspect::System::live();
    let storage = stripewise_disk_inspect::Inspect::storage_of_path(&system, above.path());
    drop(above);
    let unmounted = Command::new("umount").arg(&at).status();
    assert!(unmounted.expect("umount").success());
    let error = refused(judged, Refused, "mounted");
    assert!(error.what.contains(r"at \xff"), "{error}");
    refused(file, Refused, "is the backing of /dev/loop");
    let storage = storage.expect("it is there");
    let layers: Vec<&str> = (storage.layers().iter())
        .map(|layer| layer.name.as_str())
        .collect();
    assert!(layers.contains(&device.name()), "{layers:?}");
}

#[test]
fn devices_mounted_in_another_namespace_are_never_written() {
    own_process!();
    const TEST: &str = "devices_mounted_in_another_namespace_are_never_written";
    if !can_run(TEST, &["losetup", "mkfs.ext4", "unshare"]) {
        return;
    }
    let device = Loop::new(BYTES);
    run("mkfs.ext4", &["-q", &device.device]);
    let top = directory();
    let (at, ready) = (top.path().join("at"), top.path().join("ready"));
    std::fs::create_dir(&at).expect("a mount point");
    let mut command = Command::new("unshare");
    let script = format!(
        "mount {} {} && touch {} && exec sleep 3600",
        device.device,
        at.display(),
        ready.display()
    );
    command.args(["-m", "--propagation", "private", "sh", "-c", &script]);
    let container = Holder::running(command);
    wait_until("it is mounted in the other namespace", || ready.exists());
    check_never_written(&device.device, device.name(), "namespace");
    drop(container);
}

#[test]
fn a_disk_with_a_partition_in_use_is_never_written_but_the_free_partition_is() {
    own_process!();
    const TEST: &str = "a_disk_with_a_partition_in_use_is_never_written_but_the_free_partition_is";
    if !can_run(TEST, &["losetup", "mkfs.ext4", "partx"]) {
        return;
    }
    let device = Loop::new(BYTES);
    write_two_partitions(&device.backing);
    try_run("partx", &["-a", &device.device]);
    let _undo = Cleanup(|| {
        try_run("partx", &["-d", &device.device]);
    });
    let part = |index: u32| format!("{}p{index}", device.device);
    if !Path::new(&part(2)).exists() {
        return skip_kernel(TEST, "partitions on loop devices");
    }
    run("mkfs.ext4", &["-q", &part(1)]);
    let mount = Mount::new(&[&part(1)]);
    check_never_written(&device.device, device.name(), text(&mount.path));
    let (first, second) = (
        format!("{}p1", device.name()),
        format!("{}p2", device.name()),
    );
    check_never_written(Path::new(&part(1)), &first, text(&mount.path));
    // The disk's name does not name its partition, nor the other way round.
    let wrong = plan(Path::new(&part(2)), &destroying(device.name()));
    refused(wrong, Refused, "does not name");
    refused(
        plan(&device.device, &destroying(&second)),
        Refused,
        "does not name",
    );
    let target = target(Path::new(&part(2)), &destroying(&second));
    assert_eq!(target.facts().partition_offset_bytes, Some(31 << 20));
    // While its partition is claimed the disk is not to be had.
    drop(mount);
    refused(
        plan(&device.device, &destroying(device.name())),
        Refused,
        "written",
    );
    drop(target);
    // The kernel would let these pass: relatives in use without a claim.
    let holder = Holder::of(Path::new(&part(1)));
    let expected_text = format!("pid {}", holder.pid());
    check_never_written(&device.device, device.name(), &expected_text);
    plan(Path::new(&part(2)), &destroying(&second)).expect("a sibling is no relative");
    drop(holder);
    let holder = Holder::of(&device.device);
    let expected_text = format!("pid {}", holder.pid());
    check_never_written(Path::new(&part(2)), &second, &expected_text);
    drop(holder);
    let _above = Loop::stacked(Path::new(&part(1)));
    check_never_written(&device.device, device.name(), "/dev/loop");
}

/// A partition table in the old style: two partitions of 30 MiB from 1 MiB on.
fn write_two_partitions(backing: &Path) {
    let mut sector = [0u8; 512];
    for (index, start) in [2048u32, 2048 + 61_440].into_iter().enumerate() {
        let entry = &mut sector[446 + 16 * index..][..16];
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&61_440u32.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    let file = std::fs::OpenOptions::new().write(true).open(backing);
    let file = file.expect("the backing file");
    file.write_all_at(&sector, 0)
        .and_then(|()| file.sync_all())
        .expect("written");
}

#[test]
fn swap_devices_are_never_written() {
    own_process!();
    if !can_run(
        "swap_devices_are_never_written",
        &["losetup", "mkswap", "swapon"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    run("mkswap", &[&device.device]);
    if !try_run("swapon", &["-p", "0", &device.device]) {
        return skip_kernel("swap_devices_are_never_written", "swap");
    }
    let _undo = Cleanup(|| {
        try_run("swapoff", &[&device.device]);
    });
    check_never_written(&device.device, device.name(), "swap");
}

#[test]
fn devices_under_device_mapper_are_never_written() {
    own_process!();
    if !can_run(
        "devices_under_device_mapper_are_never_written",
        &["losetup", "dmsetup"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    let name = format!("stripewise-it-{}", std::process::id());
    let table = format!("0 {} linear {} 0", BYTES / 512, device.device);
    if !try_run("dmsetup", &["create", &name, "--table", &table]) {
        return skip_kernel(
            "devices_under_device_mapper_are_never_written",
            "device mapper",
        );
    }
    let _undo = Cleanup(|| {
        try_run("dmsetup", &["remove", "--retry", &name]);
    });
    check_never_written(&device.device, device.name(), "held by dm-");
}

#[test]
fn members_of_md_arrays_are_never_written() {
    own_process!();
    if !Path::new("/proc/mdstat").exists() {
        return skip_kernel("members_of_md_arrays_are_never_written", "md arrays");
    }
    if !can_run(
        "members_of_md_arrays_are_never_written",
        &["losetup", "mdadm"],
    ) {
        return;
    }
    let (first, second) = (Loop::new(BYTES), Loop::new(BYTES));
    let array = format!("/dev/md/stripewise-it-{}", std::process::id());
    let disks = [first.device.as_str(), second.device.as_str()];
    let create = ["--create", &array, "--run", "--level=0", "--raid-devices=2"];
    if !try_run("mdadm", &[&create[..], &disks[..]].concat()) {
        return skip_kernel("members_of_md_arrays_are_never_written", "md arrays");
    }
    let _undo = Cleanup(|| {
        try_run("mdadm", &["--stop", &array]);
    });
    for device in [&first, &second] {
        check_never_written(&device.device, device.name(), "held by md");
    }
}

#[test]
fn devices_under_a_loop_device_are_never_written_although_the_kernel_would() {
    own_process!();
    const TEST: &str = "devices_under_a_loop_device_are_never_written_although_the_kernel_would";
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let below = Loop::new(BYTES);
    let above = Loop::stacked(below.path());
    let expected_text = format!("/dev/{}", above.name());
    check_never_written(&below.device, below.name(), &expected_text);
    drop(above);
    plan(&below.device, &destroying(below.name())).expect("free again");
}

#[test]
fn devices_that_a_process_has_open_are_never_written_although_the_kernel_would() {
    own_process!();
    const TEST: &str =
        "devices_that_a_process_has_open_are_never_written_although_the_kernel_would";
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let device = Loop::new(BYTES);
    let free = plan(&device.device, &destroying(device.name())).expect("free");
    let holder = Holder::of(&device.device);
    check_never_written(
        &device.device,
        device.name(),
        &format!("pid {}", holder.pid()),
    );
    refused(prepare(free), Refused, "open in sleep");
}

#[test]
fn a_device_claimed_by_this_process_is_not_claimed_twice() {
    own_process!();
    if !can_run(
        "a_device_claimed_by_this_process_is_not_claimed_twice",
        &["losetup"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    let first = target(&device.device, &destroying(device.name()));
    let second = plan(&device.device, &destroying(device.name()));
    refused(second, Refused, "something in the kernel has claimed it");
    drop(first);
    plan(&device.device, &destroying(device.name())).expect("free again");
}

#[test]
fn a_node_that_changes_its_device_after_the_plan_is_not_written() {
    own_process!();
    const TEST: &str = "a_node_that_changes_its_device_after_the_plan_is_not_written";
    if !can_run(TEST, &["losetup", "mknod"]) {
        return;
    }
    let (first, second) = (Loop::new(BYTES), Loop::new(BYTES));
    let top = directory();
    let node = top.path().join("disk");
    let make = |device: &Loop| {
        let number = std::fs::metadata(&device.device).expect("there").rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        run(
            "mknod",
            &[text(&node), "b", &major.to_string(), &minor.to_string()],
        );
    };
    make(&first);
    let planned = plan(&node, &destroying(first.name()));
    let Ok(planned) = planned else {
        return skip(TEST, "a temporary directory that allows device nodes");
    };
    std::fs::remove_file(&node).expect("gone");
    make(&second);
    refused(
        prepare(planned),
        Refused,
        "has changed since the plan was made",
    );
    // A link that is turned to another device is the same thing.
    let link = top.path().join("link");
    std::os::unix::fs::symlink(&first.device, &link).expect("a link");
    let planned = plan(&link, &destroying(first.name())).expect("free");
    std::fs::remove_file(&link).expect("gone");
    std::os::unix::fs::symlink(&second.device, &link).expect("a link");
    let target = prepare(planned).expect("the plan holds the device, not the link");
    assert_eq!(
        target.facts().device.as_ref().map(|d| d.name.as_str()),
        Some(first.name())
    );
}

#[test]
fn devices_set_read_only_are_not_written() {
    own_process!();
    if !can_run("devices_set_read_only_are_not_written", &["losetup"]) {
        return;
    }
    let device = Loop::with(BYTES, &["-r"]);
    refused(
        plan(&device.device, &destroying(device.name())),
        Refused,
        "read-only",
    );
}

#[test]
fn a_device_with_nothing_behind_it_says_so() {
    own_process!();
    if !can_run("a_device_with_nothing_behind_it_says_so", &["losetup"]) {
        return;
    }
    // Others than tests may take the device as soon as it is free; then once more.
    wait_until("a loop device stays free for a moment", || {
        let device = Loop::new(BYTES);
        let (path, name) = (device.device.clone(), device.name().to_owned());
        let _alone = Loop::none_is_taken();
        drop(device);
        let results = [plan(&path, &reading()), plan(&path, &destroying(&name))];
        let is_taken = Path::new(&format!("/sys/block/{name}/loop/backing_file")).exists();
        // Another process held it for a moment, and it is free again.
        if is_taken || results.iter().any(Result::is_ok) {
            return false;
        }
        for result in results {
            refused(result, Unusable, "0 bytes");
        }
        true
    });
}

#[test]
fn a_device_that_belongs_to_a_mounted_volume_of_several_is_never_written() {
    own_process!();
    const TEST: &str = "a_device_that_belongs_to_a_mounted_volume_of_several_is_never_written";
    if !can_run(TEST, &["losetup", "mkfs.btrfs"]) {
        return;
    }
    let (first, second) = (Loop::new(512 << 20), Loop::new(512 << 20));
    let disks = [first.device.as_str(), second.device.as_str()];
    run("mkfs.btrfs", &[&["-q", "-f"][..], &disks[..]].concat());
    // The mount table shows the first one only; the kernel has claimed both.
    let option = format!("device={}", second.device);
    let _mount = Mount::new(&["-o", &option, &first.device]);
    for device in [&first, &second] {
        check_never_written(&device.device, device.name(), "btrfs");
    }
}

#[test]
fn an_ordinary_user_is_told_that_the_device_is_not_for_it() {
    own_process!();
    if !can_run(
        "an_ordinary_user_is_told_that_the_device_is_not_for_it",
        &["losetup"],
    ) {
        return;
    }
    let device = Loop::new(BYTES);
    let mode = std::fs::metadata(&device.device)
        .expect("there")
        .permissions()
        .mode();
    if mode & 0o004 != 0 {
        return skip(
            "an_ordinary_user_is_told_that_the_device_is_not_for_it",
            "private devices",
        );
    }
    let result = as_ordinary_user(|| plan(&device.device, &reading()));
    refused(result, Denied, "as root");
}

#[test]
fn who_cannot_see_the_processes_of_others_writes_a_device_only_with_busy_ok() {
    own_process!();
    const TEST: &str = "who_cannot_see_the_processes_of_others_writes_a_device_only_with_busy_ok";
    if !can_run(TEST, &["losetup", "mknod"]) {
        return;
    }
    let device = Loop::new(BYTES);
    let top = directory();
    let node = open_node(&device, top.path());
    let cautious = Intent {
        busy_ok: false,
        ..destroying(device.name())
    };
    // Open in a root process that others may not inspect, and not open at all: the two look the
    // same.
    for holder in [Some(Holder::of(&device.device)), None] {
        let result = as_ordinary_user(|| plan(&node, &cautious));
        if std::fs::metadata(&node).is_ok() && File::open(&node).is_err() {
            return skip(TEST, "a temporary directory that allows device nodes");
        }
        let error = refused(result, NeedsBusyOk, "cannot be seen from here");
        assert!(error.hint.contains("--busy-ok"), "{error:?}");
        let unnamed = Intent {
            destroy: None,
            ..cautious.clone()
        };
        let result = as_ordinary_user(|| plan(&node, &unnamed));
        refused(result, NeedsDestroy, "--busy-ok");
        drop(holder);
    }
    let planned = as_ordinary_user(|| plan(&node, &destroying(device.name())));
    let planned = planned.expect("the user says that it is free");
    assert!(
        planned
            .notes
            .iter()
            .any(|note| note.contains("other users") || note.contains("of others")),
        "{:?}",
        planned.notes
    );
    // Users that are seen block the write, whoever runs the check.
    let holder = Holder::of(&device.device);
    refused(plan(&node, &destroying(device.name())), Refused, "open in");
    drop(holder);
}

#[test]
fn a_device_that_gets_a_user_while_it_is_claimed_is_not_opened_for_writing_again() {
    own_process!();
    const TEST: &str =
        "a_device_that_gets_a_user_while_it_is_claimed_is_not_opened_for_writing_again";
    if !can_run(TEST, &["losetup", "blockdev"]) {
        return;
    }
    let device = Loop::new(BYTES);
    let target = target(&device.device, &destroying(device.name()));
    let writing = || target.open(CacheMode::Direct, Access::ReadWrite).map(drop);
    writing().expect("ours alone");
    // The claim keeps none of these out.
    let holder = Holder::of(&device.device);
    refused(writing(), Refused, "since it was judged");
    target
        .open(CacheMode::Direct, Access::Read)
        .expect("reading is free");
    drop(holder);
    let above = Loop::stacked(device.path());
    refused(
        writing(),
        Refused,
        &format!("the backing of /dev/{}", above.name()),
    );
    drop(above);
    run("blockdev", &["--setro", &device.device]);
    refused(writing(), Refused, "read-only");
    run("blockdev", &["--setrw", &device.device]);
    writing().expect("ours alone again");
}

#[test]
fn a_disk_with_a_partition_that_is_set_read_only_is_never_written() {
    own_process!();
    const TEST: &str = "a_disk_with_a_partition_that_is_set_read_only_is_never_written";
    if !can_run(TEST, &["losetup", "partx", "blockdev"]) {
        return;
    }
    let device = Loop::new(BYTES);
    write_two_partitions(&device.backing);
    try_run("partx", &["-a", &device.device]);
    let part = |index: u32| format!("{}p{index}", device.device);
    if !Path::new(&part(2)).exists() {
        return skip_kernel(TEST, "partitions on loop devices");
    }
    let free = plan(&device.device, &destroying(device.name())).expect("not protected yet");
    run("blockdev", &["--setro", &part(1)]);
    let first = format!("{}p1", device.name());
    let expected_text = format!("{first} is set read-only");
    check_never_written(&device.device, device.name(), &expected_text);
    check_never_written(Path::new(&part(1)), &first, &expected_text);
    refused(prepare(free), Refused, &expected_text);
    let second = format!("{}p2", device.name());
    plan(Path::new(&part(2)), &destroying(&second)).expect("a sibling is not protected by it");
    run("blockdev", &["--setrw", &part(1)]);
    plan(&device.device, &destroying(device.name())).expect("protected no longer");
}
