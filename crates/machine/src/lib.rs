//! The host: CPUs, memory, control groups, counters, page cache, and the content statistics of a
//! target. Evidence for the warnings of a run.
//!
//! Everything starts at a [`System`], which may be rooted at a captured tree so that unusual
//! machines become tests. Nothing here writes, sends an I/O to a disk (except [`content::sample`],
//! which reads the requested pieces) or fails because a file is missing: a fact that cannot be read
//! is `None` or empty, never a guess. Every read of a kernel file is bounded.
//!
//! The platform modules offer the same functions under the same names; only
//! this file chooses between them.
#![deny(unsafe_code)]

pub mod content;
pub mod host;
pub mod observe;
mod system;
mod throttle;
pub mod tracefs;

#[cfg(all(test, target_os = "linux"))]
#[path = "../../../tests/support/skips.rs"]
mod skips;

#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

#[cfg(not(target_os = "linux"))]
mod absent;

#[cfg(windows)]
pub mod windows;
#[cfg(windows)]
use windows as platform;

#[cfg(not(any(target_os = "linux", windows)))]
mod other;
#[cfg(not(any(target_os = "linux", windows)))]
use other as platform;

#[cfg(target_os = "linux")]
pub use linux::{Memory, describe_out_of_memory};
/// On other systems the standard library ends the process when memory runs out.
#[cfg(not(target_os = "linux"))]
pub use std::alloc::System as Memory;

/// On other systems the standard library handles panics for lack of memory.
#[cfg(not(target_os = "linux"))]
pub fn describe_out_of_memory() {}

pub use system::{System, cached_bytes};
pub use throttle::{GroupCounts, GroupIo, Process, Throttle};
