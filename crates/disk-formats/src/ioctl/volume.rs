//! `NTFS_VOLUME_DATA_BUFFER`, the answer to `FSCTL_GET_NTFS_VOLUME_DATA`: 0
//! `VolumeSerialNumber`, 8 `NumberSectors`, 16 `TotalClusters`, 24
//! `FreeClusters`, 40 `BytesPerSector`, 44 `BytesPerCluster`, 48
//! `BytesPerFileRecordSegment`; 96 bytes, on newer systems followed by versions.

use super::Decoded;
use super::answer::Answer;

/// NTFS has clusters up to 2 MiB since Windows 10 1709.
const UNIT_BYTES_MAX: u32 = 2 << 20;

/// NTFS data of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NtfsVolume {
    /// Bytes of a cluster.
    pub allocation_unit_bytes: u64,
    /// Bytes of a logical sector.
    pub sector_bytes: u32,
    /// Total size of all sectors.
    pub size_bytes: u64,
    /// Serial number, as `fsutil` prints it.
    pub serial: String,
}

/// Decodes `NTFS_VOLUME_DATA_BUFFER`.
///
/// # Errors
/// If it is too short or its units are invalid.
pub fn ntfs_volume(bytes: &[u8]) -> Decoded<NtfsVolume> {
    let answer = Answer::new(bytes, "FSCTL_GET_NTFS_VOLUME_DATA", 96)?;
    let (sector, unit) = (answer.u32(40)?, answer.u32(44)?);
    let is_sector = sector.is_power_of_two() && (256..=65_536).contains(&sector);
    let is_unit = unit.is_power_of_two() && (sector..=UNIT_BYTES_MAX).contains(&unit);
    if !is_sector || !is_unit {
        return Err(answer.wrong(format!("clusters of {unit} bytes over sectors of {sector}")));
    }
    let sectors = answer.size(8, "the number of sectors")?;
    Ok(NtfsVolume {
        allocation_unit_bytes: u64::from(unit),
        sector_bytes: sector,
        size_bytes: sectors
            .checked_mul(u64::from(sector))
            .ok_or_else(|| answer.wrong(format!("{sectors} sectors of {sector} bytes")))?,
        serial: format!("{:016X}", answer.i64(0)?),
    })
}
