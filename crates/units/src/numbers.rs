//! Formats counts and rates for display.

/// A count with thousands separators: `9,800`.
///
/// ```
/// assert_eq!(stripewise_units::format_count(1_234_567), "1,234,567");
/// ```
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The singular (first) for a count of one, otherwise the plural.
///
/// ```
/// assert_eq!(stripewise_units::plural(2, "row has", "rows have"), "rows have");
/// ```
pub const fn plural<'a>(count: usize, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

/// A count with its word: `1 row`, `1,200 rows`.
///
/// ```
/// assert_eq!(stripewise_units::counted(1_200, "row", "rows"), "1,200 rows");
/// ```
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!(
        "{} {}",
        format_count(count as u64),
        plural(count, one, several)
    )
}

/// How many operations are in flight at once, and by how many threads if several; what is not known
/// is left out. Where the threads are not known, `outstanding` is of all of them.
///
/// ```
/// use stripewise_units::in_flight_words;
///
/// assert_eq!(in_flight_words(Some(1), Some(16)), "16 in flight");
/// assert_eq!(in_flight_words(Some(4), Some(8)), "32 in flight (4 threads)");
/// assert_eq!(in_flight_words(None, Some(8)), "8 in flight");
/// assert_eq!(in_flight_words(None, None), "");
/// ```
pub fn in_flight_words(threads: Option<u32>, outstanding: Option<u32>) -> String {
    match (threads, outstanding) {
        (Some(threads @ 2..), Some(outstanding)) => format!(
            "{} in flight ({threads} threads)",
            format_count(u64::from(threads) * u64::from(outstanding))
        ),
        (_, Some(outstanding)) => format!("{} in flight", format_count(outstanding.into())),
        (Some(threads), None) => counted(threads as usize, "thread", "threads"),
        (None, None) => String::new(),
    }
}

/// The first `most` names of a list, and the number of the others.
///
/// ```
/// assert_eq!(stripewise_units::listed(&["sda", "sdb"], 2), "sda, sdb");
/// assert_eq!(stripewise_units::listed(&["sda", "sdb", "sdc"], 2), "sda, sdb and 1 more");
/// ```
pub fn listed(names: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Capitalises the first letter, as at the start of a sentence.
///
/// ```
/// assert_eq!(stripewise_units::capitalised("random read"), "Random read");
/// ```
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Operations per second, without a unit: a whole number with separators from 100 on (`12,400`),
/// one decimal below (`98.5`), two below 10 (`0.25`). `n/a` if it is not a number.
///
/// ```
/// assert_eq!(stripewise_units::format_iops(12_399.7), "12,400");
/// assert_eq!(stripewise_units::format_iops(98.46), "98.5");
/// ```
pub fn format_iops(iops: f64) -> String {
    iops_digits(iops, 0)
}

/// [`format_iops`] with `more` digits.
fn iops_digits(iops: f64, more: usize) -> String {
    if !iops.is_finite() || iops < 0.0 {
        return "n/a".to_owned();
    }
    // Decided after rounding, so that 99.96 is `100` and not `100.0`.
    for (below, decimals) in [(10.0, 2 + more), (100.0, 1 + more)] {
        let text = format!("{iops:.decimals$}");
        if text.parse::<f64>().is_ok_and(|rounded| rounded < below) {
            return text;
        }
    }
    let text = format!("{iops:.more$}");
    match text.split_once('.') {
        Some((whole, fraction)) => {
            // Rates beyond 2^64 do not occur.
            let whole = format_count(whole.parse().unwrap_or(u64::MAX));
            format!("{whole}.{fraction}")
        }
        // The cast saturates.
        None => format_count(iops.round() as u64),
    }
}

/// Digits beyond the usual ones, at most.
const MORE_DIGITS_MAX: usize = 6;

/// How many more digits than usual it takes to tell a value from the bound that judges it: rounded
/// to fewer, both look the same. `text` takes their number; 0 if no number is enough.
pub(crate) fn more_digits<T: Copy>(value: T, bound: T, text: impl Fn(T, usize) -> String) -> usize {
    let differ = |more: &usize| text(value, *more) != text(bound, *more);
    (0..=MORE_DIGITS_MAX).find(differ).unwrap_or(0)
}

/// A value beside the bound that judges it: rounded as usual, or less, so that it shows on which
/// side of the bound it lies. `text` has as many more digits than usual as it is given.
///
/// ```
/// let percent = |value: f64, more: usize| format!("{value:.*} %", 1 + more);
/// assert_eq!(stripewise_units::beside(4.96, 4.0, percent), "5.0 %");
/// assert_eq!(stripewise_units::beside(4.96, 5.0, percent), "4.96 %");
/// ```
pub fn beside(value: f64, bound: f64, text: impl Fn(f64, usize) -> String) -> String {
    text(value, more_digits(value, bound, &text))
}

/// [`format_iops`] of a rate that a bound judges.
///
/// ```
/// assert_eq!(stripewise_units::format_iops_beside(776.8, 777.0), "776.8");
/// assert_eq!(stripewise_units::format_iops_beside(774.2, 777.0), "774");
/// ```
pub fn format_iops_beside(iops: f64, bound: f64) -> String {
    beside(iops, bound, iops_digits)
}

/// A rate in three significant digits, for summaries: `48,900`, `875`, `60.2`, `0.25`; `n/a` if it
/// is not a number.
///
/// ```
/// assert_eq!(stripewise_units::format_three_digits(48_931.0), "48,900");
/// assert_eq!(stripewise_units::format_three_digits(999.6), "1,000");
/// assert_eq!(stripewise_units::format_three_digits(60.17), "60.2");
/// ```
pub fn format_three_digits(rate: f64) -> String {
    let mut power = 1.0;
    while rate.is_finite() && rate / power >= 999.5 {
        power *= 10.0;
    }
    format_iops(if power > 1.0 {
        (rate / power).round() * power
    } else {
        rate
    })
}

/// A rate with its interval: `57,400 IOPS (54,900-59,800)`. Rounded to a tenth of half the
/// interval's width, as more digits carry no information.
///
/// ```
/// use stripewise_units::format_rate_interval;
/// let text = format_rate_interval(57_432.0, [54_871.0, 59_812.0], "IOPS");
/// assert_eq!(text, "57,400 IOPS (54,900-59,800)");
/// assert_eq!(format_rate_interval(98.46, [98.1, 98.8], "IOPS"), "98.5 IOPS (98.1-98.8)");
/// ```
pub fn format_rate_interval(rate: f64, ends: [f64; 2], unit: &str) -> String {
    rate_interval(rate, ends, unit, None)
}

/// [`format_rate_interval`] of a rate that a bound judges.
///
/// ```
/// use stripewise_units::format_rate_interval_beside;
/// let text = format_rate_interval_beside(671.2, [565.8, 776.4], "IOPS", 777.0);
/// assert_eq!(text, "670 IOPS (570-776)");
/// ```
pub fn format_rate_interval_beside(rate: f64, ends: [f64; 2], unit: &str, bound: f64) -> String {
    rate_interval(rate, ends, unit, Some(bound))
}

fn rate_interval(rate: f64, [low, high]: [f64; 2], unit: &str, bound: Option<f64>) -> String {
    let tenth = (high - low) / 20.0;
    let digits = |value: f64, more: usize| rate_digits(value, tenth, more);
    let text = |value: f64| match bound {
        Some(bound) => beside(value, bound, digits),
        None => digits(value, 0),
    };
    format!("{} {unit} ({}-{})", text(rate), text(low), text(high))
}

/// Rounds to the power of ten at or below `step`, if that is at least 10; with `more` digits.
fn rate_digits(value: f64, step: f64, more: usize) -> String {
    let (mut power, mut left) = (1.0, more);
    // No more iterations than a double has powers of ten.
    while step.is_finite() && power * 10.0 <= step {
        power *= 10.0;
    }
    while power > 1.0 && left > 0 {
        power /= 10.0;
        left -= 1;
    }
    match power > 1.0 {
        true => format_iops((value / power).round() * power),
        false => iops_digits(value, left),
    }
}

/// MiB per second: `1234.5 MiB/s`, two decimals below 10. `n/a` if it is not a number.
///
/// ```
/// assert_eq!(stripewise_units::format_mib_per_s(1234.54), "1234.5 MiB/s");
/// ```
pub fn format_mib_per_s(mib_per_s: f64) -> String {
    mib_digits(mib_per_s, 0)
}

/// [`format_mib_per_s`] of a rate that a bound judges.
///
/// ```
/// assert_eq!(stripewise_units::format_mib_per_s_beside(238.37, 238.4), "238.37 MiB/s");
/// ```
pub fn format_mib_per_s_beside(mib_per_s: f64, bound: f64) -> String {
    beside(mib_per_s, bound, mib_digits)
}

/// [`format_mib_per_s`] with `more` digits.
fn mib_digits(mib_per_s: f64, more: usize) -> String {
    if !mib_per_s.is_finite() || mib_per_s < 0.0 {
        return "n/a".to_owned();
    }
    let fine = format!("{mib_per_s:.*}", 2 + more);
    if fine.parse::<f64>().is_ok_and(|rounded| rounded < 10.0) {
        return format!("{fine} MiB/s");
    }
    format!("{mib_per_s:.*} MiB/s", 1 + more)
}

/// A share between 0 and 1 in per cent: `3.0 %`, `0.4 %`, `<0.1 %`; `? %` if it is not a number.
///
/// ```
/// assert_eq!(stripewise_units::format_share(0.004), "0.4 %");
/// ```
pub fn format_share(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        "? %".to_owned()
    } else if percent >= 10.0 || percent == 0.0 {
        format!("{percent:.0} %")
    } else if percent >= 0.1 {
        format!("{percent:.1} %")
    } else {
        "<0.1 %".to_owned()
    }
}
