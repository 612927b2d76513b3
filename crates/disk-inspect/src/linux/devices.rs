//! Block devices from sysfs: one device with everything below it.

use super::numbers::partition_numbers;
use super::tree::{DeviceWithoutChildren, Tree};
use super::{identity, mapper, mounted, queue};
use crate::storage::{Array, ArrayMember, BlockDevice, BlockDeviceKind, Loop, Partition};
use crate::{Error, Result};
use std::path::Path;
use stripewise_machine::linux::block;
use stripewise_units::DeviceNumber;

/// More devices below one than any machine has: a corrupt tree with cycles.
const WALK_MAX: u32 = 4096;
const DEPTH_MAX: usize = 16;
/// sysfs uses units of 512 bytes whatever the sector size.
const SECTOR_BYTES: u64 = 512;

/// One device with what is below it.
pub fn device(tree: Tree, number: DeviceNumber) -> Result<BlockDevice> {
    Walk::new(tree)
        .device(number)
        .ok_or_else(|| Error::NoDevice(number.to_string()))
}

/// Partitions of a disk ordered by start.
pub fn partitions(tree: Tree, disk: DeviceNumber) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = partition_numbers(tree, disk)
        .into_iter()
        .filter_map(|number| Walk::new(tree).device(number))
        .collect();
    found.sort_by_key(|device| device.partition.as_ref().map(|part| part.start_bytes));
    found
}

/// Traversal downwards from one device.
struct Walk<'a> {
    tree: Tree<'a>,
    /// The devices above, to detect cycles.
    path: Vec<DeviceNumber>,
    /// Remaining devices that may be visited.
    left: u32,
}

impl<'a> Walk<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Walk {
            tree,
            path: Vec::new(),
            left: WALK_MAX,
        }
    }

    fn device(&mut self, number: DeviceNumber) -> Option<BlockDevice> {
        self.left = self.left.checked_sub(1)?;
        let tree = self.tree;
        let DeviceWithoutChildren {
            mut device,
            directory,
            below,
        } = lone(tree, number)?;
        device.below = self.devices(&below, number);
        if device.kind == BlockDeviceKind::Mapper {
            match mapper::segments(tree, &directory, &device) {
                Ok(segments) => device.mapper = segments,
                Err(why) => device.mapper_unread = Some(why),
            }
        }
        Some(device)
    }

    fn devices(&mut self, numbers: &[DeviceNumber], above: DeviceNumber) -> Vec<BlockDevice> {
        if self.path.len() >= DEPTH_MAX {
            return Vec::new();
        }
        self.path.push(above);
        let mut found = Vec::new();
        for number in numbers {
            if !self.path.contains(number) {
                found.extend(self.device(*number));
            }
        }
        self.path.pop();
        found
    }
}

/// A device without its children; taken from the cache if there is one.
fn lone(tree: Tree, number: DeviceNumber) -> Option<DeviceWithoutChildren> {
    let Some(cache) = tree.devices() else {
        return read_lone(tree, number);
    };
    if let Some(known) = cache.borrow().get(&number) {
        return known.clone();
    }
    let lone = read_lone(tree, number);
    cache.borrow_mut().insert(number, lone.clone());
    lone
}

fn read_lone(tree: Tree, number: DeviceNumber) -> Option<DeviceWithoutChildren> {
    let directory = block::directory(*tree, number)?;
    let name = directory.file_name()?.to_str()?.to_owned();
    let partition = partition(tree, &directory);
    // A partition has no queue of its own: it shares the disk's.
    let disk = match partition {
        Some(_) => directory.parent()?.to_path_buf(),
        None => directory.clone(),
    };
    let mut device = BlockDevice {
        number,
        kind: kind(tree, &directory, &name, partition.is_some()),
        size_bytes: tree
            .value::<u64>(directory.join("size"))
            .unwrap_or(0)
            .saturating_mul(SECTOR_BYTES),
        read_only: tree.flag(directory.join("ro")).unwrap_or(false),
        model: identity::model(tree, &disk),
        serial: identity::serial(tree, &disk),
        firmware: identity::firmware(tree, &disk),
        transport: identity::transport(tree, &disk),
        queue: queue::queue(tree, &disk),
        array: array(tree, &directory),
        mapper_name: tree.word(directory.join("dm/name")),
        mapper: Vec::new(),
        mapper_unread: None,
        looped: looped(tree, &directory),
        below: Vec::new(),
        name,
        partition,
    };
    let below = below(tree, &directory, &mut device);
    Some(DeviceWithoutChildren {
        device,
        directory,
        below,
    })
}

fn kind(tree: Tree, directory: &Path, name: &str, is_partition: bool) -> BlockDeviceKind {
    if is_partition {
        BlockDeviceKind::Partition
    } else if name.starts_with("loop") {
        BlockDeviceKind::Loop
    } else if tree.exists(directory.join("md")) {
        BlockDeviceKind::Array
    } else if tree.exists(directory.join("dm")) {
        BlockDeviceKind::Mapper
    } else if name.starts_with("zram") || name.starts_with("ram") {
        BlockDeviceKind::Memory
    } else {
        BlockDeviceKind::Disk
    }
}

/// Numbers of the devices directly below one. Also finds the file system of a loop device's backing
/// file.
fn below(tree: Tree, directory: &Path, device: &mut BlockDevice) -> Vec<DeviceNumber> {
    if device.partition.is_some() {
        let disk = directory.parent().map(|disk| disk.join("dev"));
        return disk
            .and_then(|disk| tree.number(disk))
            .into_iter()
            .collect();
    }
    if let Some(looped) = &mut device.looped {
        let (file_system, numbers) = mounted::backing(tree, &looped.backing_file);
        looped.backing_file_system = file_system;
        return numbers;
    }
    let slaves = directory.join("slaves");
    tree.names(&slaves)
        .iter()
        .filter_map(|slave| tree.number(slaves.join(slave).join("dev")))
        .collect()
}

fn partition(tree: Tree, directory: &Path) -> Option<Partition> {
    Some(Partition {
        index: tree.value(directory.join("partition"))?,
        start_bytes: tree
            .value::<u64>(directory.join("start"))?
            .checked_mul(SECTOR_BYTES)?,
    })
}

fn looped(tree: Tree, directory: &Path) -> Option<Loop> {
    let loop_directory = directory.join("loop");
    Some(Loop {
        backing_file: tree.path_in(loop_directory.join("backing_file"))?,
        offset_bytes: tree.value(loop_directory.join("offset")).unwrap_or(0),
        direct_io: tree.flag(loop_directory.join("dio")),
        backing_file_system: None,
    })
}

fn array(tree: Tree, directory: &Path) -> Option<Array> {
    let md = directory.join("md");
    Some(Array {
        level: tree.word(md.join("level"))?,
        stripe_unit_bytes: tree.value(md.join("chunk_size")).filter(|size| *size > 0),
        disks: tree.value(md.join("raid_disks")),
        state: tree.word(md.join("array_state")),
        sync_action: tree.word(md.join("sync_action")),
        layout: tree.value(md.join("layout")),
        metadata: tree.word(md.join("metadata_version")),
        members: members(tree, &md),
    })
}

/// Members from `md/dev-NAME/`; offsets are in sectors of 512 bytes.
fn members(tree: Tree, md: &Path) -> Vec<ArrayMember> {
    tree.names(md)
        .into_iter()
        .filter_map(|name| {
            let device = name.strip_prefix("dev-")?.to_owned();
            let directory = md.join(&name);
            Some(ArrayMember {
                device,
                // Spares have `none`, which is not a number.
                slot: tree.value(directory.join("slot")),
                data_offset_bytes: tree
                    .value::<u64>(directory.join("offset"))
                    .and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)),
            })
        })
        .collect()
}
