//! I/O limits, I/O of control groups, and processes: types only.

use serde::{Deserialize, Serialize};
use stripewise_units::DeviceNumber;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id (thread group).
    pub id: i32,
    /// Its parent's id.
    pub parent: i32,
}

/// A control group's limit on I/O to a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Throttle {
    /// The control group, as a path inside its hierarchy.
    pub cgroup: String,
    /// The device.
    pub number: DeviceNumber,
    /// Its kernel name, if known.
    pub device: String,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
}

/// I/O of a control group itself on one device, since the group was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupIo {
    /// The control group, as a path inside its hierarchy.
    pub cgroup: String,
    /// The device.
    pub number: DeviceNumber,
    /// Operations and bytes.
    pub counts: GroupCounts,
}

/// Operations and bytes of a control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl GroupCounts {
    /// Subtracts earlier counts; a counter that went backwards gives 0.
    pub fn subtract(&mut self, other: &GroupCounts) {
        self.reads = self.reads.saturating_sub(other.reads);
        self.writes = self.writes.saturating_sub(other.writes);
        self.read_bytes = self.read_bytes.saturating_sub(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_sub(other.written_bytes);
    }
}
