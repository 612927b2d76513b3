//! The files on the observed devices, and their positions: those that processes have open, and
//! those below a named directory.

use crate::steps::observation::files::ExtentMap;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use stripewise_disk_inspect::{Inspect, System, placement_at};
use stripewise_units::{DeviceNumber, NameText};

/// Maximum number of files whose extents are queried.
const FILES_MAX: usize = 4_096;
/// Maximum number of directory entries examined.
const ENTRIES_MAX: usize = 100_000;
/// File systems that report positions in bytes of their device.
const PLAIN: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "f2fs"];

/// Finds files.
pub struct KnownFiles {
    system: System,
    /// Start of each directory's file system on a device that carries out operations;
    /// `None` if unknown.
    places: HashMap<PathBuf, Option<(DeviceNumber, u64)>>,
    /// Directory below which all files are examined.
    directory: Option<PathBuf>,
}

impl KnownFiles {
    /// Files of processes, and those below `target` if that is a directory.
    pub fn new(target: Option<&str>) -> KnownFiles {
        let directory = target.map(stripewise_units::path_of);
        KnownFiles {
            system: System::live(),
            places: HashMap::new(),
            directory: directory.filter(|path| path.is_dir()),
        }
    }

    /// Adds the files of these processes.
    pub fn learn(&mut self, processes: &BTreeSet<i32>, map: &mut ExtentMap) {
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        for &process in processes {
            files.extend(self.system.open_files(process));
        }
        if let Some(directory) = self.directory.clone() {
            walk(&directory, &mut files);
        }
        for path in files.iter().take(FILES_MAX) {
            self.add(path, map);
        }
    }

    fn add(&mut self, path: &Path, map: &mut ExtentMap) {
        let Some((device, start)) = path.parent().and_then(|parent| self.place_of(parent)) else {
            return;
        };
        let Some(placement) = placement_at(path) else {
            return;
        };
        let extents = placement.extents.iter().filter_map(|extent| {
            let at = start.checked_add(extent.physical_bytes?)?;
            Some((at, extent.length_bytes))
        });
        map.add(device, &path.as_text(), &extents.collect::<Vec<_>>());
    }

    /// The device that carries out the operations of a directory's file system, and the start of
    /// the file system on it.
    fn place_of(&mut self, directory: &Path) -> Option<(DeviceNumber, u64)> {
        if let Some(known) = self.places.get(directory) {
            return *known;
        }
        let found = self.find(directory);
        self.places.insert(directory.to_owned(), found);
        found
    }

    fn find(&self, directory: &Path) -> Option<(DeviceNumber, u64)> {
        let storage = self.system.storage_of_path(directory).ok()?;
        let kind = storage.file_system.as_ref()?.kind.as_str();
        let [device] = storage.devices.as_slice() else {
            return None;
        };
        if !PLAIN.contains(&kind) {
            return None;
        }
        match &device.partition {
            Some(partition) => Some((device.below.first()?.number, partition.start_bytes)),
            // Positions within md and device-mapper layers are not traced.
            None if device.array.is_some() || device.mapper_name.is_some() => None,
            None => Some((device.number, 0)),
        }
    }
}

/// The regular files below a directory, without following links.
fn walk(top: &Path, files: &mut BTreeSet<PathBuf>) {
    let mut directories = vec![top.to_owned()];
    let mut left = ENTRIES_MAX;
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            if left == 0 || files.len() >= FILES_MAX {
                return;
            }
            left -= 1;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    files.insert(entry.path());
                }
                _ => {}
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "../../../../../tests/support/locks.rs"]
mod locks;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::locks::locks_on;
    use super::*;
    use stripewise_store::{Owner, Store};

    #[test]
    fn a_store_that_is_open_below_the_directory_keeps_its_locks() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("store.db");
        let store = Store::open(&path, Owner::default()).expect("a store");
        let index = directory
            .path()
            .canonicalize()
            .expect("a path")
            .join("store.db-shm");
        let held = locks_on(&index);
        assert!(held > 0, "an open store has a lock on the index of its log");
        let mut known = KnownFiles::new(directory.path().to_str());
        // Independent of this file system: pretend that its start is known.
        let place = (DeviceNumber { major: 8, minor: 0 }, 0);
        known
            .places
            .insert(directory.path().to_owned(), Some(place));
        known.learn(&BTreeSet::new(), &mut ExtentMap::default());
        assert_eq!(locks_on(&index), held);
        drop(store);
    }
}
