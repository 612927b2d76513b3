//! Letters that act instead of being seen.

/// Control characters move a terminal's cursor and hide lines; signs of direction
/// turn the order of letters round, or are invisible, so that two names look alike.
/// Line ends and tabs are control characters too: where they may stay is the
/// caller's business.
#[must_use]
pub fn acts(letter: char) -> bool {
    letter.is_control() || is_direction(letter)
}

/// Marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm,
/// their ends, and the obsolete ones behind them.
fn is_direction(letter: char) -> bool {
    matches!(
        letter,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
    )
}

/// What is shown in place of a letter that acts: its number for a sign of
/// direction, `\u{202e}`, as such a name must be told apart from others; the
/// replacement character for a control character.
#[must_use]
pub fn shown_instead(letter: char) -> String {
    match is_direction(letter) {
        true => letter.escape_unicode().to_string(),
        false => char::REPLACEMENT_CHARACTER.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_act_are_named_or_replaced_and_others_are_not() {
        for (letter, shown) in [
            ('\u{1b}', "\u{fffd}"),
            ('\u{7f}', "\u{fffd}"),
            ('\u{9b}', "\u{fffd}"),
            ('\u{61c}', r"\u{61c}"),
            ('\u{200e}', r"\u{200e}"),
            ('\u{200f}', r"\u{200f}"),
            ('\u{202a}', r"\u{202a}"),
            ('\u{202e}', r"\u{202e}"),
            ('\u{2066}', r"\u{2066}"),
            ('\u{2069}', r"\u{2069}"),
            ('\u{206f}', r"\u{206f}"),
        ] {
            assert!(acts(letter), "{shown}");
            assert_eq!(shown_instead(letter), shown);
        }
        // Words of Arabic, Persian (which joins with U+200C) and Hebrew stay.
        let words = "a\\ ünï 数据 שלום سلام می\u{200c}خواهم \u{200b}\u{2028}";
        assert!(!words.contains(acts));
    }
}
