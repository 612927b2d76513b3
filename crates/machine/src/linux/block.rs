//! Maps block devices to their sysfs directories.

use super::tree::Tree;
use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

/// Links to all block devices by name.
pub const CLASS: &str = "/sys/class/block";
const NUMBERS: &str = "/sys/dev/block";

/// The sysfs directory of a device, links resolved.
pub fn directory(tree: Tree, number: DeviceNumber) -> Option<PathBuf> {
    let linked = tree.resolve(format!("{NUMBERS}/{number}"));
    linked.or_else(|| {
        let of = |directory: &PathBuf| tree.number(directory.join("dev")) == Some(number);
        captured(tree).into_iter().find(of)
    })
}

/// Directories of devices in a captured tree that lacks one kind of links: those made by
/// util-linux's `mk-input.sh`, which `lsblk --sysroot` reads, have no `/sys/class/block`; synthetic
/// ones may have only `/sys/block`. Empty on the running machine.
pub fn captured(tree: Tree) -> Vec<PathBuf> {
    if tree.is_live() {
        return Vec::new();
    }
    let listed = |folder: &str| -> Vec<PathBuf> {
        let names = tree.names(folder);
        let each = names.iter().map(|name| Path::new(folder).join(name));
        each.filter_map(|path| tree.resolve(path)).collect()
    };
    let found = [listed(CLASS), listed(NUMBERS)];
    if let Some(found) = found.into_iter().find(|found| !found.is_empty()) {
        return found;
    }
    let mut found = listed("/sys/block");
    for disk in found.clone() {
        let parts = tree.names(&disk).into_iter().map(|name| disk.join(name));
        found.extend(parts.filter(|part| tree.exists(part.join("partition"))));
    }
    found
}

/// The directory of a device by its kernel name.
pub fn directory_named(tree: Tree, name: &str) -> Option<PathBuf> {
    let linked = Path::new(CLASS).join(name);
    if tree.exists(&linked) {
        return tree.resolve(linked);
    }
    let is_it = |directory: &PathBuf| directory.file_name().is_some_and(|own| own == name);
    captured(tree).into_iter().find(is_it)
}
