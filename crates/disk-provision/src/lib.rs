//! Partition tables and file systems, from a checked plan.
//!
//! Invariants:
//! - A plan is made without opening anything for writing; executing it judges again by every rule,
//!   under the kernel's exclusive claim, and stops if anything differs from the plan.
//! - Nothing is written to a disk before the sectors to be overwritten are saved in a new file and
//!   flushed to its disk, from which they can be restored byte for byte.
//! - Tables are written in an order that leaves the old or the new one in force at any crash;
//!   everything is read back, from the device and from the kernel.
//! - File systems and md arrays are made by the system's own programs, never with an option that
//!   forces past users of a device. They get devices by descriptor, and end with this process.
//! - What was made is removed only if the device shows the identifiers that it was made with.
//!
//! Not supported: partitions other than those made, moving or growing them, and systems other than
//! Linux. The caller provides randomness and the clock.
#![deny(unsafe_code)]
// Where writing is not supported yet, the writing code is only type-checked.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod array;
mod current_layout;
mod disk;
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

pub use array::{ArrayOptions, ArrayPlan, ArrayReport, DATA_OFFSET_BYTES, RaidLevel};
pub use current_layout::Identity;
pub use current_layout::{Present, PresentPartition};
pub use file_system::{FileSystemKind, FormatOptions, Stripe};
pub use format_plan::{FormatPlan, FormatReport};
pub use layout::{
    Extent, Geometry, Layout, PartitionOptions, Purpose, TableKind, layout, side_by_side,
};
pub use plan::{
    BLOCK_SIZES_BYTES, DeviceFacts, MadePartition, PlannedWrite, TablePlan, TableReport,
};
pub use platform::PrivateMount;
pub use saved::{SavedDevice, SavedTable};
pub use stripewise_device_guard::{Error, ErrorKind, Result};
pub use table::Identifiers;

use std::path::{Path, PathBuf};

/// Permission to destroy, with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Destroy<'a> {
    /// The name given with `--destroy`: must be the kernel's name of the device.
    pub name: &'a str,
    /// The results store, which must not be on the device.
    pub store: Option<&'a Path>,
    /// `--busy-ok`: the device is not in use, although not all processes are visible from here.
    /// Visible users are still in the way.
    pub busy_ok: bool,
    /// Where the old table is saved; must not exist yet. `None` if the current contents are
    /// worthless: made by this program a moment ago, or a file system is being made.
    pub save: Option<SaveFile<'a>>,
    /// Now, RFC 3339.
    pub now: &'a str,
}

/// A file that an old table is saved in.
#[derive(Clone, Copy, Debug)]
pub struct SaveFile<'a> {
    /// Its name.
    pub path: &'a Path,
    /// Makes its directory and those above that are missing. Who keeps results says whose they
    /// are: made by root in a user's home they are that user's.
    pub make_directories: fn(&Path) -> std::io::Result<()>,
}

/// Plans a new table with one partition. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_partition(
    path: &Path,
    spec: &PartitionOptions,
    store: Option<&Path>,
) -> Result<TablePlan> {
    platform::plan_partition(path, spec, store)
}

/// Plans a new table with several partitions at exactly these locations, in order. Reads only.
///
/// # Errors
/// As [`plan_partition`].
pub fn plan_division(path: &Path, parts: &[Extent], store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_division(path, parts, store)
}

/// Plans restoring the table from a file. Reads only.
///
/// # Errors
/// As [`plan_partition`]; [`ErrorKind::Usage`] for a file that is damaged or not a saved table,
/// [`ErrorKind::Refused`] for one of another size or sector.
pub fn plan_restore(path: &Path, file: &Path, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_restore(path, file, store)
}

/// Plans a file system. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_format(path: &Path, spec: &FormatOptions, store: Option<&Path>) -> Result<FormatPlan> {
    platform::plan_format(path, spec, store)
}

/// Plans erasing a device: its tables, superblocks and signatures are zeroed, and the kernel drops
/// its partitions. Reads only.
///
/// # Errors
/// As [`plan_partition`].
pub fn plan_erase(path: &Path, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_erase(path, store)
}

/// Plans an md array of these devices. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_array(
    members: &[PathBuf],
    spec: &ArrayOptions,
    store: Option<&Path>,
) -> Result<ArrayPlan> {
    platform::plan_array(members, spec, store)
}

/// Identity of a device, to check later whether it is the same.
///
/// # Errors
/// [`ErrorKind::NotFound`], [`ErrorKind::Denied`], [`ErrorKind::Unusable`].
pub fn identify(path: &Path) -> Result<Identity> {
    platform::identify(path)
}

/// Whether a device has one of these marks: an md superblock with this UUID, or a GPT with the GUID
/// of one of these identifiers. To be checked before removing anything.
///
/// # Errors
/// If it cannot be read.
pub fn has_mark(path: &Path, array_uuid: [u8; 16], ids: &[Identifiers]) -> Result<bool> {
    platform::has_mark(path, array_uuid, ids)
}

/// The kernel's name of the running array with this UUID, by the superblocks of its members.
#[must_use]
pub fn array_with(uuid: [u8; 16]) -> Option<String> {
    platform::array_with(uuid)
}

/// Resync progress of an array: sectors done, and total. `None` if it is in sync.
#[must_use]
pub fn resync_of(array: &str) -> Option<(u64, u64)> {
    platform::resync_of(array)
}

/// Stops the array of this name if it is the one with this UUID, through a descriptor that was
/// judged.
///
/// # Errors
/// [`ErrorKind::Refused`] if it is another array, or in use.
pub fn stop_array(array: &str, uuid: [u8; 16]) -> Result<()> {
    platform::stop_array(array, uuid)
}

/// Mounts a device so that only this process and those it starts later can see it; however the
/// process ends, the mount ends with it. `at` is a new directory.
///
/// # Errors
/// [`ErrorKind::Denied`] without permission to mount; [`ErrorKind::Refused`] if something
/// else was mounted; otherwise [`ErrorKind::Unusable`].
pub fn mount_privately(
    device: &Path,
    file_system: FileSystemKind,
    at: &Path,
) -> Result<PrivateMount> {
    platform::mount_privately(device, file_system, at)
}

/// Removes the mount directory of a process that is gone; only if it is empty.
pub fn forget_mount_point(at: &Path) {
    platform::forget_mount_point(at);
}

/// Whether this machine can make such a file system and mount it, on any device with this sector.
/// Reads only.
///
/// # Errors
/// [`ErrorKind::Usage`] for sizes that the file system does not support; [`ErrorKind::Unusable`]
/// for those that this kernel could not mount; [`ErrorKind::ToolMissing`].
pub fn can_format(spec: &FormatOptions, logical_sector_bytes: u32) -> Result<()> {
    platform::can_format(spec, logical_sector_bytes)
}

impl TablePlan {
    /// Executes the plan: claims the device, judges again, saves the old table, writes, reads back,
    /// and has the kernel show the partitions.
    ///
    /// # Errors
    /// See [`ErrorKind`]. After the first write the hint explains how to undo.
    pub fn execute(&self, destroy: &Destroy<'_>, ids: &Identifiers) -> Result<TableReport> {
        platform::execute_table(self, destroy, ids)
    }
}

impl ArrayPlan {
    /// Executes the plan: claims all members, judges again, runs mdadm, and reads back. `destroy`
    /// has a permission for each member, in order.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn execute(&self, destroy: &[Destroy<'_>]) -> Result<ArrayReport> {
        platform::execute_array(self, destroy)
    }
}

impl FormatPlan {
    /// Executes the plan: claims the device, judges again, runs mkfs, and reads back.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn execute(&self, destroy: &Destroy<'_>) -> Result<FormatReport> {
        platform::execute_format(self, destroy)
    }
}
