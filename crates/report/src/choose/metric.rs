//! The metric of an experiment's levels, for charts.

use crate::chart::Quantity;
use stripewise_results::{ComparisonRecord, JobRow};

/// The metric of these comparisons; IOPS if there are none.
pub(super) fn of(comparisons: &[&ComparisonRecord]) -> String {
    let mut rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    let first = rows.next().map(|row| row.metric.clone());
    first.unwrap_or_else(|| "iops".to_owned())
}

/// The value of a job by the name of the metric.
pub(super) fn value(row: &JobRow<'_>, metric: &str) -> Option<f64> {
    match metric {
        "iops" => row.iops(),
        "mib_per_s" => row.mib_per_s(),
        _ => row.latency(metric.strip_prefix("latency_ns_")?),
    }
}

/// Format of its values.
pub(super) fn quantity(metric: &str) -> Quantity {
    match metric {
        "mib_per_s" => Quantity::MibPerSecond,
        _ if is_latency(metric) => Quantity::Latency,
        _ => Quantity::Iops,
    }
}

/// Lower is better.
pub(super) fn is_latency(metric: &str) -> bool {
    metric.starts_with("latency_ns")
}

/// The metric at the start of a sentence: `Mean latency`, but `p99 latency`.
pub(super) fn heading(metric: &str) -> String {
    let words = crate::words::metric_words(metric);
    if words.starts_with('p') {
        return words;
    }
    stripewise_units::capitalised(&words)
}

/// `Throughput`, `p99 latency (lower is better)`.
pub(super) fn axis_title(metric: &str) -> String {
    if is_latency(metric) {
        format!("{} (lower is better)", heading(metric))
    } else {
        "Throughput".to_owned()
    }
}
