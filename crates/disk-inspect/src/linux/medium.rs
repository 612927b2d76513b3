//! Reads a device: its node in `/dev`, opened read-only; in a captured tree a regular file of that
//! name.

use super::tree::Tree;
use crate::storage::BlockDevice;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use stripewise_disk_formats::medium::Medium;
use stripewise_units::DeviceNumber;

/// Opens a device for reading. The opened device's number is verified, because names in `/dev` are
/// udev's and may be anything.
pub fn open(tree: Tree, device: &BlockDevice) -> Result<Medium<File>> {
    // The kernel writes `!` for a slash in a name: cciss!c0d0.
    let path = tree.path(format!("/dev/{}", device.name.replace('!', "/")));
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    let is_it = if tree.is_live() {
        metadata.file_type().is_block_device()
            && DeviceNumber::from_raw(metadata.rdev()) == device.number
    } else {
        metadata.is_file() && super::identity::properties(tree, &device.name).is_none()
    };
    if !is_it {
        return Err(Error::new(
            ErrorKind::NotFound,
            "its node is something else",
        ));
    }
    Ok(Medium::new(file, device.size_bytes))
}
