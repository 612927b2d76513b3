//! Ids of runs.

/// The id of a run that started at `started_at` (RFC 3339, UTC: `2026-11-21T20:15:30Z`, fractions
/// allowed): date and time without separators, and 20 bits of `entropy` in four characters:
/// `20261121-201530-k3f9`. Ids sort by time, need no quoting in a shell, and avoid letters that
/// look like digits. `None` if `started_at` does not begin with such a time.
pub fn run_id(started_at: &str, entropy: u64) -> Option<String> {
    // Crockford's alphabet: no i, l, o, u.
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut id = String::with_capacity(20);
    for (at, mark) in b"0000-00-00T00:00:00".iter().enumerate() {
        let found = *started_at.as_bytes().get(at)?;
        match mark {
            b'0' if found.is_ascii_digit() => id.push(char::from(found)),
            b'T' if found == b'T' => id.push('-'),
            b'-' | b':' if found == *mark => {}
            _ => return None,
        }
    }
    id.push('-');
    for digit in 0..4 {
        let index = (entropy >> (5 * digit)) & 31;
        id.push(char::from(ALPHABET[index as usize]));
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Incrementing the entropy never repeats an id, however many runs begin at once.
    #[test]
    fn ids_of_one_second_differ_where_the_entropy_counts_on() {
        // More than three of the four characters can tell apart, and over the end of the range.
        let from = u64::MAX - 30_000;
        let ids: std::collections::HashSet<String> = (0..1 << 16)
            .filter_map(|step| run_id("2026-11-21T20:15:30.123Z", from.wrapping_add(step)))
            .collect();
        assert_eq!(ids.len(), 1 << 16);
    }

    #[test]
    fn an_id_is_the_time_without_marks_and_four_characters_of_entropy() {
        let cases = [
            ("2026-11-21T20:15:30Z", 0, Some("20261121-201530-0000")),
            ("2026-11-21T20:15:30.123Z", 31, Some("20261121-201530-z000")),
            (
                "2026-11-21T20:15:30Z",
                u64::MAX,
                Some("20261121-201530-zzzz"),
            ),
            (
                "2026-11-21T20:15:30Z",
                1 << 15,
                Some("20261121-201530-0001"),
            ),
            ("2026-11-21 20:15:30", 0, None),
            ("2026-11-21", 0, None),
            ("", 0, None),
        ];
        for (started_at, entropy, expected) in cases {
            assert_eq!(
                run_id(started_at, entropy).as_deref(),
                expected,
                "{started_at}"
            );
        }
    }
}
