//! LVM2 physical volumes: label, start of extents, and the logical volumes from the metadata text
//! (lvm2 `lib/format_text/layout.h`).

use super::lvm_text::{Section, Value, parse};
use crate::medium::{Bytes, le, text};
use serde::Serialize;

const SECTOR_BYTES: u64 = 512;
/// Largest metadata text read.
const TEXT_BYTES_MAX: u64 = 4 << 20;
/// Most data and metadata areas of one volume; real volumes have up to two of each.
const AREAS_MAX: usize = 16;
/// Most logical volumes, segments and stripes in total; far above any real use.
const PARTS_MAX: usize = 65_536;

/// A physical volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PhysicalVolume {
    /// Its id without dashes, as in device-mapper names.
    pub id: String,
    /// Where its first extent starts (`pe_start`).
    pub data_offset_bytes: Option<u64>,
    /// The volume group, if this physical volume has its metadata.
    pub group: Option<VolumeGroup>,
}

/// A volume group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct VolumeGroup {
    /// Name.
    pub name: String,
    /// Id without dashes.
    pub id: String,
    /// Bytes of one extent.
    pub extent_bytes: u64,
    /// Physical volumes by their names in the text (`pv0`): id without dashes,
    /// and `pe_start` in bytes.
    pub physical: Vec<(String, String, u64)>,
    /// Logical volumes.
    pub logical: Vec<LogicalVolume>,
}

/// A logical volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LogicalVolume {
    /// Name.
    pub name: String,
    /// Id without dashes.
    pub id: String,
    /// Visible to users; parts of mirrors and pools are not.
    pub visible: bool,
    /// Its segments in order.
    pub segments: Vec<Segment>,
}

/// A piece of a logical volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Segment {
    /// First byte in the logical volume.
    pub start_bytes: u64,
    /// Length.
    pub size_bytes: u64,
    /// `striped` (also linear ones, with one stripe), `raid1`, `thin-pool`...
    pub kind: String,
    /// Stripe unit, for several stripes.
    pub stripe_unit_bytes: Option<u64>,
    /// Name of the physical volume (or hidden logical one), and the first byte on it, counted from
    /// its first extent.
    pub stripes: Vec<(String, u64)>,
}

/// The physical volume on a device.
pub fn read(device: &mut dyn Bytes) -> Option<PhysicalVolume> {
    // The label is in one of the first four sectors, usually the second.
    (0..4u64).find_map(|sector| label(device, sector))
}

fn label(device: &mut dyn Bytes, sector: u64) -> Option<PhysicalVolume> {
    let head = device.piece(sector * SECTOR_BYTES, 512).ok()?;
    if &head[..8] != b"LABELONE" || &head[24..32] != b"LVM2 001" || le::u64(&head, 8) != sector {
        return None;
    }
    let header = le::u32(&head, 20) as usize;
    let id = text(head.get(header..header.checked_add(32)?)?)?;
    let (data, next) = areas(&head, header + 40);
    let (metadata, _) = areas(&head, next);
    let data_offset_bytes = data.first().map(|(offset, _)| *offset);
    let group = metadata
        .iter()
        .find_map(|(offset, size)| group(&metadata_text(device, *offset, *size)?));
    Some(PhysicalVolume {
        id,
        data_offset_bytes,
        group,
    })
}

/// A zero-terminated list of areas, and the offset after it.
fn areas(head: &[u8], mut at: usize) -> (Vec<(u64, u64)>, usize) {
    let mut found = Vec::new();
    for _ in 0..AREAS_MAX {
        let (offset, size) = (le::u64(head, at), le::u64(head, at + 8));
        at += 16;
        if offset == 0 {
            break;
        }
        found.push((offset, size));
    }
    (found, at)
}

/// The current text of a metadata area, a ring buffer after its header.
fn metadata_text(device: &mut dyn Bytes, area: u64, size: u64) -> Option<String> {
    let head = device.piece(area, 512).ok()?;
    if &head[4..20] != b"\x20LVM2\x20x[5A%r0N*>" {
        return None;
    }
    let (start, length) = (le::u64(&head, 40), le::u64(&head, 48));
    if start < SECTOR_BYTES || start >= size || length > TEXT_BYTES_MAX || length > size {
        return None;
    }
    let straight = length.min(size - start);
    let mut bytes = device
        .piece(area.checked_add(start)?, usize::try_from(straight).ok()?)
        .ok()?;
    let rest = usize::try_from(length - straight).ok()?;
    bytes.extend(device.piece(area.checked_add(SECTOR_BYTES)?, rest).ok()?);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The volume group in a metadata text.
pub fn group(text: &str) -> Option<VolumeGroup> {
    let root = parse(text)?;
    let (name, group) = root.sections().find(|(_, group)| {
        group.number("extent_size").is_some() && group.section("physical_volumes").is_some()
    })?;
    let extent_bytes = group.number("extent_size")?.checked_mul(SECTOR_BYTES)?;
    let physical = group
        .section("physical_volumes")?
        .sections()
        .filter_map(|(name, volume)| {
            let start = volume.number("pe_start")?.checked_mul(SECTOR_BYTES)?;
            Some((name.to_owned(), id(volume), start))
        })
        .take(PARTS_MAX)
        .collect();
    let mut left = PARTS_MAX;
    let logical = group
        .section("logical_volumes")
        .into_iter()
        .flat_map(Section::sections)
        .map_while(|(name, volume)| {
            left = left.checked_sub(1)?;
            Some(LogicalVolume {
                name: name.to_owned(),
                id: id(volume),
                visible: volume.texts("status").any(|word| word == "VISIBLE"),
                segments: segments(volume, extent_bytes, &mut left),
            })
        })
        .collect();
    Some(VolumeGroup {
        name: name.to_owned(),
        id: id(group),
        extent_bytes,
        physical,
        logical,
    })
}

fn id(section: &Section) -> String {
    section.text("id").unwrap_or_default().replace('-', "")
}

fn segments(volume: &Section, extent_bytes: u64, left: &mut usize) -> Vec<Segment> {
    volume
        .sections()
        .filter(|(name, _)| name.starts_with("segment"))
        .map_while(|(_, one)| {
            *left = left.checked_sub(1)?;
            Some(one)
        })
        .filter_map(|one| {
            let extents = |key: &str| one.number(key)?.checked_mul(extent_bytes);
            Some(Segment {
                start_bytes: extents("start_extent")?,
                size_bytes: extents("extent_count")?,
                kind: one.text("type")?.to_owned(),
                stripe_unit_bytes: one
                    .number("stripe_size")
                    .and_then(|sectors| sectors.checked_mul(SECTOR_BYTES))
                    .filter(|bytes| *bytes > 0),
                stripes: stripes(one, extent_bytes),
            })
        })
        .collect()
}

/// `stripes = [ "pv0", 0, "pv1", 0 ]`: pairs of a name and an extent.
fn stripes(segment: &Section, extent_bytes: u64) -> Vec<(String, u64)> {
    segment
        .list("stripes")
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [Value::Text(name), Value::Number(extent)] => {
                Some((name.clone(), extent.checked_mul(extent_bytes)?))
            }
            _ => None,
        })
        .collect()
}
