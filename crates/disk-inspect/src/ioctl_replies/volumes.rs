//! Volumes: on one partition, on several disks, or in an unknown location.

use super::name::disk as disk_name;
use super::volume::{extents, name, ntfs};
use super::{Machine, VolumeAnswers, describe};
use crate::storage::{BlockDevice, BlockDeviceKind, FileSystem, Partition as Place};
use crate::survey::{Disk, Request, Volume, holds_volumes, usage};
use crate::trace::{Trace, trace};
use crate::verdict::{Subject, Suspect, Usage};
use std::path::PathBuf;
use stripewise_disk_formats::ioctl::{self, BusType, DiskExtent};
use stripewise_disk_formats::superblocks::Found;
use stripewise_disk_formats::tables::Role;

/// `FILE_READ_ONLY_VOLUME`.
const READ_ONLY_VOLUME: u32 = 0x0008_0000;
/// `FILE_VOLUME_IS_COMPRESSED` (DoubleSpace; NTFS compresses files, not volumes).
const VOLUME_IS_COMPRESSED: u32 = 0x0000_8000;

/// The file system of a volume.
pub fn file_system(volume: &VolumeAnswers) -> FileSystem {
    let reported = volume.file_system.clone().unwrap_or_default();
    FileSystem {
        mount_point: PathBuf::from(volume.mount_points.first().cloned().unwrap_or_default()),
        source: name(volume),
        allocation_unit_bytes: ntfs(volume)
            .map(|ntfs| ntfs.allocation_unit_bytes)
            .or(volume.allocation_unit_bytes),
        size_bytes: volume.space_bytes.map(|(all, _)| all),
        available_bytes: volume.space_bytes.map(|(_, free)| free),
        read_only: reported.flags & READ_ONLY_VOLUME != 0,
        in_memory: volume.in_memory,
        remote: volume.remote,
        // ReFS relocates data only for files with integrity streams, which are off for data by
        // default.
        copy_on_write: false,
        compression: (reported.flags & VOLUME_IS_COMPRESSED != 0).then(|| "unknown".to_owned()),
        kind: reported.kind,
        ..FileSystem::default()
    }
}

/// The devices below a volume: one per extent.
pub fn devices(machine: &Machine, volume: &VolumeAnswers) -> Vec<BlockDevice> {
    extents(volume)
        .iter()
        .filter_map(|extent| {
            let answers = machine.disks.iter().find(|one| one.number == extent.disk)?;
            let known = describe::disk(answers);
            Some(device(&known.device, known.entries(), extent))
        })
        .collect()
}

/// An extent as a device: a partition if it matches one exactly; otherwise a region of its disk,
/// with the same exact start.
fn device(
    disk: &BlockDevice,
    entries: &[stripewise_disk_formats::tables::TablePartition],
    extent: &DiskExtent,
) -> BlockDevice {
    let partition = entries
        .iter()
        .find(|entry| entry.role != Role::Extended && entry.start_bytes == extent.start_bytes);
    match partition {
        Some(entry) => describe::partition_device(extent.disk, entry, disk),
        None => BlockDevice {
            name: format!("{} from {}", disk.name, extent.start_bytes),
            kind: BlockDeviceKind::Partition,
            size_bytes: extent.size_bytes,
            partition: Some(Place {
                index: 0,
                start_bytes: extent.start_bytes,
            }),
            queue: disk.queue.clone(),
            below: vec![disk.clone()],
            ..BlockDevice::default()
        },
    }
}

/// All volumes, and notes about them.
pub struct AllVolumes {
    pub volumes: Vec<Volume>,
    pub notes: Vec<String>,
}

/// Volumes on these disks, and partitions without any.
pub fn volumes(machine: &Machine, disks: &[Disk], request: &Request) -> AllVolumes {
    let mut all = AllVolumes {
        volumes: Vec::new(),
        notes: Vec::new(),
    };
    for answers in &machine.volumes {
        let on = extents(answers);
        let is_here = on.iter().any(|extent| {
            disks
                .iter()
                .any(|disk| disk.device.number.minor == extent.disk)
        });
        // Volumes of unknown location are part of the full survey, and of their own.
        let is_asked_for = request.device.as_ref().is_none_or(|wanted| {
            matches!(super::Name::parse(wanted), Some(super::Name::Volume(_)))
        });
        let is_lost = on
            .iter()
            .all(|extent| machine.disks.iter().all(|disk| disk.number != extent.disk));
        let is_shown = is_here || (is_lost && is_asked_for);
        if !is_shown {
            continue;
        }
        if let Some(why) = unreported_reason(answers, machine) {
            all.notes.push(why);
        }
        all.volumes.push(volume(answers, &on, disks));
    }
    all.volumes.sort_by_key(place_of);
    for disk in disks {
        for partition in &disk.partitions {
            let name = &partition.name;
            let known = |one: &Volume| one.devices.contains(name);
            let holds = holds_volumes(partition.entry.role);
            if !holds || all.volumes.iter().any(known) || !partition.holders.is_empty() {
                continue;
            }
            all.volumes.push(unmounted(disk, partition));
        }
    }
    all
}

/// Mounted ones first, by name.
fn place_of(volume: &Volume) -> (bool, String) {
    (volume.mount_points.is_empty(), volume.name.clone())
}

/// Why a volume's location is unknown, or only partly known.
fn unreported_reason(answers: &VolumeAnswers, machine: &Machine) -> Option<String> {
    let name = name(answers);
    match &answers.extents {
        Ok(bytes) => match ioctl::disk_extents(bytes) {
            Err(malformed) => Some(format!("{name}: {malformed}")),
            Ok(extents) if extents.is_empty() => {
                Some(format!("{name} reports that it is on no disk"))
            }
            Ok(extents) => {
                let is_missing = |one: &&DiskExtent| {
                    let mut disks = machine.disks.iter();
                    disks.all(|disk| disk.number != one.disk)
                };
                let missing = extents.iter().find(is_missing)?;
                Some(format!(
                    "{name} reports that it is on {}, which could not be opened",
                    disk_name(missing.disk)
                ))
            }
        },
        Err(_) if answers.remote => Some(format!(
            "{name} is on another machine: only that one knows its disks"
        )),
        Err(refusal) => Some(format!(
            "{name} did not report where it is ({})",
            describe::refused(refusal)
        )),
    }
}

fn volume(answers: &VolumeAnswers, on: &[DiskExtent], disks: &[Disk]) -> Volume {
    let mut names = Vec::new();
    let mut way = Trace::default();
    let mut suspect = None;
    for extent in on {
        let Some(disk) = disks
            .iter()
            .find(|disk| disk.device.number.minor == extent.disk)
        else {
            way.incomplete = true;
            continue;
        };
        suspect = suspect.or(suspicion(disk, extent));
        let entries = disk.table.as_ref().map(|table| &table.partitions[..]);
        let piece = device(&disk.device, entries.unwrap_or_default(), extent);
        let found = trace(&piece, &|_| disk.given.clone());
        names.push(piece.name);
        way.boundaries.extend(found.boundaries);
        way.places.extend(found.places);
        way.incomplete |= found.incomplete;
    }
    if on.len() > 1 {
        several(&mut way, &name(answers), on.len());
    }
    way.incomplete |= on.is_empty();
    let holds = describe::header(answers);
    let header = holds.as_ref().and_then(Found::file_system);
    Volume {
        name: name(answers),
        devices: names,
        size_bytes: match (on, answers.space_bytes) {
            ([one], _) => one.size_bytes,
            (_, Some((all, _))) => all,
            _ => on
                .iter()
                .map(|extent| extent.size_bytes)
                .fold(0, u64::saturating_add),
        },
        mount_points: answers.mount_points.iter().map(PathBuf::from).collect(),
        file_system: header.map(|header| header.kind.clone()),
        role: Role::Data,
        subject: Subject {
            boundaries: way.boundaries,
            places: way.places,
            allocation_unit_bytes: header.and_then(|header| header.allocation_unit_bytes),
            told_unit_bytes: None,
            usage: if holds.is_some() {
                Usage::FileSystem
            } else {
                Usage::Unknown
            },
            suspect,
            incomplete: way.incomplete,
        },
        holds,
    }
}

/// A volume of several extents: Windows reports their positions, but not whether they are
/// concatenated, striped or mirrored. So their starts are places, and no stripe units are claimed.
fn several(way: &mut Trace, name: &str, count: usize) {
    way.boundaries.clear();
    way.incomplete = true;
    for place in &mut way.places {
        place.ends = Some(format!(
            "one of {count} extents of {name}: whether they are spanned, striped or mirrored \
             is not reported; diskpart's `detail volume` says it"
        ));
    }
}

/// Why an extent's location is unreliable.
fn suspicion(disk: &Disk, extent: &DiskExtent) -> Option<Suspect> {
    let spaces = BusType::SPACES.name();
    if spaces.is_some() && disk.device.transport.as_deref() == spaces {
        return Some(Suspect::StorageSpace);
    }
    let inside = disk.partitions.iter().find(|partition| {
        let entry = &partition.entry;
        entry.role != Role::Extended
            && (entry.start_bytes..entry.end_bytes()).contains(&extent.start_bytes)
    });
    match inside.map(|partition| partition.entry.role) {
        Some(Role::Dynamic) => Some(Suspect::DynamicVolume),
        Some(Role::StoragePool) => Some(Suspect::StoragePool),
        _ => None,
    }
}

/// A partition without a volume: reserved, foreign or hidden.
fn unmounted(disk: &Disk, partition: &crate::survey::Partition) -> Volume {
    let entry = &partition.entry;
    let number = disk.device.number.minor;
    let way = trace(
        &describe::partition_device(number, entry, &disk.device),
        &|_| disk.given.clone(),
    );
    Volume {
        name: partition.name.clone(),
        devices: vec![partition.name.clone()],
        size_bytes: entry.size_bytes,
        role: entry.role,
        subject: Subject {
            boundaries: way.boundaries,
            places: way.places,
            usage: usage(entry.role, None, true),
            suspect: Suspect::by_role(entry.role),
            incomplete: way.incomplete,
            ..Subject::default()
        },
        ..Volume::default()
    }
}
