//! A disk's own data: geometry, number, and the storage properties.
//!
//! | structure | fields, by their bytes |
//! | --- | --- |
//! | `DISK_GEOMETRY_EX` | 0 `Cylinders` (64 bit), 8 `MediaType`, 12 `TracksPerCylinder`, 16 `SectorsPerTrack`, 20 `BytesPerSector`, 24 `DiskSize` (64 bit) |
//! | `STORAGE_DEVICE_NUMBER` | 0 `DeviceType`, 4 `DeviceNumber`, 8 `PartitionNumber` |
//! | `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR` | 0 `Version`, 4 `Size`, 8 `BytesPerCacheLine`, 12 `BytesOffsetForCacheAlignment`, 16 `BytesPerLogicalSector`, 20 `BytesPerPhysicalSector`, 24 `BytesOffsetForSectorAlignment` |
//! | `STORAGE_DEVICE_DESCRIPTOR` | 0 `Version`, 4 `Size`, 8 `DeviceType`, 10 `RemovableMedia`, 12 `VendorIdOffset`, 16 `ProductIdOffset`, 20 `ProductRevisionOffset`, 24 `SerialNumberOffset`, 28 `BusType`, 32 `RawPropertiesLength` |
//! | `DEVICE_SEEK_PENALTY_DESCRIPTOR` | 0 `Version`, 4 `Size`, 8 `IncursSeekPenalty` (8 bit) |
//! | `STORAGE_WRITE_CACHE_PROPERTY` | 0 `Version`, 4 `Size`, 8 `WriteCacheType`, 12 `WriteCacheEnabled`, 16 `WriteCacheChangeable`, 20 `WriteThroughSupported`, 24 `FlushCacheSupported` (8 bit), 25 `UserDefinedPowerProtection` |

use super::Decoded;
use super::answer::Answer;
use crate::medium::text;

/// Sector sizes that Windows supports or that any disk format has used.
const SECTOR_BYTES: std::ops::RangeInclusive<u32> = 256..=65_536;
/// Vendor, product, revision and serial number are shorter than this.
const TEXT_BYTES_MAX: usize = 256;

/// `DISK_GEOMETRY_EX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a logical sector.
    pub sector_bytes: u32,
    /// Its size.
    pub size_bytes: u64,
    /// A removable medium (`RemovableMedia`) or a floppy.
    pub removable: bool,
}

/// Decodes `DISK_GEOMETRY_EX`.
///
/// # Errors
/// If it is too short, or sector or size is invalid.
pub fn geometry(bytes: &[u8]) -> Decoded<Geometry> {
    // `MEDIA_TYPE`: 0 is unknown, 12 fixed; the rest are floppies and such.
    const NOT_REMOVABLE: [u32; 2] = [0, 12];
    let answer = Answer::new(bytes, "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX", 32)?;
    let sector_bytes = sector(&answer, answer.u32(20)?)?;
    Ok(Geometry {
        sector_bytes,
        size_bytes: answer.size(24, "the size")?,
        removable: !NOT_REMOVABLE.contains(&answer.u32(8)?),
    })
}

fn sector(answer: &Answer, bytes: u32) -> Decoded<u32> {
    if bytes.is_power_of_two() && SECTOR_BYTES.contains(&bytes) {
        Ok(bytes)
    } else {
        Err(answer.wrong(format!("sectors of {bytes} bytes")))
    }
}

/// `STORAGE_DEVICE_NUMBER`: the numbers of `\\.\PhysicalDriveN` and its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceNumbers {
    /// `FILE_DEVICE_DISK` is 7.
    pub kind: u32,
    /// N of `PhysicalDriveN`.
    pub disk: u32,
    /// The partition, 0 for the whole disk; absent if it cannot have any.
    pub partition: Option<u32>,
}

/// Decodes `STORAGE_DEVICE_NUMBER`.
///
/// # Errors
/// If it is too short.
pub fn device_number(bytes: &[u8]) -> Decoded<DeviceNumbers> {
    let answer = Answer::new(bytes, "IOCTL_STORAGE_GET_DEVICE_NUMBER", 12)?;
    let partition = answer.u32(8)?;
    Ok(DeviceNumbers {
        kind: answer.u32(0)?,
        disk: answer.u32(4)?,
        partition: (partition != u32::MAX).then_some(partition),
    })
}

/// `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessAlignment {
    /// Smallest addressable unit.
    pub logical_sector_bytes: u32,
    /// Smallest unit that is written without a read-modify-write.
    pub physical_sector_bytes: u32,
    /// Start of the first whole physical sector. Windows reports the offset of logical sector 0
    /// inside its physical sector; the distance to the next boundary is the rest of that sector,
    /// modulo the sector.
    pub first_physical_bytes: u32,
}

/// Decodes `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`.
///
/// # Errors
/// If it is too short, sectors are invalid, or the offset is not a whole number of logical sectors
/// inside a physical one.
pub fn access_alignment(bytes: &[u8]) -> Decoded<AccessAlignment> {
    let answer = Answer::new(bytes, "StorageAccessAlignmentProperty", 28)?;
    let logical = sector(&answer, answer.u32(16)?)?;
    let physical = sector(&answer, answer.u32(20)?)?;
    let inside = answer.u32(24)?;
    if physical < logical {
        return Err(answer.wrong(format!(
            "physical sectors of {physical} bytes below logical ones of {logical}"
        )));
    }
    if inside >= physical || !inside.is_multiple_of(logical) {
        return Err(answer.wrong(format!(
            "sector 0 starts {inside} bytes inside a physical sector of {physical}"
        )));
    }
    Ok(AccessAlignment {
        logical_sector_bytes: logical,
        physical_sector_bytes: physical,
        first_physical_bytes: (physical - inside) % physical,
    })
}

/// How a disk is attached (`STORAGE_BUS_TYPE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusType(pub u32);

impl BusType {
    /// A virtual disk of Storage Spaces.
    pub const SPACES: BusType = BusType(16);

    /// The same names as on Linux, where there is one.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [Option<&str>; 21] = [
            None,
            Some("scsi"),
            Some("atapi"),
            Some("ata"),
            Some("ieee1394"),
            Some("ssa"),
            Some("fc"),
            Some("usb"),
            Some("raid"),
            Some("iscsi"),
            Some("sas"),
            Some("sata"),
            Some("sd"),
            Some("mmc"),
            Some("virtual"),
            Some("file-backed-virtual"),
            Some("storage-spaces"),
            Some("nvme"),
            Some("scm"),
            Some("ufs"),
            Some("nvme-of"),
        ];
        NAMES.get(usize::try_from(self.0).ok()?).copied().flatten()
    }
}

/// `STORAGE_DEVICE_DESCRIPTOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceDescriptor {
    /// Maker; absent for most ATA and NVMe drives.
    pub vendor: Option<String>,
    /// Model.
    pub product: Option<String>,
    /// Revision of its firmware.
    pub revision: Option<String>,
    /// Serial number as the driver gives it (some in hexadecimal).
    pub serial: Option<String>,
    /// How it is attached.
    pub bus: BusType,
    /// The medium is removable.
    pub removable: bool,
}

impl DeviceDescriptor {
    /// Vendor and model combined.
    pub fn model(&self) -> Option<String> {
        match (&self.vendor, &self.product) {
            (Some(vendor), Some(product)) if !product.starts_with(vendor.as_str()) => {
                Some(format!("{vendor} {product}"))
            }
            (vendor, product) => product.clone().or_else(|| vendor.clone()),
        }
    }
}

/// Decodes `STORAGE_DEVICE_DESCRIPTOR`.
///
/// # Errors
/// If it is too short, or a text lies outside it.
pub fn device_descriptor(bytes: &[u8]) -> Decoded<DeviceDescriptor> {
    const FIXED_BYTES: usize = 36;
    let answer = Answer::new(bytes, "StorageDeviceProperty", FIXED_BYTES)?;
    // 0 means none; some drivers write -1.
    let words = |at: usize| -> Decoded<Option<String>> {
        let start = match answer.u32(at)? {
            0 | u32::MAX => return Ok(None),
            start => start as usize,
        };
        if start < FIXED_BYTES || start >= bytes.len() {
            return Err(answer.wrong(format!("a text at byte {start} of {} bytes", bytes.len())));
        }
        let end = bytes.len().min(start + TEXT_BYTES_MAX);
        Ok(text(&bytes[start..end]))
    };
    Ok(DeviceDescriptor {
        vendor: words(12)?,
        product: words(16)?,
        revision: words(20)?,
        serial: words(24)?,
        bus: BusType(answer.u32(28)?),
        removable: answer.byte(10)? != 0,
    })
}

/// Decodes `DEVICE_SEEK_PENALTY_DESCRIPTOR`: whether the disk rotates.
///
/// # Errors
/// If it is too short.
pub fn seek_penalty(bytes: &[u8]) -> Decoded<bool> {
    let answer = Answer::new(bytes, "StorageDeviceSeekPenaltyProperty", 9)?;
    Ok(answer.byte(8)? != 0)
}

/// `STORAGE_WRITE_CACHE_PROPERTY`; absent values are unknown to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCache {
    /// `write back` or `write through`, as on Linux. A disabled cache counts as write through.
    pub mode: Option<&'static str>,
    /// Writes can bypass the cache.
    pub forced_unit_access: Option<bool>,
    /// The user declared the power protected, so Windows sends no flushes.
    pub power_protected: bool,
}

/// Decodes `STORAGE_WRITE_CACHE_PROPERTY`.
///
/// # Errors
/// If it is too short.
pub fn write_cache(bytes: &[u8]) -> Decoded<WriteCache> {
    let answer = Answer::new(bytes, "StorageDeviceWriteCacheProperty", 27)?;
    let (kind, enabled) = (answer.u32(8)?, answer.u32(12)?);
    Ok(WriteCache {
        mode: match (kind, enabled) {
            (1 | 3, _) | (_, 1) => Some("write through"),
            (2, _) | (0, 2) => Some("write back"),
            _ => None,
        },
        forced_unit_access: match answer.u32(20)? {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        },
        power_protected: answer.byte(25)? != 0,
    })
}
