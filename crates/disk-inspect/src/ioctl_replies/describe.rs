//! One disk and its partitions.

use super::{DiskAnswers, VolumeAnswers, name, volume};
use crate::storage::{BlockDevice, BlockDeviceKind, Partition as Place, Queue};
use crate::survey::Partition;
use stripewise_disk_formats::ioctl::{self, BusType, Decoded};
use stripewise_disk_formats::superblocks::{FileSystemHeader, Found};
use stripewise_disk_formats::tables::{PartitionTable, Role, TablePartition};

/// Error codes that mean "query not supported" rather than a failure: invalid function, not
/// supported, invalid parameter.
const NOT_KNOWN: [u32; 3] = [1, 50, 87];

/// Facts about a disk, as far as it answered.
pub struct DiskFacts {
    pub device: BlockDevice,
    pub table: Option<PartitionTable>,
    /// Why there is no table.
    pub unread: Option<String>,
    /// Queries without an answer.
    unanswered: Vec<String>,
}

impl DiskFacts {
    /// A persistent name.
    pub fn key(&self) -> String {
        let id = || self.table.as_ref().and_then(|table| table.id.clone());
        self.device
            .serial
            .clone()
            .or_else(id)
            .unwrap_or_else(|| format!("\\\\.\\{}", self.device.name))
    }

    /// The entries of its table; empty without one.
    pub fn entries(&self) -> &[TablePartition] {
        self.table
            .as_ref()
            .map_or(&[], |table| table.partitions.as_slice())
    }

    /// A sentence about what it did not answer.
    pub fn note(&self) -> Option<String> {
        (!self.unanswered.is_empty()).then(|| {
            format!(
                "{} did not report: {}",
                self.device.name,
                self.unanswered.join("; ")
            )
        })
    }
}

/// Collects unanswered queries.
struct QueryLog<'a> {
    unanswered: &'a mut Vec<String>,
}

impl QueryLog<'_> {
    /// The decoded answer; if there is none, records why.
    fn take<T>(
        &mut self,
        what: &str,
        answer: &super::Answer,
        decode: impl FnOnce(&[u8]) -> Decoded<T>,
    ) -> Option<T> {
        let why = match answer {
            Ok(bytes) => match decode(bytes) {
                Ok(decoded) => return Some(decoded),
                Err(malformed) => malformed.to_string(),
            },
            Err(refusal) => refused(refusal),
        };
        self.unanswered.push(format!("{what} ({why})"));
        None
    }
}

/// A readable refusal.
pub fn refused(refusal: &super::Refusal) -> String {
    match refusal.code {
        code if NOT_KNOWN.contains(&code) => {
            format!("its driver does not know the question, error {code}")
        }
        5 => "access denied: run it as administrator".to_owned(),
        code => format!("{}, error {code}", refusal.words),
    }
}

/// Decodes a disk's answers.
pub fn disk(answers: &DiskAnswers) -> DiskFacts {
    let mut unanswered = Vec::new();
    let mut asking = QueryLog {
        unanswered: &mut unanswered,
    };
    let geometry = asking.take("its size and sectors", &answers.geometry, ioctl::geometry);
    let alignment = asking.take(
        "its physical sectors",
        &answers.alignment,
        ioctl::access_alignment,
    );
    let descriptor = asking.take(
        "maker, model and bus",
        &answers.descriptor,
        ioctl::device_descriptor,
    );
    let rotational = asking.take(
        "whether it spins",
        &answers.seek_penalty,
        ioctl::seek_penalty,
    );
    let cache = asking.take("its write cache", &answers.write_cache, ioctl::write_cache);
    let logical = alignment
        .map(|alignment| alignment.logical_sector_bytes)
        .or(geometry.map(|geometry| geometry.sector_bytes));
    let (table, unread) = table(&answers.layout, logical.unwrap_or(512));
    let bus = descriptor.as_ref().map(|one| one.bus);
    let device = BlockDevice {
        number: name::disk_number(answers.number),
        name: name::disk(answers.number),
        kind: BlockDeviceKind::Disk,
        size_bytes: geometry.map_or(0, |geometry| geometry.size_bytes),
        read_only: answers.read_only == Some(true),
        model: descriptor.as_ref().and_then(|one| one.model()),
        serial: descriptor.as_ref().and_then(|one| one.serial.clone()),
        firmware: descriptor.as_ref().and_then(|one| one.revision.clone()),
        transport: bus.and_then(BusType::name).map(str::to_owned),
        queue: Queue {
            logical_sector_bytes: logical,
            physical_sector_bytes: alignment.map(|one| one.physical_sector_bytes),
            alignment_offset_bytes: alignment.map(|one| u64::from(one.first_physical_bytes)),
            rotational,
            write_cache: cache.and_then(|cache| cache.mode).map(str::to_owned),
            forced_unit_access: cache.and_then(|cache| cache.forced_unit_access),
            ..Queue::default()
        },
        ..BlockDevice::default()
    };
    DiskFacts {
        device,
        table,
        unread,
        unanswered,
    }
}

/// The table, or why there is none; neither for a disk without one.
fn table(answer: &super::Answer, sector: u32) -> (Option<PartitionTable>, Option<String>) {
    match answer {
        Ok(bytes) if ioctl::layout::is_raw(bytes) => (None, None),
        Ok(bytes) => match ioctl::drive_layout(bytes, sector) {
            // Without entries and id there is no table either (MBR style, as Windows reports
            // uninitialised disks).
            Ok(table) if table.partitions.is_empty() && table.id.is_none() => (None, None),
            Ok(table) => (Some(table), None),
            Err(malformed) => (None, Some(malformed.to_string())),
        },
        Err(refusal) => (None, Some(refused(refusal))),
    }
}

/// A partition as a device on its disk.
pub fn partition_device(
    disk_number: u32,
    entry: &TablePartition,
    disk: &BlockDevice,
) -> BlockDevice {
    BlockDevice {
        number: name::partition_number(disk_number, entry.number),
        name: name::partition(disk_number, entry.number),
        kind: BlockDeviceKind::Partition,
        size_bytes: entry.size_bytes,
        read_only: disk.read_only,
        model: disk.model.clone(),
        serial: disk.serial.clone(),
        firmware: disk.firmware.clone(),
        transport: disk.transport.clone(),
        queue: disk.queue.clone(),
        partition: Some(Place {
            index: entry.number,
            start_bytes: entry.start_bytes,
        }),
        below: vec![disk.clone()],
        ..BlockDevice::default()
    }
}

/// The partitions of a disk, with the volumes that exactly match one.
pub fn partitions(known: &DiskFacts, volumes: &[VolumeAnswers]) -> Vec<Partition> {
    let disk = known.device.number.minor;
    known
        .entries()
        .iter()
        .map(|entry| {
            let on = |volume: &&VolumeAnswers| {
                let extents = volume::extents(volume);
                extents.iter().any(|one| {
                    one.disk == disk
                        && (entry.start_bytes..entry.end_bytes()).contains(&one.start_bytes)
                })
            };
            let is_container = entry.role == Role::Extended;
            let on: Vec<&VolumeAnswers> = if is_container {
                Vec::new()
            } else {
                volumes.iter().filter(on).collect()
            };
            let is_whole = |volume: &VolumeAnswers| {
                matches!(volume::extents(volume).as_slice(),
                    [one] if one.start_bytes == entry.start_bytes)
            };
            let plain = entry.role != Role::Dynamic;
            Partition {
                name: if is_container {
                    format!("Harddisk{disk} extended")
                } else {
                    name::partition(disk, entry.number)
                },
                entry: entry.clone(),
                holds: on
                    .iter()
                    .find(|volume| plain && is_whole(volume))
                    .and_then(|volume| header(volume)),
                in_kernel: true,
                holders: if plain {
                    Vec::new()
                } else {
                    on.iter().map(|volume| volume::name(volume)).collect()
                },
            }
        })
        .collect()
}

/// The content of a volume according to its file system.
pub fn header(volume: &VolumeAnswers) -> Option<Found> {
    let reported = volume.file_system.as_ref()?;
    let ntfs = volume::ntfs(volume);
    Some(Found::FileSystem(FileSystemHeader {
        // Named like superblocks of images.
        kind: reported.kind.to_ascii_lowercase(),
        label: stripewise_disk_formats::medium::printable(&reported.label),
        uuid: Some(match &ntfs {
            Some(ntfs) => ntfs.serial.clone(),
            None => format!(
                "{:04X}-{:04X}",
                reported.serial >> 16,
                reported.serial & 0xffff
            ),
        }),
        size_bytes: ntfs.as_ref().map(|ntfs| ntfs.size_bytes),
        allocation_unit_bytes: ntfs
            .map(|ntfs| ntfs.allocation_unit_bytes)
            .or(volume.allocation_unit_bytes),
        ..FileSystemHeader::default()
    }))
}
