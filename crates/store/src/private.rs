//! Files and directories that results are kept in.

use crate::system;
use std::fs::File;
use std::io;
use std::path::Path;

/// Makes a new file, open for writing. Made by root it has mode 0600 and belongs
/// to the owner of its directory (with `sudo` in a user's home to that user);
/// made by others it has the mode that the umask leaves.
///
/// # Errors
/// That of the system; [`io::ErrorKind::AlreadyExists`] also for a symbolic link
/// that leads nowhere.
pub fn create_new(path: &Path) -> io::Result<File> {
    system::create_new(path)
}

/// Makes a file that only its owner may read, in place of one that an earlier process left
/// under that name. A link of that name is removed, not followed.
///
/// # Errors
/// That of the system; where something else than a file has the name, it stays.
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

/// Removes the file that [`create_new`] made under `path`, unless something else has
/// the name by now: in a directory of another user that user may move the file away and
/// put another in its place. Where the system numbers no files, the name decides.
///
/// # Errors
/// That of the system.
pub fn remove_made(file: &File, path: &Path) -> io::Result<()> {
    let made = system::file_id(&file.metadata()?);
    // Not what a link points at.
    if made.is_some() && made != system::file_id(&path.symlink_metadata()?) {
        return Ok(());
    }
    std::fs::remove_file(path)
}

/// Makes a directory and those above it that are missing. What root makes belongs
/// to the owner of the directory that it is in.
///
/// # Errors
/// That of the system.
pub fn create_directories(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_directories(parent)?;
    }
    match system::create_directory(path) {
        // Another process was quicker, or something else has the name.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}
