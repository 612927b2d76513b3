//! Removes control characters from user text: they move a terminal's
//! cursor and hide lines, and bidirectional overrides reverse the order of
//! letters. Every report format uses this, because all of them may be
//! printed.

use stripewise_units::{acts, shown_instead};

/// Replaces each control character with something visible. Line endings and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) && !matches!(letter, '\n' | '\t') {
            true => safe.push_str(&shown_instead(letter)),
            false => safe.push(letter),
        }
    }
    safe
}

/// JSON without control characters: those inside its strings become escapes, which JSON
/// decodes to the same characters. Line endings between values stay.
pub fn plain_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        if acts(letter) && letter != '\n' {
            // All of them are below U+10000.
            safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// The same of a text that mostly has none: it is looked through once, and not copied.
pub fn into_plain_json(json: String) -> String {
    let acts = |byte: u8| byte != b'\n' && !(b' '..0x7f).contains(&byte);
    // Without an early end, so that many bytes are compared at once.
    match json.bytes().fold(false, |found, byte| found | acts(byte)) {
        true => plain_json(&json),
        false => json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "a\u{1b}[2Jb\u{7f}c\u{9b}d\u{202e}e\u{2067}f\r";

    #[test]
    fn no_sign_that_acts_is_left_and_json_says_the_same() {
        assert_eq!(
            plain(ODD),
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\\u{202e}e\\u{2067}f\u{fffd}"
        );
        for json in [ODD, "\"a\\u001b\"\n", "\"\u{e9}\"", "\t"] {
            assert_eq!(into_plain_json(json.to_owned()), plain_json(json));
        }
        assert_eq!(plain("two\nlines\tand more"), "two\nlines\tand more");
        let json = serde_json::to_string_pretty(&vec![ODD]).unwrap();
        let safe = plain_json(&json);
        assert!(safe.chars().all(|letter| !acts(letter) || letter == '\n'));
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), [ODD]);
    }
}
