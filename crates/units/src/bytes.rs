//! Sizes in bytes: typed as `8K`, `31.5K`, `63s`; printed as `8 KiB`.
//!
//! K, M, G, T, P and E are powers of 1,024 with or without `B` or `iB`, in either case, as in every
//! storage tool's switches. All arithmetic is exact; a size that is not a whole number of bytes is
//! refused.

use crate::ParseError;
use crate::decimal::{Decimal, Inexact, exact, point, rounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Sector size for sizes typed in sectors (`63s`): 512, whatever the disk reports, as in
/// partitioning tools.
pub const SECTOR_SIZE_BYTES: u64 = 512;

/// Suffixes for powers of 1,024, the largest first.
const POWERS: [(char, u64); 6] = [
    ('E', 1 << 60),
    ('P', 1 << 50),
    ('T', 1 << 40),
    ('G', 1 << 30),
    ('M', 1 << 20),
    ('K', 1 << 10),
];

const HINT: &str = "a size is a number of bytes, or a number with K, M, G or T (powers of 1,024) or s (sectors of 512 bytes): 4096, 8K, 31.5K, 1M, 1.5G, 63s";

/// A size or an offset in bytes.
///
/// ```
/// use stripewise_units::ByteSize;
///
/// let offset: ByteSize = "31.5K".parse()?;
/// assert_eq!(offset.bytes(), 32_256);
/// assert_eq!("63s".parse(), Ok(offset));
/// assert_eq!(offset.to_string(), "31.5K");
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl From<u64> for ByteSize {
    fn from(bytes: u64) -> Self {
        ByteSize(bytes)
    }
}

impl From<ByteSize> for u64 {
    fn from(size: ByteSize) -> Self {
        size.0
    }
}

/// In switch syntax: the largest unit with at most two decimals, otherwise plain bytes. Parsing it
/// gives the same size.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, unit) in POWERS {
            if self.0 >= unit
                && let Some(text) = exact(self.0, unit, 2)
            {
                return f.pad(&format!("{text}{letter}"));
            }
        }
        f.pad(&self.0.to_string())
    }
}

impl FromStr for ByteSize {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let text = typed.trim();
        let start = typed.len() - typed.trim_start().len();
        let Some((number, length)) = Decimal::read(text) else {
            return Err(ParseError::new(typed, "is not a valid size", HINT));
        };
        let suffix = text[length..].trim_start();
        let Some(unit) = unit(suffix) else {
            let at = start + text.len() - suffix.len();
            return Err(ParseError::new(typed, "has an unknown unit", HINT).at(at));
        };
        number
            .times(unit)
            .map(ByteSize)
            .map_err(|problem| match problem {
                Inexact::Fraction => ParseError::new(typed, "is not a whole number of bytes", HINT),
                Inexact::Overflow => ParseError::new(
                    typed,
                    "is too large",
                    "the largest size is one byte below 16E",
                ),
            })
    }
}

/// Size in bytes of the unit `suffix`.
fn unit(suffix: &str) -> Option<u64> {
    let suffix = suffix.to_ascii_uppercase();
    match suffix.as_str() {
        "" | "B" => return Some(1),
        "S" => return Some(SECTOR_SIZE_BYTES),
        _ => {}
    }
    let mut letters = suffix.chars();
    let letter = letters.next()?;
    if !matches!(letters.as_str(), "" | "B" | "IB") {
        return None;
    }
    POWERS
        .iter()
        .find(|(power, _)| *power == letter)
        .map(|(_, unit)| *unit)
}

/// For display: `8 KiB`, `31.5 KiB`, `1.2 GiB`. A whole number has no decimals; anything else is
/// rounded half up to one, so `8.0 KiB` is near 8 KiB but not exactly it.
///
/// ```
/// use stripewise_units::format_bytes;
/// assert_eq!(format_bytes(32_256), "31.5 KiB");
/// assert_eq!(format_bytes((1 << 20) - 1), "1.0 MiB");
/// ```
pub fn format_bytes(bytes: u64) -> String {
    let mut chosen = None;
    // From the smallest unit up, while the number is at least 1 or rounds to it.
    for (letter, unit) in POWERS.iter().rev() {
        let below = unit / 1024;
        if bytes < *unit && (below == 1 || rounded(bytes, below, 1) < 10_240) {
            break;
        }
        chosen = Some((letter, *unit));
    }
    match chosen {
        None => format!("{bytes} B"),
        Some((letter, unit)) if bytes.is_multiple_of(unit) => {
            format!("{} {letter}iB", bytes / unit)
        }
        Some((letter, unit)) => format!("{} {letter}iB", point(rounded(bytes, unit, 1), 1)),
    }
}

impl Serialize for ByteSize {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From text in switch syntax, or from an integer of bytes.
impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::deserialize(deserializer, "a size such as \"8K\" or 8192")
    }
}
