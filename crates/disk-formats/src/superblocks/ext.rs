//! ext2, ext3, ext4 (Linux `fs/ext4/ext4.h`, `struct ext4_super_block`).

use super::FileSystemHeader;
use crate::medium::{Bytes, le, text, uuid};

const HAS_JOURNAL: u32 = 0x4;
const JOURNAL_DEVICE: u32 = 0x8;
const EXTENTS: u32 = 0x40;
const SIXTY_FOUR_BIT: u32 = 0x80;
/// Incompatible features older than ext4: filetype, recover, meta_bg.
const INCOMPATIBLE_OLD: u32 = 0x2 | 0x4 | 0x10;
const BIGALLOC: u32 = 0x200;
/// Read-only compatible features older than ext4: sparse superblocks, large files, btree
/// directories.
const READ_ONLY_OLD: u32 = 0x1 | 0x2 | 0x4;

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let block = device.piece(1024, 1024).ok()?;
    if le::u16(&block, 56) != 0xef53 {
        return None;
    }
    let block_log = le::u32(&block, 24);
    let (compatible, incompatible, read_only) = (
        le::u32(&block, 92),
        le::u32(&block, 96),
        le::u32(&block, 100),
    );
    if block_log > 6 || incompatible & JOURNAL_DEVICE != 0 {
        return None;
    }
    let block_bytes = 1024u64 << block_log;
    // Clusters of several blocks; the field was previously the fragment size.
    let cluster_log = le::u32(&block, 28);
    let unit = if read_only & BIGALLOC != 0 && (block_log..=20).contains(&cluster_log) {
        1024u64 << cluster_log
    } else {
        block_bytes
    };
    let high = if incompatible & SIXTY_FOUR_BIT != 0 {
        u64::from(le::u32(&block, 0x150))
    } else {
        0
    };
    let blocks = (high << 32) | u64::from(le::u32(&block, 4));
    let kind = if incompatible & !INCOMPATIBLE_OLD != 0
        || incompatible & EXTENTS != 0
        || read_only & !READ_ONLY_OLD != 0
    {
        "ext4"
    } else if compatible & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    let in_blocks = |count: u64| (count > 0).then(|| count * block_bytes);
    Some(FileSystemHeader {
        kind: kind.to_owned(),
        label: text(&block[120..136]),
        uuid: uuid(&block[104..120]),
        size_bytes: blocks.checked_mul(block_bytes),
        allocation_unit_bytes: Some(unit),
        stripe_unit_bytes: in_blocks(u64::from(le::u16(&block, 0x164))),
        stripe_width_bytes: in_blocks(u64::from(le::u32(&block, 0x170))),
        ..FileSystemHeader::default()
    })
}
