//! The metrics of experiments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_results::JobRow;

// Throughput first; named as in records.
stripewise_units::named! {
    /// A measured value of a job. Written by its name in records: `iops`,
    /// `mib_per_s`, `latency_ns_mean`, `latency_ns_p99`...
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(try_from = "String", into = "String")]
    pub enum Metric {
        /// Operations a second.
        #[default]
        Iops = "iops",
        /// MiB/s: 1,048,576 bytes per second.
        MibPerS = "mib_per_s",
        /// Mean latency of the job's reads, or of its writes if it only writes.
        LatencyMean = "latency_ns_mean",
        /// The median of the same.
        LatencyP50 = "latency_ns_p50",
        /// 90th percentile.
        LatencyP90 = "latency_ns_p90",
        /// 95th percentile; unknown in records of earlier versions.
        LatencyP95 = "latency_ns_p95",
        /// 99th percentile.
        LatencyP99 = "latency_ns_p99",
        /// 99.9th percentile; unknown below 10,000 operations.
        LatencyP999 = "latency_ns_p999",
        /// The longest.
        LatencyMax = "latency_ns_max",
    }
}

/// A name that is not a metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a metric; use iops, mib_per_s, or latency_ns_ followed by mean, p50, p90, p95, p99, p999 or max"
)]
pub struct UnknownMetric(pub String);

impl Metric {
    /// As in a sentence: `IOPS`, `p99 latency`.
    pub fn words(self) -> &'static str {
        match self {
            Metric::Iops => "IOPS",
            Metric::MibPerS => "MiB/s",
            Metric::LatencyMean => "mean latency",
            Metric::LatencyP50 => "median latency",
            Metric::LatencyP90 => "p90 latency",
            Metric::LatencyP95 => "p95 latency",
            Metric::LatencyP99 => "p99 latency",
            Metric::LatencyP999 => "p99.9 latency",
            Metric::LatencyMax => "longest latency",
        }
    }

    /// Name of a latency metric among the latencies of a record: `p99`.
    pub fn latency_name(self) -> Option<&'static str> {
        self.name().strip_prefix("latency_ns_")
    }

    /// Whether higher is better: true for throughput, false for latency.
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Iops | Metric::MibPerS)
    }

    /// The value of a job; `None` if unknown or not measured.
    pub fn of(self, row: &JobRow<'_>) -> Option<f64> {
        match self {
            Metric::Iops => row.iops(),
            Metric::MibPerS => row.mib_per_s(),
            _ => row.latency(self.latency_name()?),
        }
    }
}

impl TryFrom<String> for Metric {
    type Error = UnknownMetric;
    fn try_from(name: String) -> Result<Self, UnknownMetric> {
        Metric::from_name(&name).ok_or(UnknownMetric(name))
    }
}

impl std::str::FromStr for Metric {
    type Err = UnknownMetric;
    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        Metric::try_from(name.to_owned())
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> String {
        metric.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert!("latency_ns_p98".parse::<Metric>().is_err());
    }
}
