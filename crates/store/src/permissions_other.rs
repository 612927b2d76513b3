//! Systems on which this crate cannot set a file's owner and mode: access follows from the
//! directory.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Identity of a file; unknown here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileId {}

pub(crate) fn file_id(_metadata: &Metadata) -> Option<FileId> {
    None
}

pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// In the user's own directory, which others cannot read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

pub(crate) fn foreign_owner(_path: &Path) -> Option<String> {
    None
}

pub(crate) fn is_out_of_files(_error: &io::Error) -> bool {
    false
}

pub(crate) fn is_disk_failure(_error: &io::Error) -> bool {
    false
}

/// Unknown here.
pub(crate) fn may_write(_directory: &Path) -> bool {
    false
}

/// No limit here.
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}
