//! Simulated disks and arrays in virtual time. No real time, entropy or calls to
//! the operating system: the same array, seed and requests give the same
//! completions on every machine.
#![forbid(unsafe_code)]

mod fifo;
mod simulate;

pub use fifo::Fifo;
pub use simulate::{Finished, Request, Simulate};
pub use stripewise_units::Kind;
