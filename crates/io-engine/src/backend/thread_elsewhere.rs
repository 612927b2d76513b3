//! The calling thread and the processors, where nobody has asked yet.

use std::io;

/// Processor time of the calling thread so far: not known here.
#[must_use]
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    None
}

/// How long one thread had no processor although it was ready to run: not known here.
#[derive(Debug)]
pub struct Waits {}

impl Waits {
    /// Of the calling thread: `None`.
    #[must_use]
    pub fn of_this_thread() -> Option<Waits> {
        None
    }

    /// So far, in nanoseconds: `None`.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        None
    }
}

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
