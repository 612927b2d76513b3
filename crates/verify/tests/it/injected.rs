//! One fault at a time, of every sort: each is found, and called by its name.
//!
//! Some hundreds of each here; 10,000 of each in the ignored test, which
//! `cargo xtask nightly` runs.

use crate::model::{Disks, Driver, SECTOR, Wrong, verify_targets};
use std::ops::Range;
use stripewise_units::Kind;
use stripewise_verify::{Class, Fault, Operation, Phase, SeededRng};

const BLOCK: u32 = 2048;
const BLOCKS: u64 = 16;
const LOG_SECTORS: u64 = 24;
const DATA_BYTES: u64 = BLOCKS * BLOCK as u64;
const DISK_BYTES: usize = (DATA_BYTES + LOG_SECTORS * SECTOR as u64) as usize;
const CASES: u64 = 30;

/// A sort of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Lost,
    MisdirectedWrite,
    WrongDisk,
    TornFront,
    TornBack,
    ShortWrite,
    Flipped,
    ShiftedOffsets,
    Zeroed,
    Dropped,
    Foreign,
    Late,
    Copies,
    Stale,
    MisdirectedRead,
    FlippedOnRead,
    ShortRead,
}

const ALL: [Sort; 17] = [
    Sort::Lost,
    Sort::MisdirectedWrite,
    Sort::WrongDisk,
    Sort::TornFront,
    Sort::TornBack,
    Sort::ShortWrite,
    Sort::Flipped,
    Sort::ShiftedOffsets,
    Sort::Zeroed,
    Sort::Dropped,
    Sort::Foreign,
    Sort::Late,
    Sort::Copies,
    Sort::Stale,
    Sort::MisdirectedRead,
    Sort::FlippedOnRead,
    Sort::ShortRead,
];

impl Sort {
    fn of_reads(self) -> bool {
        use Sort::{FlippedOnRead, MisdirectedRead, ShortRead, Stale};
        matches!(self, Stale | MisdirectedRead | FlippedOnRead | ShortRead)
    }

    /// What it must be called.
    fn class(self) -> Class {
        match self {
            Sort::Lost => Class::LostWrite,
            Sort::MisdirectedWrite => Class::MisdirectedWrite,
            Sort::WrongDisk => Class::WrongDisk,
            Sort::TornFront | Sort::TornBack | Sort::ShortWrite => Class::Torn,
            Sort::Flipped | Sort::ShiftedOffsets | Sort::Zeroed => Class::Damaged,
            Sort::Dropped => Class::Dropped,
            Sort::Foreign => Class::Foreign,
            Sort::Late => Class::LateWrite,
            Sort::Copies => Class::CopiesDiffer,
            Sort::Stale => Class::StaleRead,
            Sort::MisdirectedRead => Class::MisdirectedRead,
            Sort::FlippedOnRead => Class::Transient,
            Sort::ShortRead => Class::NotRead,
        }
    }

    /// The fault for this operation; `None` where the operation is not one that it can
    /// befall.
    fn wrong(
        self,
        operation: &Operation,
        disk: usize,
        disks: &Disks,
        rng: &mut SeededRng,
    ) -> Option<Wrong> {
        let sectors = operation.length_bytes as usize / SECTOR;
        let is_read = operation.kind == Kind::Read;
        if is_read != self.of_reads() {
            return None;
        }
        let sector = rng.below(sectors as u64) as usize;
        let part = || (sectors > 1).then_some(());
        Some(match self {
            Sort::Lost => Wrong::Lost,
            Sort::MisdirectedWrite => Wrong::WrittenAt(other_place(operation, rng)?),
            Sort::WrongDisk => Wrong::WrittenToOther,
            Sort::TornFront | Sort::ShortWrite => {
                part()?;
                Wrong::Only(0..1 + rng.below(sectors as u64 - 1) as usize)
            }
            Sort::TornBack => {
                part()?;
                Wrong::Only(1 + rng.below(sectors as u64 - 1) as usize..sectors)
            }
            Sort::Flipped => Wrong::Flipped {
                sector,
                // An odd number: an even one may flip the same bit back.
                bits: 1 + 2 * rng.below(20) as usize,
            },
            Sort::ShiftedOffsets => Wrong::ShiftedOffsets {
                sector,
                by: 1 + rng.below(SECTOR as u64 - 1) as usize,
            },
            Sort::Zeroed => {
                let from = rng.below(SECTOR as u64 - 80) as usize;
                let bytes = 16 + rng.below((SECTOR - 64 - from) as u64) as usize;
                Wrong::Zeroed {
                    sector,
                    bytes: from..(from + bytes).min(SECTOR),
                }
            }
            Sort::Dropped => Wrong::Dropped,
            Sort::Foreign => Wrong::Foreign,
            Sort::Late => Wrong::Late,
            Sort::Copies => Wrong::Copies,
            Sort::Stale => {
                // Only if there was data of this run before the last write, and if that had ended:
                // a read concurrent with a write may return the earlier data.
                let end = operation.offset_bytes + u64::from(operation.length_bytes);
                if !disks.is_settled(disk, operation.offset_bytes..end) {
                    return None;
                }
                let at = operation.offset_bytes as usize;
                let all = at..at + operation.length_bytes as usize;
                let before = &disks.before[disk][all];
                let stamped = before
                    .chunks(SECTOR)
                    .all(|sector| sector.starts_with(b"STRIPEW"));
                stamped.then_some(Wrong::Stale)?
            }
            Sort::MisdirectedRead => Wrong::ReadFrom(other_place(operation, rng)?),
            Sort::FlippedOnRead => Wrong::FlippedOnRead { sector },
            Sort::ShortRead => Wrong::ShortRead(sector),
        })
    }
}

/// Another place on the disk where an operation of this length fits, without touching its
/// own.
fn other_place(operation: &Operation, rng: &mut SeededRng) -> Option<u64> {
    let length = u64::from(operation.length_bytes);
    let places = (DISK_BYTES as u64 - length) / SECTOR as u64 + 1;
    (0..64)
        .map(|_| rng.below(places) * SECTOR as u64)
        .find(|at| at.abs_diff(operation.offset_bytes) >= length)
}

/// What came of one fault.
struct Trial {
    faults: Vec<Fault>,
    /// What went wrong: the disk, the place, and how.
    struck: (usize, Range<u64>, Wrong),
    /// Writes that reached the disks after it.
    later: Vec<(usize, Range<u64>)>,
    /// Some worker got the old copy in all rereads on end, and never the new one between.
    only_old: bool,
}

/// Runs until a fault of this sort has struck, and to the end.
fn trial(sort: Sort, seed: u64) -> Option<Trial> {
    let (_, workers) = verify_targets(BLOCKS, BLOCK, LOG_SECTORS);
    let mut rng = SeededRng::new(seed ^ 0xfa_017);
    let mut driver = Driver::new(workers, Disks::new(DISK_BYTES, seed));
    driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
    // Some work before: generations differ, the log has gone on.
    driver.phase(Phase::Work, 60 + rng.below(200), &mut |_, _, _| None);
    let mut struck = None;
    let mut patience = rng.below(30);
    let mut strike = |operation: &Operation, disk: usize, disks: &mut Disks| {
        if struck.is_some() {
            return None;
        }
        if patience > 0 {
            patience -= 1;
            return None;
        }
        let wrong = sort.wrong(operation, disk, disks, &mut rng)?;
        let end = operation.offset_bytes + u64::from(operation.length_bytes);
        let writes = disks.writes.len();
        struck = Some((disk, operation.offset_bytes..end, wrong.clone(), writes));
        Some(wrong)
    };
    // Late writes appear only when the place is written again: that takes longer.
    let operations = if sort == Sort::Late { 1500 } else { 60 };
    driver.phase(Phase::Work, operations, &mut strike);
    driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
    if sort == Sort::Copies {
        // Reads take turns between the copies. Where the wrong one came while its place was
        // being written, as an older state may, it comes again in one of two quiet passes.
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
    }
    let (disk, range, wrong, writes) = struck?;
    Some(Trial {
        faults: driver.faults(),
        only_old: is_only_old(&driver.disks.of_copies),
        later: driver.disks.writes[writes..].to_vec(),
        struck: (disk, range, wrong),
    })
}

/// The analysis reads sixteen times if all is old: if each of these returns the old copy, a
/// mirror's stale half is indistinguishable from a lost write.
fn is_only_old(reads: &[(usize, bool)]) -> bool {
    (0..6).any(|worker| {
        let own = reads.iter().filter(|(reader, _)| *reader == worker);
        let own: Vec<bool> = own.map(|(_, old)| *old).collect();
        own.windows(16).any(|reads| reads.iter().all(|old| *old))
    })
}

fn overlaps(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether what was struck was written again before anybody read it: it may never be seen,
/// or only in part.
fn is_disturbed(trial: &Trial) -> bool {
    let (disk, range, wrong) = &trial.struck;
    let mut places = vec![(*disk, range.clone())];
    let length = range.end - range.start;
    match wrong {
        Wrong::WrittenAt(at) => places.push((*disk, *at..at + length)),
        Wrong::WrittenToOther => places.push((1 - disk, range.clone())),
        _ => {}
    }
    let mut later = trial.later.iter();
    later.any(|(disk, written)| {
        let mut places = places.iter();
        places.any(|(other, place)| other == disk && overlaps(place, written))
    })
}

/// Runs this many undisturbed trials of each type.
fn each_is_found_and_named_right(cases: u64) {
    for sort in ALL {
        let (mut judged, mut seed, mut indistinct) = (0, 0, 0);
        while judged < cases {
            seed += 1;
            assert!(seed < cases * 40 + 4000, "{sort:?} hardly ever strikes");
            let Some(trial) = trial(sort, seed) else {
                continue;
            };
            let names: Vec<Class> = trial.faults.iter().map(|fault| fault.class).collect();
            // A late write is nothing but the one that appears after a later write.
            let disturbed = is_disturbed(&trial) && sort != Sort::Late && !sort.of_reads();
            if disturbed || (sort == Sort::Late && names.is_empty()) {
                continue;
            }
            judged += 1;
            // Where all rereads meet the stale half of a mirror, its writes are lost.
            let is_old = |class: &Class| matches!(class, Class::LostWrite | Class::Torn);
            let is_right =
                |class: &Class| *class == sort.class() || (trial.only_old && is_old(class));
            let right = !names.is_empty() && names.iter().all(is_right);
            indistinct += u64::from(names.iter().any(|class| *class != sort.class()));
            assert!(
                right,
                "{sort:?}, seed {seed}: {:?}\n{:#?}",
                trial.struck, trial.faults
            );
            let (disk, range, wrong) = &trial.struck;
            let near = trial.faults.iter().any(|fault| {
                let place = fault.offset_bytes..fault.offset_bytes + fault.length_bytes;
                let meant = fault.meant_for_bytes.is_some_and(|at| range.contains(&at));
                let here = usize::from(fault.target) == *disk && overlaps(&place, range);
                here || meant || matches!(wrong, Wrong::WrittenToOther)
            });
            assert!(
                near,
                "{sort:?}, seed {seed}: {:?}\n{:#?}",
                trial.struck, trial.faults
            );
        }
        assert!(
            indistinct * 1000 <= judged,
            "{sort:?}: {indistinct} of {judged} have another name"
        );
    }
}

#[test]
fn every_sort_of_fault_is_found_and_named_right() {
    each_is_found_and_named_right(CASES);
}

#[test]
#[ignore = "ten thousand of each: `cargo xtask nightly`"]
fn ten_thousand_of_each_are_found_and_named_right() {
    each_is_found_and_named_right(10_000);
}
