//! Dates of other tools as RFC 3339.

use stripewise_units::WallTime;

/// Seconds and milliseconds since 1970 in UTC as `2026-11-21T20:15:30.123Z`.
/// `None` outside the years of [`WallTime`].
pub(crate) fn rfc3339(seconds: i64, ms: u32) -> Option<String> {
    let ms = u64::try_from(seconds)
        .ok()?
        .checked_mul(1000)?
        .checked_add(u64::from(ms))?;
    let text = WallTime(ms.checked_mul(1_000_000)?).to_string();
    Some(format!("{}Z", text.get(..23)?))
}

/// `2026-11-22T20:15:30.123+0200` in UTC.
pub(crate) fn from_offset(text: &str) -> Option<String> {
    let (local, offset) = text.trim().split_at_checked(23)?;
    let (sign, digits) = offset.split_at_checked(1)?;
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    let ahead = hours * 3600 + minutes * 60;
    let (seconds, ms) = seconds_of(local)?;
    match sign {
        "+" => rfc3339(seconds - ahead, ms),
        "-" => rfc3339(seconds + ahead, ms),
        _ => None,
    }
}

/// `2018/10/08 15:43:09 UTC`, as DiskSpd writes it.
pub(crate) fn from_slashes(text: &str) -> Option<String> {
    let (date, time) = text.trim().strip_suffix(" UTC")?.split_once(' ')?;
    let date = (!date.contains('-')).then(|| date.replace('/', "-"))?;
    let (seconds, ms) = seconds_of(&format!("{date}T{time}"))?;
    rfc3339(seconds, ms)
}

/// Seconds and milliseconds since 1970 of a time without a zone.
fn seconds_of(time: &str) -> Option<(i64, u32)> {
    let time: WallTime = format!("{time}Z").parse().ok()?;
    let ms = time.ns() / 1_000_000;
    Some((i64::try_from(ms / 1000).ok()?, (ms % 1000) as u32))
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
