//! What a replay was like: as much of the recording as its numbers can stand for.

use serde::{Deserialize, Serialize};

/// How a recorded load was issued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReplayRecord {
    /// How like the recording it was; none where the recording is too short or too coarse.
    pub fidelity: Option<FidelityRecord>,
    /// Why there is no fidelity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Operations that left, of those that were due.
    pub issued: u64,
    /// Operations that were due.
    pub due: u64,
    /// How late they left; none of a closed load, and where nothing left.
    pub lateness: Option<LatenessRecord>,
    /// The share of operations, 0 to 1, that waited for one that overlaps.
    pub held_share: f64,
    /// The share of operations, 0 to 1, that share a place with others which in the
    /// recording were elsewhere, as the target is smaller.
    pub collision_share: f64,
    /// Time that was cut out of pauses of the recording, nanoseconds.
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

/// A distance from the recording, in units of the distance of its own random halves: 1 is
/// as like the original as its own halves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FidelityRecord {
    /// That of the worst feature.
    pub score: f64,
    /// By halves that are far from each other (their 80 % quantile).
    pub low: f64,
    /// By halves that are close to each other (their 20 % quantile).
    pub high: f64,
    /// Which feature it is.
    pub worst_feature: String,
    /// All of them, the worst first.
    pub features: Vec<FeatureRecord>,
}

/// One feature of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FeatureRecord {
    /// Which.
    pub feature: String,
    /// Its distance in units of that of the halves.
    pub ratio: f64,
}

/// Whether a replay left in time.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PunctualityRecord {
    /// p99 of lateness is at most a quarter of the median latency.
    #[default]
    Valid,
    /// At most a half.
    Late,
    /// More, or operations left in bursts that the recording does not have.
    Void,
}

/// How late operations left that nothing held, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LatenessRecord {
    /// The verdict.
    pub verdict: PunctualityRecord,
    /// Median.
    pub p50_ns: u64,
    /// 99 % quantile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The share that left more than a microsecond late, 0 to 1.
    pub late_share: f64,
    /// By how much the dispersion of counts rose, as a share of that of the due times.
    pub dispersion_rise: f64,
}
