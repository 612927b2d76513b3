//! Names where they are Unicode: the few that are not have no text.

use std::ffi::{OsStr, OsString};

/// As [`NameText`](crate::NameText) says.
pub fn text_of(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// The way back.
pub fn name_of(text: &str) -> OsString {
    OsString::from(text)
}
