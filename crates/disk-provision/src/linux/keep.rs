//! The file with the old table: newly created, and synced before anything else is written; and read
//! again.

use crate::saved::{FILE_BYTES_MAX, SavedTable};
use crate::{Error, ErrorKind, Result, SaveFile};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use stripewise_units::NameText;

/// Writes a new file and makes sure that it, its name and its new parent directories survive a
/// crash.
///
/// # Errors
/// [`ErrorKind::Usage`] if the file exists already or its name is invalid; otherwise
/// [`ErrorKind::Unusable`]. Nothing has been written to the device then.
pub(super) fn write_new(save: &SaveFile<'_>, bytes: &[u8]) -> Result<()> {
    let path = save.path;
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
    (save.make_directories)(directory).map_err(|os| match os.kind() {
        io::ErrorKind::AlreadyExists => failed(io::ErrorKind::NotADirectory.into()),
        _ => failed(os),
    })?;
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

    fn make(directory: &Path) -> io::Result<()> {
        std::fs::create_dir_all(directory)
    }

    #[test]
    fn a_file_is_made_with_its_directories_and_never_again() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("stripewise/partition-tables/sdb.json");
        let save = SaveFile {
            path: &path,
            make_directories: make,
        };
        write_new(&save, b"{}").expect("written");
        let made = std::fs::metadata(&path).expect("there");
        assert_eq!(made.mode() & 0o7777, 0o600);
        let again = write_new(&save, b"{}").expect_err("it is there");
        assert_eq!(again.kind, ErrorKind::Usage);
    }
}
