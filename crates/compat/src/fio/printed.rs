//! Numbers as fio prints them for people: three to six digits and a unit.

/// A number and the value of its last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PrintedNumber {
    pub(super) value: f64,
    /// Precision of the number.
    pub(super) step: f64,
    /// Value of 1 before the decimal point.
    pub(super) unit: f64,
    /// What may have been lost from it if its decimals are all 0; otherwise 0.
    pub(super) carry: f64,
}

impl PrintedNumber {
    /// Whether an exact number may have been printed as this one. fio truncates and rounds, so a
    /// full last digit either way is allowed.
    pub(super) fn fits(&self, exact: f64) -> bool {
        self.fits_within(exact, 0.0)
    }

    /// The same for a sum of rounded numbers.
    pub(super) fn fits_within(&self, exact: f64, off: f64) -> bool {
        let near = |value: f64| (value - exact).abs() <= self.step * 1.01 + off + 1e-9;
        near(self.value) || self.carry > 0.0 && near(self.value + self.carry)
    }

    /// As printed by a version with or without the lost carry (fio 3.0 to 3.25: 24.98 is printed as
    /// 24.0).
    pub(super) fn with_lost_carry(self, loses_carry: bool) -> PrintedNumber {
        PrintedNumber {
            carry: if loses_carry { self.carry } else { 0.0 },
            ..self
        }
    }

    /// A number whose decimals are meaningless.
    pub(super) fn without_decimals(self) -> PrintedNumber {
        PrintedNumber {
            step: self.step.max(self.unit),
            carry: 0.0,
            ..self
        }
    }

    /// Of the two possible values, the one nearer to `other`.
    pub(super) fn nearest(self, other: f64) -> PrintedNumber {
        let carried = self.value + self.carry;
        let is_carried = (carried - other).abs() < (self.value - other).abs();
        PrintedNumber {
            value: if is_carried { carried } else { self.value },
            carry: 0.0,
            ..self
        }
    }

    /// The number in a unit `times` as large.
    pub(super) fn times(self, times: f64) -> PrintedNumber {
        PrintedNumber {
            value: self.value * times,
            step: self.step * times,
            unit: self.unit * times,
            carry: self.carry * times,
        }
    }
}

/// `6689`, `16.8k`, `2.5M`: counts and latencies, in steps of 1,000.
pub(super) fn count(text: &str) -> Option<PrintedNumber> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "G" | "g" => 1e9,
        _ => return None,
    };
    Some(number.times(factor))
}

/// `65.6MiB/s`, `4308KiB`, `68.8MB/s`, with `unit_base=1` `550Mbit/s`; version 2 writes `1024.0MB`
/// and means 1,048,576.
pub(super) fn bytes(text: &str, binary: bool) -> Option<PrintedNumber> {
    let (number, unit) = split(text)?;
    let unit = unit.trim_end_matches("/s").trim_end();
    let (unit, of_unit, share) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, false, 0.125),
        None => (unit.strip_suffix('B')?, binary, 1.0),
    };
    let (prefix, of_1024) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (unit, of_unit),
    };
    let power = match prefix {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    let base: f64 = if of_1024 { 1024.0 } else { 1000.0 };
    Some(number.times(base.powi(power) * share))
}

/// The number, and the unit after it.
fn split(text: &str) -> Option<(PrintedNumber, &str)> {
    let text = text.trim();
    let is_digit = |sign: char| sign.is_ascii_digit() || sign == '.';
    let end = text.find(|sign| !is_digit(sign)).unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let decimals = text[..end]
        .split_once('.')
        .map_or(0, |(_, after)| after.len());
    if !value.is_finite() || decimals > 12 {
        return None;
    }
    let step = 10_f64.powi(-(decimals as i32));
    let all_zero = decimals > 0 && text[end - decimals..end].bytes().all(|digit| digit == b'0');
    let printed = PrintedNumber {
        value,
        step,
        unit: 1.0,
        carry: if all_zero { 1.0 } else { 0.0 },
    };
    Some((printed, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers_have_a_value_and_a_last_digit() {
        for (text, value, step) in [
            ("6689", 6689.0, 1.0),
            ("16.8k", 16_800.0, 100.0),
            ("48380k", 48_380_000.0, 1000.0),
        ] {
            let found = count(text).unwrap();
            assert!((found.value - value).abs() < 1e-6, "{text}");
            assert!((found.step - step).abs() < 1e-6, "{text}");
        }
        for (text, binary, value) in [
            ("65.5MiB/s", false, 65.5 * 1_048_576.0),
            ("68.8MB/s", false, 68_800_000.0),
            ("1024.0MB", true, 1_073_741_824.0),
            ("4308KiB", false, 4_411_392.0),
            ("512B", false, 512.0),
            ("29.2Gbit/s", false, 3_650_000_000.0),
            ("8.0Mibit/s", false, 1_048_576.0),
        ] {
            let found = bytes(text, binary).unwrap();
            assert!((found.value - value).abs() < 1.0, "{text}");
        }
        for text in ["", "k", "1.2.3k", "12 parsecs", "nan"] {
            assert_eq!((count(text), bytes(text, true)), (None, None), "{text}");
        }
        let iops = count("16.8k").unwrap();
        assert!(iops.fits(16_786.9) && !iops.fits(16_950.0));
        let gib = f64::from(1 << 30);
        let amount = bytes("24.0GiB", false).unwrap();
        assert!(
            amount.with_lost_carry(true).fits(24.98 * gib)
                && amount.with_lost_carry(true).fits(24.03 * gib)
        );
        assert!(
            !amount.with_lost_carry(true).fits(24.5 * gib)
                && !amount.with_lost_carry(false).fits(24.98 * gib)
        );
        let nearest = amount.with_lost_carry(true).nearest(24.97 * gib);
        assert!((nearest.value - 25.0 * gib).abs() < 1.0 && !nearest.fits(24.0 * gib));
        let amount = bytes("24.1GiB", false).unwrap();
        assert!(!amount.with_lost_carry(true).fits(25.1 * gib));
    }
}
