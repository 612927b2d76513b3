//! Superblocks: identify the content of a partition or device by its first bytes.
//!
//! Each parser takes [`Bytes`] and returns what it recognised, after checks that rule out chance
//! matches (magic numbers, checksums if present, sizes in range). All numbers from the disk are
//! bounded before use.

mod btrfs;
mod ext;
mod fat;
mod luks;
pub mod lvm;
mod lvm_text;
mod md;
mod ntfs;
mod other;
mod xfs;

pub use luks::Encrypted;
pub use md::{Member, MetadataPlace};

use crate::medium::Bytes;
use serde::Serialize;
use std::io::Result;

/// A file system, as described by its superblock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FileSystemHeader {
    /// `ext4`, `xfs`, `btrfs`, `ntfs`, `exfat`, `vfat`, `swap`...
    pub kind: String,
    /// Label.
    pub label: Option<String>,
    /// UUID or volume serial number, as other tools print it.
    pub uuid: Option<String>,
    /// Its size according to the superblock.
    pub size_bytes: Option<u64>,
    /// Bytes of one allocation unit (block, cluster).
    pub allocation_unit_bytes: Option<u64>,
    /// Stripe unit set at creation (ext stride, XFS sunit).
    pub stripe_unit_bytes: Option<u64>,
    /// Full stripe set at creation (ext stripe width, XFS swidth).
    pub stripe_width_bytes: Option<u64>,
    /// Number of devices, for file systems that may have several.
    pub devices: Option<u64>,
    /// Its start on the disk according to the superblock (NTFS, FAT: hidden sectors).
    pub start_bytes: Option<u64>,
}

/// The recognised content of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "holds")]
pub enum Found {
    /// A file system, or swap.
    FileSystem(FileSystemHeader),
    /// A member of an md array.
    Member(Member),
    /// A physical volume of LVM.
    PhysicalVolume(lvm::PhysicalVolume),
    /// An encrypted volume.
    Encrypted(Encrypted),
}

impl Found {
    /// Its short name: `ext4`, `md member`, `LVM physical volume`, `LUKS`.
    pub fn kind(&self) -> &str {
        match self {
            Found::FileSystem(header) => &header.kind,
            Found::Member(_) => "md member",
            Found::PhysicalVolume(_) => "LVM physical volume",
            Found::Encrypted(_) => "LUKS",
        }
    }

    /// The file system, if it is one.
    pub fn file_system(&self) -> Option<&FileSystemHeader> {
        match self {
            Found::FileSystem(header) => Some(header),
            _ => None,
        }
    }
}

/// Identifies the content of a device or partition. Containers come first: an array or encrypted
/// volume may contain a file system's signature. `None` if nothing is recognised.
///
/// # Errors
/// If its first bytes cannot be read.
pub fn read(device: &mut dyn Bytes) -> Result<Option<Found>> {
    if let Err(error) = device.piece(0, 512)
        && !crate::medium::is_absent(&error)
    {
        return Err(error);
    }
    if let Some(member) = md::read(device) {
        return Ok(Some(Found::Member(member)));
    }
    if let Some(encrypted) = luks::read(device) {
        return Ok(Some(Found::Encrypted(encrypted)));
    }
    if let Some(volume) = lvm::read(device) {
        return Ok(Some(Found::PhysicalVolume(volume)));
    }
    type Parser = fn(&mut dyn Bytes) -> Option<FileSystemHeader>;
    const PARSERS: [Parser; 7] = [
        btrfs::read,
        xfs::read,
        ntfs::read,
        fat::read_exfat,
        ext::read,
        other::read,
        fat::read,
    ];
    Ok(PARSERS
        .iter()
        .find_map(|parser| parser(device))
        .map(Found::FileSystem))
}

/// Whether a first sector is a file system's boot sector, which has the same signature as a master
/// boot record.
pub(crate) fn is_boot_sector(sector: &[u8]) -> bool {
    ntfs::is_boot_sector(sector) || fat::is_boot_sector(sector)
}
