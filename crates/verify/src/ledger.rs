//! Faults: what goes into records, and how two sights of one fault become one.

use crate::judge::{Class, SectorVerdict, damage_in_words};
use crate::map::Expected;
use crate::see::Seen;
use crate::stamp::{STAMP_BYTES, Stamp, claimed, data_of, write_sector};
use serde::{Deserialize, Serialize};

/// Bytes that are shown of what was expected and what came.
const SHOWN_BYTES: usize = 16;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fault {
    /// What went wrong.
    pub class: Class,
    /// Number of the target within the run, from 0.
    pub target: u16,
    /// First byte on the target.
    pub offset_bytes: u64,
    /// Bytes that are wrong.
    pub length_bytes: u64,
    /// What should be there.
    pub expected: Content,
    /// What is or was there.
    pub found: Content,
    /// The first byte that differs, from `offset_bytes`; where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_difference_bytes: Option<u64>,
    /// What each reread of the first sector brought, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rereads: Vec<String>,
    /// Where the data of a misdirected write belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant_for_bytes: Option<u64>,
    /// When it was seen, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_unix_ns: Option<u64>,
    /// A scan saw it first, and not a read of the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_by_scan: bool,
}

/// What a sector holds, or should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Content {
    /// In words.
    pub what: String,
    /// Generations that are possible; of what was found, its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<u32>,
    /// Number of the target that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u16>,
    /// Where it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// The run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What kind of operation wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// First byte of that operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_offset_bytes: Option<u64>,
    /// Its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_length_bytes: Option<u64>,
    /// The worker that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<u16>,
    /// Which of that worker's writes it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// When, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_unix_ns: Option<u64>,
    /// Bytes from the first difference on, hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bytes: String,
}

impl Content {
    /// What a stamp says.
    #[must_use]
    pub fn of_stamp(stamp: &Stamp, sector_bytes: u32) -> Content {
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
}

/// A run's number as records show it.
#[must_use]
pub fn run_text(run: u64) -> String {
    format!("{run:016x}")
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where these verdicts were reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub run: u64,
    pub target: u16,
    pub sector_bytes: u32,
}

/// Neighbouring sectors of one verdict as one fault. `verdicts` are of one target, by
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

/// Two neighbours have the same story.
fn is_same(one: &SectorVerdict, other: &SectorVerdict) -> bool {
    let shift = |verdict: &SectorVerdict| match verdict.seen {
        Seen::Intact(stamp) => Some((
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
        Seen::Intact(stamp) => Some(stamp),
        Seen::Damaged(_) => claimed(&verdict.bytes),
        _ => None,
    };
    let mut found = stamp.map_or_else(Content::default, |stamp| {
        Content::of_stamp(&stamp, sector_bytes)
    });
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

/// The sector that should be there; what the map does not know (who wrote it and when) is
/// taken from what was found.
fn expected_sector(verdict: &SectorVerdict, scope: &Scope, found: Option<&Stamp>) -> Vec<u8> {
    let generation = verdict.expected.newest();
    let mut sector = vec![0; scope.sector_bytes as usize];
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
        Expected::Never | Expected::Retired => "nothing in particular".to_owned(),
    }
}

fn found_in_words(verdict: &SectorVerdict, scope: &Scope) -> String {
    match verdict.seen {
        Seen::Poison => "nothing: the buffer still held what it was filled with".to_owned(),
        Seen::Zeros => "zeros".to_owned(),
        Seen::Damaged(damage) => damage_in_words(damage),
        Seen::Foreign => "no stamp".to_owned(),
        Seen::Intact(stamp) if stamp.run != scope.run => {
            format!("data of run {}", run_text(stamp.run))
        }
        Seen::Intact(stamp) if stamp.target != scope.target => {
            format!("data of target {}", stamp.target)
        }
        Seen::Intact(stamp) if stamp.offset_bytes != verdict.offset_bytes => {
            format!("data of byte {}", stamp.offset_bytes)
        }
        Seen::Intact(stamp) => format!("generation {}", stamp.generation),
    }
}

/// All faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    faults: Vec<Fault>,
}

impl Ledger {
    /// Takes what a worker found.
    pub fn take(&mut self, faults: Vec<Fault>) {
        self.faults.extend(faults);
    }

    /// The faults, by target and place. What was missed in one place and found in another
    /// is one misdirected write.
    #[must_use]
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
        self.faults
            .sort_by_key(|fault| (fault.target, fault.offset_bytes, fault.class));
        self.faults
    }
}
