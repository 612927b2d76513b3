//! The full survey: disks with their partitions, and volumes with their locations. Types, and what
//! follows from them without an operating system; images are surveyed here, machines in the
//! platform module.

mod image;

pub use image::{image, recognised};
#[allow(
    unused_imports,
    reason = "for the platforms that survey a machine; not all do yet"
)]
pub(crate) use image::{partition_suffix, usage};

use crate::storage::BlockDevice;
use crate::trace::SuppliedFacts;
use crate::verdict::{Judgement, Place, Subject, judge};
use std::path::PathBuf;
use stripewise_disk_formats::superblocks::Found;
use stripewise_disk_formats::tables::{PartitionTable, Role, TablePartition};

/// What to survey.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only this device, by kernel name or path, what is on it and what it is on; everything if
    /// `None`.
    pub device: Option<String>,
    /// User-supplied facts about disks, by key (see [`Disk::key`]).
    pub given: Vec<(String, SuppliedFacts)>,
}

impl Request {
    /// The user-supplied facts about a disk.
    pub fn given_for(&self, key: &str) -> Option<SuppliedFacts> {
        self.given
            .iter()
            .rev()
            .find(|(known, _)| known == key)
            .map(|(_, given)| given.clone())
    }
}

/// Disks and volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// All block devices that are not partitions, ordered by name.
    pub disks: Vec<Disk>,
    /// Everything that holds, or could hold, its own data.
    pub volumes: Vec<Volume>,
    /// What could not be read, and how to resolve it.
    pub notes: Vec<String>,
}

/// A disk, an array, or an image of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// The device. For an image only name, size and sectors are known.
    pub device: BlockDevice,
    /// A persistent name: serial number or UUID, otherwise its path.
    pub key: String,
    /// Its partition table; `None` if there is none, or if it could not be read (see
    /// [`Disk::unread`]).
    pub table: Option<PartitionTable>,
    /// Why the table could not be read.
    pub unread: Option<String>,
    /// Its partitions ordered by number.
    pub partitions: Vec<Partition>,
    /// User-supplied facts about it.
    pub given: Option<SuppliedFacts>,
}

/// A partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    /// Kernel name, or image and number.
    pub name: String,
    /// Its entry; without a readable table only number and location are known.
    pub entry: TablePartition,
    /// Its content.
    pub holds: Option<Found>,
    /// The kernel knows it. Not so for loop devices without partition scanning and for corrupt
    /// tables.
    pub in_kernel: bool,
    /// Devices on it: `md0`.
    pub holders: Vec<String>,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// Kernel name, mapper name, or image and number.
    pub name: String,
    /// Devices that it is on: one, or several for btrfs.
    pub devices: Vec<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Where it is mounted, including bind mounts and subvolume mounts.
    pub mount_points: Vec<PathBuf>,
    /// Type of its file system (or swap); `None` if none is known.
    pub file_system: Option<String>,
    /// Content of its superblock.
    pub holds: Option<Found>,
    /// The partition's role.
    pub role: Role,
    /// Input of the verdict.
    pub subject: Subject,
}

impl Volume {
    /// The verdict for operations of these sizes.
    pub fn judge(&self, block_sizes_bytes: &[u64]) -> Judgement {
        judge(&self.subject, block_sizes_bytes)
    }

    /// Where it starts: in the device whose stripe units it may cross, otherwise on its disk.
    pub fn offset_bytes(&self) -> Option<u64> {
        let boundary = self.subject.boundaries.first();
        boundary
            .map(|boundary| boundary.offset_bytes)
            .or_else(|| self.place().map(|place| place.offset_bytes))
    }

    /// The location of its first byte on a disk.
    pub fn place(&self) -> Option<&Place> {
        self.subject.places.first()
    }

    /// The stripe unit used for the verdict.
    pub fn stripe_unit_bytes(&self) -> Option<u64> {
        let boundaries = self.subject.boundaries.iter();
        boundaries
            .min_by_key(|boundary| boundary.splits_above().unwrap_or(u64::MAX))
            .map(|boundary| boundary.unit_bytes)
    }
}

/// Whether partitions of a role hold volumes.
pub fn holds_volumes(role: Role) -> bool {
    !matches!(role, Role::Extended | Role::Protective)
}
