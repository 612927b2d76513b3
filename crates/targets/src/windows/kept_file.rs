//! Removes a kept test file: by the same rules as writing to it, and by its handle, never by a name
//! alone.

use super::access::{SHARE_ALL, failed, find, reopen};
use super::{calls, file_rules};
use crate::{Error, ErrorKind, Intent, PlanContext, Result};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use stripewise_units::NameText;
use windows_sys::Win32::Foundation::GENERIC_READ;
use windows_sys::Win32::Storage::FileSystem::DELETE;

pub(crate) fn remove_kept_file(path: &Path, knowledge: &PlanContext<'_>) -> Result<()> {
    let file = judge_kept_file(path, knowledge)?;
    let name = path.as_text();
    calls::delete(&file).map_err(|os| failed(&name, "cannot remove it", os))
}

/// A handle that can delete the test file.
pub(crate) fn judge_kept_file(path: &Path, knowledge: &PlanContext<'_>) -> Result<File> {
    let name = path.as_text();
    let refuse = |what: &str, hint: &str| {
        Error::new(ErrorKind::Refused, &name, what).with_hint(hint.to_owned())
    };
    let found = find(path)?;
    if found.status.is_directory {
        return Err(refuse("is not a file", "Only test files are removed."));
    }
    let intent = Intent {
        writes: true,
        ..Intent::default()
    };
    // Mark, number, time, size and the store agree; no one else uses it.
    file_rules::judge_write(&found, &name, &intent, knowledge).map_err(|error| {
        if error.kind != ErrorKind::NeedsOverwrite {
            return error;
        }
        refuse(
            "is not, for certain, the test file that was made there, and is left alone",
            "Look at it, and remove it by hand if it is not needed.",
        )
    })?;
    let mut options = OpenOptions::new();
    options
        .read(true)
        .access_mode(GENERIC_READ | DELETE)
        .share_mode(SHARE_ALL);
    reopen(&found.path, &found.status.identity, &options, &name)
}

/// Whether the name is gone and its directory is on the original volume.
pub(crate) fn kept_file_is_gone(path: &Path, device: u64) -> bool {
    let missing = path
        .symlink_metadata()
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let directory = path.parent().and_then(|parent| find(parent).ok());
    missing && directory.is_some_and(|directory| directory.status.identity.volume == device)
}
