//! Users of a device or file: mounts, swap, holders, loop devices.

use super::mounted::devices_of_mount;
use super::numbers::{number_of, partition_numbers};
use super::tree::Tree;
use crate::storage::Use;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stripewise_machine::linux::block::directory;
use stripewise_machine::linux::mounts::{mounts, mounts_of_device};
use stripewise_machine::linux::{loop_status, swaps};
use stripewise_units::{DeviceNumber, NameText};

const BLOCK: &str = "/sys/class/block";

/// Users of a device, its partitions and the disk that it is a partition of.
pub fn of_device(tree: Tree, number: DeviceNumber) -> Vec<Use> {
    let mut family = vec![number];
    family.extend(partition_numbers(tree, number));
    let disk = directory(*tree, number)
        .filter(|directory| tree.exists(directory.join("partition")))
        .and_then(|directory| tree.number(directory.parent()?.join("dev")));
    family.extend(disk);
    let mut uses = Vec::new();
    for member in family {
        let name = name(tree, member);
        uses.extend(mounted(tree, member, &name));
        uses.extend(swapped(tree, |entry| {
            number_of(tree, &entry.to_string_lossy()) == Some(member)
        }));
        uses.extend(held(tree, member, &name));
        uses.extend(looped(tree, |backing| {
            backing.starts_with("/dev")
                && number_of(tree, &backing.to_string_lossy()) == Some(member)
        }));
    }
    uses
}

fn name(tree: Tree, number: DeviceNumber) -> String {
    directory(*tree, number)
        .and_then(|directory| Some(directory.file_name()?.to_str()?.to_owned()))
        .unwrap_or_else(|| number.to_string())
}

fn mounted(tree: Tree, number: DeviceNumber, name: &str) -> Vec<Use> {
    let all = mounts(*tree);
    let is_source = |source: &Path| number_of(tree, &source.to_string_lossy()) == Some(number);
    let direct = mounts_of_device(&all, number, is_source);
    let member = all
        .iter()
        .filter(|mount| mount.kind == "btrfs" || mount.kind == "bcachefs")
        .filter(|mount| !direct.iter().any(|known| known.id == mount.id))
        .filter(|mount| devices_of_mount(tree, mount, 0).contains(&number));
    direct
        .iter()
        .copied()
        .chain(member)
        .map(|mount| Use::Mounted {
            device: name.to_owned(),
            mount_point: mount.mount_point.clone(),
            file_system: mount.kind.clone(),
        })
        .collect()
}

fn swapped(tree: Tree, is_it: impl Fn(&Path) -> bool) -> Vec<Use> {
    let table = tree.table("/proc/swaps").unwrap_or_default();
    let mut names = swaps::names(&table);
    names.retain(|name| is_it(name));
    let name = |name: &PathBuf| Use::Swap {
        name: name.as_text(),
    };
    names.iter().map(name).collect()
}

fn held(tree: Tree, number: DeviceNumber, name: &str) -> Vec<Use> {
    let Some(directory) = directory(*tree, number) else {
        return Vec::new();
    };
    tree.names(directory.join("holders"))
        .into_iter()
        .map(|holder| Use::Holder {
            device: name.to_owned(),
            holder,
        })
        .collect()
}

/// Loop devices with the given backing file.
fn looped(tree: Tree, is_it: impl Fn(&Path) -> bool) -> Vec<Use> {
    tree.names(BLOCK)
        .into_iter()
        .filter(|name| name.starts_with("loop"))
        .filter(|name| {
            let path = Path::new(BLOCK).join(name).join("loop/backing_file");
            tree.path_in(path).is_some_and(|backing| is_it(&backing))
        })
        .map(|device| Use::LoopBacking { device })
        .collect()
}

/// Users of an open file: identified by device and inode, not by name.
pub fn of_file(tree: Tree, file: &File) -> Vec<Use> {
    let Ok(metadata) = file.metadata() else {
        return Vec::new();
    };
    use std::os::unix::fs::FileTypeExt;
    if metadata.file_type().is_block_device() {
        return of_device(tree, DeviceNumber::from_raw(metadata.rdev()));
    }
    let identity = (metadata.dev(), metadata.ino());
    let same = |path: &Path| {
        std::fs::metadata(tree.path(path)).is_ok_and(|other| (other.dev(), other.ino()) == identity)
    };
    let mut uses = looped(tree, same);
    uses.extend(loops_by_inode(tree, identity, &uses));
    uses.extend(swapped(tree, same));
    uses
}

/// Loop devices whose backing file was removed or renamed, or is in another mount namespace: the
/// kernel still reports its inode. Requires permission to open the loop device.
fn loops_by_inode(tree: Tree, identity: (u64, u64), known: &[Use]) -> Vec<Use> {
    if !tree.is_live() {
        return Vec::new();
    }
    tree.names(BLOCK)
        .into_iter()
        .filter(|name| name.starts_with("loop"))
        .filter(|name| tree.exists(Path::new(BLOCK).join(name).join("loop")))
        .map(|device| Use::LoopBacking { device })
        .filter(|one| !known.contains(one))
        .filter(|one| match one {
            Use::LoopBacking { device } => loop_status::backing(
                Path::new("/dev").join(device).as_path(),
            )
            .is_some_and(|backing| {
                (backing.device, backing.inode) == (DeviceNumber::from_raw(identity.0), identity.1)
            }),
            _ => false,
        })
        .collect()
}
