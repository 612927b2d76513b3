//! Faults: their form in records, and merging several sightings of one fault.

use crate::judge::{SectorVerdict, damage_in_words};
use crate::map::Expected;
use crate::sector_reading::SectorReading;
use crate::stamp::{STAMP_BYTES, Stamp, claimed, data_of, write_sector};
use stripewise_results::faults::{Class, Content, Fault};

/// Bytes shown of expected and actual data.
const SHOWN_BYTES: usize = 16;
/// Most possible generations recorded, newest first.
const GENERATIONS_MAX: usize = 64;

/// Contents of a stamp.
pub fn content_of(stamp: &Stamp, sector_bytes: u32) -> Content {
    let operation = stamp.operation(sector_bytes);
    Content {
        what: String::new(),
        generations: vec![stamp.generation],
        target: Some(stamp.target),
        offset_bytes: Some(stamp.offset_bytes),
        run: Some(run_text(stamp.run)),
        operation: Some(stamp.origin.name().to_owned()),
        operation_offset_bytes: Some(operation.start),
        operation_length_bytes: Some(operation.end - operation.start),
        worker: Some(stamp.worker),
        sequence: Some(stamp.sequence),
        written_unix_ns: Some(stamp.written_ns),
        bytes: String::new(),
    }
}

/// A run's number as shown in records.
pub fn run_text(run: u64) -> String {
    format!("{run:016x}")
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where these verdicts apply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub run: u64,
    pub target: u16,
    pub sector_bytes: u32,
}

/// Merges adjacent sectors with equal verdicts into one fault. `verdicts` are of one target, by
/// offset.
pub(crate) fn faults_of(verdicts: &[SectorVerdict], scope: &Scope) -> Vec<Fault> {
    let sector = u64::from(scope.sector_bytes);
    let mut faults: Vec<Fault> = Vec::new();
    let mut last: Option<&SectorVerdict> = None;
    for verdict in verdicts {
        let goes_on = last.is_some_and(|last| {
            last.offset_bytes + sector == verdict.offset_bytes && is_same(last, verdict)
        });
        match faults.last_mut() {
            Some(fault) if goes_on => fault.length_bytes += sector,
            _ => faults.push(fault_of(verdict, scope)),
        }
        last = Some(verdict);
    }
    faults
}

/// Whether two neighbours have the same history.
fn is_same(one: &SectorVerdict, other: &SectorVerdict) -> bool {
    let shift = |verdict: &SectorVerdict| match verdict.seen {
        SectorReading::Intact(stamp) => Some((
            stamp.run,
            stamp.target,
            stamp.offset_bytes.wrapping_sub(verdict.offset_bytes),
        )),
        _ => None,
    };
    one.class == other.class && shift(one) == shift(other)
}

fn fault_of(verdict: &SectorVerdict, scope: &Scope) -> Fault {
    let sector_bytes = scope.sector_bytes;
    let stamp = match verdict.seen {
        SectorReading::Intact(stamp) => Some(stamp),
        SectorReading::Damaged(_) => claimed(&verdict.bytes),
        _ => None,
    };
    let mut found = stamp.map_or_else(Content::default, |stamp| content_of(&stamp, sector_bytes));
    found.what = found_in_words(verdict, scope);
    let newest = verdict.expected.newest();
    let expected_sector = expected_sector(verdict, scope, stamp.as_ref());
    let unknown = 32..STAMP_BYTES;
    let different = (0..verdict.bytes.len())
        .find(|at| !unknown.contains(at) && verdict.bytes[*at] != expected_sector[*at]);
    let shown = |bytes: &[u8]| {
        let from = different.unwrap_or(0);
        hex(&bytes[from..bytes.len().min(from + SHOWN_BYTES)])
    };
    found.bytes = shown(&verdict.bytes);
    Fault {
        class: verdict.class,
        target: scope.target,
        offset_bytes: verdict.offset_bytes,
        length_bytes: u64::from(sector_bytes),
        expected: Content {
            what: expected_in_words(&verdict.expected),
            generations: match &verdict.expected {
                Expected::AnyOf(several) => several.clone(),
                Expected::Between(from, to) => (*from..=*to).rev().take(GENERATIONS_MAX).collect(),
                _ => vec![newest],
            },
            target: Some(scope.target),
            offset_bytes: Some(verdict.offset_bytes),
            run: Some(run_text(scope.run)),
            bytes: shown(&expected_sector),
            ..Content::default()
        },
        found,
        first_difference_bytes: different.map(|at| at as u64),
        rereads: verdict
            .rereads
            .iter()
            .map(|&word| word.to_owned())
            .collect(),
        meant_for_bytes: match (verdict.class, stamp) {
            (Class::MisdirectedWrite, Some(stamp)) => Some(stamp.offset_bytes),
            _ => None,
        },
        seen_unix_ns: verdict.seen_ns,
        seen_by_scan: verdict.by_scan,
    }
}

/// The expected sector; what the map does not know (who wrote it and when) is taken from the data
/// found.
fn expected_sector(verdict: &SectorVerdict, scope: &Scope, found: Option<&Stamp>) -> Vec<u8> {
    let generation = verdict.expected.newest();
    let mut sector = vec![0; scope.sector_bytes as usize];
    if matches!(verdict.expected, Expected::Zeros(_)) {
        return sector;
    }
    if let Some(found) = found {
        let stamp = Stamp {
            run: scope.run,
            target: scope.target,
            generation,
            offset_bytes: verdict.offset_bytes,
            ..*found
        };
        write_sector(&stamp, &mut sector);
    } else {
        let stamp = Stamp {
            run: scope.run,
            target: scope.target,
            origin: crate::stamp::Origin::Page,
            generation,
            offset_bytes: verdict.offset_bytes,
            worker: 0,
            sequence: 0,
            before: 0,
            sectors: 0,
            written_ns: 0,
        };
        write_sector(&stamp, &mut sector);
        let data = data_of(
            scope.run,
            verdict.offset_bytes,
            generation,
            scope.sector_bytes,
        );
        sector[STAMP_BYTES..].copy_from_slice(&data);
    }
    sector
}

fn expected_in_words(expected: &Expected) -> String {
    match expected {
        Expected::Exactly(generation) => format!("generation {generation}"),
        Expected::AnyOf(several) => {
            let several: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("one of the generations {}", several.join(", "))
        }
        Expected::Between(from, to) => format!("one of the generations {from} to {to}"),
        Expected::Zeros(_) => "zeros: the file was cut here and grew again".to_owned(),
        Expected::Never | Expected::Retired => "nothing in particular".to_owned(),
    }
}

fn found_in_words(verdict: &SectorVerdict, scope: &Scope) -> String {
    match verdict.seen {
        SectorReading::Poison => {
            "nothing: the buffer still held what it was filled with".to_owned()
        }
        SectorReading::Zeros => "zeros".to_owned(),
        SectorReading::Damaged(damage) => damage_in_words(damage),
        SectorReading::Foreign => "no stamp".to_owned(),
        SectorReading::Intact(stamp) if stamp.run != scope.run => {
            format!("data of run {}", run_text(stamp.run))
        }
        SectorReading::Intact(stamp) if stamp.target != scope.target => {
            format!("data of target {}", stamp.target)
        }
        SectorReading::Intact(stamp) if stamp.offset_bytes != verdict.offset_bytes => {
            format!("data of byte {}", stamp.offset_bytes)
        }
        SectorReading::Intact(stamp) => format!("generation {}", stamp.generation),
    }
}

/// All faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    faults: Vec<Fault>,
}

impl Ledger {
    /// Adds the findings of a worker.
    pub fn take(&mut self, faults: Vec<Fault>) {
        self.faults.extend(faults);
    }

    /// The faults, by target and location. Data missing in one place and found in another is one
    /// misdirected write.
    pub fn settled(mut self) -> Vec<Fault> {
        let strays: Vec<(u64, u16, u32)> = (self.faults.iter())
            .filter(|fault| matches!(fault.class, Class::MisdirectedWrite | Class::WrongDisk))
            .filter_map(|fault| {
                let generation = *fault.found.generations.first()?;
                Some((fault.found.offset_bytes?, fault.found.target?, generation))
            })
            .collect();
        self.faults.retain(|fault| {
            !(matches!(fault.class, Class::LostWrite | Class::Torn)
                && strays.iter().any(|(offset_bytes, target, generation)| {
                    let end = fault.offset_bytes + fault.length_bytes;
                    *target == fault.target
                        && (fault.offset_bytes..end).contains(offset_bytes)
                        && fault.expected.generations.contains(generation)
                }))
        });
        with_copies_joined(self.faults)
    }
}

/// Data of a mirror whose halves differ alternates. If its old half is read once and then the new
/// one three times, that looks like a stale read; if the old one three times, like a lost or torn
/// write. Both at one location, or one of them next to data seen to alternate, are classified as
/// differing copies. By target and location.
fn with_copies_joined(mut faults: Vec<Fault>) -> Vec<Fault> {
    let end = |fault: &Fault| fault.offset_bytes + fault.length_bytes;
    let of = |classes: &'static [Class]| move |fault: &Fault| classes.contains(&fault.class);
    let lasts = of(&[Class::LostWrite, Class::Torn]);
    let shows_old = of(&[
        Class::StaleRead,
        Class::LostWrite,
        Class::Torn,
        Class::CopiesDiffer,
    ]);
    faults.sort_by_key(|fault| (fault.target, fault.offset_bytes, fault.class));
    let mut from = 0;
    while from < faults.len() {
        let mut to = from + 1;
        let mut reach = end(&faults[from]);
        while (faults.get(to))
            .is_some_and(|next| next.target == faults[from].target && next.offset_bytes <= reach)
        {
            reach = reach.max(end(&faults[to]));
            to += 1;
        }
        let group = &mut faults[from..to];
        let came_back = |stale: &Fault| {
            group.iter().filter(|fault| lasts(fault)).any(|fault| {
                fault.offset_bytes < end(stale)
                    && stale.offset_bytes < end(fault)
                    && fault.found.generations == stale.found.generations
                    && fault.expected.generations == stale.expected.generations
            })
        };
        let alternates = group.iter().any(|fault| {
            fault.class == Class::CopiesDiffer
                || (fault.class == Class::StaleRead && came_back(fault))
        });
        if alternates {
            let shown = group.iter_mut().filter(|fault| shows_old(fault));
            shown.for_each(|fault| fault.class = Class::CopiesDiffer);
        }
        from = to;
    }
    // Two sightings of one location.
    faults.dedup_by(|later, earlier| {
        later.class == Class::CopiesDiffer
            && earlier.class == Class::CopiesDiffer
            && later.target == earlier.target
            && end(later) <= end(earlier)
    });
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(class: Class, offset_bytes: u64, length_bytes: u64, found: u32) -> Fault {
        let content = |generation| Content {
            generations: vec![generation],
            ..Content::default()
        };
        Fault {
            class,
            target: 0,
            offset_bytes,
            length_bytes,
            expected: content(12),
            found: content(found),
            first_difference_bytes: None,
            rereads: Vec::new(),
            meant_for_bytes: None,
            seen_unix_ns: None,
            seen_by_scan: false,
        }
    }

    fn settled(faults: Vec<Fault>) -> Vec<(Class, u64, u64)> {
        let mut ledger = Ledger::default();
        ledger.take(faults);
        let settled = ledger.settled().into_iter();
        let short = |one: Fault| (one.class, one.offset_bytes, one.length_bytes);
        settled.map(short).collect()
    }

    #[test]
    fn what_alternates_is_called_that_in_all_its_parts() {
        use Class::{CopiesDiffer, Damaged, LostWrite, StaleRead, Torn};
        // Seen to alternate at its front, and next to that three times old.
        let beside = vec![
            fault(CopiesDiffer, 0, 3584, 11),
            fault(StaleRead, 3584, 512, 11),
            fault(Torn, 3584, 512, 11),
        ];
        let copies = vec![(CopiesDiffer, 0, 3584), (CopiesDiffer, 3584, 512)];
        assert_eq!(settled(beside), copies);
        // Three times new, later three times old.
        let back = vec![fault(StaleRead, 0, 512, 11), fault(LostWrite, 0, 512, 11)];
        assert_eq!(settled(back), [(CopiesDiffer, 0, 512)]);
        // Two events: a stale read, and later a lost write.
        let two = vec![fault(StaleRead, 0, 512, 10), fault(LostWrite, 0, 512, 11)];
        let both = [(StaleRead, 0, 512), (LostWrite, 0, 512)];
        assert_eq!(settled(two), both);
        // Nothing else merges them.
        let damaged = vec![
            fault(CopiesDiffer, 0, 512, 11),
            fault(Damaged, 512, 512, 11),
        ];
        assert_eq!(
            settled(damaged),
            [(CopiesDiffer, 0, 512), (Damaged, 512, 512)]
        );
    }
}
