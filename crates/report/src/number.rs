//! Numbers as tables show them.

use stripewise_results::{AnswerBound, LatencySummary, RunRecord};
use stripewise_units::{ByteSize, format_count, format_duration};

/// `9,800`; below 100 with one decimal, since 12.4 and 12 IOPS differ
/// noticeably on a slow disk.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second < 99.95 {
        format!("{per_second:.1}")
    } else {
        // A rate is finite and not negative; beyond 2^53, no one reads the digits.
        format_count(per_second.round() as u64)
    }
}

/// A count that may be unknown.
pub(crate) fn count(value: Option<u32>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A size that may be unknown, as people type it.
pub(crate) fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| ByteSize(bytes).to_string())
}

/// A latency; empty if there is none.
pub(crate) fn latency(nanoseconds: Option<u64>) -> String {
    nanoseconds.map(format_duration).unwrap_or_default()
}

/// A latency of a run. SQLIO counts whole milliseconds: its 0 means less than one.
pub(crate) fn latency_of_source(run: &RunRecord, nanoseconds: f64) -> String {
    let ns = nanoseconds.round().max(0.0) as u64;
    if ns == 0 && in_whole_milliseconds(run) {
        return "< 1 ms".to_owned();
    }
    format_duration(ns)
}

/// Its latencies are truncated to whole milliseconds.
pub(crate) fn in_whole_milliseconds(run: &RunRecord) -> bool {
    let imported = run.imported.as_ref();
    imported.is_some_and(|imported| imported.tool == "sqlio")
}

/// Mean, p50, p99, p99.9 and maximum, in the order of the tables' columns.
pub(crate) fn latency_cells(latency_ns: Option<&LatencySummary>) -> [String; 5] {
    let Some(summary) = latency_ns else {
        return std::array::from_fn(|_| String::new());
    };
    [
        latency(Some(summary.mean.round() as u64)),
        latency(Some(summary.p50)),
        latency(Some(summary.p99)),
        summary
            .p999
            .map_or_else(|| "n<10,000".to_owned(), format_duration),
        latency(Some(summary.max)),
    ]
}

/// `≥ 48,900` of a bound.
pub(crate) fn signed(bound: Option<AnswerBound>, text: &str) -> String {
    bound.map_or_else(
        || text.to_owned(),
        |bound| format!("{} {text}", bound.sign()),
    )
}
