//! btrfs (Linux `fs/btrfs/ctree.h`, `struct btrfs_super_block`).

use super::FileSystemHeader;
use crate::medium::{Bytes, le, text, uuid};

const PLACE_BYTES: u64 = 65_536;

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let block = device.piece(PLACE_BYTES, 4096).ok()?;
    let unit = le::u32(&block, 144);
    // It contains its own position, so that a stray copy is not accepted.
    if &block[64..72] != b"_BHRfS_M"
        || le::u64(&block, 48) != PLACE_BYTES
        || !unit.is_power_of_two()
        || !(512..=65_536).contains(&unit)
    {
        return None;
    }
    Some(FileSystemHeader {
        kind: "btrfs".to_owned(),
        label: text(&block[299..555]),
        uuid: uuid(&block[32..48]),
        size_bytes: Some(le::u64(&block, 112)),
        allocation_unit_bytes: Some(u64::from(unit)),
        devices: Some(le::u64(&block, 136)),
        ..FileSystemHeader::default()
    })
}
