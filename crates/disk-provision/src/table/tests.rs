//! New tables, read by the parser that is made for hostile ones; and crashes.

use super::*;
use crate::disk::medium;
use crate::disk::memory::MemoryDisk;
use crate::layout::{PartitionOptions, Purpose, layout};
use crate::write::write_in_order;
use crate::{saved, stale_signatures};
use stripewise_disk_formats::tables::{self, PartitionTable};

const MIB: u64 = 1 << 20;
/// Small, as it is copied for every crash.
const SIZE: u64 = 2 * MIB;
/// Where the old partition starts, and the new one.
const OLD: u64 = 512 << 10;
const NEW: u64 = 256 << 10;

fn geometry(sector: u32) -> Geometry {
    Geometry {
        size_bytes: SIZE,
        logical_sector_bytes: sector,
        physical_sector_bytes: sector,
    }
}

fn ids(seed: u8) -> Identifiers {
    Identifiers {
        entropy: std::array::from_fn(|index| seed.wrapping_mul(31).wrapping_add(index as u8)),
    }
}

fn planned(sector: u32, align_bytes: u64, table: TableKind) -> Layout {
    let spec = PartitionOptions {
        align_bytes,
        table,
        ..PartitionOptions::default()
    };
    layout(&geometry(sector), &spec, "disk").unwrap()
}

/// Everything that is written for a layout, in its order.
fn all_patches(disk: &MemoryDisk, layout: &Layout, ids: &Identifiers) -> Vec<Patch> {
    let geometry = geometry(disk.sector_bytes as u32);
    let mut patches = patches(&geometry, std::slice::from_ref(layout), ids);
    order(&mut patches, geometry.sector());
    let wipes =
        stale_signatures::wipes(disk, &geometry, std::slice::from_ref(layout), &patches).unwrap();
    patches.extend(wipes);
    patches
}

/// A disk with one aligned partition.
fn made(sector: u32, align_bytes: u64, table: TableKind, seed: u8) -> MemoryDisk {
    let mut disk = MemoryDisk::new(SIZE, sector as usize);
    let patches = all_patches(&disk, &planned(sector, align_bytes, table), &ids(seed));
    write_in_order(&mut disk, &patches, "disk").unwrap();
    disk
}

fn read(disk: &MemoryDisk) -> Option<PartitionTable> {
    tables::read(&mut medium(disk), Some(disk.sector_bytes as u32)).unwrap()
}

/// What everybody who looks at the disk takes for its partitions: starts.
fn starts(disk: &MemoryDisk) -> Vec<u64> {
    read(disk).map_or_else(Vec::new, |table| {
        table.partitions.iter().map(|one| one.start_bytes).collect()
    })
}

const KINDS: [TableKind; 2] = [TableKind::Gpt, TableKind::Mbr];

#[test]
fn a_new_table_reads_back_as_it_was_meant_without_problems() {
    for (sector, aligns) in [
        (512, &[32_256, 36_864, 65_536, MIB][..]),
        (4096, &[36_864, 65_536, MIB][..]),
    ] {
        for table in KINDS {
            for align in aligns {
                let case = format!("{table:?} {sector} {align}");
                let want = planned(sector, *align, table);
                let found = read(&made(sector, *align, table, 1)).expect(&case);
                assert_eq!(found.problems, Vec::<String>::new(), "{case}");
                let partition = &found.partitions[..];
                assert_eq!(partition.len(), 1, "{case}");
                assert_eq!(partition[0].start_bytes, *align, "{case}");
                assert_eq!(partition[0].size_bytes, want.size_bytes, "{case}");
                assert_eq!(partition[0].number, 1, "{case}");
                let kind = match table {
                    TableKind::Gpt => "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
                    TableKind::Mbr => "0x83",
                };
                assert_eq!(partition[0].type_id, kind, "{case}");
            }
        }
    }
}

/// The sums are those of what the crate `gptman` wrote for the same partitions.
#[test]
fn the_bytes_of_a_gpt_are_those_of_other_writers() {
    for (sector, want) in [(512, 0xb125_272f), (4096, 0xe22d_10e9)] {
        let layouts = [(OLD, Purpose::Linux), (MIB, Purpose::Windows)];
        let layouts = layouts.map(|(start_bytes, purpose)| Layout {
            table: TableKind::Gpt,
            purpose,
            start_bytes,
            size_bytes: 64 << 10,
        });
        let patches = patches(&geometry(sector), &layouts, &ids(1));
        let all: Vec<u8> = patches.into_iter().flat_map(|patch| patch.bytes).collect();
        assert_eq!(crc32fast::hash(&all), want, "{sector}");
    }
}

#[test]
fn windows_partitions_have_its_types() {
    for (table, kind) in [
        (TableKind::Gpt, "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"),
        (TableKind::Mbr, "0x07"),
    ] {
        let mut disk = MemoryDisk::new(SIZE, 512);
        let layout = Layout {
            purpose: Purpose::Windows,
            ..planned(512, MIB, table)
        };
        let patches = all_patches(&disk, &layout, &ids(1));
        write_in_order(&mut disk, &patches, "disk").unwrap();
        assert_eq!(read(&disk).unwrap().partitions[0].type_id, kind);
    }
}

#[test]
fn identifiers_come_from_the_entropy_and_are_valid() {
    let one = ids(1);
    assert_ne!(one.disk_guid(), one.partition_guid(0));
    assert_ne!(one.disk_guid(), ids(2).disk_guid());
    for guid in [one.disk_guid(), one.partition_guid(0)] {
        assert_eq!(guid[7] >> 4, 4, "version");
        assert_eq!(guid[8] >> 6, 2, "variant");
    }
    let none = Identifiers { entropy: [0; 32] };
    assert_eq!(none.disk_signature(), 1);
}

/// The heart of the matter: whatever table is replaced by whatever other, a
/// crash after any sector leaves the one or the other in force.
#[test]
fn a_crash_after_any_sector_leaves_the_old_table_or_the_new_one() {
    for sector in [512, 4096] {
        for before in KINDS {
            for after in KINDS {
                let old = made(sector, OLD, before, 1);
                let layout = planned(sector, NEW, after);
                let patches = all_patches(&old, &layout, &ids(2));
                let sectors: usize =
                    patches.iter().map(|one| one.bytes.len()).sum::<usize>() / sector as usize;
                let mut changed = false;
                for crash_after in 0..=sectors {
                    let mut disk = old.clone();
                    disk.sectors_left = Some(crash_after);
                    let written = write_in_order(&mut disk, &patches, "disk");
                    assert_eq!(written.is_ok(), crash_after == sectors);
                    let found = starts(&disk);
                    let case = format!("{before:?} to {after:?}, {crash_after} of {sectors}");
                    assert!(found == [OLD] || found == [NEW], "{case}: {found:?}");
                    // Once switched, it does not switch back.
                    assert!(!(changed && found == [OLD]), "{case}");
                    changed |= found == [NEW];
                }
                assert!(changed);
            }
        }
    }
}

#[test]
fn a_restored_table_is_the_old_one_and_a_crash_does_not_end_without_any() {
    for before in KINDS {
        for after in KINDS {
            let old = made(512, OLD, before, 1);
            let geometry = geometry(512);
            let new = planned(512, NEW, after);
            let patches = all_patches(&old, &new, &ids(2));
            let mut places = stale_signatures::table_places(&old, &geometry).unwrap();
            places.extend(
                patches
                    .iter()
                    .map(|one| (one.offset_bytes, one.bytes.len() as u64)),
            );
            let device = saved::SavedDevice {
                size_bytes: SIZE,
                logical_sector_bytes: 512,
                ..saved::SavedDevice::default()
            };
            let saved = saved::SavedTable::of(&old, device, &places, "now").unwrap();
            let mut disk = old.clone();
            write_in_order(&mut disk, &patches, "disk").unwrap();
            assert_eq!(starts(&disk), [NEW]);
            let mut back = saved.patches();
            order(&mut back, 512);
            let sectors: usize = back.iter().map(|one| one.bytes.len()).sum::<usize>() / 512;
            for crash_after in (0..=sectors).step_by(3) {
                let mut crashed = disk.clone();
                crashed.sectors_left = Some(crash_after);
                let _ = write_in_order(&mut crashed, &back, "disk");
                let found = starts(&crashed);
                let case = format!("{before:?} under {after:?}, {crash_after} of {sectors}");
                assert!(found == [OLD] || found == [NEW], "{case}: {found:?}");
            }
            write_in_order(&mut disk, &back, "disk").unwrap();
            assert!(disk.bytes == old.bytes, "{before:?} under {after:?}");
        }
    }
}

#[test]
fn a_write_error_tells_what_was_written_before_it() {
    let mut disk = made(512, OLD, TableKind::Gpt, 1);
    let patches = all_patches(&disk, &planned(512, NEW, TableKind::Gpt), &ids(2));
    disk.sectors_left = Some(40);
    let error = write_in_order(&mut disk, &patches, "sdz").unwrap_err();
    assert_eq!(error.kind, crate::ErrorKind::Io);
    let reported = error.to_string();
    assert!(
        reported.contains("writing entries of the GPT at byte 1024 failed"),
        "{reported}"
    );
    assert!(
        reported.contains("written before it: header of the backup GPT"),
        "{reported}"
    );
    assert!(reported.contains("Input/output error"), "{reported}");
}

#[test]
fn a_device_that_loses_writes_is_found_out() {
    let mut disk = MemoryDisk::new(SIZE, 512);
    disk.lies = true;
    let patches = all_patches(&disk, &planned(512, NEW, TableKind::Mbr), &ids(1));
    write_in_order(&mut disk, &patches, "sdz").unwrap();
    let error = crate::write::verify(&disk, &patches, "sdz").unwrap_err();
    assert_eq!(error.kind, crate::ErrorKind::Unverified);
}
