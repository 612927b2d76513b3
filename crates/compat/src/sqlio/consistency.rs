//! Whether the numbers of one result are consistent.
//!
//! A truncated or edited result rarely looks broken line by line: `MBs/sec: 1` is a number. SQLIO
//! computed `MBs/sec` from `IOs/sec`, announced its latencies, and printed percentages that add up
//! to about 100, so each of these checks covers another part of the text.

use super::mib_hundredths;
use super::report::Report;

/// Tolerance of `MBs/sec` against `IOs/sec`, in hundredths: web pages drop a trailing zero, and
/// some builds round instead of truncating.
const MIB_HUNDREDTHS_OFF_MAX: u64 = 2;

/// Tolerance of the sum of percentages against 100: 25 of them, each rounded to a whole percent.
const PERCENT_OFF_MAX: u32 = 13;

/// The first contradiction, as the end of a sentence that begins with "the result that begins
/// here"; `None` if the result is consistent.
pub(super) fn contradiction(report: &Report) -> Option<String> {
    if report.threads == 0 {
        return Some("has 0 threads".to_owned());
    }
    if report.block_kib == 0 {
        return Some("has a block size of 0 KB".to_owned());
    }
    rates(report)
        .or_else(|| sections(report))
        .or_else(|| latencies(report))
        .or_else(|| histogram(report))
}

/// A caveat about a result that is not an error.
pub(super) fn remark(report: &Report) -> Option<&'static str> {
    (report.iops_hundredths == 0).then_some("no operation completed: it reports 0.00 IOs/sec")
}

fn rates(report: &Report) -> Option<String> {
    let expected = mib_hundredths(report.iops_hundredths, report.block_kib);
    let off = expected.abs_diff(report.mib_hundredths);
    (off > MIB_HUNDREDTHS_OFF_MAX).then(|| {
        format!(
            "reports MBs/sec: {}, but {} IOs/sec of {} KB are {}; one of the lines is truncated or was changed",
            decimal(report.mib_hundredths),
            decimal(report.iops_hundredths),
            report.block_kib,
            decimal(expected),
        )
    })
}

/// With `-L` both sections are printed, and line 2 announces them.
fn sections(report: &Report) -> Option<String> {
    let announced = report.timer.is_some()
        || report.latency_ms.is_some()
        || report.initiation_us.is_some()
        || report.histogram_percent.is_some();
    let missing = match (&report.latency_ms, &report.histogram_percent) {
        _ if !announced => return None,
        (None, _) => "latencies",
        (_, None) => "histogram",
        _ => return None,
    };
    Some(format!(
        "measured latencies but has no {missing}: its output is truncated"
    ))
}

fn latencies(report: &Report) -> Option<String> {
    let all = [
        (&report.latency_ms, "Latency(ms)"),
        (&report.initiation_us, "Init_Latency(us)"),
    ];
    all.into_iter().find_map(|(values, name)| {
        let values = values.as_ref()?;
        let (min, avg, max) = (values.min, values.avg, values.max);
        (min > avg || avg > max).then(|| {
            format!(
                "has Min_, Avg_ and Max_{name} of {min}, {avg} and {max}, which are not in order"
            )
        })
    })
}

fn histogram(report: &Report) -> Option<String> {
    let shares = report.histogram_percent.as_ref()?;
    let sum: u32 = shares.iter().map(|&share| u32::from(share)).sum();
    // Nothing completed, so there are no percentages.
    let empty = sum == 0 && report.iops_hundredths == 0;
    if !empty && sum.abs_diff(100) > PERCENT_OFF_MAX {
        return Some(format!(
            "has a histogram whose percents add up to {sum}, not to about 100"
        ));
    }
    let latency = report.latency_ms.as_ref()?;
    let (least, most) = spread(shares)?;
    // The last bin has no upper bound. A bin is a millisecond, and builds may have rounded one of
    // the two and truncated the other.
    let last = shares.len() as u64 - 1;
    let contradiction = |what: &str, ms: u64| {
        format!(
            "reports {what}_Latency(ms): {ms}, but its histogram goes from {least} to {most}{} ms",
            if most == last { "+" } else { "" }
        )
    };
    if latency.max + 1 < most {
        return Some(contradiction("Max", latency.max));
    }
    if latency.min > least + 1 && least < last {
        return Some(contradiction("Min", latency.min));
    }
    let [low, high] = mean_of(shares, latency.max);
    let avg = latency.avg as f64;
    (avg + 2.0 < low || avg > high + 1.0).then(|| {
        format!(
            "reports Avg_Latency(ms): {avg}, but its histogram has a mean of {low:.1} to {high:.1}"
        )
    })
}

/// The first and last non-empty bin; `None` if nothing completed.
fn spread(shares: &[u8]) -> Option<(u64, u64)> {
    let used = |share: &u8| *share > 0;
    let first = shares.iter().position(used)?;
    let last = shares.iter().rposition(used)?;
    Some((first as u64, last as u64))
}

/// Bounds of the mean in ms: each operation at the lower or upper end of its bin, and each
/// percentage off by up to one.
fn mean_of(shares: &[u8], max_ms: u64) -> [f64; 2] {
    let last = shares.len() - 1;
    let mut of = [0.0, 0.0];
    for (bin, share) in shares.iter().enumerate() {
        let share = f64::from(*share);
        let upper = if bin == last {
            max_ms.max(bin as u64) as f64
        } else {
            bin as f64
        } + 1.0;
        of[0] += (share - 1.0).max(0.0) / 100.0 * bin as f64;
        // A bin with 0 % may have had less than a percent, below the maximum.
        let reached = share > 0.0 || bin as u64 <= max_ms;
        of[1] += if reached {
            (share + 1.0) / 100.0 * upper
        } else {
            0.0
        };
    }
    of
}

fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
