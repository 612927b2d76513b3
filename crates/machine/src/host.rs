//! What the machine is: types only. Absent where unknown, never guessed.

use serde::{Deserialize, Serialize};

/// The machine as it stands now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Host {
    /// Host name; empty where unknown.
    pub name: String,
    /// `linux`, `windows`...
    pub operating_system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processors.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Hypervisor, as recognised: `kvm`, `vmware`, `hyper-v`, `xen`,
    /// `virtualbox`, `amazon`, `google`, `firecracker`... or `unknown` where the
    /// processor says that there is one and nothing says which.
    pub hypervisor: Option<String>,
    /// Container runtime, as recognised: `docker`, `podman`, `lxc`, `kubernetes`...
    pub container: Option<String>,
    /// Power supply.
    pub power: Power,
}

impl Host {
    /// Hypervisor and container in one word or two: `kvm`, `docker`, `kvm/docker`.
    #[must_use]
    pub fn virtualization(&self) -> Option<String> {
        match (&self.hypervisor, &self.container) {
            (Some(hypervisor), Some(container)) => Some(format!("{hypervisor}/{container}")),
            (one, other) => one.clone().or_else(|| other.clone()),
        }
    }
}

/// Processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cpu {
    /// Model name.
    pub model: Option<String>,
    /// Logical processors that this process may run on (affinity respected);
    /// at least 1.
    pub count_usable: u32,
    /// Logical processors that are online.
    pub count_online: Option<u32>,
    /// The tightest quota of our control group and its ancestors.
    pub quota: Option<CpuQuota>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
}

/// CPU time that a control group may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CpuQuota {
    /// The control group that sets it, as a path inside its hierarchy.
    pub cgroup: String,
    /// Time allowed a period, microseconds.
    pub quota_us: u64,
    /// The period, microseconds; above 0.
    pub period_us: u64,
}

impl CpuQuota {
    /// The quota in processors.
    #[must_use]
    pub fn processors(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Memory {
    /// Installed, as far as the kernel uses it.
    pub total_bytes: Option<u64>,
    /// The kernel's estimate of what can be had without swapping.
    pub available_bytes: Option<u64>,
    /// The tightest limit of our control group and its ancestors.
    pub limit_bytes: Option<u64>,
}

/// Power supply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Power {
    /// Mains power; absent where the machine does not say (most servers).
    pub on_mains: Option<bool>,
    /// Platform profile: `performance`, `balanced`, `low-power`...
    pub profile: Option<String>,
}
