//! Property tests over random small arrays, with fixed seeds; and byte arrays
//! that are written through the plans, lose drives, and are read again.

mod galois;

use super::*;
use galois::restore;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::collections::HashMap;

const PAGE: u64 = 4;

fn fixed() -> Config {
    Config {
        rng_seed: RngSeed::Fixed(2127),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Layouts small enough to walk through byte by byte.
fn layouts() -> impl Strategy<Value = Layout> {
    let writes = [
        ParityWrite::Cheaper,
        ParityWrite::ReadModifyWrite,
        ParityWrite::ReconstructWrite,
    ];
    let rotations = [
        Rotation::LeftSymmetric,
        Rotation::LeftAsymmetric,
        Rotation::RightSymmetric,
        Rotation::RightAsymmetric,
        Rotation::ParityLast,
    ];
    let ways = (0..3usize, 0..5usize);
    (0..7usize, 1..8u32, 1..5u64, 1..9u64, ways, 0..4u64).prop_map(
        move |(level, disks, unit, rows, (write, rotation), chunklet_rows)| {
            let level = Level::ALL[level].0;
            let disks = match level {
                Level::Single => 1,
                Level::Raid10 => disks.max(2) / 2 * 2,
                level => disks.max(level.disks_min()),
            };
            Layout {
                level,
                disks,
                unit_bytes: unit * PAGE,
                disk_bytes: unit * PAGE * rows,
                parity_page_bytes: PAGE,
                parity_write: writes[write],
                rotation: rotations[rotation],
                chunklet_rows,
            }
        },
    )
}

/// A layout and a range of its bytes.
fn operations() -> impl Strategy<Value = (Layout, u64, u64)> {
    (layouts(), any::<u64>(), any::<u64>()).prop_map(|(layout, from, length)| {
        let size = layout.size_bytes();
        let from = from % size;
        (layout, from, 1 + length % (size - from))
    })
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn mapping_is_a_bijection(layout in layouts()) {
        let mut seen = HashMap::new();
        for logical in 0..layout.size_bytes() {
            let place = layout.locate(logical);
            prop_assert!(place.disk < layout.disks && place.offset_bytes < layout.disk_bytes);
            prop_assert_eq!(layout.role(place), Some(Role::Data(logical)));
            prop_assert_eq!(seen.insert(place, logical), None);
        }
        // Every other place is a copy or parity, of something that exists.
        for disk in 0..layout.disks {
            for offset_bytes in 0..layout.disk_bytes {
                let place = DrivePlace { disk, offset_bytes };
                match layout.role(place) {
                    Some(Role::Data(logical)) => prop_assert_eq!(layout.locate(logical), place),
                    Some(Role::Mirror(logical)) => prop_assert!(logical < layout.size_bytes()),
                    Some(Role::Parity(row) | Role::SecondParity(row)) => {
                        prop_assert_eq!(row, offset_bytes / layout.unit_bytes);
                    }
                    None => prop_assert!(false, "{:?} is for nothing", place),
                }
            }
            prop_assert_eq!(layout.role(DrivePlace { disk, offset_bytes: layout.disk_bytes }), None);
        }
    }

    #[test]
    fn every_byte_of_an_operation_is_covered_once((layout, from, length) in operations()) {
        let mut at = from;
        let mut pieces = 0;
        layout.pieces(from, length, |piece| {
            assert_eq!(piece.logical_bytes, at);
            assert_eq!(piece.place, layout.locate(at));
            assert_eq!(
                layout.locate(at + piece.length_bytes - 1).offset_bytes,
                piece.place.offset_bytes + piece.length_bytes - 1,
                "a piece is contiguous on its drive"
            );
            at += piece.length_bytes;
            pieces += 1;
        });
        prop_assert_eq!(at, from + length);
        prop_assert_eq!(pieces, layout.units_touched(from, length));
        // Reads: each byte from one drive.
        let mut read = vec![0u32; length as usize];
        layout.plan(false, Phase::First, from, length, &mut |access| {
            assert!(!access.write);
            let disk = match access.target { Target::Disk(disk) => disk, Target::AnyOf { first, .. } => first };
            for offset_bytes in access.offset_bytes..access.offset_bytes + access.length_bytes {
                let Some(Role::Data(logical)) = layout.role(DrivePlace { disk, offset_bytes }) else {
                    panic!("reads go to data");
                };
                read[(logical - from) as usize] += 1;
            }
        });
        prop_assert!(read.iter().all(|&count| count == 1));
    }

    #[test]
    fn what_is_found_sooner_is_the_plan((layout, from, length) in operations()) {
        // A page, too: that is what most small writes are.
        for (from, length) in [(from, length), (from / PAGE * PAGE, PAGE)] {
            let plan = |write, phase| {
                let mut accesses = Vec::new();
                layout.plan(write, phase, from, length, &mut |access| accesses.push(access));
                accesses
            };
            for write in [false, true] {
                if let Some(access) = layout.only_access(write, from, length) {
                    prop_assert_eq!(plan(write, Phase::First), [access]);
                    prop_assert_eq!(plan(write, Phase::Second), []);
                }
            }
            let Some(alike) = layout.alike(from, length) else {
                let modifies = layout.parity_write == ParityWrite::ReadModifyWrite
                    && layout.level.parities() > 0
                    && layout.data_disks() > 1;
                let whole_page = from.is_multiple_of(PAGE) && length == PAGE;
                prop_assert!(!(whole_page && (layout.copies() == 2 || modifies)));
                continue;
            };
            let accesses = |write| -> Vec<_> {
                let on = |&disk: &u32| Access {
                    target: Target::Disk(disk),
                    offset_bytes: alike.offset_bytes,
                    length_bytes: length,
                    write,
                };
                alike.disks().iter().map(on).collect()
            };
            let (first, second) = (plan(true, Phase::First), plan(true, Phase::Second));
            if layout.has_second_phase(true) {
                prop_assert_eq!((first, second), (accesses(false), accesses(true)));
            } else {
                prop_assert_eq!((first, second), (accesses(true), vec![]));
            }
        }
    }

    #[test]
    fn what_is_written_survives_every_loss_that_the_level_permits(
        (layout, from, length) in operations(), (_, more, again) in operations(), seed in any::<u64>()
    ) {
        let mut drives = Drives::new(&layout, seed);
        drives.write(from, length, seed ^ 1);
        let from = more % layout.size_bytes();
        let length = 1 + again % (layout.size_bytes() - from).min(3 * layout.unit_bytes);
        drives.write(from, length, seed ^ 2);
        for mask in 0..1u32 << layout.disks {
            let lost: Vec<u32> = (0..layout.disks).filter(|disk| mask >> disk & 1 == 1).collect();
            // What is lost for good is not worth walking through for every mask.
            if !layout.survives(&lost) && lost.len() > 3 { continue; }
            let intact = (0..layout.size_bytes()).all(|logical| {
                drives.read_without(&lost, logical) == Some(drives.expected[logical as usize])
            });
            prop_assert_eq!(intact, layout.survives(&lost), "without {:?}", &lost);
        }
    }
}

/// Drives of bytes that follow the plans exactly: a second phase may use only
/// what its first phase has read.
struct Drives<'a> {
    layout: &'a Layout,
    bytes: Vec<Vec<u8>>,
    expected: Vec<u8>,
}

impl<'a> Drives<'a> {
    fn new(layout: &'a Layout, seed: u64) -> Self {
        let mut drives = Drives {
            layout,
            bytes: vec![vec![0; layout.disk_bytes as usize]; layout.disks as usize],
            expected: vec![0; layout.size_bytes() as usize],
        };
        drives.write(0, layout.size_bytes(), seed);
        drives
    }

    fn write(&mut self, from: u64, length: u64, seed: u64) {
        let layout = self.layout;
        let range = from..from + length;
        let mut random = seed | 1;
        for logical in range.clone() {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            self.expected[logical as usize] = (random >> 33) as u8;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for phase in [Phase::First, Phase::Second] {
            layout.plan(true, phase, from, length, &mut |access| {
                assert!(
                    access.write || phase == Phase::First,
                    "the second phase only writes"
                );
                if access.write {
                    writes.push(access)
                } else {
                    reads.push(access)
                }
            });
        }
        // What the controller knows: old bytes it has read.
        let mut old = HashMap::new();
        for place in reads.iter().flat_map(places) {
            old.insert(
                place,
                self.bytes[place.disk as usize][place.offset_bytes as usize],
            );
        }
        let mut new = Vec::new();
        let mut data_written = vec![0u32; length as usize];
        for place in writes.iter().flat_map(places) {
            let byte = match layout.role(place).unwrap() {
                Role::Data(logical) | Role::Mirror(logical) if range.contains(&logical) => {
                    if layout.role(place) == Some(Role::Data(logical)) {
                        data_written[(logical - from) as usize] += 1;
                    }
                    self.expected[logical as usize]
                }
                Role::Data(_) | Role::Mirror(_) => old[&place],
                Role::Parity(row) => self.parity(row, place, &range, &old).0,
                Role::SecondParity(row) => self.parity(row, place, &range, &old).1,
            };
            new.push((place, byte));
        }
        assert!(
            data_written.iter().all(|&count| count == 1),
            "each byte is written once"
        );
        for (place, byte) in new {
            self.bytes[place.disk as usize][place.offset_bytes as usize] = byte;
        }
    }

    /// New P and Q of a column from what is new and what has been read: from all
    /// data bytes where they are known, else from the change.
    fn parity(
        &self,
        row: u64,
        place: DrivePlace,
        range: &std::ops::Range<u64>,
        old: &HashMap<DrivePlace, u8>,
    ) -> (u8, u8) {
        let layout = self.layout;
        let unit = layout.unit_bytes;
        let inside = place.offset_bytes % unit;
        let columns =
            (0..layout.data_disks()).map(|c| (row * layout.data_disks() + c) * unit + inside);
        let known: Option<Vec<u8>> = columns
            .clone()
            .map(|logical| {
                if range.contains(&logical) {
                    Some(self.expected[logical as usize])
                } else {
                    old.get(&layout.locate(logical)).copied()
                }
            })
            .collect();
        if let Some(all) = known {
            return galois::parities(all);
        }
        let change = galois::parities(columns.map(|logical| {
            if range.contains(&logical) {
                self.expected[logical as usize] ^ old[&layout.locate(logical)]
            } else {
                0
            }
        }));
        let before = old[&place];
        (before ^ change.0, before ^ change.1)
    }

    fn read_without(&self, lost: &[u32], logical: u64) -> Option<u8> {
        let layout = self.layout;
        let at = |place: DrivePlace| {
            (!lost.contains(&place.disk))
                .then(|| self.bytes[place.disk as usize][place.offset_bytes as usize])
        };
        let place = layout.locate(logical);
        if layout.level.parities() == 0 {
            return (place.disk..place.disk + layout.copies())
                .find_map(|disk| at(DrivePlace { disk, ..place }));
        }
        let (row, inside) = (
            place.offset_bytes / layout.unit_bytes,
            place.offset_bytes % layout.unit_bytes,
        );
        let width = layout.data_disks();
        let data: Vec<Option<u8>> = (0..width)
            .map(|column| at(layout.locate((row * width + column) * layout.unit_bytes + inside)))
            .collect();
        let parity = |number: u64| {
            let disk = (layout.parity_disk(row) + number) % u64::from(layout.disks);
            at(DrivePlace {
                disk: disk as u32,
                offset_bytes: place.offset_bytes,
            })
        };
        let second = if layout.level == Level::Raid6 {
            parity(1)
        } else {
            None
        };
        let column = logical / layout.unit_bytes % width;
        restore(&data, parity(0), second).map(|bytes| bytes[column as usize])
    }
}

fn places(access: &Access) -> Vec<DrivePlace> {
    let Target::Disk(disk) = access.target else {
        panic!("writes name their drive");
    };
    (access.offset_bytes..access.offset_bytes + access.length_bytes)
        .map(|offset_bytes| DrivePlace { disk, offset_bytes })
        .collect()
}

fn raid(level: Level, disks: u32, parity_write: ParityWrite) -> Layout {
    Layout {
        level,
        disks,
        unit_bytes: 64 << 10,
        disk_bytes: 1 << 30,
        parity_page_bytes: 4 << 10,
        parity_write,
        rotation: Rotation::LeftSymmetric,
        chunklet_rows: 0,
    }
}

/// Accesses (reads, writes) of one write.
fn cost(layout: &Layout, offset: u64, length: u64) -> (u32, u32) {
    let (mut reads, mut writes) = (0, 0);
    for phase in [Phase::First, Phase::Second] {
        layout.plan(true, phase, offset, length, &mut |access| {
            if access.write {
                writes += 1
            } else {
                reads += 1
            }
        });
    }
    (reads, writes)
}

#[test]
fn small_writes_cost_what_the_textbook_says() {
    use ParityWrite::{Cheaper, ReadModifyWrite, ReconstructWrite};
    let (k8, k64) = (8 << 10, 64 << 10);
    for (level, disks, method, offset, length, expected) in [
        (Level::Raid5, 4, ReadModifyWrite, 0, k8, (2, 2)),
        (Level::Raid5, 4, Cheaper, 0, k8, (2, 2)),
        (Level::Raid5, 3, Cheaper, 0, k8, (1, 2)),
        (Level::Raid5, 3, ReconstructWrite, 0, k8, (1, 2)),
        (Level::Raid5, 3, ReadModifyWrite, 0, k8, (2, 2)),
        (Level::Raid5, 8, ReconstructWrite, 0, k8, (6, 2)),
        (Level::Raid5, 8, Cheaper, 0, k8, (2, 2)),
        (Level::Raid6, 6, Cheaper, 0, k8, (3, 3)),
        (Level::Raid6, 4, Cheaper, 0, k8, (1, 3)),
        // A full stripe reads nothing.
        (Level::Raid5, 4, Cheaper, 0, 3 * k64, (0, 4)),
        (Level::Raid6, 4, Cheaper, 0, 2 * k64, (0, 4)),
        // Two units of three: the third is read.
        (Level::Raid5, 4, Cheaper, 0, 2 * k64, (1, 3)),
        (Level::Raid10, 4, Cheaper, 0, k8, (0, 2)),
        (Level::Raid1, 3, Cheaper, 0, k8, (0, 3)),
        (Level::Raid0, 4, Cheaper, 60 << 10, k8, (0, 2)),
    ] {
        let layout = raid(level, disks, method);
        assert_eq!(
            cost(&layout, offset, length),
            expected,
            "{level:?} {disks} {method:?} {length}"
        );
    }
}

#[test]
fn a_write_off_the_parity_pages_costs_three_times_as_much() {
    let layout = raid(Level::Raid5, 4, ParityWrite::Cheaper);
    let total = |offset| {
        let (reads, writes) = cost(&layout, offset, 8 << 10);
        reads + writes
    };
    assert_eq!(total(36 << 10), 4, "a multiple of 4K splits no page");
    assert_eq!(total(32_256), 12);
    assert_eq!(total((64 << 10) + 512 + (8 << 10)), 12);
    assert_eq!(
        total(60 << 10),
        6,
        "two units of one row are crossed: reconstruct-write"
    );
}

#[test]
fn the_drives_of_chunklets_stand_in_another_order() {
    let plain = raid(Level::Raid0, 6, ParityWrite::Cheaper);
    let moved = Layout {
        chunklet_rows: 4,
        ..plain
    };
    let row = 6 * plain.unit_bytes;
    let first = |layout: &Layout, number: u64| layout.locate(number * row).disk;
    assert!((0..100).all(|number| first(&plain, number) == 0));
    let disks: Vec<u32> = (0..100).map(|number| first(&moved, number)).collect();
    // The same within a chunklet of four rows, and all drives have their turn.
    assert!(
        disks
            .chunks(4)
            .all(|rows| rows.iter().all(|disk| *disk == rows[0]))
    );
    assert!((0..6).all(|disk| disks.contains(&disk)));
}

/// Rows as diagrams of Linux md have them: the number of the unit on each drive.
#[test]
fn parity_rotates_as_in_diagrams() {
    use Rotation::{LeftAsymmetric, LeftSymmetric, ParityLast, RightAsymmetric, RightSymmetric};
    for (level, rotation, diagram) in [
        (
            Level::Raid5,
            LeftSymmetric,
            "0 1 2 P|4 5 P 3|8 P 6 7|P 9 10 11",
        ),
        (
            Level::Raid5,
            LeftAsymmetric,
            "0 1 2 P|3 4 P 5|6 P 7 8|P 9 10 11",
        ),
        (
            Level::Raid5,
            RightSymmetric,
            "P 0 1 2|5 P 3 4|7 8 P 6|9 10 11 P",
        ),
        (
            Level::Raid5,
            RightAsymmetric,
            "P 0 1 2|3 P 4 5|6 7 P 8|9 10 11 P",
        ),
        (Level::Raid5, ParityLast, "0 1 2 P|3 4 5 P"),
        (
            Level::Raid6,
            LeftSymmetric,
            "Q 0 1 P|2 3 P Q|5 P Q 4|P Q 6 7",
        ),
        (
            Level::Raid6,
            LeftAsymmetric,
            "Q 0 1 P|2 3 P Q|4 P Q 5|P Q 6 7",
        ),
        (
            Level::Raid6,
            RightSymmetric,
            "P Q 0 1|3 P Q 2|4 5 P Q|Q 6 7 P",
        ),
        (
            Level::Raid6,
            RightAsymmetric,
            "P Q 0 1|2 P Q 3|4 5 P Q|Q 6 7 P",
        ),
        (Level::Raid6, ParityLast, "0 1 P Q|2 3 P Q"),
    ] {
        let layout = Layout {
            rotation,
            ..raid(level, 4, ParityWrite::Cheaper)
        };
        for (row, drives) in diagram.split('|').enumerate() {
            for (disk, expected) in drives.split(' ').enumerate() {
                let place = DrivePlace {
                    disk: disk as u32,
                    offset_bytes: row as u64 * layout.unit_bytes,
                };
                let found = match layout.role(place) {
                    Some(Role::Parity(_)) => "P".to_owned(),
                    Some(Role::SecondParity(_)) => "Q".to_owned(),
                    Some(Role::Data(at)) => {
                        assert_eq!(layout.locate(at), place);
                        (at / layout.unit_bytes).to_string()
                    }
                    other => panic!("{other:?}"),
                };
                assert_eq!(found, expected, "{level:?} {rotation:?}, row {row}");
            }
        }
    }
}
