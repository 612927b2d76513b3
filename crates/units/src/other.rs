//! Names where they are Unicode, with no text for the few that are not; and advice for Windows.

use std::ffi::{OsStr, OsString};

/// Selects the second text; see [`advice`](crate::advice).
pub const fn advice(_linux: &'static str, here: &'static str) -> &'static str {
    here
}

/// See [`NameText`](crate::NameText).
pub fn text_of(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// The inverse.
pub fn name_of(text: &str) -> OsString {
    OsString::from(text)
}
