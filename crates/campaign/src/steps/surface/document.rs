//! The document of a profile, as printed and stored.

use serde::{Deserialize, Serialize};
use stripewise_results::{TargetFacts, Warning};
use stripewise_surface::profile::{
    AccessAt, BatchRate, Boundary, RateAt, Rotation, SeekCurve, Spread, Zone,
};

/// The profile of a surface. Unknown or indiscernible values are null or empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProfileDocument {
    /// Of this document.
    pub schema_version: u32,
    /// The name under which it is kept.
    pub id: String,
    /// What was profiled.
    pub target: TargetFacts,
    /// Host's name.
    pub host: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Every byte was read.
    pub full: bool,
    /// Seed of the order and the positions.
    pub seed: u64,
    /// What kept some of it from the medium: a loop device's cache, zeros.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Time from first to last read; virtual where the target is simulated.
    pub duration_ns: u64,
    /// Bytes read for rates.
    pub bytes_read: u64,
    /// Why it was cut short; what was measured until then is here.
    pub cut_short: Option<String>,
    /// Position makes a difference: an arm, zones, or a rate that falls.
    pub position_matters: bool,
    /// Slowest place, bytes a second.
    pub rate_min_bytes_per_s: Option<f64>,
    /// Half of the places are no faster.
    pub rate_median_bytes_per_s: Option<f64>,
    /// Fastest place.
    pub rate_max_bytes_per_s: Option<f64>,
    /// Zones, two at least; none where the rate is even or falls evenly.
    pub zones: Vec<Zone>,
    /// Where one ends and the next begins.
    pub boundaries: Vec<Boundary>,
    /// Access times of random reads of 4 KiB, one at a time.
    pub access: Option<Spread>,
    /// Seeks, where there is an arm.
    pub seeks: Option<SeekCurve>,
    /// Rotation, where it shows.
    pub rotation: Option<Rotation>,
    /// Rate of a block that is read again and again from a buffer.
    pub interface_bytes_per_s: Option<f64>,
    /// What matters where position does not: sizes and numbers of reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<BatchRate>,
    /// Of a file: its pieces, where they lie; those of the front where there are very many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<ExtentFound>,
    /// Of a file: how many pieces there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents_count: Option<u64>,
    /// Slow and unreadable places.
    pub spots: Vec<SpotFound>,
    /// Rates, by position.
    pub rates: Vec<RateAt>,
    /// Random reads, in the order of time.
    pub accesses: Vec<AccessAt>,
}

/// A slow or unreadable place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SpotFound {
    /// First byte, on the target.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// The fastest of three reads; 0 where none succeeded.
    pub latency_ns: u64,
    /// It cannot be read.
    pub unreadable: bool,
    /// First logical sector on the device under it, where that is known.
    pub lba: Option<u64>,
    /// The file that lies there, where that is known.
    pub file: Option<String>,
}

/// A piece of a file that lies in one on the device under the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExtentFound {
    /// First byte, in the file.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// First byte on the device that the file system is on, where that is known.
    pub device_bytes: Option<u64>,
}
