//! The storage below a path or a device: types, and what follows from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stripewise_disk_formats::mapper_table::Segment;
use stripewise_units::{ByteSize, DeviceNumber, NameText};

/// The storage below one path, file or device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The file system that holds it; absent for block devices.
    pub file_system: Option<FileSystem>,
    /// The block devices directly below: one for a device, a partition or most file systems,
    /// several for a multi-device file system (btrfs), none for in-memory and network file systems.
    pub devices: Vec<BlockDevice>,
    /// Where the device below starts on a disk, if it is a simple chain.
    pub offset: Option<DiskOffset>,
}

impl Storage {
    /// The nearest block device below; it counts the operations.
    pub fn nearest(&self) -> Option<&BlockDevice> {
        self.devices.first()
    }

    /// All devices, each before those below it, each once.
    pub fn layers(&self) -> Vec<&BlockDevice> {
        let mut found: Vec<&BlockDevice> = Vec::new();
        for device in &self.devices {
            for layer in device.layers() {
                if !found.iter().any(|other| other.number == layer.number) {
                    found.push(layer);
                }
            }
        }
        found
    }

    /// The devices with nothing known below them: real disks, mostly.
    pub fn bottom(&self) -> Vec<&BlockDevice> {
        let mut layers = self.layers();
        layers.retain(|device| device.below.is_empty());
        layers
    }

    /// The nearest loop device in the chain that uses the page cache for its backing file.
    pub fn cached_loop(&self) -> Option<&BlockDevice> {
        self.layers().into_iter().find(|device| {
            device
                .looped
                .as_ref()
                .is_some_and(|looped| looped.direct_io == Some(false))
        })
    }
}

/// Where something starts on a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskOffset {
    /// Bytes from the start of that disk.
    pub bytes: u64,
    /// Kernel name of the disk: the last device down the chain to which the offset can be followed.
    pub disk: String,
}

/// A mounted file system, as seen from one path in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystem {
    /// `ext4`, `xfs`, `btrfs`, `tmpfs`, `nfs4`...
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of the mount and of the file system, comma-separated, without duplicates.
    pub options: String,
    /// What is mounted: usually a device path.
    pub source: String,
    /// `st_dev` of files on it.
    pub number: DeviceNumber,
    /// Bytes of one allocation unit (cluster).
    pub allocation_unit_bytes: Option<u64>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Free for ordinary users.
    pub available_bytes: Option<u64>,
    /// Mounted read-only.
    pub read_only: bool,
    /// It is in memory: tmpfs, ramfs.
    pub in_memory: bool,
    /// Accessed over a network or through a user-space daemon.
    pub remote: bool,
    /// A rewrite of existing data goes to a new location. For btrfs this respects `nodatacow` and
    /// the file's own attribute; XFS reflinks do not count, as unshared blocks are rewritten in
    /// place.
    pub copy_on_write: bool,
    /// Data are compressed: the algorithm, or `unknown`.
    pub compression: Option<String>,
    /// Version of the file system's driver, where it is not the kernel's (ZFS).
    pub driver_version: Option<String>,
}

/// One block device, with what is below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// Its number.
    pub number: DeviceNumber,
    /// Kernel name: `sda`, `nvme0n1p2`, `loop3`.
    pub name: String,
    /// Its type.
    pub kind: BlockDeviceKind,
    /// Its size.
    pub size_bytes: u64,
    /// It is read-only.
    pub read_only: bool,
    /// Vendor and model of the disk (of the whole disk for a partition).
    pub model: Option<String>,
    /// Serial number or world-wide name, where readable.
    pub serial: Option<String>,
    /// Revision of its firmware.
    pub firmware: Option<String>,
    /// How the disk is attached: `sata`, `sas`, `nvme`, `usb`, `iscsi`, `fc`, `virtio`, `scsi` if
    /// not known more precisely...
    pub transport: Option<String>,
    /// The block layer's view of it (of the whole disk for a partition).
    pub queue: Queue,
    /// For partitions.
    pub partition: Option<Partition>,
    /// For loop devices that are in use.
    pub looped: Option<Loop>,
    /// For md arrays.
    pub array: Option<Array>,
    /// For device mapper: its mapper name (`vg0-data`, `cryptswap`).
    pub mapper_name: Option<String>,
    /// For device mapper: its segments, if readable.
    #[serde(default)]
    pub mapper: Vec<Segment>,
    /// For device mapper without segments: why they could not be read.
    pub mapper_unread: Option<String>,
    /// The devices that it is on: the whole disk of a partition, members of an array, the device
    /// below the backing file of a loop device.
    pub below: Vec<BlockDevice>,
}

impl BlockDevice {
    /// This device and all below it, each before those below it.
    pub fn layers(&self) -> Vec<&BlockDevice> {
        let mut found = vec![self];
        for device in &self.below {
            found.extend(device.layers());
        }
        found
    }

    /// Whether it spins. A device that reports that it does not, does not; hypervisor disks report
    /// that they do whatever backs them, so for those it is unknown.
    pub fn spins(&self) -> Option<bool> {
        match self.queue.rotational {
            Some(true) if self.layers().iter().any(|device| device.is_virtual()) => None,
            reported => reported,
        }
    }

    /// Whether it rotates, as text, if reported and credible.
    pub fn rotation(&self) -> Option<&'static str> {
        Some(match (self.queue.rotational?, self.spins()) {
            (true, None) => "virtual (reports rotational)",
            (true, _) => "rotational",
            (false, _) => "not rotational",
        })
    }

    /// Whether it is a hypervisor's virtual disk, by its bus or model.
    pub fn is_virtual(&self) -> bool {
        const BUSES: [&str; 3] = ["virtio", "hyper-v", "xen"];
        const MODELS: [&str; 6] = [
            "qemu",
            "virtual",
            "vbox",
            "msft",
            "amazon elastic",
            "persistentdisk",
        ];
        let bus = self.transport.as_deref();
        let model = self.model.as_deref().unwrap_or_default();
        let model = model.to_ascii_lowercase();
        bus.is_some_and(|bus| BUSES.contains(&bus)) || MODELS.iter().any(|of| model.contains(of))
    }
}

/// Type of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockDeviceKind {
    /// A disk, or anything else with nothing known below it.
    #[default]
    Disk,
    /// Part of a disk.
    Partition,
    /// A loop device over a file or device.
    Loop,
    /// An md array.
    Array,
    /// A device-mapper device: LVM, LUKS, multipath...
    Mapper,
    /// Memory: zram, ram.
    Memory,
}

/// The block layer's view of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Smallest unit of addressing.
    pub logical_sector_bytes: Option<u32>,
    /// Smallest unit that is written without reading first.
    pub physical_sector_bytes: Option<u32>,
    /// It reports that it spins, as virtual disks often do: see [`BlockDevice::spins`].
    pub rotational: Option<bool>,
    /// Scheduler in use.
    pub scheduler: Option<String>,
    /// Requests that the block layer queues.
    pub nr_requests: Option<u32>,
    /// Commands that the device accepts at once, if its driver reports it.
    pub queue_depth: Option<u32>,
    /// Smallest atomic write, bytes; 0 if unsupported, absent before Linux 6.11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_write_unit_min_bytes: Option<u64>,
    /// Largest atomic write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_write_unit_max_bytes: Option<u64>,
    /// It has poll queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<bool>,
    /// Hardware queues.
    pub hardware_queues: Option<u32>,
    /// Largest request, KiB.
    pub max_sectors_kib: Option<u32>,
    /// `write back` (a volatile cache) or `write through`.
    pub write_cache: Option<String>,
    /// It can bypass its cache for a write (forced unit access).
    pub forced_unit_access: Option<bool>,
    /// Zone model other than `none`: `host-aware`, `host-managed`.
    pub zoned: Option<String>,
    /// Best size for throughput, usually the stripe width; `None` if 0.
    pub optimal_io_bytes: Option<u64>,
    /// Smallest efficient size, usually the stripe unit.
    pub minimum_io_bytes: Option<u64>,
    /// The device counts operations in its statistics.
    pub counts_operations: Option<bool>,
    /// Where the first physical sector starts; `None` where the kernel reports misalignment (-1).
    pub alignment_offset_bytes: Option<u64>,
    /// Operations across multiples of this are split (`chunk_sectors`); the zone size of a zoned
    /// disk.
    pub chunk_bytes: Option<u64>,
}

impl Queue {
    /// Atomic writes as text, `atomic writes 4K-16K`; `None` if unsupported.
    pub fn atomic_writes(&self) -> Option<String> {
        let largest = self
            .atomic_write_unit_max_bytes
            .filter(|bytes| *bytes > 0)?;
        let smallest = self.atomic_write_unit_min_bytes.unwrap_or(largest);
        let range = match smallest == largest {
            true => ByteSize(largest).to_string(),
            false => format!("{}-{}", ByteSize(smallest), ByteSize(largest)),
        };
        Some(format!("atomic writes {range}"))
    }
}

/// A partition's location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Its number on the disk.
    pub index: u32,
    /// Bytes from the start of the disk, exact.
    pub start_bytes: u64,
}

/// Backing of a loop device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Loop {
    /// The file or device behind it.
    pub backing_file: PathBuf,
    /// Where it starts in the file.
    pub offset_bytes: u64,
    /// It bypasses the page cache of the backing file.
    pub direct_io: Option<bool>,
    /// Type of the file system that holds the backing file.
    pub backing_file_system: Option<String>,
}

/// An md array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Array {
    /// `raid0`, `raid10`, `raid5`...
    pub level: String,
    /// Stripe unit (chunk); absent for levels without one.
    pub stripe_unit_bytes: Option<u64>,
    /// Number of members when complete.
    pub disks: Option<u32>,
    /// `clean`, `active`, `degraded`...
    pub state: Option<String>,
    /// `idle`, `resync`, `check`...: anything but idle disturbs a measurement.
    pub sync_action: Option<String>,
    /// The level's layout number, as in the kernel.
    pub layout: Option<u32>,
    /// Version of the metadata.
    pub metadata: Option<String>,
    /// Its members, ordered by name.
    #[serde(default)]
    pub members: Vec<ArrayMember>,
}

/// A member of an md array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayMember {
    /// Kernel name.
    pub device: String,
    /// Its position in the array; `None` for spares.
    pub slot: Option<u32>,
    /// Where data starts on it.
    pub data_offset_bytes: Option<u64>,
}

/// A user of a device or file, which explains a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "use")]
pub enum Use {
    /// It, or a partition of it, is mounted.
    Mounted {
        /// Kernel name of the mounted device.
        device: String,
        /// Its mount point.
        mount_point: PathBuf,
        /// Type of the file system.
        file_system: String,
    },
    /// It, or a partition of it, is swap; also for swap files.
    Swap {
        /// As the kernel lists it.
        name: String,
    },
    /// Another block device is on it: md, device mapper, bcache.
    Holder {
        /// Kernel name of the held device (itself or a partition).
        device: String,
        /// Kernel name of the holder.
        holder: String,
    },
    /// A loop device is on it.
    LoopBacking {
        /// Kernel name of the loop device.
        device: String,
    },
}

impl std::fmt::Display for Use {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Use::Mounted {
                device,
                mount_point,
                file_system,
            } => write!(
                f,
                "{device} is mounted at {} ({file_system})",
                mount_point.as_text()
            ),
            Use::Swap { name } => write!(f, "{name} is in use as swap"),
            Use::Holder { device, holder } => write!(f, "{device} is held by {holder}"),
            Use::LoopBacking { device } => write!(f, "it is the backing of /dev/{device}"),
        }
    }
}

/// Where the bytes of a file are, according to its file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLayout {
    /// Length of the file.
    pub size_bytes: u64,
    /// Allocated on disk (`st_blocks`).
    pub allocated_bytes: u64,
    /// Within the length but not allocated: reads as zeros without disk access.
    pub hole_bytes: u64,
    /// Allocated but never written (`fallocate`): reads as zeros without disk access.
    pub unwritten_bytes: u64,
    /// In extents that the file system compresses or encrypts.
    pub encoded_bytes: u64,
    /// In extents shared with other files: a rewrite must copy.
    pub shared_bytes: u64,
    /// Number of extents.
    pub extents: u64,
    /// Not all extents were examined; the byte counts are those of the first ones.
    pub partial: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_disks_that_report_rotation_are_not_known_to_spin() {
        let disk = |transport: &str, model: &str, rotational| BlockDevice {
            transport: Some(transport.to_owned()),
            model: Some(model.to_owned()),
            queue: Queue {
                rotational,
                ..Queue::default()
            },
            ..BlockDevice::default()
        };
        for (transport, model, rotational, spins) in [
            ("sata", "ST3300657SS", Some(true), Some(true)),
            ("sata", "Samsung SSD 870", Some(false), Some(false)),
            ("virtio", "", Some(true), None),
            ("virtio", "", Some(false), Some(false)),
            ("scsi", "QEMU HARDDISK", Some(true), None),
            ("sas", "VMware Virtual disk", Some(true), None),
            ("hyper-v", "Msft Virtual Disk", Some(true), None),
            ("sata", "ST3300657SS", None, None),
        ] {
            let device = disk(transport, model, rotational);
            assert_eq!(device.spins(), spins, "{transport} {model} {rotational:?}");
            // A loop device, or an array, on it reports the same.
            let above = BlockDevice {
                below: vec![device],
                queue: Queue {
                    rotational,
                    ..Queue::default()
                },
                ..BlockDevice::default()
            };
            assert_eq!(above.spins(), spins, "on {transport} {model}");
        }
    }
}
