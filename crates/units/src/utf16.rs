//! UTF-16, as PowerShell's `>` and other programs of Windows write it.

/// The units in bytes whose order `unit` knows; an odd byte behind them is left out.
pub fn utf16_units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> impl Iterator<Item = u16> {
    let pairs = bytes.chunks_exact(2);
    pairs.map(move |two| unit([two[0], two[1]]))
}

/// Their text; unpaired surrogates become the replacement character.
///
/// ```
/// use stripewise_units::{utf16_text, utf16_units};
///
/// let bytes = b"I\0O\0\x3d\xd8";
/// assert_eq!(utf16_text(utf16_units(bytes, u16::from_le_bytes)), "IO\u{fffd}");
/// ```
pub fn utf16_text(units: impl IntoIterator<Item = u16>) -> String {
    let signs = char::decode_utf16(units);
    signs
        .map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
