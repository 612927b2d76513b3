//! Resolves a path, and reopens exactly what it led to.

use super::calls;
use crate::facts::plain;
use crate::{Error, ErrorKind, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf, Prefix};
use stripewise_units::NameText;

use windows_sys::Win32::Foundation as code;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_FLAG_BACKUP_SEMANTICS, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE,
};

/// Share mode that locks no one out.
pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// Between the two epochs, in units of 100 ns.
const EPOCH_TICKS: i64 = 116_444_736_000_000_000;

/// Identifies a file: certain while a handle keeps it open. On NTFS the number contains a reuse
/// count, so it is not used again; elsewhere the creation time distinguishes a file from its
/// successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Serial number of the volume.
    pub volume: u64,
    /// Number of the file on it.
    pub id: u128,
}

impl Identity {
    /// Truncated to the width that the store keeps; the bits above are 0 on NTFS.
    pub fn inode(&self) -> u64 {
        (self.id as u64) ^ ((self.id >> 64) as u64)
    }
}

/// What the rules need to know of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status {
    pub identity: Identity,
    /// Creation time, nanoseconds since the Unix epoch.
    pub birth_time_ns: i64,
    pub is_directory: bool,
    pub size_bytes: u64,
    pub allocated_bytes: u64,
    pub links: u32,
    /// `FILE_ATTRIBUTE_...`.
    pub attributes: u32,
}

impl Status {
    pub fn of(file: &File) -> io::Result<Status> {
        let (volume, id) = calls::identity(file)?;
        let basic = calls::basic(file)?;
        let standard = calls::standard(file)?;
        let bytes = |count: i64| u64::try_from(count).unwrap_or(0);
        Ok(Status {
            identity: Identity { volume, id },
            birth_time_ns: (basic.CreationTime - EPOCH_TICKS).saturating_mul(100),
            is_directory: basic.FileAttributes & FILE_ATTRIBUTE_DIRECTORY != 0,
            size_bytes: bytes(standard.size_bytes),
            allocated_bytes: bytes(standard.allocated_bytes),
            links: standard.links,
            attributes: basic.FileAttributes,
        })
    }
}

/// What a path leads to.
#[derive(Debug)]
pub(super) struct FoundPath {
    /// As the system names it: absolute, links resolved.
    pub path: PathBuf,
    pub status: Status,
}

/// Resolves a path, requesting only attribute access.
pub(super) fn find(path: &Path) -> Result<FoundPath> {
    let failed = |what: &str, os| failed(path.as_text(), what, os);
    let no_storage = || {
        let what = "is not a file, a directory or a known device";
        Error::new(ErrorKind::Unusable, path.as_text(), what).with_hint(
            r"Devices are `\\.\PhysicalDrive1` and `\\.\E:`; `stripewise disks` lists them.",
        )
    };
    if !may_be_file(path) {
        return Err(no_storage());
    }
    let file = OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .share_mode(SHARE_ALL)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
        .map_err(|os| failed("cannot be reached", os))?;
    // `NUL`, `CON` and similar names exist everywhere.
    if !calls::is_on_disk(&file) {
        return Err(no_storage());
    }
    let status = Status::of(&file).map_err(|os| failed("cannot be examined", os))?;
    let path = calls::final_path(&file).map_err(|os| failed("has no path", os))?;
    Ok(FoundPath {
        path: plain(&path),
        status,
    })
}

/// A path that bypasses file systems (`\\.\pipe\x`, `\\.\CdRom0`, `\\?\GLOBALROOT\...`) may lead to
/// anything, and opening some of it has effects: those are not tried. With a drive letter or a
/// volume followed by more, it is a file path.
fn may_be_file(path: &Path) -> bool {
    let Some(Component::Prefix(prefix)) = path.components().next() else {
        return true;
    };
    let name = match prefix.kind() {
        Prefix::DeviceNS(name) | Prefix::Verbatim(name) => name.to_string_lossy(),
        _ => return true,
    };
    let is_letter = name.len() == 2 && name.ends_with(':');
    let is_volume = name.to_ascii_lowercase().starts_with("volume{");
    let has_more = path.as_os_str().len() > prefix.as_os_str().len();
    (is_letter || is_volume) && has_more
}

/// Reopens a path and verifies that it is what was judged.
pub(super) fn reopen(
    path: &Path,
    identity: &Identity,
    options: &OpenOptions,
    name: &str,
) -> Result<File> {
    let file = options
        .open(path)
        .map_err(|os| failed(name, "cannot be opened", os))?;
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    if status.identity != *identity {
        return Err(replaced(name));
    }
    Ok(file)
}

pub(super) fn replaced(name: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        name,
        "has changed since the plan was made",
    )
    .with_hint("Run the command again to see the new plan.")
}

/// An error of the operating system, with its class and a hint by its code.
pub(super) fn failed(target: impl std::fmt::Display, what: &str, os: io::Error) -> Error {
    let number = os.raw_os_error().map_or(0, i32::cast_unsigned);
    let (kind, hint) = match number {
        code::ERROR_FILE_NOT_FOUND | code::ERROR_PATH_NOT_FOUND => (
            ErrorKind::NotFound,
            "Check the spelling. Give a directory, in which a test file will be \
             made; `stripewise prepare PATH` makes one that stays.",
        ),
        code::ERROR_INVALID_NAME
        | code::ERROR_BAD_NETPATH
        | code::ERROR_BAD_NET_NAME
        | code::ERROR_INVALID_DRIVE => (
            ErrorKind::NotFound,
            "Check the spelling, and that drive or share are there.",
        ),
        code::ERROR_ACCESS_DENIED => (
            ErrorKind::Denied,
            "Run it as an administrator, or give a directory that you can write to.",
        ),
        code::ERROR_SHARING_VIOLATION | code::ERROR_LOCK_VIOLATION | code::ERROR_BUSY => (
            ErrorKind::Refused,
            "Something has it open; stop that first (Resource Monitor or Sysinternals' handle.exe \
             show it), or choose another target.",
        ),
        code::ERROR_WRITE_PROTECT => (
            ErrorKind::Unusable,
            "The volume is read-only: measure reads of an existing file, or choose another place.",
        ),
        code::ERROR_DISK_FULL | code::ERROR_HANDLE_DISK_FULL | code::ERROR_DISK_QUOTA_EXCEEDED => (
            ErrorKind::NoSpace,
            "Ask for a smaller file (`<--size>`), or free some space first.",
        ),
        code::ERROR_FILE_TOO_LARGE => (
            ErrorKind::NoSpace,
            "The file system allows no file this big: ask for a smaller one (`<--size>`).",
        ),
        code::ERROR_NOT_READY => (ErrorKind::Unusable, "Put a medium into the drive."),
        _ => (
            ErrorKind::Io,
            "Look into the System log of the Event Viewer for what disk or file system report.",
        ),
    };
    Error::new(kind, target, what).with_hint(hint).with_os(os)
}

/// The Win32 code of the operating system's reason.
pub(super) fn os_code(error: &Error) -> Option<u32> {
    error.os_number().map(i32::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_past_the_file_systems_are_not_tried() {
        let cases = [
            (r"C:\data\x", true),
            (r"data", true),
            (r"\\server\share\x", true),
            (r"\\?\C:\data", true),
            (r"\\?\UNC\server\share\x", true),
            (r"\\?\Volume{1}\x", true),
            (r"\\?\Volume{1}\", true),
            (r"\\.\C:\data", true),
            (r"\\.\C:", false),
            (r"\\.\pipe\x", false),
            (r"\\.\CdRom0", false),
            (r"\\.\Harddisk0Partition1", false),
            (r"\\?\GLOBALROOT\Device\Harddisk0\DR0", false),
            (r"\\?\pipe\x", false),
        ];
        for (path, expected) in cases {
            assert_eq!(may_be_file(Path::new(path)), expected, "{path}");
        }
    }
}
