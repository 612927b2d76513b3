//! The calling thread and the processors, where nobody has asked yet.

use std::io;

/// Processor time of the calling thread so far: not known here.
#[must_use]
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    None
}

pub use super::no_waits::Waits;

/// Keeps the calling thread on processors: not there yet on this system.
///
/// # Errors
/// Always.
pub fn pin_to(_cpus: &[u32]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Keeps the calling thread on a processor: not there yet on this system.
///
/// # Errors
/// Always.
pub fn pin(_cpu: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
