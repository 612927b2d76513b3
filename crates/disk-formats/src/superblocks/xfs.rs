//! XFS (Linux `fs/xfs/libxfs/xfs_format.h`, `struct xfs_dsb`); big-endian.

use super::FileSystemHeader;
use crate::medium::{Bytes, be, text, uuid};

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let block = device.piece(0, 512).ok()?;
    if &block[..4] != b"XFSB" {
        return None;
    }
    let block_bytes = be::u32(&block, 4);
    let sector_bytes = be::u16(&block, 102);
    if !block_bytes.is_power_of_two()
        || !(512..=65_536).contains(&block_bytes)
        || !sector_bytes.is_power_of_two()
        || sector_bytes < 512
    {
        return None;
    }
    let in_blocks = |at: usize| {
        let count = u64::from(be::u32(&block, at));
        (count > 0).then(|| count * u64::from(block_bytes))
    };
    Some(FileSystemHeader {
        kind: "xfs".to_owned(),
        label: text(&block[108..120]),
        uuid: uuid(&block[32..48]),
        size_bytes: be::u64(&block, 8).checked_mul(u64::from(block_bytes)),
        allocation_unit_bytes: Some(u64::from(block_bytes)),
        stripe_unit_bytes: in_blocks(184),
        stripe_width_bytes: in_blocks(188),
        ..FileSystemHeader::default()
    })
}
