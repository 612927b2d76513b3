//! The document of `probe stripe`, as printed and stored.

use serde::{Deserialize, Serialize};
use stripewise_results::Warning;

/// The answer of `probe stripe`. Unknown values are null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StripeDocument {
    /// Of this document.
    pub schema_version: u32,
    /// The target, as named.
    pub target: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// How it was found.
    pub method: String,
    /// Bytes that follow each other on one disk.
    pub stripe_unit_bytes: Option<u64>,
    /// Smallest and largest unit that fit the reads.
    pub stripe_unit_bytes_interval: Option<[u64; 2]>,
    /// Where the first unit that begins at or after byte 0 of the partition begins; below
    /// the unit. Units begin here and every `stripe_unit_bytes` further on.
    pub phase_bytes: Option<u64>,
    /// Smallest and largest phase that fit the reads.
    pub phase_bytes_interval: Option<[u64; 2]>,
    /// The same seen from the partition: how far into a unit its byte 0 lies.
    pub byte_0_in_unit_bytes: Option<u64>,
    /// Disks in the pattern; mirrored ones count once.
    pub disks: Option<u32>,
    /// The level, where reads tell it: `10`.
    pub level: Option<String>,
    /// All layouts that reads do not tell apart.
    pub layouts: Vec<LayoutFound>,
    /// Probability that unit and phase are right, from the errors of the tests; 0 without
    /// an answer.
    pub confidence: f64,
    /// Reads that were made, of one sector each.
    pub reads: u64,
    /// Why there is no answer.
    pub refused: Option<String>,
    /// The name of that reason.
    pub refused_code: Option<String>,
    /// Reads of one disk took so many times as long as reads of two.
    pub contrast: Option<f64>,
    /// Bytes after which the pattern repeats; also of a pattern that was refused.
    pub period_bytes: Option<u64>,
    /// Places of the target that agreed, in percent.
    pub places_percent: Vec<u32>,
    /// What kept some of it from the medium: a loop device's cache, zeros.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Time that the reads took; virtual where the target is simulated.
    pub duration_ns: u64,
    /// Seed of the positions.
    pub seed: u64,
    /// The probe was cut short.
    pub interrupted: bool,
    /// It is kept with the disk, for `disks`, `align` and `advise`.
    pub accepted: bool,
}

/// A layout that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutFound {
    /// `0`, `10`, `5`, `4`.
    pub level: String,
    /// Drives in all, mirrors and parity included.
    pub disks: u32,
    /// How parity or copies lie, where that matters.
    pub rotation: Option<String>,
}
