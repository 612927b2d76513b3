//! The answers of a single volume.

use super::VolumeAnswers;
use stripewise_disk_formats::ioctl::{self, DiskExtent, NtfsVolume};

/// The name of a volume: its drive letter, otherwise its permanent name.
pub fn name(volume: &VolumeAnswers) -> String {
    let letter = volume.mount_points.iter().find_map(|point| {
        let letter = point.strip_suffix('\\')?;
        (letter.len() == 2 && letter.ends_with(':')).then(|| letter.to_ascii_uppercase())
    });
    letter
        .or_else(|| (!volume.guid.is_empty()).then(|| volume.guid.clone()))
        .or_else(|| volume.mount_points.first().cloned())
        .unwrap_or_default()
}

/// Its extents; empty if unknown or invalid.
pub fn extents(volume: &VolumeAnswers) -> Vec<DiskExtent> {
    let bytes = volume.extents.as_deref().unwrap_or_default();
    ioctl::disk_extents(bytes).unwrap_or_default()
}

/// The disks it is on.
pub fn disks_of(volume: &VolumeAnswers) -> Vec<u32> {
    extents(volume).iter().map(|extent| extent.disk).collect()
}

/// NTFS's volume data.
pub fn ntfs(volume: &VolumeAnswers) -> Option<NtfsVolume> {
    ioctl::ntfs_volume(volume.ntfs.as_deref().ok()?).ok()
}
