//! The kernel's view of a new table: making it show the partitions, and verifying that it does.
//!
//! `BLKRRPART` makes it read the table itself. If that is not enough (loop devices without
//! `--partscan`, kernels without that type of table), `BLKPG` passes it each partition. sysfs is
//! compared in either case.

use super::device::Device;
use super::ioctl;
use crate::current_layout::PresentPartition;
use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fs::File;
use std::io;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::DeviceNumber;
use stripewise_units::NameText;

/// How the kernel learned of the partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// It read the table itself.
    Reread,
    /// It was given each of them.
    Told,
}

/// Whether the kernel can show partitions on a device at all: zram and device mapper cannot.
pub(super) fn can_show(number: DeviceNumber) -> bool {
    let text = std::fs::read_to_string(format!("/sys/dev/block/{number}/ext_range"));
    // Missing in some old kernels; then the attempt shows it.
    text.map_or(true, |text| text.trim() != "1")
}

/// Has the kernel show exactly these partitions.
///
/// # Errors
/// [`ErrorKind::Unverified`] if it ultimately does not: the table is on the disk and will be seen
/// after the next boot at the latest.
pub(super) fn show(disk: &File, device: &Device, want: &[PresentPartition]) -> Result<Shown> {
    let sector = u64::from(device.facts.queue.logical_sector_bytes.unwrap_or(512));
    let reread = ioctl::reread_table(disk);
    if reread.is_ok() && differs(device.number, want).is_none() {
        return Ok(Shown::Reread);
    }
    let reported = notify(disk, device.number, want, sector);
    let Some(problem) = differs(device.number, want) else {
        return Ok(Shown::Told);
    };
    let mut error = Error::new(
        ErrorKind::Unverified,
        &device.target,
        format!("the table is written, but the kernel does not show it: {problem}"),
    )
    .with_hint(format!(
        "Close whatever has a partition of it open and run `partprobe {}`, or boot; until then \
         do not use its partitions.",
        device.path.as_text()
    ));
    error.os = reported.err().or(reread.err());
    Err(error)
}

/// Removes the partitions that the kernel shows and adds the new ones.
fn notify(
    disk: &File,
    number: DeviceNumber,
    want: &[PresentPartition],
    sector: u64,
) -> io::Result<()> {
    for partition in System::live().partitions(number) {
        if let Some(place) = &partition.partition {
            ioctl::delete_partition(disk, place.index)?;
        }
    }
    for partition in want {
        // The kernel shows only the first sector of an extended partition, so that the logical ones
        // cannot be overwritten through it.
        let length = if partition.is_extended {
            sector
        } else {
            partition.size_bytes
        };
        ioctl::add_partition(disk, partition.number, partition.start_bytes, length)?;
    }
    Ok(())
}

/// Differences between sysfs and the expected partitions; `None` if there are none.
fn differs(number: DeviceNumber, want: &[PresentPartition]) -> Option<String> {
    let shown = System::live().partitions(number);
    let found: Vec<(u32, u64, u64)> = shown
        .iter()
        .filter_map(|one| {
            let place = one.partition.as_ref()?;
            Some((place.index, place.start_bytes, one.size_bytes))
        })
        .collect();
    for one in want {
        let is_it = |&&(index, start, size): &&(u32, u64, u64)| {
            index == one.number
                && start == one.start_bytes
                && (size == one.size_bytes || one.is_extended)
        };
        if !found.iter().any(|shown| is_it(&shown)) {
            return Some(format!("partition {} is missing or elsewhere", one.number));
        }
    }
    (found.len() != want.len()).then(|| {
        format!(
            "it shows {} partitions instead of {}",
            found.len(),
            want.len()
        )
    })
}

/// The kernel's name of a partition.
pub(super) fn name_of(disk: DeviceNumber, index: u32) -> Option<String> {
    let shown = System::live().partitions(disk);
    shown
        .into_iter()
        .find(|one| {
            one.partition
                .as_ref()
                .is_some_and(|place| place.index == index)
        })
        .map(|one| one.name.replace('!', "/"))
}
