//! Requirements: a quantity and its limit.

use serde::{Deserialize, Serialize};
use std::fmt;
use stripewise_units::{
    Nanoseconds, format_count, format_duration, format_duration_beside, format_duration_exact,
    format_iops, format_iops_beside, format_mib_per_s, format_mib_per_s_beside,
};

pub(super) const HINT: &str =
    "latencies have below or at-most with a duration (10ms), rates at-least with a number";

// As typed.
stripewise_units::named! {
    /// The measured quantity.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Metric {
        /// Median latency.
        P50 = "p50",
        /// 90 %.
        P90 = "p90",
        /// 95th percentile.
        P95 = "p95",
        /// 99 %.
        P99 = "p99",
        /// 99.9th percentile.
        P999 = "p999",
        /// The mean latency.
        Mean = "mean",
        /// The longest latency.
        Max = "max",
        /// Operations a second.
        Iops = "iops",
        /// Commits a second.
        CommitsPerS = "commits-per-s",
        /// MiB a second.
        MibPerS = "mib-per-s",
    }
}

impl Metric {
    /// As shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Metric::P999 => "p99.9",
            Metric::Iops | Metric::CommitsPerS | Metric::MibPerS => self.unit(),
            other => other.name(),
        }
    }

    /// The share of operations that may exceed a percentile's limit.
    pub const fn share_max(self) -> Option<f64> {
        match self {
            Metric::P50 => Some(0.5),
            Metric::P90 => Some(0.1),
            Metric::P95 => Some(0.05),
            Metric::P99 => Some(0.01),
            Metric::P999 => Some(0.001),
            Metric::Mean | Metric::Max => None,
            Metric::Iops | Metric::CommitsPerS | Metric::MibPerS => None,
        }
    }

    /// Whether it is a latency.
    pub const fn is_latency(self) -> bool {
        !matches!(self, Metric::Iops | Metric::CommitsPerS | Metric::MibPerS)
    }

    /// The unit of its values.
    pub const fn unit(self) -> &'static str {
        match self {
            Metric::Iops => "IOPS",
            Metric::CommitsPerS => "commits/s",
            Metric::MibPerS => "MiB/s",
            _ => "ms",
        }
    }

    /// A value with its unit, as text. Latencies are in milliseconds.
    pub fn value_text(self, value: f64) -> String {
        match self {
            Metric::Iops | Metric::CommitsPerS => {
                format!("{} {}", format_iops(value), self.unit())
            }
            Metric::MibPerS => format_mib_per_s(value),
            _ => format_duration(nanoseconds(value)),
        }
    }

    /// The same beside a limit: never looks to be on the other side of it.
    pub fn value_text_beside(self, value: f64, limit: f64) -> String {
        match self {
            Metric::Iops | Metric::CommitsPerS => {
                format!("{} {}", format_iops_beside(value, limit), self.unit())
            }
            Metric::MibPerS => format_mib_per_s_beside(value, limit),
            _ => format_duration_beside(nanoseconds(value), nanoseconds(limit)),
        }
    }

    /// A limit with its unit, as published: not rounded like a measurement.
    pub fn limit_text(self, limit: f64) -> String {
        match self.is_latency() && limit >= 1_000.0 {
            true => format!("{} s", plain(limit / 1_000.0)),
            false => format!("{} {}", plain(limit), self.unit()),
        }
    }
}

fn nanoseconds(milliseconds: f64) -> u64 {
    (milliseconds * 1e6).round() as u64
}

/// On which side of the limit it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Less than it.
    Below,
    /// It, or less.
    AtMost,
    /// It, or more.
    AtLeast,
}

/// A limit, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Which side.
    pub relation: Relation,
    /// Milliseconds, IOPS or MiB/s.
    pub value: f64,
}

impl Limit {
    pub(super) fn of(metric: Metric, relation: Relation, text: &str) -> Result<Limit, String> {
        if metric.is_latency() == (relation == Relation::AtLeast) {
            return Err(format!("{} has no limit of this kind", metric.name()));
        }
        let value = match metric.is_latency() {
            // A bare number would be in seconds, which no one means for a latency.
            true if text.ends_with(|last: char| last.is_ascii_digit()) => {
                return Err(format!("`{text}` has no unit"));
            }
            true => {
                let parsed = text.parse::<Nanoseconds>();
                parsed.map_err(|error| error.to_string())?.ns() as f64 / 1e6
            }
            false => text
                .replace([',', '_'], "")
                .parse()
                .map_err(|_| format!("`{text}` is not a valid rate"))?,
        };
        match value > 0.0 && value < 1e12 {
            true => Ok(Limit { relation, value }),
            false => Err(format!("`{text}` is out of range")),
        }
    }

    /// The latency threshold of an operation, in nanoseconds.
    pub fn threshold_ns(&self) -> u64 {
        let limit_ns = nanoseconds(self.value);
        match self.relation {
            Relation::Below => limit_ns.saturating_sub(1),
            Relation::AtMost | Relation::AtLeast => limit_ns,
        }
    }

    /// Describes an operation that exceeds a latency limit: `took 10 ms or longer`.
    pub fn beyond_words(&self) -> String {
        let limit = format_duration_exact(nanoseconds(self.value));
        match self.relation {
            Relation::Below => format!("took {limit} or longer"),
            Relation::AtMost | Relation::AtLeast => format!("took longer than {limit}"),
        }
    }

    /// `p99 < 10 ms`, `>= 500 IOPS`: as published, not rounded like a measurement.
    pub fn text(&self, metric: Metric) -> String {
        let (relation, limit) = (self.relation, metric.limit_text(self.value));
        match metric.is_latency() {
            false => format!("{relation} {limit}"),
            true => format!("{} {relation} {limit}", metric.words()),
        }
    }
}

/// A number without float artefacts beyond the digits that were typed.
fn plain(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    match rounded.fract() == 0.0 && rounded >= 0.0 {
        // A whole number far below 2^53.
        true => format_count(rounded as u64),
        false => rounded.to_string(),
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
        })
    }
}
