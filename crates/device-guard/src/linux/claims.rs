//! Obstacles to writing to a block device beyond `O_EXCL`, and whether a name identifies the
//! device. Every crate that writes to devices uses only these rules.

pub use super::file_or_devices::kernel_name;

use super::exports::exports;
use super::users::{self, FileOrDevices};
use std::path::Path;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::linux::swaps;
use stripewise_units::DeviceNumber;
use stripewise_units::NameText;

/// Whether `--destroy NAME` names this device: exactly the kernel's name, or that under `/dev/`.
/// Links (`/dev/disk/by-id/...`) and device-mapper aliases do not count, as their target may have
/// changed.
pub fn is_named(destroy: &str, kernel_name: &str) -> bool {
    destroy.strip_prefix("/dev/").unwrap_or(destroy) == kernel_name
}

/// Whether other users prevent writing to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Not in use, and all processes were checked.
    Free,
    /// In use or protected for this reason, and no switch overrides it.
    Blocked(String),
    /// No use was found, but not all processes are visible, for this reason. The caller refuses
    /// unless its user confirms that the device is free.
    Unverified(String),
}

impl Availability {
    /// The obstacle; `None` if there is none, or it cannot be determined.
    pub fn in_the_way(self) -> Option<String> {
        match self {
            Availability::Blocked(reason) => Some(reason),
            Availability::Free | Availability::Unverified(_) => None,
        }
    }
}

/// Checks for obstacles to writing to a device of this machine: a mount, swap, a holder or a loop
/// device on it or on its relatives, a process that has it open, read-only protection of it or of
/// one of its partitions, or data that this machine needs: `/`, swap, and `store`. Takes up to half
/// a second where a process has it open, as the process may only probe it briefly.
pub fn availability(number: DeviceNumber, store: Option<&Path>) -> Availability {
    match claimed(number, store) {
        Some(reason) => Availability::Blocked(reason),
        None => unclaimed(number),
    }
}

/// Like [`availability`], but returns only the obstacle.
pub fn in_the_way(number: DeviceNumber, store: Option<&Path>) -> Option<String> {
    availability(number, store).in_the_way()
}

/// Uses shown by the kernel's mount table, swap areas and holders, and data that this machine
/// needs.
fn claimed(number: DeviceNumber, store: Option<&Path>) -> Option<String> {
    let system = System::live();
    if let Some(first) = system.uses_of_device(number).first() {
        return Some(first.to_string());
    }
    let wanted = FileOrDevices::device(&system, number);
    if let Some(area) = users::swap_areas(&wanted).first() {
        return Some(format!("{area} is in use as swap"));
    }
    if let Some(vital) = vital_for(&system, number, store) {
        return Some(format!("{vital} is on it"));
    }
    let mut parts = vec![number];
    parts.extend(system.partitions(number).iter().map(|found| found.number));
    parts.into_iter().find_map(|device| {
        let other_mounts = users::other_mounts_of(device);
        let mount_point = other_mounts.first()?;
        Some(format!(
            "it is mounted at {} in another mount namespace (a container?)",
            mount_point.as_text()
        ))
    })
}

/// Uses that the kernel's claim (`O_EXCL`) does not exclude, and that may begin between a check and
/// a claim, or after both: loop devices above it, exports to other machines, processes that use it
/// without a claim, and read-only protection.
pub fn unclaimed(number: DeviceNumber) -> Availability {
    let system = System::live();
    if let Some(reason) = protected(&system, number) {
        return Availability::Blocked(reason);
    }
    let wanted = FileOrDevices::device(&system, number);
    if let Some(device) = users::loop_devices(&wanted).first() {
        return Availability::Blocked(format!("it is the backing of /dev/{device}"));
    }
    if let Some(setting) = exports(Path::new("/sys/kernel"), &wanted).first() {
        let setting = setting.as_text();
        return Availability::Blocked(format!("the kernel exports it to others ({setting})"));
    }
    let mut openers = users::Openers::default();
    users::retry_briefly(|| {
        openers = users::openers(&wanted);
        (!openers.is_settled()).then_some(())
    });
    match (openers.others.first(), openers.unseen) {
        (Some(opener), _) => Availability::Blocked(format!("it is open in {opener}")),
        (None, None) => Availability::Free,
        (None, Some(why)) => Availability::Unverified(format!(
            "whether another program has it open cannot be seen from here: {why}"
        )),
    }
}

/// Whether it, or a partition of it, is set read-only. A partition's flag also protects its disk:
/// the kernel would allow writes to the disk, but they would overwrite the protected data.
fn protected(system: &System, number: DeviceNumber) -> Option<String> {
    let is_set = |name: &str| {
        let name = name.replace('!', "/");
        Some(format!(
            "{name} is set read-only (`blockdev --getro /dev/{name}`; `--setrw` undoes it)"
        ))
    };
    let Ok(device) = system.device(number) else {
        // Not known to be writable: refuse.
        return Some("the kernel no longer shows it: it may have been removed".to_owned());
    };
    if device.read_only {
        return is_set(&device.name);
    }
    let parts = system.partitions(number);
    is_set(&parts.iter().find(|part| part.read_only)?.name)
}

/// Which data of this machine is on a device: `/`, swap, the store.
fn vital_for(system: &System, number: DeviceNumber, store: Option<&Path>) -> Option<&'static str> {
    let lies_on_it = |path: &Path| {
        system
            .storage_of_path(path)
            .is_ok_and(|found| found.layers().iter().any(|layer| layer.number == number))
    };
    if lies_on_it(Path::new("/")) {
        return Some("the root file system");
    }
    let swaps = swaps::names(&swaps::table());
    if swaps.iter().any(|name| lies_on_it(name)) {
        return Some("swap");
    }
    let store = store?;
    // The store may not exist yet; then check its directory.
    let there = store.ancestors().find(|path| path.exists())?;
    lies_on_it(there).then_some("the store of results")
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn only_the_kernels_name_names_a_device() {
        let cases = [
            ("loop3", "loop3", true),
            ("/dev/loop3", "loop3", true),
            ("/dev/cciss/c0d0", "cciss/c0d0", true),
            ("loop", "loop3", false),
            ("loop33", "loop3", false),
            ("sda", "sda1", false),
            ("sda1", "sda", false),
            ("LOOP3", "loop3", false),
            ("", "loop3", false),
            ("/dev/", "loop3", false),
            ("/dev//loop3", "loop3", false),
            ("/dev/disk/by-id/x", "sda", false),
            ("./loop3", "loop3", false),
            (" loop3", "loop3", false),
            ("all", "loop3", false),
        ];
        for (destroy, name, want) in cases {
            assert_eq!(is_named(destroy, name), want, "`{destroy}` for {name}");
        }
    }
}
