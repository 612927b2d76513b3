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
#[allow(missing_docs, reason = "they are those of `linux`")]
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
pub use platform::{
    PrivateMount, array_with, can_format, forget_mount_point, has_mark, identify, mount_privately,
    plan_array, plan_division, plan_erase, plan_format, plan_partition, plan_restore, resync_of,
    stop_array,
};
pub use saved::{SavedDevice, SavedTable};
pub use stripewise_device_guard::{Error, ErrorKind, Result};
pub use table::Identifiers;

use std::path::Path;

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
    pub fn execute(&self, destroy: &[Destroy<'_>]) -> Result<ArrayReport> {
        platform::execute_array(self, destroy)
    }
}

impl FormatPlan {
    /// Executes the plan: claims the device, judges again, runs mkfs, and reads back.
    pub fn execute(&self, destroy: &Destroy<'_>) -> Result<FormatReport> {
        platform::execute_format(self, destroy)
    }
}
