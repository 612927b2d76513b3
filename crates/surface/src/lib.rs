//! What timed reads and writes tell of a disk.
//!
//! All of it asks through one port, [`Device`]: operations that start together go in,
//! what each took comes out. Behind the port stands a real device, a file with its
//! extents, or a simulated array whose truth is known; nothing here can tell which.
//!
//! [`profile`] measures the surface of a disk: rates, zones, seeks, rotation; [`fill`]
//! what writing takes as more and more is written;
//! [`flash`] shows pages, alignment, parallelism and pauses of solid-state drives;
//! [`stripe`] finds the stripe unit, phase and period of an array that does not tell.
//!
//! No clock, no file, no entropy: randomness comes from seeds, elementary functions
//! from `libm`, so the same answers of a device give the same answer of this crate.
#![forbid(unsafe_code)]

mod device;
pub mod fill;
pub mod flash;
pub mod profile;
pub mod stripe;

pub use device::{Device, ProbeIo, ProbeResult, StopReason};
