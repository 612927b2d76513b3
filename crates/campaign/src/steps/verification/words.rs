//! Faults as sentences, and times in the form of stamps.

use stripewise_results::faults::{ExtentRecord, FaultRecord};
use stripewise_targets::Target;
use stripewise_units::{format_bytes, format_duration};
use stripewise_verify::{Class, Fault};

/// Nanoseconds since 1970 of an RFC 3339 time as from `Clock::timestamp`; 0 for
/// anything else.
pub fn unix_ns(timestamp: &str) -> u64 {
    let time: Result<jiff::Timestamp, _> = timestamp.parse();
    time.map_or(0, |time| u64::try_from(time.as_nanosecond()).unwrap_or(0))
}

/// Position of a target's byte on the device, and the extent of the file that contains it.
pub fn place_of(target: &Target, fault: &Fault) -> (Option<u64>, Option<ExtentRecord>) {
    let facts = target.facts();
    let sector = u64::from(facts.logical_sector_bytes.max(1));
    let start = facts.partition_offset_bytes;
    if facts.kind == stripewise_results::TargetKind::Device {
        let at = fault.offset_bytes + start.unwrap_or(0);
        return (Some(at / sector), None);
    }
    let Some(placement) = target.placement() else {
        return (None, None);
    };
    let extent = placement.extents.iter().find(|extent| {
        let end = extent.logical_bytes.saturating_add(extent.length_bytes);
        (extent.logical_bytes..end).contains(&fault.offset_bytes)
    });
    let found = extent.and_then(|extent| Some((extent, extent.physical_bytes?)));
    let Some((extent, physical_bytes)) = found else {
        return (None, None);
    };
    let record = ExtentRecord {
        file_bytes: extent.logical_bytes,
        device_bytes: physical_bytes,
        length_bytes: extent.length_bytes,
    };
    let at = physical_bytes + (fault.offset_bytes - extent.logical_bytes) + start.unwrap_or(0);
    (Some(at / sector), Some(record))
}

/// A fault for the record. `now_ns`: nanoseconds since 1970.
pub fn record_of(fault: Fault, name: &str, target: Option<&Target>, now_ns: u64) -> FaultRecord {
    let (lba, extent) = target.map_or((None, None), |target| place_of(target, &fault));
    let message = sentence(&fault, name, (lba, extent.as_ref()), now_ns);
    FaultRecord {
        fault,
        target_name: name.to_owned(),
        lba,
        extent,
        message,
    }
}

/// A complete fault in one or two sentences.
fn sentence(
    fault: &Fault,
    name: &str,
    (lba, extent): (Option<u64>, Option<&ExtentRecord>),
    now_ns: u64,
) -> String {
    let mut text = format!(
        "{}: {name}, byte {}",
        fault.class.meaning(),
        fault.offset_bytes
    );
    let extent = extent.map_or_else(String::new, |extent| {
        let length = format_bytes(extent.length_bytes);
        format!(
            ", in the extent of {length} from byte {} of the file",
            extent.file_bytes
        )
    });
    if let Some(lba) = lba {
        text.push_str(&format!(" (LBA {lba}{extent})"));
    }
    text.push_str(&format!(", {}", format_bytes(fault.length_bytes)));
    if let Some(meant_for) = fault.meant_for_bytes {
        text.push_str(&format!(", meant for byte {meant_for}"));
    }
    text.push_str(&format!(
        "; expected {}, found {}",
        fault.expected.what, fault.found.what
    ));
    if let (Some(operation), Some(offset), Some(length)) = (
        &fault.found.operation,
        fault.found.operation_offset_bytes,
        fault.found.operation_length_bytes,
    ) {
        text.push_str(&format!(
            ", written by a {operation} of {} at byte {offset}",
            format_bytes(length)
        ));
        if let Some(worker) = fault.found.worker {
            text.push_str(&format!(
                " (worker {worker}, write {})",
                fault.found.sequence.unwrap_or(0)
            ));
        }
        if let Some(written_ns) = fault.found.written_unix_ns {
            let seen_ns = fault.seen_unix_ns.unwrap_or(now_ns);
            if let Some(age_ns) = seen_ns.checked_sub(written_ns) {
                text.push_str(&format!(" {} before", format_duration(age_ns)));
            }
        }
    }
    if let Some(at) = fault.first_difference_bytes
        && !matches!(fault.class, Class::NotRead)
    {
        text.push_str(&format!(
            "; from byte {at} of it {} instead of {}",
            fault.found.bytes, fault.expected.bytes
        ));
    }
    if !fault.rereads.is_empty() {
        text.push_str(&format!("; read again: {}", in_turn(&fault.rereads)));
    }
    text
}

/// Texts, with a count if one is repeated consecutively.
pub(crate) fn in_turn(sentences: &[String]) -> String {
    let word = |same: &[String]| match same.len() {
        1 => same[0].clone(),
        times => format!("{} ({times} times)", same[0]),
    };
    let words: Vec<String> = sentences
        .chunk_by(|one, next| one == next)
        .map(word)
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_nanoseconds_since_1970() {
        let cases = [
            ("1970-01-01T00:00:00.000Z", 0),
            ("1970-01-02T00:00:01.500Z", 86_401_500_000_000),
            ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
            ("2026-11-22T20:15:30.123Z", 1_795_378_530_123_000_000),
            ("yesterday", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(unix_ns(text), expected, "{text}");
        }
    }
}
