//! Limits on latency: `p99<5ms`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use stripewise_units::{Nanoseconds, ParseError, format_duration_exact};

const HINT: &str = "a latency limit is one of mean, p50, p90, p95, p99, p99.9 or max, then < or <=, then a time: 'p99<5ms' (in quotes, as the shell takes < for itself; p99:5ms means p99<=5ms)";

// From the least to the most strict, as typed and printed.
stripewise_units::named! {
    /// The limited statistic of a latency distribution.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum LatencyStatistic {
        /// The arithmetic mean.
        Mean = "mean",
        /// 50 %.
        P50 = "p50",
        /// 90 %.
        P90 = "p90",
        /// 95 %.
        P95 = "p95",
        /// 99 %.
        P99 = "p99",
        /// 99.9 %.
        P999 = "p99.9",
        /// The maximum.
        Max = "max",
    }
}

impl fmt::Display for LatencyStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A latency limit, as accepted by `--slo`.
///
/// ```
/// use stripewise_stats::{LatencyStatistic, Slo};
///
/// let slo: Slo = "p99<5ms".parse()?;
/// assert_eq!(slo.percentile, LatencyStatistic::P99);
/// assert!(slo.is_met_by(4_999_999) && !slo.is_met_by(5_000_000));
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, schemars::JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct Slo {
    /// The limited statistic.
    pub percentile: LatencyStatistic,
    /// The limit, above 0.
    pub limit_ns: u64,
    /// Whether the limit itself is acceptable (`<=`).
    pub inclusive: bool,
}

/// `p99<5ms`: the limit where none is given.
impl Default for Slo {
    fn default() -> Slo {
        Slo {
            percentile: LatencyStatistic::P99,
            limit_ns: 5_000_000,
            inclusive: false,
        }
    }
}

impl Slo {
    /// Whether a latency meets the limit.
    pub const fn is_met_by(&self, latency_ns: u64) -> bool {
        latency_ns < self.limit_ns || self.inclusive && latency_ns == self.limit_ns
    }

    /// Readable form: `p99 < 5 ms`.
    pub fn describe(&self) -> String {
        let relation = if self.inclusive { "<=" } else { "<" };
        let limit = format_duration_exact(self.limit_ns);
        format!("{} {relation} {limit}", self.percentile)
    }
}

/// In the option's syntax; parsing it gives the same limit.
impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = if self.inclusive { "<=" } else { "<" };
        let limit = Nanoseconds(self.limit_ns);
        f.pad(&format!("{}{relation}{limit}", self.percentile))
    }
}

impl FromStr for Slo {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let Some(at) = typed.find(['<', ':']) else {
            return Err(ParseError::new(typed, "has no `<`", HINT));
        };
        let name = typed[..at].trim().to_ascii_lowercase();
        let name = if name == "p999" { "p99.9" } else { &name };
        let percentile = LatencyStatistic::from_name(name).ok_or_else(|| {
            ParseError::new(typed, format!("limits `{name}`, which is not known"), HINT)
        })?;
        let (relation, inclusive) = if typed[at..].starts_with("<=") {
            ("<=", true)
        } else {
            (&typed[at..=at], typed[at..].starts_with(':'))
        };
        let limit_at = at + relation.len();
        let limit: Nanoseconds = typed[limit_at..].parse().map_err(|error: ParseError| {
            ParseError::new(typed, format!("has a bad part: {error}"), error.hint())
        })?;
        if typed.ends_with(|last: char| last.is_ascii_digit()) {
            // A bare number is seconds elsewhere; here milliseconds are meant as often, and the
            // error would go unnoticed.
            return Err(ParseError::new(typed, "has no unit of time", HINT).at(limit_at));
        }
        if limit.ns() == 0 {
            return Err(ParseError::new(typed, "can never be kept", HINT).at(limit_at));
        }
        Ok(Slo {
            percentile,
            limit_ns: limit.ns(),
            inclusive,
        })
    }
}

impl Serialize for Slo {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Slo {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error: ParseError| {
            serde::de::Error::custom(format!("{error}; hint: {}", error.hint()))
        })
    }
}
