//! Device mapper: what the segments of a device are on.
//!
//! From the kernel (`DM_TABLE_STATUS`, which needs root), otherwise from a captured
//! `dmsetup table`, otherwise from the device below if readable: LVM's metadata text or a LUKS
//! header.

use super::medium;
use super::tree::Tree;
use crate::storage::BlockDevice;
use std::path::Path;
use stripewise_disk_formats::mapper_table::{self, Segment, SegmentPart};
use stripewise_disk_formats::superblocks::{self, Found};
use stripewise_units::DeviceNumber;

/// Location of `dmsetup table` output in a captured tree.
const CAPTURED: &str = "/run/stripewise/dmsetup-table";

/// The segments of a device, or why they are unknown.
pub fn segments(
    tree: Tree,
    directory: &Path,
    device: &BlockDevice,
) -> Result<Vec<Segment>, String> {
    let name = device.mapper_name.as_deref().unwrap_or_default();
    let resolve = |path: &str| super::numbers::number_of(tree, path);
    let why = if tree.is_live() {
        match super::mapper_ioctl::table(name) {
            Ok(lines) => return mapper_table::parse(&lines, &resolve),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                "only root may ask the kernel: run as root, or look at `dmsetup table`".to_owned()
            }
            Err(error) => format!("the kernel did not answer: {error}"),
        }
    } else {
        let text = tree.text(CAPTURED).unwrap_or_default();
        let lines = mapper_table::lines_of(&text, name);
        if !lines.is_empty() {
            return mapper_table::parse(&lines, &resolve);
        }
        "the captured tree has no table of it".to_owned()
    };
    by_content(tree, directory, device).ok_or(why)
}

/// From the devices below: their LVM metadata or LUKS header.
fn by_content(tree: Tree, directory: &Path, device: &BlockDevice) -> Option<Vec<Segment>> {
    let uuid = tree.word(directory.join("dm/uuid"))?;
    let found: Vec<(DeviceNumber, Found)> = device
        .below
        .iter()
        .filter_map(|below| {
            let mut medium = medium::open(tree, below).ok()?;
            Some((below.number, superblocks::read(&mut medium).ok()??))
        })
        .collect();
    if uuid.starts_with("CRYPT-") {
        let (number, Found::Encrypted(header)) = found.first()? else {
            return None;
        };
        return Some(vec![Segment {
            start_bytes: 0,
            size_bytes: device.size_bytes,
            kind: "crypt".to_owned(),
            parts: vec![SegmentPart {
                number: *number,
                offset_bytes: header.data_offset_bytes?,
            }],
            ..Segment::default()
        }]);
    }
    lvm(uuid.strip_prefix("LVM-")?, &found)
}

/// The segments of the logical volume with this uuid (group's id, then its own).
fn lvm(uuid: &str, found: &[(DeviceNumber, Found)]) -> Option<Vec<Segment>> {
    let volumes: Vec<(DeviceNumber, &superblocks::lvm::PhysicalVolume)> = found
        .iter()
        .filter_map(|(number, found)| match found {
            Found::PhysicalVolume(volume) => Some((*number, volume)),
            _ => None,
        })
        .collect();
    let group = volumes
        .iter()
        .find_map(|(_, volume)| volume.group.as_ref())?;
    let logical = group
        .logical
        .iter()
        .find(|logical| uuid.strip_prefix(&group.id) == Some(&logical.id))?;
    logical
        .segments
        .iter()
        .map(|segment| {
            let parts = segment
                .stripes
                .iter()
                .map(|(name, offset)| {
                    let (_, id, start) = group.physical.iter().find(|(own, ..)| own == name)?;
                    let (number, _) = volumes.iter().find(|(_, volume)| volume.id == *id)?;
                    Some(SegmentPart {
                        number: *number,
                        offset_bytes: start.checked_add(*offset)?,
                    })
                })
                .collect::<Option<Vec<_>>>()?;
            let striped = parts.len() > 1;
            (segment.kind == "striped").then(|| Segment {
                start_bytes: segment.start_bytes,
                size_bytes: segment.size_bytes,
                kind: if striped { "striped" } else { "linear" }.to_owned(),
                stripe_unit_bytes: segment.stripe_unit_bytes.filter(|_| striped),
                parts,
                ..Segment::default()
            })
        })
        .collect()
}
