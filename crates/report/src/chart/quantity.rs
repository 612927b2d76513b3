//! The quantities of axes and their formats: the same as
//! in the tables. `page/page.js` formats numbers by the same rules.

use crate::number::rate;
use serde::Serialize;
use stripewise_units::{ByteSize, format_count, format_duration};

/// The quantity of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// IOPS.
    Iops,
    /// MiB/s: 1,048,576 bytes per second.
    MibPerSecond,
    /// A latency in nanoseconds.
    Latency,
    /// Nanoseconds since the start of measuring.
    Time,
    /// A moment: seconds since the beginning of 1970, UTC.
    Date,
    /// A number of things: operations in flight, threads, blocks of an experiment.
    Count,
    /// Per cent, with a sign if it is a difference.
    Difference,
    /// Per cent of a whole.
    Share,
    /// -log10(1 - p) of a share of operations.
    Percentile,
    /// A size or offset in bytes.
    Bytes,
    /// An index into the axis's names.
    Name,
}

impl Quantity {
    /// The unit, unless numbers carry one themselves.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Iops => "IOPS",
            Quantity::MibPerSecond => "MiB/s",
            Quantity::Difference | Quantity::Share => "%",
            _ => "",
        }
    }

    /// A value as in tables and tooltips, without [`Quantity::unit`].
    pub fn format(self, value: f64) -> String {
        match self {
            Quantity::Iops | Quantity::MibPerSecond => rate(value),
            Quantity::Latency | Quantity::Time => format_duration(whole(value)),
            Quantity::Date => date(value, "%Y-%m-%d %H:%M"),
            Quantity::Count => format_count(whole(value)),
            Quantity::Difference => signed(value, 2),
            Quantity::Share => shortened(&format!("{value:.2}")),
            Quantity::Percentile => percentile(value),
            Quantity::Bytes => ByteSize(whole(value)).to_string(),
            Quantity::Name => format!("{value}"),
        }
    }

    /// A value as an axis label: rounded, as short as possible.
    pub fn tick(self, value: f64) -> String {
        match self {
            Quantity::Iops | Quantity::MibPerSecond if value >= 1.0 && value.fract() == 0.0 => {
                format_count(whole(value))
            }
            Quantity::Iops | Quantity::MibPerSecond => shortened(&format!("{value:.3}")),
            Quantity::Latency | Quantity::Time => match format_duration(whole(value)) {
                _ if value == 0.0 => "0".to_owned(),
                text => match text.split_once(' ') {
                    Some((number, unit)) => format!("{} {unit}", shortened(number)),
                    None => text,
                },
            },
            Quantity::Difference => format!("{} %", shortened(&signed(value, 2))),
            Quantity::Share => format!("{} %", self.format(value)),
            // Days are without an hour, hours without a day, which is shown nearby.
            Quantity::Date if value % DAY == 0.0 => date(value, "%Y-%m-%d"),
            Quantity::Date => date(value, "%m-%d %H:%M"),
            _ => self.format(value),
        }
    }
}

/// Seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// Empty outside the range of the calendar.
fn date(seconds: f64, form: &str) -> String {
    let moment = jiff::Timestamp::from_second(seconds.round() as i64);
    moment.map_or_else(
        |_| String::new(),
        |moment| moment.strftime(form).to_string(),
    )
}

/// A rounded value of at least 0.
fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

/// With a sign, except if it rounds to zero.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text
        .bytes()
        .all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'))
    {
        return text[1..].to_owned();
    }
    text.replace('-', "\u{2212}")
}

/// Without trailing zeros after the decimal point.
fn shortened(number: &str) -> String {
    if !number.contains('.') {
        return number.to_owned();
    }
    number
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// `99.9 %` from its position on the axis of nines.
fn percentile(place: f64) -> String {
    let percent = 100.0 - 100.0 * 10f64.powf(-place);
    // One decimal more than there are nines.
    let decimals = (place.floor().max(0.0) as usize).clamp(1, 8);
    format!("{} %", shortened(&format!("{percent:.decimals$}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::nines;

    #[test]
    fn numbers_are_written_as_in_the_tables() {
        for (quantity, value, text, tick) in [
            (Quantity::Iops, 9_812.3, "9,812", "9812.3"),
            (Quantity::Iops, 20_000.0, "20,000", "20,000"),
            (Quantity::Iops, 0.5, "0.5", "0.5"),
            (Quantity::Latency, 1_583_000.0, "1.58 ms", "1.58 ms"),
            (Quantity::Latency, 2_000_000.0, "2 ms", "2 ms"),
            (Quantity::Time, 0.0, "0 ns", "0"),
            (
                Quantity::Date,
                1_795_564_800.0,
                "2026-11-25 00:00",
                "2026-11-25",
            ),
            (
                Quantity::Date,
                1_795_593_600.0,
                "2026-11-25 08:00",
                "11-25 08:00",
            ),
            (Quantity::Date, 1e30, "", ""),
            (Quantity::Difference, 47.113, "+47.11", "+47.11 %"),
            (Quantity::Difference, -10.0, "\u{2212}10.00", "\u{2212}10 %"),
            (Quantity::Difference, 0.0, "0.00", "0 %"),
            (Quantity::Share, 12.5, "12.5", "12.5 %"),
            (Quantity::Percentile, nines(99.9), "99.9 %", "99.9 %"),
            (Quantity::Percentile, nines(0.0), "0 %", "0 %"),
            (Quantity::Percentile, nines(99.99), "99.99 %", "99.99 %"),
            (Quantity::Bytes, 32_256.0, "31.5K", "31.5K"),
        ] {
            assert_eq!(quantity.format(value), text, "{quantity:?} {value}");
            assert_eq!(quantity.tick(value), tick, "{quantity:?} {value}");
        }
    }
}
