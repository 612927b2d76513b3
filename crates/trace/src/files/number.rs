//! Numbers and times as traces write them, exactly.

use stripewise_units::WallTime;

/// A decimal number times `unit`, without its digits below 1: "0.026214" with a unit of
/// 10^9 is 26,214,000. None for what is not a number, is negative or does not fit.
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
    // Rounded at the last digit: the steps above each cut off less than 2^-64.
    let part = (rest * u128::from(unit) + (1 << 63)) >> 64;
    whole
        .checked_mul(unit)?
        .checked_add(u64::try_from(part).ok()?)
}

/// A date and time without a zone, such as `2026-11-26 14:00:03.25`, nanoseconds since
/// 1970 on the same clock. Only differences are used, so the zone does not matter.
pub(crate) fn local_time(text: &str) -> Option<u64> {
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    let mut text = text.replace(' ', "T").replace('/', "-");
    // A zone, where there is one, is left out.
    let zone = text.rfind(['+', 'Z']).filter(|&at| at >= 19);
    text.truncate(zone.unwrap_or(text.len()));
    let time: WallTime = format!("{text}Z").parse().ok()?;
    Some(time.ns())
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
    fn local_times_lose_their_zone_and_keep_their_differences() {
        let first = local_time("2026-11-26 14:00:03.250").unwrap();
        let second = local_time("2026/11/26T14:00:04").unwrap();
        assert_eq!(second - first, 750_000_000);
        assert_eq!(local_time("2026-11-26T14:00:04+01:00"), Some(second));
        assert_eq!(local_time("2026-11-26T14:00:04Z"), Some(second));
        for text in ["", "14:00:03", "2026-13-26 14:00:03", "2026-11-26 14:00:61"] {
            assert_eq!(local_time(text), None, "{text}");
        }
    }
}
