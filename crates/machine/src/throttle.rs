//! Limits on I/O, and processes: types only.

use serde::{Deserialize, Serialize};
use stripewise_units::DeviceNumber;

/// A process, as the kernel names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id (thread group).
    pub id: i32,
    /// Its parent's id.
    pub parent: i32,
}

/// A limit that a control group puts on I/O to a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Throttle {
    /// The control group, as a path inside its hierarchy.
    pub cgroup: String,
    /// The device.
    pub number: DeviceNumber,
    /// Its kernel name, where known.
    pub device: String,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads a second.
    pub read_iops: Option<u64>,
    /// Writes a second.
    pub write_iops: Option<u64>,
}
