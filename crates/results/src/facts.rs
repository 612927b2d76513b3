//! The machine and target of a run: facts as read, empty if unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Activity of one processor during a run, for all processes; to the system's tick, usually 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorUse {
    /// Its number.
    pub number: u32,
    /// In user mode, in the kernel, in interrupts.
    pub busy_ns: u64,
    /// Idle, or waiting for I/O.
    pub idle_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// `linux`, `windows`, `virtual` (simulated targets only)...
    pub operating_system: String,
    /// Kernel release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processors.
    pub cpu: CpuFacts,
    /// Installed memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Hypervisor or container, if recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
}

/// Processors that this process may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFacts {
    /// Model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Logical processors usable by this process (affinity respected).
    pub count: u32,
    /// Physical cores of the online processors; two processors of one core share its capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Packages (sockets) of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packages: Option<u32>,
    /// Quota of the control group in processors, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// Frequency governor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
}

/// Type of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// An existing file.
    #[default]
    File,
    /// A test file that Stripewise made (in a directory).
    TestFile,
    /// A block device.
    Device,
    /// A simulated array.
    Simulated,
    /// No target: the null engine.
    Null,
}

/// The target of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// Its type.
    pub kind: TargetKind,
    /// As the user named it; for test files the directory.
    pub name: String,
    /// The absolute path, if `name` is relative to the program's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its whole size.
    pub size_bytes: u64,
    /// Where it starts on the bottom disk (or simulated array), if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_offset_bytes: Option<u64>,
    /// Logical sector: the smallest direct operation.
    pub logical_sector_bytes: u32,
    /// Physical sector of the device below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_sector_bytes: Option<u32>,
    /// The file system that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<FileSystemFacts>,
    /// The nearest block device below that counts operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceFacts>,
    /// For `sim:`: the resolved description of the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<String>,
}

impl TargetFacts {
    /// The name that works from any directory: the absolute path if there is one, otherwise as the
    /// user named it.
    pub fn full_name(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.name)
    }

    /// A file with unknown facts: for importers.
    pub fn unknown() -> TargetFacts {
        TargetFacts::default()
    }
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemFacts {
    /// `ext4`, `xfs`, `btrfs`, `tmpfs`...
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options.
    pub options: String,
    /// Bytes of one allocation unit (cluster).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_unit_bytes: Option<u64>,
    /// Atomic write sizes for this file (`statx`); absent if the kernel does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWriteFacts>,
}

/// Sizes of power-fail atomic writes; both 0 if unsupported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AtomicWriteFacts {
    /// The smallest.
    pub unit_min_bytes: u64,
    /// The largest.
    pub unit_max_bytes: u64,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Kernel name: `sda`, `nvme0n1p2`, `loop3`.
    pub name: String,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Revision of its firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// It spins; absent if unknown, as for virtual disks that claim to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// I/O scheduler in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Requests that the block layer queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u32>,
    /// Commands that the device accepts at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Largest request of the block layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sectors_kib: Option<u32>,
    /// `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Atomic write sizes (sysfs); absent before Linux 6.11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWriteFacts>,
    /// For loop devices: direct I/O to the backing file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<bool>,
}
