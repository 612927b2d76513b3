//! `DRIVE_LAYOUT_INFORMATION_EX`, the answer to
//! `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`: the partition table as Windows sees it.
//!
//! | bytes | field |
//! | --- | --- |
//! | 0 | `PartitionStyle`: 0 MBR, 1 GPT, 2 RAW (no table) |
//! | 4 | `PartitionCount` |
//! | 8 | MBR: `Signature`; GPT: `DiskId` (GUID), at 24 `StartingUsableOffset`, at 32 `UsableLength`, at 40 `MaxPartitionCount` |
//! | 48 | `PartitionEntry[]`, 144 bytes each |
//!
//! `PARTITION_INFORMATION_EX`: 0 style, 8 `StartingOffset`, 16 `PartitionLength`, 24
//! `PartitionNumber` (0: an extended partition or an unused entry), from 32 on for MBR
//! `PartitionType`, `BootIndicator`, `RecognizedPartition`, for GPT `PartitionType` (GUID), 48
//! `PartitionId` (GUID), 64 `Attributes`, 72 `Name` (36 UTF-16 units). Windows reports all entries
//! of logical partitions' boot records, including links and empty ones.

use super::Decoded;
use super::answer::Answer;
use crate::medium::printable;
use crate::tables::{
    self, PartitionTable, Role, TableKind, TablePartition, gpt_role, gpt_type_name, mbr_role,
    mbr_type_name,
};

/// Bytes before the entries.
pub const HEADER_BYTES: usize = 48;
/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 144;
/// Most entries examined: a GPT of Windows has 128; an MBR four for each boot record.
pub const PARTITIONS_MAX: usize = 1024;

const NAME: &str = "IOCTL_DISK_GET_DRIVE_LAYOUT_EX";

/// Decodes the table. `sector_bytes` is the disk's logical sector. A disk without a table (style
/// RAW) gives a table without partitions and without id; see [`is_raw`].
///
/// # Errors
/// If counts, styles or signs are invalid.
pub fn drive_layout(bytes: &[u8], sector_bytes: u32) -> Decoded<PartitionTable> {
    let answer = Answer::new(bytes, NAME, HEADER_BYTES)?;
    let style = answer.u32(0)?;
    let count = answer.count(answer.u32(4)?, HEADER_BYTES, ENTRY_BYTES, PARTITIONS_MAX)?;
    let mut table = PartitionTable {
        sector_bytes,
        ..PartitionTable::default()
    };
    match style {
        0 => {
            let signature = answer.u32(8)?;
            table.kind = TableKind::Mbr;
            table.id = (signature != 0).then(|| format!("0x{signature:08x}"));
        }
        1 => {
            table.kind = TableKind::Gpt;
            table.id = answer.guid(8)?;
        }
        2 => return Ok(table),
        other => return Err(answer.wrong(format!("a partition style of {other}"))),
    }
    for index in 0..count {
        let at = HEADER_BYTES + index * ENTRY_BYTES;
        if let Some(entry) = entry(&answer, at)? {
            table.partitions.push(entry);
        }
    }
    mark_logical(&mut table.partitions);
    table
        .partitions
        .sort_by_key(|entry| (entry.number, entry.start_bytes));
    // The disk's size is not part of the answer; overlaps do not need it.
    tables::check_places(&mut table, u64::MAX);
    Ok(table)
}

/// Entries with a length, whatever their type: before writing to a disk, even an entry that Windows
/// calls unused may be somebody's data.
///
/// # Errors
/// If counts, styles or signs are invalid.
pub fn occupied_entries(bytes: &[u8]) -> Decoded<usize> {
    let answer = Answer::new(bytes, NAME, HEADER_BYTES)?;
    match answer.u32(0)? {
        0 | 1 => {}
        2 => return Ok(0),
        other => return Err(answer.wrong(format!("a partition style of {other}"))),
    }
    let count = answer.count(answer.u32(4)?, HEADER_BYTES, ENTRY_BYTES, PARTITIONS_MAX)?;
    let mut occupied = 0;
    for index in 0..count {
        let at = HEADER_BYTES + index * ENTRY_BYTES;
        occupied += usize::from(answer.size(at + 16, "a partition's length")? > 0);
    }
    Ok(occupied)
}

/// Whether the disk has no partition table.
pub fn is_raw(bytes: &[u8]) -> bool {
    bytes.get(0..4) == Some(&[2, 0, 0, 0])
}

/// One entry; `None` for an unused one.
fn entry(answer: &Answer, at: usize) -> Decoded<Option<TablePartition>> {
    let start_bytes = answer.size(at + 8, "a partition's start")?;
    let size_bytes = answer.size(at + 16, "a partition's length")?;
    let mut entry = TablePartition {
        number: answer.u32(at + 24)?,
        start_bytes,
        size_bytes,
        ..TablePartition::default()
    };
    match answer.u32(at)? {
        0 => {
            let kind = answer.byte(at + 32)?;
            if kind == 0 || size_bytes == 0 {
                return Ok(None);
            }
            entry.type_id = format!("0x{kind:02x}");
            entry.type_name = mbr_type_name(kind);
            entry.role = mbr_role(kind);
            entry.bootable = answer.byte(at + 33)? != 0;
        }
        1 => {
            let Some(kind) = answer.guid(at + 32)? else {
                return Ok(None);
            };
            entry.type_name = gpt_type_name(&kind);
            entry.role = gpt_role(&kind);
            entry.type_id = kind;
            entry.uuid = answer.guid(at + 48)?;
            entry.name = name(answer, at + 72)?;
        }
        2 => return Ok(None),
        other => return Err(answer.wrong(format!("a partition's style of {other}"))),
    }
    Ok(Some(entry))
}

/// 36 UTF-16 units, up to the first zero.
fn name(answer: &Answer, at: usize) -> Decoded<Option<String>> {
    let mut units = [0u16; 36];
    for (index, unit) in units.iter_mut().enumerate() {
        let place = at + 2 * index;
        *unit = u16::from_le_bytes([answer.byte(place)?, answer.byte(place + 1)?]);
    }
    let end = units.iter().position(|unit| *unit == 0);
    let text = String::from_utf16_lossy(&units[..end.unwrap_or(units.len())]);
    Ok(printable(text.trim()))
}

/// Marks partitions inside an extended one as logical; removes links from one boot record to the
/// next (nested extended partitions).
fn mark_logical(entries: &mut Vec<TablePartition>) {
    let Some(outer) = entries
        .iter()
        .find(|entry| entry.role == Role::Extended)
        .cloned()
    else {
        return;
    };
    let inside = |entry: &TablePartition| {
        entry.start_bytes >= outer.start_bytes && entry.end_bytes() <= outer.end_bytes()
    };
    entries.retain(|entry| entry.role != Role::Extended || *entry == outer || !inside(entry));
    for entry in entries.iter_mut() {
        entry.logical = entry.role != Role::Extended && inside(entry);
    }
}
