//! Describes a Windows machine from its answers: converts the bytes that disks and volumes returned
//! to devices, volumes and locations. Pure; the calls are in `windows/`, and tests use synthetic
//! machines.
//!
//! Disks are named `PhysicalDrive0`, partitions `Harddisk0Partition2` (both can be opened under
//! these names after `\\.\`), volumes by their drive letter, or `Volume{...}` without one. If a
//! query was refused, the fact is absent and a note says so; nothing is assumed instead.

mod describe;
mod name;
mod volume;
mod volumes;

pub use name::{Name, from_number};

use crate::storage::{BlockDevice, Storage};
use crate::survey::{self, Disk, Request, Survey};
use crate::{Error, Result};

/// Why a query was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Windows error code: 5 is access denied, 1 an unsupported function.
    pub code: u32,
    /// The system's message.
    pub words: String,
}

/// The bytes of an answer.
pub type Answer = std::result::Result<Vec<u8>, Refusal>;

/// Answers of one `\\.\PhysicalDriveN`.
#[derive(Clone, Debug)]
pub struct DiskAnswers {
    /// N.
    pub number: u32,
    /// `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`.
    pub layout: Answer,
    /// `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX`.
    pub geometry: Answer,
    /// `StorageAccessAlignmentProperty`.
    pub alignment: Answer,
    /// `StorageDeviceProperty`.
    pub descriptor: Answer,
    /// `StorageDeviceSeekPenaltyProperty`.
    pub seek_penalty: Answer,
    /// `StorageDeviceWriteCacheProperty`.
    pub write_cache: Answer,
    /// The medium is read-only; `None` if not reported.
    pub read_only: Option<bool>,
}

/// Answers of one volume.
#[derive(Clone, Debug)]
pub struct VolumeAnswers {
    /// Its permanent name: `Volume{...}`; empty for network shares.
    pub guid: String,
    /// Where it is mounted: `C:\`, `D:\data\`, `\\server\share\`.
    pub mount_points: Vec<String>,
    /// It is reached over a network.
    pub remote: bool,
    /// It is in memory.
    pub in_memory: bool,
    /// `IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS`.
    pub extents: Answer,
    /// `FSCTL_GET_NTFS_VOLUME_DATA`.
    pub ntfs: Answer,
    /// `GetVolumeInformationW`; `None` if nothing is mounted.
    pub file_system: Option<FileSystemAnswer>,
    /// `GetDiskFreeSpaceW`: bytes of an allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// `GetDiskFreeSpaceExW`: total bytes, and those free for this user.
    pub space_bytes: Option<(u64, u64)>,
}

/// Result of `GetVolumeInformationW`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystemAnswer {
    /// `NTFS`, `ReFS`, `FAT32`...
    pub kind: String,
    /// Label; empty without one.
    pub label: String,
    /// Serial number, 32 bits.
    pub serial: u32,
    /// `FILE_READ_ONLY_VOLUME`, `FILE_VOLUME_IS_COMPRESSED`...
    pub flags: u32,
}

/// All answers of a machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Ordered by number.
    pub disks: Vec<DiskAnswers>,
    /// In any order.
    pub volumes: Vec<VolumeAnswers>,
}

impl Machine {
    /// Surveys everything, or one device and what it is on.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the requested device does not exist.
    pub fn survey(&self, request: &Request) -> Result<Survey> {
        let wanted = match &request.device {
            Some(name) => Some(self.wanted(name)?),
            None => None,
        };
        let is_wanted = |disk: u32| {
            wanted
                .as_ref()
                .is_none_or(|(disks, _)| disks.contains(&disk))
        };
        let mut survey = Survey::default();
        for answers in self.disks.iter().filter(|one| is_wanted(one.number)) {
            let known = describe::disk(answers);
            survey.notes.extend(known.note());
            let key = known.key();
            survey.disks.push(Disk {
                given: request.given_for(&key),
                key,
                partitions: describe::partitions(&known, &self.volumes),
                table: known.table,
                unread: known.unread,
                device: known.device,
            });
        }
        let all = volumes::volumes(self, &survey.disks, request);
        survey.notes.extend(all.notes);
        survey.volumes = all.volumes;
        if let Some((_, Some(name))) = wanted {
            survey
                .volumes
                .retain(|one| one.name == name || one.devices.contains(&name));
        }
        Ok(survey)
    }

    /// Disks for a name, and the volume or partition it refers to unless it is a whole disk.
    fn wanted(&self, name: &str) -> Result<(Vec<u32>, Option<String>)> {
        let missing = || Error::NoDevice(name.to_owned());
        let Some(parsed) = Name::parse(name) else {
            // Extents that are not partitions have names made up here.
            let is_piece = |volume: &&VolumeAnswers| {
                let devices = volumes::devices(self, volume);
                devices.iter().any(|device| device.name == name)
            };
            let volume = self.volumes.iter().find(is_piece).ok_or_else(missing)?;
            return Ok((volume::disks_of(volume), Some(name.to_owned())));
        };
        match parsed {
            Name::Disk(number) => {
                self.answers(number).ok_or_else(missing)?;
                // Volumes on it may extend to other disks too.
                let mut disks = vec![number];
                for volume in &self.volumes {
                    let on = volume::disks_of(volume);
                    if on.contains(&number) {
                        disks.extend(on);
                    }
                }
                Ok((disks, None))
            }
            Name::Partition { disk, partition } => {
                self.partition(disk, partition).ok_or_else(missing)?;
                Ok((vec![disk], Some(name::partition(disk, partition))))
            }
            Name::Volume(wanted) => {
                let volume = self.volume(&wanted).ok_or_else(missing)?;
                Ok((volume::disks_of(volume), Some(volume::name(volume))))
            }
        }
    }

    fn answers(&self, number: u32) -> Option<&DiskAnswers> {
        self.disks.iter().find(|disk| disk.number == number)
    }

    fn volume(&self, wanted: &str) -> Option<&VolumeAnswers> {
        self.volumes.iter().find(|volume| {
            volume::name(volume).eq_ignore_ascii_case(wanted)
                || volume.guid.eq_ignore_ascii_case(wanted)
        })
    }

    /// A disk as a device.
    pub fn disk(&self, number: u32) -> Option<BlockDevice> {
        self.answers(number).map(|one| describe::disk(one).device)
    }

    /// A partition as a device over its disk.
    pub fn partition(&self, disk: u32, number: u32) -> Option<BlockDevice> {
        let known = describe::disk(self.answers(disk)?);
        let entry = known.entries().iter().find(|one| one.number == number)?;
        Some(describe::partition_device(disk, entry, &known.device))
    }

    /// The partitions of a disk, excluding extended ones.
    pub fn partitions(&self, disk: u32) -> Vec<BlockDevice> {
        let Some(known) = self.answers(disk).map(describe::disk) else {
            return Vec::new();
        };
        known
            .entries()
            .iter()
            .filter(|entry| survey::holds_volumes(entry.role))
            .map(|entry| describe::partition_device(disk, entry, &known.device))
            .collect()
    }

    /// Any device by its name.
    pub fn device_named(&self, name: &str) -> Option<BlockDevice> {
        match Name::parse(name)? {
            Name::Disk(number) => self.disk(number),
            Name::Partition { disk, partition } => self.partition(disk, partition),
            Name::Volume(wanted) => volumes::devices(self, self.volume(&wanted)?)
                .into_iter()
                .next(),
        }
    }

    /// The storage below a device, by name. A volume of unknown location has nothing below it.
    pub fn storage_named(&self, name: &str) -> Option<Storage> {
        let of_device = |device: BlockDevice| Storage {
            file_system: None,
            offset: Some(crate::trace::offset(&device)),
            devices: vec![device],
        };
        match Name::parse(name)? {
            Name::Volume(wanted) => Some(Storage {
                file_system: None,
                ..self.storage_of(self.volume(&wanted)?)
            }),
            _ => self.device_named(name).map(of_device),
        }
    }

    /// The storage of a volume, for targets on it.
    pub fn storage_of(&self, volume: &VolumeAnswers) -> Storage {
        let devices = volumes::devices(self, volume);
        Storage {
            file_system: Some(volumes::file_system(volume)),
            offset: match devices.as_slice() {
                [device] => Some(crate::trace::offset(device)),
                _ => None,
            },
            devices,
        }
    }
}
