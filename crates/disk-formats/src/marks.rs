//! Well-known signatures in the first bytes of a device or partition: its apparent content. Finding
//! none proves nothing; nothing is parsed here. In addition to warning users of data loss, the
//! positions are used to wipe signatures, so that the remains of a file system are not mistaken for
//! a live one.

/// Enough for btrfs, whose signature has the largest offset.
pub const HEAD_BYTES: usize = 0x10048;

/// A signature and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Bytes from the start of the device or partition.
    pub offset_bytes: usize,
    /// The signature bytes.
    pub bytes: &'static [u8],
    /// Its meaning, with an article: `an XFS file system`.
    pub what: &'static str,
    /// A partition table or boot sector, not content.
    pub is_table: bool,
}

const fn contents(offset_bytes: usize, bytes: &'static [u8], what: &'static str) -> Mark {
    Mark {
        offset_bytes,
        bytes,
        what,
        is_table: false,
    }
}

const fn table(offset_bytes: usize, bytes: &'static [u8], what: &'static str) -> Mark {
    Mark {
        offset_bytes,
        bytes,
        what,
        is_table: true,
    }
}

/// All known signatures; of several that match, the first is the most specific.
pub const MARKS: [Mark; 20] = [
    contents(0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    contents(0, b"XFSB", "an XFS file system"),
    contents(0x10040, b"_BHRfS_M", "a btrfs file system"),
    contents(0x438, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
    contents(3, b"NTFS    ", "an NTFS file system"),
    contents(3, b"EXFAT   ", "an exFAT file system"),
    contents(82, b"FAT32", "a FAT file system"),
    contents(54, b"FAT1", "a FAT file system"),
    contents(0x400, b"\x10\x20\xf5\xf2", "an F2FS file system"),
    contents(0x8001, b"CD001", "an ISO 9660 file system"),
    contents(512, b"LABELONE", "a physical volume of LVM"),
    contents(4096, b"\xfc\x4e\x2b\xa9", "a member of an md array"),
    contents(0, b"\xfc\x4e\x2b\xa9", "a member of an md array"),
    contents(
        4096 + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca",
        "a device of bcache",
    ),
    contents(4086, b"SWAPSPACE2", "swap space"),
    contents(32, b"ORCLDISK", "a disk of Oracle ASM"),
    contents(0, b"SQLite format 3\0", "a SQLite database"),
    table(512, b"EFI PART", "a partition table (GPT)"),
    table(4096, b"EFI PART", "a partition table (GPT)"),
    table(510, b"\x55\xaa", "a partition table or boot sector"),
];

/// The signatures found in the first bytes.
pub fn found(head: &[u8]) -> Vec<&'static Mark> {
    let fits = |mark: &&Mark| {
        head.get(mark.offset_bytes..mark.offset_bytes + mark.bytes.len()) == Some(mark.bytes)
    };
    MARKS.iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_found_at_its_place_and_nowhere_else() {
        for mark in &MARKS {
            let mut head = vec![0u8; HEAD_BYTES];
            let end = mark.offset_bytes + mark.bytes.len();
            head[mark.offset_bytes..end].copy_from_slice(mark.bytes);
            assert_eq!(found(&head), [mark]);
            head.remove(0);
            assert!(!found(&head).contains(&mark), "one byte off");
        }
        assert_eq!(found(&[0; 100]), Vec::<&Mark>::new());
        assert_eq!(found(&[]), Vec::<&Mark>::new());
    }

    #[test]
    fn the_file_system_comes_before_its_boot_sector() {
        let mut head = vec![0u8; HEAD_BYTES];
        head[510..512].copy_from_slice(b"\x55\xaa");
        head[3..11].copy_from_slice(b"NTFS    ");
        let what: Vec<&str> = found(&head).iter().map(|mark| mark.what).collect();
        assert_eq!(
            what,
            ["an NTFS file system", "a partition table or boot sector"]
        );
    }
}
