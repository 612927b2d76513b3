//! GUID partition tables (UEFI 2.10, section 5.3): a header of 92 bytes and 128 entries of 128
//! bytes at the start of the disk, and a copy at its end.

use super::{Identifiers, Patch, mbr};
use crate::layout::{
    GPT_ENTRIES as ENTRIES, GPT_ENTRY_BYTES as ENTRY_BYTES, Geometry, Layout, Purpose,
};

/// `0FC63DAF-8483-4772-8E79-3D69D8477DE4`, Linux file system, as stored.
const LINUX: [u8; 16] = [
    0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47, 0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
];
/// `EBD0A0A2-B9E5-4433-87C0-68B6B72699C7`, Microsoft basic data, as stored.
const WINDOWS: [u8; 16] = [
    0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44, 0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7,
];

const HEADER_BYTES: usize = 92;
/// Position of the header's own checksum, which is computed with zeros there.
const HEADER_CHECKSUM: std::ops::Range<usize> = 16..20;
/// The first sector of the entries of the primary table.
const PRIMARY_ENTRIES: u64 = 2;

/// The backup's entries and header, the primary's, the protective MBR.
pub fn patches(geometry: &Geometry, parts: &[Layout], ids: &Identifiers) -> Vec<Patch> {
    let sector = geometry.sector();
    let entries = entries(sector, parts, ids);
    let entries_sectors = entries.len() as u64 / sector;
    // At least a sector is between the two tables.
    assert!(geometry.sectors() > 2 * entries_sectors + 3);
    let last = geometry.sectors() - 1;
    let backup_entries = last - entries_sectors;
    let header = |at: u64, other: u64, entries_at: u64| {
        let mut bytes = Vec::with_capacity(sector as usize);
        bytes.extend(b"EFI PART");
        bytes.extend([0, 0, 1, 0]); // Revision 1.0.
        bytes.extend((HEADER_BYTES as u32).to_le_bytes());
        bytes.extend([0; 8]); // Its checksum, and a reserved field.
        let usable = [PRIMARY_ENTRIES + entries_sectors, backup_entries - 1];
        for lba in [at, other].into_iter().chain(usable) {
            bytes.extend(lba.to_le_bytes());
        }
        bytes.extend(ids.disk_guid());
        bytes.extend(entries_at.to_le_bytes());
        bytes.extend((ENTRIES as u32).to_le_bytes());
        bytes.extend((ENTRY_BYTES as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&entries[..ENTRIES * ENTRY_BYTES]).to_le_bytes());
        let checksum = crc32fast::hash(&bytes);
        bytes[HEADER_CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes.resize(sector as usize, 0);
        bytes
    };
    let patch = |first: u64, bytes: Vec<u8>, what: &str| Patch {
        offset_bytes: first * sector,
        bytes,
        what: what.to_owned(),
    };
    vec![
        patch(backup_entries, entries.clone(), "entries of the backup GPT"),
        patch(
            last,
            header(last, 1, backup_entries),
            "header of the backup GPT",
        ),
        patch(PRIMARY_ENTRIES, entries.clone(), "entries of the GPT"),
        patch(1, header(1, last, PRIMARY_ENTRIES), "header of the GPT"),
        mbr::protective(geometry),
    ]
}

/// All entries, up to the end of their last sector.
fn entries(sector: u64, parts: &[Layout], ids: &Identifiers) -> Vec<u8> {
    assert!(parts.len() <= ENTRIES, "more partitions than entries");
    let size = (ENTRIES * ENTRY_BYTES).next_multiple_of(sector as usize);
    let mut bytes = Vec::with_capacity(size);
    for (index, layout) in (0u8..).zip(parts) {
        let end = layout.start_bytes + layout.size_bytes;
        bytes.extend(match layout.purpose {
            Purpose::Linux => LINUX,
            Purpose::Windows => WINDOWS,
        });
        bytes.extend(ids.partition_guid(index));
        bytes.extend((layout.start_bytes / sector).to_le_bytes());
        bytes.extend((end / sector - 1).to_le_bytes());
        // No attributes, no name.
        bytes.resize((usize::from(index) + 1) * ENTRY_BYTES, 0);
    }
    bytes.resize(size, 0);
    bytes
}
