//! Placeholder for io_uring on other systems.

use super::absent::{Absent, UnsupportedEngine, refuse};
use crate::Result;
use std::fs::File;
use std::sync::Arc;

/// Not on this system.
pub enum NoRing {}

impl UnsupportedEngine for NoRing {
    const ENGINE: &'static str = "io_uring";
    const WHAT: &'static str = "io_uring exists only on Linux";
}

/// An engine that cannot be opened.
pub type Uring = Absent<NoRing>;

/// Not on this system either.
pub enum NoCommands {}

impl UnsupportedEngine for NoCommands {
    const ENGINE: &'static str = "nvme";
    const WHAT: &'static str = "commands are passed through to NVMe devices only on Linux";
}

/// An engine that cannot be opened.
pub type Nvme = Absent<NoCommands>;

/// Returns the error that io_uring is missing.
///
/// # Errors
/// Always: [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
pub fn probe() -> Result<()> {
    Err(refuse::<NoRing>())
}

/// Returns the error that io_uring is missing.
///
/// # Errors
/// Always: [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
pub fn can_discard(_files: &[Arc<File>]) -> Result<Box<[bool]>> {
    Err(refuse::<NoRing>())
}
