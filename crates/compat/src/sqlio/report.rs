//! The output of one SQLIO run, as values.

use serde::{Deserialize, Serialize};

/// Reads or writes: SQLIO never mixed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// `-kR`.
    Read,
    /// `-kW`.
    Write,
}

/// Pattern of operations, as printed in line 6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessPattern {
    /// `random IOs`.
    Random,
    /// `sequential IOs`.
    Sequential,
    /// Any other words after the block size: stripes.
    Other(String),
}

/// Line 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    /// `system` or `processor`.
    pub name: String,
    /// Its resolution.
    pub counts_per_second: u64,
}

/// A line of the parameter file, as echoed: a file and its own threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// As typed.
    pub file: String,
    /// Number of threads.
    pub threads: u32,
    /// Number of the first one; they are numbered across all lines.
    pub first: u32,
    /// Number of the last of them.
    pub last: u32,
    /// Processor mask of the threads; 0: any.
    pub mask: u64,
}

/// A file that was expanded, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Required size.
    pub needed_bytes: u64,
    /// Previous size.
    pub current_bytes: u64,
    /// The difference.
    pub by_bytes: u64,
}

/// A prepared file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// As typed.
    pub file: String,
    /// If it had to grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The parameter file gave its size; otherwise its existing size was used.
    pub specified: bool,
    /// Units of 1,048,576 bytes, whole.
    pub megabytes: u64,
}

/// Smallest, mean and largest, whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// Truncated, not rounded, as are the others.
    pub min: u64,
    /// Mean of the truncated values, truncated again.
    pub avg: u64,
    /// Largest.
    pub max: u64,
}

/// Output of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// `v1.5.SG`.
    pub version: String,
    /// With `-L` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Timer>,
    /// With `-F` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter_file: Option<String>,
    /// With `-F` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// Total.
    pub threads: u32,
    /// Reads or writes.
    pub operation: Operation,
    /// Requested duration.
    pub seconds: u64,
    /// As typed.
    pub files: Vec<String>,
    /// Units of 1,024 bytes.
    pub block_kib: u64,
    /// The pattern.
    pub pattern: AccessPattern,
    /// With `-o` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// The words after `buffering set to `; with `-B` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffering: Option<String>,
    /// Files in the order of preparation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<Prepared>,
    /// Unknown lines before the results, verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<String>,
    /// Hundredths of operations per second, truncated.
    pub iops_hundredths: u64,
    /// Hundredths of 1,048,576 bytes per second, truncated.
    pub mib_hundredths: u64,
    /// Initiation latency in microseconds; with `-L.i` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiation_us: Option<Latencies>,
    /// Milliseconds; with `-L` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Latencies>,
    /// Percentages for 0 to 1 ms, 1 to 2 ms ... 23 to 24 ms, and longer; with `-L` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram_percent: Option<Vec<u8>>,
    /// Unknown lines after the results (`-U`), verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_results: Vec<String>,
}
