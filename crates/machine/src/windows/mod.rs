//! Windows: facts from kernel32, ntdll and the registry.
//!
//! Nothing here needs an administrator. Not available: counters of devices, operations in flight,
//! the share of a file in the cache (Windows has no call for it), limits of job objects.
#![allow(unsafe_code)]

pub mod event;
mod host;
mod read;
pub mod wide;

pub(crate) use crate::absent::*;
pub use host::is_wine;
pub(crate) use host::{host, snapshot};
pub(crate) use read::read_at;

#[cfg(test)]
mod tests;
