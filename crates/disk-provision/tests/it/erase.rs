//! Erased devices, identifying marks, and private mounts.

use super::support::*;
use std::path::Path;
use stripewise_disk_provision::{
    Destroy, ErrorKind, Extent, FileSystemKind, FormatOptions, Identifiers, TableKind, has_mark,
    identify, mount_privately, plan_division, plan_erase, plan_format,
};

fn ids(first: u8) -> Identifiers {
    Identifiers {
        entropy: std::array::from_fn(|index| index as u8 + first),
    }
}

#[test]
fn a_device_is_blank_afterwards_and_its_old_table_comes_back_from_the_file() {
    own_process!();
    if !can_run("a_device_is_blank", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(16 * MIB);
    for table in [TableKind::Gpt, TableKind::Mbr] {
        device.make("63s", table, &format!("first-{table:?}"));
        let before = device.bytes();
        let plan = plan_erase(device.path(), None).expect("a plan");
        assert_eq!(plan.in_the_way, None);
        assert!(plan.partitions.is_empty());
        let save = format!("old-{table:?}");
        let report = device.execute(&plan, &save).expect("it is blank");
        assert!(report.partitions.is_empty());
        let erased = device.bytes();
        assert!(erased.iter().all(|byte| *byte == 0), "{table:?}");
        assert!(!Path::new(&device.partition()).exists());
        let restore =
            stripewise_disk_provision::plan_restore(device.path(), &device.file(&save), None);
        let restored = restore.expect("a plan");
        device
            .execute(&restored, &format!("between-{table:?}"))
            .expect("it comes back");
        assert!(device.bytes() == before, "{table:?}");
    }
}

#[test]
fn a_mark_is_of_one_maker_alone() {
    own_process!();
    if !can_run("a_mark_is_of_one_maker", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(16 * MIB);
    let bears = |ids: &Identifiers| has_mark(device.path(), [7; 16], &[*ids]).expect("it is read");
    assert!(!bears(&ids(1)));
    device.make("1M", TableKind::Gpt, "old");
    assert!(bears(&ids(1)), "made by these");
    assert!(!bears(&ids(2)));
    // Either header is enough: a crash may have left one of the two.
    let bytes = device.bytes();
    let sectors = bytes.len() / 512;
    for sector in [1, sectors - 1] {
        let mut one = bytes.clone();
        one[sector * 512..(sector + 1) * 512].fill(0);
        std::fs::write(&device.device, &one).expect("written");
        assert!(bears(&ids(1)), "without sector {sector}");
    }
    let same = identify(device.path()).expect("it is there");
    assert_eq!(same.size_bytes, 16 * MIB);
    assert!(same.backing.is_some());
    let other = identify(Loop::new(16 * MIB).path()).expect("it is there");
    assert!(!same.is_same_device(&other));
    assert!(same.is_same_device(&same.clone()));
}

#[test]
fn a_device_is_divided_exactly_where_that_is_asked_and_tells_by_whom() {
    own_process!();
    if !can_run("a_device_is_divided", &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(32 * MIB);
    let parts = [
        (4 * MIB, 8 * MIB),
        (12 * MIB + 32_256, 7 * MIB),
        (20 * MIB, 8 * MIB),
    ];
    let extents = parts.map(|(start_bytes, size_bytes)| Extent {
        start_bytes,
        size_bytes,
    });
    let plan = plan_division(device.path(), &extents, None).expect("a plan");
    let destroy = Destroy {
        name: device.name(),
        store: None,
        // Tests may run where not all processes can be seen.
        busy_ok: true,
        save: None,
        now: NOW,
    };
    let second = ids(1).numbered(1);
    let report = plan.execute(&destroy, &second).expect("it is divided");
    let made = report.partitions.iter();
    let places: Vec<(u64, u64)> = made.map(|one| (one.start_bytes, one.size_bytes)).collect();
    assert_eq!(places, parts);
    for part in &report.partitions {
        assert!(Path::new("/dev").join(&part.name).exists(), "{}", part.name);
    }
    let bears = |ids: &[Identifiers]| has_mark(device.path(), [7; 16], ids).expect("it is read");
    assert!(!bears(&[ids(1)]), "those of the first device");
    assert!(bears(&[ids(1), second]));
    let outside = [Extent {
        start_bytes: 30 * MIB,
        size_bytes: 4 * MIB,
    }];
    let error = plan_division(device.path(), &outside, None).expect_err("no room");
    assert_mentions(&error, &["no room for a part of 4 MiB at 30M"]);
    let plan = plan_erase(device.path(), None).expect("a plan");
    plan.execute(&destroy, &second).expect("it is blank");
    assert!(device.bytes().iter().all(|byte| *byte == 0));
}

#[test]
fn a_private_mount_is_seen_by_nobody_else_and_leaves_nothing() {
    own_process!();
    const TEST: &str = "a_private_mount_is_seen_by_nobody_else";
    if !can_run(TEST, &["root", "losetup", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    device.make("1M", TableKind::Gpt, "old");
    let partition = device.partition();
    let spec = FormatOptions {
        file_system: FileSystemKind::Ext4,
        allocation_unit_bytes: 4096,
        stripe: None,
    };
    let plan = plan_format(Path::new(&partition), &spec, None).expect("a plan");
    let name = partition
        .strip_prefix("/dev/")
        .expect("under /dev")
        .to_owned();
    format_as(&plan, &name).expect("a file system");
    let at = device.file("mounts").join("here");
    // A thread of its own, whose view of the mounts ends with it.
    let (path, seen_there) = (at.clone(), device.directory.path().to_owned());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mounted = mount_privately(Path::new(&partition), FileSystemKind::Ext4, &path)
                .expect("it is mounted");
            std::fs::write(mounted.path().join("file"), "data").expect("it can be written");
            // Others may have mounted at names that are no text.
            let mounts = |of: &str| {
                String::from_utf8_lossy(&std::fs::read(of).expect("mounts")).into_owned()
            };
            let ours = seen_there.to_str().expect("text").to_owned();
            assert!(mounts("/proc/thread-self/mounts").contains(&ours));
            assert!(!mounts("/proc/self/mounts").contains(&ours));
            // Twice in one place is not.
            let again = mount_privately(Path::new(&partition), FileSystemKind::Ext4, &path)
                .expect_err("it is there");
            assert_eq!(again.kind, ErrorKind::Refused, "{again}");
            // What is mounted cannot be made blank.
            let plan = plan_erase(device_of(&partition), None).expect("a plan");
            assert!(plan.in_the_way.is_some());
            mounted.unmount().expect("it is unmounted");
            assert!(!path.exists());
        });
    });
    assert!(!at.exists());
    let plan = plan_erase(device.path(), None).expect("a plan");
    let destroy = Destroy {
        name: device.name(),
        store: None,
        busy_ok: true,
        save: None,
        now: NOW,
    };
    let report = plan.execute(&destroy, &ids(1)).expect("it is blank");
    assert_eq!(report.saved, None);
}

/// The disk of a partition of a loop device.
fn device_of(partition: &str) -> &Path {
    Path::new(partition.rsplit_once('p').expect("a partition").0)
}
