//! Several hosts at once: when a run began on its host's clock, and the combined results of several
//! hosts.

use crate::{KindOutcome, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_stats::Estimate;
use stripewise_units::WallTime;

/// When a run measured, so that runs of several hosts can be aligned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartRecord {
    /// When measuring began (after the ramp), on this host's clock.
    pub measured_from: WallTime,
    /// The agreed start of the workers on this host's clock, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<WallTime>,
    /// When they started minus that instant, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<i64>,
    /// This host's clock minus that of the group, nanoseconds, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// Accuracy of the offset in nanoseconds: half of the fastest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// The offset at the end minus the one at the start, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ns: Option<i64>,
    /// The hosts that it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupRecord>,
}

/// Hosts that measured together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupRecord {
    /// Shared by all of them, and unique to the group.
    pub id: String,
    /// Rank of this host, from 0.
    pub rank: u32,
    /// Names of all, by rank.
    pub hosts: Vec<String>,
}

impl StartRecord {
    /// When measuring began on the group's clock.
    pub fn on_common_clock(&self) -> WallTime {
        let offset_ns = self.clock_offset_ns.unwrap_or(0);
        self.measured_from.shifted(offset_ns.saturating_neg())
    }
}

/// Additional data of a record merged from several hosts. Rates and latencies cover only the
/// intervals in which all of them were measuring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedRecord {
    /// A row for each host, by rank or otherwise by name.
    pub hosts: Vec<HostRecord>,
    /// Hosts of the group without a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Total rate of reads and writes per second, with the interval of its mean over time; absent
    /// if there are too few intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Jain's index of the hosts' rates: 1 if all are equal, 1/n if one host does everything;
    /// absent if none did anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Names of hosts slower than the others: robust z above 3.5, and below 0.9 of the median rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stragglers: Vec<String>,
    /// What limits the total, according to the records.
    pub limited_by: HostsLimit,
    /// The latest minus the earliest start of measuring, corrected for known clock offsets,
    /// nanoseconds.
    pub start_skew_ns: u64,
    /// Whether all clock offsets were measured; otherwise the hosts' clocks were trusted.
    pub clocks_measured: bool,
    /// Intervals in which all hosts were measuring.
    pub intervals: u64,
    /// Excluded intervals of the host that loses the most.
    pub intervals_left_out: u64,
}

/// One host of a merged record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// Its name; if several have the same, followed by the rank or a number.
    pub host: String,
    /// Its rank, if it was in a group.
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
    /// Targets of its jobs.
    pub targets: Vec<String>,
    /// Its start of measuring after the earliest one, nanoseconds.
    pub start_ns: u64,
    /// When its workers started minus the agreed instant, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<i64>,
    /// Its clock minus that of the group, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// Accuracy of that in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// Its drift during the run, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift_ns: Option<i64>,
    /// Reads and writes per second.
    pub iops: f64,
    /// Their bytes per second in units of 1,048,576.
    pub mib_per_s: f64,
    /// Its part of the total, 0 to 1.
    pub share: f64,
    /// Distance of its rate from the median of all, in units of their spread; absent if that is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust_z: Option<f64>,
    /// Reads.
    pub read: KindOutcome,
    /// Writes.
    pub write: KindOutcome,
    /// Failed operations of its whole run, including those after the stop.
    pub errors: u64,
    /// Its rate over time, at most 64 points.
    pub curve: Vec<HostPoint>,
    /// Codes of the warnings of its own record, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warning_codes: Vec<String>,
}

/// A point of a host's curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostPoint {
    /// Since the first interval that counts.
    pub start_ns: u64,
    /// Its length.
    pub duration_ns: u64,
    /// Reads and writes per second.
    pub iops: f64,
}

/// What limits a total.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostsLimit {
    /// The type of limit.
    pub kind: HostsLimitKind,
    /// The host, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A sentence with numbers.
    pub text: String,
}

/// Types of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostsLimitKind {
    /// One host is slower than the others.
    Host,
    /// The requested rate was reached.
    Rate,
    /// Processors of one or more hosts.
    Processor,
    /// Not specific to a host: shared resources, or the requested load.
    #[default]
    Shared,
}
