//! Makes test files, and removes exactly those.
//!
//! A file is made with `CREATE_NEW`, which never opens an existing one. A temporary one is opened
//! so that the system deletes it when its last handle is closed, however the process ends. One to
//! be kept is deleted by its handle if it is not finished; only a process killed while filling one
//! leaves it behind.

use super::access::{Identity, SHARE_ALL, Status, failed};
use super::calls;
use crate::Result;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stripewise_units::NameText;
use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_FLAG_DELETE_ON_CLOSE};

/// A file that we made.
#[derive(Debug)]
pub(super) struct CreatedFile {
    /// Open for reading, writing and deleting; calls on it wait.
    pub file: File,
    pub path: PathBuf,
    pub identity: Identity,
    fate: DropAction,
}

/// What happens to it on drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DropAction {
    /// The system deletes it.
    GoesByItself,
    /// We delete it.
    Removed,
    /// It stays.
    Stays,
}

impl CreatedFile {
    /// Makes an empty file: temporary, or kept once [`CreatedFile::keep`] is called.
    pub fn new(path: &Path, to_be_kept: bool) -> Result<CreatedFile> {
        let shown = path.as_text();
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .access_mode(GENERIC_READ | GENERIC_WRITE | DELETE)
            .share_mode(SHARE_ALL);
        if !to_be_kept {
            options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
        }
        let file = options.open(path).map_err(|os| match os.kind() {
            io::ErrorKind::AlreadyExists => crate::error::exists(&shown),
            _ => failed(&shown, "cannot be made", os),
        })?;
        let status = Status::of(&file).map_err(|os| failed(&shown, "cannot be examined", os))?;
        Ok(CreatedFile {
            identity: status.identity,
            file,
            path: path.to_owned(),
            fate: match to_be_kept {
                true => DropAction::Removed,
                false => DropAction::GoesByItself,
            },
        })
    }

    /// It is finished, and stays.
    pub fn keep(&mut self) {
        self.fate = DropAction::Stays;
    }

    /// Removes it, unless it stays.
    pub fn remove(&mut self) -> io::Result<()> {
        if self.fate == DropAction::Removed {
            calls::delete(&self.file)?;
            self.fate = DropAction::Stays;
        }
        Ok(())
    }
}

impl Drop for CreatedFile {
    fn drop(&mut self) {
        // The result cannot be reported here.
        let _ = self.remove();
    }
}
