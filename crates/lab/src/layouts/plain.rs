//! Which of several layouts is the plainest: the present one, then a start at 1 MiB,
//! then the fewest changes, then a stripe unit that is a power of two (md and many controllers
//! take no other), then the larger allocation unit, then the system's default.

use super::set::LayoutSet;
use std::cmp::Reverse;
use stripewise_units::ByteSize;

const MIB: u64 = 1 << 20;
/// mdadm's default chunk.
const CHUNK_DEFAULT_BYTES: u64 = 512 << 10;

/// Physical sectors of drives, pages of memory and of parity.
const PAGE_BYTES: u64 = 4_096;

/// The volume starts at a multiple of 4 KiB. Another start is never recommended, whatever
/// its gain in the measured loads: each page of everything else on the volume
/// would lie on two physical sectors of a drive, and on two pages of parity.
pub(super) fn is_on_page(set: &LayoutSet, layout: usize) -> bool {
    let levels = set.levels(layout);
    let offset: Option<ByteSize> = levels.get("offset").and_then(|level| level.parse().ok());
    offset.is_none_or(|offset| offset.bytes().is_multiple_of(PAGE_BYTES))
}

/// Smaller is plainer.
pub(super) type SimplicityKey = (bool, bool, usize, bool, Reverse<u64>, bool, usize);

pub(super) fn plainness(set: &LayoutSet, layout: usize, present: Option<usize>) -> SimplicityKey {
    let levels = set.levels(layout);
    let bytes = |factor: &str| {
        let level: Option<ByteSize> = levels.get(factor)?.parse().ok();
        level.map(ByteSize::bytes)
    };
    let changes = present.map_or(0, |present| {
        let there = &set.layouts[present];
        let here = set.layouts[layout].iter();
        let of_other =
            |(factor, _): &(usize, (&usize, &usize))| set.factors[*factor].name != "offset";
        let pairs = here.zip(there).enumerate().filter(of_other);
        pairs.filter(|(_, (here, there))| here != there).count()
    });
    (
        present != Some(layout),
        bytes("offset").is_some_and(|offset| offset != MIB),
        changes,
        bytes("stripe-unit").is_some_and(|unit| !unit.is_power_of_two()),
        Reverse(bytes("allocation-unit").unwrap_or(0)),
        bytes("stripe-unit").is_some_and(|unit| unit != CHUNK_DEFAULT_BYTES),
        layout,
    )
}

/// Why it was chosen among equally good ones.
pub(super) fn why(set: &LayoutSet, layout: usize, present: Option<usize>) -> String {
    if present == Some(layout) {
        return "it is the present one".to_owned();
    }
    let levels = set.levels(layout);
    let offset: Option<ByteSize> = levels.get("offset").and_then(|level| level.parse().ok());
    match (offset.map(ByteSize::bytes), present) {
        (Some(MIB), Some(_)) => {
            "it starts at 1 MiB, as all current systems place partitions, with the fewest changes"
                .to_owned()
        }
        (Some(MIB), None) => {
            "it starts at 1 MiB, as all current systems place partitions".to_owned()
        }
        (_, Some(_)) => "it needs the fewest changes".to_owned(),
        _ => "it is closest to what systems do by default".to_owned(),
    }
}
