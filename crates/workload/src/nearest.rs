//! The known word that an unknown one was probably meant to be.

use strsim::levenshtein;

/// The nearest of `known` with at most one typing error in four letters.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|word| (levenshtein(&typed, word), word))
        .filter(|(errors, word)| *errors <= word.len().div_ceil(4))
        .min()
        .map(|(_, word)| word)
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
