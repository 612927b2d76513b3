//! Enumerates disks and volumes, and queries each.

use super::query;
use crate::ioctl_replies::{Answer, DiskAnswers, FileSystemAnswer, Machine, VolumeAnswers};
use std::ptr::null_mut;
use stripewise_disk_formats::ioctl::{self, codes, properties};
use stripewise_machine::windows::wide::{PATH_UNITS_MAX, list, narrow, wide};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FindFirstVolumeW, FindNextVolumeW, FindVolumeClose, GetDiskFreeSpaceExW, GetDiskFreeSpaceW,
    GetDriveTypeW, GetVolumeInformationW, GetVolumePathNamesForVolumeNameW, QueryDosDeviceW,
};
use windows_sys::Win32::System::Diagnostics::Debug::{SEM_FAILCRITICALERRORS, SetThreadErrorMode};
use windows_sys::Win32::System::WindowsProgramming::{DRIVE_CDROM, DRIVE_RAMDISK, DRIVE_REMOTE};

/// Disks that are tried without being listed.
const DISKS_TRIED: u32 = 32;
/// Most disks in total.
const DISKS_MAX: u32 = 1024;
/// Most volumes in total: letters and mount points of a very large server.
const VOLUMES_MAX: usize = 1024;

/// Suppresses "there is no disk in the drive" dialogs while alive.
struct DialogGuard(u32);

impl DialogGuard {
    fn new() -> Self {
        let mut before = 0;
        // SAFETY: changes this thread's mode only, and returns the old one.
        unsafe { SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mut before) };
        DialogGuard(before)
    }
}

impl Drop for DialogGuard {
    fn drop(&mut self) {
        // SAFETY: restores the previous mode; the returned value is not needed.
        unsafe { SetThreadErrorMode(self.0, null_mut()) };
    }
}

/// All disks and volumes.
pub fn machine() -> Machine {
    let _quiet = DialogGuard::new();
    Machine {
        volumes: volumes().iter().filter_map(|path| volume(path)).collect(),
        ..disks()
    }
}

/// All disks.
pub fn disks() -> Machine {
    Machine {
        disks: disk_numbers().into_iter().filter_map(answers).collect(),
        volumes: Vec::new(),
    }
}

/// One disk.
pub fn disk(number: u32) -> Machine {
    Machine {
        disks: answers(number).into_iter().collect(),
        volumes: Vec::new(),
    }
}

/// One volume with the disks that it is on.
pub fn around(volume: VolumeAnswers) -> Machine {
    let extents = volume.extents.as_deref().unwrap_or_default();
    let mut numbers: Vec<u32> = ioctl::disk_extents(extents)
        .unwrap_or_default()
        .iter()
        .map(|extent| extent.disk)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    Machine {
        disks: numbers.into_iter().filter_map(answers).collect(),
        volumes: vec![volume],
    }
}

/// Numbers that the system lists, and always the first ones (Wine lists none).
fn disk_numbers() -> Vec<u32> {
    let mut units = vec![0u16; 1 << 18];
    let room = u32::try_from(units.len()).unwrap_or(u32::MAX);
    // SAFETY: the buffer has this size; without a name all names are returned.
    let length = unsafe { QueryDosDeviceW(std::ptr::null(), units.as_mut_ptr(), room) };
    units.truncate(length as usize);
    let listed = list(&units);
    let mut numbers: Vec<u32> = listed
        .iter()
        .filter_map(|name| name.strip_prefix("PhysicalDrive")?.parse().ok())
        .filter(|number| *number < DISKS_MAX)
        .chain(0..DISKS_TRIED)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A disk's answers; `None` if no disk has this number.
fn answers(number: u32) -> Option<DiskAnswers> {
    const ERROR_WRITE_PROTECT: u32 = 19;
    let device = query::device(&format!(r"\\.\PhysicalDrive{number}")).ok()?;
    Some(DiskAnswers {
        number,
        layout: query::ask(&device, codes::DISK_GET_DRIVE_LAYOUT_EX, &[]),
        geometry: query::ask(&device, codes::DISK_GET_DRIVE_GEOMETRY_EX, &[]),
        alignment: query::property(&device, properties::ACCESS_ALIGNMENT),
        descriptor: query::property(&device, properties::DEVICE),
        seek_penalty: query::property(&device, properties::SEEK_PENALTY),
        write_cache: query::property(&device, properties::WRITE_CACHE),
        read_only: match query::ask(&device, codes::DISK_IS_WRITABLE, &[]) {
            Ok(_) => Some(false),
            Err(refusal) if refusal.code == ERROR_WRITE_PROTECT => Some(true),
            Err(_) => None,
        },
    })
}

/// An enumeration of volumes, closed when dropped.
struct Search(HANDLE);

impl Drop for Search {
    fn drop(&mut self) {
        // SAFETY: it came from FindFirstVolumeW and is closed once.
        unsafe { FindVolumeClose(self.0) };
    }
}

/// Permanent names of all volumes: `\\?\Volume{...}\`.
fn volumes() -> Vec<String> {
    let mut units = [0u16; 64];
    // SAFETY: the buffer has this size; the handle is checked.
    let handle = unsafe { FindFirstVolumeW(units.as_mut_ptr(), 64) };
    if handle == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    let search = Search(handle);
    let mut found = vec![narrow(&units)];
    while found.len() < VOLUMES_MAX {
        // SAFETY: the search is open, the buffer has this size.
        let more = unsafe { FindNextVolumeW(search.0, units.as_mut_ptr(), 64) };
        if more == 0 {
            break;
        }
        found.push(narrow(&units));
    }
    found
}

/// A volume's answers; `None` for optical drives.
fn volume(path: &str) -> Option<VolumeAnswers> {
    let mounted = mount_points(path);
    // A letter works even where the permanent name does not (Wine).
    let root = mounted.first().cloned().unwrap_or_else(|| path.to_owned());
    let kind = drive_type(&root);
    (kind != DRIVE_CDROM).then(|| volume_at(path, mounted, &root, kind))
}

/// The answers of an unlisted volume: a share, a mount point.
pub fn volume_of_mount(guid_path: &str, mount_point: &str) -> VolumeAnswers {
    let _quiet = DialogGuard::new();
    let mounted = vec![mount_point.to_owned()];
    volume_at(guid_path, mounted, mount_point, drive_type(mount_point))
}

fn volume_at(path: &str, mount_points: Vec<String>, root: &str, kind: u32) -> VolumeAnswers {
    let guid = path.trim_start_matches(r"\\?\").trim_end_matches('\\');
    let is_remote = kind == DRIVE_REMOTE;
    VolumeAnswers {
        guid: guid.to_owned(),
        remote: is_remote,
        in_memory: kind == DRIVE_RAMDISK,
        extents: extents(path, root),
        ntfs: query::directory(root)
            .and_then(|directory| query::ask(&directory, codes::GET_NTFS_VOLUME_DATA, &[])),
        file_system: file_system(root),
        allocation_unit_bytes: allocation_unit_bytes(root),
        space_bytes: space_bytes(root),
        mount_points,
    }
}

/// By the permanent name, otherwise by the letter.
fn extents(path: &str, root: &str) -> Answer {
    let letter = format!(r"\\.\{}", root.trim_end_matches('\\'));
    let is_letter = letter.len() == 6 && letter.ends_with(':');
    let device = match query::device(path.trim_end_matches('\\')) {
        Err(_) if is_letter => query::device(&letter)?,
        opened => opened?,
    };
    query::ask(&device, codes::VOLUME_GET_VOLUME_DISK_EXTENTS, &[])
}

/// Letters and directories at which a volume is mounted.
fn mount_points(path: &str) -> Vec<String> {
    let path = wide(path);
    let mut units = vec![0u16; PATH_UNITS_MAX];
    let room = u32::try_from(units.len()).unwrap_or(u32::MAX);
    let mut length = 0;
    // SAFETY: the name is zero-terminated, the buffer has this size.
    let done = unsafe {
        GetVolumePathNamesForVolumeNameW(path.as_ptr(), units.as_mut_ptr(), room, &mut length)
    };
    if done == 0 {
        return Vec::new();
    }
    let mut found = list(&units);
    // Letters, which are short, come before directories.
    found.sort_by_key(|point| (point.len() > 3, point.clone()));
    found
}

fn drive_type(root: &str) -> u32 {
    let root = wide(root);
    // SAFETY: the name is zero-terminated.
    unsafe { GetDriveTypeW(root.as_ptr()) }
}

fn file_system(root: &str) -> Option<FileSystemAnswer> {
    let root = wide(root);
    let mut label = [0u16; 261];
    let mut kind = [0u16; 261];
    let (mut serial, mut flags) = (0, 0);
    // SAFETY: the name is zero-terminated, both buffers have 261 units, the length of components is
    // not requested.
    let done = unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            label.as_mut_ptr(),
            261,
            &mut serial,
            null_mut(),
            &mut flags,
            kind.as_mut_ptr(),
            261,
        )
    };
    (done != 0).then(|| FileSystemAnswer {
        kind: narrow(&kind),
        label: narrow(&label),
        serial,
        flags,
    })
}

fn allocation_unit_bytes(root: &str) -> Option<u64> {
    let root = wide(root);
    let (mut sectors, mut bytes, mut free, mut all) = (0, 0, 0, 0);
    // SAFETY: the name is zero-terminated, all four numbers are live.
    let done =
        unsafe { GetDiskFreeSpaceW(root.as_ptr(), &mut sectors, &mut bytes, &mut free, &mut all) };
    let unit = u64::from(sectors) * u64::from(bytes);
    (done != 0 && unit > 0).then_some(unit)
}

fn space_bytes(root: &str) -> Option<(u64, u64)> {
    let root = wide(root);
    let (mut free, mut all) = (0, 0);
    // SAFETY: the name is zero-terminated; the third number is not requested.
    let done = unsafe { GetDiskFreeSpaceExW(root.as_ptr(), &mut free, &mut all, null_mut()) };
    (done != 0).then_some((all, free))
}
