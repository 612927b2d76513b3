//! `partition`: planning and execution.

use super::device::{Device, OpenDisk, conflicts_and_unverified};
use super::keep;
use super::kernel::{self, Shown};
use crate::current_layout::{Present, PresentPartition};
use crate::disk::Disk;
use crate::plan::{self, Action, DeviceFacts, MadePartition, TablePlan, TableReport, VolumeFacts};
use crate::saved::SavedTable;
use crate::table::{self, Identifiers, Patch};
use crate::{
    Destroy, Error, ErrorKind, Extent, Geometry, Layout, PartitionOptions, Result, TableKind,
    layout, side_by_side, stale_signatures, write,
};
use std::path::Path;
use stripewise_device_guard::device::Access;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::{Hint, NameText};

/// Placeholder identifiers of a plan, replaced by real ones at execution.
const UNSET: Identifiers = Identifiers { entropy: [0; 32] };

/// Plans a new table with one partition. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_partition(
    path: &Path,
    spec: &PartitionOptions,
    store: Option<&Path>,
) -> Result<TablePlan> {
    let device = whole(path)?;
    let geometry = device.geometry()?;
    let layout = layout(&geometry, spec, &device.target)?;
    let known = VolumeFacts {
        stripe_unit_bytes: spec.stripe_unit_bytes,
        ..VolumeFacts::default()
    };
    let mut plan = plan(&device, geometry, Action::Make(vec![layout]), store)?;
    plan.known = known;
    plan.partitions = vec![planned(1, &layout)];
    plan.judgement = Some(plan::judgement(&device.facts, layout.start_bytes, known));
    plan.layout = Some(layout);
    Ok(plan)
}

/// Plans a new table with several partitions at exactly these locations, in order. Reads only.
pub fn plan_division(path: &Path, parts: &[Extent], store: Option<&Path>) -> Result<TablePlan> {
    let device = whole(path)?;
    let geometry = device.geometry()?;
    let layouts = side_by_side(&geometry, parts, &device.target)?;
    let mut plan = plan(&device, geometry, Action::Make(layouts.clone()), store)?;
    let numbered = (1..).zip(&layouts);
    plan.partitions = numbered
        .map(|(number, layout)| planned(number, layout))
        .collect();
    Ok(plan)
}

/// Plans erasing a device: its tables, superblocks and signatures are zeroed, and the kernel drops
/// its partitions. Reads only.
pub fn plan_erase(path: &Path, store: Option<&Path>) -> Result<TablePlan> {
    let device = Device::find(path)?;
    let geometry = device.geometry()?;
    plan(&device, geometry, Action::Erase, store)
}

/// Plans restoring the table from a file. Reads only.
///
/// # Errors
/// As [`plan_partition`]; [`ErrorKind::Usage`] for a file that is damaged or not a saved table,
/// [`ErrorKind::Refused`] for one of another size or sector.
pub fn plan_restore(path: &Path, file: &Path, store: Option<&Path>) -> Result<TablePlan> {
    let saved = keep::read(file)?;
    let device = whole(path)?;
    let geometry = device.geometry()?;
    saved.check_fits(&geometry, &device.target)?;
    let from = saved.device.clone();
    let after = after_restore(&saved, &geometry, &device)?;
    let mut plan = plan(&device, geometry, Action::Restore(Box::new(saved)), store)?;
    let others = |is: &Option<String>, was: &Option<String>| matches!((is, was), (Some(is), Some(was)) if is != was);
    if others(&device.facts.serial, &from.serial) || others(&device.facts.model, &from.model) {
        plan.notes.push(format!(
            "the table was saved from another disk: {} {}",
            from.model.as_deref().unwrap_or("unknown model"),
            from.serial.as_deref().unwrap_or("of unknown serial number")
        ));
    }
    plan.partitions = after;
    plan.restored_from = Some(from);
    Ok(plan)
}

/// The partitions of a disk once the saved sectors are restored.
fn after_restore(
    saved: &SavedTable,
    geometry: &Geometry,
    device: &Device,
) -> Result<Vec<PresentPartition>> {
    let disk = PatchedDisk {
        below: opened(device, geometry)?,
        patches: saved.patches(),
    };
    let present = Present::of(&disk, geometry).map_err(|os| unreadable(device, os))?;
    Ok(present.partitions)
}

/// The device under a path, which can hold a table.
fn whole(path: &Path) -> Result<Device> {
    let device = Device::find(path)?;
    if device.is_partition() {
        let disk = device
            .facts
            .below
            .first()
            .map_or("its disk", |disk| disk.name.as_str());
        return Err(Error::new(
            ErrorKind::Unusable,
            &device.target,
            "is a partition; tables belong on whole disks",
        )
        .with_hint(format!(
            "Name the disk, `/dev/{disk}`, if you mean the whole disk."
        )));
    }
    if !kernel::can_show(device.number) {
        return Err(Error::new(
            ErrorKind::Unusable,
            &device.target,
            "the kernel shows no partitions on this kind of device",
        )
        .with_hint(
            "Use `stripewise format` on the device itself, or partition what lies below it.",
        ));
    }
    Ok(device)
}

fn opened(device: &Device, geometry: &Geometry) -> Result<OpenDisk> {
    Ok(OpenDisk {
        file: device.open()?,
        size_bytes: geometry.size_bytes,
    })
}

fn unreadable(device: &Device, os: std::io::Error) -> Error {
    super::device::failed(&device.target, "cannot be read", os)
}

/// The common part of both plans.
fn plan(
    device: &Device,
    geometry: Geometry,
    action: Action,
    store: Option<&Path>,
) -> Result<TablePlan> {
    let disk = opened(device, &geometry)?;
    let present = Present::of(&disk, &geometry).map_err(|os| unreadable(device, os))?;
    let patches =
        patches(&disk, &geometry, &action, &UNSET).map_err(|os| unreadable(device, os))?;
    drop(disk);
    let (in_the_way, unseen) = conflicts_and_unverified(device.availability(store));
    Ok(TablePlan {
        device: facts(device, &geometry),
        present,
        uses: System::live().uses_of_device(device.number),
        in_the_way,
        unseen,
        writes: plan::writes(&patches),
        layout: None,
        partitions: Vec::new(),
        judgement: None,
        restored_from: None,
        notes: Vec::new(),
        geometry,
        action,
        known: VolumeFacts::default(),
    })
}

/// Everything that is written, in order.
fn patches(
    disk: &OpenDisk,
    geometry: &Geometry,
    action: &Action,
    ids: &Identifiers,
) -> std::io::Result<Vec<Patch>> {
    match action {
        Action::Make(parts) => {
            let mut patches = table::patches(geometry, parts, ids);
            table::order(&mut patches, geometry.sector());
            let wipes = stale_signatures::wipes(disk, geometry, parts, &patches)?;
            patches.extend(wipes);
            Ok(patches)
        }
        Action::Erase => stale_signatures::erasure(disk, geometry),
        Action::Restore(saved) => {
            let mut patches = saved.patches();
            table::order(&mut patches, geometry.sector());
            Ok(patches)
        }
    }
}

pub(super) fn facts(device: &Device, geometry: &Geometry) -> DeviceFacts {
    DeviceFacts {
        name: device.name.clone(),
        path: device.path.clone(),
        model: device.facts.model.clone(),
        serial: device.facts.serial.clone(),
        size_bytes: geometry.size_bytes,
        logical_sector_bytes: geometry.logical_sector_bytes,
        physical_sector_bytes: geometry.physical_sector_bytes,
    }
}

fn planned(number: u32, layout: &Layout) -> PresentPartition {
    PresentPartition {
        number,
        start_bytes: layout.start_bytes,
        size_bytes: layout.size_bytes,
        type_name: match (layout.table, layout.purpose) {
            (TableKind::Gpt, crate::Purpose::Linux) => "Linux file system",
            (TableKind::Mbr, crate::Purpose::Linux) => "Linux",
            (TableKind::Gpt, crate::Purpose::Windows) => "Microsoft basic data",
            (TableKind::Mbr, crate::Purpose::Windows) => "NTFS/exFAT",
        }
        .to_owned(),
        ..PresentPartition::default()
    }
}

pub fn execute(plan: &TablePlan, destroy: &Destroy<'_>, ids: &Identifiers) -> Result<TableReport> {
    let device = match plan.action {
        Action::Erase => Device::find(&plan.device.path)?,
        _ => whole(&plan.device.path)?,
    };
    let file = device
        .claim_to_destroy(destroy, Access::ReadWrite)?
        .into_file();
    let geometry = device.geometry()?;
    let mut disk = OpenDisk {
        file,
        size_bytes: geometry.size_bytes,
    };
    // Again, now that no one else can write to it.
    let present = Present::of(&disk, &geometry).map_err(|os| unreadable(&device, os))?;
    if present != plan.present || geometry != plan.geometry {
        return Err(Error::new(
            ErrorKind::Refused,
            &device.target,
            "has changed since the plan was made",
        )
        .with_hint("Run the command again to see the new plan."));
    }
    let patches =
        patches(&disk, &geometry, &plan.action, ids).map_err(|os| unreadable(&device, os))?;
    save(&disk, &device, &geometry, &patches, destroy)?;
    let target = &device.target;
    write::write_in_order(&mut disk, &patches, target)
        .and_then(|()| write::verify(&disk, &patches, target))
        .map_err(|error| with_undo_hint(error, &device, destroy))?;
    let shown = kernel::show(&disk.file, &device, &plan.partitions)?;
    report(plan, &device, &disk, &geometry, destroy, shown, &patches)
}

/// Saves the current table and everything that will be overwritten.
fn save(
    disk: &OpenDisk,
    device: &Device,
    geometry: &Geometry,
    patches: &[Patch],
    destroy: &Destroy<'_>,
) -> Result<()> {
    let Some(save) = destroy.save else {
        return Ok(());
    };
    let mut places =
        stale_signatures::table_places(disk, geometry).map_err(|os| unreadable(device, os))?;
    places.extend(
        patches
            .iter()
            .map(|patch| (patch.offset_bytes, patch.bytes.len() as u64)),
    );
    let identity = device.identity(geometry);
    let saved = SavedTable::of(disk, identity, &places, destroy.now)
        .map_err(|os| unreadable(device, os))?;
    keep::write_new(&save, &saved.to_bytes())
}

/// Adds how to undo to an error after the first write.
fn with_undo_hint(mut error: Error, device: &Device, destroy: &Destroy<'_>) -> Error {
    let Some(save) = destroy.save else {
        return error;
    };
    let way = format!(
        "The old table is saved: `stripewise partition {} --restore {} --yes --destroy {}` brings \
         it back; or look at `dmesg` and run the same command again.",
        device.path.as_text(),
        save.path.as_text(),
        device.name
    );
    error.hint = Hint::plain(match &*error.hint {
        "" => way,
        hint => format!("{hint} {way}"),
    });
    error
}

/// Reads everything back and compares it with the plan.
fn report(
    plan: &TablePlan,
    device: &Device,
    disk: &OpenDisk,
    geometry: &Geometry,
    destroy: &Destroy<'_>,
    shown: Shown,
    patches: &[Patch],
) -> Result<TableReport> {
    let found = Present::of(disk, geometry).map_err(|os| unreadable(device, os))?;
    let places = |partitions: &[PresentPartition]| -> Vec<(u32, u64, u64)> {
        partitions
            .iter()
            .map(|one| (one.number, one.start_bytes, one.size_bytes))
            .collect()
    };
    if places(&found.partitions) != places(&plan.partitions) {
        let error = Error::new(
            ErrorKind::Unverified,
            &device.target,
            "the table that is read back lists other partitions than were written",
        );
        return Err(with_undo_hint(error, device, destroy));
    }
    let live = System::live().partitions(device.number);
    let judgement = plan
        .layout
        .and(live.first())
        .map(|partition| plan::judgement(partition, 0, plan.known));
    Ok(TableReport {
        device: plan.device.clone(),
        saved: destroy.save.map(|save| save.path.to_path_buf()),
        bytes_written: patches.iter().map(|patch| patch.bytes.len() as u64).sum(),
        shown: match shown {
            Shown::Reread => "the kernel read the table",
            Shown::Told => "the kernel was informed of each partition",
        },
        partitions: found
            .partitions
            .iter()
            .map(|one| MadePartition {
                name: kernel::name_of(device.number, one.number).unwrap_or_default(),
                start_bytes: one.start_bytes,
                size_bytes: one.size_bytes,
            })
            .collect(),
        judgement,
    })
}

/// A disk as it will be after patches are written.
struct PatchedDisk {
    below: OpenDisk,
    patches: Vec<Patch>,
}

impl Disk for PatchedDisk {
    fn size_bytes(&self) -> u64 {
        self.below.size_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.below.read_at(offset_bytes, buffer)?;
        let end = offset_bytes + buffer.len() as u64;
        for patch in &self.patches {
            let from = patch.offset_bytes.max(offset_bytes);
            let to = patch.end_bytes().min(end);
            if from < to {
                let source =
                    (from - patch.offset_bytes) as usize..(to - patch.offset_bytes) as usize;
                let into = (from - offset_bytes) as usize..(to - offset_bytes) as usize;
                buffer[into].copy_from_slice(&patch.bytes[source]);
            }
        }
        Ok(())
    }

    fn write_at(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
