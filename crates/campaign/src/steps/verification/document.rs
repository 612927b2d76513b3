//! The document of a verification, as JSON and in the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_results::faults::FaultRecord;
use stripewise_results::{KindOutcome, Warning};
use stripewise_verify::FinishedState;
use stripewise_verify::power_cut_check::Survival;

/// The document's version; incremented when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// How a verification ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyVerdict {
    /// Everything that was read was right.
    #[default]
    Passed,
    /// Faults were found.
    Faults,
    /// Operations failed, and nothing that was read was wrong.
    Errors,
    /// Stopped before its end, and nothing that was read until then was wrong.
    Interrupted,
    /// Of `--image`: nothing that has a stamp is wrong, and for the rest no record vouches.
    NotProven,
}

impl VerifyVerdict {
    /// From whether the data was faultless, failures, and whether everything was read.
    pub fn of(faultless: bool, failed: u64, whole: bool) -> VerifyVerdict {
        match (faultless, failed, whole) {
            (false, ..) => VerifyVerdict::Faults,
            (true, 1.., _) => VerifyVerdict::Errors,
            (true, 0, false) => VerifyVerdict::Interrupted,
            (true, 0, true) => VerifyVerdict::Passed,
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Load, with everything that is read compared.
    #[default]
    BurnIn,
    /// The whole device once.
    Capacity,
    /// What an earlier run left was read.
    Image,
    /// Writes and flushes until the power goes.
    PowerCut,
    /// What survived was read.
    AfterCut,
}

/// One verification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyDocument {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Its id.
    pub id: String,
    /// What was done.
    pub mode: Mode,
    /// The number that every stamp of it carries, hexadecimal.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Host name.
    pub host: String,
    /// How it ended.
    pub verdict: VerifyVerdict,
    /// What was verified.
    pub targets: Vec<VerifiedTarget>,
    /// The engine.
    pub engine: String,
    /// Why no better one was got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What makes it doubtful that a disk was verified: memory, the page cache. A void one
    /// says that none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Length of all phases.
    pub duration_ns: u64,
    /// Bytes that were compared with what was expected, in all phases.
    pub verified_bytes: u64,
    /// Operations that completed, in all phases.
    pub operations: u64,
    /// Failed operations, which are no faults.
    pub errors: VerifyErrors,
    /// Memory of the expectations.
    pub map_bytes: u64,
    /// What was done one after the other, with its speed.
    pub phases: Vec<PhaseOutcome>,
    /// Operations that took very long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<StuckOperation>,
    /// Of `--capacity`: how much room the device has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityFound>,
    /// Of `--image`: what each run left there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftByRun>,
    /// Of `--image`: bytes without a stamp, which Stripewise never wrote or somebody wiped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstamped_bytes: Option<u64>,
    /// Of `--image`: bytes that may be right or wrong: without a stamp, or older than a write
    /// around them, and no record in the store says what belongs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven_bytes: Option<u64>,
    /// The first of them: starts and ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<[u64; 2]>,
    /// Of `--power-cut`: what flushes took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<KindOutcome>,
    /// Of `--after-cut`: what survived, by target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survival: Vec<SurvivalRecord>,
    /// Of `--after-cut`: the witness's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<WitnessKept>,
    /// The faults.
    pub faults: Vec<FaultRecord>,
    /// How many there are of each class.
    pub faults_by_class: BTreeMap<String, u64>,
}

/// What survived a power cut on one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurvivalRecord {
    /// Number of the target.
    pub target: u16,
    /// Its name.
    pub target_name: String,
    /// What made writes durable.
    pub durability: String,
    /// Flushed writes, the lost ones among them, and unflushed ones that survived.
    #[serde(flatten)]
    pub survival: Survival,
    /// The newest write that survived is so much newer than the last flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_beyond_ns: Option<u64>,
}

/// What a witness kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessKept {
    /// Its file.
    pub file: String,
    /// Id of the run that it saw.
    pub run_id: String,
    /// Records in it.
    pub records: u64,
    /// Bytes that were no record.
    pub dropped_bytes: u64,
    /// Writes and flushes that failed.
    pub failed: u64,
    /// The run was ended in order.
    pub ended: bool,
    /// When the power went, nanoseconds since 1970: the last thing that is known of the run.
    pub cut_unix_ns: u64,
}

/// How much room a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityFound {
    /// What it reports.
    pub reported_bytes: u64,
    /// What it has, as far as that could be found out.
    pub real_bytes: u64,
    /// It begins again from its start there.
    pub wraps: bool,
    /// Written and read to here.
    pub checked_bytes: u64,
}

/// What one run left on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftByRun {
    /// Its number, hexadecimal.
    pub run: String,
    /// Its id, where the store has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Bytes of whole sectors.
    pub bytes: u64,
    /// When the oldest was written, nanoseconds since 1970.
    pub oldest_unix_ns: u64,
    /// When the newest was written.
    pub newest_unix_ns: u64,
    /// How long ago that was, by this machine's clock.
    pub oldest_age_ns: u64,
    /// The mean of all ages.
    pub mean_age_ns: u64,
    /// And of the newest.
    pub newest_age_ns: u64,
    /// The largest generation of a block.
    pub generation_max: u32,
    /// What it was judged by.
    #[serde(default)]
    pub judged_by: JudgedBy,
}

/// What the data of a run was judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// The stamps alone: the store has no record of the end of this run.
    #[default]
    Stamps,
    /// What its record says was written: the copy is of a moment before its end.
    Extent,
    /// What its record says of its end.
    End,
}

impl JudgedBy {
    /// As text for people.
    pub fn in_words(self) -> &'static str {
        match self {
            JudgedBy::Stamps => "judged by its stamps alone",
            JudgedBy::Extent => {
                "judged by what its record says was written: this is a copy of an earlier \
                 moment, so older data in it is no fault"
            }
            JudgedBy::End => "judged by its record",
        }
    }
}

/// One target of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedTarget {
    /// As the user named it.
    pub name: String,
    /// The absolute path, where `name` is relative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `file`, `test-file` or `device`.
    pub kind: stripewise_results::TargetKind,
    /// Bytes that were used of it.
    pub size_bytes: u64,
    /// Its sector: what a stamp is of.
    pub sector_bytes: u32,
    /// The device below, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Model of that device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the target begins on the bottom disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_offset_bytes: Option<u64>,
    /// The file that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<String>,
    /// The cache modes that were used, in order.
    pub cache: Vec<String>,
    /// What another program did to the file meanwhile, with its verb: `was removed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// What it held at the end, if everything was read once more: `--image` holds copies
    /// against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<FinishedState>,
}

/// Failed operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyErrors {
    /// Their number, short ones included.
    pub total: u64,
    /// Reason and place of the first of them, each place once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<String>,
}

/// What one phase did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseOutcome {
    /// `fill`, `work`, `check`.
    pub name: String,
    /// The cache mode.
    pub cache: String,
    /// Its length.
    pub duration_ns: u64,
    /// Reads and writes a second.
    pub iops: f64,
    /// MiB a second, both ways.
    pub mib_per_s: f64,
    /// Reads.
    pub read: KindOutcome,
    /// Writes.
    pub write: KindOutcome,
    /// Of several targets: what was done on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetOutcome>,
}

/// What a phase did on one of several targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetOutcome {
    /// Its number.
    pub target: u16,
    /// Until its last operation ended; others may have taken longer.
    pub duration_ns: u64,
    /// Reads and writes a second of that time.
    pub iops: f64,
    /// MiB a second, both ways.
    pub mib_per_s: f64,
    /// Reads.
    pub read: KindOutcome,
    /// Writes.
    pub write: KindOutcome,
}

impl TargetOutcome {
    /// From these reads and writes.
    pub fn of(target: u16, duration_ns: u64, read: KindOutcome, write: KindOutcome) -> Self {
        let [iops, mib_per_s] = rates(duration_ns, &read, &write);
        TargetOutcome {
            target,
            duration_ns,
            iops,
            mib_per_s,
            read,
            write,
        }
    }
}

/// IOPS and MiB/s.
fn rates(duration_ns: u64, read: &KindOutcome, write: &KindOutcome) -> [f64; 2] {
    let seconds = (duration_ns as f64 / 1e9).max(1e-9);
    [
        (read.operations + write.operations) as f64 / seconds,
        (read.bytes + write.bytes) as f64 / 1_048_576.0 / seconds,
    ]
}

impl PhaseOutcome {
    /// From these reads and writes.
    pub fn of(
        name: &str,
        cache: &str,
        duration_ns: u64,
        read: KindOutcome,
        write: KindOutcome,
    ) -> PhaseOutcome {
        let [iops, mib_per_s] = rates(duration_ns, &read, &write);
        PhaseOutcome {
            name: name.to_owned(),
            cache: cache.to_owned(),
            duration_ns,
            iops,
            mib_per_s,
            read,
            write,
            by_target: Vec::new(),
        }
    }
}

/// An operation that took more than 15 s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckOperation {
    /// Number of the target.
    pub target: u16,
    /// `read` or `write`.
    pub kind: String,
    /// Where.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// How long it had taken when it was last looked at.
    pub for_ns: u64,
    /// What the device had in flight when it was first named: reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_reads: Option<u32>,
    /// And writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_writes: Option<u32>,
}
