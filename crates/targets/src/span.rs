//! The part of a file or device that is used, on every system: the requested part in whole sectors.

use crate::{Error, ErrorKind, Result, Size};
use stripewise_units::format_bytes;

/// Bytes used of the existing size.
pub(crate) fn span(whole_bytes: u64, wanted: Size, name: &str) -> Result<u64> {
    match wanted {
        Size::Auto => Ok(whole_bytes),
        Size::AtMost(bytes) => Ok(bytes.min(whole_bytes)),
        Size::Exactly(bytes) if bytes <= whole_bytes => Ok(bytes),
        Size::Exactly(bytes) => Err(Error::new(
            ErrorKind::TooSmall,
            name,
            format!(
                "has {}, less than the {} that are needed",
                format_bytes(whole_bytes),
                format_bytes(bytes)
            ),
        )
        .with_hint(
            "Ask for less (`<--size>`, `<--base-offset>`); files that Stripewise did not make are never extended.",
        )),
    }
}

/// Rounds down to whole sectors, in bytes; zero is an error.
pub(crate) fn whole_sectors(span_bytes: u64, sector_bytes: u32, name: &str) -> Result<u64> {
    let sector = u64::from(sector_bytes);
    match span_bytes / sector * sector {
        0 => Err(Error::new(
            ErrorKind::Unusable,
            name,
            format!("is smaller ({span_bytes} bytes) than one sector ({sector_bytes} bytes)"),
        )
        .with_hint("Give a directory to have a test file made in it.")),
        size_bytes => Ok(size_bytes),
    }
}
