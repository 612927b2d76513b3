//! Remains of former contents: signatures that would be mistaken for current ones, and the
//! locations of old partition tables.
//!
//! A stale signature is harmful: a volume manager assembles the array it names as soon as the
//! kernel shows the new partition, and firmware restores a GPT whose backup it finds. So the
//! signatures are zeroed, a few bytes each, and nothing around them; their sectors are saved first
//! like all others.

use crate::disk::{Disk, medium};
use crate::layout::{Geometry, Layout, TableKind};
use crate::table::Patch;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use stripewise_disk_formats::{marks, tables};

const GPT_MAGIC: &[u8] = b"EFI PART";
const MD_MAGIC: &[u8] = b"\xfc\x4e\x2b\xa9";
/// More logical partitions than any system shows.
const LOGICAL_MAX: usize = 256;
/// More than any GPT's entries take.
const GPT_ENTRIES_BYTES_MAX: u64 = 4 << 20;

/// A signature found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StaleSignature {
    /// Bytes from the start of the disk.
    pub offset_bytes: u64,
    /// Length of the signature.
    pub length: usize,
    /// What it identifies, with an article.
    pub what: String,
}

/// Signatures of contents (not of tables) in a range of a disk.
pub(crate) fn contents<D: Disk>(
    disk: &D,
    start: u64,
    size: u64,
) -> io::Result<Vec<StaleSignature>> {
    let length = (marks::HEAD_BYTES as u64).min(size);
    let head = disk.piece(start, length as usize)?;
    let mut found: Vec<StaleSignature> = marks::found(&head)
        .into_iter()
        .filter(|mark| !mark.is_table)
        .map(|mark| StaleSignature {
            offset_bytes: start + mark.offset_bytes as u64,
            length: mark.bytes.len(),
            what: mark.what.to_owned(),
        })
        .collect();
    for place in md_places(size) {
        if disk.piece(start + place, MD_MAGIC.len())? == MD_MAGIC {
            found.push(StaleSignature {
                offset_bytes: start + place,
                length: MD_MAGIC.len(),
                what: "a member of an md array".to_owned(),
            });
        }
    }
    Ok(found)
}

/// Locations of md superblocks near the end: version 0.90 in the last whole 64 KiB but one, 1.0 at
/// 8 KiB from the end rounded down to 4 KiB (`md_p.h`, `super1.c`).
fn md_places(size: u64) -> Vec<u64> {
    let old = (size & !0xffff).checked_sub(0x10000);
    let new = (size / 512)
        .checked_sub(16)
        .map(|sector| (sector & !7) * 512);
    let mut places: Vec<u64> = old.into_iter().chain(new).collect();
    places.retain(|place| place + 4 <= size && *place > 0);
    places.dedup();
    places
}

/// Patches that zero signatures which would be misinterpreted after the new table is written: old
/// contents of the whole disk and of the new partitions, and a GPT if an MBR is made. Locations
/// that `table` overwrites anyway are omitted.
pub(crate) fn wipes<D: Disk>(
    disk: &D,
    geometry: &Geometry,
    parts: &[Layout],
    table: &[Patch],
) -> io::Result<Vec<Patch>> {
    let mut signatures = contents(disk, 0, geometry.size_bytes)?;
    for part in parts {
        signatures.extend(contents(disk, part.start_bytes, part.size_bytes)?);
    }
    if parts.iter().any(|part| part.table == TableKind::Mbr) {
        signatures.extend(gpt_headers(disk, geometry)?);
    }
    signatures.retain(|signature| {
        let length = signature.length as u64;
        !table
            .iter()
            .any(|patch| patch.touches(signature.offset_bytes, length))
    });
    zeroed(disk, geometry, &signatures)
}

/// Patches that zero the signatures which a mkfs leaves in place, on a whole device. mkntfs checks
/// for nothing; only mkfs.btrfs checks for md superblocks near the end.
pub(crate) fn mkfs_leftover<D: Disk>(
    disk: &D,
    geometry: &Geometry,
    leaves_all: bool,
) -> io::Result<Vec<Patch>> {
    let mut signatures = contents(disk, 0, geometry.size_bytes)?;
    let near_end = md_places(geometry.size_bytes);
    signatures.retain(|signature| leaves_all || near_end.contains(&signature.offset_bytes));
    zeroed(disk, geometry, &signatures)
}

/// Patches that erase a device: zeros over tables and superblocks, and over the signatures of its
/// own contents and of those of its listed partitions. From the end backwards, so that its
/// identifying marks go last.
pub(crate) fn erasure<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Vec<Patch>> {
    let mut signatures = contents(disk, 0, geometry.size_bytes)?;
    let sector = geometry.logical_sector_bytes;
    if let Some(table) = tables::read(&mut medium(disk), Some(sector))? {
        for one in &table.partitions {
            let end = one.start_bytes.checked_add(one.size_bytes);
            if end.is_some_and(|end| end <= geometry.size_bytes) {
                signatures.extend(contents(disk, one.start_bytes, one.size_bytes)?);
            }
        }
    }
    let mut places = table_places(disk, geometry)?;
    places.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, length) in places {
        match merged.last_mut() {
            Some((from, size)) if start <= *from + *size => {
                *size = (*size).max(start + length - *from);
            }
            _ => merged.push((start, length)),
        }
    }
    let mut patches: Vec<Patch> = merged
        .into_iter()
        .map(|(offset_bytes, length)| Patch {
            offset_bytes,
            bytes: vec![0; length as usize],
            what: "zeros over tables and superblocks".to_owned(),
        })
        .collect();
    signatures.retain(|signature| {
        let length = signature.length as u64;
        !patches
            .iter()
            .any(|patch| patch.touches(signature.offset_bytes, length))
    });
    patches.extend(zeroed(disk, geometry, &signatures)?);
    patches.sort_by_key(|patch| u64::MAX - patch.offset_bytes);
    Ok(patches)
}

/// Disk GUIDs in the existing GPT headers, as stored: the one at the start, the one at the end.
pub(crate) fn gpt_guids<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Vec<[u8; 16]>> {
    let mut guids = Vec::new();
    for (at, _) in gpt_places(disk, geometry)? {
        let header = disk.piece(at * geometry.sector(), 92)?;
        let mut guid = [0; 16];
        guid.copy_from_slice(&header[56..72]);
        guids.push(guid);
    }
    Ok(guids)
}

/// Whole sectors with the signatures in them zeroed; shared sectors only once.
fn zeroed<D: Disk>(
    disk: &D,
    geometry: &Geometry,
    signatures: &[StaleSignature],
) -> io::Result<Vec<Patch>> {
    let sector = geometry.sector();
    let mut sectors: BTreeMap<u64, (Vec<u8>, BTreeSet<&str>)> = BTreeMap::new();
    for signature in signatures {
        for at in signature.offset_bytes..signature.offset_bytes + signature.length as u64 {
            let first = at / sector * sector;
            let (bytes, what) = match sectors.entry(first) {
                std::collections::btree_map::Entry::Occupied(found) => found.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    let bytes = disk.piece(first, sector as usize)?;
                    free.insert((bytes, BTreeSet::new()))
                }
            };
            bytes[(at - first) as usize] = 0;
            what.insert(&signature.what);
        }
    }
    let patch = |(offset_bytes, (bytes, what)): (u64, (Vec<u8>, BTreeSet<&str>))| Patch {
        offset_bytes,
        bytes,
        what: format!(
            "the signature of {}",
            what.into_iter().collect::<Vec<_>>().join(" and ")
        ),
    };
    Ok(sectors.into_iter().map(patch).collect())
}

/// Signatures of GPT headers: at the start, at the end, and at the backup location given by the
/// first one.
fn gpt_headers<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Vec<StaleSignature>> {
    let mut found = Vec::new();
    for (at, place) in gpt_places(disk, geometry)? {
        found.push(StaleSignature {
            offset_bytes: at * geometry.sector(),
            length: GPT_MAGIC.len(),
            what: format!("the GPT at the {place}"),
        });
    }
    Ok(found)
}

/// Sectors that hold a GPT header.
fn gpt_places<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<BTreeMap<u64, &'static str>> {
    let sector = geometry.sector();
    let last = geometry.sectors().saturating_sub(1);
    let mut candidates = vec![(1, "start"), (last, "end")];
    if let Some(alternate) = header_number(disk, geometry, 1, 32)? {
        candidates.push((alternate, "place of its backup"));
    }
    let mut places = BTreeMap::new();
    for (at, place) in candidates {
        let is_inside = at >= 1 && at <= last;
        if is_inside && disk.piece(at * sector, GPT_MAGIC.len())? == GPT_MAGIC {
            places.entry(at).or_insert(place);
        }
    }
    Ok(places)
}

/// An 8-byte number in the header at a sector, if there is one.
fn header_number<D: Disk>(
    disk: &D,
    geometry: &Geometry,
    at: u64,
    field: usize,
) -> io::Result<Option<u64>> {
    if at >= geometry.sectors() {
        return Ok(None);
    }
    let header = disk.piece(at * geometry.sector(), 92)?;
    let number = header[field..field + 8].try_into().map(u64::from_le_bytes);
    Ok(number.ok().filter(|_| header.starts_with(GPT_MAGIC)))
}

/// Current locations of tables on a disk: first byte and length of each region, whole sectors.
/// Always the head and the tail, GPT entries wherever its headers point, and the boot records of
/// logical partitions.
pub(crate) fn table_places<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Vec<(u64, u64)>> {
    /// Tables, boot loaders after them, and the signatures of most file systems.
    const HEAD_BYTES: u64 = 64 << 10;
    let sector = geometry.sector();
    let whole = geometry.sectors() * sector;
    let mut places = vec![
        (0, HEAD_BYTES.min(whole)),
        (whole.saturating_sub(HEAD_BYTES), HEAD_BYTES.min(whole)),
    ];
    for (at, _) in gpt_places(disk, geometry)? {
        places.push((at * sector, sector));
        let entries = header_number(disk, geometry, at, 72)?.unwrap_or(0);
        let counts = disk.piece(at * sector + 80, 8)?;
        let number = |at: usize| {
            u64::from(u32::from_le_bytes([
                counts[at],
                counts[at + 1],
                counts[at + 2],
                counts[at + 3],
            ]))
        };
        let length = (number(0) * number(4)).next_multiple_of(sector);
        if length <= GPT_ENTRIES_BYTES_MAX
            && let Some(start) = entries.checked_mul(sector)
            && start.checked_add(length).is_some_and(|end| end <= whole)
        {
            places.push((start, length));
        }
    }
    places.extend(logical_records(disk, geometry)?);
    Ok(places)
}

/// Sectors of the boot records of logical partitions (not in UEFI 2.10, but in Linux
/// `block/partitions/msdos.c`). Malicious chains end.
fn logical_records<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Vec<(u64, u64)>> {
    let sector = geometry.sector();
    let mut places = Vec::new();
    let first = disk.piece(0, 512)?;
    let Some(base) = extended(&first) else {
        return Ok(places);
    };
    let mut at = base;
    let mut seen = BTreeSet::new();
    while at < geometry.sectors() && seen.insert(at) && seen.len() <= LOGICAL_MAX {
        places.push((at * sector, sector));
        let record = disk.piece(at * sector, 512)?;
        match extended(&record) {
            Some(next) => at = base + next,
            None => break,
        }
    }
    Ok(places)
}

/// Start of the extended partition listed in a boot record.
fn extended(record: &[u8]) -> Option<u64> {
    if record.get(510..512)? != [0x55, 0xaa] {
        return None;
    }
    (0..4)
        .map(|index| &record[446 + 16 * index..462 + 16 * index])
        .find_map(|entry| {
            let start = u32::from_le_bytes([entry[8], entry[9], entry[10], entry[11]]);
            (matches!(entry[4], 0x05 | 0x0f | 0x85) && start > 0).then(|| u64::from(start))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::memory::MemoryDisk;

    const MIB: u64 = 1 << 20;

    fn disk() -> (MemoryDisk, Geometry) {
        let geometry = Geometry {
            size_bytes: 16 * MIB,
            logical_sector_bytes: 512,
            physical_sector_bytes: 512,
        };
        (MemoryDisk::new(16 * MIB, 512), geometry)
    }

    fn put(disk: &mut MemoryDisk, at: u64, bytes: &[u8]) {
        let at = at as usize;
        disk.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn mbr_at(start_bytes: u64) -> Layout {
        Layout {
            table: TableKind::Mbr,
            purpose: crate::Purpose::Linux,
            start_bytes,
            size_bytes: 15 * MIB,
        }
    }

    #[test]
    fn marks_are_zeroed_alone_and_what_surrounds_them_stays() {
        let (mut disk, geometry) = disk();
        disk.bytes.fill(0x77);
        put(&mut disk, 0x438, b"\x53\xef");
        put(&mut disk, MIB, b"XFSB");
        // For md arrays, near the ends of disk and partition.
        put(&mut disk, 16 * MIB - 0x10000, MD_MAGIC);
        put(&mut disk, 16 * MIB - 0x2000, MD_MAGIC);
        let patches = wipes(&disk, &geometry, &[mbr_at(MIB)], &[]).unwrap();
        let offsets: Vec<u64> = patches.iter().map(|patch| patch.offset_bytes).collect();
        assert_eq!(offsets, [1024, MIB, 16 * MIB - 0x10000, 16 * MIB - 0x2000]);
        let mut want = vec![0x77; 512];
        want[0x38..0x3a].fill(0);
        assert_eq!(patches[0].bytes, want);
        assert_eq!(patches[1].what, "the signature of an XFS file system");
        // What the table overwrites is not wiped separately.
        let table = [patches[0].clone()];
        assert_eq!(
            wipes(&disk, &geometry, &[mbr_at(MIB)], &table)
                .unwrap()
                .len(),
            3
        );
    }

    #[test]
    fn every_header_of_a_gpt_goes_where_an_mbr_is_made() {
        let (mut disk, geometry) = disk();
        put(&mut disk, 512, GPT_MAGIC);
        // Its backup is where the disk ended before it grew.
        put(&mut disk, 512 + 32, &8191u64.to_le_bytes());
        put(&mut disk, 8191 * 512, GPT_MAGIC);
        put(&mut disk, 16 * MIB - 512, GPT_MAGIC);
        let patches = wipes(&disk, &geometry, &[mbr_at(MIB)], &[]).unwrap();
        let offsets: Vec<u64> = patches.iter().map(|patch| patch.offset_bytes).collect();
        assert_eq!(offsets, [512, 8191 * 512, 16 * MIB - 512]);
        assert!(patches.iter().all(|patch| patch.bytes[..8] == [0; 8]));
    }

    #[test]
    fn a_chain_of_logical_partitions_is_followed_once_and_not_in_circles() {
        let (mut disk, geometry) = disk();
        let mut record = |at: u64, next: u32| {
            let mut bytes = [0; 512];
            bytes[446 + 4] = 0x05;
            bytes[446 + 8..446 + 12].copy_from_slice(&next.to_le_bytes());
            bytes[510..].copy_from_slice(&[0x55, 0xaa]);
            put(&mut disk, at * 512, &bytes);
        };
        record(0, 2048);
        record(2048, 4096);
        record(2048 + 4096, 0);
        let found = logical_records(&disk, &geometry).unwrap();
        assert_eq!(found, [(2048 * 512, 512), (6144 * 512, 512)]);
        // In a cycle, and past the end of the disk.
        for next in [4096, u32::MAX] {
            let mut bytes = disk.bytes[2048 * 512..2049 * 512].to_vec();
            bytes[446 + 8..446 + 12].copy_from_slice(&next.to_le_bytes());
            put(&mut disk, 6144 * 512, &bytes);
            assert_eq!(
                logical_records(&disk, &geometry).unwrap().len(),
                2,
                "{next}"
            );
        }
    }

    #[test]
    fn hostile_numbers_in_a_gpt_lead_nowhere() {
        let (mut disk, geometry) = disk();
        put(&mut disk, 512, GPT_MAGIC);
        put(&mut disk, 512 + 32, &[0xff; 60]);
        let places = table_places(&disk, &geometry).unwrap();
        assert!(places.iter().all(|(at, length)| at + length <= 16 * MIB));
    }
}
