//! What a witness's file says of the run that it saw.

use serde::{Deserialize, Serialize};
use stripewise_verify::cut::{CutWorker, Durability};

/// The header's version; raised when a field changes its meaning.
pub const HEADER_VERSION: u32 = 1;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CutRequest {
    /// Targets as typed.
    pub targets: Vec<String>,
    /// What makes writes durable.
    pub durability: Durability,
    /// The page cache is in between.
    pub buffered: bool,
    /// How much of each target.
    pub size_bytes: Option<u64>,
    /// Writers on each target.
    pub threads: u32,
    /// Writes that each of them has in flight.
    pub outstanding: u32,
    /// For how long; `None`: until the power goes.
    pub duration_ns: Option<u64>,
}

/// A target as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CutTarget {
    /// The name by which it is found from any directory.
    pub name: String,
    /// Bytes of it that are used.
    pub size_bytes: u64,
    /// Its logical sector.
    pub sector_bytes: u32,
    /// What a write in flight may damage around itself: a physical sector, or the row of an
    /// array with parity.
    pub row_bytes: u64,
}

/// The header of a witness's file: enough to judge by, on another machine as well.
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
    /// Whose writes they are.
    pub workers: Vec<CutWorker>,
}
