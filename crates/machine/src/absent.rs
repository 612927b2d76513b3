//! Facts that only Linux tells so far: elsewhere they are absent, never guessed.
//!
//! | fact | why not on Windows |
//! | --- | --- |
//! | operations in flight | counted only once counters are switched on for the whole machine |
//! | pages of a file in the cache | there is no call for it |
//! | temperature of a drive | not asked yet |
//! | limits on devices | job objects: not asked yet |
//! | mount points | volumes in folders are links there, which nobody follows |

use crate::observe::InFlight;
use crate::{System, Throttle};
use std::fs::File;
use std::path::PathBuf;
use stripewise_units::DeviceNumber;

pub(crate) fn throttles(_system: &System, _devices: &[DeviceNumber]) -> Vec<Throttle> {
    Vec::new()
}

pub(crate) fn temperature_millicelsius(_system: &System, _device: &str) -> Option<i64> {
    None
}

pub(crate) fn mount_points(_system: &System) -> Vec<PathBuf> {
    Vec::new()
}

pub(crate) fn in_flight(_system: &System, _number: DeviceNumber) -> Option<InFlight> {
    None
}

pub(crate) fn cached_bytes(_file: &File) -> Option<u64> {
    None
}
