//! Names where they are Unicode: the few that are not have no text; and advice for Windows.

use std::ffi::{OsStr, OsString};

/// The second of two texts; see [`advice`](crate::advice).
#[must_use]
pub const fn advice(_linux: &'static str, here: &'static str) -> &'static str {
    here
}

/// As [`NameText`](crate::NameText) says.
pub fn text_of(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// The way back.
pub fn name_of(text: &str) -> OsString {
    OsString::from(text)
}
