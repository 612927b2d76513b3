//! Guards which devices may be written: each is resolved once to a descriptor, claimed, and checked
//! again after the claim.
//!
//! Invariants:
//! - A path is resolved once. Every later open uses the handle found, and verifies that it is the
//!   same device.
//! - A device is claimed before it is opened for writing, and checked again after the claim, before
//!   the first write, as a claim does not exclude all users.
//! - A refusal names the obstacle. A device whose use cannot be checked is not considered free: the
//!   user has to confirm it (`--busy-ok`).
//! - Permissions are not stored: each call passes them.
//!
//! Only `targets` and `disk-provision` write to devices, and only through this crate
//! (`cargo xtask tidy`).
#![forbid(unsafe_code)]

mod error;

#[cfg(all(test, target_os = "linux"))]
#[macro_use]
#[path = "../../../tests/support/own_process.rs"]
mod own_process;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use linux::{claims, device, generic, traffic, users};

pub use error::{Error, ErrorKind, Result};
