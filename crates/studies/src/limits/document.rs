//! What `limits` prints as JSON.

use serde::{Deserialize, Serialize};
use stripewise_results::VolumeReport;

/// Version of [`LimitsDocument`].
pub(super) const SCHEMA_VERSION: u32 = 1;

/// The answer of `limits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LimitsDocument {
    /// Version of this document.
    pub schema_version: u32,
    /// Id under which it is stored; its runs have it as their series.
    pub id: String,
    /// The target, as named.
    pub target: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Name of the machine that measured; empty where an earlier version stored the answer.
    #[serde(default)]
    pub host: String,
    /// The caps that the data show.
    pub caps: Vec<CapFound>,
    /// Which limits apply at the loads that were measured.
    pub applies: Vec<LoadApplies>,
    /// The limit of a control group of this process; null where there is none.
    pub control_group: Option<ControlGroupLimit>,
    /// The burst, where one was measured and ended.
    pub burst: Option<BurstFound>,
    /// What looking for the end of a burst came to (`--burst`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_search: Option<BurstSearch>,
    /// What the volume itself reports; null where it reports nothing.
    #[serde(deserialize_with = "crate::if_readable")]
    pub volume: Option<VolumeFound>,
    /// Volume types with these caps; never a certainty.
    pub names: Vec<String>,
    /// Why no cap is named, although there may be one.
    pub refused: Option<String>,
    /// What must be read with the answer.
    pub notes: Vec<String>,
    /// Every load that was measured.
    pub cells: Vec<CellFound>,
    /// Scatter of single runs, percent.
    pub scatter_percent: Option<f64>,
    /// Probability that the cap on operations is a limiter's; null where that is not judged.
    pub limiter_probability: Option<f64>,
    /// An operation counts once for each unit of so many bytes that it starts. The cap on bytes is
    /// what these units move, or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_unit_bytes: Option<u64>,
    /// The caps may be those of a burst, whose end was not looked for (`--burst`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_burst: bool,
    /// It was interrupted: what is here is certain so far.
    pub partial: bool,
    /// Cost of 1,000 IOPS, where the user gave a price, in the price's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_1000_iops: Option<f64>,
    /// Measured time of a run; more on a simulated array, until enough operations completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<u64>,
    /// Time that the runs took; virtual where the target is simulated.
    pub duration_ns: u64,
    /// Seed of positions and order.
    pub seed: u64,
}

impl LimitsDocument {
    /// Whether the rate only levels off: without a known limiter or device as its cause, a cap may
    /// not be one.
    pub fn shows_levels_only(&self) -> bool {
        let group = self.control_group.as_ref();
        let is_group = group.is_some_and(|group| group.reached);
        !self.caps.is_empty() && !is_group && self.caps.iter().all(|cap| cap.limiter.is_none())
    }
}

/// What caps a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    /// Operations.
    Iops,
    /// Bytes.
    BytesPerS,
}

/// Which operations a cap holds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AppliesTo {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Reads and writes together.
    #[default]
    Both,
    /// Reads; whether it holds writes was not measured.
    ReadsUntestedWrites,
}

/// A cap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CapFound {
    /// What it counts.
    pub kind: CapKind,
    /// Which operations it holds.
    pub applies_to: AppliesTo,
    /// Operations or bytes a second.
    pub per_s: f64,
    /// Lower end of its interval (95 %).
    pub per_s_low: f64,
    /// Upper end.
    pub per_s_high: f64,
    /// A limiter set it (true), it is what the device can do (false), or neither can be said.
    pub limiter: Option<bool>,
}

/// Reads, writes or half of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Half reads, half writes.
    Mix,
}

/// A limit of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Latency and the number in flight.
    Latency,
    /// This host's processor.
    Processor,
    /// A control group of this process.
    ControlGroup,
    /// The data do not decide.
    Undecided,
}

/// Which limits apply at a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadApplies {
    /// Bytes of an operation.
    pub block_size_bytes: u64,
    /// Reads, writes or both.
    pub kind: LoadKind,
    /// Operations in flight.
    pub outstanding: u32,
    /// Two where they meet here.
    pub limits: Vec<Limit>,
}

/// A load that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellFound {
    /// Bytes of an operation.
    pub block_size_bytes: u64,
    /// Reads, writes or both.
    pub kind: LoadKind,
    /// Operations in flight.
    pub outstanding: u32,
    /// Operations a second, Huber mean of the runs.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Runs.
    pub runs: u32,
}

/// Limits of a control group on the target's device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ControlGroupLimit {
    /// The control group, as a path inside its hierarchy.
    pub cgroup: String,
    /// The device, by its kernel name.
    pub device: String,
    /// Reads a second.
    pub read_iops: Option<u64>,
    /// Writes a second.
    pub write_iops: Option<u64>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<u64>,
    /// It held back what was measured.
    pub reached: bool,
}

/// What a bucket counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BucketUnit {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
}

/// A burst that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BurstFound {
    /// Rate before its end, in units of the bucket.
    pub burst_per_s: f64,
    /// Rate behind it.
    pub sustained_per_s: f64,
    /// What a full bucket holds beyond the sustained rate.
    pub bucket: f64,
    /// Lower end of its interval (95 %); 0 where only the upper end is known.
    pub bucket_low: f64,
    /// Upper end.
    pub bucket_high: f64,
    /// What it counts.
    pub bucket_unit: BucketUnit,
    /// How fast it fills at rest; null where the second drive did not show it.
    pub refill_per_s: Option<f64>,
    /// Lower end of its interval (95 %).
    pub refill_per_s_low: Option<f64>,
    /// Upper end.
    pub refill_per_s_high: Option<f64>,
    /// Seconds that a full bucket lasts at the burst rate.
    pub lasts_s: f64,
    /// Lower end of its interval (95 %); 0 where only the upper end is known.
    pub lasts_s_low: f64,
    /// Upper end.
    pub lasts_s_high: f64,
}

/// What looking for the end of a burst came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BurstSearch {
    /// How it ended.
    pub result: BurstResult,
    /// Rate at which the cap was driven, before the rate fell, in `unit`.
    pub per_s: Option<f64>,
    /// What that rate counts.
    pub unit: Option<BucketUnit>,
    /// Seconds at that rate: where no burst ended, one lasts at least so long.
    pub driven_s: f64,
}

/// How the search for the end of a burst ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BurstResult {
    /// A burst ended, and a rest brought it back: `burst` has it.
    Ended,
    /// The rate did not fall.
    NotEnded,
    /// The rate fell, and a rest did not bring it back.
    NotRefilled,
    /// The rate fell in a way that fits no burst, and no rest was made.
    NotMeasured,
    /// It was stopped before either could show.
    Interrupted,
    /// No cap shows that could be driven, or something voids the rates.
    NotDriven,
}

/// What a volume reports of itself, over all runs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VolumeFound {
    /// Its counters.
    #[serde(flatten)]
    pub report: VolumeReport,
    /// The limits that it says were exceeded, the longest first.
    pub throttled: Vec<VolumeThrottled>,
    /// Mean latency of 4K reads one at a time, at the volume.
    pub latency_at_volume_ns: Option<f64>,
    /// The same as this host saw it.
    pub latency_here_ns: Option<f64>,
}

/// A limit that a volume says was exceeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VolumeThrottled {
    /// `volume-iops`, `volume-bandwidth`, `instance-iops` or `instance-bandwidth`.
    pub limit: String,
    /// Of the time of the runs, 0 to 1.
    pub share: f64,
}

/// Facts about the target that do not come from runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitsFacts {
    /// Id, target and time of the document.
    pub id: String,
    /// The target, as named.
    pub target: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Name of the machine that measures.
    pub host: String,
    /// The limit set by a control group, if any.
    pub control_group: Option<ControlGroupLimit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_before_volumes_were_counted_is_read() {
        let document = LimitsDocument {
            volume: Some(VolumeFound::default()),
            ..LimitsDocument::default()
        };
        let mut json = serde_json::to_value(&document).unwrap();
        let read = |json: &serde_json::Value| -> LimitsDocument {
            serde_json::from_value(json.clone()).unwrap()
        };
        assert_eq!(read(&json), document);
        json["volume"] = serde_json::json!({ "source": "Amazon EBS, NVMe log page 0xD0" });
        assert_eq!(read(&json).volume, None);
    }
}
