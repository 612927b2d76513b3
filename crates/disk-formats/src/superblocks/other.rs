//! Formats that are only identified: swap, ReFS, BitLocker, ISO 9660, squashfs, bcache, ZFS.

use super::FileSystemHeader;
use crate::medium::{Bytes, le, text, uuid};

/// A signature and its position.
const MARKS: [(u64, &[u8], &str); 6] = [
    (3, b"-FVE-FS-", "BitLocker"),
    (3, b"ReFS\0\0\0\0", "refs"),
    (0, b"hsqs", "squashfs"),
    (32_769, b"CD001", "iso9660"),
    (
        4096 + 24,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ],
        "bcache",
    ),
    (
        4096 + 24,
        &[
            0xc6, 0x85, 0x73, 0x66, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48,
            0xba, 0x6d,
        ],
        "bcachefs",
    ),
];

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    swap(device).or_else(|| {
        let (_, _, kind) = MARKS.iter().find(|(at, mark, _)| {
            device
                .piece(*at, mark.len())
                .is_ok_and(|piece| piece == *mark)
        })?;
        Some(FileSystemHeader {
            kind: (*kind).to_owned(),
            ..FileSystemHeader::default()
        })
    })
}

/// The swap signature is at the end of the first page, whatever the page size.
fn swap(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    [4096u64, 8192, 16_384, 65_536]
        .into_iter()
        .find_map(|page| {
            let mark = device.piece(page - 10, 10).ok()?;
            if mark != b"SWAPSPACE2" {
                return None;
            }
            let head = device.piece(1024, 52).ok()?;
            Some(FileSystemHeader {
                kind: "swap".to_owned(),
                uuid: uuid(&head[12..28]),
                label: text(&head[28..44]),
                size_bytes: (u64::from(le::u32(&head, 4)) + 1).checked_mul(page),
                allocation_unit_bytes: Some(page),
                ..FileSystemHeader::default()
            })
        })
}
