//! `format`: the plan, the system's own mkfs, and reading back.
//!
//! mkfs gets the device as `/proc/self/fd/N`, an inherited descriptor that was judged: whatever has
//! happened to the path meanwhile, it opens the same device (mke2fs, mkfs.xfs, mkfs.btrfs and
//! mkntfs all do). The descriptor stays open until the end, so that the kernel neither detaches the
//! loop device nor removes the partition nor reuses its number.
//!
//! All except mkntfs claim the device with `O_EXCL` themselves, so our claim has to end before they
//! start; a process that slips in between makes them fail, as they get no option to force past
//! users. mkntfs claims nothing: there our claim lasts until it has ended.

use super::device::{Device, OpenDisk, conflicts_and_unverified, failed};
use super::mount::cannot_mount;
use super::partition::facts;
use super::tools;
use crate::current_layout::Present;
use crate::disk::{Disk, medium};
use crate::file_system::{
    self, DeviceShape, FileSystemKind, FormatOptions, Kernel, Recipe, Stripe,
};
use crate::format_plan::{FormatPlan, FormatReport};
use crate::layout::Geometry;
use crate::plan::{self, VolumeFacts};
use crate::{Destroy, Error, ErrorKind, Result, stale_signatures, write};
use std::fs::File;
use std::path::{Path, PathBuf};
use stripewise_device_guard::device::Access;
use stripewise_disk_formats::superblocks::{self, FileSystemHeader};
use stripewise_disk_inspect::storage::BlockDevice;
use stripewise_disk_inspect::{Inspect, System, trace};
use stripewise_units::{ByteSize, NameText};

/// Plans a file system. Reads only.
///
/// # Errors
/// See [`ErrorKind`]; obstacles are reported in the plan, not as errors.
pub fn plan_format(path: &Path, spec: &FormatOptions, store: Option<&Path>) -> Result<FormatPlan> {
    let device = Device::find(path)?;
    let geometry = device.geometry()?;
    let disk = OpenDisk {
        file: device.open()?,
        size_bytes: geometry.size_bytes,
    };
    let present =
        Present::of(&disk, &geometry).map_err(|os| failed(&device.target, "cannot be read", os))?;
    drop(disk);
    let offset = trace::offset(&device.facts);
    let place = DeviceShape {
        geometry,
        start_bytes: start_on_disk(&device.facts),
        overwrites: !present.is_empty(),
        is_misaligned: is_misaligned(&device.facts),
    };
    let Recipe {
        arguments,
        stripe_bytes,
        notes,
    } = file_system::recipe(spec, &place, &kernel(), &device.target)?;
    let program = tool(spec, &device.target)?;
    let known = known(Some(spec.allocation_unit_bytes), spec.stripe);
    let (in_the_way, unseen) = conflicts_and_unverified(device.availability(store));
    Ok(FormatPlan {
        device: facts(&device, &geometry),
        in_the_way: in_the_way.or_else(|| has_partitions(&device, &present)),
        unseen,
        uses: System::live().uses_of_device(device.number),
        present,
        file_system: spec.file_system,
        allocation_unit_bytes: spec.allocation_unit_bytes,
        stripe: spec.stripe,
        program,
        arguments,
        offset_bytes: offset.bytes,
        offset_disk: offset.disk,
        judgement: plan::judgement(&device.facts, 0, known),
        notes,
        stripe_bytes,
        geometry,
    })
}

/// Whether this machine can make such a file system and mount it, on any device with this sector.
/// Reads only.
///
/// # Errors
/// [`ErrorKind::Usage`] for sizes that the file system does not support; [`ErrorKind::Unusable`]
/// for those that this kernel could not mount; [`ErrorKind::ToolMissing`].
pub fn can_format(spec: &FormatOptions, logical_sector_bytes: u32) -> Result<()> {
    let target = spec.file_system.name();
    let place = DeviceShape {
        geometry: Geometry {
            size_bytes: u64::MAX,
            logical_sector_bytes,
            physical_sector_bytes: logical_sector_bytes,
        },
        start_bytes: 0,
        overwrites: true,
        is_misaligned: false,
    };
    file_system::recipe(spec, &place, &kernel(), target)?;
    if let Some(why) = cannot_mount(spec.file_system) {
        return Err(Error::new(ErrorKind::Unusable, target, why)
            .with_hint("Name another file system: /proc/filesystems lists what is there."));
    }
    tool(spec, target).map(drop)
}

/// What the verdict considers besides the location.
fn known(allocation_unit_bytes: Option<u64>, stripe: Option<Stripe>) -> VolumeFacts {
    VolumeFacts {
        allocation_unit_bytes,
        stripe_unit_bytes: stripe.map(|stripe| stripe.unit_bytes),
    }
}

/// Offset of a partition on its disk; 0 for whole devices.
fn start_on_disk(device: &BlockDevice) -> u64 {
    device
        .partition
        .as_ref()
        .map_or(0, |place| place.start_bytes)
}

/// Whether its start is not a multiple of the disk's preferred unit: its stripe unit, or its
/// physical sector.
fn is_misaligned(device: &BlockDevice) -> bool {
    let queue = &device.queue;
    let least = queue.minimum_io_bytes.unwrap_or(1);
    let sector = queue.physical_sector_bytes.map_or(1, u64::from);
    !start_on_disk(device).is_multiple_of(least.max(sector).max(1))
}

/// Partitions of a whole device, according to the kernel or a table that it does not show. Inside a
/// partition a table is stale.
fn has_partitions(device: &Device, present: &Present) -> Option<String> {
    let listed = if device.is_partition() {
        0
    } else {
        present.partitions.len()
    };
    let count = System::live().partitions(device.number).len().max(listed);
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| {
        format!("it has a partition table with {count} partition{plural}; format one of them")
    })
}

/// The program to run.
fn tool(spec: &FormatOptions, target: &str) -> Result<PathBuf> {
    let (names, package) = spec.file_system.tools();
    let what = format!("to make {}", spec.file_system.name());
    tools::find(names, package, &what, target)
}

/// What this machine's kernel can mount.
fn kernel() -> Kernel {
    let release = rustix::system::uname();
    let sizes = std::fs::read_to_string("/sys/fs/btrfs/features/supported_sectorsizes");
    Kernel {
        page_bytes: rustix::param::page_size() as u64,
        release: parse_release(&release.release().to_string_lossy()),
        btrfs_sectors: sizes
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect(),
    }
}

/// `6.12.9-amd64` as 6 and 12; 0, the oldest, if unreadable.
fn parse_release(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .map(|word| word.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

pub fn execute(plan: &FormatPlan, destroy: &Destroy<'_>) -> Result<FormatReport> {
    let device = Device::find(&plan.device.path)?;
    let claim = device.claim_to_destroy(destroy, Access::Read)?;
    // This one stays open until the end: device and number are pinned.
    let pinned = device.open()?;
    let disk = OpenDisk {
        file: claim
            .file()
            .try_clone()
            .map_err(|os| failed(&device.target, "cannot be read", os))?,
        size_bytes: plan.geometry.size_bytes,
    };
    let present = Present::of(&disk, &plan.geometry)
        .map_err(|os| failed(&device.target, "cannot be read", os))?;
    let now = facts(&device, &device.geometry()?);
    if present != plan.present || now != plan.device {
        return Err(Error::new(
            ErrorKind::Refused,
            &device.target,
            "has changed since the plan was made",
        )
        .with_hint("Run the command again to see the new plan."));
    }
    if let Some(reason) = has_partitions(&device, &present) {
        return Err(device.refusal(&reason));
    }
    // Otherwise it would be taken for its former contents, or for two things at once.
    let leaves_all = plan.file_system == FileSystemKind::Ntfs;
    let marks = stale_signatures::mkfs_leftover(&disk, &plan.geometry, leaves_all)
        .map_err(|os| failed(&device.target, "cannot be read", os))?;
    if !marks.is_empty() {
        let mut writable = OpenDisk {
            file: device.open_claimed(&claim)?,
            size_bytes: plan.geometry.size_bytes,
        };
        write::write_in_order(&mut writable, &marks, &device.target)?;
    }
    // A tool's own claim would fail while ours lasts.
    drop(disk);
    let claim = (plan.file_system == FileSystemKind::Ntfs).then_some(claim);
    run(plan, &device, &pinned)?;
    drop(claim);
    let mut disk = OpenDisk {
        file: pinned,
        size_bytes: plan.geometry.size_bytes,
    };
    let header = read_back(plan, &device, &mut disk)?;
    Ok(FormatReport {
        device: plan.device.clone(),
        uuid: header.uuid.clone(),
        allocation_unit_bytes: header.allocation_unit_bytes,
        stripe_unit_bytes: header.stripe_unit_bytes,
        stripe_width_bytes: header.stripe_width_bytes,
        file_system: plan.file_system,
        offset_bytes: plan.offset_bytes,
        offset_disk: plan.offset_disk.clone(),
        judgement: plan::judgement(
            &device.facts,
            0,
            known(header.allocation_unit_bytes, plan.stripe),
        ),
    })
}

/// Runs mkfs on an open device.
fn run(plan: &FormatPlan, device: &Device, pinned: &File) -> Result<()> {
    let call = tools::Call {
        program: &plan.program,
        arguments: &plan.arguments,
        devices: &[(pinned, plan.device.path.as_path())],
        target: &device.target,
    };
    tools::run(&call)
}

/// Compares the superblock with the request.
fn read_back(plan: &FormatPlan, device: &Device, disk: &mut OpenDisk) -> Result<FileSystemHeader> {
    disk.flush()
        .map_err(|os| failed(&device.target, "cannot be flushed", os))?;
    let found = superblocks::read(&mut medium(disk))
        .map_err(|os| failed(&device.target, "cannot be read back", os))?;
    let unverified = |what: String| {
        Err(
            Error::new(ErrorKind::Unverified, &device.target, what).with_hint(format!(
                "`{}` succeeded, but the device disagrees: do not put data on it; compare \
             with `blkid --probe {}`.",
                plan.command_line(),
                plan.device.path.as_text()
            )),
        )
    };
    let Some(header) = found.as_ref().and_then(|found| found.file_system()) else {
        return unverified("holds no file system that could be read back".to_owned());
    };
    if header.kind != plan.file_system.name() {
        return unverified(format!(
            "holds {} instead of {}",
            header.kind,
            plan.file_system.name()
        ));
    }
    if header.allocation_unit_bytes != Some(plan.allocation_unit_bytes) {
        return unverified(format!(
            "has an allocation unit of {} instead of {}",
            header.allocation_unit_bytes.map_or_else(
                || "unknown size".to_owned(),
                |unit| ByteSize(unit).to_string()
            ),
            ByteSize(plan.allocation_unit_bytes)
        ));
    }
    if let Some((unit, width)) = plan.stripe_bytes
        && (header.stripe_unit_bytes, header.stripe_width_bytes) != (Some(unit), Some(width))
    {
        return unverified("does not know the stripe geometry that was asked for".to_owned());
    }
    Ok(header.clone())
}

#[cfg(test)]
mod tests {
    use super::parse_release;

    #[test]
    fn releases_are_read_as_distributions_write_them() {
        for (text, want) in [
            ("6.12.9-amd64", (6, 12)),
            ("6.18.44-fc-v657", (6, 18)),
            ("5.15", (5, 15)),
            ("7-rc1", (7, 0)),
            ("odd", (0, 0)),
            ("", (0, 0)),
        ] {
            assert_eq!(parse_release(text), want, "{text}");
        }
    }
}
