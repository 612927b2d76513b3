//! Identity of a device, and whether it has the marks of what was made on it.

use super::device::{Device, OpenDisk, failed};
use crate::disk::medium;
use crate::stale_signatures;
use crate::{Identifiers, Identity, Result};
use std::path::Path;
use stripewise_disk_formats::superblocks::{self, Found};
use stripewise_units::NameText;

/// Identity of a device, to check later whether it is the same.
///
/// # Errors
/// `NotFound`, `Denied` or `Unusable`.
pub fn identify(path: &Path) -> Result<Identity> {
    let device = Device::find(path)?;
    let geometry = device.geometry()?;
    let facts = &device.facts;
    Ok(Identity {
        name: device.name.clone(),
        model: facts.model.clone(),
        serial: facts.serial.clone(),
        size_bytes: geometry.size_bytes,
        logical_sector_bytes: geometry.logical_sector_bytes,
        start_bytes: facts.partition.as_ref().map(|place| place.start_bytes),
        backing: (facts.looped.as_ref()).map(|looped| looped.backing_file.as_text()),
    })
}

/// Whether a device has one of these marks: an md superblock with this UUID, or a GPT with the GUID
/// of one of these identifiers. To be checked before removing anything.
pub fn has_mark(path: &Path, array_uuid: [u8; 16], ids: &[Identifiers]) -> Result<bool> {
    let device = Device::find(path)?;
    let geometry = device.geometry()?;
    let disk = OpenDisk {
        file: device.open()?,
        size_bytes: geometry.size_bytes,
    };
    let unreadable = |os| failed(&device.target, "cannot be read", os);
    if array_of(&disk).map_err(unreadable)? == Some(array_uuid) {
        return Ok(true);
    }
    let guids = stale_signatures::gpt_guids(&disk, &geometry).map_err(unreadable)?;
    Ok(ids.iter().any(|one| guids.contains(&one.disk_guid())))
}

/// UUID of the md array that a device is a member of, by its superblock.
pub(super) fn array_of(disk: &OpenDisk) -> std::io::Result<Option<[u8; 16]>> {
    let found = superblocks::read(&mut medium(disk))?;
    let Some(Found::Member(member)) = found else {
        return Ok(None);
    };
    Ok(member.array_uuid.as_deref().and_then(bytes_of))
}

/// 16 bytes from a text with 32 digits, ignoring everything else.
fn bytes_of(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    let mut bytes = [0; 16];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn identifiers_are_read_however_they_are_grouped() {
        let want = std::array::from_fn(|index| index as u8 * 17);
        for text in [
            "00112233:44556677:8899aabb:ccddeeff",
            "00112233-4455-6677-8899-AABBCCDDEEFF",
        ] {
            assert_eq!(bytes_of(text), Some(want), "{text}");
        }
        assert_eq!(bytes_of("0011"), None);
    }
}
