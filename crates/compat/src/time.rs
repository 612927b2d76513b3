//! Dates of other tools as RFC 3339.

use stripewise_units::civil_date;

/// Seconds and milliseconds since 1970 in UTC as `2026-11-21T20:15:30.123Z`.
/// `None` outside the years 1970 to 9999.
pub(crate) fn rfc3339(seconds: i64, ms: u32) -> Option<String> {
    if !(0..253_402_300_800).contains(&seconds) {
        return None;
    }
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(days.unsigned_abs());
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
    ))
}

/// Days since 1970-01-01 of a date (Howard Hinnant, `days_from_civil`).
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let shifted_month = (month + 9) % 12;
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `2026-11-22T20:15:30.123+0200` in UTC.
pub(crate) fn from_offset(text: &str) -> Option<String> {
    let text = text.trim();
    let at = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        let sound = digits.bytes().all(|byte| byte.is_ascii_digit());
        sound.then(|| digits.parse().ok())?
    };
    let marks = [
        (4, '-'),
        (7, '-'),
        (10, 'T'),
        (13, ':'),
        (16, ':'),
        (19, '.'),
    ];
    let sound = text.len() == 28
        && marks
            .iter()
            .all(|(at, mark)| text.as_bytes()[*at] == *mark as u8);
    if !sound {
        return None;
    }
    let (month, day) = (at(5, 7)?, at(8, 10)?);
    let (hour, minute, second) = (at(11, 13)?, at(14, 16)?, at(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let sign = match text.as_bytes()[23] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let offset = sign * (at(24, 26)? * 3600 + at(26, 28)? * 60);
    let days = days_of(at(0, 4)?, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset;
    rfc3339(seconds, u32::try_from(at(20, 23)?).ok()?)
}

/// `2018/10/08 15:43:09 UTC`, as DiskSpd writes it.
pub(crate) fn from_slashes(text: &str) -> Option<String> {
    let text = text.trim().strip_suffix(" UTC")?;
    let (date, time) = text.split_once(' ')?;
    let numbers = |text: &str, mark: char, widths: [usize; 3]| -> Option<[u32; 3]> {
        let parts: Vec<&str> = text.split(mark).collect();
        let fits = parts.len() == 3
            && parts.iter().zip(widths).all(|(part, width)| {
                part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit())
            });
        let number = |at: usize| parts[at].parse().ok();
        fits.then(|| Some([number(0)?, number(1)?, number(2)?]))?
    };
    let [year, month, day] = numbers(date, '/', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let sound = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    sound.then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_an_offset_are_read_in_utc() {
        for (text, utc) in [
            (
                "2026-11-22T20:15:30.123+0200",
                Some("2026-11-22T18:15:30.123Z"),
            ),
            (
                "2024-03-01T00:10:00.000+0100",
                Some("2024-02-29T23:10:00.000Z"),
            ),
            (
                "1999-12-31T23:59:59.999-0001",
                Some("2000-01-01T00:00:59.999Z"),
            ),
            ("2026-11-22 20:15:30.123+0200", None),
            ("2026-13-22T20:15:30.123+0200", None),
            ("2026-11-22T20:15:30.123\u{fc}020", None),
        ] {
            assert_eq!(from_offset(text).as_deref(), utc, "{text}");
        }
    }

    #[test]
    fn dates_of_other_tools_become_rfc_3339() {
        assert_eq!(rfc3339(0, 0).unwrap(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            rfc3339(1_709_164_800, 5).unwrap(),
            "2024-02-29T00:00:00.005Z"
        );
        assert_eq!(
            rfc3339(1_763_756_130, 123).unwrap(),
            "2025-11-21T20:15:30.123Z"
        );
        assert_eq!(rfc3339(-1, 0), None);
        assert_eq!(rfc3339(i64::MAX, 0), None);
        assert_eq!(
            from_slashes("2018/10/08 15:43:09 UTC").unwrap(),
            "2018-10-08T15:43:09.000Z"
        );
        for wrong in [
            "",
            "2018/10/08",
            "2018/13/08 15:43:09 UTC",
            "2018-10-08 15:43:09 UTC",
            "2018/10/08 15:43:09",
        ] {
            assert_eq!(from_slashes(wrong), None, "{wrong}");
        }
    }
}
