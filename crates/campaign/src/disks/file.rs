//! The location of a plain file: its volume, and its extents there.

use serde::Serialize;
use std::path::Path;
use stripewise_conductor::failure::Outcome;
use stripewise_disk_inspect::{Inspect, System, placement_at};
use stripewise_units::NameText;

/// Maximum number of extents shown; a fragmented file has thousands.
const EXTENTS_SHOWN: usize = 16;

/// A file's place.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FilePlace {
    /// The file.
    pub path: String,
    /// Where its file system is mounted.
    pub mount_point: Option<String>,
    /// The device under its file system.
    pub device: Option<String>,
    /// All devices under its file system.
    #[serde(skip)]
    pub devices: Vec<String>,
    /// The first extents.
    pub extents: Vec<FileExtent>,
    /// How many there are.
    pub extents_count: u64,
    /// There are more than were looked at.
    pub extents_partial: bool,
}

/// One extent.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FileExtent {
    /// In the file.
    pub start_bytes: u64,
    /// On the device under its file system; absent where that is not known.
    pub device_bytes: Option<u64>,
    /// How long it is.
    pub length_bytes: u64,
}

impl FilePlace {
    pub(super) fn of(system: &System, path: &Path) -> Outcome<Self> {
        let storage = system.storage_of_path(path)?;
        let placement = path.is_file().then(|| placement_at(path)).flatten();
        let extents = placement
            .as_ref()
            .map_or(&[][..], |placement| &placement.extents);
        Ok(FilePlace {
            path: path.as_text(),
            mount_point: storage
                .file_system
                .as_ref()
                .map(|one| one.mount_point.as_text()),
            device: storage.nearest().map(|device| device.name.clone()),
            devices: storage.devices.iter().map(|one| one.name.clone()).collect(),
            extents_count: extents.len() as u64,
            extents_partial: placement
                .as_ref()
                .is_some_and(|placement| !placement.complete),
            extents: extents
                .iter()
                .take(EXTENTS_SHOWN)
                .map(|extent| FileExtent {
                    start_bytes: extent.logical_bytes,
                    device_bytes: extent.physical_bytes,
                    length_bytes: extent.length_bytes,
                })
                .collect(),
        })
    }
}
