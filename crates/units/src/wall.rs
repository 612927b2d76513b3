//! Wall-clock time: printed and parsed as RFC 3339 in UTC with nanoseconds,
//! `2026-11-22T14:00:00.000123456Z`.
//!
//! Leap seconds are not counted, as in Unix time. Dates use the Gregorian calendar: days from civil
//! dates and back as in Howard Hinnant's "chrono-compatible low-level date algorithms".

use crate::ParseError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const NS_PER_S: u64 = 1_000_000_000;
const S_PER_DAY: u64 = 86_400;
const HINT: &str = "give a time in UTC as RFC 3339 has it: 2026-11-22T14:00:00Z";
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: u64 = 719_468;
const DAYS_PER_ERA: u64 = 146_097;

/// Nanoseconds since 1970-01-01 in UTC, up to the year 2554.
///
/// ```
/// use stripewise_units::WallTime;
///
/// let time: WallTime = "2026-11-22T14:00:00.25Z".parse()?;
/// assert_eq!(time.to_string(), "2026-11-22T14:00:00.250000000Z");
/// assert_eq!(WallTime(0).to_string(), "1970-01-01T00:00:00.000000000Z");
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct WallTime(pub u64);

impl WallTime {
    /// Nanoseconds since 1970.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// This time on a clock that is ahead of this one by `offset_ns`.
    #[must_use]
    pub const fn shifted(self, offset_ns: i64) -> WallTime {
        WallTime(self.0.saturating_add_signed(offset_ns))
    }

    /// This time minus another, in nanoseconds.
    pub fn since(self, other: WallTime) -> i64 {
        let ns = i128::from(self.0) - i128::from(other.0);
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, ns) = (self.0 / NS_PER_S, self.0 % NS_PER_S);
        let (year, month, day) = civil_date(seconds / S_PER_DAY);
        let second = seconds % S_PER_DAY;
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{ns:09}Z",
            second % 60
        )
    }
}

impl From<WallTime> for String {
    fn from(time: WallTime) -> String {
        time.to_string()
    }
}

impl TryFrom<String> for WallTime {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl FromStr for WallTime {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        read(typed.trim()).ok_or_else(|| ParseError::new(typed, "is not a time in UTC", HINT))
    }
}

/// `0000-00-00T00:00:00[.fraction]Z`.
fn read(text: &str) -> Option<WallTime> {
    const MARKS: &[u8; 19] = b"0000-00-00T00:00:00";
    let (head, rest) = text.as_bytes().split_at_checked(MARKS.len())?;
    let fits = |(letter, mark): (&u8, &u8)| match mark {
        b'0' => letter.is_ascii_digit(),
        mark => letter == mark,
    };
    if !head.iter().zip(MARKS).all(fits) {
        return None;
    }
    let number = |at: std::ops::Range<usize>| text.get(at)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let days = days_of(year, month, day)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let ns = match rest {
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] => fraction_ns(digits)?,
        _ => return None,
    };
    let seconds = days * S_PER_DAY + hour * 3_600 + minute * 60 + second;
    Some(WallTime(seconds.checked_mul(NS_PER_S)?.checked_add(ns)?))
}

/// Fractional digits of a second; digits below a nanosecond are truncated.
fn fraction_ns(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let nine = digits
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(9);
    Some(nine.fold(0, |ns, digit| ns * 10 + u64::from(digit - b'0')))
}

/// Days since 1970-01-01; `None` for an invalid or earlier date.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    // Years begin in March: the leap day is the last one.
    let shifted = if month > 2 {
        year
    } else {
        year.checked_sub(1)?
    };
    let (era, of_era) = (shifted / 400, shifted % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let days = days.checked_sub(DAYS_TO_EPOCH)?;
    (civil_date(days) == (year, month, day)).then_some(days)
}

/// Year, month and day for a number of days since 1970-01-01.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_and_read_as_calendars_have_them() {
        // Seconds by `date -u -d TIME +%s`.
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("1999-12-31T23:59:59Z", 946_684_799),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-22T14:00:00Z", 1_795_356_000),
            ("2100-02-28T23:59:59Z", 4_107_542_399),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ];
        for (text, seconds) in cases {
            let time: WallTime = text.parse().unwrap();
            assert_eq!(time.ns(), seconds * NS_PER_S, "{text}");
            assert_eq!(time.to_string(), text.replace('Z', ".000000000Z"));
        }
    }

    #[test]
    fn each_day_of_five_centuries_comes_back() {
        for day in 0..200_000 {
            let time = WallTime(day * S_PER_DAY * NS_PER_S + 1);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        assert_eq!(
            WallTime(u64::MAX).to_string().parse(),
            Ok(WallTime(u64::MAX))
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let cases = [
            "",
            "now",
            "2026-11-22",
            "2026-11-22T14:00:00",
            "2026-11-22 14:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T14:60:00Z",
            "2026-11-22T14:00:00.Z",
            "2026-11-22T14:00:00.1xZ",
            "1969-12-31T23:59:59Z",
            "2026-11-22T14:00:00+01:00",
            "9999-12-31T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2026-11-22T14:00:00.+1Z",
        ];
        for text in cases {
            assert!(text.parse::<WallTime>().is_err(), "{text}");
        }
    }

    #[test]
    fn fractions_are_cut_at_nanoseconds() {
        let ns = |text: &str| text.parse::<WallTime>().unwrap().ns();
        assert_eq!(ns("1970-01-01T00:00:01.5Z"), 1_500_000_000);
        assert_eq!(ns("1970-01-01T00:00:00.1234567899Z"), 123_456_789);
    }
}
