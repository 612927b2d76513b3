//! The file with the old table: newly created, and synced before anything else is written; and read
//! again.

use crate::saved::{FILE_BYTES_MAX, SavedTable};
use crate::{Error, ErrorKind, Result};
use rustix::fs::{Mode, OFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use stripewise_units::NameText;

/// Writes a new file and makes sure that it, its name and its new parent directories survive a
/// crash.
///
/// # Errors
/// [`ErrorKind::Usage`] if the file exists already or its name is invalid; otherwise
/// [`ErrorKind::Unusable`]. Nothing has been written to the device then.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |os: io::Error| {
        let (kind, hint) = match os.kind() {
            io::ErrorKind::AlreadyExists => (
                ErrorKind::Usage,
                "Name a file that does not exist yet with --save FILE.",
            ),
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidFilename => (
                ErrorKind::Usage,
                "Name a file in a directory with --save FILE; nothing was written to the device.",
            ),
            _ => (
                ErrorKind::Unusable,
                "Name a file in a directory that can be written with --save FILE; nothing was \
                 written to the device.",
            ),
        };
        Error::new(
            kind,
            path.as_text(),
            "the old partition table cannot be saved here",
        )
        .with_hint(hint)
        .with_os(os)
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_directories(directory).map_err(failed)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| File::open(directory)?.sync_all());
    if let Err(os) = written {
        // In a directory of another user, that user may have put something else in its place.
        if is_at(&file, path) {
            let _ = std::fs::remove_file(path);
        }
        return Err(failed(os));
    }
    // Parent directories may be new as well. Some may not be openable; then their names are as
    // durable as the file system makes them by itself.
    for above in std::fs::canonicalize(directory)
        .map_err(failed)?
        .ancestors()
        .skip(1)
    {
        let _ = File::open(above).and_then(|opened| opened.sync_all());
    }
    Ok(())
}

/// Whether a name still stands for an open file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(made), Ok(now)) => (made.dev(), made.ino()) == (now.dev(), now.ino()),
        _ => false,
    }
}

/// Makes a directory and those above it that are missing.
fn make_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new(""));
    make_directories(above).map_err(|os| match os.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => os,
    })?;
    match make_directory(above, path) {
        // Another process was quicker.
        Err(os) if os.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Made by root, it belongs to the owner of the one that it is in: with `sudo -E` that is the
/// user's own, and results are kept in it.
fn make_directory(above: &Path, path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let above = match above.as_os_str().is_empty() {
        true => Path::new("."),
        false => above,
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // Looked up once: others may change the links on the way to it.
    let above = rustix::fs::open(above, flags, Mode::empty())?;
    rustix::fs::mkdirat(&above, name, Mode::RWXU)?;
    let made = rustix::fs::openat(&above, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    let (owner, own) = (rustix::fs::fstat(&above)?, rustix::fs::fstat(&made)?);
    if own.st_uid == 0 && owner.st_uid != 0 {
        // Where the file system has no owners, there is none to shut out.
        let given = fchown(&made, Some(owner.st_uid), Some(owner.st_gid));
        drop(given);
    }
    Ok(())
}

/// Reads a saved table. Waits for nobody: a pipe is no saved table.
pub(super) fn read(path: &Path) -> Result<SavedTable> {
    let refused = |what: &str| {
        Error::new(ErrorKind::Usage, path.as_text(), what)
            .with_hint("Name a file that `stripewise partition` saved.")
    };
    let failed = |os: io::Error| refused("cannot be read").with_os(os);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(refused("is not a file"));
    }
    // Regions are printed as two digits per byte, with words and white space around.
    const LIMIT_BYTES: u64 = 4 * FILE_BYTES_MAX;
    let mut bytes = Vec::new();
    file.take(LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(refused("is too large for a saved partition table"));
    }
    SavedTable::from_bytes(&bytes, &path.as_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;

    #[test]
    fn directories_that_root_makes_belong_to_the_owner_of_the_one_above() {
        let top = tempfile::tempdir().expect("a directory");
        let owner = match rustix::process::geteuid().is_root() {
            true => 65_534,
            false => rustix::process::geteuid().as_raw(),
        };
        chown(top.path(), Some(owner), None).expect("given");
        let directory = top.path().join("stripewise/partition-tables");
        write_new(&directory.join("sdb.json"), b"{}").expect("written");
        for made in [directory.parent().expect("one above"), directory.as_path()] {
            let made = std::fs::metadata(made).expect("there");
            assert_eq!((made.uid(), made.mode() & 0o7777), (owner, 0o700));
        }
        let again = write_new(&directory.join("sdb.json"), b"{}").expect_err("it is there");
        assert_eq!(again.kind, ErrorKind::Usage);
    }
}
