//! Operating systems that are not written yet: says so, or returns nothing.

pub use crate::absent::*;
use crate::host::{Cpu, Host};
use crate::observe::Snapshot;
use crate::storage::{BlockDevice, FileLayout, Storage};
use crate::survey::{Request, Survey};
use crate::{DeviceNumber, Error, Result, System};
use std::fs::File;
use std::path::Path;

const NAME: &str = "storage";

/// What helps where a user may not look.
pub const HINT_RIGHTS: &str = "run as a user who may read it";
/// What helps where something does not answer.
pub const HINT_ANSWERS: &str = "check that the file system it is on still answers";
/// What lists the devices.
pub const HINT_DEVICES: &str = "`sim:` targets work everywhere";

pub fn host(_system: &System) -> Host {
    Host {
        operating_system: std::env::consts::OS.to_owned(),
        cpu: Cpu {
            count_usable: std::thread::available_parallelism()
                .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
            ..Cpu::default()
        },
        ..Host::default()
    }
}

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

pub fn snapshot(_system: &System, _devices: &[DeviceNumber], _files: &[&File]) -> Snapshot {
    Snapshot::default()
}

pub fn layout(_file: &File) -> Option<FileLayout> {
    None
}

pub fn placement_of(_file: &File) -> Option<crate::placement::Placement> {
    None
}

pub fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset_bytes))?;
    file.read(buffer)
}
