//! Round positions for the ticks of an axis.

use super::quantity::DAY;
use super::{Axis, Scale, nines};
use crate::chart::Quantity;

/// A tick: position and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// A value of the axis.
    pub value: f64,
    /// Its label; may be empty.
    pub label: String,
}

/// Values beyond this are drawn at the edge: far above any measurement, while sums
/// and powers of it are finite.
const LARGEST: f64 = 1e30;
/// A percentage beyond this would require more operations than were ever counted.
const NINES_MAX: f64 = 18.0;

/// The range of an axis for these values, and about `wanted` ticks.
/// Without values, the range is 0 to 1.
pub fn ticks(
    axis: &Axis,
    values: impl Iterator<Item = f64>,
    wanted: usize,
) -> ([f64; 2], Vec<Tick>) {
    let by_powers = matches!(axis.scale, Scale::Log10 | Scale::Log2);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    // A logarithmic scale has no position for 0 and less.
    for value in values.filter(|value| value.is_finite() && (*value > 0.0 || !by_powers)) {
        let value = if by_powers {
            value.clamp(1.0 / LARGEST, LARGEST)
        } else {
            value.clamp(-LARGEST, LARGEST)
        };
        (low, high) = (low.min(value), high.max(value));
    }
    if low > high {
        (low, high) = if by_powers { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    let (range, places) = match &axis.scale {
        Scale::FromZero => even(low.min(0.0), high.max(0.0), wanted, axis.quantity),
        Scale::Linear if axis.quantity == Quantity::Date => dates(low, high, wanted),
        Scale::Linear => even(low, high, wanted, axis.quantity),
        Scale::Log10 => decades(low, high, wanted),
        Scale::Log2 => octaves(low, high, wanted),
        Scale::Nines => percentiles(high),
        Scale::Names(names) => {
            let range = [-0.5, names.len().max(1) as f64 - 0.5];
            let every = names.len().div_ceil(wanted.max(1)).max(1);
            let ticks = (0..names.len()).step_by(every).map(|index| Tick {
                value: index as f64,
                label: names[index].clone(),
            });
            return (range, ticks.collect());
        }
    };
    let ticks = places
        .into_iter()
        .map(|value| Tick {
            value,
            label: axis.quantity.tick(value),
        })
        .collect();
    (range, ticks)
}

/// Multiples of 1, 2 or 5 times a power of ten; for time also whole minutes.
fn even(low: f64, high: f64, wanted: usize, quantity: Quantity) -> ([f64; 2], Vec<f64>) {
    // Values closer than the precision of an f64 count as one.
    let least = (high.abs().max(low.abs()) * 1e-9).max(1.0 / LARGEST);
    let span = if high - low > least {
        high - low
    } else {
        high.abs().max(1.0)
    };
    let rough = span / wanted.max(1) as f64;
    let minute = 60e9;
    let step = if quantity == Quantity::Time && rough > minute / 6.0 {
        let choices = [
            0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 360.0, 720.0, 1440.0,
        ];
        choices
            .into_iter()
            .map(|minutes| minutes * minute)
            .find(|&step| step >= rough)
            .unwrap_or(rough)
    } else {
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|factor| factor * power >= rough * 0.999)
            .unwrap_or(10.0);
        factor * power
    };
    let first = (low / step + 1e-9).floor();
    // The ends of a time axis are the data's; others are round.
    let last = if quantity == Quantity::Time {
        (high / step + 1e-9).floor()
    } else {
        (high / step - 1e-9).ceil().max(first + 1.0)
    };
    let places: Vec<f64> = (0..=(last - first) as usize)
        .map(|index| (first + index as f64) * step)
        .collect();
    let top = if quantity == Quantity::Time {
        high
    } else {
        last * step
    };
    let bottom = first * step;
    let top = if top > bottom { top } else { bottom + step };
    ([bottom, top], places)
}

/// Minutes, hours, days and weeks in UTC, and approximate months and years; `page/page.js`
/// chooses in the same way. The ends are those of the data, with a small margin for marks.
fn dates(low: f64, high: f64, wanted: usize) -> ([f64; 2], Vec<f64>) {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 3_600.0;
    // Moments closer than the precision of an f64 count as one.
    let span = (high - low).max(5.0 * MINUTE).max(high.abs() * 1e-9);
    let middle = f64::midpoint(low, high);
    let (low, high) = (middle - span / 2.0, middle + span / 2.0);
    let choices = [
        MINUTE,
        5.0 * MINUTE,
        15.0 * MINUTE,
        HOUR,
        3.0 * HOUR,
        6.0 * HOUR,
        12.0 * HOUR,
        DAY,
        2.0 * DAY,
        7.0 * DAY,
        14.0 * DAY,
        30.0 * DAY,
        91.0 * DAY,
        182.0 * DAY,
        365.0 * DAY,
        1_461.0 * DAY,
    ];
    let rough = span / wanted.max(1) as f64;
    let step = choices.into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let range = [low - 0.03 * span, high + 0.03 * span];
    let first = (range[0] / step).ceil();
    let count = ((range[1] / step).floor() - first).max(0.0) as usize;
    let places = (0..=count).map(|index| (first + index as f64) * step);
    let inside = places.filter(|place| *place <= range[1]);
    (range, inside.collect())
}

/// 1, 10, 100; with 2 and 5 between them if there are few decades. The axis ends
/// close to the values, not at whole decades: a third of it would be empty.
fn decades(low: f64, high: f64, wanted: usize) -> ([f64; 2], Vec<f64>) {
    let (low, high) = (low.max(f64::MIN_POSITIVE), high.max(f64::MIN_POSITIVE));
    let few = high / low < 2.0;
    let room = if few { 1.5 } else { ROOM_OF_POWERS };
    let range = [(low / room).max(f64::MIN_POSITIVE), high * room];
    let span = (range[1] / range[0]).log10();
    let factors: &[f64] = match span {
        span if span <= 3.0 && wanted >= 4 => &[1.0, 2.0, 5.0],
        span if span <= 1.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let (from, to) = (
        range[0].log10().floor() as i32,
        range[1].log10().ceil() as i32,
    );
    let places = (from..=to)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|place| (range[0] * 0.999_999..=range[1] * 1.000_001).contains(place));
    let mut places: Vec<f64> = places.collect();
    if places.len() < 2 {
        // With one tick nothing can be read off: round numbers between two powers.
        let (_, round) = even(range[0], range[1], wanted, Quantity::Iops);
        places = round;
        places.retain(|place| (range[0]..=range[1]).contains(place));
    }
    if places.is_empty() {
        places.push(low);
    }
    (range, places)
}

/// Margin at the ends of a logarithmic axis, so that marks are not cut off.
const ROOM_OF_POWERS: f64 = 1.2;

fn octaves(low: f64, high: f64, wanted: usize) -> ([f64; 2], Vec<f64>) {
    let from = low.max(f64::MIN_POSITIVE).log2().floor() as i32;
    let to = ((high.log2() - 1e-9).ceil() as i32).max(from + 1);
    let every = usize::try_from(to - from)
        .unwrap_or(1)
        .div_ceil(wanted.max(1))
        .max(1);
    let places = (from..=to)
        .step_by(every)
        .map(|power| 2f64.powi(power))
        .collect();
    // A small margin at the ends, so that marks are not cut off.
    ([2f64.powi(from) / 1.07, 2f64.powi(to) * 1.07], places)
}

fn percentiles(high: f64) -> ([f64; 2], Vec<f64>) {
    let mut places = vec![0.0, nines(50.0)];
    let mut nine = 1.0;
    let high = high.clamp(0.0, NINES_MAX);
    while nine <= high + 0.05 {
        places.push(nine);
        nine += 1.0;
    }
    ([0.0, high.max(1.0) * 1.02], places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(quantity: Quantity, scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis {
            title: String::new(),
            quantity,
            scale,
        };
        let (range, ticks) = ticks(&axis, values.iter().copied(), 6);
        assert!(range[0] < range[1], "{range:?}");
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        for (quantity, scale, values, expected) in [
            (
                Quantity::Iops,
                Scale::FromZero,
                vec![870.0],
                "0|200|400|600|800|1,000",
            ),
            (
                Quantity::Iops,
                Scale::FromZero,
                vec![],
                "0|0.2|0.4|0.6|0.8|1",
            ),
            (
                Quantity::Difference,
                Scale::FromZero,
                vec![-8.0, 47.1],
                "\u{2212}10 %|0 %|+10 %|+20 %|+30 %|+40 %|+50 %",
            ),
            (
                Quantity::Latency,
                Scale::Log10,
                vec![60e3, 300e6],
                "100 µs|1 ms|10 ms|100 ms",
            ),
            (
                Quantity::Latency,
                Scale::Log10,
                vec![6e6, 30e6],
                "5 ms|10 ms|20 ms",
            ),
            (
                Quantity::Latency,
                Scale::Log10,
                vec![101e3, 115e3],
                "80 µs|100 µs|120 µs|140 µs|160 µs",
            ),
            (
                Quantity::Count,
                Scale::Log2,
                vec![1.0, 256.0],
                "1|4|16|64|256",
            ),
            (
                Quantity::Time,
                Scale::FromZero,
                vec![0.0, 1.5e9],
                "0|500 ms|1 s|1.5 s",
            ),
            (
                Quantity::Time,
                Scale::FromZero,
                vec![0.0, 300e9],
                "0|1 m|2 m|3 m|4 m|5 m",
            ),
            (
                Quantity::Percentile,
                Scale::Nines,
                vec![4.0],
                "0 %|50 %|90 %|99 %|99.9 %|99.99 %",
            ),
        ] {
            assert_eq!(labels(quantity, scale, &values).join("|"), expected);
        }
    }

    #[test]
    fn ticks_of_dates_are_at_midnights_and_round_times() {
        for (from, to, expected) in [
            (
                1_795_564_800.0,
                1_795_564_800.0 + 20.0 * 86_400.0,
                "2026-11-26|2026-12-03|2026-12-10",
            ),
            (
                1_795_564_800.0,
                1_795_600_000.0,
                "2026-11-25|11-25 03:00|11-25 06:00|11-25 09:00",
            ),
            (
                1_795_564_810.0,
                1_795_564_812.0,
                "11-24 23:58|11-24 23:59|2026-11-25|11-25 00:01|11-25 00:02",
            ),
        ] {
            let labels = labels(Quantity::Date, Scale::Linear, &[from, to]);
            assert_eq!(labels.join("|"), expected);
        }
    }

    /// Imported records may contain any number.
    #[test]
    fn every_scale_takes_zeros_single_values_and_extremes() {
        const ODD: [f64; 12] = [
            0.0,
            -0.0,
            -1.0,
            1.0,
            5e-324,
            f64::MIN_POSITIVE,
            1.0 + f64::EPSILON,
            4_503_599_627_370_496.5,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NAN,
        ];
        let quantities = [
            Quantity::Iops,
            Quantity::Latency,
            Quantity::Time,
            Quantity::Date,
        ];
        let scales = [
            Scale::FromZero,
            Scale::Linear,
            Scale::Log10,
            Scale::Log2,
            Scale::Nines,
            Scale::Names(Vec::new()),
        ];
        for (quantity, scale) in quantities
            .iter()
            .flat_map(|quantity| scales.iter().map(move |scale| (quantity, scale)))
        {
            for (one, other) in ODD.iter().flat_map(|one| ODD.map(|other| (*one, other))) {
                for wanted in [0, 1, 5, 9] {
                    let axis = Axis {
                        title: String::new(),
                        quantity: *quantity,
                        scale: scale.clone(),
                    };
                    let (range, ticks) = ticks(&axis, [one, other].into_iter(), wanted);
                    let what = format!("{quantity:?} {scale:?} {one} {other} {range:?}");
                    assert!(range[0] < range[1] && ticks.len() <= 100, "{what}");
                    assert!(range.iter().all(|end| end.is_finite()), "{what}");
                }
            }
        }
    }

    #[test]
    fn names_are_thinned_out_where_there_are_too_many() {
        let names: Vec<String> = (0..30).map(|index| format!("n{index}")).collect();
        let labels = labels(Quantity::Name, Scale::Names(names), &[]);
        assert_eq!(labels, ["n0", "n5", "n10", "n15", "n20", "n25"]);
    }
}
