//! Content of the mark on kept files.
//!
//! It holds a version, a unique id and the size. Alone it proves nothing, as copies carry it too;
//! combined with the file's identity and size in the store it does. The platform module decides
//! where it is kept.

use crate::{MadeFile, PlanContext};
use std::fs::File;
use std::io::{self, Read, Seek};
use stripewise_disk_formats::medium::{Bytes, Medium};
use stripewise_disk_formats::{marks, superblocks, tables};
use stripewise_workload::foreign_block;

/// Who made a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// No mark.
    Foreign,
    /// A mark, but not on the marked file, or unknown to the store. The text says which.
    Doubtful(String),
    /// Stripewise, for certain.
    We,
}

/// The text of a mark.
pub(crate) fn text(id: &str, size_bytes: u64) -> String {
    format!("version=1 id={id} size={size_bytes}")
}

/// Judges a file by its mark, if it has one. `found`: the file as it is now, with the id from its
/// mark.
pub(crate) fn judge(
    mark: Option<&str>,
    found: impl FnOnce(&str) -> MadeFile,
    knowledge: &PlanContext<'_>,
) -> Maker {
    let Some(mark) = mark else {
        return Maker::Foreign;
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

/// Detects a file made by Stripewise that now holds foreign data (`mkfs` on it, a virtual disk, a
/// text) although inode, birth time and size still match. Data that Stripewise writes identifies
/// itself ([`foreign_block`]), so nothing needs to be known of what others write: the first and
/// last [`END_BYTES`] are read whole, because that is where file systems, arrays, volumes and disk
/// images keep their metadata, and a sample of blocks between them. Known formats are named.
pub(crate) fn unless_foreign(maker: Maker, file: &File, size_bytes: u64) -> Maker {
    if maker != Maker::We {
        return maker;
    }
    match foreign_data(file, size_bytes) {
        Ok(None) => maker,
        Ok(Some(what)) => Maker::Doubtful(format!("it holds {what} now")),
        Err(os) => Maker::Doubtful(format!("what it holds now cannot be read: {os}")),
    }
}

/// ZFS has two labels of 256 KiB at each end, and md metadata within 128 KiB of it.
const END_BYTES: u64 = 1 << 20;
/// Number and size of sampled blocks between the ends.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: u64 = 4096;

fn foreign_data<R: Read + Seek>(mut file: R, size_bytes: u64) -> io::Result<Option<String>> {
    let known = named(&mut Medium::new(&mut file, size_bytes));
    if known.is_some() {
        return Ok(known);
    }
    let mut medium = Medium::new(&mut file, size_bytes);
    for (at, length) in candidate_places(size_bytes) {
        let piece = medium.piece(at, usize::try_from(length).unwrap_or(usize::MAX))?;
        if let Some(inside) = foreign_block(&piece) {
            let at = at + inside as u64;
            return Ok(Some(format!(
                "data that Stripewise did not write (in the block at byte {at})"
            )));
        }
    }
    Ok(None)
}

/// Offset and length of each sampled range; all offsets are multiples of 4 KiB.
fn candidate_places(size_bytes: u64) -> Vec<(u64, u64)> {
    let tail = size_bytes.saturating_sub(END_BYTES) / SAMPLE_BYTES * SAMPLE_BYTES;
    if tail <= END_BYTES {
        return vec![(0, size_bytes)];
    }
    let between = tail - END_BYTES;
    let samples = SAMPLES.min(between / SAMPLE_BYTES);
    let sample = |index: u64| {
        let into = u128::from(between) * u128::from(index) / u128::from(samples);
        let at = END_BYTES + u64::try_from(into).unwrap_or(between);
        (at / SAMPLE_BYTES * SAMPLE_BYTES, SAMPLE_BYTES)
    };
    let mut places = vec![(0, END_BYTES)];
    places.extend((0..samples).map(sample));
    places.push((tail, size_bytes - tail));
    places
}

/// Name of the foreign data, if it has a signature unlikely by chance: four bytes or more, or with
/// a superblock or partition table around it.
fn named<R: Read + Seek>(medium: &mut Medium<R>) -> Option<String> {
    let head_bytes = usize::try_from(medium.size_bytes())
        .unwrap_or(usize::MAX)
        .min(marks::HEAD_BYTES);
    let head = medium.piece(0, head_bytes).ok()?;
    let marks = marks::found(&head);
    if let Some(mark) = marks.iter().find(|mark| mark.bytes.len() >= 4) {
        return Some(mark.what.to_owned());
    }
    if let Ok(Some(found)) = superblocks::read(medium) {
        return Some(format!("something of the kind {}", found.kind()));
    }
    let table = tables::read(medium, None).ok()??;
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

    fn foreign_data_in(bytes: &[u8]) -> Option<String> {
        foreign_data(io::Cursor::new(bytes), bytes.len() as u64).expect("readable")
    }

    fn ours(compressible_percent: u8, seed: u64, length: usize) -> Vec<u8> {
        let pattern = DataPattern {
            compressible_percent,
            dedupable_percent: 0,
        };
        let mut bytes = vec![0; length];
        DataSource::new(pattern, seed, DataSource::FILL_THREAD).fill(0, &mut bytes);
        bytes
    }

    #[test]
    fn what_we_write_is_ours_and_two_bytes_of_a_mark_are_not_enough() {
        for (seed, compressible) in (0..80).zip([0, 50, 90, 100].into_iter().cycle()) {
            let mut bytes = ours(compressible, seed, 1 << 17);
            assert_eq!(foreign_data_in(&bytes), None, "{seed}");
            // Short signatures that occur by chance in one file in 65,536.
            bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
            bytes[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
            let noise = compressible < 50;
            assert!(!noise || foreign_data_in(&bytes).is_none(), "{seed}");
        }
    }

    #[test]
    fn every_mark_of_four_bytes_is_named() {
        for mark in marks::MARKS.iter().filter(|mark| mark.bytes.len() >= 4) {
            let mut bytes = vec![7; 1 << 17];
            let end = mark.offset_bytes + mark.bytes.len();
            bytes[mark.offset_bytes..end].copy_from_slice(mark.bytes);
            assert_eq!(foreign_data_in(&bytes).as_deref(), Some(mark.what));
        }
    }

    /// Metadata of each of these formats as written by its tools: a piece followed by zeros or the
    /// old contents, and its offset in a file of the given size.
    #[test]
    fn what_describes_an_image_is_seen_wherever_it_lies() {
        const SIZE: usize = 5 << 20;
        fn block(length: usize, magic: &[u8]) -> Vec<u8> {
            let mut bytes = vec![0; length];
            bytes[..magic.len()].copy_from_slice(magic);
            bytes[magic.len() + 8] = 1;
            bytes
        }
        let member = block(512, b"\xfc\x4e\x2b\xa9\x01\0\0\0");
        let mut tar = block(512, b"home/somebody/letter.txt");
        tar[257..263].copy_from_slice(b"ustar\0");
        let disk_text = b"# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\n\
                          createType=\"monolithicFlat\"\n\nRW 10240 FLAT \"kept\" 0\n";
        let cases: [(&str, usize, Vec<u8>); 16] = [
            ("md 1.0", SIZE - 8192, member.clone()),
            (
                "md 1.0, 12 KiB before the end",
                SIZE - 12_288,
                member.clone(),
            ),
            ("md 0.90", SIZE - 65_536, block(4096, b"\xfc\x4e\x2b\xa9")),
            ("md 1.1", 0, member.clone()),
            ("md 1.2", 4096, member),
            (
                "ZFS, its first label",
                16_384,
                block(4096, b"\x01\x01\0\0\0\0\0\0"),
            ),
            (
                "ZFS, its last label",
                SIZE - 262_144 + 131_072,
                block(1024, b"\x0c\xb1\xba\0"),
            ),
            (
                "LVM in its fourth sector",
                1536,
                block(512, b"LABELONE\x03\0\0\0"),
            ),
            ("qcow2", 0, block(65_536, b"QFI\xfb\0\0\0\x03")),
            ("vmdk", 0, block(512, b"KDMV\x01\0\0\0")),
            ("vmdk's description", 0, disk_text.to_vec()),
            (
                "VDI",
                0,
                block(512, b"<<< Oracle VM VirtualBox Disk Image >>>\n"),
            ),
            ("VHDX", 0, block(65_536, b"vhdxfile")),
            ("VHD, fixed", SIZE - 512, block(512, b"conectix\0\0\0\x02")),
            (
                "bcachefs",
                4096,
                block(4096, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9"),
            ),
            ("BlueStore", 0, block(4096, b"bluestore block device\n")),
        ];
        let tar = ("tar", 0, tar);
        for compressible in [0, 50, 100] {
            let plain = ours(compressible, 3, SIZE);
            for (what, at, piece) in cases.iter().chain([&tar]) {
                let mut bytes = plain.clone();
                bytes[*at..*at + piece.len()].copy_from_slice(piece);
                assert!(
                    foreign_data_in(&bytes).is_some(),
                    "{what} over {compressible} %"
                );
            }
        }
    }

    #[test]
    fn what_is_copied_over_the_middle_is_seen_and_what_cannot_be_read_is_not_ours() {
        let mut bytes = ours(0, 4, 16 << 20);
        // Shorter than declared.
        assert!(foreign_data(io::Cursor::new(&bytes), 17 << 20).is_err());
        let at = 10 << 20;
        bytes[at..at + (1 << 18)].fill(b'x');
        let said = foreign_data_in(&bytes).expect("seen");
        assert!(said.contains("did not write"), "{said}");
    }

    #[test]
    fn the_places_to_look_at_are_both_ends_and_blocks_between() {
        assert_eq!(candidate_places(4096), [(0, 4096)]);
        assert_eq!(candidate_places(2 << 20), [(0, 2 << 20)]);
        let places = candidate_places((1 << 40) + 512);
        assert_eq!(places.len(), 66);
        assert_eq!(places[0], (0, END_BYTES));
        assert_eq!(places[65], ((1 << 40) - (1 << 20), (1 << 20) + 512));
        for pair in places.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
            assert!(pair[1].0.is_multiple_of(4096), "{pair:?}");
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
