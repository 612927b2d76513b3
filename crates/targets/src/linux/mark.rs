//! The mark on kept files.
//!
//! The extended attribute `user.stripewise.made` holds a version, a unique id and the size. Alone
//! it proves nothing, as copies carry it too; combined with inode, birth time and size in the store
//! it does. All of it is read from the open descriptor.

use super::identity::Status;
pub(super) use crate::mark::Maker;
use crate::mark::{parse, text};
use crate::{MadeFile, PlanContext};
use rustix::fs::XattrFlags;
use std::fs::File;
use std::io;
use stripewise_units::DeviceNumber;

const NAME: &str = "user.stripewise.made";

/// 32 hexadecimal digits from the kernel's random numbers.
pub(super) fn unique_id() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if got != bytes.len() {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A device number as stored: both halves, whatever width the system packs them into.
pub(super) fn stored_device(device: DeviceNumber) -> u64 {
    u64::from(device.major) << 32 | u64::from(device.minor)
}

/// Identity of a file for the store.
pub(super) fn made_file(status: &Status, id: &str) -> MadeFile {
    MadeFile {
        device: stored_device(status.identity.device),
        inode: status.identity.inode,
        birth_time_ns: status.identity.birth_time_ns,
        id: id.to_owned(),
        size_bytes: status.size_bytes,
    }
}

/// Marks a file. Fails where the file system has no user attributes.
pub(super) fn write(file: &File, id: &str, size_bytes: u64) -> io::Result<()> {
    let text = text(id, size_bytes);
    rustix::fs::fsetxattr(file, NAME, text.as_bytes(), XattrFlags::CREATE)?;
    Ok(())
}

/// Updates the size in the mark of a file that Stripewise made.
pub(super) fn rewrite(file: &File, id: &str, size_bytes: u64) -> io::Result<()> {
    let text = text(id, size_bytes);
    rustix::fs::fsetxattr(file, NAME, text.as_bytes(), XattrFlags::REPLACE)?;
    Ok(())
}

/// The id in the mark of a file that Stripewise made; `None` for other files.
pub(super) fn made_by_stripewise(
    file: &File,
    status: &Status,
    knowledge: &PlanContext<'_>,
) -> Option<String> {
    if maker(file, status, knowledge) != Maker::We {
        return None;
    }
    let mut buffer = [0u8; 256];
    let length = rustix::fs::fgetxattr(file, NAME, &mut buffer[..]).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    parse(text).map(|(id, _)| id)
}

/// Judges an open file.
pub(super) fn maker(file: &File, status: &Status, knowledge: &PlanContext<'_>) -> Maker {
    let mut buffer = [0u8; 256];
    let mark = rustix::fs::fgetxattr(file, NAME, &mut buffer[..])
        .ok()
        // Non-text is no valid mark, and is reported as unreadable.
        .map(|length| std::str::from_utf8(&buffer[..length]).unwrap_or_default());
    crate::mark::judge(mark, |id| made_file(status, id), knowledge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let first = unique_id().expect("random numbers");
        assert_eq!(first.len(), 32);
        assert_ne!(first, unique_id().expect("random numbers"));
    }
}
