//! What a device seems to hold, so that the plan can say what would be lost.
//! A few well-known marks in its first bytes; finding none means nothing.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Enough for btrfs, whose mark lies furthest in.
const HEAD_BYTES: usize = 0x10048;

/// Offset, mark, and what it stands for; the first that fits is told.
const MARKS: [(usize, &[u8], &str); 17] = [
    (0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    (0, b"XFSB", "an XFS file system"),
    (0x10040, b"_BHRfS_M", "a btrfs file system"),
    (0x438, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
    (3, b"NTFS    ", "an NTFS file system"),
    (3, b"EXFAT   ", "an exFAT file system"),
    (82, b"FAT32", "a FAT file system"),
    (54, b"FAT1", "a FAT file system"),
    (512, b"LABELONE", "a physical volume of LVM"),
    (4096, b"\xfc\x4e\x2b\xa9", "a member of an md array"),
    (0, b"\xfc\x4e\x2b\xa9", "a member of an md array"),
    (4086, b"SWAPSPACE2", "swap space"),
    (32, b"ORCLDISK", "a disk of Oracle ASM"),
    (0, b"SQLite format 3\0", "a SQLite database"),
    (512, b"EFI PART", "a partition table (GPT)"),
    (4096, b"EFI PART", "a partition table (GPT)"),
    (510, b"\x55\xaa", "a partition table or boot sector"),
];

/// What the first bytes look like.
pub(super) fn of_head(head: &[u8]) -> Option<&'static str> {
    let fits = |(offset, mark, _): &&(usize, &[u8], &str)| {
        head.get(*offset..offset + mark.len())
            .is_some_and(|found| found == *mark)
    };
    MARKS.iter().find(fits).map(|(_, _, what)| *what)
}

/// Reads the first bytes of an open device.
pub(super) fn of(file: &File) -> Option<&'static str> {
    let mut head = vec![0u8; HEAD_BYTES];
    let got = file.read_at(&mut head, 0).ok()?;
    of_head(&head[..got])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_found_at_its_place_and_nowhere_else() {
        for (offset, mark, what) in MARKS {
            let mut head = vec![0u8; HEAD_BYTES];
            head[offset..offset + mark.len()].copy_from_slice(mark);
            assert_eq!(of_head(&head), Some(what));
            head.remove(0);
            assert_ne!(of_head(&head), Some(what), "one byte off");
        }
        assert_eq!(of_head(&[0; 100]), None);
        assert_eq!(of_head(&[]), None);
    }

    #[test]
    fn the_file_system_is_told_rather_than_its_boot_sector() {
        let mut head = vec![0u8; HEAD_BYTES];
        head[510..512].copy_from_slice(b"\x55\xaa");
        head[3..11].copy_from_slice(b"NTFS    ");
        assert_eq!(of_head(&head), Some("an NTFS file system"));
    }
}
