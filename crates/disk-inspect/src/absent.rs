//! Facts that only Linux tells so far: elsewhere they are absent, never guessed.
//!
//! | fact | why not on Windows |
//! | --- | --- |
//! | operations in flight | counted only once counters are switched on for the whole machine |
//! | pages of a file in the cache | no call tells |
//! | who uses a device or file | the system refuses to open what is in use |
//! | limits on devices | job objects: not asked yet |

use crate::observe::InFlight;
use crate::storage::{Throttle, Use};
use crate::{DeviceNumber, System};
use std::fs::File;

pub fn uses_of_device(_system: &System, _number: DeviceNumber) -> Vec<Use> {
    Vec::new()
}

pub fn uses_of_file(_system: &System, _file: &File) -> Vec<Use> {
    Vec::new()
}

pub fn throttles(_system: &System, _devices: &[DeviceNumber]) -> Vec<Throttle> {
    Vec::new()
}

pub fn in_flight(_system: &System, _number: DeviceNumber) -> Option<InFlight> {
    None
}

pub fn cached_bytes(_file: &File) -> Option<u64> {
    None
}

/// The kernel's text that `linux` reads is nobody else's.
pub fn fuzz_kernel_text(_bytes: &[u8]) {}
