//! Members of md arrays: superblocks of version 0.90 and 1.0 to 1.2
//! (Linux `include/uapi/linux/raid/md_p.h`). Checksums are verified.

use crate::medium::{Bytes, le, text, uuid};
use serde::Serialize;

const MAGIC: u32 = 0xa92b_4efc;
const SECTOR_BYTES: u64 = 512;
/// Most member slots in a 4 KiB superblock of version 1.
const ROLES_MAX: u32 = 1920;

/// Position of a member's superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum MetadataPlace {
    /// 0.90: 64 to 128 KiB before the end; data starts at 0.
    #[serde(rename = "0.90")]
    V090,
    /// 1.0: 8 to 12 KiB before the end; data usually starts at 0.
    #[serde(rename = "1.0")]
    V10,
    /// 1.1: at the start.
    #[serde(rename = "1.1")]
    V11,
    /// 1.2: at 4 KiB.
    #[serde(rename = "1.2")]
    V12,
}

/// A member of an array, with the array's data from its superblock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Member {
    /// Version of the metadata.
    pub metadata: MetadataPlace,
    /// The array's UUID.
    pub array_uuid: Option<String>,
    /// `host:name`.
    pub name: Option<String>,
    /// `raid0`, `raid10`...
    pub level: &'static str,
    /// The level's layout number, in the kernel's encoding.
    pub layout: u32,
    /// Stripe unit; absent for levels without one.
    pub stripe_unit_bytes: Option<u64>,
    /// Number of members of the complete array.
    pub disks: u32,
    /// This member's slot; absent for spares.
    pub slot: Option<u32>,
    /// Start of the data on this member.
    pub data_offset_bytes: u64,
}

pub fn read(device: &mut dyn Bytes) -> Option<Member> {
    let sectors = device.size_bytes() / SECTOR_BYTES;
    let at_end = sectors.checked_sub(16).map(|at| (at & !7) * SECTOR_BYTES);
    version_1(device, 4096, MetadataPlace::V12)
        .or_else(|| version_1(device, 0, MetadataPlace::V11))
        .or_else(|| version_1(device, at_end?, MetadataPlace::V10))
        .or_else(|| version_090(device))
}

fn version_1(device: &mut dyn Bytes, at: u64, metadata: MetadataPlace) -> Option<Member> {
    let head = device.piece(at, 256).ok()?;
    if le::u32(&head, 0) != MAGIC || le::u32(&head, 4) != 1 {
        return None;
    }
    let roles = le::u32(&head, 220);
    if roles > ROLES_MAX || le::u64(&head, 144) != at / SECTOR_BYTES {
        return None;
    }
    let block = device.piece(at, 256 + 2 * roles as usize).ok()?;
    if checksum(&block) != le::u32(&block, 216) {
        return None;
    }
    let number = le::u32(&block, 160);
    let role = if number < roles {
        le::u16(&block, 256 + 2 * number as usize)
    } else {
        u16::MAX
    };
    Some(Member {
        metadata,
        array_uuid: uuid(&block[16..32]),
        name: text(&block[32..64]),
        level: level(le::u32(&block, 72)),
        layout: le::u32(&block, 76),
        stripe_unit_bytes: Some(u64::from(le::u32(&block, 88)) * SECTOR_BYTES)
            .filter(|bytes| *bytes > 0),
        disks: le::u32(&block, 92),
        slot: (role < 0xfff0).then(|| u32::from(role)),
        data_offset_bytes: le::u64(&block, 128).checked_mul(SECTOR_BYTES)?,
    })
}

/// The sum of all words except the checksum, folded into 32 bits.
fn checksum(block: &[u8]) -> u32 {
    let mut sum: u64 = 0;
    for (index, word) in block.chunks(4).enumerate() {
        let value = match word.len() {
            4 => le::u32(word, 0),
            _ => u32::from(le::u16(word, 0)),
        };
        if index != 216 / 4 {
            sum += u64::from(value);
        }
    }
    ((sum & 0xffff_ffff) + (sum >> 32)) as u32
}

/// Version 0.90 has the byte order of the machine that created it; only little-endian is supported.
fn version_090(device: &mut dyn Bytes) -> Option<Member> {
    const RESERVED: u64 = 65_536;
    let at = (device.size_bytes() & !(RESERVED - 1)).checked_sub(RESERVED)?;
    if le::u32(&device.piece(at, 4).ok()?, 0) != MAGIC {
        return None;
    }
    let block = device.piece(at, 4096).ok()?;
    let word = |index: usize| le::u32(&block, 4 * index);
    let sum: u64 = (0..1024)
        .filter(|index| *index != 38)
        .map(|index| u64::from(word(index)))
        .sum();
    // The kernel folds once; old tools did not fold at all.
    let folded = ((sum & 0xffff_ffff) + (sum >> 32)) as u32;
    if word(1) != 0 || (folded != word(38) && sum as u32 != word(38)) {
        return None;
    }
    let mut id = Vec::with_capacity(16);
    for index in [5, 13, 14, 15] {
        id.extend_from_slice(&block[4 * index..4 * index + 4]);
    }
    let slot = word(992 + 3);
    Some(Member {
        metadata: MetadataPlace::V090,
        array_uuid: uuid(&id),
        name: None,
        level: level(word(7)),
        layout: word(64),
        stripe_unit_bytes: Some(u64::from(word(65))).filter(|bytes| *bytes > 0),
        disks: word(10),
        slot: (slot < word(10)).then_some(slot),
        data_offset_bytes: 0,
    })
}

fn level(number: u32) -> &'static str {
    match number as i32 {
        -4 => "multipath",
        -1 => "linear",
        0 => "raid0",
        1 => "raid1",
        4 => "raid4",
        5 => "raid5",
        6 => "raid6",
        10 => "raid10",
        _ => "unknown",
    }
}
