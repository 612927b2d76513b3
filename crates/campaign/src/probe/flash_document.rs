//! The document of `probe flash`.

use serde::{Deserialize, Serialize};
use stripewise_results::Warning;
use stripewise_surface::flash::{AlignmentAt, ConcurrencyAt, Pauses, SizeAt};

/// The answer of `probe flash`. Unknown values are null, with the reason given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FlashDocument {
    /// Of this document.
    pub schema_version: u32,
    /// The target, as named.
    pub target: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// How it was found.
    pub method: String,
    /// The smallest size at full price: smaller reads cost as much.
    pub full_price_bytes: Option<u64>,
    /// Sizes that may be it (99.9 %).
    pub full_price_bytes_interval: Option<[u64; 2]>,
    /// Why it is not known.
    pub full_price_refused: Option<String>,
    /// The alignment step: reads across a multiple of it cost a second page.
    pub alignment_bytes: Option<u64>,
    /// Alignments that may be it (99.9 %).
    pub alignment_bytes_interval: Option<[u64; 2]>,
    /// Why it is not known.
    pub alignment_refused: Option<String>,
    /// Units that read independently of each other.
    pub parallel_units: Option<u32>,
    /// Their interval (95 %).
    pub parallel_units_interval: Option<[u32; 2]>,
    /// Why it is not known.
    pub parallel_refused: Option<String>,
    /// Greatest gain of reads at once over single reads.
    pub speed_up_max: Option<f64>,
    /// Pauses of writes; null where nothing was written.
    pub pauses: Option<PausesFound>,
    /// Why there is no pattern of pauses.
    pub pauses_refused: Option<String>,
    /// What each size costs.
    pub sizes: Vec<SizeAt>,
    /// What crossing each alignment costs.
    pub alignments: Vec<AlignmentAt>,
    /// What each number of reads at once takes.
    pub concurrency: Vec<ConcurrencyAt>,
    /// Why all of it is refused.
    pub refused: Option<String>,
    /// Why it was cut short; what was measured until then is here.
    pub cut_short: Option<String>,
    /// Reads that were made.
    pub reads: u64,
    /// What kept some of it from the medium: a loop device's cache, zeros.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Time that they took; virtual where the target is simulated.
    pub duration_ns: u64,
    /// Seed of the positions.
    pub seed: u64,
}

/// Pauses of writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PausesFound {
    /// Bytes that were written to see them.
    pub written_bytes: u64,
    /// Their pattern.
    #[serde(flatten)]
    pub pattern: Pauses,
}
