//! Numbers of block devices: by name, path or link; all of them; a disk's partitions.

use super::tree::Tree;
use std::path::{Path, PathBuf};
use stripewise_machine::linux::block::{self, CLASS};
use stripewise_units::DeviceNumber;

/// The number of a device by kernel name, path or link.
pub fn number_of(tree: Tree, name: &str) -> Option<DeviceNumber> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    if name.contains('/') {
        if let Ok(metadata) = std::fs::metadata(tree.path(name))
            && metadata.file_type().is_block_device()
        {
            return Some(DeviceNumber::from_raw(metadata.rdev()));
        }
        // A captured tree has no device nodes, but may have links to them.
        if let Some(mapped) = name.strip_prefix("/dev/mapper/") {
            return by_mapper_name(tree, mapped);
        }
        let target = tree.resolve(name).unwrap_or_else(|| PathBuf::from(name));
        let base = target.file_name()?.to_str()?;
        return number_named(tree, base);
    }
    if name.is_empty() || name == "." || name == ".." {
        return None;
    }
    number_named(tree, name)
}

fn by_mapper_name(tree: Tree, mapped: &str) -> Option<DeviceNumber> {
    let directories = tree.names(CLASS).into_iter();
    let linked = directories.map(|name| Path::new(CLASS).join(name));
    linked.chain(block::captured(*tree)).find_map(|directory| {
        (tree.word(directory.join("dm/name")).as_deref() == Some(mapped))
            .then(|| tree.number(directory.join("dev")))?
    })
}

/// Numbers of all block devices, ordered by name.
pub fn all(tree: Tree) -> Vec<DeviceNumber> {
    let names = tree.names(CLASS);
    if names.is_empty() {
        let mut found = block::captured(*tree);
        found.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
        let numbers = found.iter().map(|one| tree.number(one.join("dev")));
        return numbers.flatten().collect();
    }
    names
        .iter()
        .filter_map(|name| tree.number(Path::new(CLASS).join(name).join("dev")))
        .collect()
}

/// Numbers of the partitions of a disk.
pub fn partition_numbers(tree: Tree, disk: DeviceNumber) -> Vec<DeviceNumber> {
    let Some(directory) = block::directory(*tree, disk) else {
        return Vec::new();
    };
    tree.names(&directory)
        .iter()
        .map(|name| directory.join(name))
        .filter(|part| tree.exists(part.join("partition")))
        .filter_map(|part| tree.number(part.join("dev")))
        .collect()
}

fn number_named(tree: Tree, name: &str) -> Option<DeviceNumber> {
    tree.number(block::directory_named(*tree, name)?.join("dev"))
}
