//! Determines what to show for a single device: the device, what it is on, and what is on it; of
//! the volumes, only those that share bytes with it.
//!
//! A loop device over a file is on the file's disk, which is shown; the volume that holds the file
//! is not.

use super::devices;
use super::mounted::btrfs_members;
use super::numbers;
use super::tree::Tree;
use crate::storage::BlockDevice;
use crate::{Error, Result};
use stripewise_machine::linux::block;
use stripewise_units::DeviceNumber;

/// A device and its relatives.
pub struct Family {
    /// Everything that is shown.
    wanted: Vec<DeviceNumber>,
    /// The device, and other members of its btrfs: volumes on these are shown.
    own: Vec<DeviceNumber>,
    /// What it is on, except through files: volumes on these are shown.
    below: Vec<DeviceNumber>,
}

impl Family {
    pub fn of(tree: Tree, name: &str) -> Result<Family> {
        let number =
            numbers::number_of(tree, name).ok_or_else(|| Error::NoDevice(name.to_owned()))?;
        let device = devices::device(tree, number)?;
        let mut family = Family {
            wanted: device.layers().iter().map(|layer| layer.number).collect(),
            own: vec![number],
            below: Vec::new(),
        };
        solid(&device, &mut family.below);
        family.add_above(tree, number);
        // A btrfs on several devices is one volume, mounted through one of them.
        for one in family.wanted.clone() {
            let is_own = one == number || !family.below.contains(&one);
            let fellows = btrfs_members(tree, one).filter(|_| is_own);
            for fellow in fellows.into_iter().flatten() {
                let Ok(device) = devices::device(tree, fellow) else {
                    continue;
                };
                let layers = device.layers().into_iter().map(|layer| layer.number);
                family.wanted.extend(layers);
                family.own.push(fellow);
            }
        }
        Ok(family)
    }

    /// Adds the partitions of a device and what is on it or on those. Recursion ends when nothing
    /// new is found.
    fn add_above(&mut self, tree: Tree, number: DeviceNumber) {
        let mut next = vec![number];
        while let Some(number) = next.pop() {
            let mut above = numbers::partition_numbers(tree, number);
            if let Some(directory) = block::directory(*tree, number) {
                let holders = tree.names(directory.join("holders"));
                above.extend(
                    holders
                        .iter()
                        .filter_map(|one| numbers::number_of(tree, one)),
                );
            }
            for one in above {
                if !self.wanted.contains(&one) {
                    self.wanted.push(one);
                    next.push(one);
                }
            }
        }
    }

    pub fn shows(&self, number: DeviceNumber) -> bool {
        self.wanted.contains(&number)
    }

    /// Whether a volume on this device is shown.
    pub fn shows_volume(&self, device: &BlockDevice) -> bool {
        let mut layers = Vec::new();
        solid(device, &mut layers);
        layers.iter().any(|layer| self.own.contains(layer)) || self.below.contains(&device.number)
    }
}

/// A device and what it is on, except through files.
fn solid(device: &BlockDevice, found: &mut Vec<DeviceNumber>) {
    found.push(device.number);
    let looped = device.looped.as_ref();
    if looped.is_some_and(|looped| looped.backing_file_system.is_some()) {
        return;
    }
    for below in &device.below {
        solid(below, found);
    }
}
