//! Files that this process has open as stores.

use crate::system::{self, FileId};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn file_at(path: &Path) -> Option<FileId> {
    system::file_id(&std::fs::metadata(path).ok()?)
}

/// Stores that this process has open. Opening one of them again to examine it and closing that
/// would release the locks of the first: POSIX locks belong to the process.
static OPEN_HERE: Mutex<Vec<FileId>> = Mutex::new(Vec::new());

fn open_here() -> MutexGuard<'static, Vec<FileId>> {
    OPEN_HERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process has this file open as a store.
pub(crate) fn is_open_here(path: &Path) -> bool {
    file_at(path).is_some_and(|file| open_here().contains(&file))
}

/// The file that a store has open, on systems with file ids.
#[derive(Debug)]
pub(crate) struct OpenFile(pub(crate) Option<FileId>);

impl OpenFile {
    pub(crate) fn at(path: &Path) -> OpenFile {
        let file = file_at(path);
        open_here().extend(file);
        OpenFile(file)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = open_here();
        if let Some(index) = open.iter().position(|file| Some(*file) == self.0) {
            open.swap_remove(index);
        }
    }
}
