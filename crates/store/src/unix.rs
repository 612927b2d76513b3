//! Modes and owners of new files and directories.
//!
//! Results contain command lines, host names and serial numbers. Root's umask is seldom set with
//! such files in mind, so what root creates is for its owner only. And `sudo -E` keeps the user's
//! HOME: without a change of owner root's files there would lock users out of their own results.

use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

/// Device and inode: identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// Identity of this file.
pub(crate) fn file_id(metadata: &Metadata) -> Option<FileId> {
    Some(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A new file, for its owner only if created by root. See [`crate::create_new`].
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    if !is_root() {
        return OpenOptions::new().write(true).create_new(true).open(path);
    }
    let directory = Directory::of(path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = File::from(rustix::fs::openat(
        &directory.handle,
        directory.name,
        flags,
        mode,
    )?);
    directory.give_to_owner(&file);
    Ok(file)
}

/// A new file that only this user may read and write.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// A new directory; it belongs to the owner of its parent. Created by root, it is never writable by
/// others, whatever the umask.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    if !is_root() {
        return std::fs::create_dir(path);
    }
    let directory = Directory::of(path)?;
    let mode = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
    rustix::fs::mkdirat(&directory.handle, directory.name, mode)?;
    // The owner of the parent directory may have replaced it.
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let made = rustix::fs::openat(&directory.handle, directory.name, flags, Mode::empty())?;
    let made = File::from(made);
    if made.metadata()?.uid() == 0 && is_empty(&made)? {
        directory.give_to_owner(&made);
    }
    Ok(())
}

fn is_empty(directory: &File) -> io::Result<bool> {
    for entry in rustix::fs::Dir::read_from(directory)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The directory in which something is created, looked up once: otherwise a user who can change
/// links on the path could have one directory used and another one's owner looked up, and so be
/// given a file in a place that is not theirs.
struct Directory<'a> {
    handle: OwnedFd,
    /// Name of the new entry.
    name: &'a OsStr,
}

impl Directory<'_> {
    fn of(path: &Path) -> io::Result<Directory<'_>> {
        let is_directory = path.as_os_str().as_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !is_directory) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = parent.unwrap_or(Path::new("."));
        let handle = rustix::fs::open(above, flags, Mode::empty())?;
        Ok(Directory { handle, name })
    }

    /// Best effort: on a file system without owners, no one is locked out.
    fn give_to_owner(&self, made: &File) {
        let Ok(owner) = rustix::fs::fstat(&self.handle) else {
            return;
        };
        if owner.st_uid != 0 {
            let given = fchown(made, Some(owner.st_uid), Some(owner.st_gid));
            drop(given);
        }
    }
}

/// Whether permissions allow creating files in this directory.
pub(crate) fn may_write(directory: &Path) -> bool {
    use rustix::fs::Access;
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Whether this process, or the system, has too many open files.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let found = Errno::from_io_error(error);
    matches!(found, Some(Errno::MFILE | Errno::NFILE))
}

/// The largest file size allowed for this process; `None` without a limit.
pub(crate) fn file_size_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// Whether the disk failed.
pub(crate) fn is_disk_failure(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::IO)
}

/// Text for a file that belongs to another user than the current one.
pub(crate) fn foreign_owner(path: &Path) -> Option<String> {
    let owner = std::fs::metadata(path).ok()?.uid();
    let own = rustix::process::geteuid();
    if owner == own.as_raw() || own.is_root() {
        return None;
    }
    Some(match owner {
        0 => "root".to_owned(),
        other => format!("user {other}"),
    })
}

#[cfg(test)]
#[path = "../../../tests/support/locks.rs"]
mod locks;

#[cfg(test)]
mod tests {
    use super::locks::locks_on;
    use crate::{Error, ErrorKind, Owner, Store};
    use rusqlite::ffi;

    #[test]
    fn asking_why_a_store_cannot_be_opened_costs_an_open_one_no_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let store = Store::open(&path, Owner::default()).unwrap();
        let index = directory
            .path()
            .canonicalize()
            .unwrap()
            .join("store.db-shm");
        let held = locks_on(&index);
        assert!(held > 0, "an open store has a lock on the index of its log");
        for code in [ffi::SQLITE_CANTOPEN, ffi::SQLITE_READONLY] {
            let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = Error::from_sqlite(&path, "open the file", failure);
            assert!(matches!(error.kind(), ErrorKind::ReadOnly { .. }));
            assert_eq!(locks_on(&index), held, "{code}");
        }
        drop(store);
    }
}
