//! Several hosts at once: when a run began on its host's clock, and what the records
//! of several hosts say together.

use crate::{KindOutcome, Status};
use serde::{Deserialize, Serialize};
use stripewise_stats::Estimate;
use stripewise_units::WallTime;

/// When a run measured, so that runs of several hosts can be laid side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StartRecord {
    /// When measuring began (after the ramp), on this host's clock.
    pub measured_from: WallTime,
    /// The instant at which the workers were to start, on this host's clock, where one
    /// was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<WallTime>,
    /// When they started minus that instant, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<i64>,
    /// This host's clock minus that of the group, nanoseconds, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// The offset is right to so many nanoseconds: half of the fastest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// The offset at the end minus the one at the start, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ns: Option<i64>,
    /// The hosts that it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupRecord>,
}

/// The hosts that measured together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GroupRecord {
    /// The same on all of them, and in no other group.
    pub id: String,
    /// Which of them this is, from 0.
    pub rank: u32,
    /// Names of all, by rank.
    pub hosts: Vec<String>,
}

impl StartRecord {
    /// When measuring began on the group's clock.
    #[must_use]
    pub fn on_common_clock(&self) -> WallTime {
        let offset_ns = self.clock_offset_ns.unwrap_or(0);
        self.measured_from.shifted(offset_ns.saturating_neg())
    }
}

/// What a record is that was merged from those of several hosts. Rates and latencies
/// are of the intervals in which all of them were measuring, and of no others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MergedRecord {
    /// A row for each host, by rank, else by name.
    pub hosts: Vec<HostRecord>,
    /// Hosts of the group of which there is no record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Total rate of reads and writes a second, with the interval of its mean over time;
    /// absent where there are too few intervals for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Jain's index of the hosts' rates: 1 where all are equal, 1/n where one host does
    /// everything; absent where none did anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Names of hosts that are slower than the others: robust z above 3.5, and below
    /// 0.9 of the median rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stragglers: Vec<String>,
    /// What keeps the total from being higher, as far as the records say.
    pub limited_by: HostsLimit,
    /// The latest minus the earliest start of measuring, clocks corrected as far as
    /// their offsets are known, nanoseconds.
    pub start_skew_ns: u64,
    /// All clock offsets were measured; else the hosts' clocks were believed.
    pub clocks_measured: bool,
    /// Intervals in which all hosts were measuring.
    pub intervals: u64,
    /// Intervals of the host that loses most by that, which do not count.
    pub intervals_left_out: u64,
}

/// One host of a merged record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HostRecord {
    /// Its name; where several have the same, with the rank or a number behind it.
    pub host: String,
    /// Its rank, where it was one of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Id of its run, in its own store.
    pub run: String,
    /// How that run ended.
    pub status: Status,
    /// Why it is partial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_because: Option<String>,
    /// `linux`, `windows`...
    pub operating_system: String,
    /// What its jobs worked on.
    pub targets: Vec<String>,
    /// Its start of measuring after the earliest one, nanoseconds.
    pub start_ns: u64,
    /// When its workers started minus the agreed instant, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<i64>,
    /// Its clock minus that of the group, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// That is right to so many nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// How far it moved in the run, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ns: Option<i64>,
    /// Reads and writes a second.
    pub iops: f64,
    /// Their bytes a second in units of 1,048,576.
    pub mib_per_s: f64,
    /// Its part of the total, 0 to 1.
    pub share: f64,
    /// Distance of its rate from the median of all, in units of their spread; absent
    /// where they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust_z: Option<f64>,
    /// Reads.
    pub read: KindOutcome,
    /// Writes.
    pub write: KindOutcome,
    /// Failed operations of its whole run, those after the stop too.
    pub errors: u64,
    /// Its rate over time, at most 64 points.
    pub curve: Vec<HostPoint>,
    /// Codes of the warnings of its own record, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warning_codes: Vec<String>,
}

/// A point of a host's curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HostPoint {
    /// Since the first interval that counts.
    pub start_ns: u64,
    /// Its length.
    pub duration_ns: u64,
    /// Reads and writes a second.
    pub iops: f64,
}

/// What keeps a total from being higher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HostsLimit {
    /// What sort of thing.
    pub kind: HostsLimitKind,
    /// The host, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// In a sentence, with numbers.
    pub text: String,
}

/// Sorts of limits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum HostsLimitKind {
    /// One host is slower than the others.
    Host,
    /// The rate that was asked for was reached.
    Rate,
    /// Processors of one host or more.
    Processor,
    /// Nothing of one host: what they share, or the load that was asked for.
    #[default]
    Shared,
}
