//! Infers properties of a disk from timed reads and writes.
//!
//! All access goes through one interface, [`Device`]: concurrent operations in, their latencies
//! out. Behind it is a real device, a file with its extents, or a simulated array with known
//! properties; nothing here can tell which.
//!
//! [`profile`] measures the surface of a disk: rates, zones, seeks, rotation; [`fill`] the write
//! rate as more and more is written; [`flash`] finds pages, alignment, parallelism and pauses of
//! solid-state drives; [`stripe`] finds the stripe unit, phase and period of an array that does not
//! report them.
//!
//! No clock, no file, no entropy: randomness comes from seeds, elementary functions from `libm`, so
//! equal device responses give equal results.
#![forbid(unsafe_code)]

mod device;
pub mod fill;
pub mod flash;
pub mod profile;
pub mod stripe;

pub use device::{Device, ProbeIo, ProbeResult, StopReason};
