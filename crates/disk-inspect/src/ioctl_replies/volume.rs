//! What one volume answered, by itself.

use super::VolumeAnswers;
use stripewise_disk_formats::ioctl::{self, DiskExtent, NtfsVolume};

/// How a volume is called: by its drive letter, else by its name for good.
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

/// Its extents; none where they were not told or make no sense.
pub fn extents(volume: &VolumeAnswers) -> Vec<DiskExtent> {
    let bytes = volume.extents.as_deref().unwrap_or_default();
    ioctl::disk_extents(bytes).unwrap_or_default()
}

/// The disks that it lies on.
pub fn disks_of(volume: &VolumeAnswers) -> Vec<u32> {
    extents(volume).iter().map(|extent| extent.disk).collect()
}

/// What NTFS tells.
pub fn ntfs(volume: &VolumeAnswers) -> Option<NtfsVolume> {
    ioctl::ntfs_volume(volume.ntfs.as_deref().ok()?).ok()
}
