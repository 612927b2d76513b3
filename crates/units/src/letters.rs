//! Control and bidirectional characters, which act instead of being seen.

use std::borrow::Cow;

/// Whether a character acts instead of being seen. Control characters move a terminal's cursor and
/// hide lines; bidirectional characters change the text order, or are invisible, so that two names
/// look alike. Line ends and tabs are control characters too: the caller decides where they are
/// allowed.
pub fn acts(letter: char) -> bool {
    letter.is_control() || is_direction(letter)
}

/// Marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm, their
/// terminators, and the obsolete ones after them.
fn is_direction(letter: char) -> bool {
    matches!(
        letter,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
    )
}

/// The replacement for such a character: its code point for a bidirectional character, `\u{202e}`,
/// as such names must be distinguishable from others; the replacement character for a control
/// character.
pub fn shown_instead(letter: char) -> String {
    match is_direction(letter) {
        true => letter.escape_unicode().to_string(),
        false => char::REPLACEMENT_CHARACTER.to_string(),
    }
}

/// A text with all such characters replaced, line ends and tabs too: a name in a row of a table
/// makes no row of its own.
pub fn in_one_row(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut row = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) {
            true => row.push_str(&shown_instead(letter)),
            false => row.push(letter),
        }
    }
    Cow::Owned(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_no_line_ends_and_tabs() {
        assert_eq!(
            in_one_row("a\nb\tc\u{202e}"),
            "a\u{fffd}b\u{fffd}c\\u{202e}"
        );
        assert!(matches!(in_one_row("/data/ü"), Cow::Borrowed(_)));
    }

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
        // Words in Arabic, Persian (which joins with U+200C) and Hebrew stay unchanged.
        let words = "a\\ ünï 数据 שלום سلام می\u{200c}خواهم \u{200b}\u{2028}";
        assert!(!words.contains(acts));
    }
}
