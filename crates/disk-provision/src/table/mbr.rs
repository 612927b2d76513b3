//! Master boot records, written directly: 66 bytes.
//!
//! The crate `mbrman` would work, but its serializer is unmaintained (decision 12). Old boot code
//! is not kept: it would look for what is gone.

use super::{Identifiers, Patch};
use crate::layout::{Geometry, Layout, Purpose};

const ENTRIES: usize = 446;
const ENTRY_BYTES: usize = 16;
const DISK_SIGNATURE: usize = 440;
const KIND_PROTECTIVE: u8 = 0xee;
/// Heads and sectors of the geometry assumed since disks have none of their own; the largest that
/// fits the three bytes of an address.
const HEADS: u64 = 255;
const SECTORS_PER_TRACK: u64 = 63;

/// A sector's cylinder/head/sector address in an entry. Sectors past the last cylinder (about 8 GB)
/// get the last address, as in all partitioning tools; they are not read any more.
fn chs(sector: u64) -> [u8; 3] {
    let cylinder = sector / (HEADS * SECTORS_PER_TRACK);
    if cylinder > 1023 {
        return [0xfe, 0xff, 0xff];
    }
    let head = sector / SECTORS_PER_TRACK % HEADS;
    let number = sector % SECTORS_PER_TRACK + 1;
    [
        head as u8,
        number as u8 | ((cylinder >> 2) & 0xc0) as u8,
        cylinder as u8,
    ]
}

/// An entry of the table.
fn entry(kind: u8, start: u32, sectors: u32) -> [u8; ENTRY_BYTES] {
    let last = u64::from(start) + u64::from(sectors) - 1;
    let mut bytes = [0; ENTRY_BYTES];
    bytes[1..4].copy_from_slice(&chs(start.into()));
    bytes[4] = kind;
    bytes[5..8].copy_from_slice(&chs(last));
    bytes[8..12].copy_from_slice(&start.to_le_bytes());
    bytes[12..16].copy_from_slice(&sectors.to_le_bytes());
    bytes
}

/// A whole first sector with one entry.
fn first_sector(sector_bytes: u64, signature: u32, entry: [u8; ENTRY_BYTES]) -> Vec<u8> {
    let mut sector = vec![0; sector_bytes as usize];
    sector[DISK_SIGNATURE..DISK_SIGNATURE + 4].copy_from_slice(&signature.to_le_bytes());
    sector[ENTRIES..ENTRIES + ENTRY_BYTES].copy_from_slice(&entry);
    sector[510..512].copy_from_slice(&[0x55, 0xaa]);
    sector
}

/// A table with one partition.
pub fn patches(geometry: &Geometry, layout: &Layout, ids: &Identifiers) -> Vec<Patch> {
    let sector = geometry.sector();
    let count = |bytes: u64| {
        u32::try_from(bytes / sector).expect("the layout ends below the limit of an MBR")
    };
    let kind = match layout.purpose {
        Purpose::Linux => 0x83,
        Purpose::Windows => 0x07,
    };
    let entry = entry(kind, count(layout.start_bytes), count(layout.size_bytes));
    vec![Patch {
        offset_bytes: 0,
        bytes: first_sector(sector, ids.disk_signature(), entry),
        what: "MBR".to_owned(),
    }]
}

/// The first sector of a disk with a GPT: one entry over the whole disk, from
/// sector 1 on, or as much of it as 32 bits can count (UEFI 2.10, table 5.4).
pub fn protective(geometry: &Geometry) -> Patch {
    let sectors = u32::try_from(geometry.sectors() - 1).unwrap_or(u32::MAX);
    let mut entry = entry(KIND_PROTECTIVE, 1, sectors);
    if sectors == u32::MAX {
        entry[5..8].copy_from_slice(&[0xff; 3]);
    }
    Patch {
        offset_bytes: 0,
        bytes: first_sector(geometry.sector(), 0, entry),
        what: "protective MBR".to_owned(),
    }
}

/// Whether a first sector refers to a GPT.
pub fn is_protective(sector: &[u8]) -> bool {
    sector.get(510..512) == Some(&[0x55, 0xaa])
        && (0..4).any(|index| sector[ENTRIES + ENTRY_BYTES * index + 4] == KIND_PROTECTIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_sfdisk_and_parted() {
        for (sector, want) in [
            (0, [0, 1, 0]),
            (63, [1, 1, 0]),
            (2048, [0x20, 0x21, 0]),
            (16_065, [0, 1, 1]),
            (16_065 * 1023 + 16_064, [0xfe, 0xff, 0xff]),
            (16_065 * 1024, [0xfe, 0xff, 0xff]),
            (u64::MAX, [0xfe, 0xff, 0xff]),
        ] {
            assert_eq!(chs(sector), want, "{sector}");
        }
    }

    #[test]
    fn a_protective_record_covers_the_disk_and_is_told_from_others() {
        for (size, want) in [(1 << 20, 2047), (2 << 40, u32::MAX), (8 << 40, u32::MAX)] {
            let geometry = Geometry {
                size_bytes: size,
                logical_sector_bytes: 512,
                physical_sector_bytes: 512,
            };
            let patch = protective(&geometry);
            assert_eq!(patch.bytes[446 + 12..462], want.to_le_bytes());
            assert_eq!(patch.bytes[446..450], [0, 0, 2, 0], "UEFI's first address");
            assert!(is_protective(&patch.bytes));
        }
        assert!(!is_protective(&first_sector(512, 1, entry(0x83, 63, 100))));
        assert!(!is_protective(&[0; 512]));
        assert!(!is_protective(&[]));
    }
}
