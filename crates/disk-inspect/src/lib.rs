//! Read-only facts about disks, partitions, volumes and the host.
//!
//! Everything starts at a [`System`], which may be rooted at a captured tree so
//! that odd machines become tests. Nothing here writes, sends an I/O to a disk
//! (except [`content::sample`], which reads what it is told to read) or fails
//! because a file is missing: a fact that cannot be read is `None` or empty,
//! never a guess. Every read of a kernel file is bounded.
//!
//! The platform modules offer the same functions under the same names; only
//! this file chooses between them.
#![deny(unsafe_code)]

pub mod content;
mod device_number;
mod error;
#[doc(hidden)]
pub mod fuzz;
pub mod host;
pub mod ioctl;
pub mod mapper_table;
pub mod marks;
pub mod medium;
pub mod observe;
pub mod placement;
mod problem;
pub mod storage;
pub mod superblocks;
pub mod survey;
mod system;
pub mod tables;
pub mod trace;
pub mod verdict;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

/// For the crates that write, whose platform modules call it.
#[cfg(target_os = "linux")]
pub use linux::{claims, users};

#[cfg(not(target_os = "linux"))]
mod absent;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as platform;

#[cfg(not(any(target_os = "linux", windows)))]
mod other;
#[cfg(not(any(target_os = "linux", windows)))]
use other as platform;

pub use device_number::DeviceNumber;
pub use error::{Error, Result};
pub use problem::Problem;
pub use system::{System, cached_bytes, layout, placement_of};
