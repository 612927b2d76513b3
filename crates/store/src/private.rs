//! Files and directories for results.

use crate::system;
use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a new file, open for writing. Created by root it has mode 0600 and belongs to the owner
/// of its directory (with `sudo` in a user's home: that user); created by others it has the umask's
/// mode.
///
/// # Errors
/// The system's error; [`io::ErrorKind::AlreadyExists`] also for a dangling symbolic link.
pub fn create_new(path: &Path) -> io::Result<File> {
    system::create_new(path)
}

/// Creates a file that only its owner may read, replacing one left by an earlier process. A link of
/// that name is removed, not followed.
///
/// # Errors
/// The system's error; if something other than a file has the name, it stays.
pub fn keep_secret(path: &Path, text: &str) -> io::Result<File> {
    use std::io::Write;
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        create_directories(directory)?;
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = system::create_private(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Removes the file that [`create_new`] made under `path`, unless something else has the name by
/// now: in another user's directory that user may move the file away and put another in its place.
/// On systems without file ids, the name decides.
pub fn remove_made(file: &File, path: &Path) -> io::Result<()> {
    let made = system::file_id(&file.metadata()?);
    // Not the target of a link.
    if made.is_some() && made != system::file_id(&path.symlink_metadata()?) {
        return Ok(());
    }
    std::fs::remove_file(path)
}

/// Creates a directory and its missing parents. Directories created by root belong to the owner of
/// the parent directory.
pub fn create_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directories(parent)?;
    }
    match system::create_directory(path) {
        // Another process was faster, or something else has the name.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}
