//! Windows: the calls whose answers `ioctl` decodes.
//!
//! | fact | from |
//! | --- | --- |
//! | disks | `\\.\PhysicalDriveN`, opened without any right to its data |
//! | volumes | `FindFirstVolumeW` and the volumes' own answers |
//! | file systems | `GetVolumeInformationW`, `GetDiskFreeSpaceW`, NTFS' answer |
//! | extents of files | `FSCTL_GET_RETRIEVAL_POINTERS`, on NTFS |
//!
//! Nothing here needs an administrator unless a driver requires it; refusals are reported. Not
//! supported: who uses a device.
#![allow(unsafe_code)]

mod enumerate;
mod file;
mod layouts;
mod place;
mod query;

pub use crate::absent::*;
pub use crate::by_name::identity;
pub use file::{is_open_here, layout, placement_of};
pub use place::{storage_of_file, storage_of_path};

use crate::ioctl_replies::{Name, from_number};
use crate::storage::{BlockDevice, Storage};
use crate::survey::{Request, Survey};
use crate::{Error, Result};
use stripewise_machine::System;
use stripewise_units::DeviceNumber;

/// Hint for missing permissions.
pub const HINT_RIGHTS: &str = "run as a user who can read it, or as administrator";
/// Hint for something that does not respond.
pub const HINT_ANSWERS: &str =
    "check that the file system it is on still answers: `dir` on its directory";
/// How to list the devices.
pub const HINT_DEVICES: &str =
    "`stripewise disks` lists the devices that there are, as `Get-PhysicalDisk` does";

/// Captured trees are Linux-only.
fn live(system: &System) -> Result<()> {
    if system.is_live() {
        Ok(())
    } else {
        Err(Error::Unsupported("a captured tree"))
    }
}

pub fn storage_of_device(system: &System, number: DeviceNumber) -> Result<Storage> {
    let device = device(system, number)?;
    Ok(Storage {
        file_system: None,
        offset: Some(crate::trace::offset(&device)),
        devices: vec![device],
    })
}

pub fn device(system: &System, number: DeviceNumber) -> Result<BlockDevice> {
    live(system)?;
    let found = match from_number(number) {
        Some(Name::Disk(disk)) => enumerate::disk(disk).disk(disk),
        Some(Name::Partition { disk, partition }) => {
            enumerate::disk(disk).partition(disk, partition)
        }
        _ => None,
    };
    found.ok_or_else(|| Error::NoDevice(number.to_string()))
}

pub fn device_named(system: &System, name: &str) -> Result<BlockDevice> {
    live(system)?;
    let found = match Name::parse(name) {
        Some(Name::Disk(disk) | Name::Partition { disk, .. }) => {
            enumerate::disk(disk).device_named(name)
        }
        Some(Name::Volume(_)) => enumerate::machine().device_named(name),
        None => None,
    };
    found.ok_or_else(|| Error::NoDevice(name.to_owned()))
}

pub fn devices(system: &System) -> Vec<DeviceNumber> {
    let mut numbers = Vec::new();
    for disk in all_disks(system) {
        let partitions = partitions(system, disk.number);
        numbers.push(disk.number);
        numbers.extend(partitions.iter().map(|one| one.number));
    }
    numbers
}

fn all_disks(system: &System) -> Vec<BlockDevice> {
    if live(system).is_err() {
        return Vec::new();
    }
    let machine = enumerate::disks();
    let numbers = machine.disks.iter().map(|disk| disk.number);
    numbers.filter_map(|number| machine.disk(number)).collect()
}

pub fn partitions(system: &System, disk: DeviceNumber) -> Vec<BlockDevice> {
    match from_number(disk) {
        Some(Name::Disk(number)) if live(system).is_ok() => {
            let machine = enumerate::disk(number);
            let mut found = machine.partitions(number);
            found.sort_by_key(|one| one.partition.as_ref().map(|place| place.start_bytes));
            found
        }
        _ => Vec::new(),
    }
}

pub fn survey(system: &System, request: &Request) -> Result<Survey> {
    live(system)?;
    let mut survey = enumerate::machine().survey(request)?;
    if survey.disks.is_empty() {
        let text = "no \\\\.\\PhysicalDriveN could be opened, so nothing is known of disks";
        survey.notes.push(text.to_owned());
    }
    if stripewise_machine::windows::is_wine() {
        let text = "this is Wine, not Windows: disks and volumes are what Wine makes of them";
        survey.notes.push(text.to_owned());
    }
    Ok(survey)
}

#[cfg(test)]
mod tests;
