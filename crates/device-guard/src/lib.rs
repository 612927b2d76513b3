//! Which devices may be written: found once by descriptor, claimed, and judged again
//! after the claim.
//!
//! Invariants:
//! - A path is looked at once. Every later open goes through the handle that was found,
//!   and makes sure that it is the same device.
//! - Nothing is opened for writing before it is claimed, and nothing that was claimed is
//!   written before it was judged once more, as a claim does not keep everybody out.
//! - A refusal names what is in the way. What cannot be seen is not taken for free: that
//!   is for the user to say (`--busy-ok`).
//! - No permission is kept: it comes with each call.
//!
//! `targets` and `disk-provision` write to devices through this, and no other crate does
//! (`cargo xtask tidy`).
#![forbid(unsafe_code)]

mod error;
mod problem;

#[cfg(all(test, target_os = "linux"))]
#[macro_use]
#[path = "../../../tests/support/own_process.rs"]
mod own_process;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use linux::{claims, device, generic, traffic, users};

pub use error::{Error, ErrorKind, Result};
pub use problem::Problem;
