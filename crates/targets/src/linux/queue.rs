//! Sysfs attributes of a device and its queue, and the resulting refusal.

use crate::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

/// Sysfs directory of a device.
pub(super) fn folder(sysfs: &Path, number: DeviceNumber) -> Option<PathBuf> {
    let device = sysfs
        .join("dev/block")
        .join(format!("{}:{}", number.major, number.minor));
    std::fs::canonicalize(device).ok()
}

/// A file in `queue` of a device, or of the disk that a partition belongs to.
pub(super) fn queue_file(sysfs: &Path, number: DeviceNumber, name: &str) -> Option<PathBuf> {
    let device = folder(sysfs, number)?;
    let disk = match device.join("partition").exists() {
        true => device.parent()?,
        false => &device,
    };
    Some(disk.join("queue").join(name))
}

pub(super) fn refused(name: &str, what: String, hint: &str) -> Error {
    Error::new(ErrorKind::Unusable, name, what).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_polled_through_the_queue_of_its_disk() {
        let sysfs = tempfile::tempdir().unwrap();
        let disk = sysfs.path().join("devices/nvme0n1");
        std::fs::create_dir_all(disk.join("nvme0n1p1")).unwrap();
        std::fs::create_dir_all(sysfs.path().join("dev/block")).unwrap();
        std::fs::write(disk.join("nvme0n1p1/partition"), "1\n").unwrap();
        for (number, to) in [("259:0", disk.clone()), ("259:1", disk.join("nvme0n1p1"))] {
            let link = sysfs.path().join("dev/block").join(number);
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        let expected = std::fs::canonicalize(&disk).unwrap().join("queue/io_poll");
        for minor in [0, 1] {
            let number = DeviceNumber { major: 259, minor };
            let found = queue_file(sysfs.path(), number, "io_poll");
            assert_eq!(found, Some(expected.clone()));
        }
        let unknown = DeviceNumber {
            major: 0,
            minor: 44,
        };
        assert_eq!(queue_file(sysfs.path(), unknown, "io_poll"), None);
    }
}
