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
