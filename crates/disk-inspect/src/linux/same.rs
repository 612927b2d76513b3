//! Identifies a target by number: many names lead to the same device.

use super::{place, tree::Tree};
use crate::identity::Identity;
use crate::storage::BlockDevice;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use stripewise_units::DeviceNumber;

/// The file or device of this name, if any.
pub fn identity(tree: Tree, path: &Path) -> Option<Identity> {
    let own = of(tree, path)?;
    let storage = place::of_path(tree, path).unwrap_or_default();
    let layers = storage.layers();
    let devices = layers.iter().map(|layer| device(layer.number));
    // Two files on a file system are separate, and a file is on its device.
    let backings = layers.iter().filter_map(|layer| backing(tree, layer));
    let mut on: Vec<String> = devices.chain(backings).filter(|one| *one != own).collect();
    on.dedup();
    Some(Identity { own, on })
}

fn of(tree: Tree, path: &Path) -> Option<String> {
    let found = std::fs::metadata(tree.path(path)).ok()?;
    Some(match found.file_type().is_block_device() {
        true => device(DeviceNumber::from_raw(found.rdev())),
        false => format!(
            "file {} of {}",
            found.ino(),
            DeviceNumber::from_raw(found.dev())
        ),
    })
}

fn device(number: DeviceNumber) -> String {
    format!("device {number}")
}

fn backing(tree: Tree, layer: &BlockDevice) -> Option<String> {
    of(tree, &layer.looped.as_ref()?.backing_file)
}
