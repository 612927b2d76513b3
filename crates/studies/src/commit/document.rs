//! What `--json` has of commit methods.

use serde::{Deserialize, Serialize};
use stripewise_results::{AtomicWriteFacts, TargetFacts};

/// A commit method.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CommitRecord {
    /// `fdatasync`, `O_DSYNC`...
    pub method: String,
    /// What the product calls it; absent where methods were compared without a product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_product: Option<String>,
    /// `preallocated`, `growing` or `overwritten`.
    pub file: String,
    /// How many commit at once.
    pub committers: u32,
    /// One write and sync make the commits of all durable; else each syncs for itself.
    pub group_commit: bool,
    /// Commits a second.
    pub commits_per_s: f64,
    /// Its interval at 95 %.
    pub commits_per_s_low: Option<f64>,
    /// See `commits_per_s_low`.
    pub commits_per_s_high: Option<f64>,
    /// Of one commit; null of fewer than a thousand.
    pub latency_ns_p99: Option<u64>,
    /// Its interval at 95 %, over the runs.
    pub latency_ns_p99_low: Option<u64>,
    /// See `latency_ns_p99_low`.
    pub latency_ns_p99_high: Option<u64>,
}

/// What the kernel says of writes that a loss of power does not tear; null where it does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AtomicWrites {
    /// Name of the device.
    pub device_name: Option<String>,
    /// Of the device (its queue in sysfs).
    pub device: Option<AtomicWriteFacts>,
    /// Kind of the file system.
    pub file_system_name: Option<String>,
    /// Of a file on it (`statx`).
    pub file_system: Option<AtomicWriteFacts>,
}

impl AtomicWrites {
    /// Of a real target; none of a simulated one.
    pub fn of(target: &TargetFacts) -> Option<AtomicWrites> {
        let (device, file_system) = (target.device.as_ref(), target.file_system.as_ref());
        (device.is_some() || file_system.is_some()).then(|| AtomicWrites {
            device_name: device.map(|device| device.name.clone()),
            device: device.and_then(|device| device.atomic_writes),
            file_system_name: file_system.map(|one| one.kind.clone()),
            file_system: file_system.and_then(|one| one.atomic_writes),
        })
    }

    /// The largest write that is never torn; 0 where there is none, none where that is unknown. The
    /// answer of a file counts the device in.
    pub fn unit_max_bytes(&self) -> Option<u64> {
        match (&self.file_system_name, self.file_system) {
            (None, _) => Some(self.device?.unit_max_bytes),
            (Some(_), Some(file)) => Some(file.unit_max_bytes),
            // The kernel answers nothing for a file that has none; nor does one that is too old to
            // say it of devices.
            (Some(_), None) => self.device.map(|_| 0),
        }
    }

    /// The file system that makes writes atomic which its device does not, by writing them to a
    /// new place: XFS, since Linux 6.16.
    pub(super) fn made_by(&self) -> Option<&str> {
        let (device, file) = (self.device?, self.file_system?);
        let is_made = file.unit_max_bytes > device.unit_max_bytes;
        self.file_system_name.as_deref().filter(|_| is_made)
    }
}
