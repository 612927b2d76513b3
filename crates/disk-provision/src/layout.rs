//! Where a partition is placed: arithmetic on a spec, no device needed.
//!
//! The partition starts at the first multiple of the alignment that the table leaves free. That is
//! the alignment itself (63 sectors start at 63 sectors) unless it is inside the table: a GPT takes
//! the first 34 sectors of 512 bytes or 6 of 4,096. Nothing is ever rounded: what is not possible
//! with the disk's sectors is refused, as rounding 31.5K to 32K would silently change the
//! experiment.

use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use stripewise_units::{ByteSize, format_bytes};

/// Entries of a GPT, the usual number, and bytes of each.
pub(crate) const GPT_ENTRIES: usize = 128;
pub(crate) const GPT_ENTRY_BYTES: usize = 128;
/// An MBR uses 32-bit sector numbers.
const MBR_SECTORS_MAX: u64 = 1 << 32;
/// Partition sizes that are not given are multiples of this: a page.
const GRAIN_BYTES_MIN: u64 = 4096;

stripewise_units::named! {
    /// The two types of table that are written.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum TableKind {
        /// GUID partition table, with a backup at the end.
        #[default]
        Gpt = "GPT",
        /// Master boot record: up to 2 TiB (16 TiB with sectors of 4 KiB).
        Mbr = "MBR",
    }
}

/// Type of a partition: the value in its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// A Linux file system: MBR type 0x83, or its GUID.
    #[default]
    Linux,
    /// A basic data partition of Windows: MBR type 0x07, or its GUID.
    Windows,
}

/// The requested partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionOptions {
    /// The partition starts at a multiple of this many bytes.
    pub align_bytes: u64,
    /// Exactly this size; `None`: the rest of the disk.
    pub size_bytes: Option<u64>,
    /// Type of the table.
    pub table: TableKind,
    /// Type of the partition.
    pub purpose: Purpose,
    /// User-supplied stripe unit of the array below, bytes on one disk. It only affects the
    /// verdict.
    pub stripe_unit_bytes: Option<u64>,
}

/// Geometry of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Geometry {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Smallest addressable unit, in bytes.
    pub logical_sector_bytes: u32,
    /// Smallest unit that is written without reading first, in bytes.
    pub physical_sector_bytes: u32,
}

impl Geometry {
    /// Bytes of a logical sector.
    pub(crate) fn sector(&self) -> u64 {
        u64::from(self.logical_sector_bytes)
    }

    /// Whole logical sectors.
    pub(crate) fn sectors(&self) -> u64 {
        self.size_bytes / self.sector()
    }
}

/// The partition's location, in bytes from the start of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Layout {
    /// Type of the table.
    pub table: TableKind,
    /// Type of the partition.
    pub purpose: Purpose,
    /// Its first byte.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
}

/// A range of a disk, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first byte.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
}

/// A GPT with exactly these partitions.
///
/// # Errors
/// [`ErrorKind::Usage`] if one does not begin and end on a sector, is within the table or begins
/// before the end of the preceding one; or if there are none, or more than 128.
pub fn side_by_side(geometry: &Geometry, parts: &[Extent], device: &str) -> Result<Vec<Layout>> {
    let (mut free, end) = usable(geometry, TableKind::Gpt);
    let sector = geometry.sector();
    let fail = |what: String| {
        let hint = "Name a larger device, or ask for fewer or smaller parts.";
        Err(Error::new(ErrorKind::Usage, device, what).with_hint(hint))
    };
    if parts.is_empty() || parts.len() > GPT_ENTRIES {
        return fail(format!("cannot be divided into {} parts", parts.len()));
    }
    let mut layouts = Vec::with_capacity(parts.len());
    for part in parts {
        let whole = |bytes: u64| bytes.is_multiple_of(sector);
        let after = part.start_bytes.checked_add(part.size_bytes);
        let Some(after) = after.filter(|after| {
            part.size_bytes > 0
                && whole(part.start_bytes)
                && whole(part.size_bytes)
                && part.start_bytes >= free
                && *after <= end
        }) else {
            return fail(format!(
                "of {} has no room for a part of {} at {}",
                format_bytes(geometry.size_bytes),
                format_bytes(part.size_bytes),
                ByteSize(part.start_bytes)
            ));
        };
        free = after;
        layouts.push(Layout {
            table: TableKind::Gpt,
            purpose: Purpose::Linux,
            start_bytes: part.start_bytes,
            size_bytes: part.size_bytes,
        });
    }
    Ok(layouts)
}

/// The bytes left free by a table: start, and exclusive end.
fn usable(geometry: &Geometry, table: TableKind) -> (u64, u64) {
    let sector = geometry.sector();
    let entries = ((GPT_ENTRIES * GPT_ENTRY_BYTES) as u64).div_ceil(sector);
    let sectors = geometry.sectors();
    match table {
        TableKind::Mbr => (sector, sectors * sector),
        TableKind::Gpt => (
            (2 + entries) * sector,
            sectors.saturating_sub(entries + 1) * sector,
        ),
    }
}

/// Places the partition.
///
/// # Errors
/// [`ErrorKind::Usage`] if the alignment or size is not possible on this disk, with possible
/// alternatives.
pub fn layout(geometry: &Geometry, spec: &PartitionOptions, device: &str) -> Result<Layout> {
    let sector = geometry.sector();
    let fail = |what: String, hint: String| {
        Err(Error::new(ErrorKind::Usage, device, what).with_hint(hint))
    };
    if spec.align_bytes == 0 {
        return fail(
            "an alignment of 0 bytes is not valid".to_owned(),
            "Give one like `--align 1M`.".to_owned(),
        );
    }
    if !spec.align_bytes.is_multiple_of(sector) {
        return fail(
            impossible(spec.align_bytes, sector),
            neighbours(spec.align_bytes, sector),
        );
    }
    let (first, end) = usable(geometry, spec.table);
    let start_bytes = first.next_multiple_of(spec.align_bytes);
    let room = end.saturating_sub(start_bytes);
    let size_bytes = match spec.size_bytes {
        Some(size) if size == 0 || !size.is_multiple_of(sector) => {
            return fail(
                format!("a size of {size} bytes is not a number of sectors of {sector} bytes"),
                "Give a multiple of the sector, like `--size 10G`.".to_owned(),
            );
        }
        Some(size) if size > room => {
            return fail(
                format!(
                    "has room for {room} bytes ({}) from byte {start_bytes} on, less than the {} asked for",
                    format_bytes(room),
                    format_bytes(size)
                ),
                "Ask for less, or leave --size out to take what there is.".to_owned(),
            );
        }
        Some(size) => size,
        None => rounded(room, spec.align_bytes, sector),
    };
    if size_bytes == 0 {
        return fail(
            format!(
                "of {} has no room for a partition at {}",
                format_bytes(geometry.size_bytes),
                ByteSize(start_bytes)
            ),
            "Choose a smaller alignment or a larger device.".to_owned(),
        );
    }
    if spec.table == TableKind::Mbr && (start_bytes + size_bytes) / sector > MBR_SECTORS_MAX {
        return fail(
            format!(
                "an MBR reaches {} with sectors of {sector} bytes, and the partition would end at {}",
                format_bytes(MBR_SECTORS_MAX * sector),
                format_bytes(start_bytes + size_bytes)
            ),
            "Use `--table gpt`, or give a `--size` that ends below that.".to_owned(),
        );
    }
    Ok(Layout {
        table: spec.table,
        purpose: spec.purpose,
        start_bytes,
        size_bytes,
    })
}

/// Sizes that are not given are multiples of the largest power of two in the alignment, or at least
/// of a page, so that file systems use all of it.
fn rounded(room_bytes: u64, align_bytes: u64, sector_bytes: u64) -> u64 {
    let page = GRAIN_BYTES_MIN.max(sector_bytes);
    let grain = (align_bytes & align_bytes.wrapping_neg()).max(page);
    [grain, page]
        .map(|unit| room_bytes / unit * unit)
        .into_iter()
        .find(|bytes| *bytes > 0)
        .unwrap_or(0)
}

fn impossible(align_bytes: u64, sector_bytes: u64) -> String {
    let typed = ByteSize(align_bytes);
    format!(
        "no partition can start at a multiple of {typed} ({align_bytes} bytes): \
         the disk's sectors have {sector_bytes} bytes"
    )
}

fn neighbours(align_bytes: u64, sector_bytes: u64) -> String {
    let below = align_bytes / sector_bytes * sector_bytes;
    let above = below + sector_bytes;
    match below {
        0 => format!("The smallest is {}.", ByteSize(above)),
        _ => format!(
            "The nearest are {} and {}.",
            ByteSize(below),
            ByteSize(above)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn disk(size_bytes: u64, sector: u32) -> Geometry {
        Geometry {
            size_bytes,
            logical_sector_bytes: sector,
            physical_sector_bytes: 4096,
        }
    }

    fn spec(align: &str, table: TableKind) -> PartitionOptions {
        PartitionOptions {
            align_bytes: align.parse::<ByteSize>().unwrap().bytes(),
            table,
            ..PartitionOptions::default()
        }
    }

    #[test]
    fn partitions_start_where_they_are_asked_to_and_nowhere_near() {
        use TableKind::{Gpt, Mbr};
        for (align, table, sector, start, size) in [
            ("63s", Mbr, 512, 63 * 512, 64 * MIB - 32_768),
            ("31.5K", Mbr, 512, 32_256, 64 * MIB - 32_768),
            ("36K", Mbr, 512, 36_864, 64 * MIB - 36_864),
            ("64K", Mbr, 512, 65_536, 64 * MIB - 65_536),
            ("1M", Mbr, 512, MIB, 63 * MIB),
            ("63s", Gpt, 512, 32_256, 64 * MIB - 32_256 - 33 * 512),
            ("36K", Gpt, 512, 36_864, 64 * MIB - 36_864 - 20_480),
            ("64K", Gpt, 512, 65_536, 64 * MIB - 2 * 65_536),
            ("1M", Gpt, 512, MIB, 62 * MIB),
            // The table itself takes 17 KiB, so 16K is doubled.
            ("16K", Gpt, 512, 32_768, 64 * MIB - 3 * 16_384 - 16_384),
            ("1s", Gpt, 512, 34 * 512, 64 * MIB - 36_864),
            ("1s", Mbr, 512, 512, 64 * MIB - 4096),
            ("36K", Mbr, 4096, 36_864, 64 * MIB - 36_864),
            ("4K", Gpt, 4096, 24_576, 64 * MIB - 24_576 - 5 * 4096),
        ] {
            let found = layout(&disk(64 * MIB, sector), &spec(align, table), "sda").unwrap();
            let case = format!("{align} {table:?} {sector}");
            assert_eq!(found.start_bytes, start, "{case}");
            assert_eq!(found.size_bytes, size, "{case}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_what_could() {
        use TableKind::{Gpt, Mbr};
        let sized = |size| PartitionOptions {
            size_bytes: Some(size),
            ..spec("1M", Gpt)
        };
        for (geometry, spec, hint) in [
            (
                disk(64 * MIB, 4096),
                spec("63s", Gpt),
                "The nearest are 28K and 32K.",
            ),
            (
                disk(64 * MIB, 4096),
                spec("512", Mbr),
                "The smallest is 4K.",
            ),
            (
                disk(64 * MIB, 512),
                spec("100", Mbr),
                "The smallest is 512.",
            ),
            (disk(64 * MIB, 512), spec("0", Mbr), "Give one like"),
            (disk(64 * MIB, 512), sized(0), "multiple of the sector"),
            (disk(64 * MIB, 512), sized(1000), "multiple of the sector"),
            (disk(64 * MIB, 512), sized(63 * MIB), "Ask for less"),
            (disk(MIB, 512), spec("1M", Mbr), "smaller alignment"),
            (disk(0, 512), spec("1M", Gpt), "smaller alignment"),
            (disk(3 << 40, 512), spec("1M", Mbr), "`--table gpt`"),
        ] {
            let error = layout(&geometry, &spec, "sda").unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.hint.contains(hint), "{error}: {}", error.hint);
        }
    }

    #[test]
    fn parts_lie_side_by_side_where_they_were_asked_for_or_not_at_all() {
        let part = |start_bytes, size_bytes| Extent {
            start_bytes,
            size_bytes,
        };
        let divide = |parts: &[Extent]| side_by_side(&disk(64 * MIB, 512), parts, "sda");
        let parts = [part(4 * MIB + 63 * 512, MIB), part(8 * MIB, 55 * MIB)];
        let found = divide(&parts).unwrap();
        let places: Vec<_> = found
            .iter()
            .map(|one| part(one.start_bytes, one.size_bytes))
            .collect();
        assert_eq!(places, parts);
        for wrong in [
            &[][..],
            &[part(4096, MIB)],
            &[part(MIB, 63 * MIB)],
            &[part(MIB, 0)],
            &[part(MIB + 1, MIB)],
            &[part(MIB, MIB + 1)],
            &[part(MIB, 2 * MIB), part(2 * MIB, MIB)],
            &[part(8 * MIB, MIB), part(2 * MIB, MIB)],
            &[part(u64::MAX - 511, 1 << 20)],
        ] {
            let error = divide(wrong).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{wrong:?}");
        }
    }

    #[test]
    fn an_mbr_reaches_two_tebibytes_and_no_sector_more() {
        let limit = 2u64 << 40;
        for (size, sector, fits) in [
            (limit, 512, true),
            (limit + MIB, 512, false),
            (limit + MIB, 4096, true),
            (8 * limit + MIB, 4096, false),
        ] {
            let found = layout(&disk(size, sector), &spec("1M", TableKind::Mbr), "sda");
            assert_eq!(found.is_ok(), fits, "{size} {sector}");
        }
        // Part of a larger disk suffices.
        let part = PartitionOptions {
            size_bytes: Some(limit - MIB),
            ..spec("1M", TableKind::Mbr)
        };
        assert!(layout(&disk(3 << 40, 512), &part, "sda").is_ok());
    }
}
