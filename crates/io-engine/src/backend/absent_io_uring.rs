//! io_uring where it does not exist.

use super::absent::{Absent, Missing, refuse};
use crate::Result;

/// Not on this system.
pub enum NoRing {}

impl Missing for NoRing {
    const ENGINE: &'static str = "io_uring";
    const WHAT: &'static str = "io_uring exists only on Linux";
}

/// An engine that cannot be opened.
pub type Uring = Absent<NoRing>;

/// Says that io_uring is not here.
///
/// # Errors
/// Always: [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
pub fn probe() -> Result<()> {
    Err(refuse::<NoRing>())
}
