//! NTFS: its boot sector.

use super::FileSystemHeader;
use crate::medium::{Bytes, le};

pub fn is_boot_sector(sector: &[u8]) -> bool {
    sector.get(3..11) == Some(b"NTFS    ")
}

pub fn read(device: &mut dyn Bytes) -> Option<FileSystemHeader> {
    let sector = device.piece(0, 512).ok()?;
    if !is_boot_sector(&sector) || sector[510..512] != [0x55, 0xaa] {
        return None;
    }
    let sector_bytes = u64::from(le::u16(&sector, 11));
    if !sector_bytes.is_power_of_two() || !(256..=65_536).contains(&sector_bytes) {
        return None;
    }
    let cluster = cluster_sectors(sector[13])?.checked_mul(sector_bytes)?;
    if cluster > 2 << 20 {
        return None;
    }
    Some(FileSystemHeader {
        kind: "ntfs".to_owned(),
        uuid: Some(format!("{:016X}", le::u64(&sector, 72))),
        size_bytes: le::u64(&sector, 40)
            .checked_add(1)
            .and_then(|sectors| sectors.checked_mul(sector_bytes)),
        allocation_unit_bytes: Some(cluster),
        start_bytes: Some(u64::from(le::u32(&sector, 28)) * sector_bytes).filter(|at| *at > 0),
        ..FileSystemHeader::default()
    })
}

/// Sectors per cluster; values above 128 are the negative of their logarithm (clusters over 64 KiB,
/// since Windows 10 1709).
fn cluster_sectors(byte: u8) -> Option<u64> {
    match byte {
        0 => None,
        1..=128 => byte.is_power_of_two().then_some(u64::from(byte)),
        _ => {
            let power = 256 - u32::from(byte);
            (power <= 12).then(|| 1 << power)
        }
    }
}
