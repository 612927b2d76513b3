//! Who may read what is made: modes and owners of new files and directories.
//!
//! Results hold command lines, host names and serial numbers. Root's umask is
//! seldom set with such files in mind, so what root makes is for its owner only.
//! And `sudo -E` keeps the user's HOME: without a change of owner root's files
//! there would shut the user out of their own results.

use rustix::fs::{Mode, OFlags};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

/// Device and inode: which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// Which file this is.
pub(crate) fn file_id(metadata: &Metadata) -> Option<FileId> {
    Some(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A new file, for its owner only where root makes it. See [`crate::create_new`].
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if !is_root() {
        return options.open(path);
    }
    let file = options.mode(0o600).open(path)?;
    give_to_owner_of(path, &file);
    Ok(file)
}

/// A new directory; it belongs to the owner of the one that it is in.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)?;
    if !is_root() {
        return Ok(());
    }
    // The owner of the directory above may have put something else in its place.
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let made = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let is_empty = std::fs::read_dir(path)?.next().is_none();
    if is_empty && made.metadata()?.uid() == 0 {
        give_to_owner_of(path, &made);
    }
    Ok(())
}

/// Best effort: where the file system has no owners, there is none to shut out.
fn give_to_owner_of(path: &Path, made: &File) {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let Ok(directory) = std::fs::metadata(parent.unwrap_or(Path::new("."))) else {
        return;
    };
    if directory.uid() != 0 {
        let given = fchown(made, Some(directory.uid()), Some(directory.gid()));
        drop(given);
    }
}

/// Files can be made in this directory, as far as rights go.
pub(crate) fn may_write(directory: &Path) -> bool {
    use rustix::fs::Access;
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// This process, or the system, may open no more files.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let found = Errno::from_io_error(error);
    matches!(found, Some(Errno::MFILE | Errno::NFILE))
}

/// The disk fails.
pub(crate) fn is_disk_failure(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::IO)
}

/// Words for a file that belongs to another user than the one who runs this.
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
