//! Whether a target supports discards, and in what units.
//!
//! A device reports it in sysfs, with its units: it may ignore partial units, and a discard that
//! does nothing would be measured as a fast one. A file supports holes of whole blocks of its file
//! system; parts of a block are zeroed instead, which is a write.

use super::identity::Identity;
use super::queue::{folder, queue_file, refused};
use crate::Result;
use rustix::fs::{FallocateFlags, FileType, fallocate, fstatvfs};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use stripewise_units::{ByteSize, DeviceNumber};
use stripewise_workload::{Pattern, Workload};

/// Discard granularity and the offset of the first unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Units {
    bytes: u64,
    first_at_bytes: u64,
}

/// Refuses a device that reports no discards, and a file on a file system without holes.
pub(super) fn accepts_any(file: &File, identity: Identity, name: &str) -> Result<()> {
    match identity.kind {
        FileType::BlockDevice => device_accepts_any(Path::new("/sys"), identity.rdevice, name),
        // One open for reading only is checked when it is opened for writing.
        _ => try_hole(file, name),
    }
}

fn device_accepts_any(sysfs: &Path, number: DeviceNumber, name: &str) -> Result<()> {
    match number_in(queue_file(sysfs, number, "discard_max_bytes").as_deref()) {
        Some(0) => Err(refused(
            name,
            "takes no discards (its discard_max_bytes is 0)".to_owned(),
            "Choose a device that does (`lsblk --discard` shows them), or leave the discards out.",
        )),
        _ => Ok(()),
    }
}

/// How far past the end of a file a hole is tried: no process appends as much in between.
const FAR_BYTES: u64 = 1 << 40;

/// Punches a hole far past the end of a file, where there is nothing to lose: there is no other way
/// to find out whether its file system has holes. If its files cannot be that long, the hole is
/// tried at the end instead.
pub(super) fn try_hole(file: &File, name: &str) -> Result<()> {
    let Ok(found) = file.metadata() else {
        return Ok(());
    };
    let block_bytes = found.blksize().max(1);
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let behind = found.len().next_multiple_of(block_bytes);
    let tried = match fallocate(file, hole, behind + FAR_BYTES, block_bytes) {
        Err(Errno::FBIG) => fallocate(file, hole, behind, block_bytes),
        tried => tried,
    };
    match tried {
        Err(os @ (Errno::OPNOTSUPP | Errno::NOSYS)) => Err(refused(
            name,
            "is on a file system that cannot punch holes, so nothing can be discarded".to_owned(),
            "Choose a directory on ext4, XFS, btrfs or tmpfs, or leave the discards out.",
        )
        .with_os(os.into())),
        // Other errors show during the measurement.
        _ => Ok(()),
    }
}

/// Refuses discards that are not whole units of the device or file system.
pub(super) fn fit(file: &File, identity: Identity, workload: &Workload, name: &str) -> Result<()> {
    let (units, whose) = match identity.kind {
        FileType::BlockDevice => (of_device(Path::new("/sys"), identity.rdevice), "the device"),
        _ => (of_file_system(file), "the file system"),
    };
    match units {
        Some(units) => judge(workload, units, whose, name),
        // If unknown, each operation decides.
        None => Ok(()),
    }
}

fn of_device(sysfs: &Path, number: DeviceNumber) -> Option<Units> {
    let queue = queue_file(sysfs, number, "discard_granularity");
    let bytes = number_in(queue.as_deref()).filter(|bytes| *bytes > 0)?;
    let alignment = folder(sysfs, number)?.join("discard_alignment");
    Some(Units {
        bytes,
        first_at_bytes: number_in(Some(&alignment)).unwrap_or(0) % bytes,
    })
}

fn of_file_system(file: &File) -> Option<Units> {
    let found = fstatvfs(file).ok()?;
    (found.f_bsize > 0).then_some(Units {
        bytes: found.f_bsize,
        first_at_bytes: 0,
    })
}

fn number_in(path: Option<&Path>) -> Option<u64> {
    std::fs::read_to_string(path?).ok()?.trim().parse().ok()
}

fn judge(workload: &Workload, units: Units, whose: &str, name: &str) -> Result<()> {
    let stride = match workload.pattern {
        Pattern::Stride { stride_bytes, .. } => stride_bytes,
        Pattern::Random { .. } | Pattern::Sequential { .. } => 0,
    };
    let sizes = workload.block_sizes.shares().iter();
    let lengths = [("a block", workload.block_size_bytes), ("a stride", stride)];
    let lengths = lengths
        .into_iter()
        .chain(sizes.map(|share| ("a block", share.size_bytes)));
    let unit = ByteSize(units.bytes);
    for (what, bytes) in lengths {
        if !bytes.is_multiple_of(units.bytes) {
            let what = format!(
                "discards whole units of {unit}, as {whose} has it, and {what} of {} is no multiple",
                ByteSize(bytes)
            );
            let hint = format!("Give sizes that are multiples of {unit}.");
            return Err(refused(name, what, &hint));
        }
    }
    let base = workload.base_offset_bytes;
    if base % units.bytes != units.first_at_bytes {
        let what = format!(
            "discards whole units of {unit}, as {whose} has it, and none begins at {}",
            ByteSize(base)
        );
        let first = ByteSize(units.first_at_bytes);
        let hint = format!(
            "The first begins at {first}: give `<--base-offset> {first}`, or whole units after it."
        );
        return Err(refused(name, what, &hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn judged(units: Units, block_size_bytes: u64, base_offset_bytes: u64) -> Option<String> {
        let workload = Workload {
            read_percent: 0,
            discard_percent: 100,
            block_size_bytes,
            base_offset_bytes,
            ..Workload::default()
        };
        let judged = judge(&workload, units, "the device", "x");
        judged.err().map(|error| format!("{error} {}", error.hint))
    }

    #[test]
    fn discards_are_whole_units_from_where_the_first_begins() {
        let units = Units {
            bytes: 65_536,
            first_at_bytes: 0,
        };
        assert_eq!(judged(units, 65_536, 0), None);
        assert_eq!(judged(units, 131_072, 1 << 20), None);
        let small = judged(units, 8192, 0).unwrap();
        assert!(
            small.contains("units of 64K") && small.contains("block of 8K"),
            "{small}"
        );
        let between = judged(units, 65_536, 4096).unwrap();
        assert!(between.contains("none begins at 4K"), "{between}");
        let shifted = Units {
            first_at_bytes: 32_256,
            ..units
        };
        assert_eq!(judged(shifted, 65_536, 32_256), None);
        let reported = judged(shifted, 65_536, 0).unwrap();
        assert!(reported.contains("`--base-offset 31.5K`"), "{reported}");
    }

    /// Also past an end that is not block-aligned, and with blocks allocated there.
    #[test]
    fn what_is_tried_changes_nothing_of_a_file() {
        use std::os::unix::fs::FileExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let data = vec![0x5a; 10_000];
        std::fs::write(&path, &data).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        // Some file systems allocate nothing past the end; then there is nothing to lose.
        let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 1 << 20);
        file.sync_all().unwrap();
        let before = file.metadata().unwrap().blocks();
        try_hole(&file, "x").unwrap();
        file.sync_all().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), data);
        assert_eq!(file.metadata().unwrap().blocks(), before);
        // A file that grows during the probe keeps what was appended.
        file.write_all_at(&data, 10_000).unwrap();
        try_hole(&file, "x").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [&data[..], &data].concat());
    }

    #[test]
    fn a_device_that_says_that_it_takes_none_is_refused() {
        let sysfs = tempfile::tempdir().unwrap();
        let queue = sysfs.path().join("devices/sda/queue");
        create_dir_all(&queue).unwrap();
        create_dir_all(sysfs.path().join("dev/block")).unwrap();
        let link = sysfs.path().join("dev/block/8:0");
        std::os::unix::fs::symlink(sysfs.path().join("devices/sda"), link).unwrap();
        let number = DeviceNumber { major: 8, minor: 0 };
        let judged = || device_accepts_any(sysfs.path(), number, "/dev/sda");
        assert!(judged().is_ok(), "it does not say");
        write(queue.join("discard_max_bytes"), "2147450880\n").unwrap();
        assert!(judged().is_ok());
        write(queue.join("discard_max_bytes"), "0\n").unwrap();
        let refused = judged().unwrap_err();
        assert_eq!(refused.kind, crate::ErrorKind::Unusable);
        assert!(
            refused.to_string().contains("takes no discards"),
            "{refused}"
        );
    }

    #[test]
    fn a_partition_has_the_units_of_its_disk_and_an_alignment_of_its_own() {
        let sysfs = tempfile::tempdir().unwrap();
        let part = sysfs.path().join("devices/sda/sda1");
        create_dir_all(&part).unwrap();
        create_dir_all(sysfs.path().join("devices/sda/queue")).unwrap();
        create_dir_all(sysfs.path().join("dev/block")).unwrap();
        write(part.join("partition"), "1\n").unwrap();
        write(part.join("discard_alignment"), "33280\n").unwrap();
        let granularity = sysfs.path().join("devices/sda/queue/discard_granularity");
        write(&granularity, "65536\n").unwrap();
        std::os::unix::fs::symlink(&part, sysfs.path().join("dev/block/8:1")).unwrap();
        let number = DeviceNumber { major: 8, minor: 1 };
        let units = Units {
            bytes: 65_536,
            first_at_bytes: 33_280,
        };
        assert_eq!(of_device(sysfs.path(), number), Some(units));
        write(&granularity, "0\n").unwrap();
        assert_eq!(of_device(sysfs.path(), number), None, "it does not say");
    }
}
