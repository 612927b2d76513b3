//! The machine: `/proc`, DMI, control groups, power.

use super::cgroup;
use super::tree::{Tree, field, field_number, list_count, list_numbers};
use crate::host::{Cpu, Host, Memory, Power};
use std::path::Path;

const CPU: &str = "/sys/devices/system/cpu";

pub fn host(tree: Tree) -> Host {
    let cpu_info = tree.text("/proc/cpuinfo").unwrap_or_default();
    Host {
        name: tree
            .word("/proc/sys/kernel/hostname")
            .or_else(|| tree.word("/etc/hostname"))
            .unwrap_or_default(),
        operating_system: "linux".to_owned(),
        kernel: tree.word("/proc/sys/kernel/osrelease"),
        cpu: cpu(tree, &cpu_info),
        memory: memory(tree),
        hypervisor: hypervisor(tree, &cpu_info),
        container: container(tree),
        power: Power {
            on_mains: on_mains(tree),
            profile: tree.word("/sys/firmware/acpi/platform_profile"),
        },
    }
}

fn cpu(tree: Tree, cpu_info: &str) -> Cpu {
    let status = tree.text("/proc/self/status").unwrap_or_default();
    let online = tree.word(format!("{CPU}/online"));
    let count_online = online.as_deref().and_then(list_count);
    Cpu {
        // x86 has `model name`; other architectures have these.
        model: ["model name", "Model", "cpu model", "uarch", "Processor"]
            .iter()
            .find_map(|key| field(cpu_info, key))
            .filter(|model| !model.is_empty())
            .map(str::to_owned),
        count_usable: field(&status, "Cpus_allowed_list")
            .and_then(list_count)
            .or(count_online)
            .unwrap_or(1)
            .max(1),
        count_online,
        cores: cores(tree, online.as_deref()),
        packages: packages(tree, online.as_deref()),
        quota: cgroup::cpu_quota(tree),
        governor: governor(tree),
    }
}

/// The logical CPUs of each core, from `topology/core_cpus_list` (`thread_siblings_list` before
/// Linux 5.3).
fn cores(tree: Tree, online: Option<&str>) -> Vec<Vec<u32>> {
    let mut cores: Vec<Vec<u32>> = Vec::new();
    for processor in online.and_then(list_numbers).unwrap_or_default() {
        let topology = format!("{CPU}/cpu{processor}/topology");
        let together = tree
            .word(format!("{topology}/core_cpus_list"))
            .or_else(|| tree.word(format!("{topology}/thread_siblings_list")))
            .and_then(|text| list_numbers(&text));
        match together {
            None => return Vec::new(),
            Some(core) if core.first() == Some(&processor) => cores.push(core),
            Some(_) => {}
        }
    }
    cores
}

/// Number of CPU packages.
fn packages(tree: Tree, online: Option<&str>) -> Option<u32> {
    let mut packages = Vec::new();
    for processor in online.and_then(list_numbers)? {
        let path = format!("{CPU}/cpu{processor}/topology/physical_package_id");
        packages.push(tree.value::<i32>(path)?);
    }
    packages.sort_unstable();
    packages.dedup();
    u32::try_from(packages.len())
        .ok()
        .filter(|count| *count > 0)
}

/// The governor of the first CPU that has one.
pub fn governor(tree: Tree) -> Option<String> {
    tree.word(format!("{CPU}/cpu0/cpufreq/scaling_governor"))
        .or_else(|| tree.word(format!("{CPU}/cpufreq/policy0/scaling_governor")))
}

fn memory(tree: Tree) -> Memory {
    let text = tree.text("/proc/meminfo").unwrap_or_default();
    let bytes = |key: &str| field_number(&text, key)?.checked_mul(1024);
    Memory {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        limit_bytes: cgroup::memory_limit_bytes(tree),
    }
}

/// Strings in DMI data, and the hypervisors they identify.
const DMI: [(&str, &str); 16] = [
    ("firecracker", "firecracker"),
    ("amazon ec2", "amazon"),
    ("google", "google"),
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("xen", "xen"),
    ("digitalocean", "kvm"),
    ("openstack", "kvm"),
    ("red hat", "kvm"),
    ("kvm", "kvm"),
    ("qemu", "qemu"),
    ("bochs", "bochs"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("apple virtualization", "apple"),
];

/// The chassis asset tag of Azure virtual machines, which other Hyper-V machines lack.
const AZURE_ASSET_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

fn hypervisor(tree: Tree, cpu_info: &str) -> Option<String> {
    let flagged = field(cpu_info, "flags")
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let dmi: String = [
        "sys_vendor",
        "product_name",
        "product_version",
        "bios_vendor",
    ]
    .iter()
    .filter_map(|name| tree.word(Path::new("/sys/class/dmi/id").join(name)))
    .map(|text| text.to_lowercase() + "\n")
    .collect();
    let on_arm = field(cpu_info, "flags").is_none();
    // A cloud's bare-metal machine carries the cloud's name too, so DMI only names the hypervisor
    // that the CPU flag reports; ARM has no such flag.
    if flagged || on_arm {
        if dmi.contains("microsoft") && dmi.contains("virtual machine") {
            let asset = tree.word("/sys/class/dmi/id/chassis_asset_tag");
            let is_azure = asset.as_deref() == Some(AZURE_ASSET_TAG);
            return Some(if is_azure { "azure" } else { "hyper-v" }.to_owned());
        }
        if let Some((_, name)) = DMI.iter().find(|(mark, _)| dmi.contains(mark)) {
            return Some((*name).to_owned());
        }
    }
    if let Some(kind) = tree.word("/sys/hypervisor/type") {
        return Some(kind);
    }
    flagged.then(|| by_clock_source(tree).unwrap_or("unknown").to_owned())
}

/// Guests without DMI (microVMs) still have their hypervisor's clock.
fn by_clock_source(tree: Tree) -> Option<&'static str> {
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let text = tree.word(path)?;
    text.split_whitespace().find_map(|name| match name {
        "kvm-clock" => Some("kvm"),
        "xen" => Some("xen"),
        name if name.starts_with("hyperv") => Some("hyper-v"),
        _ => None,
    })
}

fn container(tree: Tree) -> Option<String> {
    if let Some(name) = tree.word("/run/systemd/container") {
        return Some(name);
    }
    for (mark, name) in [
        ("/.dockerenv", "docker"),
        ("/run/.containerenv", "podman"),
        ("/var/run/secrets/kubernetes.io", "kubernetes"),
        ("/proc/vz", "openvz"),
    ] {
        // The host of OpenVZ has /proc/bc in addition to /proc/vz.
        if tree.exists(mark) && !(name == "openvz" && tree.exists("/proc/bc")) {
            return Some(name.to_owned());
        }
    }
    let release = tree.word("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_lowercase().contains("microsoft") {
        return Some("wsl".to_owned());
    }
    let groups = tree.text("/proc/1/cgroup").unwrap_or_default();
    [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
        ("machine.slice", "nspawn"),
    ]
    .iter()
    .find(|(mark, _)| groups.contains(mark))
    .map(|(_, name)| (*name).to_owned())
}

/// True if any mains supply is online; absent where there is none.
pub fn on_mains(tree: Tree) -> Option<bool> {
    let all = Path::new("/sys/class/power_supply");
    let supplies: Vec<bool> = tree
        .names(all)
        .iter()
        .filter(|name| tree.word(all.join(name).join("type")).as_deref() == Some("Mains"))
        .filter_map(|name| tree.flag(all.join(name).join("online")))
        .collect();
    (!supplies.is_empty()).then(|| supplies.contains(&true))
}

/// Thermal throttling events over all CPUs; absent where not counted.
pub fn thermal_throttles(tree: Tree) -> Option<u64> {
    let counts: Vec<u64> = tree
        .names(CPU)
        .iter()
        .filter(|name| {
            name.strip_prefix("cpu")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        })
        .flat_map(|name| {
            ["core_throttle_count", "package_throttle_count"]
                .map(|file| tree.value(format!("{CPU}/{name}/thermal_throttle/{file}")))
        })
        .flatten()
        .collect();
    (!counts.is_empty()).then(|| {
        counts
            .iter()
            .fold(0u64, |sum, count| sum.saturating_add(*count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azure_is_told_from_other_machines_of_hyper_v() {
        let top = tempfile::tempdir().expect("a directory");
        let put = |name: &str, text: &str| {
            let dmi = top.path().join("sys/class/dmi/id");
            std::fs::create_dir_all(&dmi).expect("made");
            std::fs::write(dmi.join(name), text).expect("written");
        };
        put("sys_vendor", "Microsoft Corporation\n");
        put("product_name", "Virtual Machine\n");
        let named = || hypervisor(Tree::new(top.path()), "flags : fpu hypervisor\n");
        assert_eq!(named().as_deref(), Some("hyper-v"));
        put("chassis_asset_tag", &format!("{AZURE_ASSET_TAG}\n"));
        assert_eq!(named().as_deref(), Some("azure"));
    }
}
