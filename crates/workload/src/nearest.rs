//! The known word that an unknown one was probably meant to be.

/// The nearest of `known` with at most one typing error in four letters.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|word| (distance(&typed, word), word))
        .filter(|(errors, word)| *errors <= word.len().div_ceil(4))
        .min()
        .map(|(_, word)| word)
}

/// Levenshtein's distance: characters to insert, delete or replace.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    // Words of a plan are short; what is not, is no typing error.
    for (line, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in two.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_their_word_and_other_words_do_not() {
        let known = [
            "block",
            "base-offset",
            "outstanding",
            "read",
            "read-percent",
        ];
        for (typed, expected) in [
            ("blok", Some("block")),
            ("Block", Some("block")),
            ("base_offset", Some("base-offset")),
            ("outstandings", Some("outstanding")),
            ("raed", None),
            ("rad", Some("read")),
            ("raed-percent", Some("read-percent")),
            ("readpercent", Some("read-percent")),
            ("compression", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }
}
