//! The files at given positions of a device: queries the extents of the files of all file systems
//! mounted from it, one after the other.
//!
//! Queries only file systems that report positions in bytes of their device, and only for
//! [`TIME_NS_MAX`]: a position without a name is not known to be free.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_disk_inspect::survey::{Request, Survey, Volume};
use stripewise_disk_inspect::{Inspect, System, placement_at};
use stripewise_units::NameText;

/// Time limit of the search.
const TIME_NS_MAX: u64 = 30_000_000_000;
/// Maximum number of directory entries examined.
const ENTRIES_MAX: usize = 500_000;
const PLAIN: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "f2fs", "ntfs"];

/// For each range of a device - first byte and length - the file at that position.
pub fn files_at(context: &Context, device: &str, places: &[(u64, u64)]) -> Vec<Option<String>> {
    let mut found = vec![None; places.len()];
    let request = Request {
        device: Some(device.to_owned()),
        given: Vec::new(),
    };
    let Ok(survey) = System::live().survey(&request) else {
        return found;
    };
    let mounts = mount_points();
    let mut search = Search {
        context,
        until_ns: context.now_ns() + TIME_NS_MAX,
        left: ENTRIES_MAX,
        mounts: &mounts,
    };
    for (volume, start_bytes) in volumes(&survey, device) {
        let Some(top) = volume.mount_points.first() else {
            continue;
        };
        // Position within the volume.
        let inside = |at: u64| {
            at.checked_sub(start_bytes)
                .filter(|at| *at < volume.size_bytes)
        };
        let wanted: Vec<Option<(u64, u64)>> = places
            .iter()
            .map(|(at, length)| Some((inside(*at)?, *length)))
            .collect();
        if wanted.iter().any(Option::is_some) {
            search.walk(top, &wanted, &mut found);
        }
    }
    found
}

/// Mounted volumes of a device to be searched, and the start of each on it.
fn volumes<'s>(survey: &'s Survey, device: &'s str) -> impl Iterator<Item = (&'s Volume, u64)> {
    let plain = |volume: &&Volume| {
        let kind = volume.file_system.as_deref().unwrap_or_default();
        PLAIN.contains(&kind.to_ascii_lowercase().as_str())
    };
    survey
        .volumes
        .iter()
        .filter(plain)
        .filter_map(move |volume| {
            if volume.devices.iter().any(|own| own == device) {
                return Some((volume, 0));
            }
            match &volume.subject.places[..] {
                [place] if place.disk == device => Some((volume, place.offset_bytes)),
                _ => None,
            }
        })
}

/// All mount points.
fn mount_points() -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = ["/proc", "/sys", "/dev", "/run"]
        .into_iter()
        .map(PathBuf::from)
        .collect();
    if let Ok(survey) = System::live().survey(&Request::default()) {
        all.extend(
            survey
                .volumes
                .into_iter()
                .flat_map(|volume| volume.mount_points),
        );
    }
    all
}

struct Search<'a> {
    context: &'a Context,
    until_ns: u64,
    left: usize,
    mounts: &'a BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.context.signal().is_some() || self.context.now_ns() > self.until_ns
    }

    fn walk(&mut self, top: &Path, wanted: &[Option<(u64, u64)>], found: &mut [Option<String>]) {
        let mut directories = vec![top.to_owned()];
        while let Some(directory) = directories.pop() {
            let Ok(entries) = std::fs::read_dir(&directory) else {
                continue;
            };
            for entry in entries.flatten() {
                if self.is_over() {
                    return;
                }
                self.left -= 1;
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !self.mounts.contains(&path) => {
                        directories.push(path);
                    }
                    Ok(kind) if kind.is_file() => look(&path, wanted, found),
                    _ => {}
                }
            }
        }
    }
}

/// Names the ranges that a file covers.
fn look(path: &Path, wanted: &[Option<(u64, u64)>], found: &mut [Option<String>]) {
    let Some(placement) = placement_at(path) else {
        return;
    };
    for (place, name) in wanted.iter().zip(found) {
        let Some((at, length)) = place else {
            continue;
        };
        let covers = placement.extents.iter().any(|extent| {
            let overlaps = |physical: u64| {
                physical < at + length && *at < physical.saturating_add(extent.length_bytes)
            };
            extent.physical_bytes.is_some_and(overlaps)
        });
        if covers && name.is_none() {
            *name = Some(path.as_text());
        }
    }
}
