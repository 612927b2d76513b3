//! Partition tables made byte by byte, whole and damaged.

use crate::pictures::{BIOS_BOOT, LINUX, Picture, RESERVED};
use std::io::Cursor;
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_formats::tables::{self, Copy, PartitionTable, Role, TableKind};

fn read(picture: &Picture, sector: Option<u32>) -> Option<PartitionTable> {
    let size = picture.bytes.len() as u64;
    let mut medium = Medium::new(Cursor::new(&picture.bytes), size);
    tables::read(&mut medium, sector).expect("a picture can be read")
}

fn table(picture: &Picture) -> PartitionTable {
    read(picture, None).expect("a table")
}

fn places(table: &PartitionTable) -> Vec<(u32, u64, u64)> {
    let one = |part: &tables::TablePartition| (part.number, part.start_bytes, part.size_bytes);
    table.partitions.iter().map(one).collect()
}

#[test]
fn an_mbr_with_logical_partitions_is_read_to_the_end_of_its_chain() {
    let mut picture = Picture::new(4 << 20);
    picture
        .entry(0, 0, 0x83, 63, 1000)
        .entry(0, 1, 0x05, 2048, 6000)
        .entry(2048, 0, 0x83, 63, 500)
        .entry(2048, 1, 0x05, 1000, 1000)
        .entry(3048, 0, 0x82, 63, 400);
    let found = table(&picture);
    assert_eq!(found.kind, TableKind::Mbr);
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(
        places(&found),
        [
            (1, 32_256, 512_000),
            (2, 1 << 20, 6000 * 512),
            (5, (2048 + 63) * 512, 256_000),
            (6, (3048 + 63) * 512, 204_800)
        ]
    );
    assert_eq!(found.partitions[1].role, Role::Extended);
    assert!(found.partitions[2].logical && !found.partitions[0].logical);
    assert_eq!(found.partitions[3].type_name, Some("Linux swap"));
}

#[test]
fn chains_that_go_in_circles_or_nowhere_end_and_are_named() {
    let mut circle = Picture::new(4 << 20);
    circle
        .entry(0, 0, 0x05, 2048, 6000)
        .entry(2048, 0, 0x83, 63, 500)
        .entry(2048, 1, 0x05, 0, 1000);
    let found = table(&circle);
    assert_eq!(found.partitions.len(), 2);
    assert!(found.problems.iter().any(|one| one.contains("circle")));

    let mut outside = Picture::new(2 << 20);
    outside
        .entry(0, 0, 0x0f, 2048, 1000)
        .entry(2048, 1, 0x05, u32::MAX, 1000);
    let found = table(&outside);
    assert!(
        found
            .problems
            .iter()
            .any(|one| one.contains("cannot be read")),
        "{:?}",
        found.problems
    );

    // Each record points to the next sector, more often than is followed.
    let mut long = Picture::new(4 << 20);
    long.entry(0, 0, 0x05, 1, 6000);
    for at in 1..1000u32 {
        long.entry(u64::from(at), 0, 0x83, 1, 1);
        long.entry(u64::from(at), 1, 0x05, at, 1);
    }
    let found = table(&long);
    assert!(found.partitions.len() <= 257);
    assert!(found.problems.iter().any(|one| one.contains("256")));
    assert!(found.problems.len() <= 17);
}

#[test]
fn a_gpt_is_read_with_any_sector_and_any_size_of_entries() {
    for (sector, count, entry_bytes) in [
        (512, 128, 128),
        (4096, 128, 128),
        (512, 4, 256),
        (512, 256, 128),
        (4096, 9, 512),
    ] {
        let mut picture = Picture::new(8 << 20);
        let first = (1 << 20) / sector;
        picture.gpt(
            sector,
            count,
            entry_bytes,
            &[
                (BIOS_BOOT, first, first + 7),
                (LINUX, first + 8, first + 100),
                (RESERVED, first + 101, first + 101),
            ],
        );
        let found = table(&picture);
        assert_eq!(found.kind, TableKind::Gpt);
        assert_eq!(u64::from(found.sector_bytes), sector);
        assert_eq!(found.problems, Vec::<String>::new());
        assert_eq!(found.headers, Some((Copy::Valid, Copy::Valid)));
        let roles: Vec<_> = found.partitions.iter().map(|one| one.role).collect();
        assert_eq!(roles, [Role::BiosBoot, Role::Data, Role::MicrosoftReserved]);
        assert_eq!(found.partitions[1].start_bytes, (1 << 20) + 8 * sector);
        assert_eq!(found.partitions[1].size_bytes, 93 * sector);
        assert_eq!(found.partitions[1].name.as_deref(), Some("p"));
        // Only the sector size reported by the kernel is tried.
        let other = if sector == 512 { 4096 } else { 512 };
        let wrong = read(&picture, Some(other)).expect("the protective MBR is left");
        assert_eq!(wrong.kind, TableKind::Mbr);
        assert!(wrong.problems[0].contains("protects a GPT"));
    }
}

#[test]
fn a_damaged_gpt_is_replaced_by_its_backup_and_both_states_are_told() {
    let whole = {
        let mut picture = Picture::new(8 << 20);
        picture.gpt(512, 128, 128, &[(LINUX, 2048, 4095)]);
        picture
    };
    let last = whole.bytes.len() as u64 - 512;
    let cases: [(&str, u64, &str); 5] = [
        ("signature", 512, "there is no GPT at the start"),
        ("header", 512 + 60, "the checksum of its header is wrong"),
        ("entries", 1024 + 60, "the checksum of its entries is wrong"),
        (
            "backup",
            last + 60,
            "the GPT at the end of the disk is damaged",
        ),
        ("backup's signature", last, "there is no GPT at the end"),
    ];
    for (name, at, words) in cases {
        let mut picture = whole.clone();
        picture.put(at, &[0xfe]);
        let found = table(&picture);
        assert_eq!(places(&found), [(1, 1 << 20, 1 << 20)], "{name}");
        assert!(
            found.problems.iter().any(|one| one.contains(words)),
            "{name}: {:?}",
            found.problems
        );
    }
    let mut both = whole.clone();
    both.put(512, &[0xff]).put(last, &[0xff]);
    assert_eq!(table(&both).kind, TableKind::Mbr);
}

#[test]
fn headers_with_impossible_numbers_are_damaged_not_followed() {
    // The backup is gone; the header's checksum is right, its numbers are not.
    for (name, at, bytes) in [
        ("entries without end", 80, u32::MAX.to_le_bytes()),
        ("entries of nothing", 84, 0u32.to_le_bytes()),
        ("entries of 4 GiB", 84, u32::MAX.to_le_bytes()),
        ("a header of 4 GiB", 12, u32::MAX.to_le_bytes()),
        ("entries far outside", 76, u32::MAX.to_le_bytes()),
    ] {
        let mut picture = Picture::new(8 << 20);
        picture.gpt(512, 128, 128, &[(LINUX, 2048, 4095)]);
        let last = picture.bytes.len() as u64 - 512;
        picture
            .put(last, &[0; 8])
            .put(512 + at, &bytes)
            .put(512 + 16, &[0; 4]);
        let length = if at == 12 {
            92
        } else {
            u32::from_le_bytes(picture.bytes[524..528].try_into().unwrap())
        };
        let sum = tables::crc32(&picture.bytes[512..512 + length as usize]);
        picture.put(512 + 16, &sum.to_le_bytes());
        assert_eq!(table(&picture).kind, TableKind::Mbr, "{name}");
    }
}

#[test]
fn entries_with_impossible_places_overlaps_and_ends_outside_are_problems() {
    let mut picture = Picture::new(8 << 20);
    picture.gpt(
        512,
        128,
        128,
        &[
            (LINUX, 4095, 2048),
            (LINUX, 2048, 4095),
            (LINUX, 4000, 5000),
            (LINUX, 6000, 1 << 40),
            (LINUX, 1, u64::MAX),
        ],
    );
    let found = table(&picture);
    assert_eq!(places(&found).len(), 3);
    for words in [
        "partition 1 has no possible place",
        "partitions 2 and 3 overlap",
        "partition 4 ends at",
        "partition 5 has no possible place",
    ] {
        assert!(
            found.problems.iter().any(|one| one.contains(words)),
            "{words}: {:?}",
            found.problems
        );
    }
}

#[test]
fn a_hybrid_mbr_is_told_with_what_it_lists() {
    let mut picture = Picture::new(8 << 20);
    picture.gpt(512, 128, 128, &[(LINUX, 2048, 4095)]);
    picture.entry(0, 1, 0x07, 2048, 2048);
    let found = table(&picture);
    assert_eq!(found.kind, TableKind::HybridMbr);
    assert_eq!(found.hybrid.len(), 1);
    assert_eq!(found.hybrid[0].start_bytes, 1 << 20);
    assert_eq!(places(&found), [(1, 1 << 20, 1 << 20)]);
}

#[test]
fn a_gpt_without_protective_mbr_says_that_linux_does_not_show_it() {
    let mut picture = Picture::new(8 << 20);
    picture
        .gpt(512, 128, 128, &[(LINUX, 2048, 4095)])
        .put(446, &[0; 66]);
    let found = table(&picture);
    assert_eq!(found.kind, TableKind::Gpt);
    assert!(found.problems.iter().any(|one| one.contains("protective")));
}

#[test]
fn dynamic_disks_are_recognised_in_both_tables() {
    let mut mbr = Picture::new(4 << 20);
    mbr.entry(0, 0, 0x42, 63, 4000);
    assert!(table(&mbr).is_dynamic());
    let mut gpt = Picture::new(8 << 20);
    gpt.gpt(
        512,
        128,
        128,
        &[("AF9B60A0-1431-4F62-BC68-3311714A69AD", 2048, 4095)],
    );
    assert!(table(&gpt).is_dynamic());
}

#[test]
fn boot_sectors_noise_and_short_images_have_no_table() {
    let mut ntfs = Picture::new(4 << 20);
    ntfs.ntfs(0, 8);
    ntfs.put(446 + 4, &[0x07, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(read(&ntfs, None), None);
    let mut noise = Picture::new(1 << 20);
    noise.put(0, &[0x5a; 510]).put(510, &[0x55, 0xaa]);
    assert_eq!(read(&noise, None), None);
    for length in [0, 1, 511, 512, 513] {
        assert_eq!(read(&Picture::new(length), None), None, "{length}");
    }
}

#[test]
fn an_mbr_without_partitions_is_one_where_the_disk_has_a_signature() {
    for (signature, wanted) in [(0u32, false), (0x1234_abcd, true)] {
        let mut picture = Picture::new(1 << 20);
        picture.put(440, &signature.to_le_bytes());
        picture.put(510, &[0x55, 0xaa]);
        let found = read(&picture, None);
        assert_eq!(found.is_some(), wanted, "{signature:x}");
        assert!(found.is_none_or(|table| table.partitions.is_empty()));
    }
}
