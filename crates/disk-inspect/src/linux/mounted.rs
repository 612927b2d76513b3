//! Finds the devices below a mount, or below a file known only by path.

use super::numbers::number_of;
use super::tree::Tree;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stripewise_machine::linux::mounts::{FileOnMount, Mount, mount_of, mounts, sources};
use stripewise_units::DeviceNumber;

/// An overlay's upper directory may itself be on an overlay; bounds the nesting.
const OVERLAY_DEPTH_MAX: u32 = 4;

/// The block devices directly below a mount.
pub fn devices_of_mount(tree: Tree, mount: &Mount, depth: u32) -> Vec<DeviceNumber> {
    if !mount.number.is_anonymous() {
        return vec![mount.number];
    }
    match mount.kind.as_str() {
        "btrfs" => match number_of(tree, &mount.source) {
            Some(source) => btrfs_members(tree, source).unwrap_or_else(|| vec![source]),
            None => Vec::new(),
        },
        "overlay" if depth < OVERLAY_DEPTH_MAX => {
            let Some(upper) = mount.option("upperdir") else {
                return Vec::new();
            };
            let all = mounts(*tree);
            let place = FileOnMount {
                path: Some(PathBuf::from(upper)),
                ..FileOnMount::default()
            };
            mount_of(&all, &place)
                .filter(|below| below.id != mount.id)
                .map(|below| devices_of_mount(tree, below, depth + 1))
                .unwrap_or_default()
        }
        _ if mount.source.starts_with("/dev/") => sources(mount)
            .filter_map(|source| number_of(tree, source))
            .collect(),
        _ => Vec::new(),
    }
}

/// All devices of the btrfs that `source` belongs to, that one first.
pub fn btrfs_members(tree: Tree, source: DeviceNumber) -> Option<Vec<DeviceNumber>> {
    let all = Path::new("/sys/fs/btrfs");
    tree.names(all).iter().find_map(|uuid| {
        let members = all.join(uuid).join("devices");
        let mut numbers: Vec<DeviceNumber> = tree
            .names(&members)
            .iter()
            .filter_map(|name| number_of(tree, name))
            .collect();
        let at = numbers.iter().position(|number| *number == source)?;
        numbers.swap(0, at);
        Some(numbers)
    })
}

/// What a loop device is on: the file system type for a file, `None` for a device, and the devices
/// below either.
pub fn backing(tree: Tree, path: &Path) -> (Option<String>, Vec<DeviceNumber>) {
    let bytes = path.as_os_str().as_bytes();
    let name = Path::new(OsStr::from_bytes(
        bytes.strip_suffix(b" (deleted)").unwrap_or(bytes),
    ));
    if name.starts_with("/dev")
        && let Some(number) = number_of(tree, &name.to_string_lossy())
    {
        return (None, vec![number]);
    }
    let all = mounts(*tree);
    let stat = rustix::fs::stat(tree.path(name)).ok();
    let place = FileOnMount {
        mount_id: None,
        // In a captured tree the number would be this machine's.
        number: stat
            .filter(|_| tree.is_live())
            .map(|stat| DeviceNumber::from_raw(stat.st_dev))
            .unwrap_or_default(),
        path: Some(PathBuf::from(name)),
    };
    match mount_of(&all, &place) {
        Some(mount) => (Some(mount.kind.clone()), devices_of_mount(tree, mount, 0)),
        None => (Some("unknown".to_owned()), Vec::new()),
    }
}
