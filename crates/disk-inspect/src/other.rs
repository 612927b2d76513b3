//! Unsupported operating systems: returns an error or nothing.

pub use crate::absent::*;
pub use crate::by_name::identity;
use crate::storage::{BlockDevice, FileLayout, Storage};
use crate::survey::{Request, Survey};
use crate::{Error, Result};
use std::fs::File;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::DeviceNumber;

const NAME: &str = "storage";

/// Hint for missing permissions.
pub const HINT_RIGHTS: &str = "run as a user who can read it";
/// Hint for something that does not respond.
pub const HINT_ANSWERS: &str = "check that the file system it is on still answers";
/// How to list the devices.
pub const HINT_DEVICES: &str = "`sim:` targets work everywhere";

pub fn storage_of_path(_system: &System, _path: &Path) -> Result<Storage> {
    Err(Error::Unsupported(NAME))
}

pub fn storage_of_file(_system: &System, _file: &File) -> Result<Storage> {
    Err(Error::Unsupported(NAME))
}

pub fn storage_of_device(_system: &System, _number: DeviceNumber) -> Result<Storage> {
    Err(Error::Unsupported(NAME))
}

pub fn device(_system: &System, _number: DeviceNumber) -> Result<BlockDevice> {
    Err(Error::Unsupported(NAME))
}

pub fn device_named(_system: &System, _name: &str) -> Result<BlockDevice> {
    Err(Error::Unsupported(NAME))
}

pub fn devices(_system: &System) -> Vec<DeviceNumber> {
    Vec::new()
}

pub fn partitions(_system: &System, _disk: DeviceNumber) -> Vec<BlockDevice> {
    Vec::new()
}

pub fn survey(_system: &System, _request: &Request) -> Result<Survey> {
    Err(Error::Unsupported(NAME))
}

pub fn layout(_file: &File) -> Option<FileLayout> {
    None
}

pub fn placement_of(_file: &File) -> Option<crate::placement::Placement> {
    None
}

pub fn is_open_here(_path: &std::path::Path) -> bool {
    false
}
