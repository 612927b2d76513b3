//! The bytes of new tables, and their write order.
//!
//! Everything written is a list of [`Patch`]es in write order, each flushed before the next. The
//! order ensures that after each of them either the old or the new table is in force ([`order`]
//! explains why); so a crash leaves one of the two.

mod gpt;
mod mbr;

pub(crate) use gpt::patches as gpt_patches;
pub(crate) use mbr::{is_protective, patches as mbr_patches};

use crate::layout::{Geometry, Layout, TableKind};

/// Bytes of a disk written at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// Bytes from the start of the disk; a whole number of sectors.
    pub offset_bytes: u64,
    /// The data; whole sectors.
    pub bytes: Vec<u8>,
    /// Description for users.
    pub what: String,
}

impl Patch {
    /// The first byte after it.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.bytes.len() as u64
    }

    /// Whether it touches any of these bytes.
    pub fn touches(&self, offset_bytes: u64, length: u64) -> bool {
        self.offset_bytes < offset_bytes.saturating_add(length) && offset_bytes < self.end_bytes()
    }
}

/// Unique identifiers of a table: from the caller's random source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifiers {
    /// 16 bytes for the disk and 16 for its partitions; the first four also serve
    /// as the disk signature of an MBR.
    pub entropy: [u8; 32],
}

impl Identifiers {
    /// Identifiers for one of up to 256 devices partitioned together; the first has these.
    pub fn numbered(&self, device: u8) -> Identifiers {
        let mut entropy = self.entropy;
        entropy[15] ^= device;
        entropy[31] ^= device;
        Identifiers { entropy }
    }

    fn guid(&self, half: usize) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.entropy[16 * half..16 * (half + 1)]);
        // RFC 9562: version 4 (random), variant 1. The first three fields are
        // stored in little-endian order, so the version is in byte 7.
        bytes[7] = (bytes[7] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        bytes
    }

    /// GUID of the disk, as stored.
    pub(crate) fn disk_guid(&self) -> [u8; 16] {
        self.guid(0)
    }

    /// GUID of a partition by its index, as stored.
    pub(crate) fn partition_guid(&self, index: u8) -> [u8; 16] {
        let mut guid = self.guid(1);
        guid[14] ^= index;
        guid
    }

    /// Disk signature of an MBR; never 0, which means none.
    pub(crate) fn disk_signature(&self) -> u32 {
        let bytes = [
            self.entropy[0],
            self.entropy[1],
            self.entropy[2],
            self.entropy[3],
        ];
        u32::from_le_bytes(bytes).max(1)
    }
}

/// The patches of a new table with these partitions, in write order. They do not remove remains of
/// an old table of the other type. An MBR only gets the first partition.
pub(crate) fn patches(geometry: &Geometry, parts: &[Layout], ids: &Identifiers) -> Vec<Patch> {
    match parts {
        [layout, ..] if layout.table == TableKind::Mbr => mbr_patches(geometry, layout, ids),
        _ => gpt_patches(geometry, parts, ids),
    }
}

/// Sorts patches into write order.
///
/// The first sector determines which type of table is in force: a protective MBR refers to a GPT.
///
/// - It becomes a protective one: everything else first, from the end of the disk backwards (the
///   backup GPT, then the primary one, then the first sector). Over an old MBR nothing changes
///   before the last write. Over an old GPT the primary one is in force until it is overwritten;
///   torn there, its checksum is wrong and the backup counts, which is the new one.
/// - It becomes anything else: it comes first, because this one sector makes the switch; remains of
///   a GPT are then ignored.
pub(crate) fn order(patches: &mut [Patch], sector_bytes: u64) {
    let protective = patches
        .iter()
        .any(|patch| patch.offset_bytes == 0 && is_protective(&patch.bytes));
    patches.sort_by_key(|patch| {
        let holds_first = patch.offset_bytes == 0;
        let rank = match (holds_first, protective) {
            (true, true) => 2,
            (true, false) => 0,
            (false, _) => 1,
        };
        // The primary header precedes its entries on disk and validates them.
        let header = patch.offset_bytes == sector_bytes;
        (rank, header, u64::MAX - patch.offset_bytes)
    });
}

#[cfg(test)]
mod tests;
