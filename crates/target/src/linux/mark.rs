//! The mark on files that we made and kept.
//!
//! The extended attribute `user.stripewise.made` holds a version, a unique id
//! and the size. It proves nothing alone, as copies carry it too: together with
//! inode, birth time and size as the store knows them it does. All of it is read
//! from the open descriptor.

use super::identity::Status;
use crate::{Knowledge, MadeFile};
use rustix::fs::XattrFlags;
use std::fs::File;
use std::io;

const NAME: &str = "user.stripewise.made";

/// Whose a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// No mark.
    Somebody,
    /// A mark, but not the file that was marked, or the store does not know it.
    /// The words say which.
    Doubtful(String),
    /// We, for certain.
    We,
}

/// 32 hexadecimal digits from the kernel's random numbers.
pub(super) fn unique_id() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if got != bytes.len() {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the store is to know of a file.
pub(super) fn made_file(status: &Status, id: &str) -> MadeFile {
    let device = status.identity.device;
    MadeFile {
        device: u64::from(device.major) << 32 | u64::from(device.minor),
        inode: status.identity.inode,
        birth_time_ns: status.identity.birth_time_ns,
        id: id.to_owned(),
        size_bytes: status.size_bytes,
    }
}

/// Marks a file. Fails where the file system has no user attributes.
pub(super) fn write(file: &File, id: &str, size_bytes: u64) -> io::Result<()> {
    let text = format!("version=1 id={id} size={size_bytes}");
    rustix::fs::fsetxattr(file, NAME, text.as_bytes(), XattrFlags::CREATE)?;
    Ok(())
}

/// Puts another size into the mark of a file of ours.
pub(super) fn rewrite(file: &File, id: &str, size_bytes: u64) -> io::Result<()> {
    let text = format!("version=1 id={id} size={size_bytes}");
    rustix::fs::fsetxattr(file, NAME, text.as_bytes(), XattrFlags::REPLACE)?;
    Ok(())
}

/// The id in the mark of a file that we made; `None` where we did not.
pub(super) fn made_by_us(
    file: &File,
    status: &Status,
    knowledge: &Knowledge<'_>,
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
pub(super) fn maker(file: &File, status: &Status, knowledge: &Knowledge<'_>) -> Maker {
    let mut buffer = [0u8; 256];
    let Ok(length) = rustix::fs::fgetxattr(file, NAME, &mut buffer[..]) else {
        return Maker::Somebody;
    };
    let Some((id, size_bytes)) = std::str::from_utf8(&buffer[..length]).ok().and_then(parse) else {
        return Maker::Doubtful("its mark cannot be read".into());
    };
    if size_bytes != status.size_bytes {
        return Maker::Doubtful("its size is not the one it was made with".into());
    }
    if status.identity.birth_time_ns.is_none() {
        return Maker::Doubtful("its file system keeps no birth times".into());
    }
    if !(knowledge.is_known)(&made_file(status, &id)) {
        return Maker::Doubtful(
            "it is a copy of a test file, or was made with another store".into(),
        );
    }
    Maker::We
}

fn parse(text: &str) -> Option<(String, u64)> {
    let mut words = text.split(' ');
    if words.next()? != "version=1" {
        return None;
    }
    let id = words.next()?.strip_prefix("id=")?;
    let size = words.next()?.strip_prefix("size=")?.parse().ok()?;
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && words.next().is_none()).then(|| (id.to_owned(), size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_marks_of_this_version_are_read() {
        let id = "0123456789abcdef0123456789abcdef";
        let good = format!("version=1 id={id} size=42");
        assert_eq!(parse(&good), Some((id.to_owned(), 42)));
        for bad in [
            String::new(),
            format!("version=2 id={id} size=42"),
            format!("version=1 id={id}"),
            format!("version=1 id={id} size=42 more=1"),
            format!("version=1 id={id} size=-1"),
            "version=1 id=short size=42".to_owned(),
            format!("version=1 id={} size=42", "g".repeat(32)),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn ids_differ() {
        let first = unique_id().expect("random numbers");
        assert_eq!(first.len(), 32);
        assert_ne!(first, unique_id().expect("random numbers"));
    }
}
