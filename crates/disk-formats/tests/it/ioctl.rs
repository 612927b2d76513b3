//! Golden answers, decoded; wrong ones, refused; mutated ones, survived.

use crate::answers as buffers;
use crate::anything;
use buffers::{
    BASIC_DATA, Buffer, LDM_DATA, RESERVED, SPACES, alignment, descriptor, gpt, mbr, ntfs,
};

use stripewise_disk_formats::ioctl::*;
use stripewise_disk_formats::tables::{Role, TableKind};

const M: i64 = 1 << 20;
const G: i64 = 1 << 30;

#[test]
fn an_mbr_layout_is_the_table_with_its_logical_partitions_and_without_links() {
    let bytes = mbr(
        0x8f3a_11c2,
        &[
            (1, 32_256, 10 * G, 0x07),
            (0, 20 * G, 40 * G, 0x0f),
            (0, 0, 0, 0),
            (0, 0, 0, 0),
            (2, 20 * G + 32_256, 5 * G, 0x07),
            (0, 30 * G, 10 * G, 0x05),
            (3, 30 * G + M, 5 * G, 0x42),
        ],
    );
    let table = drive_layout(&bytes, 512).unwrap();
    assert_eq!(table.kind, TableKind::Mbr);
    assert_eq!(table.id.as_deref(), Some("0x8f3a11c2"));
    assert_eq!(table.problems, Vec::<String>::new());
    let found: Vec<_> = table
        .partitions
        .iter()
        .map(|one| (one.number, one.start_bytes, one.role, one.logical))
        .collect();
    let at = |bytes: i64| bytes as u64;
    assert_eq!(
        found,
        [
            (0, at(20 * G), Role::Extended, false),
            (1, 32_256, Role::Data, false),
            (2, at(20 * G + 32_256), Role::Data, true),
            (3, at(30 * G + M), Role::Dynamic, true),
        ]
    );
    assert_eq!(table.partitions[1].type_name, Some("NTFS/exFAT"));
    assert!(table.partitions[1].bootable);
}

#[test]
fn a_gpt_layout_is_the_table_with_guids_as_microsoft_writes_them() {
    let bytes = gpt(&[
        (1, 17_408, 16 * M - 17_408, RESERVED),
        (2, 16 * M, 100 * G, BASIC_DATA),
        (3, 101 * G, G, LDM_DATA),
        (4, 103 * G, G, SPACES),
        (0, 0, 0, [0; 16]),
    ]);
    let table = drive_layout(&bytes, 4096).unwrap();
    assert_eq!((table.kind, table.sector_bytes), (TableKind::Gpt, 4096));
    assert_eq!(
        table.id.as_deref(),
        Some("44444444-4444-4444-4444-444444444444")
    );
    let roles: Vec<Role> = table.partitions.iter().map(|one| one.role).collect();
    assert_eq!(
        roles,
        [
            Role::MicrosoftReserved,
            Role::Data,
            Role::Dynamic,
            Role::StoragePool
        ]
    );
    let data = &table.partitions[1];
    assert_eq!(data.type_id, "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7");
    assert_eq!(data.name.as_deref(), Some("Basic data"));
    assert_eq!(
        data.uuid.as_deref(),
        Some("02020202-0202-0202-0202-020202020202")
    );
    assert_eq!((data.start_bytes, data.size_bytes), (16 << 20, 100 << 30));
}

#[test]
fn a_disk_without_a_table_is_raw() {
    let bytes = Buffer::new(48).u32(0, 2).0;
    assert!(layout::is_raw(&bytes));
    assert_eq!(drive_layout(&bytes, 512).unwrap().partitions, []);
    assert!(!layout::is_raw(&mbr(1, &[])));
}

#[test]
fn entries_with_a_length_are_occupied_whatever_their_type() {
    for (bytes, expected) in [
        (mbr(1, &[(1, 32_256, G, 7), (0, 0, 0, 0)]), 1),
        // Unused by its type, with a length all the same.
        (mbr(1, &[(1, 32_256, G, 0)]), 1),
        (mbr(1, &[(0, 0, 0, 0), (0, 0, 0, 0)]), 0),
        (mbr(1, &[]), 0),
        (Buffer::new(48).u32(0, 2).0, 0),
        // A disk that says RAW has none, whatever follows.
        (Buffer(mbr(1, &[(1, 32_256, G, 7)])).u32(0, 2).0, 0),
    ] {
        assert_eq!(layout::occupied_entries(&bytes).unwrap(), expected);
    }
    let good = mbr(1, &[(1, 32_256, G, 7)]);
    let gpt = Buffer(good.clone()).u32(0, 1).0;
    assert_eq!(layout::occupied_entries(&gpt).unwrap(), 1);
    for (what, bytes) in [
        ("where at least 48", good[..7].to_vec()),
        ("1 are there", Buffer(good.clone()).u32(4, 2).0),
        ("a partition style of 9", Buffer(good.clone()).u32(0, 9).0),
        ("length is -9", Buffer(good).i64(64, -9).0),
    ] {
        let error = layout::occupied_entries(&bytes).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let good = mbr(1, &[(1, 32_256, G, 7)]);
    for (what, bytes) in [
        ("where at least 48", good[..47].to_vec()),
        (
            "2 entries are claimed, 1 are there",
            Buffer(good.clone()).u32(4, 2).0,
        ),
        ("entries", Buffer(good.clone()).u32(4, u32::MAX).0),
        ("a partition style of 3", Buffer(good.clone()).u32(0, 3).0),
        ("style of 9", Buffer(good.clone()).u32(48, 9).0),
        ("start is -1", Buffer(good.clone()).i64(56, -1).0),
        ("length is -9", Buffer(good.clone()).i64(64, -9).0),
    ] {
        let error = drive_layout(&bytes, 512).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let far = Buffer(good).i64(56, i64::MAX).i64(64, i64::MAX).0;
    assert!(
        drive_layout(&far, 512).is_ok(),
        "sums past 2^63 are no panic"
    );
}

#[test]
fn sectors_and_sizes_are_those_that_disks_have() {
    let found = geometry(&buffers::geometry(512, 1_000_204_886_016)).unwrap();
    assert_eq!(
        (found.sector_bytes, found.size_bytes, found.removable),
        (512, 1_000_204_886_016, false)
    );
    for (sector, size) in [(0, 1), (513, 1), (1 << 20, 1), (512, -1)] {
        assert!(geometry(&buffers::geometry(sector, size)).is_err());
    }
    assert!(geometry(&[0; 31]).is_err());
}

#[test]
fn the_first_whole_physical_sector_follows_from_where_sector_0_stands() {
    for (logical, physical, inside, first) in [
        (512, 512, 0, 0),
        (512, 4096, 0, 0),
        (4096, 4096, 0, 0),
        // A drive whose jumper makes partitions at sector 63 right: sector 0 is
        // the second of its physical one.
        (512, 4096, 512, 3584),
        (512, 4096, 3584, 512),
    ] {
        let found = access_alignment(&alignment(logical, physical, inside)).unwrap();
        assert_eq!(found.logical_sector_bytes, logical);
        assert_eq!(found.physical_sector_bytes, physical);
        assert_eq!(found.first_physical_bytes, first, "{inside}");
    }
    for (logical, physical, inside) in [
        (0, 512, 0),
        (512, 0, 0),
        (4096, 512, 0),
        (512, 4096, 100),
        (512, 4096, 4096),
        (500, 4096, 0),
    ] {
        assert!(access_alignment(&alignment(logical, physical, inside)).is_err());
    }
    assert!(access_alignment(&alignment(512, 4096, 0)[..27]).is_err());
}

#[test]
fn a_device_names_itself_and_its_bus() {
    let bytes = descriptor(17, ["", "Samsung SSD 980 1TB", "2B4QFXO7", " S649NX0R "]);
    let found = device_descriptor(&bytes).unwrap();
    assert_eq!(found.model().as_deref(), Some("Samsung SSD 980 1TB"));
    assert_eq!(found.revision.as_deref(), Some("2B4QFXO7"));
    assert_eq!(found.serial.as_deref(), Some("S649NX0R"));
    assert_eq!(found.bus.name(), Some("nvme"));
    let raid = device_descriptor(&descriptor(8, ["DELL    ", "PERC H730 Mini", "4.30", ""]));
    let raid = raid.unwrap();
    assert_eq!(raid.model().as_deref(), Some("DELL PERC H730 Mini"));
    assert_eq!(
        (raid.serial.as_deref(), raid.bus.name()),
        (None, Some("raid"))
    );
    assert_eq!(BusType::SPACES.name(), Some("storage-spaces"));
    assert_eq!(BusType(0).name(), None);
    assert_eq!(BusType(u32::MAX).name(), None);
}

#[test]
fn texts_outside_a_descriptor_are_refused_and_missing_ones_are_missing() {
    let good = descriptor(11, ["", "disk", "", ""]);
    for place in [1, 35, good.len() as u32, u32::MAX - 1] {
        let bytes = Buffer(good.clone()).u32(16, place).0;
        assert!(device_descriptor(&bytes).is_err(), "{place}");
    }
    let none = Buffer(good).u32(24, u32::MAX).0;
    assert_eq!(device_descriptor(&none).unwrap().serial, None);
    // A text that nothing ends is cut, an escape sequence is made harmless.
    let long = descriptor(11, ["", &"x".repeat(200), "\x1b[31m", ""]);
    let found = device_descriptor(&long[..244]).unwrap();
    assert_eq!(found.product.unwrap().len(), 200);
    assert!(!found.revision.unwrap_or_default().contains('\x1b'));
    assert!(device_descriptor(&long[..35]).is_err());
}

#[test]
fn caches_and_spinning_are_told_only_where_the_driver_knows() {
    assert_eq!(seek_penalty(&buffers::seek_penalty(true)), Ok(true));
    assert_eq!(seek_penalty(&buffers::seek_penalty(false)), Ok(false));
    assert!(seek_penalty(&[0; 8]).is_err());
    for (kind, enabled, mode) in [
        (0, 0, None),
        (1, 0, Some("write through")),
        (2, 2, Some("write back")),
        (2, 1, Some("write through")),
        (2, 0, Some("write back")),
        (3, 2, Some("write through")),
        (0, 2, Some("write back")),
        (9, 9, None),
    ] {
        let found = write_cache(&buffers::write_cache(kind, enabled, 0)).unwrap();
        assert_eq!(found.mode, mode, "{kind} {enabled}");
        assert_eq!(found.forced_unit_access, None);
    }
    let through = |answer| write_cache(&buffers::write_cache(2, 2, answer)).unwrap();
    assert_eq!(through(1).forced_unit_access, Some(false));
    assert_eq!(through(2).forced_unit_access, Some(true));
}

#[test]
fn a_device_number_names_disk_and_partition() {
    let bytes = |partition| Buffer::new(12).u32(0, 7).u32(4, 3).u32(8, partition).0;
    let found = device_number(&bytes(2)).unwrap();
    assert_eq!((found.kind, found.disk, found.partition), (7, 3, Some(2)));
    assert_eq!(device_number(&bytes(u32::MAX)).unwrap().partition, None);
    assert!(device_number(&[0; 11]).is_err());
}

#[test]
fn volumes_may_have_extents_on_several_disks() {
    let found = disk_extents(&buffers::disk_extents(&[(1, M, G), (2, 32_256, 2 * G)])).unwrap();
    assert_eq!(found[1].disk, 2);
    assert_eq!(
        (found[1].start_bytes, found[1].size_bytes),
        (32_256, 2 << 30)
    );
    assert_eq!(disk_extents(&buffers::disk_extents(&[])), Ok(vec![]));
    let lie = Buffer(buffers::disk_extents(&[(0, 0, 1)])).u32(0, 2).0;
    for bytes in [lie, buffers::disk_extents(&[(0, -1, 1)]), vec![0; 7]] {
        assert!(disk_extents(&bytes).is_err());
    }
}

#[test]
fn clusters_of_ntfs_are_powers_of_two() {
    let found = ntfs_volume(&ntfs(512, 65_536, 2048)).unwrap();
    assert_eq!(found.allocation_unit_bytes, 65_536);
    assert_eq!((found.size_bytes, found.sector_bytes), (1 << 20, 512));
    assert_eq!(found.serial, "123456789ABCDEF0");
    for (sector, cluster, sectors) in [
        (512, 0, 1),
        (512, 3000, 1),
        (0, 4096, 1),
        (4096, 512, 1),
        (512, 4 << 20, 1),
        (512, 4096, -1),
        (512, 4096, i64::MAX),
    ] {
        assert!(ntfs_volume(&ntfs(sector, cluster, sectors)).is_err());
    }
}

#[test]
fn runs_of_a_file_follow_each_other_and_holes_have_no_place() {
    let bytes = buffers::retrieval_pointers(0, &[(16, 1000), (32, -1), (40, 5000)]);
    let found = retrieval_pointers(&bytes, 0, 4096).unwrap();
    let one = |logical: u64, place: Option<u64>, length: u64| FileExtent {
        logical_bytes: logical * 4096,
        volume_bytes: place.map(|place| place * 4096),
        length_bytes: length * 4096,
    };
    assert_eq!(
        found.extents,
        [
            one(0, Some(1000), 16),
            one(16, None, 16),
            one(32, Some(5000), 8)
        ]
    );
    assert_eq!(found.next_cluster, 40);
    for (runs, from) in [
        (buffers::retrieval_pointers(0, &[(16, 1), (16, 2)]), 0),
        (buffers::retrieval_pointers(5, &[(16, 1)]), 0),
        (buffers::retrieval_pointers(0, &[(16, -2)]), 0),
        (buffers::retrieval_pointers(0, &[(16, i64::MAX)]), 0),
        (buffers::retrieval_pointers(-1, &[(16, 1)]), 0),
        (vec![0; 15], 0),
    ] {
        assert!(retrieval_pointers(&runs, from, 4096).is_err());
    }
}

/// Deterministic noise (xorshift64).
fn noise(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn mutated_answers_never_crash() {
    let seeds = [
        mbr(7, &[(1, 32_256, G, 7), (0, G, G, 5), (2, G + M, M, 0x42)]),
        gpt(&[(1, M, G, BASIC_DATA), (2, 2 * G, G, SPACES)]),
        buffers::geometry(512, G),
        alignment(512, 4096, 512),
        descriptor(10, ["maker", "model", "1.0", "serial"]),
        buffers::seek_penalty(true),
        buffers::write_cache(2, 2, 2),
        buffers::disk_extents(&[(0, M, G), (1, M, G)]),
        ntfs(512, 4096, 1000),
        buffers::retrieval_pointers(0, &[(16, 1000), (32, -1)]),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for seed in &seeds {
        anything::windows_answer(seed);
        for cut in 0..seed.len() {
            anything::windows_answer(&seed[..cut]);
        }
        for _ in 0..4_000 {
            let mut bytes = seed.clone();
            for _ in 0..=noise(&mut state) % 4 {
                let at = (noise(&mut state) % bytes.len() as u64) as usize;
                let interesting = [0, 1, 0x7f, 0x80, 0xff, noise(&mut state) as u8];
                bytes[at] = interesting[(noise(&mut state) % 6) as usize];
            }
            anything::windows_answer(&bytes);
        }
    }
}
