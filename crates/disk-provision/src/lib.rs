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
//! - File systems are made by the system's own programs, never forced past a user
//!   of the device.
//!
//! Left out: partitions besides the one that is made, moving or growing them, and
//! everything but Linux. Chance and the clock are the caller's.
#![deny(unsafe_code)]
// Where nothing is written yet, what writes is only type-checked.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod disk;
mod error;
mod file_system;
mod format_plan;
mod layout;
mod plan;
mod present;
mod remains;
mod saved;
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

pub use error::{Error, ErrorKind, Result};
pub use file_system::{FileSystemKind, FormatWish, Stripe};
pub use format_plan::{FormatPlan, FormatReport};
pub use layout::{Geometry, Layout, Purpose, TableKind, Wish, layout};
pub use plan::{
    BLOCK_SIZES_BYTES, DeviceFacts, MadePartition, PlannedWrite, TablePlan, TableReport,
};
pub use present::{Present, PresentPartition};
pub use saved::{SavedDevice, SavedTable};
pub use table::Identifiers;

use std::path::Path;

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
    /// Where the old table is saved; must not exist yet. Not used for file systems.
    pub save: &'a Path,
    /// Now, RFC 3339.
    pub now: &'a str,
}

/// Plans a new table with one partition. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; not when something is in the way, which the plan tells.
pub fn plan_partition(path: &Path, wish: &Wish, store: Option<&Path>) -> Result<TablePlan> {
    platform::plan_partition(path, wish, store)
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
pub fn plan_format(path: &Path, wish: &FormatWish, store: Option<&Path>) -> Result<FormatPlan> {
    platform::plan_format(path, wish, store)
}

/// For fuzzing: any bytes as the file of `--restore`; a checksum that is wrong is
/// put right, so that what lies behind it is reached.
///
/// # Panics
/// When something that must hold does not.
#[doc(hidden)]
pub fn fuzz_saved_table(bytes: &[u8]) {
    saved::fuzz(bytes);
}

impl TablePlan {
    /// Does what the plan says: claims the device, judges again, saves the old
    /// table, writes, reads back, and has the kernel show the partitions.
    ///
    /// # Errors
    /// See [`ErrorKind`]. After the first write the hint says how to go back.
    pub fn carry_out(&self, destroy: &Destroy<'_>, ids: &Identifiers) -> Result<TableReport> {
        platform::carry_out_table(self, destroy, ids)
    }
}

impl FormatPlan {
    /// Does what the plan says: claims the device, judges again, runs mkfs, and
    /// reads back.
    ///
    /// # Errors
    /// See [`ErrorKind`].
    pub fn carry_out(&self, destroy: &Destroy<'_>) -> Result<FormatReport> {
        platform::carry_out_format(self, destroy)
    }
}
