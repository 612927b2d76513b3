//! The disks and volumes of this machine, exactly where they are, and what follows from that.
//! Read-only.
//!
//! Everything starts at a [`System`], which implements [`Inspect`] and may be rooted at a captured
//! tree, so that unusual machines become tests. Nothing here writes, or fails because a file is
//! missing: a fact that cannot be read is `None` or empty, never a guess. Every read of a kernel
//! file is bounded. On disks, only partition tables and superblocks are read.
//!
//! The platform modules have the same functions with the same names; only this file chooses between
//! them.
#![deny(unsafe_code)]

pub mod device_log;
mod error;
mod identity;
mod inspect;
pub mod ioctl_replies;
pub mod placement;
pub mod storage;
pub mod survey;
pub mod trace;
pub mod verdict;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as platform;

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(not(target_os = "linux"))]
mod by_name;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as platform;

#[cfg(not(any(target_os = "linux", windows)))]
mod other;
#[cfg(not(any(target_os = "linux", windows)))]
use other as platform;

pub use error::{Error, Result};
pub use identity::Identity;
pub use inspect::{Inspect, is_open_here, layout, placement_at, placement_of};
pub use stripewise_machine::System;
