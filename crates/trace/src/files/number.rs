//! Exact parsing of numbers and times in traces.

use stripewise_units::WallTime;

/// A decimal number times `unit`, without digits below 1: "0.026214" with a unit of 10^9 is
/// 26,214,000. None for non-numbers, negative numbers and overflow.
pub(crate) fn scaled(text: &str, unit: u64) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut rest = 0;
    // Eighteen digits are more than any unit here can use.
    for digit in fraction.bytes().take(18).rev() {
        rest = (rest + u128::from(digit - b'0') * (1 << 64)) / 10;
    }
    // Rounded at the last digit: the steps above each truncate less than 2^-64.
    let part = (rest * u128::from(unit) + (1 << 63)) >> 64;
    whole
        .checked_mul(unit)?
        .checked_add(u64::try_from(part).ok()?)
}

/// A date and time such as `2026-11-26 14:00:03.25` or `2026-11-26 14:00:03-05`, nanoseconds since
/// 1970: UTC if followed by a zone, otherwise on the same clock.
pub(crate) fn local_time(text: &str) -> Option<u64> {
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    let mut text = text.replace(' ', "T").replace('/', "-");
    let zone = text.rfind(['+', '-', 'Z']).filter(|&at| at >= 19);
    let zone = text.split_off(zone.unwrap_or(text.len()));
    let time: WallTime = format!("{text}Z").parse().ok()?;
    let (sign, ahead) = zone.split_at(zone.len().min(1));
    match sign {
        "+" => time.ns().checked_sub(offset_ns(ahead)?),
        "-" => time.ns().checked_add(offset_ns(ahead)?),
        _ => Some(time.ns()),
    }
}

/// Offset of a zone `01`, `0530`, `05:30` or `05:30:00`.
fn offset_ns(text: &str) -> Option<u64> {
    let digits = text.replace(':', "");
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number || !matches!(digits.len(), 2 | 4 | 6) {
        return None;
    }
    let units = [3_600_000_000_000, 60_000_000_000, 1_000_000_000];
    let parts = units.into_iter().enumerate().map(|(part, unit)| {
        let two = digits.get(2 * part..2 * part + 2).unwrap_or("0");
        scaled(two, unit)
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let table = [
            ("0.026214000", 1_000_000_000, Some(26_214_000)),
            ("1.000000001", 1_000_000_000, Some(1_000_000_001)),
            ("3.999999999", 1_000_000_000, Some(3_999_999_999)),
            ("12345.678901", 1_000_000_000, Some(12_345_678_901_000)),
            ("128166372003061629", 100, Some(12_816_637_200_306_162_900)),
            (".5", 1_000, Some(500)),
            ("7", 1, Some(7)),
            ("+7", 1, Some(7)),
            ("-7", 1, None),
            ("7e3", 1, None),
            ("", 1, None),
            (".", 1, None),
            ("18446744073709551615", 2, None),
            ("99999999999999999999", 1, None),
        ];
        for (text, unit, value) in table {
            assert_eq!(scaled(text, unit), value, "{text}");
        }
    }

    #[test]
    fn times_are_utc_where_they_have_a_zone() {
        let first = local_time("2026-11-26 14:00:03.250").unwrap();
        let second = local_time("2026/11/26T14:00:04").unwrap();
        assert_eq!(second - first, 750_000_000);
        for same in [
            "2026-11-26T14:00:04Z",
            "2026-11-26T15:00:04+01:00",
            "2026-11-26 15:00:04.000000+01",
            "2026-11-26 09:00:04-05",
            "2026-11-26 10:30:04.000-0330",
            "2026-11-26 14:53:32+00:53:28",
        ] {
            assert_eq!(local_time(same), Some(second), "{same}");
        }
        for text in [
            "",
            "14:00:03",
            "2026-13-26 14:00:03",
            "2026-11-26 14:00:61",
            "2026-11-26 14:00:04-5",
            "2026-11-26 14:00:04+one",
            "2026-11-26 14:00:04+1.",
        ] {
            assert_eq!(local_time(text), None, "{text}");
        }
    }
}
