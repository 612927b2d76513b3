//! Percentiles by number: `95`, `p99.99`.

use crate::ParseError;
use std::fmt;
use std::str::FromStr;

const HINT: &str =
    "a percentile is a number above 0 and below 100 with at most four decimals: 50, 95, 99.99";

/// Units of the stored value in one per cent.
const PARTS: u32 = 10_000;

/// A percentile, exact to a ten-thousandth of a per cent.
///
/// ```
/// use stripewise_units::Percentile;
///
/// let tail: Percentile = "p99.99".parse()?;
/// assert_eq!((tail.percent(), tail.to_string().as_str()), (99.99, "p99.99"));
/// assert_eq!(tail.operations_min(), 100_000);
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile(u32);

impl Percentile {
    /// The percentage, above 0 and below 100.
    pub fn percent(self) -> f64 {
        f64::from(self.0) / f64::from(PARTS)
    }

    /// Minimum number of operations: ten of them lie above.
    pub fn operations_min(self) -> u64 {
        let above = u64::from(100 * PARTS - self.0);
        (10 * 100 * u64::from(PARTS)).div_ceil(above)
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.0 / PARTS, self.0 % PARTS);
        let text = match parts {
            0 => format!("p{whole}"),
            _ => format!("p{whole}.{parts:04}")
                .trim_end_matches('0')
                .to_owned(),
        };
        f.pad(&text)
    }
}

impl FromStr for Percentile {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = || ParseError::new(typed, "is not a valid percentile", HINT);
        let text = typed.trim();
        let text = text.strip_prefix(['p', 'P']).unwrap_or(text);
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let sound = (1..=2).contains(&whole.len()) && decimals.len() <= 4;
        if !sound || !digits(whole) || !digits(decimals) {
            return Err(refuse());
        }
        let parts: u32 = format!("{whole}{decimals:0<4}")
            .parse()
            .map_err(|_| refuse())?;
        (parts > 0).then_some(Percentile(parts)).ok_or_else(refuse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_typed_with_and_without_their_letter() {
        for (typed, printed, operations) in [
            ("50", "p50", 20),
            ("p95", "p95", 200),
            ("P99.9", "p99.9", 10_000),
            (" 99.990 ", "p99.99", 100_000),
            ("0.5", "p0.5", 11),
            ("99.9999", "p99.9999", 10_000_000),
        ] {
            let one: Percentile = typed.parse().unwrap();
            assert_eq!(
                (one.to_string().as_str(), one.operations_min()),
                (printed, operations)
            );
            assert_eq!(printed.parse(), Ok(one));
        }
        for typed in [
            "", "p", "0", "100", "-5", "99.99999", "5e1", "9 9", "max", ".",
        ] {
            let error = typed.parse::<Percentile>().unwrap_err();
            assert!(error.hint().contains("99.99"), "{typed}");
        }
    }
}
