//! Partition tables and file systems, from a checked plan.
//!
//! Invariants:
//! - A plan is made without opening anything for writing; carrying it out judges
//!   again by every rule, under the kernel's exclusive claim, and stops when
//!   anything is not as the plan saw it.
//! - Nothing is written to a disk before the sectors that are written over are
//!   saved in a new file, flushed to its disk, from which they come back byte for
//!   byte.
//! - Tables are written in an order that leaves the old or the new one in force
//!   wherever a crash comes between; everything is read back, from the device and
//!   from the kernel.
//! - File systems and md arrays are made by the system's own programs, never forced past
//!   a user of a device. They get devices by descriptor, and end with this process.
//! - What was made is taken down only where the device shows the identifiers that it was
//!   made with.
//!
//! Left out: partitions besides those that are made, moving or growing them, and
//! everything but Linux. Chance and the clock are the caller's.
#![deny(unsafe_code)]
// Where nothing is written yet, what writes is only type-checked.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod array;
mod current_layout;
mod disk;
mod error;
mod file_system;
mod format_plan;
mod layout;
mod plan;
mod saved;
mod stale_signatures;
mod table;
mod write;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub use array::{ArrayPlan, ArrayReport, ArrayWish, DATA_OFFSET_BYTES, RaidLevel};
pub use current_layout::Identity;
pub use current_layout::{Present, PresentPartition};
pub use error::{Error, ErrorKind, Result};
pub use file_system::{FileSystemKind, FormatOptions, Stripe};
pub use format_plan::{FormatPlan, FormatReport};
pub use layout::{Extent, Geometry, Layout, Purpose, TableKind, Wish, layout, side_by_side};
pub use plan::{
    BLOCK_SIZES_BYTES, DeviceFacts, MadePartition, PlannedWrite, TablePlan, TableReport,
};
pub use platform::PrivateMount;
pub use saved::{SavedDevice, SavedTable};
pub use table::Identifiers;

use std::path::{Path, PathBuf};

/// Permission to destroy, and what goes with it.
#[derive(Clone, Copy, Debug)]
pub struct Destroy<'a> {
    /// What the user named with `--destroy`: must be the kernel's name of the device.
    pub name: &'a str,
    /// The store of results, which must not be on the device.
    pub store: Option<&'a Path>,
    /// `--busy-ok`: nobody uses the device, although not everybody can be seen from here.
    /// Who is seen to use it is in the way all the same.
    pub busy_ok: bool,
    /// Where the old table is saved; must not exist yet. `None` where what is there is of no
    /// worth: this program made it a moment ago, or it is a file system that is made.
    pub save: Option<&'a Path>,
    /// Now, RFC 3339.
    pub now: &'a str,
}

/// Plans a new table with one partition. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; not when something is in the way, which the plan tells.
pub fn plan_partition(path: &Path, spec: &Wish, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_partition(path, spec, store)
}

/// Plans a new table with several partitions at exactly these places, in their order. Reads
/// only.
///
/// # Errors
/// As [`plan_partition`].
pub fn plan_division(path: &Path, parts: &[Extent], store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_division(path, parts, store)
}

/// Plans to bring back the table of a file. Reads only.
///
/// # Errors
/// As [`plan_partition`]; [`ErrorKind::Usage`] for a file that is damaged or no
/// saved table, [`ErrorKind::Refused`] for one of another size or sector.
pub fn plan_restore(path: &Path, file: &Path, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_restore(path, file, store)
}

/// Plans a file system. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; not when something is in the way, which the plan tells.
pub fn plan_format(path: &Path, spec: &FormatOptions, store: Option<&Path>) -> Result<FormatPlan> {
    platform::plan_format(path, spec, store)
}

/// Plans to make a device blank: its tables, superblocks and marks become zeros, and the
/// kernel shows no partitions of it any more. Reads only.
///
/// # Errors
/// As [`plan_partition`].
pub fn plan_erase(path: &Path, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_erase(path, store)
}

/// Plans an md array of these devices. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; not when something is in the way, which the plan tells.
pub fn plan_array(
    members: &[PathBuf],
    spec: &ArrayWish,
    store: Option<&Path>,
) -> Result<ArrayPlan> {
    platform::plan_array(members, spec, store)
}

/// Who a device is, for a later look at whether it is the same.
///
/// # Errors
/// [`ErrorKind::NotFound`], [`ErrorKind::Denied`], [`ErrorKind::Unusable`].
pub fn identify(path: &Path) -> Result<Identity> {
    platform::identify(path)
}

/// Whether a device bears one of these marks of a maker: an md superblock with this UUID,
/// or a GPT with the GUID of one of these identifiers. Whoever takes something down asks
/// first.
///
/// # Errors
/// Where it cannot be read.
pub fn bears_mark(path: &Path, array_uuid: [u8; 16], ids: &[Identifiers]) -> Result<bool> {
    platform::bears_mark(path, array_uuid, ids)
}

/// The kernel's name of the running array with this UUID, by the superblocks of its members.
#[must_use]
pub fn array_with(uuid: [u8; 16]) -> Option<String> {
    platform::array_with(uuid)
}

/// How far the kernel has brought an array into step: sectors done, and of how many. `None`
/// where it is in step.
#[must_use]
pub fn resync_of(array: &str) -> Option<(u64, u64)> {
    platform::resync_of(array)
}

/// Stops the array of this name if it is the one with this UUID, by a descriptor that was
/// judged.
///
/// # Errors
/// [`ErrorKind::Refused`] where it is another array, or in use.
pub fn stop_array(array: &str, uuid: [u8; 16]) -> Result<()> {
    platform::stop_array(array, uuid)
}

/// Mounts a device where nobody but this process and those that it starts from now on can
/// see it; whatever ends the process ends the mount. `at` is a new directory.
///
/// # Errors
/// [`ErrorKind::Denied`] without the right to mount; [`ErrorKind::Refused`] where something
/// else came to be mounted; else [`ErrorKind::Unusable`].
pub fn mount_privately(
    device: &Path,
    file_system: FileSystemKind,
    at: &Path,
) -> Result<PrivateMount> {
    platform::mount_privately(device, file_system, at)
}

/// Removes the directory of a mount whose process is gone; one that holds anything stays.
pub fn forget_mount_point(at: &Path) {
    platform::forget_mount_point(at);
}

/// Whether this machine can make such a file system and mount it, on any device with this
/// sector. Reads only.
///
/// # Errors
/// [`ErrorKind::Usage`] for sizes that the file system does not have;
/// [`ErrorKind::Unusable`] for those that this kernel could not mount;
/// [`ErrorKind::ToolMissing`].
pub fn can_format(spec: &FormatOptions, logical_sector_bytes: u32) -> Result<()> {
    platform::can_format(spec, logical_sector_bytes)
}

impl TablePlan {
    /// Does what the plan says: claims the device, judges again, saves the old
    /// table, writes, reads back, and has the kernel show the partitions.
    ///
    /// # Errors
    /// See [`ErrorKind`]. After the first write the hint says how to go back.
    pub fn execute(&self, destroy: &Destroy<'_>, ids: &Identifiers) -> Result<TableReport> {
        platform::carry_out_table(self, destroy, ids)
    }
}

impl ArrayPlan {
    /// Does what the plan says: claims all members, judges again, runs mdadm, and reads
    /// back. `destroy` has a permission for each member, in their order.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn execute(&self, destroy: &[Destroy<'_>]) -> Result<ArrayReport> {
        platform::carry_out_array(self, destroy)
    }
}

impl FormatPlan {
    /// Does what the plan says: claims the device, judges again, runs mkfs, and
    /// reads back.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn execute(&self, destroy: &Destroy<'_>) -> Result<FormatReport> {
        platform::carry_out_format(self, destroy)
    }
}
