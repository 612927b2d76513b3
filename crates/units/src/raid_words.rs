//! RAID levels as people say them.

/// A text in which levels as they are typed are worded: `raid raid0:4` is `RAID 0 of 4`, and the
/// factor alone is `RAID`.
///
/// ```
/// use stripewise_units::with_raid_words;
///
/// let typed = "stripe unit 64K, raid raid10:4, offset 1M";
/// assert_eq!(with_raid_words(typed), "stripe unit 64K, RAID 10 of 4, offset 1M");
/// ```
pub fn with_raid_words(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    // The sign before the factor's name, if that was the last word.
    let mut factor: Option<&str> = None;
    for word in text.split(' ') {
        let (before, name, after) = without_signs(word);
        let named = factor.take();
        let level = match named {
            Some(_) if is_single(name) => Some("a single disk".to_owned()),
            _ => level_words(name),
        };
        if let (Some(sign), None) = (named, &level) {
            words.push(format!("{sign}RAID"));
        }
        match level {
            Some(level) => words.push(format!("{}{level}{after}", named.unwrap_or(before))),
            None if is_factor(name) && after.is_empty() => factor = Some(before),
            None if is_factor(name) => words.push(format!("{before}RAID{after}")),
            None => words.push(word.to_owned()),
        }
    }
    words.extend(factor.map(|before| format!("{before}RAID")));
    words.join(" ")
}

/// A word with the signs before and after it.
fn without_signs(word: &str) -> (&str, &str, &str) {
    let is_sign = |letter: char| "(),;:.".contains(letter);
    let name = word.trim_start_matches(is_sign);
    let before = &word[..word.len() - name.len()];
    let bare = name.trim_end_matches(is_sign);
    (before, bare, &name[bare.len()..])
}

fn is_factor(name: &str) -> bool {
    name.eq_ignore_ascii_case("raid")
}

fn is_single(name: &str) -> bool {
    name == "single" || name.starts_with("single:")
}

/// `RAID 10 of 4` of `raid10:4`; `None` for anything else.
fn level_words(name: &str) -> Option<String> {
    let (level, disks) = match name.split_once(':') {
        Some((level, disks)) => (level, Some(disks)),
        None => (name, None),
    };
    let (word, number) = level.split_at_checked(4)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_factor(word) || !is_number(number) || !disks.is_none_or(is_number) {
        return None;
    }
    Some(match disks {
        Some(disks) => format!("RAID {number} of {disks}"),
        None => format!("RAID {number}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_worded_wherever_they_stand_and_nothing_else_is() {
        for (typed, worded) in [
            (
                "Raid0:4 survives, raid10:4 that",
                "RAID 0 of 4 survives, RAID 10 of 4 that",
            ),
            ("(raid raid10:4, offset 1M).", "(RAID 10 of 4, offset 1M)."),
            (
                "raid: 9 % at raid0 than at raid5:4",
                "RAID: 9 % at RAID 0 than at RAID 5 of 4",
            ),
            (
                "stripe unit x raid, raid x offset",
                "stripe unit x RAID, RAID x offset",
            ),
            (
                "with raid single, offset 1M",
                "with a single disk, offset 1M",
            ),
            ("raid single:1", "a single disk"),
            (
                "sim:raid5-7k2 --vary raid=raid10,raid5",
                "sim:raid5-7k2 --vary raid=raid10,raid5",
            ),
            (
                "at single; raids raid raid10:x",
                "at single; raids RAID raid10:x",
            ),
            ("offset 1M  raid", "offset 1M  RAID"),
            ("", ""),
        ] {
            assert_eq!(with_raid_words(typed), worded);
        }
    }
}
