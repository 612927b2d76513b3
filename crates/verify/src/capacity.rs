//! The true capacity of a device, from the data read back.

use stripewise_results::faults::{Class, Content, Fault};
use stripewise_units::format_bytes;

/// Conclusion about a device's size from a full pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// As reported.
    Real,
    /// It wraps around to its start after this many bytes.
    Wraps {
        /// Its true capacity.
        at_bytes: u64,
    },
    /// From here to its end no data is stored.
    EndsAt {
        /// Its true capacity.
        at_bytes: u64,
    },
    /// It has bad spots, unrelated to its size.
    BadPlaces,
}

/// Fewest locations that must show the same period.
const STRAYS_MIN: usize = 3;
/// A device ends early if this fraction of it, at its end, is all wrong.
const TAIL_SHARE: u64 = 100;

/// Judges the faults of a pass over a device of `size_bytes`, ordered by location.
/// `looked_to_bytes`: how far it was read.
pub fn capacity_of(faults: &[Fault], size_bytes: u64, looked_to_bytes: u64) -> Capacity {
    if faults.is_empty() {
        return Capacity::Real;
    }
    let strays: Vec<u64> = (faults.iter())
        .filter(|fault| fault.class == Class::MisdirectedWrite)
        .filter_map(|fault| Some(fault.meant_for_bytes?.abs_diff(fault.offset_bytes)))
        .filter(|by| *by > 0)
        .collect();
    let period = strays.iter().copied().fold(0, gcd);
    // A few stray writes have only a small period.
    if strays.len() >= STRAYS_MIN
        && strays.len() * 10 >= faults.len() * 9
        && period < size_bytes
        && period >= size_bytes / 4096
    {
        return Capacity::Wraps { at_bytes: period };
    }
    match bad_tail(faults, looked_to_bytes) {
        Some(at_bytes) if looked_to_bytes - at_bytes >= size_bytes / TAIL_SHARE => {
            Capacity::EndsAt { at_bytes }
        }
        _ => Capacity::BadPlaces,
    }
}

/// The single fault of a device with capacity `real_bytes` that reports more.
pub fn fake(reported_bytes: u64, real_bytes: u64, wraps: bool) -> Fault {
    let what = |bytes: u64, more: &str| Content {
        what: format!("room for {}{more}", format_bytes(bytes)),
        ..Content::default()
    };
    let happens = match wraps {
        true => ": what is written behind it overwrites the start",
        false => ": what is written behind it is not kept",
    };
    Fault {
        class: Class::FakeCapacity,
        target: 0,
        offset_bytes: real_bytes,
        length_bytes: reported_bytes - real_bytes,
        expected: what(reported_bytes, ""),
        found: what(real_bytes, happens),
        first_difference_bytes: None,
        rereads: Vec::new(),
        meant_for_bytes: None,
        seen_unix_ns: None,
        seen_by_scan: false,
    }
}

/// Start of the faults that extend to the end without a gap.
fn bad_tail(faults: &[Fault], end_bytes: u64) -> Option<u64> {
    let mut from = end_bytes;
    for fault in faults.iter().rev() {
        if fault.offset_bytes + fault.length_bytes < from {
            break;
        }
        from = from.min(fault.offset_bytes);
    }
    (from < end_bytes).then_some(from)
}

fn gcd(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => gcd(other, one % other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(class: Class, offset_bytes: u64, length_bytes: u64, meant_for: Option<u64>) -> Fault {
        Fault {
            class,
            target: 0,
            offset_bytes,
            length_bytes,
            expected: Content::default(),
            found: Content::default(),
            first_difference_bytes: None,
            rereads: Vec::new(),
            meant_for_bytes: meant_for,
            seen_unix_ns: None,
            seen_by_scan: false,
        }
    }

    #[test]
    fn a_device_that_begins_again_is_seen_from_what_overwrote_what() {
        const MIB: u64 = 1 << 20;
        let real = 300 * MIB;
        let faults: Vec<Fault> = (0..20)
            .map(|number| {
                let at = number * MIB;
                // The last write to that location.
                let last = at + real * 3;
                fault(Class::MisdirectedWrite, at, MIB, Some(last))
            })
            .chain([fault(
                Class::MisdirectedWrite,
                400 * MIB,
                MIB,
                Some(400 * MIB + 2 * real),
            )])
            .collect();
        let judged = capacity_of(&faults, 1200 * MIB, 1200 * MIB);
        assert_eq!(judged, Capacity::Wraps { at_bytes: real });
    }

    #[test]
    fn a_device_that_drops_its_end_and_one_with_bad_places() {
        let tail = [
            fault(Class::Dropped, 700, 200, None),
            fault(Class::Dropped, 900, 100, None),
        ];
        let judged = capacity_of(&tail, 1000, 1000);
        assert_eq!(judged, Capacity::EndsAt { at_bytes: 700 });
        let places = [
            fault(Class::Damaged, 100, 10, None),
            fault(Class::Foreign, 500, 10, None),
        ];
        assert_eq!(capacity_of(&places, 1000, 1000), Capacity::BadPlaces);
        assert_eq!(capacity_of(&[], 1000, 1000), Capacity::Real);
    }

    #[test]
    fn two_writes_astray_are_no_fake() {
        let two = [
            fault(Class::MisdirectedWrite, 4096, 4096, Some(1 << 20)),
            fault(Class::MisdirectedWrite, 1 << 16, 4096, Some(1 << 22)),
        ];
        assert_eq!(capacity_of(&two, 1 << 30, 1 << 30), Capacity::BadPlaces);
    }
}
