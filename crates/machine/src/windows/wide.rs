//! Windows strings: UTF-16, zero-terminated.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;

/// The longest Windows path, in UTF-16 units.
pub const PATH_UNITS_MAX: usize = 32_768;

/// Zero-terminated.
pub fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// Up to the first zero.
pub fn narrow(units: &[u16]) -> String {
    let end = units.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&units[..end.unwrap_or(units.len())])
}

/// Consecutive strings, terminated by an empty one.
pub fn list(units: &[u16]) -> Vec<String> {
    units
        .split(|unit| *unit == 0)
        .take_while(|text| !text.is_empty())
        .map(String::from_utf16_lossy)
        .collect()
}
