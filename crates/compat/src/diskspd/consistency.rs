//! Whether a DiskSpd result is complete and consistent.
//!
//! Truncated numbers still look like numbers: `1728.17` cut short is `17`. Rates follow from counts
//! and time, the total from reads and writes, and the overall maximum latency from those of both,
//! so each number is checked by another one.

use super::record::{Counted, LATENCIES, TimeSpan};

/// Half of the last printed digit of seconds and rates, plus a margin.
const HUNDREDTH_OFF: f64 = 0.006;
/// Rounding tolerance between a mean and its neighbours, milliseconds.
const MS_OFF: f64 = 0.002;

/// A `total:` row as printed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TotalRow {
    pub(super) bytes: u64,
    pub(super) operations: u64,
    pub(super) mib_per_s: f64,
    pub(super) iops: f64,
}

/// The `total:` row, if it has all cells that its heading announces; `columns` is the number of
/// cells between `thread` and `file`.
pub(super) fn total_row(cells: &[&str], columns: usize) -> Option<TotalRow> {
    if cells.len() < columns.max(4) {
        return None;
    }
    // The row ends with a number, too, though it is not needed; without operations
    // their latencies have no deviation.
    let no_operations = cells[1] == "0";
    let whole = |cell: &&str| {
        cell.trim_end_matches('%').parse::<f64>().is_ok() || (no_operations && *cell == "N/A")
    };
    if !cells[..columns.max(4)].iter().all(whole) {
        return None;
    }
    let rate = |cell: &str| {
        let decimals = cell
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let number: f64 = cell.parse().ok()?;
        (decimals >= 2 && number.is_finite() && number >= 0.0).then_some(number)
    };
    Some(TotalRow {
        bytes: cells[0].parse().ok()?,
        operations: cells[1].parse().ok()?,
        mib_per_s: rate(cells[2])?,
        iops: rate(cells[3])?,
    })
}

/// The first contradiction between the rows, as the end of a sentence that names the result.
pub(super) fn of_totals(measured_ns: u64, [total, read, write]: [&TotalRow; 3]) -> Option<String> {
    let sums = [
        ("bytes", total.bytes, read.bytes.checked_add(write.bytes)),
        (
            "I/Os",
            total.operations,
            read.operations.checked_add(write.operations),
        ),
    ];
    for (what, all, sum) in sums {
        if sum != Some(all) {
            return Some(format!(
                "report {all} {what} in total, which is not the sum of its reads and writes"
            ));
        }
    }
    let seconds = measured_ns as f64 / 1e9;
    for (name, row) in [("Total", total), ("Read", read), ("Write", write)] {
        let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        let mib = row.bytes as f64 / 1_048_576.0;
        for (what, stated, follows) in [
            ("I/O per s", row.iops, per_second(row.operations as f64)),
            ("MiB/s", row.mib_per_s, per_second(mib)),
        ] {
            // The time is rounded too, which matters in short runs.
            let off = HUNDREDTH_OFF + follows * (HUNDREDTH_OFF / seconds.max(0.01) + 0.000_5);
            if (stated - follows).abs() > off {
                return Some(format!(
                    "report {stated:.2} {what} in the table {name} IO, and {follows:.2} follow from the counts and the time"
                ));
            }
        }
    }
    None
}

/// The first contradiction in a time span, for text and XML.
pub(super) fn contradiction(span: &TimeSpan) -> Option<String> {
    if span.measured_ns == Some(0) {
        return Some("report that 0 seconds were measured".to_owned());
    }
    for (kind, counted) in [("read", &span.read), ("write", &span.write)] {
        if let Some(what) = of_bytes(span, kind, counted).or_else(|| of_latencies(kind, counted)) {
            return Some(what);
        }
    }
    None
}

/// Tolerance between bytes and operations times block size, as a fraction: the last operation of a
/// file may be short.
const BYTES_OFF: f64 = 0.01;

/// Bytes that do not match the operations, where every target's block size is known.
fn of_bytes(span: &TimeSpan, kind: &str, counted: &Counted) -> Option<String> {
    let blocks: Option<Vec<u64>> = span
        .targets
        .iter()
        .map(|target| target.block_bytes)
        .collect();
    let blocks = blocks?;
    let (least, most) = (*blocks.iter().min()?, *blocks.iter().max()?);
    let operations = counted.operations as f64;
    let bytes = counted.bytes as f64;
    let low = operations * least as f64 * (1.0 - BYTES_OFF);
    let high = operations * most as f64 * (1.0 + BYTES_OFF);
    (bytes < low || bytes > high).then(|| {
        format!(
            "report {} {kind} bytes, which do not match {} {kind}s of the block size",
            counted.bytes, counted.operations
        )
    })
}

fn of_latencies(kind: &str, counted: &Counted) -> Option<String> {
    let of = |name: &str| {
        let at = LATENCIES.iter().position(|known| *known == name)?;
        counted.latency_ms[at]
    };
    let order = ["min", "p50", "p90", "p95", "p99", "p999", "max"];
    let mut before: Option<(&str, f64)> = None;
    for name in order {
        let Some(value) = of(name) else { continue };
        if let Some((lower, ms)) = before.filter(|(_, ms)| *ms > value) {
            return Some(format!(
                "report a {kind} latency of {ms} ms ({lower}) and a smaller one of {value} ms ({name})"
            ));
        }
        before = Some((name, value));
    }
    let mean = of("mean")?;
    let below = of("min").is_some_and(|min| mean + MS_OFF < min);
    let above = of("max").is_some_and(|max| mean > max + MS_OFF);
    (below || above).then(|| {
        format!(
            "report a mean {kind} latency of {mean} ms, which is not between the least and the longest"
        )
    })
}
