//! LUKS headers, version 1 and 2: where the encrypted data starts. The key area is never read.
//!
//! Sources: LUKS1 On-Disk Format Specification 1.2.3; LUKS2 On-Disk Format 1.1.

use crate::medium::{Bytes, be, text};
use serde::Serialize;

/// JSON areas are up to 4 MiB.
const HEADER_BYTES_MAX: u64 = 4 << 20;

/// An encrypted volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Encrypted {
    /// 1 or 2.
    pub version: u16,
    /// Its UUID.
    pub uuid: Option<String>,
    /// Start of the data, if the header contains it.
    pub data_offset_bytes: Option<u64>,
    /// Sector of the encryption; 512 for version 1.
    pub sector_bytes: Option<u32>,
}

pub fn read(device: &mut dyn Bytes) -> Option<Encrypted> {
    let head = device.piece(0, 512).ok()?;
    if &head[..6] != b"LUKS\xba\xbe" {
        return None;
    }
    let uuid = text(&head[168..208]);
    match be::u16(&head, 6) {
        1 => Some(Encrypted {
            version: 1,
            uuid,
            // A detached header has 0, which does not apply to this device.
            data_offset_bytes: Some(u64::from(be::u32(&head, 104)) * 512),
            sector_bytes: Some(512),
        }),
        2 => {
            let (data_offset_bytes, sector_bytes) = segment(device, be::u64(&head, 8));
            Some(Encrypted {
                version: 2,
                uuid,
                data_offset_bytes,
                sector_bytes,
            })
        }
        _ => None,
    }
}

/// Offset and sector of the first segment, from the JSON area after the header.
fn segment(device: &mut dyn Bytes, header_bytes: u64) -> (Option<u64>, Option<u32>) {
    let json = (4096..=HEADER_BYTES_MAX)
        .contains(&header_bytes)
        .then(|| header_bytes - 4096)
        .and_then(|length| device.piece(4096, usize::try_from(length).ok()?).ok());
    let Some(json) = json else {
        return (None, None);
    };
    let end = json.iter().position(|byte| *byte == 0);
    // The parser limits nesting, the area limits the length.
    let parsed: Option<serde_json::Value> =
        serde_json::from_slice(&json[..end.unwrap_or(json.len())]).ok();
    let first = parsed.as_ref().and_then(|json| {
        json.get("segments")?
            .as_object()?
            .values()
            .min_by_key(|segment| offset(segment).unwrap_or(u64::MAX))
    });
    let sector = first.and_then(|segment| segment.get("sector_size")?.as_u64());
    (
        first.and_then(offset),
        sector.and_then(|bytes| u32::try_from(bytes).ok()),
    )
}

/// LUKS2 writes 64-bit numbers as strings.
fn offset(segment: &serde_json::Value) -> Option<u64> {
    segment.get("offset")?.as_str()?.parse().ok()
}
