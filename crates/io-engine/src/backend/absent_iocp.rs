//! Placeholder for completion ports on other systems.

use super::absent::{Absent, UnsupportedEngine, refuse};
use crate::Result;

/// Not on this system.
pub enum NoPort {}

impl UnsupportedEngine for NoPort {
    const ENGINE: &'static str = "iocp";
    const WHAT: &'static str = "completion ports exist only on Windows";
}

/// An engine that cannot be opened.
pub type Iocp = Absent<NoPort>;

/// Returns the error that completion ports are missing.
///
/// # Errors
/// Always: [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
pub fn probe() -> Result<()> {
    Err(refuse::<NoPort>())
}
