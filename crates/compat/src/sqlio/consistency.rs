//! Whether the numbers of one result agree with each other.
//!
//! A result that was cut off or edited rarely looks broken line by line: `MBs/sec:
//! 1` is a number. SQLIO computed `MBs/sec` from `IOs/sec`, announced its
//! latencies, and printed shares that add up to about 100, so each of these
//! checks another part of the text.

use super::mib_hundredths;
use super::report::Report;

/// How far `MBs/sec` may be from what follows from `IOs/sec`, in hundredths: web
/// pages drop a last zero, and some builds round instead of cutting.
const MIB_HUNDREDTHS_OFF_MAX: u64 = 2;

/// How far the shares may be from 100 together: 25 of them, each rounded by
/// itself to a whole percent.
const PERCENT_OFF_MAX: u32 = 13;

/// The first contradiction, as the end of a sentence that begins with "the result
/// that begins here"; `None` where the result agrees with itself.
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

/// What a reader of a result must know although nothing in it is wrong.
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
    // Nothing completed: there is nothing to have shares of.
    let empty = sum == 0 && report.iops_hundredths == 0;
    if !empty && sum.abs_diff(100) > PERCENT_OFF_MAX {
        return Some(format!(
            "has a histogram whose percents add up to {sum}, not to about 100"
        ));
    }
    let latency = report.latency_ms.as_ref()?;
    let (least, most) = spread(shares)?;
    // The last bin has no upper end. A bin is a millisecond, and builds may have
    // rounded one of the two and cut the other.
    let last = shares.len() as u64 - 1;
    let said = |what: &str, ms: u64| {
        format!(
            "reports {what}_Latency(ms): {ms}, but its histogram goes from {least} to {most}{} ms",
            if most == last { "+" } else { "" }
        )
    };
    if latency.max + 1 < most {
        return Some(said("Max", latency.max));
    }
    if latency.min > least + 1 && least < last {
        return Some(said("Min", latency.min));
    }
    let [low, high] = mean_of(shares, latency.max);
    let avg = latency.avg as f64;
    (avg + 2.0 < low || avg > high + 1.0).then(|| {
        format!(
            "reports Avg_Latency(ms): {avg}, but its histogram has a mean of {low:.1} to {high:.1}"
        )
    })
}

/// The first and the last bin with a share; none where nothing completed.
fn spread(shares: &[u8]) -> Option<(u64, u64)> {
    let used = |share: &u8| *share > 0;
    let first = shares.iter().position(used)?;
    let last = shares.iter().rposition(used)?;
    Some((first as u64, last as u64))
}

/// Between which two values the mean lies, in ms: each operation at the lower or at the
/// upper end of its bin, and each share wrong by up to a percent.
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
        // A bin without a share may have had less than a percent, below the maximum.
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
