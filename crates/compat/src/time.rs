//! Dates of other tools as RFC 3339.

/// Seconds and milliseconds since 1970 in UTC as `2026-11-21T20:15:30.123Z`.
/// `None` outside of the years 1970 to 9999.
pub(crate) fn rfc3339(seconds: i64, ms: u32) -> Option<String> {
    if !(0..253_402_300_800).contains(&seconds) {
        return None;
    }
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
    ))
}

/// The date of a day since 1970-01-01 (Howard Hinnant, `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
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
