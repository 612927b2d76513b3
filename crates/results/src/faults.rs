//! Faults of storage, as recorded by verifications and runs with `--verify`. The crate `verify`
//! detects them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of verifying a run's data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Bytes compared with the expected data, during the run and afterwards.
    pub verified_bytes: u64,
    /// Operations whose data was generated or compared, including those of the passes before and
    /// after.
    pub operations: u64,
    /// Everything known to the run was read again at its end.
    pub read_at_end: bool,
    /// Memory used for the expected contents.
    pub map_bytes: u64,
    /// Failed operations of the passes before and after the run, which are not data faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The faults.
    pub faults: Vec<FaultRecord>,
    /// Number of faults by class.
    pub faults_by_class: BTreeMap<String, u64>,
}

// Named as in JSON.
stripewise_units::named! {
    /// Class of a fault.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// The read was reported as done, but its bytes never arrived.
        NotRead = "not-read",
        /// Bits, zeros or shifted bytes where something else was written.
        Damaged = "damaged",
        /// Wrong once, but correct when read again.
        Transient = "transient",
        /// Contents before the last write; correct when read again.
        StaleRead = "stale-read",
        /// The last write is missing (it may be outside the tested area).
        LostWrite = "lost-write",
        /// A write landed elsewhere.
        MisdirectedWrite = "misdirected-write",
        /// A read returned data of another location; correct when read again.
        MisdirectedRead = "misdirected-read",
        /// Data of another target of the run.
        WrongDisk = "wrong-disk",
        /// Part of a write is present, another part is not.
        Torn = "torn",
        /// Data left by another run.
        LeftOver = "left-over",
        /// Data that Stripewise never wrote.
        Foreign = "foreign",
        /// It changes between reads.
        CopiesDiffer = "copies-differ",
        /// Zeros where data was written.
        Dropped = "dropped",
        /// A write that was reported as failed appeared after a later one.
        LateWrite = "late-write",
        /// The device has less capacity than it reports, and wraps around to its start.
        FakeCapacity = "fake-capacity",
        /// A flush was reported as done, but the data it covers did not survive.
        FlushedWriteLost = "flushed-write-lost",
        /// Damage next to a write that was in flight when the power failed.
        Neighbour = "neighbour",
    }
}

impl Class {
    /// Its meaning as text.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::NotRead => "a read was reported as done, but its bytes never came",
            Class::Damaged => "the data is damaged",
            Class::Transient => "a read returned wrong data once; the next ones were right",
            Class::StaleRead => "a read returned old data; the next ones were right",
            Class::LostWrite => "a write is lost (or went somewhere outside the tested range)",
            Class::MisdirectedWrite => "a write landed in the wrong place",
            Class::MisdirectedRead => {
                "a read returned data from another place; the next ones were right"
            }
            Class::WrongDisk => "the data of another target is here",
            Class::Torn => "only part of a write arrived",
            Class::LeftOver => "the data of an earlier run is here",
            Class::Foreign => "something else has written here",
            Class::CopiesDiffer => "the data changes from read to read, as copies that differ do",
            Class::Dropped => "zeros where data was written",
            Class::LateWrite => "a write that was reported as failed appeared later",
            Class::FakeCapacity => "the device has less room than it reports",
            Class::FlushedWriteLost => "a flushed write did not survive",
            Class::Neighbour => "data beside a write in flight was damaged",
        }
    }

    /// Whether the stored data is wrong, not just the result of one read.
    pub fn lasts(self) -> bool {
        !matches!(
            self,
            Class::NotRead | Class::Transient | Class::StaleRead | Class::MisdirectedRead
        )
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// Its class.
    pub class: Class,
    /// Number of the target within the run, from 0.
    pub target: u16,
    /// First byte on the target.
    pub offset_bytes: u64,
    /// Bytes that are wrong.
    pub length_bytes: u64,
    /// The expected content.
    pub expected: Content,
    /// The content found.
    pub found: Content,
    /// The first byte that differs, from `offset_bytes`; if it can be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_difference_bytes: Option<u64>,
    /// Result of each reread of the first sector, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rereads: Vec<String>,
    /// The intended location of a misdirected write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant_for_bytes: Option<u64>,
    /// When it was seen, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_unix_ns: Option<u64>,
    /// A scan saw it first, rather than a read of the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_by_scan: bool,
}

/// Actual or expected content of a sector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Content {
    /// As text.
    pub what: String,
    /// Possible generations; for content found, its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<u32>,
    /// Number of the target that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u16>,
    /// The offset that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// The run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The kind of operation that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// First byte of that operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_offset_bytes: Option<u64>,
    /// Its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_length_bytes: Option<u64>,
    /// The worker that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<u16>,
    /// Sequence number of that worker's write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// When, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_unix_ns: Option<u64>,
    /// Bytes from the first difference on, hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bytes: String,
}

/// A fault with what is known about its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRecord {
    /// The fault.
    #[serde(flatten)]
    pub fault: Fault,
    /// Name of its target.
    pub target_name: String,
    /// The first logical block address on the target's device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lba: Option<u64>,
    /// The extent of the file that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ExtentRecord>,
    /// A sentence that describes it.
    pub message: String,
}

/// An extent of a file on its file system's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtentRecord {
    /// Its first byte in the file.
    pub file_bytes: u64,
    /// Its first byte on the device.
    pub device_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
}

/// Number of faults by class.
pub fn counts_of(faults: &[FaultRecord]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for record in faults {
        *counts
            .entry(record.fault.class.name().to_owned())
            .or_insert(0) += 1;
    }
    counts
}
