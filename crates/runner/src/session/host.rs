//! Facts about the machine, in the record's format.

use stripewise_disk_inspect::System;
use stripewise_results::{CpuFacts, HostFacts};

/// Current facts about this machine.
pub fn host_facts(system: &System) -> HostFacts {
    let host = system.host();
    HostFacts {
        virtualization: host.virtualization(),
        name: host.name,
        operating_system: host.operating_system,
        kernel: host.kernel,
        cpu: CpuFacts {
            model: host.cpu.model,
            count: host.cpu.count_usable,
            cores: u32::try_from(host.cpu.cores.len())
                .ok()
                .filter(|count| *count > 0),
            packages: host.cpu.packages,
            quota: host.cpu.quota.map(|quota| quota.processors()),
            governor: host.cpu.governor,
        },
        memory_bytes: host.memory.total_bytes,
    }
}
