//! Statistics of a replay: how well its numbers represent the recording.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a recorded load was issued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayRecord {
    /// Similarity to the recording; absent if the recording is too short or too coarse.
    pub fidelity: Option<FidelityRecord>,
    /// Why there is no fidelity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Operations issued, of those due.
    pub issued: u64,
    /// Operations due.
    pub due: u64,
    /// Lateness of issue; absent for a closed load, and if nothing was issued.
    pub lateness: Option<LatenessRecord>,
    /// The share of operations, 0 to 1, that waited for an overlapping one.
    pub held_share: f64,
    /// The share of operations, 0 to 1, that share a location with others which were elsewhere in
    /// the recording, because the target is smaller.
    pub collision_share: f64,
    /// Total time cut out of idle periods of the recording, nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_cut_ns: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// A distance from the recording, in units of the distance between its own random halves: 1 is as
/// similar as the halves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FidelityRecord {
    /// Score of the worst feature.
    pub score: f64,
    /// By halves that are far apart (their 80 % quantile).
    pub low: f64,
    /// By halves that are close together (their 20 % quantile).
    pub high: f64,
    /// Name of that feature.
    pub worst_feature: String,
    /// All features, worst first.
    pub features: Vec<FeatureRecord>,
}

/// One feature of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureRecord {
    /// Its name.
    pub feature: String,
    /// Its distance in units of that of the halves.
    pub ratio: f64,
}

/// Whether a replay was issued in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PunctualityRecord {
    /// p99 of lateness is at most a quarter of the median latency.
    #[default]
    Valid,
    /// At most a half.
    Late,
    /// More, or operations were issued in bursts that the recording does not have.
    Void,
}

/// Lateness of operations not held back by others, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessRecord {
    /// The verdict.
    pub verdict: PunctualityRecord,
    /// Median.
    pub p50_ns: u64,
    /// 99 % quantile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The share issued more than a microsecond late, 0 to 1.
    pub late_share: f64,
    /// Increase of the dispersion of counts, relative to that of the due times.
    pub dispersion_rise: f64,
}
