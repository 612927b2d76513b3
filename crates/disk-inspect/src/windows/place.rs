//! Finds the volume and the disks below a path or an open handle.

use super::{enumerate, live, query};
use crate::ioctl_replies::Name;
use crate::storage::Storage;
use crate::{Error, Result};
use std::fs::File;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use stripewise_disk_formats::ioctl::{self, codes};
use stripewise_machine::System;
use stripewise_machine::windows::wide::{PATH_UNITS_MAX, narrow, wide};
use windows_sys::Win32::Storage::FileSystem::{
    GetFinalPathNameByHandleW, GetVolumeNameForVolumeMountPointW, GetVolumePathNameW,
    VOLUME_NAME_DOS,
};

/// `FILE_DEVICE_DISK`.
const DISK: u32 = 7;

pub fn storage_of_path(system: &System, path: &Path) -> Result<Storage> {
    live(system)?;
    let text = path.to_string_lossy();
    // `C:` is a directory; only after `\\.\` is it the volume.
    let is_device = text.starts_with(r"\\.\") || text.starts_with("//./");
    if is_device && let Some(name) = Name::parse(&text) {
        return of_name(&text, &name);
    }
    let fail = |source| Error::Path {
        path: path.to_path_buf(),
        source,
    };
    std::fs::metadata(path).map_err(fail)?;
    let full = std::path::absolute(path).map_err(fail)?;
    of_place(&full).map_err(fail)
}

pub fn storage_of_file(system: &System, file: &File) -> Result<Storage> {
    live(system)?;
    if let Some(path) = final_path(file) {
        return of_place(&path).map_err(Error::File);
    }
    // Disks and volumes have no path.
    let answer = query::ask(file, codes::STORAGE_GET_DEVICE_NUMBER, &[]);
    let number = answer
        .ok()
        .and_then(|bytes| ioctl::device_number(&bytes).ok());
    match number.filter(|number| number.kind == DISK) {
        Some(number) => of_numbers(number),
        None => of_extents(file),
    }
}

fn of_numbers(number: ioctl::DeviceNumbers) -> Result<Storage> {
    let disk = number.disk;
    let machine = enumerate::disk(disk);
    let device = match number.partition {
        None | Some(0) => machine.disk(disk),
        Some(partition) => machine.partition(disk, partition),
    };
    let device = device.ok_or_else(|| Error::NoDevice(format!("PhysicalDrive{disk}")))?;
    Ok(Storage {
        file_system: None,
        offset: Some(crate::trace::offset(&device)),
        devices: vec![device],
    })
}

/// A volume of several extents has no number, but reports the extents.
fn of_extents(file: &File) -> Result<Storage> {
    let fail = |words: String| Error::File(std::io::Error::other(words));
    let extents = query::ask(file, codes::VOLUME_GET_VOLUME_DISK_EXTENTS, &[])
        .map_err(|refusal| fail(refusal.words))?;
    let wanted = ioctl::disk_extents(&extents).map_err(|error| fail(error.to_string()))?;
    let machine = enumerate::machine();
    let volume = machine.volumes.iter().find(|volume| {
        let bytes = volume.extents.as_deref().unwrap_or_default();
        ioctl::disk_extents(bytes).is_ok_and(|extents| extents == wanted)
    });
    volume
        .map(|volume| Storage {
            file_system: None,
            ..machine.storage_of(volume)
        })
        .ok_or_else(|| fail("no volume has its extents".to_owned()))
}

fn of_name(text: &str, name: &Name) -> Result<Storage> {
    let machine = match name {
        Name::Disk(disk) | Name::Partition { disk, .. } => enumerate::disk(*disk),
        Name::Volume(_) => enumerate::machine(),
    };
    machine
        .storage_named(text)
        .ok_or_else(|| Error::NoDevice(text.to_owned()))
}

/// The storage below an absolute path.
fn of_place(path: &Path) -> std::io::Result<Storage> {
    let mount_point = mount_point(path)?;
    let guid_path = guid_path(&mount_point).unwrap_or_default();
    let volume = enumerate::volume_of_mount(&guid_path, &mount_point);
    let machine = enumerate::around(volume);
    Ok(machine
        .volumes
        .first()
        .map(|volume| machine.storage_of(volume))
        .unwrap_or_default())
}

/// Where the volume of a path is mounted, with a final backslash.
fn mount_point(path: &Path) -> std::io::Result<String> {
    let path = wide(path);
    let mut units = vec![0u16; PATH_UNITS_MAX];
    let room = u32::try_from(units.len()).unwrap_or(u32::MAX);
    // SAFETY: the path is zero-terminated, the buffer has this size.
    let done = unsafe { GetVolumePathNameW(path.as_ptr(), units.as_mut_ptr(), room) };
    if done == 0 {
        return Err(std::io::Error::last_os_error());
    }
    let found = narrow(&units);
    // `\\?\C:\` is `C:\`, `\\?\UNC\server\share\` is `\\server\share\`.
    Ok(match found.strip_prefix(r"\\?\") {
        Some(share) if share.starts_with(r"UNC\") => format!(r"\\{}", &share[4..]),
        Some(plain) if plain.as_bytes().get(1) == Some(&b':') => plain.to_owned(),
        _ => found,
    })
}

/// The volume's permanent name; `None` for network shares.
fn guid_path(mount_point: &str) -> Option<String> {
    let mount_point = wide(mount_point);
    let mut units = [0u16; 64];
    // SAFETY: the name is zero-terminated, the buffer has this size.
    let done =
        unsafe { GetVolumeNameForVolumeMountPointW(mount_point.as_ptr(), units.as_mut_ptr(), 64) };
    (done != 0).then(|| narrow(&units))
}

/// The path of an open file, even if it was renamed.
fn final_path(file: &File) -> Option<PathBuf> {
    let mut units = vec![0u16; PATH_UNITS_MAX];
    let room = u32::try_from(units.len()).unwrap_or(u32::MAX);
    // SAFETY: the handle is open, the buffer has this size.
    let length = unsafe {
        GetFinalPathNameByHandleW(
            file.as_raw_handle(),
            units.as_mut_ptr(),
            room,
            VOLUME_NAME_DOS,
        )
    };
    (length > 0 && length < room).then(|| PathBuf::from(narrow(&units)))
}
