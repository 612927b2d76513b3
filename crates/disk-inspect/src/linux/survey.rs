//! Surveys a machine: sysfs for devices, their own bytes for tables and superblocks, `mountinfo`
//! for mounts; udev's database where reading is not permitted.

use super::family::Family;
use super::tree::Tree;
use super::{devices, identity, medium, numbers};
use crate::Result;
use crate::storage::{BlockDevice, BlockDeviceKind};
use crate::survey::{
    Disk, Partition, Request, Survey, Volume, holds_volumes, partition_suffix, usage,
};
use crate::trace::trace;
use crate::verdict::{Subject, Suspect, Usage};
use std::io::ErrorKind;
use std::path::Path;
use stripewise_disk_formats::superblocks::{self, FileSystemHeader, Found};
use stripewise_disk_formats::tables::{self, Role, TablePartition, gpt_type_name};
use stripewise_machine::linux::block;
use stripewise_machine::linux::mounts::{Mount, mounts, mounts_of_device};
use stripewise_units::NameText;

const NEEDS_ROOT: &str = "run as root to read partition tables and superblocks from the devices";
const NEEDS_MORE: &str =
    "not even root may open it here: run outside the container, or ask who made its rules";

/// Surveys the machine, or one device with what is on it and below it.
pub fn survey(tree: Tree, request: &Request) -> Result<Survey> {
    let family = match &request.device {
        Some(name) => Some(Family::of(tree, name)?),
        None => None,
    };
    let mut surveyor = Surveyor {
        tree,
        request,
        family,
        mounts: mounts(*tree),
        keys: Vec::new(),
        denied: Vec::new(),
        survey: Survey::default(),
    };
    let mut found: Vec<BlockDevice> = Vec::new();
    for number in numbers::all(tree) {
        let family = surveyor.family.as_ref();
        if family.is_some_and(|family| !family.shows(number)) {
            continue;
        }
        let Ok(device) = devices::device(tree, number) else {
            continue;
        };
        // Loop devices and zram without content have size zero.
        let is_shown = device.partition.is_none() && device.size_bytes > 0;
        if is_shown && !device.name.starts_with("ram") {
            found.push(device);
        }
    }
    surveyor.keys = found
        .iter()
        .map(|device| (device.name.clone(), surveyor.key(device)))
        .collect();
    for device in found {
        surveyor.disk(device);
    }
    Ok(surveyor.finish())
}

struct Surveyor<'a> {
    tree: Tree<'a>,
    request: &'a Request,
    /// Of the requested device.
    family: Option<Family>,
    mounts: Vec<Mount>,
    /// Keys of disks by name.
    keys: Vec<(String, String)>,
    /// Devices that this user may not read.
    denied: Vec<String>,
    survey: Survey,
}

/// Content of a device, as far as readable.
struct Content {
    holds: Option<Found>,
    unread: bool,
}

impl Surveyor<'_> {
    fn disk(&mut self, device: BlockDevice) {
        let holders = self.holders(&device);
        let is_path = holders.iter().any(|holder| self.is_multipath(holder));
        let mut table = None;
        let mut unread = None;
        // A path of a multipath disk may hang, and the disk shows the same.
        if !is_path {
            match self.table(&device) {
                Ok(found) => table = found,
                Err(why) => unread = Some(why),
            }
        }
        let partitions = self.partitions(&device, table.as_ref());
        let key = self.cache_key(&device.name);
        let given = self.request.given_for(&key);
        // A holder of the whole disk (an array with its superblock at the end, a multipath disk)
        // has the partitions too, and volumes on them.
        if holders.is_empty() {
            for partition in &partitions {
                if holds_volumes(partition.entry.role) {
                    self.volume_of_partition(&device, partition);
                }
            }
            let is_bare = partitions.is_empty() && table.is_none();
            self.volume_of_whole(&device, is_bare, !partitions.is_empty());
        }
        self.survey.disks.push(Disk {
            key,
            table,
            unread,
            partitions,
            given,
            device,
        });
    }

    fn holders(&self, device: &BlockDevice) -> Vec<String> {
        block::directory(*self.tree, device.number)
            .map(|directory| self.tree.names(directory.join("holders")))
            .unwrap_or_default()
    }

    fn is_multipath(&self, holder: &str) -> bool {
        let directory = block::directory_named(*self.tree, holder);
        let uuid = directory.and_then(|directory| self.tree.word(directory.join("dm/uuid")));
        uuid.is_some_and(|uuid| uuid.starts_with("mpath-"))
    }

    /// A persistent name for a disk.
    fn key(&self, device: &BlockDevice) -> String {
        let directory = block::directory(*self.tree, device.number);
        let file = |name: &str| {
            let directory = directory.as_ref()?;
            self.tree.word(directory.join(name))
        };
        device
            .serial
            .clone()
            .or_else(|| file("dm/uuid"))
            .or_else(|| file("md/uuid"))
            .or_else(|| {
                let looped = device.looped.as_ref()?;
                Some(looped.backing_file.as_text())
            })
            .unwrap_or_else(|| format!("/dev/{}", device.name))
    }

    fn cache_key(&self, name: &str) -> String {
        let known = self.keys.iter().find(|(own, _)| own == name);
        known.map_or_else(|| format!("/dev/{name}"), |(_, key)| key.clone())
    }

    fn table(
        &mut self,
        device: &BlockDevice,
    ) -> std::result::Result<Option<tables::PartitionTable>, String> {
        let sector = device.queue.logical_sector_bytes;
        medium::open(self.tree, device)
            .and_then(|mut medium| tables::read(&mut medium, sector))
            .map_err(|error| self.refused(device, &error))
    }

    /// Why a device could not be read; records those that need more permissions.
    fn refused(&mut self, device: &BlockDevice, error: &std::io::Error) -> String {
        if error.kind() == ErrorKind::PermissionDenied && !self.denied.contains(&device.name) {
            self.denied.push(device.name.clone());
        }
        match error.kind() {
            ErrorKind::PermissionDenied => "this user has no permission to read it".to_owned(),
            ErrorKind::NotFound => "it has no node in /dev".to_owned(),
            _ => error.to_string(),
        }
    }

    fn content(&mut self, device: &BlockDevice) -> Content {
        let read = medium::open(self.tree, device).and_then(|mut one| superblocks::read(&mut one));
        match read {
            Ok(holds) => Content {
                holds,
                unread: false,
            },
            Err(error) => {
                self.refused(device, &error);
                let holds = self.by_udev(device);
                Content {
                    unread: holds.is_none(),
                    holds,
                }
            }
        }
    }

    /// Content of a device according to udev.
    fn by_udev(&self, device: &BlockDevice) -> Option<Found> {
        let directory = block::directory(*self.tree, device.number)?;
        let value = |key: &str| identity::udev(self.tree, &directory, key);
        let kind = value("ID_FS_TYPE")?;
        Some(Found::FileSystem(FileSystemHeader {
            label: value("ID_FS_LABEL"),
            uuid: value("ID_FS_UUID"),
            // For others it is the sector or the smallest readable unit.
            allocation_unit_bytes: value("ID_FS_BLOCKSIZE")
                .filter(|_| matches!(kind.as_str(), "ext2" | "ext3" | "ext4" | "btrfs"))
                .and_then(|text| text.parse().ok()),
            kind: match kind.as_str() {
                "linux_raid_member" => "md member".to_owned(),
                "LVM2_member" => "LVM physical volume".to_owned(),
                "crypto_LUKS" => "LUKS".to_owned(),
                _ => kind,
            },
            ..FileSystemHeader::default()
        }))
    }

    /// The kernel's partitions with their table entries, and those found only in the table.
    fn partitions(
        &mut self,
        disk: &BlockDevice,
        table: Option<&tables::PartitionTable>,
    ) -> Vec<Partition> {
        let mut found = Vec::new();
        for device in devices::partitions(self.tree, disk.number) {
            let Some(place) = device.partition.clone() else {
                continue;
            };
            let entry = table
                .and_then(|table| {
                    table
                        .partitions
                        .iter()
                        .find(|entry| entry.start_bytes == place.start_bytes)
                })
                .cloned();
            let entry = entry.unwrap_or_else(|| self.entry_by_udev(&device, place.index));
            let holds = match entry.role {
                Role::Extended => None,
                _ => self.content(&device).holds,
            };
            found.push(Partition {
                name: device.name.clone(),
                entry: TablePartition {
                    number: place.index,
                    start_bytes: place.start_bytes,
                    // The kernel gives an extended partition a size of two sectors.
                    size_bytes: if entry.role == Role::Extended && entry.size_bytes > 0 {
                        entry.size_bytes
                    } else {
                        device.size_bytes
                    },
                    ..entry
                },
                holds,
                in_kernel: true,
                holders: self.holders(&device),
            });
        }
        let unseen = table.map_or(&[][..], |table| &table.partitions);
        for entry in unseen {
            if found
                .iter()
                .any(|known| known.entry.start_bytes == entry.start_bytes)
            {
                continue;
            }
            let holds = medium::open(self.tree, disk).ok().and_then(|mut medium| {
                let mut part = stripewise_disk_formats::medium::Part::new(
                    &mut medium,
                    entry.start_bytes,
                    entry.size_bytes,
                );
                superblocks::read(&mut part).ok()?
            });
            found.push(Partition {
                name: format!(
                    "{}{}",
                    disk.name,
                    partition_suffix(&disk.name, entry.number)
                ),
                entry: entry.clone(),
                holds: holds.filter(|_| entry.role != Role::Extended),
                in_kernel: false,
                holders: Vec::new(),
            });
        }
        found.sort_by_key(|partition| partition.entry.number);
        found
    }

    /// A partition's entry according to udev.
    fn entry_by_udev(&self, device: &BlockDevice, number: u32) -> TablePartition {
        let directory = block::directory(*self.tree, device.number);
        let value = |key: &str| identity::udev(self.tree, directory.as_ref()?, key);
        let type_id = value("ID_PART_ENTRY_TYPE").unwrap_or_default();
        let is_gpt = value("ID_PART_ENTRY_SCHEME").as_deref() == Some("gpt");
        let mut entry = TablePartition {
            number,
            name: value("ID_PART_ENTRY_NAME"),
            ..TablePartition::default()
        };
        if is_gpt {
            entry.type_id = type_id.to_ascii_uppercase();
            entry.type_name = gpt_type_name(&entry.type_id);
            entry.role = tables::gpt_role(&entry.type_id);
        } else if let Some(kind) = type_id
            .strip_prefix("0x")
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            entry.type_id = format!("0x{kind:02x}");
            entry.type_name = tables::mbr_type_name(kind);
            entry.role = tables::mbr_role(kind);
        }
        entry
    }

    fn volume_of_partition(&mut self, disk: &BlockDevice, partition: &Partition) {
        // A member of an array or mapper device is not a volume.
        if !partition.holders.is_empty() {
            return;
        }
        let known = partition
            .in_kernel
            .then(|| {
                numbers::number_of(self.tree, &partition.name)
                    .and_then(|number| devices::device(self.tree, number).ok())
            })
            .flatten();
        let device = known.unwrap_or_else(|| BlockDevice {
            name: partition.name.clone(),
            size_bytes: partition.entry.size_bytes,
            kind: BlockDeviceKind::Partition,
            partition: Some(crate::storage::Partition {
                index: partition.entry.number,
                start_bytes: partition.entry.start_bytes,
            }),
            below: vec![disk.clone()],
            ..BlockDevice::default()
        });
        let unread = self.denied.contains(&partition.name);
        let content = Content {
            holds: partition.holds.clone(),
            unread: unread && partition.holds.is_none(),
        };
        self.volume(&device, content, partition.entry.role);
    }

    /// The volume that is a whole disk. Its table may be stale: then it is a volume only if
    /// something is mounted, or if no partitions contradict what is found.
    fn volume_of_whole(&mut self, device: &BlockDevice, is_bare: bool, is_parted: bool) {
        let is_mounted = !self.mounts_of(device).is_empty();
        if is_parted && !is_mounted {
            return;
        }
        let content = self.content(device);
        let is_wanted = self.request.device.is_some() || device.kind == BlockDeviceKind::Mapper;
        // An empty disk is not a volume, unless requested.
        let is_possible = is_bare && (content.unread || is_wanted);
        if content.holds.is_some() || is_mounted || is_possible {
            self.volume(device, content, Role::Data);
        }
    }

    fn mounts_of(&self, device: &BlockDevice) -> Vec<Mount> {
        let tree = self.tree;
        let is_source = |source: &Path| {
            numbers::number_of(tree, &source.to_string_lossy()) == Some(device.number)
        };
        let of_device = mounts_of_device(&self.mounts, device.number, is_source);
        of_device.into_iter().cloned().collect()
    }

    fn volume(&mut self, device: &BlockDevice, content: Content, role: Role) {
        let family = self.family.as_ref();
        if family.is_some_and(|family| !family.shows_volume(device)) {
            return;
        }
        let mounts = self.mounts_of(device);
        let header = content.holds.as_ref().and_then(Found::file_system);
        let request = self.request;
        let keys = &self.keys;
        let given = |name: &str| {
            let (_, key) = keys.iter().find(|(own, _)| own == name)?;
            request.given_for(key)
        };
        let trace = trace(device, &given);
        let mut used = usage(role, content.holds.as_ref(), content.unread);
        if !mounts.is_empty() {
            used = Usage::FileSystem;
        }
        let name = device
            .mapper_name
            .clone()
            .unwrap_or_else(|| device.name.clone());
        let mut mount_points: Vec<_> = mounts.iter().map(|one| one.mount_point.clone()).collect();
        mount_points.dedup();
        self.survey.volumes.push(Volume {
            devices: vec![device.name.clone()],
            size_bytes: device.size_bytes,
            file_system: header
                .map(|header| header.kind.clone())
                .or_else(|| mounts.first().map(|mount| mount.kind.clone())),
            mount_points,
            role,
            subject: Subject {
                boundaries: trace.boundaries,
                places: trace.places,
                allocation_unit_bytes: header
                    .and_then(|header| header.allocation_unit_bytes)
                    .or_else(|| self.unit_by_mount(&mounts)),
                told_unit_bytes: header.and_then(|header| header.stripe_unit_bytes),
                usage: used,
                suspect: Suspect::by_role(role),
                incomplete: trace.incomplete,
            },
            holds: content.holds,
            name,
        });
    }

    /// The allocation unit reported by a mounted file system.
    fn unit_by_mount(&self, mounts: &[Mount]) -> Option<u64> {
        let mount = mounts.first().filter(|_| self.tree.is_live())?;
        let space = rustix::fs::statvfs(&mount.mount_point).ok()?;
        Some(space.f_frsize).filter(|bytes| *bytes > 0)
    }

    fn finish(mut self) -> Survey {
        join_members(&mut self.survey.volumes);
        if !self.denied.is_empty() {
            let names = self.denied.join(", ");
            let what_to_do = if rustix::process::geteuid().is_root() {
                NEEDS_MORE
            } else {
                NEEDS_ROOT
            };
            let text = format!("this user has no permission to read {names}: {what_to_do}");
            self.survey.notes.push(text);
        }
        let unscanned =
            self.survey.disks.iter().filter(|disk| {
                disk.partitions.iter().any(|one| !one.in_kernel) && self.tree.is_live()
            });
        for disk in unscanned {
            let name = &disk.device.name;
            self.survey.notes.push(format!(
                "{name}: the kernel does not show all of its partitions; `partx --add /dev/{name}` makes it look"
            ));
        }
        self.survey
    }
}

/// Merges the devices of a btrfs into one volume.
fn join_members(volumes: &mut Vec<Volume>) {
    let uuid = |volume: &Volume| match &volume.holds {
        Some(Found::FileSystem(header)) if header.kind == "btrfs" => header.uuid.clone(),
        _ => None,
    };
    let mut joined: Vec<Volume> = Vec::new();
    for volume in volumes.drain(..) {
        let own = uuid(&volume);
        let first = own.as_ref().and_then(|own| {
            joined
                .iter_mut()
                .find(|known| uuid(known).as_ref() == Some(own))
        });
        let Some(first) = first else {
            joined.push(volume);
            continue;
        };
        first.devices.extend(volume.devices);
        first.size_bytes = first.size_bytes.saturating_add(volume.size_bytes);
        for point in volume.mount_points {
            if !first.mount_points.contains(&point) {
                first.mount_points.push(point);
            }
        }
        first.subject.boundaries.extend(volume.subject.boundaries);
        first.subject.places.extend(volume.subject.places);
        first.subject.incomplete |= volume.subject.incomplete;
        if volume.subject.usage == Usage::FileSystem {
            first.subject.usage = Usage::FileSystem;
        }
    }
    *volumes = joined;
}
