//! Removes a kept test file: by the same rules as writing to it, and only under a name that still
//! refers to it.

use super::access::{failed, find, reopen_quietly};
use super::file_rules;
use super::identity::Status;
use super::mark;
use crate::{Error, ErrorKind, Intent, PlanContext, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stripewise_units::DeviceNumber;
use stripewise_units::NameText;

pub(crate) fn remove_kept_file(path: &Path, knowledge: &PlanContext<'_>) -> Result<()> {
    let (directory, last) = judge_kept_file(path, knowledge)?;
    let name = path.as_text();
    rustix::fs::unlinkat(&directory, &last, AtFlags::empty())
        .map_err(|os| failed(&name, "cannot remove it", os.into()))
}

/// The directory and the name of a test file that may be removed.
pub(crate) fn judge_kept_file(path: &Path, knowledge: &PlanContext<'_>) -> Result<(File, CString)> {
    let name = path.as_text();
    let refuse = |what: String, hint: &str| {
        Error::new(ErrorKind::Refused, &name, what).with_hint(hint.to_owned())
    };
    let found = find(path)?;
    let identity = found.status.identity;
    if identity.kind != FileType::RegularFile {
        return Err(refuse(
            "is not a file".to_owned(),
            "Only test files are removed.",
        ));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    file_rules::never_the_store(&found.status, &name, knowledge)?;
    let file = reopen_quietly(&found.handle, &identity, flags, &name)?;
    let intent = Intent {
        writes: true,
        ..Intent::default()
    };
    // Mark, inode, birth time, size and the store agree; no one else uses it.
    file_rules::judge_write(&file, &name, &intent, knowledge).map_err(|error| {
        if error.kind != ErrorKind::NeedsOverwrite {
            return error;
        }
        refuse(
            "is not, for certain, the test file that was made there, and is left alone".to_owned(),
            "Look at it, and remove it by hand if it is not needed.",
        )
    })?;
    let parts = found.path.parent().zip(found.path.file_name());
    let named =
        parts.and_then(|(parent, last)| Some((parent, CString::new(last.as_bytes()).ok()?)));
    let (parent, last) =
        named.ok_or_else(|| refuse("has no name to remove".to_owned(), "Remove it by hand."))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(parent, flags, Mode::empty())
        .map(File::from)
        .map_err(|os| failed(&name, "cannot examine its directory", os.into()))?;
    let status =
        Status::of_name(&directory, &last).map_err(|os| failed(&name, "cannot be examined", os))?;
    if status.identity != identity {
        return Err(refuse(
            "became another file while it was being examined".to_owned(),
            "Another program is changing this path; find out which one before trying again.",
        ));
    }
    Ok((directory, last))
}

/// Whether the name is gone and its directory is on the original device.
pub(crate) fn kept_file_is_gone(path: &Path, device: u64) -> bool {
    use std::os::unix::fs::MetadataExt;
    let missing = path
        .symlink_metadata()
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    let directory = path.parent().and_then(|parent| parent.metadata().ok());
    let there = |directory: std::fs::Metadata| {
        mark::stored_device(DeviceNumber::from_raw(directory.dev())) == device
    };
    missing && directory.is_some_and(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_gone_where_its_directory_is_on_the_device_that_the_store_has() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kept");
        std::fs::write(&path, b"x").unwrap();
        let found = find(&path).unwrap();
        let device = mark::made_file(&found.status, "id").device;
        assert!(!kept_file_is_gone(&path, device), "it is there");
        std::fs::remove_file(&path).unwrap();
        assert!(kept_file_is_gone(&path, device));
        // Another volume is mounted there now, or none: no proof.
        assert!(!kept_file_is_gone(&path, device + 1));
        let nowhere = directory.path().join("unmounted/kept");
        assert!(!kept_file_is_gone(&nowhere, device));
    }
}
