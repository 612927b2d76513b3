//! Where a target starts, how precisely that is known, and which claims that
//! permits. A file must be placed so that one base offset has one phase in every
//! stripe: its extents are queried, and if they do not agree, the longest
//! part that does is used, or the claim is restricted, in words.

use super::stored_experiment::LevelPlaces;
use crate::steps::array_facts::of_disk;
use std::path::Path;
use stripewise_array_sim::layout::Level;
use stripewise_conductor::context::Context;
use stripewise_conductor::targets::OpenTarget;
use stripewise_disk_inspect::placement::Placement;
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind, Storage};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_lab::experiment::LayoutFacts;
use stripewise_lab::offsets::UsableRange;
use stripewise_results::TargetKind;
use stripewise_targets::Target;
use stripewise_units::{ByteSize, format_bytes, path_of};

/// Extents that agree modulo this agree in every common stripe unit.
const PERIOD: u64 = 1 << 20;
/// Extents that agree modulo this agree in most.
const PERIOD_GOOD: u64 = 64 << 10;
/// Minimum part of a file to use: 1 / this of it.
const PART_GOOD: u64 = 4;
/// Minimum part to use if no better one exists.
const PART_LEAST: u64 = 16;

/// The result of the examination.
#[derive(Clone, Debug)]
pub struct TargetRange {
    /// The usable range for levels.
    pub usable: UsableRange,
    /// The place without levels.
    pub place: LevelPlaces,
    /// Known facts about the layout.
    pub layout: LayoutFacts,
    /// Bytes that the file system writes as a unit; absent for devices and arrays.
    pub page_bytes: Option<u64>,
    /// Start of a partition aligned with a measured stripe unit, if not 1 MiB.
    pub aligned_bytes: Option<u64>,
}

/// Examines the target. `block_bytes`: of the largest operation; `size_bytes`: how much of the
/// target may be used, if given.
pub fn find(
    context: &Context,
    opened: &OpenTarget,
    target: &str,
    block_bytes: u64,
    size_bytes: Option<u64>,
) -> TargetRange {
    let limits = opened.limits();
    let whole = UsableRange {
        start_bytes: 0,
        period_bytes: None,
        from_bytes: 0,
        end_bytes: limits.size_bytes.min(size_bytes.unwrap_or(u64::MAX)),
        sector_bytes: u64::from(limits.logical_sector_bytes),
        block_bytes,
    };
    match opened {
        OpenTarget::Simulated(simulated) => {
            let facts = simulated.build().facts();
            let start_bytes = facts.partition_offset_bytes + facts.file_offset_bytes;
            TargetRange {
                usable: UsableRange {
                    start_bytes,
                    ..whole
                },
                place: LevelPlaces {
                    start_bytes: Some(facts.partition_offset_bytes),
                    disk: Some("the simulated array".to_owned()),
                    ..LevelPlaces::default()
                },
                layout: LayoutFacts {
                    subject: subject(facts.disks > 1).to_owned(),
                    start_bytes: Some(start_bytes),
                    stripe_unit_bytes: Some(facts.stripe_unit_bytes),
                    parity: Some(matches!(facts.level, Level::Raid5 | Level::Raid6)),
                    ..LayoutFacts::default()
                },
                page_bytes: None,
                aligned_bytes: None,
            }
        }
        OpenTarget::Real { target: real } => of_real(context, real, &path_of(target), whole),
        OpenTarget::Nothing { .. } => TargetRange {
            usable: whole,
            place: LevelPlaces::default(),
            layout: LayoutFacts::default(),
            page_bytes: None,
            aligned_bytes: None,
        },
    }
}

fn subject(several: bool) -> &'static str {
    if several { "this array" } else { "this disk" }
}

fn of_real(context: &Context, real: &Target, path: &Path, whole: UsableRange) -> TargetRange {
    // Anything that cannot be examined is unknown; no claim is derived from it.
    let storage = System::live().storage_of_path(path).unwrap_or_default();
    let facts = real.facts();
    let mut place = LevelPlaces {
        start_bytes: facts.partition_offset_bytes,
        disk: storage.offset.as_ref().map(|offset| offset.disk.clone()),
        ..LevelPlaces::default()
    };
    let layers = storage.layers();
    let disk = layers
        .iter()
        .find(|device| Some(&device.name) == place.disk.as_ref());
    match (place.start_bytes, disk) {
        (None, _) => place.notes.push(
            "Where this target starts on its disks is not known: offsets are relative to its own start."
                .to_owned(),
        ),
        (Some(_), Some(disk)) => place.notes.extend(beyond(disk)),
        _ => {}
    }
    let mut found = TargetRange {
        usable: UsableRange {
            start_bytes: place.start_bytes.unwrap_or(0),
            ..whole
        },
        layout: layout(&storage, disk.copied()),
        place,
        page_bytes: None,
        aligned_bytes: None,
    };
    let units_begin = known_layout(context, &mut found);
    if facts.kind != TargetKind::Device {
        found.page_bytes = facts
            .file_system
            .as_ref()
            .and_then(|file_system| file_system.allocation_unit_bytes);
        of_file(&mut found, real.placement().as_ref());
    }
    let start_bytes = found.usable.start_bytes + units_begin;
    found.layout.start_bytes = found.place.start_bytes.map(|_| start_bytes);
    found
}

/// Facts about the disk from the user or a probe, if it does not report them.
/// Returns the reference of starts if units do not begin with the disk.
fn known_layout(context: &Context, found: &mut TargetRange) -> u64 {
    if found.layout.stripe_unit_bytes.is_some() {
        return 0;
    }
    let disk = found.place.disk.as_ref();
    let Some(facts) = disk.and_then(|disk| of_disk(context, disk)) else {
        return 0;
    };
    let Some(unit) = facts.stripe_unit_bytes else {
        return 0;
    };
    found.aligned_bytes = facts.aligned_bytes();
    found.layout.stripe_unit_bytes = Some(unit);
    found.layout.subject = subject(true).to_owned();
    found.layout.parity = facts
        .raid_level
        .as_deref()
        .map(|level| ["raid4", "raid5", "raid6"].contains(&level));
    let note = facts.measured_note().unwrap_or_else(|| {
        format!(
            "The stripe unit of {} was given (`disks --stripe-unit`).",
            ByteSize(unit)
        )
    });
    found.place.notes.push(note);
    let first = facts.measured.map_or(0, |one| one.first_unit_bytes);
    (unit - first % unit) % unit
}

/// What is below the device to which the start could be traced.
fn beyond(disk: &BlockDevice) -> Option<String> {
    let what = match disk.kind {
        BlockDeviceKind::Loop => "a file shown as a disk",
        BlockDeviceKind::Mapper => "a mapped volume (LVM, encryption, multipath)",
        _ => return None,
    };
    Some(format!(
        "Offsets are counted from the start of {}, {what}; where that is on the disks below is not known.",
        disk.name
    ))
}

fn layout(storage: &Storage, disk: Option<&BlockDevice>) -> LayoutFacts {
    let array = disk.and_then(|disk| disk.array.as_ref());
    let parity = |level: &str| ["raid4", "raid5", "raid6"].contains(&level);
    LayoutFacts {
        subject: match array {
            Some(_) => subject(true).to_owned(),
            None => LayoutFacts::default().subject,
        },
        stripe_unit_bytes: array.map(|array| array.stripe_unit_bytes.unwrap_or(0)),
        parity: array.map(|array| parity(&array.level)),
        physical_sector_bytes: storage
            .nearest()
            .and_then(|device| device.queue.physical_sector_bytes)
            .map(u64::from),
        ..LayoutFacts::default()
    }
}

/// No conclusion for partitions is possible.
fn not_known(found: &mut TargetRange, why: &str) {
    found.place.start_bytes = None;
    found.usable.start_bytes = 0;
    found.place.notes = vec![format!(
        "Where this file is on its disks is not known ({why}): offsets are relative to the start of the file, and nothing can be concluded about partitions."
    )];
}

/// Takes the extents of a file into account.
fn of_file(found: &mut TargetRange, placement: Option<&Placement>) {
    let size = found.usable.end_bytes;
    let Some((placement, partition)) = placement.zip(found.place.start_bytes) else {
        not_known(found, "its file system does not report it");
        return;
    };
    let usable = &mut found.usable;
    if let Some(phase) = placement.phase(PERIOD) {
        usable.start_bytes = (partition + phase) % PERIOD;
        usable.period_bytes = Some(PERIOD);
        return;
    }
    let agree = placement.granularity(PERIOD);
    let granularity = agree.unwrap_or(1);
    let longest = placement.longest(PERIOD).filter(|part| {
        let enough = if granularity >= PERIOD_GOOD {
            PART_GOOD
        } else {
            PART_LEAST
        };
        part.length_bytes.saturating_mul(enough) >= size
    });
    if let Some(part) = longest {
        usable.start_bytes = (partition + part.phase_bytes) % PERIOD;
        usable.period_bytes = Some(PERIOD);
        usable.from_bytes = part.from_bytes;
        usable.end_bytes = size.min(part.from_bytes + part.length_bytes);
        found.place.notes.push(format!(
            "The extents of this file do not all start alike. {} of its {} do, from byte {} on: only these are used.",
            format_bytes(usable.end_bytes - usable.from_bytes),
            format_bytes(size),
            part.from_bytes
        ));
        return;
    }
    if agree.is_none() {
        let why = "not all of its extents have a place: `sync`, if it was written a moment ago";
        not_known(found, why);
        return;
    }
    let phase = placement.phase(granularity).unwrap_or(0);
    usable.start_bytes = (partition + phase) % granularity;
    usable.period_bytes = Some(granularity);
    found.place.notes.push(format!(
        "The extents of this file start alike only in units of {}: boundaries of larger stripe units lie elsewhere in each, and what is found is about units of up to {0}.",
        ByteSize(granularity)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_disk_inspect::placement::Extent;

    /// A file of 64 MiB in two extents, on a partition at 1 MiB.
    fn file(places: [Option<u64>; 2]) -> TargetRange {
        const HALF: u64 = 32 << 20;
        let mut found = TargetRange {
            usable: UsableRange {
                start_bytes: 1 << 20,
                period_bytes: None,
                from_bytes: 0,
                end_bytes: 2 * HALF,
                sector_bytes: 512,
                block_bytes: 8192,
            },
            place: LevelPlaces {
                start_bytes: Some(1 << 20),
                ..LevelPlaces::default()
            },
            layout: LayoutFacts::default(),
            page_bytes: None,
            aligned_bytes: None,
        };
        let extent = |(number, physical_bytes)| Extent {
            logical_bytes: number * HALF,
            physical_bytes,
            length_bytes: HALF,
        };
        let placement = Placement {
            extents: (0..).zip(places).map(extent).collect(),
            complete: true,
        };
        of_file(&mut found, Some(&placement));
        found
    }

    #[test]
    fn of_a_file_that_has_no_place_yet_nothing_follows() {
        let nowhere = file([None, None]);
        assert_eq!(nowhere.place.start_bytes, None);
        assert_eq!(nowhere.usable.period_bytes, None);
        assert!(nowhere.place.notes[0].contains("`sync`"));
        // If half of it has one, that half is used.
        let half = file([None, Some(64 << 20)]);
        assert_eq!(half.usable.from_bytes, 32 << 20);
        assert_eq!(half.usable.period_bytes, Some(PERIOD));
        let apart = file([Some(0), Some((64 << 20) + 4096)]);
        assert_eq!(apart.usable.period_bytes, Some(PERIOD), "the longer half");
    }
}
