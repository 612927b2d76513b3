//! Where files have no owner and mode that this crate could set: access follows
//! from the directory.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Which file it is; not known here.
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

/// Not known here.
pub(crate) fn may_write(_directory: &Path) -> bool {
    false
}

/// There is none.
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}
