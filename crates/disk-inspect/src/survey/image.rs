//! An image of a disk or of a volume in a file.

use super::{Disk, Partition, Survey, Volume, holds_volumes};
use crate::storage::{BlockDevice, Queue};
use crate::trace::{SuppliedFacts, trace};
use crate::verdict::{Subject, Suspect, Usage};
use std::io::Result;
use stripewise_disk_formats::medium::{Bytes, Part};
use stripewise_disk_formats::superblocks::{self, Found};
use stripewise_disk_formats::tables::{self, PartitionTable, Role, TableKind, TablePartition};

/// A saved boot sector has no partitions either; smaller disks do not exist.
const DISK_BYTES_MIN: u64 = 1 << 20;

/// Whether the bytes look like a disk or a volume rather than a plain file.
pub fn recognised(image: &mut dyn Bytes) -> Result<bool> {
    let is_disk = image.size_bytes() >= DISK_BYTES_MIN;
    let is_table = |table: PartitionTable| {
        is_disk || table.kind != TableKind::Mbr || !table.partitions.is_empty()
    };
    let table = tables::read(image, None)?;
    Ok(table.is_some_and(is_table) || superblocks::read(image)?.is_some())
}

/// Surveys an image. `name` is the name of its disk, `path` its key if its table has no id.
pub fn image(
    image: &mut dyn Bytes,
    name: &str,
    path: &str,
    sector_bytes: Option<u32>,
    given: &dyn Fn(&str) -> Option<SuppliedFacts>,
) -> Result<Survey> {
    let table = match tables::read(image, sector_bytes)? {
        Some(table) if table.kind == TableKind::Mbr && sector_bytes.is_none() => {
            Some(in_its_sectors(image, name, table))
        }
        table => table,
    };
    let sector = table.as_ref().map(|table| table.sector_bytes);
    let size_bytes = image.size_bytes();
    // A table without partitions may be stale.
    let whole = match &table {
        Some(table) if !table.partitions.is_empty() => None,
        _ => superblocks::read(image)?,
    };
    let id = table
        .as_ref()
        .and_then(|table| table.id.clone())
        .or_else(|| uuid(whole.as_ref()));
    let key = id.unwrap_or_else(|| path.to_owned());
    let device = BlockDevice {
        name: name.to_owned(),
        size_bytes,
        queue: Queue {
            logical_sector_bytes: sector_bytes.or(sector),
            // An image does not give the physical sectors of its disk.
            physical_sector_bytes: None,
            ..Queue::default()
        },
        ..BlockDevice::default()
    };
    let given = given(&key);
    let mut survey = Survey::default();
    let partitions = partitions(image, name, table.as_ref());
    for partition in partitions
        .iter()
        .filter(|one| holds_volumes(one.entry.role))
    {
        survey
            .volumes
            .push(volume(&device, partition, given.as_ref()));
    }
    if table.is_none() || whole.is_some() {
        let partition = Partition {
            name: name.to_owned(),
            entry: TablePartition {
                size_bytes,
                ..TablePartition::default()
            },
            holds: whole,
            ..Partition::default()
        };
        survey
            .volumes
            .push(volume(&device, &partition, given.as_ref()));
    }
    survey.disks.push(Disk {
        device,
        key,
        table,
        unread: None,
        partitions,
        given,
    });
    Ok(survey)
}

/// An MBR does not give its sector size. It is assumed to be 512 bytes, unless that leads to
/// nothing known and 4 KiB sectors do.
fn in_its_sectors(image: &mut dyn Bytes, name: &str, table: PartitionTable) -> PartitionTable {
    const LARGE: u32 = 4096;
    if found_in(image, name, &table) {
        return table;
    }
    match tables::read(image, Some(LARGE)) {
        Ok(Some(mut large)) if large.kind == TableKind::Mbr && found_in(image, name, &large) => {
            large.problems.push(format!(
                "taken to count in sectors of {LARGE} bytes, as that is where something is"
            ));
            large
        }
        _ => table,
    }
}

/// Whether one of the partitions holds something known.
fn found_in(image: &mut dyn Bytes, name: &str, table: &PartitionTable) -> bool {
    let found = partitions(image, name, Some(table));
    found.iter().any(|one| one.holds.is_some())
}

fn uuid(found: Option<&Found>) -> Option<String> {
    match found? {
        Found::FileSystem(header) => header.uuid.clone(),
        Found::Member(member) => member.array_uuid.clone(),
        Found::PhysicalVolume(volume) => Some(volume.id.clone()),
        Found::Encrypted(encrypted) => encrypted.uuid.clone(),
    }
}

fn partitions(image: &mut dyn Bytes, name: &str, table: Option<&PartitionTable>) -> Vec<Partition> {
    let entries = table.map_or(&[][..], |table| &table.partitions);
    entries
        .iter()
        .map(|entry| {
            let holds = match entry.role {
                Role::Extended | Role::Protective => None,
                _ => {
                    let mut part = Part::new(image, entry.start_bytes, entry.size_bytes);
                    superblocks::read(&mut part).ok().flatten()
                }
            };
            Partition {
                name: format!("{name}{}", partition_suffix(name, entry.number)),
                entry: entry.clone(),
                holds,
                in_kernel: false,
                holders: Vec::new(),
            }
        })
        .collect()
}

/// As the kernel names partitions: with a `p` if the disk name ends in a digit.
pub(crate) fn partition_suffix(disk: &str, number: u32) -> String {
    if disk.ends_with(|c: char| c.is_ascii_digit()) {
        format!("p{number}")
    } else {
        number.to_string()
    }
}

fn volume(disk: &BlockDevice, partition: &Partition, given: Option<&SuppliedFacts>) -> Volume {
    let entry = &partition.entry;
    let device = BlockDevice {
        name: partition.name.clone(),
        size_bytes: entry.size_bytes,
        partition: Some(crate::storage::Partition {
            index: entry.number,
            start_bytes: entry.start_bytes,
        }),
        below: vec![disk.clone()],
        ..BlockDevice::default()
    };
    let trace = trace(&device, &|_| given.cloned());
    let header = partition.holds.as_ref().and_then(Found::file_system);
    Volume {
        name: partition.name.clone(),
        devices: vec![partition.name.clone()],
        size_bytes: entry.size_bytes,
        mount_points: Vec::new(),
        file_system: header.map(|header| header.kind.clone()),
        role: entry.role,
        subject: Subject {
            boundaries: trace.boundaries,
            places: trace.places,
            allocation_unit_bytes: header.and_then(|header| header.allocation_unit_bytes),
            told_unit_bytes: header.and_then(|header| header.stripe_unit_bytes),
            usage: usage(entry.role, partition.holds.as_ref(), false),
            suspect: Suspect::by_role(entry.role),
            incomplete: trace.incomplete,
        },
        holds: partition.holds.clone(),
    }
}

/// Usage of a partition, by its role and content.
pub(crate) fn usage(role: Role, holds: Option<&Found>, unread: bool) -> Usage {
    match (role, holds) {
        (Role::BiosBoot | Role::MicrosoftReserved | Role::Extended | Role::Protective, _) => {
            Usage::Exempt
        }
        (_, Some(Found::FileSystem(header))) if is_file_system(&header.kind) => Usage::FileSystem,
        (_, Some(_)) => Usage::Other,
        (_, None) if unread => Usage::Unknown,
        _ => Usage::Unused,
    }
}

/// Whether a type from a superblock or udev is a file system.
fn is_file_system(kind: &str) -> bool {
    let other = [
        "swap",
        "swsuspend",
        "md member",
        "LVM physical volume",
        "LUKS",
        "BitLocker",
        "bcache",
        "drbd",
    ];
    !other.contains(&kind) && !kind.ends_with("_member")
}
