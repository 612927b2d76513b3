//! File systems: the command that makes one with a given allocation unit and stripe geometry, and
//! those refused because this kernel could not mount them.
//!
//! Pure: from a spec, a device and a kernel to an argument vector and the expected superblock.
//! Nothing is run here.

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

// As users and superblocks name them.
stripewise_units::named! {
    /// The supported file systems.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum FileSystemKind {
        /// Linux's own: blocks up to a page, clusters of blocks above that.
        Ext4 = "ext4",
        /// Blocks up to 64 KiB.
        Xfs = "xfs",
        /// Copy on write: sectors usually of page size.
        Btrfs = "btrfs",
        /// Windows': clusters up to 2 MiB.
        Ntfs = "ntfs",
    }
}

impl FileSystemKind {
    /// Whether it stores the array's stripe geometry in its superblock.
    pub fn keeps_stripes(self) -> bool {
        matches!(self, FileSystemKind::Ext4 | FileSystemKind::Xfs)
    }

    /// Programs that make it, the first one installed is used; and the Debian packages that contain
    /// them.
    pub fn tools(self) -> (&'static [&'static str], &'static str) {
        match self {
            FileSystemKind::Ext4 => (&["mkfs.ext4"], "e2fsprogs"),
            FileSystemKind::Xfs => (&["mkfs.xfs"], "xfsprogs"),
            FileSystemKind::Btrfs => (&["mkfs.btrfs"], "btrfs-progs"),
            FileSystemKind::Ntfs => (&["mkfs.ntfs", "mkntfs"], "ntfs-3g"),
        }
    }
}

/// Stripe geometry of the array below, for the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Stripe {
    /// Bytes on one disk before the next one is used.
    pub unit_bytes: u64,
    /// Disks that hold data: without parity, half of them for RAID 10.
    pub data_disks: u32,
}

/// The requested file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// Its type.
    pub file_system: FileSystemKind,
    /// Bytes of an allocation unit (block, cluster).
    pub allocation_unit_bytes: u64,
    /// The stripe geometry below, if it is to be set.
    pub stripe: Option<Stripe>,
}

/// What determines whether this machine can mount the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Page size in bytes.
    pub page_bytes: u64,
    /// Version and patch level: 6.12.
    pub release: (u32, u32),
    /// Sector sizes supported by its btrfs, if reported.
    pub btrfs_sectors: Vec<u64>,
}

/// The device properties that file systems need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceShape {
    pub geometry: Geometry,
    /// Offset of the partition on its disk, for file systems that store it; 0 for whole devices.
    pub start_bytes: u64,
    /// It has contents that the tool would stop at.
    pub overwrites: bool,
    /// Its start is misaligned for the disks below, at which some tools stop: the plan reports it,
    /// and its user has read that.
    pub is_misaligned: bool,
}

/// How it is made, and the expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Arguments before the device.
    pub arguments: Vec<String>,
    /// Stripe unit and width expected in the superblock; `None`: not checked.
    pub stripe_bytes: Option<(u64, u64)>,
    /// Informational.
    pub notes: Vec<String>,
}

/// Determines the recipe.
///
/// # Errors
/// [`ErrorKind::Usage`] for sizes that the file system does not support, or that do not fit the
/// device; [`ErrorKind::Unusable`] for those that this kernel could not mount.
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

/// The error for a size that could not be mounted here.
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

/// Refuses a stripe unit that is not a multiple of the block size.
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

/// Refuses stripe geometry for file systems that cannot store it.
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
