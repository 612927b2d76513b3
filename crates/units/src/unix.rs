//! Names where they are bytes, and advice for Unix systems.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Selects the first text; see [`advice`](crate::advice).
pub const fn advice(here: &'static str, _windows: &'static str) -> &'static str {
    here
}

/// See [`NameText`](crate::NameText).
pub fn text_of(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        let valid = chunk.valid();
        for (at, letter) in valid.char_indices() {
            match letter == '\\' && escaped(&valid.as_bytes()[at..]).is_some() {
                true => text.push_str(r"\x5c"),
                false => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!(r"\x{byte:02x}"));
        }
    }
    text
}

/// The inverse.
pub fn name_of(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if let Some(byte) = escaped(rest) {
            bytes.push(byte);
            rest = &rest[4..];
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    OsString::from_vec(bytes)
}

/// The byte for the escape at the start of these bytes.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = bytes else {
        return None;
    };
    let digit = |letter: u8| char::from(letter).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}
