//! What the mark on files that we made and kept says.
//!
//! It holds a version, a unique id and the size. It proves nothing alone, as
//! copies carry it too: together with the file's identity and size as the store
//! knows them it does. Where it is kept is the platform's affair.

use crate::{Knowledge, MadeFile};
use std::fs::File;
use std::io::{Read, Seek};
use stripewise_disk_inspect::medium::{Bytes, Medium};
use stripewise_disk_inspect::{marks, superblocks, tables};

/// Whose a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// No mark.
    Somebody,
    /// A mark, but not the file that was marked, or the store does not know it.
    /// The words say which.
    Doubtful(String),
    /// We, for certain.
    We,
}

/// The text of a mark.
pub(crate) fn text(id: &str, size_bytes: u64) -> String {
    format!("version=1 id={id} size={size_bytes}")
}

/// Judges a file by its mark, if it has one. `found`: the file as it is now,
/// with the id that its mark says.
pub(crate) fn judge(
    mark: Option<&str>,
    found: impl FnOnce(&str) -> MadeFile,
    knowledge: &Knowledge<'_>,
) -> Maker {
    let Some(mark) = mark else {
        return Maker::Somebody;
    };
    let Some((id, size_bytes)) = parse(mark) else {
        return Maker::Doubtful("its mark cannot be read".into());
    };
    let found = found(&id);
    if size_bytes != found.size_bytes {
        return Maker::Doubtful("its size is not the one it was made with".into());
    }
    if found.birth_time_ns.is_none() {
        return Maker::Doubtful("its file system keeps no birth times".into());
    }
    if !(knowledge.is_known)(&found) {
        return Maker::Doubtful(
            "it is a copy of a test file, or was made with another store".into(),
        );
    }
    Maker::We
}

/// A file of ours that has become an image of something (`mkfs` on it, a virtual disk)
/// is somebody's data now, although inode, birth time and size are the ones it was made
/// with. What Stripewise itself writes is noise, maybe with zeros behind it, and is not
/// taken for an image by chance: marks of four bytes or more have to fit exactly, shorter
/// ones only count where what is around them makes a superblock or a partition table. All
/// of them together come up in fewer than one of 10^8 files.
pub(crate) fn unless_an_image(maker: Maker, file: &File, size_bytes: u64) -> Maker {
    if maker != Maker::We {
        return maker;
    }
    match image_in(Medium::new(file, size_bytes)) {
        Some(what) => Maker::Doubtful(format!("it holds {what} now")),
        None => maker,
    }
}

fn image_in<R: Read + Seek>(mut medium: Medium<R>) -> Option<String> {
    let head_bytes = usize::try_from(medium.size_bytes())
        .unwrap_or(usize::MAX)
        .min(marks::HEAD_BYTES);
    let head = medium.piece(0, head_bytes).ok()?;
    let marks = marks::found(&head);
    if let Some(mark) = marks.iter().find(|mark| mark.bytes.len() >= 4) {
        return Some(mark.what.to_owned());
    }
    if let Ok(Some(found)) = superblocks::read(&mut medium) {
        return Some(format!("something of the kind {}", found.kind()));
    }
    let table = tables::read(&mut medium, None).ok()??;
    Some(format!("a partition table ({})", table.kind.name()))
}

/// Id and size of a mark.
pub(crate) fn parse(text: &str) -> Option<(String, u64)> {
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
    use stripewise_workload::{DataPattern, DataSource};

    fn image_of(bytes: &[u8]) -> Option<String> {
        let size = bytes.len() as u64;
        image_in(Medium::new(std::io::Cursor::new(bytes), size))
    }

    #[test]
    fn what_we_write_is_no_image_and_two_bytes_are_not_enough() {
        for (seed, compressible) in (0..400).zip([0, 50, 90, 100].into_iter().cycle()) {
            let pattern = DataPattern {
                compressible_percent: compressible,
                dedupable_percent: 0,
            };
            let mut bytes = vec![0; 1 << 17];
            DataSource::new(pattern, seed, DataSource::FILL_THREAD).fill(0, &mut bytes);
            assert_eq!(image_of(&bytes), None, "{seed}");
            // The marks that chance does give to one file in 65,536.
            bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
            bytes[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
            let noise = compressible < 50;
            assert!(!noise || image_of(&bytes).is_none(), "{seed}");
        }
    }

    #[test]
    fn every_mark_of_four_bytes_makes_an_image() {
        for mark in marks::MARKS.iter().filter(|mark| mark.bytes.len() >= 4) {
            let mut bytes = vec![7; 1 << 17];
            let end = mark.offset_bytes + mark.bytes.len();
            bytes[mark.offset_bytes..end].copy_from_slice(mark.bytes);
            assert_eq!(image_of(&bytes).as_deref(), Some(mark.what));
        }
    }

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
}
