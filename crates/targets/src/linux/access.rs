//! Resolves a path to a descriptor once, and opens further descriptors from that one.
//!
//! A path is resolved exactly once, with `O_PATH`, which opens nothing: no fifo blocks and no tape
//! rewinds. All later opens go through `/proc/self/fd/N`, which the kernel resolves to the same
//! inode, and are still compared with what was judged.

use super::identity::{Identity, Status};
use crate::{Error, ErrorKind, Result};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use stripewise_disk_inspect::storage::Storage;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::{Hint, NameText, nearest};

/// What a path leads to.
#[derive(Debug)]
pub(super) struct FoundPath {
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// `O_PATH`.
    pub handle: OwnedFd,
    pub status: Status,
}

/// Resolves a path once.
pub(super) fn find(path: &Path) -> Result<FoundPath> {
    let resolved = std::fs::canonicalize(path).map_err(|os| not_found(path, os))?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(CWD, &resolved, flags, Mode::empty())
        .map_err(|os| not_found(path, os.into()))?;
    let status =
        Status::of(&handle).map_err(|os| failed(path.as_text(), "cannot be examined", os))?;
    if status.identity.kind == FileType::Symlink {
        return Err(Error::new(
            ErrorKind::Refused,
            path.as_text(),
            "became a symbolic link while it was being examined",
        )
        .with_hint(
            "Another program is changing this path; find out which one before trying again.",
        ));
    }
    Ok(FoundPath {
        path: resolved,
        handle,
        status,
    })
}

/// Opens the same inode again and verifies that it is the same.
pub(super) fn reopen(
    handle: &impl AsRawFd,
    identity: &Identity,
    flags: OFlags,
    name: &str,
) -> Result<File> {
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let file = match rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) if !Path::new("/proc/self/fd").exists() => {
            return Err(
                Error::new(ErrorKind::Unusable, name, "/proc is not mounted")
                    .with_hint("Mount it: `mount -t proc proc /proc`."),
            );
        }
        Err(os) => return Err(failed(name, describe_open(flags), os.into())),
    };
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    if status.identity != *identity {
        let same_inode = identity.is_inode(status.identity.device, status.identity.inode);
        if same_inode && super::overlay::is_on_overlay(&file) {
            return Err(copied_up(name));
        }
        return Err(Error::new(
            ErrorKind::Refused,
            name,
            "is not the file that was judged any more",
        )
        .with_hint("Run the command again to see the new plan."));
    }
    Ok(file)
}

/// Where the upper directory of an overlay is not visible, opening for writing reveals the layer:
/// the file gets another birth time.
fn copied_up(name: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        name,
        "was in a lower layer of its overlay file system, which copied it to the upper one just \
         now, as it was opened for writing; it is not the file that was judged any more",
    )
    .with_hint("Its contents are unchanged. Run the command again to measure the copy.")
}

/// [`reopen`] for files and devices that will be read, with `O_NOATIME` where permitted (owner
/// only). The file system then need not write access times, and a read of a device costs 50 to 100
/// ns less.
pub(super) fn reopen_quietly(
    handle: &impl AsRawFd,
    identity: &Identity,
    flags: OFlags,
    name: &str,
) -> Result<File> {
    let has_access_time = matches!(identity.kind, FileType::RegularFile | FileType::BlockDevice);
    if has_access_time && let Ok(file) = reopen(handle, identity, flags | OFlags::NOATIME, name) {
        return Ok(file);
    }
    reopen(handle, identity, flags, name)
}

/// [`reopen_quietly`] for the descriptor used by operations.
///
/// A lease on the file (Samba, NFS) would make the open wait for its owner, so it is opened with
/// `O_NONBLOCK`. Under Linux before 6.4, io_uring takes that same flag as "fail instead of waiting"
/// and ends every operation with EAGAIN where the layer below may have to wait: dm-crypt, thin
/// volumes, snapshots, and file systems on them. So the flag is cleared again. The kernel reads it
/// when an operation is issued, and no one else has this open file description to set it again.
pub(super) fn reopen_for_operations(
    handle: &impl AsRawFd,
    identity: &Identity,
    flags: OFlags,
    name: &str,
) -> Result<File> {
    let file = reopen_quietly(handle, identity, flags | OFlags::NONBLOCK, name)?;
    rustix::fs::fcntl_getfl(&file)
        .and_then(|now| rustix::fs::fcntl_setfl(&file, now.difference(OFlags::NONBLOCK)))
        .map_err(|os| failed(name, "cannot be opened for blocking operations", os.into()))?;
    Ok(file)
}

fn describe_open(flags: OFlags) -> &'static str {
    if flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
        "cannot be opened for writing"
    } else {
        "cannot be opened for reading"
    }
}

/// Why a path cannot be resolved.
fn not_found(path: &Path, os: io::Error) -> Error {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let error = |kind, what: &str| Error::new(kind, path.as_text(), what);
    match os.raw_os_error() {
        Some(libc::ENOENT) if is_link => {
            let to = std::fs::read_link(path).unwrap_or_default();
            error(
                ErrorKind::NotFound,
                &format!(
                    "is a symbolic link to {}, which does not exist",
                    to.as_text()
                ),
            )
            .with_hint("Mount what it points to, or give the real path.")
        }
        Some(libc::ENOENT) => {
            let missing = error(ErrorKind::NotFound, "does not exist");
            match near_device(path) {
                Some(near) => missing.with_hint(Hint::plain(format!("Did you mean /dev/{near}?"))),
                None => missing.with_hint(
                    "Give a directory, in which a test file will be \
                     made; `stripewise prepare PATH` makes one that stays.",
                ),
            }
        }
        Some(libc::ELOOP) => error(ErrorKind::NotFound, "is a loop of symbolic links")
            .with_hint("Give the real path."),
        _ => failed(path.as_text(), "cannot be reached", os),
    }
}

/// The block device that was probably meant by a path in `/dev`.
fn near_device(path: &Path) -> Option<String> {
    let typed = path.strip_prefix("/dev").ok()?.to_str()?;
    let entries = std::fs::read_dir("/dev").ok()?.flatten();
    let blocks = entries.filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_block_device())
    });
    let names: Vec<String> = blocks
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    near_name(typed, &names).map(str::to_owned)
}

/// Letters are missing or too many. With another letter or number it is another disk.
fn near_name<'a>(typed: &str, names: &'a [String]) -> Option<&'a str> {
    let digits = |name: &str| -> String { name.chars().filter(char::is_ascii_digit).collect() };
    let names = names.iter().map(String::as_str);
    let alike = names.filter(|&name| name.len() != typed.len() && digits(name) == digits(typed));
    nearest(typed, alike)
}

/// An error of the operating system, with its class and a hint by its number.
pub(super) fn failed(target: impl std::fmt::Display, what: &str, os: io::Error) -> Error {
    let (kind, hint) = match os.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR | libc::ESTALE) => (
            ErrorKind::NotFound,
            "Check the spelling, and that the volume is mounted.",
        ),
        Some(libc::EACCES) => (
            ErrorKind::Denied,
            "Run as the owner of the file or as root, or give a directory that you can write to.",
        ),
        Some(libc::EPERM) => (
            ErrorKind::Denied,
            "The file may be immutable or append-only (`lsattr`), or the process is confined; \
             run as root or choose another target.",
        ),
        Some(libc::EROFS) => (
            ErrorKind::Unusable,
            "The file system or device is read-only: measure reads of an existing file, \
             or choose a place that can be written.",
        ),
        Some(libc::ENOSPC | libc::EDQUOT) => (
            ErrorKind::NoSpace,
            "Ask for a smaller file (`<--size>`), or free some space first.",
        ),
        Some(libc::EFBIG) => (
            ErrorKind::NoSpace,
            "The file system or `ulimit -f` allows no file this big: ask for a smaller one (`<--size>`).",
        ),
        Some(libc::EBUSY | libc::ETXTBSY) => (
            ErrorKind::Refused,
            "Something is using it right now; stop that first, or choose another target.",
        ),
        Some(libc::ENXIO | libc::ENODEV) => (
            ErrorKind::Unusable,
            "There is no device behind that node, or no medium in it.",
        ),
        Some(libc::ENOMEDIUM) => (ErrorKind::Unusable, "Put a medium into the drive."),
        Some(libc::EMFILE | libc::ENFILE) => (
            ErrorKind::Unusable,
            "Raise the limit of open files (`ulimit -n`).",
        ),
        // Files are opened so that a lease makes the open fail at once.
        Some(libc::EAGAIN) => (
            ErrorKind::Refused,
            "Another program holds a lease on it (Samba and NFS servers take them): \
             close it there, or choose another target.",
        ),
        _ => (
            ErrorKind::Io,
            "Look at the end of `dmesg` for what the device or file system reports.",
        ),
    };
    Error::new(kind, target, what).with_hint(hint).with_os(os)
}

/// The storage below a file, as far as known.
pub(super) fn storage_of(file: &File) -> Storage {
    System::live().storage_of_file(file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_device_is_named_and_not_another_disk() {
        let names = ["loop0", "loop1", "sda", "sda1"].map(str::to_owned);
        for (typed, near) in [
            ("lop0", Some("loop0")),
            ("looop1", Some("loop1")),
            ("sdc", None),
            ("sda3", None),
            ("loop7", None),
        ] {
            assert_eq!(near_name(typed, &names), near, "{typed}");
        }
    }

    /// A blocking open waits for the lease holder, 45 seconds by default.
    #[test]
    fn a_file_under_a_lease_is_refused_at_once_and_says_so() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("leased");
        std::fs::write(&path, [1; 4096]).expect("written");
        let found = find(&path).expect("there");
        let holder = File::options().read(true).write(true).open(&path);
        let holder = holder.expect("opens");
        // Some file systems grant no leases; then there is nothing to test.
        if super::super::ioctl::take_write_lease(&holder).is_err() {
            return;
        }
        let identity = &found.status.identity;
        let error = reopen_for_operations(&found.handle, identity, OFlags::RDONLY, "leased")
            .expect_err("leased");
        assert_eq!(error.os_number(), Some(libc::EAGAIN));
        assert!(error.hint.contains("lease"), "{}", error.hint);
        drop(holder);
        let file = reopen_for_operations(&found.handle, identity, OFlags::RDONLY, "leased");
        let flags = rustix::fs::fcntl_getfl(file.expect("free again")).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK));
    }
}
