//! A run as described by a witness's file.

use serde::{Deserialize, Serialize};
use stripewise_verify::cut::{CutWorker, Durability};

/// The header's version; incremented when a field changes its meaning.
pub const HEADER_VERSION: u32 = 1;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CutRequest {
    /// Targets as typed.
    pub targets: Vec<String>,
    /// What makes writes durable.
    pub durability: Durability,
    /// Writes use the page cache.
    pub buffered: bool,
    /// Bytes of each target to use.
    pub size_bytes: Option<u64>,
    /// Writers on each target.
    pub threads: u32,
    /// Writes in flight per writer.
    pub outstanding: u32,
    /// Maximum duration; `None`: until the power fails.
    pub duration_ns: Option<u64>,
}

/// A target at the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CutTarget {
    /// The name under which it is found from any directory.
    pub name: String,
    /// Bytes of it in use.
    pub size_bytes: u64,
    /// Its logical sector.
    pub sector_bytes: u32,
    /// Bytes around a write in flight that it may damage: a physical sector, or the row of a
    /// parity array.
    pub row_bytes: u64,
}

/// The header of a witness's file: sufficient to judge by, even on another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WitnessHeader {
    /// [`HEADER_VERSION`].
    pub schema_version: u32,
    /// Id of the run.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Host name.
    pub host: String,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// What was asked for.
    pub request: CutRequest,
    /// By number.
    pub targets: Vec<CutTarget>,
    /// The writers.
    pub workers: Vec<CutWorker>,
}
