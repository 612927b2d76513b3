//! Facts about the machine: types only. Absent where unknown, never guessed.

use serde::{Deserialize, Serialize};

/// The current state of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Host {
    /// Host name; empty where unknown.
    pub name: String,
    /// `linux`, `windows`...
    pub operating_system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPUs.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Hypervisor, as recognised: `kvm`, `vmware`, `hyper-v`, `xen`, `virtualbox`, `amazon`,
    /// `azure`, `google`, `firecracker`... or `unknown` where the CPU reports one and nothing
    /// identifies it.
    pub hypervisor: Option<String>,
    /// Container runtime, as recognised: `docker`, `podman`, `lxc`, `kubernetes`...
    pub container: Option<String>,
    /// Power supply.
    pub power: Power,
}

impl Host {
    /// Hypervisor and container in one word or two: `kvm`, `docker`, `kvm/docker`.
    pub fn virtualization(&self) -> Option<String> {
        match (&self.hypervisor, &self.container) {
            (Some(hypervisor), Some(container)) => Some(format!("{hypervisor}/{container}")),
            (one, other) => one.clone().or_else(|| other.clone()),
        }
    }
}

/// CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cpu {
    /// Model name.
    pub model: Option<String>,
    /// Logical CPUs that this process may run on (affinity respected); at least 1.
    pub count_usable: u32,
    /// Logical CPUs that are online.
    pub count_online: Option<u32>,
    /// The online logical CPUs (hyper-threads) of each core, in the order of each core's first;
    /// empty where unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<Vec<u32>>,
    /// Number of CPU packages; `None` where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packages: Option<u32>,
    /// The tightest quota of our control group and its ancestors.
    pub quota: Option<CpuQuota>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
}

impl Cpu {
    /// Reorders logical CPUs so that the first of each core precedes the second ones: two threads
    /// on one core share its performance. The order is otherwise kept; CPUs of unknown cores count
    /// as firsts.
    pub fn cores_first(&self, processors: &[u32]) -> Vec<u32> {
        let mut taken = vec![0_u32; self.cores.len()];
        let mut turns: Vec<(u32, u32)> = processors
            .iter()
            .map(|&processor| {
                let core = self.cores.iter().position(|core| core.contains(&processor));
                let turn = core.map_or(0, |core| {
                    taken[core] += 1;
                    taken[core] - 1
                });
                (turn, processor)
            })
            .collect();
        turns.sort_by_key(|(turn, _)| *turn);
        turns.into_iter().map(|(_, processor)| processor).collect()
    }
}

/// CPU time that a control group may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CpuQuota {
    /// The control group that sets it, as a path inside its hierarchy.
    pub cgroup: String,
    /// CPU time per period, microseconds.
    pub quota_us: u64,
    /// The period, microseconds; above 0.
    pub period_us: u64,
}

impl CpuQuota {
    /// The quota in CPUs.
    pub fn processors(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Memory {
    /// Physical memory usable by the kernel.
    pub total_bytes: Option<u64>,
    /// The kernel's estimate of memory available without swapping.
    pub available_bytes: Option<u64>,
    /// The tightest limit of our control group and its ancestors.
    pub limit_bytes: Option<u64>,
}

impl Memory {
    /// What this process may use: available memory, within its limit.
    pub fn usable_bytes(&self) -> Option<u64> {
        match (self.available_bytes, self.limit_bytes) {
            (Some(available), Some(limit)) => Some(available.min(limit)),
            (one, other) => one.or(other),
        }
    }
}

/// Power supply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Power {
    /// Mains power; absent where the machine does not report it (most servers).
    pub on_mains: Option<bool>,
    /// Platform profile: `performance`, `balanced`, `low-power`...
    pub profile: Option<String>,
}
