//! Durations: typed as `10s`, `500ms`, `1m30s`; printed as `4.21 ms`.
//!
//! Durations are a `u64` of nanoseconds, which lasts for 584 years. A bare number is seconds.

use crate::ParseError;
use crate::decimal::{Decimal, Inexact, exact, point, rounded};
use crate::numbers::more_digits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * S;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const HINT: &str = "a duration is a number with ns, us, ms, s, m (minutes) or h; seconds without: 10s, 1.5s, 500ms, 20us, 2m, 1h, 1m30s";

/// A duration in nanoseconds.
///
/// ```
/// use stripewise_units::Nanoseconds;
///
/// let ramp: Nanoseconds = "1.5s".parse()?;
/// assert_eq!(ramp.ns(), 1_500_000_000);
/// assert_eq!(ramp.to_string(), "1.5s");
/// assert_eq!("2".parse::<Nanoseconds>()?.ns(), 2_000_000_000);
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// The number of nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }
}

impl From<Nanoseconds> for std::time::Duration {
    fn from(time: Nanoseconds) -> Self {
        std::time::Duration::from_nanos(time.0)
    }
}

/// In switch syntax: the largest unit in which it is exact (whole hours and minutes, otherwise at
/// most three decimals). Parsing it gives the same time.
impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        for (name, unit, decimals) in [("h", HOUR, 0), ("m", MINUTE, 0), ("s", S, 3), ("ms", MS, 3)]
        {
            if ns >= unit
                && let Some(text) = exact(ns, unit, decimals)
            {
                return f.pad(&format!("{text}{name}"));
            }
        }
        match exact(ns, US, 3) {
            Some(text) if ns >= US => f.pad(&format!("{text}us")),
            _ if ns == 0 => f.pad("0s"),
            _ => f.pad(&format!("{ns}ns")),
        }
    }
}

impl FromStr for Nanoseconds {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let mut rest = typed.trim();
        let mut sum_ns = 0_u64;
        let mut unit_before = u64::MAX;
        let end = typed.trim_end().len();
        while !rest.is_empty() || unit_before == u64::MAX {
            let at = end - rest.len();
            let Some((number, length)) = Decimal::read(rest) else {
                return Err(ParseError::new(typed, "is not a valid duration", HINT).at(at));
            };
            rest = rest[length..].trim_start();
            let letters = rest
                .find(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == ' ')
                .unwrap_or(rest.len());
            let at = end - rest.len();
            let bare = rest.is_empty() && unit_before == u64::MAX;
            let unit = if bare {
                Some(S)
            } else {
                unit(&rest[..letters])
            };
            let Some(unit) = unit else {
                return Err(ParseError::new(typed, "has an unknown unit", HINT).at(at));
            };
            if unit >= unit_before {
                let problem = "has its units out of order";
                return Err(ParseError::new(typed, problem, HINT).at(at));
            }
            rest = rest[letters..].trim_start();
            unit_before = unit;
            sum_ns = number
                .times(unit)
                .and_then(|ns| sum_ns.checked_add(ns).ok_or(Inexact::Overflow))
                .map_err(|problem| refuse(typed, problem))?;
        }
        Ok(Nanoseconds(sum_ns))
    }
}

fn refuse(typed: &str, problem: Inexact) -> ParseError {
    match problem {
        Inexact::Fraction => ParseError::new(typed, "is not a whole number of nanoseconds", HINT),
        Inexact::Overflow => ParseError::new(typed, "is too long", "the longest time is 584 years"),
    }
}

/// Length in nanoseconds of the unit `suffix`; never empty.
fn unit(suffix: &str) -> Option<u64> {
    // Both characters for a Greek mu are common.
    match suffix.to_lowercase().as_str() {
        "ns" => Some(1),
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(US),
        "ms" => Some(MS),
        "s" | "sec" => Some(S),
        "m" | "min" => Some(MINUTE),
        "h" => Some(HOUR),
        "d" => Some(DAY),
        _ => None,
    }
}

/// For display, with three significant digits: `812 µs`, `4.21 ms`, `59.9 s`, and from a minute on
/// the two largest units: `1 m 30 s`, `2 h 5 m`, `3 d 4 h`. A whole number of its unit has no
/// decimals. Rounds half up.
///
/// ```
/// use stripewise_units::format_duration;
/// assert_eq!(format_duration(4_213_000), "4.21 ms");
/// assert_eq!(format_duration(999_960), "1.00 ms");
/// assert_eq!(format_duration(90_000_000_000), "1 m 30 s");
/// ```
pub fn format_duration(ns: u64) -> String {
    let unit = UNITS.iter().find(|(_, _, below_ns)| ns < *below_ns);
    match unit {
        Some((name, unit, _)) if ns.is_multiple_of(*unit) => format!("{} {name}", ns / unit),
        _ => duration_digits(ns, 0),
    }
}

/// [`format_duration`] of a time that a bound judges: with as many more digits as it takes to tell
/// on which side of the bound it lies.
///
/// ```
/// use stripewise_units::format_duration_beside;
/// assert_eq!(format_duration_beside(9_996_000, 10_000_000), "9.996 ms");
/// assert_eq!(format_duration_beside(9_996_000, 25_000_000), "10.0 ms");
/// ```
pub fn format_duration_beside(ns: u64, bound_ns: u64) -> String {
    match more_digits(ns, bound_ns, duration_digits) {
        0 => format_duration(ns),
        more => duration_digits(ns, more),
    }
}

/// A limit: [`format_duration`] with all of its digits, below a minute.
///
/// ```
/// use stripewise_units::format_duration_exact;
/// assert_eq!(format_duration_exact(12_345_000), "12.345 ms");
/// assert_eq!(format_duration_exact(10_000_000), "10 ms");
/// ```
pub fn format_duration_exact(ns: u64) -> String {
    let unit = UNITS.iter().find(|(_, _, below_ns)| ns < *below_ns);
    // A billionth of the largest unit is exact.
    unit.and_then(|(name, unit, _)| Some(format!("{} {name}", exact(ns, *unit, 9)?)))
        .unwrap_or_else(|| format_duration(ns))
}

/// Units with their length and where the next one begins, in nanoseconds.
const UNITS: [(&str, u64, u64); 4] = [
    ("ns", 1, US),
    ("µs", US, MS),
    ("ms", MS, S),
    ("s", S, MINUTE),
];

/// With three significant digits and `more`, also where it is a whole number of its unit.
fn duration_digits(ns: u64, more: usize) -> String {
    for (name, unit, below_ns) in UNITS {
        if ns < below_ns
            && let Some(number) = significant(ns, unit, below_ns / unit, more)
        {
            return format!("{number} {name}");
        }
    }
    for (large, small, part, parts, limit) in [
        ("m", "s", S, 60, 60),
        ("h", "m", MINUTE, 60, 24),
        ("d", "h", HOUR, 24, u128::MAX),
    ] {
        let count = rounded(ns, part, 0);
        let (whole, rest) = (count / parts, count % parts);
        if whole < limit {
            return match rest {
                0 => format!("{whole} {large}"),
                _ => format!("{whole} {large} {rest} {small}"),
            };
        }
    }
    unreachable!("days take everything")
}

/// Three significant digits of `ns` / `unit`, and `more`; `None` if that rounds up to `limit`,
/// where the next unit begins.
fn significant(ns: u64, unit: u64, limit: u64, more: usize) -> Option<String> {
    let limit = u128::from(limit);
    let more = u32::try_from(more).unwrap_or_default();
    for (below, decimals) in [(10, 2 + more), (100, 1 + more), (1000, more)] {
        let scale = 10_u128.pow(decimals);
        let scaled = rounded(ns, unit, decimals);
        if scaled < limit.min(below) * scale {
            return Some(point(scaled, decimals));
        }
    }
    None
}

impl Serialize for Nanoseconds {
    fn serialize<Ser: serde::Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        serializer.collect_str(self)
    }
}

/// From text in switch syntax, or from a number of seconds.
impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::deserialize(deserializer, "a time such as \"10s\" or 10")
    }
}
