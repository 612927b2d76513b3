//! Linux: `/proc`, `/sys` and a handful of system calls.
//!
//! | fact | from |
//! | --- | --- |
//! | file systems | `/proc/self/mountinfo`, statvfs, `FS_IOC_GETFLAGS` |
//! | devices | `/sys/dev/block/M:m` and what its links lead to |
//! | log pages | `NVME_IOCTL_ADMIN_CMD`, on devices of NVMe alone |
//! | extents | `FS_IOC_FIEMAP`, else `SEEK_HOLE` |
//!
//! Unsafe code is in `extents` and `mapper_ioctl`: system calls that rustix does not
//! have.
#![allow(unsafe_code)]

mod device_log;
mod devices;
mod extents;
mod family;
mod file_system;
mod generic;
mod identity;
mod mapper;
mod mapper_ioctl;
mod medium;
mod mounted;
mod numbers;
mod place;
mod queue;
mod same;
mod survey;
mod tree;
mod uses;

pub use device_log::device_logs;
pub use extents::{is_open_here, layout, placement_of};

use crate::identity::Identity;
use crate::storage::{BlockDevice, Storage, Use};
use crate::survey::{Request, Survey};
use crate::{Error, Result};
use std::fs::File;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::DeviceNumber;
use tree::{Tree, TreeCache};

/// Hint for missing permissions.
pub const HINT_RIGHTS: &str = "run as a user who can read it, or as root";
/// Hint for something that does not respond.
pub const HINT_ANSWERS: &str =
    "check that the file system it is on still answers: `ls` on its directory";
/// How to list the devices.
pub const HINT_DEVICES: &str = "`lsblk` lists the devices that there are";

fn tree(system: &System) -> Tree<'_> {
    Tree::of(system)
}

pub fn identity(system: &System, path: &Path) -> Option<Identity> {
    same::identity(tree(system), path)
}

pub fn storage_of_path(system: &System, path: &Path) -> Result<Storage> {
    place::of_path(tree(system), path)
}

pub fn storage_of_file(system: &System, file: &File) -> Result<Storage> {
    place::of_file(tree(system), file)
}

pub fn storage_of_device(system: &System, number: DeviceNumber) -> Result<Storage> {
    place::of_device(tree(system), number)
}

pub fn device(system: &System, number: DeviceNumber) -> Result<BlockDevice> {
    devices::device(tree(system), number)
}

pub fn device_named(system: &System, name: &str) -> Result<BlockDevice> {
    let number =
        numbers::number_of(tree(system), name).ok_or_else(|| Error::NoDevice(name.to_owned()))?;
    devices::device(tree(system), number)
}

pub fn devices(system: &System) -> Vec<DeviceNumber> {
    numbers::all(tree(system))
}

pub fn partitions(system: &System, disk: DeviceNumber) -> Vec<BlockDevice> {
    devices::partitions(tree(system), disk)
}

pub fn survey(system: &System, request: &Request) -> Result<Survey> {
    let cache = TreeCache::default();
    survey::survey(tree(system).remembering(&cache), request)
}

pub fn uses_of_device(system: &System, number: DeviceNumber) -> Vec<Use> {
    uses::of_device(tree(system), number)
}

pub fn uses_of_file(system: &System, file: &File) -> Vec<Use> {
    uses::of_file(tree(system), file)
}
