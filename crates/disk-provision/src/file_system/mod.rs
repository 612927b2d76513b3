//! File systems: which command makes one with a given allocation unit and stripe
//! geometry, and which are refused because this kernel could not mount them.
//!
//! Pure: from a spec, a device and a kernel to an argument vector and to what the
//! superblock must say afterwards. Nothing is run here.

mod btrfs;
mod ext4;
mod ntfs;
mod xfs;

#[cfg(test)]
mod tests;

use crate::layout::Geometry;
use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use stripewise_units::ByteSize;

/// The file systems that are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileSystemKind {
    /// Linux's own: blocks up to a page, clusters of blocks above that.
    Ext4,
    /// Blocks up to 64 KiB.
    Xfs,
    /// Copy on write: sectors of the size of a page, mostly.
    Btrfs,
    /// Windows': clusters up to 2 MiB.
    Ntfs,
}

impl FileSystemKind {
    /// All of them.
    pub const ALL: [FileSystemKind; 4] = [
        FileSystemKind::Ext4,
        FileSystemKind::Xfs,
        FileSystemKind::Btrfs,
        FileSystemKind::Ntfs,
    ];

    /// It keeps the stripes of the array below in its superblock.
    #[must_use]
    pub fn keeps_stripes(self) -> bool {
        matches!(self, FileSystemKind::Ext4 | FileSystemKind::Xfs)
    }

    /// As users and superblocks write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FileSystemKind::Ext4 => "ext4",
            FileSystemKind::Xfs => "xfs",
            FileSystemKind::Btrfs => "btrfs",
            FileSystemKind::Ntfs => "ntfs",
        }
    }

    /// Programs that make it, the first that is there counts; and the packages
    /// of Debian that bring them.
    #[must_use]
    pub fn tools(self) -> (&'static [&'static str], &'static str) {
        match self {
            FileSystemKind::Ext4 => (&["mkfs.ext4"], "e2fsprogs"),
            FileSystemKind::Xfs => (&["mkfs.xfs"], "xfsprogs"),
            FileSystemKind::Btrfs => (&["mkfs.btrfs"], "btrfs-progs"),
            FileSystemKind::Ntfs => (&["mkfs.ntfs", "mkntfs"], "ntfs-3g"),
        }
    }
}

/// Stripes of the array below, as the file system is to know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Stripe {
    /// Bytes on one disk before the next one is used.
    pub unit_bytes: u64,
    /// Disks that hold data: without parity, half of them for RAID 10.
    pub data_disks: u32,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// Which.
    pub file_system: FileSystemKind,
    /// Bytes of an allocation unit (block, cluster).
    pub allocation_unit_bytes: u64,
    /// The stripes below, where they are to be told.
    pub stripe: Option<Stripe>,
}

/// What decides whether this machine can mount the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Version and patch level: 6.12.
    pub release: (u32, u32),
    /// Sector sizes that its btrfs knows, where it says so.
    pub btrfs_sectors: Vec<u64>,
}

/// The device as the file systems need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceShape {
    pub geometry: Geometry,
    /// Sectors before the partition on its disk, for file systems that store it;
    /// 0 for whole devices.
    pub start_bytes: u64,
    /// Something is there that the tool would stop at.
    pub overwrites: bool,
    /// It starts where the disks below would not have it, at which some tools stop: the
    /// plan says so, and whoever carries it out has read it.
    pub is_misaligned: bool,
}

/// How it is made, and what must come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Arguments before the device.
    pub arguments: Vec<String>,
    /// Stripe unit and width that the superblock must have; not looked at where
    /// absent.
    pub stripe_bytes: Option<(u64, u64)>,
    /// Worth knowing.
    pub notes: Vec<String>,
}

/// Finds the recipe.
///
/// # Errors
/// [`ErrorKind::Usage`] for sizes that the file system does not have, or that do
/// not fit the device; [`ErrorKind::Unusable`] for those that this kernel could
/// not mount.
pub(crate) fn recipe(
    spec: &FormatOptions,
    place: &DeviceShape,
    kernel: &Kernel,
    target: &str,
) -> Result<Recipe> {
    let unit = spec.allocation_unit_bytes;
    if !unit.is_power_of_two() {
        return Err(usage(
            target,
            format!("an allocation unit of {unit} bytes is not a power of two"),
            "Allocation units are powers of two: 4K, 8K, 64K.",
        ));
    }
    if unit < place.geometry.sector() {
        return Err(usage(
            target,
            format!(
                "an allocation unit of {} is smaller than a sector of this device ({} bytes)",
                ByteSize(unit),
                place.geometry.sector()
            ),
            "Take at least a sector.",
        ));
    }
    if let Some(stripe) = spec.stripe
        && (stripe.unit_bytes == 0 || stripe.data_disks == 0)
    {
        return Err(usage(
            target,
            "a stripe of 0 bytes or 0 disks".to_owned(),
            "--stripe-unit takes the bytes on one disk, --stripe-disks the disks that hold data.",
        ));
    }
    match spec.file_system {
        FileSystemKind::Ext4 => ext4::recipe(spec, kernel, target),
        FileSystemKind::Xfs => xfs::recipe(spec, place, kernel, target),
        FileSystemKind::Btrfs => btrfs::recipe(spec, place, kernel, target),
        FileSystemKind::Ntfs => ntfs::recipe(spec, place, target),
    }
}

fn usage(target: &str, what: String, hint: &str) -> Error {
    Error::new(ErrorKind::Usage, target, what).with_hint(hint)
}

/// A size that could not be mounted here.
fn unmountable(target: &str, what: String, hint: String) -> Error {
    Error::new(ErrorKind::Unusable, target, what).with_hint(hint)
}

/// Refuses an allocation unit outside a file system's range.
fn check_range(spec: &FormatOptions, least: u64, most: u64, target: &str) -> Result<()> {
    let unit = spec.allocation_unit_bytes;
    if (least..=most).contains(&unit) {
        return Ok(());
    }
    Err(usage(
        target,
        format!(
            "{} has no allocation unit of {}",
            spec.file_system.name(),
            ByteSize(unit)
        ),
        &format!(
            "It has those from {} to {}.",
            ByteSize(least),
            ByteSize(most)
        ),
    ))
}

/// Refuses a stripe unit that is no number of blocks.
fn check_stripe(stripe: Stripe, block_bytes: u64, target: &str) -> Result<()> {
    if stripe.unit_bytes.is_multiple_of(block_bytes) {
        return Ok(());
    }
    Err(usage(
        target,
        format!(
            "a stripe unit of {} is not a multiple of the file system's block of {}",
            ByteSize(stripe.unit_bytes),
            ByteSize(block_bytes)
        ),
        "Choose a smaller allocation unit, or leave the stripe out.",
    ))
}

/// Refuses stripes for file systems that have no place to keep them.
fn no_stripe(spec: &FormatOptions, target: &str) -> Result<()> {
    if spec.stripe.is_none() {
        return Ok(());
    }
    Err(usage(
        target,
        format!("{} does not store stripe geometry", spec.file_system.name()),
        "Leave --stripe-unit and --stripe-disks out: the offset of the partition does the work.",
    ))
}

/// The width of all data disks.
fn width(stripe: Stripe) -> u64 {
    stripe.unit_bytes.saturating_mul(stripe.data_disks.into())
}
