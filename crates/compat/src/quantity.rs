//! Quantities as other tools write them.

/// The whole number at the beginning of a text, and the unit behind it.
pub(crate) fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let unit = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let number = text[..text.len() - unit.len()].parse().ok()?;
    Some((number, unit))
}
