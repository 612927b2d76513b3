//! FAT12, FAT16, FAT32 and exFAT: their boot sectors.

use super::FileSystemHeader;
use crate::medium::{Bytes, le, text};

/// Recognises a FAT boot sector by its parameter block, as the type strings are not binding.
pub fn is_boot_sector(sector: &[u8]) -> bool {
    parameters(sector).is_some() || sector.get(3..11) == Some(b"EXFAT   ")
}

struct Parameters {
    sector_bytes: u64,
    cluster_sectors: u64,
    sectors: u64,
    clusters: u64,
    is_32: bool,
}

fn parameters(sector: &[u8]) -> Option<Parameters> {
    if sector.get(510..512)? != [0x55, 0xaa] || !matches!(sector[0], 0xeb | 0xe9) {
        return None;
    }
    let sector_bytes = u64::from(le::u16(sector, 11));
    let cluster_sectors = u64::from(sector[13]);
    let reserved = u64::from(le::u16(sector, 14));
    let tables = u64::from(sector[16]);
    let media = sector[21];
    if ![512, 1024, 2048, 4096].contains(&sector_bytes)
        || !cluster_sectors.is_power_of_two()
        || reserved == 0
        || !(1..=2).contains(&tables)
        || !(media == 0xf0 || media >= 0xf8)
    {
        return None;
    }
    let root_entries = u64::from(le::u16(sector, 17));
    let either = |small: u16, large: u32| {
        if small != 0 {
            u64::from(small)
        } else {
            u64::from(large)
        }
    };
    let sectors = either(le::u16(sector, 19), le::u32(sector, 32));
    let table_sectors = either(le::u16(sector, 22), le::u32(sector, 36));
    let used = reserved + tables * table_sectors + (root_entries * 32).div_ceil(sector_bytes);
    let clusters = sectors.checked_sub(used)? / cluster_sectors;
    if table_sectors == 0 || clusters == 0 {
        return None;
    }
    Some(Parameters {
        sector_bytes,
        cluster_sectors,
        sectors,
        clusters,
        is_32: le::u16(sector, 22) == 0,
    })
}

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let sector = device.piece(0, 512).ok()?;
    let found = parameters(&sector)?;
    // FAT32 has serial number and label at higher offsets.
    let (serial, label) = if found.is_32 { (67, 71) } else { (39, 43) };
    let signed = matches!(sector[serial - 1], 0x28 | 0x29);
    let number = le::u32(&sector, serial);
    // Linux and Windows both distinguish 12 from 16 by the number of clusters.
    let kind = match (found.is_32, found.clusters) {
        (true, _) => "vfat (FAT32)",
        (false, 0..=4084) => "vfat (FAT12)",
        _ => "vfat (FAT16)",
    };
    Some(FileSystemHeader {
        kind: kind.to_owned(),
        label: text(&sector[label..label + 11]).filter(|label| signed && label != "NO NAME"),
        uuid: signed.then(|| format!("{:04X}-{:04X}", number >> 16, number & 0xffff)),
        size_bytes: Some(found.sectors * found.sector_bytes),
        allocation_unit_bytes: Some(found.cluster_sectors * found.sector_bytes),
        start_bytes: Some(u64::from(le::u32(&sector, 28)) * found.sector_bytes)
            .filter(|at| *at > 0),
        ..FileSystemHeader::default()
    })
}

pub fn read_exfat(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let sector = device.piece(0, 512).ok()?;
    let (sector_shift, cluster_shift) = (sector[108], sector[109]);
    if &sector[3..11] != b"EXFAT   "
        || sector[510..512] != [0x55, 0xaa]
        || !(9..=12).contains(&sector_shift)
        || sector_shift + cluster_shift.min(64) > 25
    {
        return None;
    }
    let number = le::u32(&sector, 100);
    let bytes = |sectors: u64| sectors.checked_mul(1 << sector_shift);
    Some(FileSystemHeader {
        kind: "exfat".to_owned(),
        uuid: Some(format!("{:04X}-{:04X}", number >> 16, number & 0xffff)),
        size_bytes: bytes(le::u64(&sector, 72)),
        allocation_unit_bytes: Some(1 << (sector_shift + cluster_shift)),
        start_bytes: bytes(le::u64(&sector, 64)).filter(|at| *at > 0),
        ..FileSystemHeader::default()
    })
}
