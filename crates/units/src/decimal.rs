//! Decimal numbers, exactly: `31.5` is 315 / 10, never a float.

/// A number with a decimal fraction: `digits` / 10^`decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    decimals: u32,
}

/// Why a product is not a 64-bit integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inexact {
    /// It has a fraction.
    Fraction,
    /// It is too large.
    Overflow,
}

impl Decimal {
    /// Reads digits with at most one point from the start of `text`; returns the number and the
    /// length read. `None` if there is no digit, or too many for 128 bits.
    pub(crate) fn read(text: &str) -> Option<(Decimal, usize)> {
        let mut number = Decimal {
            digits: 0,
            decimals: 0,
        };
        let (mut seen_digit, mut seen_point, mut length) = (false, false, 0);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    seen_digit = true;
                    let digit = u128::from(byte - b'0');
                    number.digits = number.digits.checked_mul(10)?.checked_add(digit)?;
                    number.decimals += u32::from(seen_point);
                }
                b'.' if !seen_point => seen_point = true,
                _ => break,
            }
            length += 1;
        }
        seen_digit.then_some((number, length))
    }

    /// The product with `factor`, if it is an integer.
    pub(crate) fn times(self, factor: u64) -> Result<u64, Inexact> {
        let product = self
            .digits
            .checked_mul(u128::from(factor))
            .ok_or(Inexact::Overflow)?;
        // 10^38 is the largest power of ten in 128 bits; `read` allows no more
        // digits than that, unless zeros lead.
        let divisor = 10_u128
            .checked_pow(self.decimals)
            .ok_or(Inexact::Fraction)?;
        if !product.is_multiple_of(divisor) {
            return Err(Inexact::Fraction);
        }
        u64::try_from(product / divisor).map_err(|_| Inexact::Overflow)
    }
}

/// `value` / `unit` with up to `decimals` decimals, without trailing zeros; `None` if that is not
/// exact.
pub(crate) fn exact(value: u64, unit: u64, decimals: u32) -> Option<String> {
    let scale = 10_u128.pow(decimals);
    let scaled = u128::from(value) * scale;
    let unit = u128::from(unit);
    if !scaled.is_multiple_of(unit) {
        return None;
    }
    let (whole, fraction) = (scaled / unit / scale, scaled / unit % scale);
    if fraction == 0 {
        return Some(whole.to_string());
    }
    let fraction = format!("{fraction:0width$}", width = decimals as usize);
    Some(format!("{whole}.{}", fraction.trim_end_matches('0')))
}

/// `value` / `unit` rounded half up to `decimals` decimals, as an integer in units of the last
/// decimal.
pub(crate) fn rounded(value: u64, unit: u64, decimals: u32) -> u128 {
    let unit = u128::from(unit);
    (u128::from(value) * 10_u128.pow(decimals) * 2 + unit) / (2 * unit)
}

/// Formats an integer in units of the last decimal: 315 with 1 decimal is `31.5`.
pub(crate) fn point(scaled: u128, decimals: u32) -> String {
    if decimals == 0 {
        return scaled.to_string();
    }
    let scale = 10_u128.pow(decimals);
    let (whole, fraction) = (scaled / scale, scaled % scale);
    format!("{whole}.{fraction:0width$}", width = decimals as usize)
}
