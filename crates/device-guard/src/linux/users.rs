//! Current users of a file or device of this machine: swap areas, loop devices, processes. Checked
//! before every write.
//!
//! These checks are not the only ones. For files the kernel's lease decides as well; for block
//! devices it is `O_EXCL`, and this explains the refusal, except for uses that `O_EXCL` does not
//! detect: loop devices over a device, kernel exports over a network or a bus, and processes that
//! use it without claiming it (virtual machines, databases on raw devices).

pub use super::file_or_devices::FileOrDevices;
pub use super::openers::{Openers, Unverified, openers};

use super::openers::flags_of;
use std::collections::HashSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_machine::linux::tree::{path_of_line, table_text, unescape_path};
use stripewise_machine::linux::{loop_status, swaps};
use stripewise_units::{DeviceNumber, NameText};

/// Swap areas on this file or device.
pub fn swap_areas(wanted: &FileOrDevices) -> Vec<String> {
    let mut names = swaps::names(&swaps::table());
    names.retain(|name| wanted.is_at(name));
    names.iter().map(|name| name.as_text()).collect()
}

/// Loop devices backed by this file or device, by name. Queries the devices themselves where
/// permitted (which finds deleted files and other paths), and the paths in sysfs.
pub fn loop_devices(wanted: &FileOrDevices) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("loop") {
            continue;
        }
        let path = entry.path().join("loop/backing_file");
        let Ok(backing) = std::fs::read(&path) else {
            continue; // Not in use.
        };
        let by_path = || path_of_line(&backing).is_some_and(|path| wanted.is_at(&path));
        if stands_on(&name, wanted).unwrap_or(false) || by_path() {
            found.push(name);
        }
    }
    found
}

/// Queries the loop device itself; `None` without permission.
fn stands_on(name: &str, wanted: &FileOrDevices) -> Option<bool> {
    let backing = loop_status::backing(&Path::new("/dev").join(name))?;
    Some(match wanted {
        FileOrDevices::File { device, inode } => {
            (backing.device, backing.inode) == (*device, *inode)
        }
        FileOrDevices::Devices { blocks, .. } => {
            let is_device = backing.rdevice != DeviceNumber::default();
            is_device && blocks.contains(&backing.rdevice)
        }
    })
}

/// Retries a check, as some uses are brief: `udev` and `blkid` whenever a device is closed, our own
/// children between fork and exec. A use that persists for half a second counts: a server that has
/// the file open forks all the time, and no time is long enough to tell the two apart.
pub fn retry_briefly<T>(mut in_the_way: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..5 {
        in_the_way()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    in_the_way()
}

/// Whether this process has it open through another descriptor than `file`. Path-only handles
/// (`O_PATH`) do not count: they can neither read nor write.
pub fn open_twice_here(file: &File, wanted: &FileOrDevices) -> bool {
    let own = Path::new("/proc/self");
    let this = file.as_raw_fd().to_string();
    let descriptors = std::fs::read_dir(own.join("fd"));
    descriptors
        .into_iter()
        .flatten()
        .flatten()
        .any(|descriptor| {
            let number = descriptor.file_name();
            number != *this
                && wanted.is_at(&descriptor.path())
                && flags_of(own, &number).is_some_and(|flags| flags & libc::O_PATH == 0)
        })
}

/// Mount points of a device in other mount namespaces, which our own mount table does not show
/// (containers); best effort.
pub fn other_mounts_of(number: DeviceNumber) -> Vec<PathBuf> {
    let mut namespaces = HashSet::new();
    if let Ok(own) = std::fs::read_link("/proc/self/ns/mnt") {
        namespaces.insert(own);
    }
    let wanted = number.to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(namespace) = std::fs::read_link(entry.path().join("ns/mnt")) else {
            continue;
        };
        if !namespaces.insert(namespace) {
            continue;
        }
        let bytes = std::fs::read(entry.path().join("mountinfo")).unwrap_or_default();
        for line in table_text(&bytes).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if words.get(2) == Some(&wanted.as_str())
                && let Some(mount_point) = words.get(4)
            {
                found.push(unescape_path(mount_point));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::retry_briefly;

    #[test]
    fn only_what_stays_is_in_the_way() {
        for (stays, want) in [(0, None), (1, None), (5, None), (6, Some(6)), (9, Some(6))] {
            let mut processes_checked = 0;
            let found = retry_briefly(|| {
                processes_checked += 1;
                (processes_checked <= stays).then_some(processes_checked)
            });
            assert_eq!(found, want, "there for {stays} looks");
        }
    }
}
