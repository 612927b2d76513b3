//! What one run of SQLIO printed, as values.

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

/// Where operations went, as line 6 says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Where {
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

/// A line of the parameter file, as it is echoed: a file and its own threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// As typed.
    pub file: String,
    /// How many.
    pub threads: u32,
    /// Number of the first of them; they are numbered over all lines.
    pub first: u32,
    /// Number of the last of them.
    pub last: u32,
    /// Processors that they may run on; 0: any.
    pub mask: u64,
}

/// A file that was made larger, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// What it had to be.
    pub needed_bytes: u64,
    /// What it was.
    pub current_bytes: u64,
    /// The difference.
    pub by_bytes: u64,
}

/// A file that was made ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// As typed.
    pub file: String,
    /// Where it had to grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The parameter file gave its size; else the size that it had was used.
    pub specified: bool,
    /// Units of 1,048,576 bytes, whole.
    pub megabytes: u64,
}

/// Smallest, mean and largest, whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// Cut, not rounded, as are the others.
    pub min: u64,
    /// Mean of the cut values, cut again.
    pub avg: u64,
    /// Largest.
    pub max: u64,
}

/// What one run printed.
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
    /// All of them.
    pub threads: u32,
    /// Reads or writes.
    pub operation: Operation,
    /// Asked-for duration.
    pub seconds: u64,
    /// As typed.
    pub files: Vec<String>,
    /// Units of 1,024 bytes.
    pub block_kib: u64,
    /// The pattern.
    pub pattern: Where,
    /// With `-o` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// The words after `buffering set to `; with `-B` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffering: Option<String>,
    /// Files in the order in which they were made ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<Prepared>,
    /// Lines before the results that are not known; kept as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<String>,
    /// Hundredths of operations a second, cut.
    pub iops_hundredths: u64,
    /// Hundredths of 1,048,576 bytes a second, cut.
    pub mib_hundredths: u64,
    /// Microseconds that issuing took; with `-L.i` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiation_us: Option<Latencies>,
    /// Milliseconds; with `-L` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Latencies>,
    /// Shares in percent of 0 to 1 ms, 1 to 2 ms ... 23 to 24 ms, and the rest;
    /// with `-L` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram_percent: Option<Vec<u8>>,
    /// Lines after the results that are not known (`-U`); kept as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_results: Vec<String>,
}
