//! Operating systems without an implementation: only the standard library's facts.

use crate::System;
pub(crate) use crate::absent::*;
use crate::host::{Cpu, Host};
use crate::observe::Snapshot;
use std::fs::File;
use stripewise_units::DeviceNumber;

pub(crate) fn host(_system: &System) -> Host {
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

pub(crate) fn snapshot(_system: &System, _devices: &[DeviceNumber], _files: &[&File]) -> Snapshot {
    Snapshot::default()
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset_bytes))?;
    file.read(buffer)
}
