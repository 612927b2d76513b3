//! GUID partition tables: the header at the start, the backup at the end.
//!
//! A header is valid if its signature, size, checksum and own position are correct and its entries
//! have the correct checksum. The first valid one is used; the state of both is reported. Entries
//! may have any size from 128 bytes to 4 KiB and any number up to [`ENTRIES_MAX`].

use super::crc32;
use super::mbr::{self, BootRecord};
use super::types::{gpt_role, gpt_type_name, guid};
use super::{Copy, PartitionTable, TableKind, TablePartition};
use crate::medium::{Bytes, le};

/// 128 times the usual number; Linux shows 256 at most.
pub const ENTRIES_MAX: u32 = 16_384;
const ENTRY_BYTES_MIN: u32 = 128;
const ENTRY_BYTES_MAX: u32 = 4096;

/// Content of a header.
struct Header {
    at: u64,
    alternate: u64,
    first_usable: u64,
    last_usable: u64,
    disk: Option<String>,
    entries: Vec<u8>,
    entry_bytes: usize,
}

/// A header, or why it is invalid.
enum HeaderRead {
    Valid(Box<Header>),
    Damaged(String),
    Absent,
}

/// The GPT of a disk with sectors of this size; `None` if neither header is valid.
pub fn read(
    disk: &mut dyn Bytes,
    sector_bytes: u32,
    record: Option<&BootRecord>,
) -> Option<PartitionTable> {
    let last = (disk.size_bytes() / u64::from(sector_bytes)).checked_sub(1)?;
    let primary = header(disk, sector_bytes, 1);
    let backup_at = match &primary {
        // The header has its backup's position; on a disk that has grown it is not at the end.
        HeaderRead::Valid(header) if header.alternate <= last => header.alternate,
        _ => last,
    };
    let backup = if backup_at == 1 {
        HeaderRead::Absent
    } else {
        header(disk, sector_bytes, backup_at)
    };
    let mut problems = Vec::new();
    let states = (state(&primary), state(&backup));
    let chosen = match (primary, backup) {
        (HeaderRead::Valid(one), HeaderRead::Valid(other)) => {
            if one.entries != other.entries || one.disk != other.disk {
                problems.push("the backup GPT differs from the one at the start".to_owned());
            }
            one
        }
        (HeaderRead::Valid(one), _) => one,
        (_, HeaderRead::Valid(other)) => other,
        _ => return None,
    };
    for (place, state) in [("at the start", &states.0), ("at the end", &states.1)] {
        match state {
            Copy::Valid => {}
            Copy::Damaged(why) => {
                problems.push(format!("the GPT {place} of the disk is damaged: {why}"));
            }
            Copy::Absent => problems.push(format!("there is no GPT {place} of the disk")),
        }
    }
    if chosen.at == 1 && chosen.alternate != last && states.1 == Copy::Valid {
        problems.push("the backup GPT is not at the end: the disk has grown".to_owned());
    }
    Some(table(&chosen, sector_bytes, record, states, problems))
}

fn state(found: &HeaderRead) -> Copy {
    match found {
        HeaderRead::Valid(_) => Copy::Valid,
        HeaderRead::Damaged(why) => Copy::Damaged(why.clone()),
        HeaderRead::Absent => Copy::Absent,
    }
}

fn header(disk: &mut dyn Bytes, sector_bytes: u32, at: u64) -> HeaderRead {
    let Some(place) = at.checked_mul(u64::from(sector_bytes)) else {
        return HeaderRead::Absent;
    };
    let Ok(sector) = disk.piece(place, sector_bytes as usize) else {
        return HeaderRead::Absent;
    };
    if &sector[..8] != b"EFI PART" {
        return HeaderRead::Absent;
    }
    match checked(disk, sector_bytes, at, &sector) {
        Ok(header) => HeaderRead::Valid(Box::new(header)),
        Err(why) => HeaderRead::Damaged(why),
    }
}

/// Decodes a header, or returns what is wrong with it.
fn checked(
    disk: &mut dyn Bytes,
    sector_bytes: u32,
    at: u64,
    sector: &[u8],
) -> Result<Header, String> {
    let length = le::u32(sector, 12) as usize;
    if length < 92 || length > sector.len() {
        return Err(format!("a header of {length} bytes"));
    }
    let mut summed = sector[..length].to_vec();
    summed[16..20].fill(0);
    if crc32(&summed) != le::u32(sector, 16) {
        return Err("the checksum of its header is wrong".to_owned());
    }
    if le::u64(sector, 24) != at {
        return Err("it gives a different location".to_owned());
    }
    let count = le::u32(sector, 80);
    let entry_bytes = le::u32(sector, 84);
    if !(ENTRY_BYTES_MIN..=ENTRY_BYTES_MAX).contains(&entry_bytes)
        || !entry_bytes.is_multiple_of(8)
        || count > ENTRIES_MAX
    {
        return Err(format!("{count} entries of {entry_bytes} bytes"));
    }
    let start = le::u64(sector, 72).checked_mul(u64::from(sector_bytes));
    let length = u64::from(count) * u64::from(entry_bytes);
    let entries = match (start, usize::try_from(length)) {
        (Some(start), Ok(length)) => disk.piece(start, length).ok(),
        _ => None,
    };
    let entries = entries.ok_or("its entries cannot be read")?;
    if crc32(&entries) != le::u32(sector, 88) {
        return Err("the checksum of its entries is wrong".to_owned());
    }
    Ok(Header {
        at,
        alternate: le::u64(sector, 32),
        first_usable: le::u64(sector, 40),
        last_usable: le::u64(sector, 48),
        disk: guid(&sector[56..72]),
        entries,
        entry_bytes: entry_bytes as usize,
    })
}

fn table(
    header: &Header,
    sector_bytes: u32,
    record: Option<&BootRecord>,
    states: (Copy, Copy),
    mut problems: Vec<String>,
) -> PartitionTable {
    let mut partitions = Vec::new();
    for (number, entry) in (1..).zip(header.entries.chunks_exact(header.entry_bytes)) {
        match partition(entry, number, sector_bytes) {
            Some(Ok((one, first, last))) => {
                if first < header.first_usable || last > header.last_usable {
                    problems.push(format!(
                        "partition {number} lies outside the usable part of the disk"
                    ));
                }
                partitions.push(one);
            }
            Some(Err(why)) => problems.push(why),
            None => {}
        }
    }
    let hybrid = hybrid(record, sector_bytes);
    if !record.is_some_and(BootRecord::is_protective) {
        problems
            .push("there is no protective MBR: Linux does not show these partitions".to_owned());
    }
    if !hybrid.is_empty() {
        problems.push(
            "a hybrid MBR: systems that know no GPT see other partitions than those that do"
                .to_owned(),
        );
    }
    PartitionTable {
        kind: if hybrid.is_empty() {
            TableKind::Gpt
        } else {
            TableKind::HybridMbr
        },
        sector_bytes,
        id: header.disk.clone(),
        partitions,
        hybrid,
        headers: Some(states),
        problems,
    }
}

/// One entry with its first and last sector; `None` where unused.
type Parsed = Result<(TablePartition, u64, u64), String>;

fn partition(entry: &[u8], number: u32, sector_bytes: u32) -> Option<Parsed> {
    let kind = guid(&entry[..16])?;
    let (first, last) = (le::u64(entry, 32), le::u64(entry, 40));
    let sector = u64::from(sector_bytes);
    let places = last
        .checked_sub(first)
        .and_then(|length| length.checked_add(1)?.checked_mul(sector))
        .zip(first.checked_mul(sector))
        .filter(|(size, start)| start.checked_add(*size).is_some());
    let Some((size_bytes, start_bytes)) = places else {
        return Some(Err(format!(
            "partition {number} has no possible place: sectors {first} to {last}"
        )));
    };
    let letters: Vec<u16> = entry[56..128]
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .take_while(|letter| *letter != 0)
        .collect();
    let one = TablePartition {
        number,
        start_bytes,
        size_bytes,
        type_name: gpt_type_name(&kind),
        role: gpt_role(&kind),
        type_id: kind,
        name: crate::medium::printable(String::from_utf16_lossy(&letters).trim()),
        uuid: guid(&entry[16..32]),
        bootable: false,
        logical: false,
    };
    Some(Ok((one, first, last)))
}

/// Partitions in the MBR in addition to the GPT's protective entry.
fn hybrid(record: Option<&BootRecord>, sector_bytes: u32) -> Vec<TablePartition> {
    let Some(record) = record else {
        return Vec::new();
    };
    if !record.is_protective() {
        return Vec::new();
    }
    (1..)
        .zip(record.entries)
        .filter(|(_, entry)| entry.is_used() && entry.kind != 0xee)
        .map(|(number, entry)| mbr::partition(entry, number, 0, sector_bytes))
        .collect()
}
