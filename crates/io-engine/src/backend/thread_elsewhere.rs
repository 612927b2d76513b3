//! The calling thread and the processors, on systems without an implementation.

use std::io;

/// CPU time of the calling thread so far: unknown here.
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    None
}

pub use super::no_waits::Waits;

/// Pins the calling thread to processors: not supported on this system yet.
///
/// # Errors
/// Always.
pub fn pin_to(_cpus: &[u32]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Pins the calling thread to a processor: not supported on this system yet.
///
/// # Errors
/// Always.
pub fn pin(_cpu: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
