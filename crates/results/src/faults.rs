//! What storage did not keep: faults, as verifications and runs with `--verify` record them.
//! How they are found is in the crate `verify`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What comparing the data of a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verification {
    /// Bytes that were compared with what was expected, while it ran and afterwards.
    pub verified_bytes: u64,
    /// Operations whose data was made or compared, those of the passes before and after
    /// among them.
    pub operations: u64,
    /// Everything that the run knows of was read once more at its end.
    pub read_at_end: bool,
    /// Memory of the expectations.
    pub map_bytes: u64,
    /// Operations of the passes before and after the run that failed: no faults of the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The faults.
    pub faults: Vec<FaultRecord>,
    /// How many there are of each class.
    pub faults_by_class: BTreeMap<String, u64>,
}

/// What went wrong.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The read was reported as done, and its bytes never came.
    NotRead,
    /// Bits, zeros or shifted bytes where something else was written.
    Damaged,
    /// Wrong once, and right when it was read again.
    Transient,
    /// What was there before the last write; right when it was read again.
    StaleRead,
    /// The last write is not there (it may lie outside of what was tested).
    LostWrite,
    /// A write landed elsewhere.
    MisdirectedWrite,
    /// A read brought what belongs elsewhere; right when it was read again.
    MisdirectedRead,
    /// What belongs to another target of the run.
    WrongDisk,
    /// A part of a write is there, and another part is not.
    Torn,
    /// What another run left.
    LeftOver,
    /// Data that Stripewise never wrote.
    Foreign,
    /// It changes from one read to the next.
    CopiesDiffer,
    /// Zeros where something was written.
    Dropped,
    /// A write that was reported as failed appeared after a later one.
    LateWrite,
    /// The device has less room than it says, and begins again from its start.
    FakeCapacity,
    /// A flush was reported as done, and what it covers did not survive.
    FlushedWriteLost,
    /// Damage beside a write that was in flight when the power went.
    Neighbour,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 17] = [
        Class::NotRead,
        Class::Damaged,
        Class::Transient,
        Class::StaleRead,
        Class::LostWrite,
        Class::MisdirectedWrite,
        Class::MisdirectedRead,
        Class::WrongDisk,
        Class::Torn,
        Class::LeftOver,
        Class::Foreign,
        Class::CopiesDiffer,
        Class::Dropped,
        Class::LateWrite,
        Class::FakeCapacity,
        Class::FlushedWriteLost,
        Class::Neighbour,
    ];

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::NotRead => "not-read",
            Class::Damaged => "damaged",
            Class::Transient => "transient",
            Class::StaleRead => "stale-read",
            Class::LostWrite => "lost-write",
            Class::MisdirectedWrite => "misdirected-write",
            Class::MisdirectedRead => "misdirected-read",
            Class::WrongDisk => "wrong-disk",
            Class::Torn => "torn",
            Class::LeftOver => "left-over",
            Class::Foreign => "foreign",
            Class::CopiesDiffer => "copies-differ",
            Class::Dropped => "dropped",
            Class::LateWrite => "late-write",
            Class::FakeCapacity => "fake-capacity",
            Class::FlushedWriteLost => "flushed-write-lost",
            Class::Neighbour => "neighbour",
        }
    }

    /// What it means, for people.
    #[must_use]
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

    /// What lies there is wrong, and not only what once came from there.
    #[must_use]
    pub fn lasts(self) -> bool {
        !matches!(
            self,
            Class::NotRead | Class::Transient | Class::StaleRead | Class::MisdirectedRead
        )
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fault {
    /// What went wrong.
    pub class: Class,
    /// Number of the target within the run, from 0.
    pub target: u16,
    /// First byte on the target.
    pub offset_bytes: u64,
    /// Bytes that are wrong.
    pub length_bytes: u64,
    /// What should be there.
    pub expected: Content,
    /// What is or was there.
    pub found: Content,
    /// The first byte that differs, from `offset_bytes`; where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_difference_bytes: Option<u64>,
    /// What each reread of the first sector brought, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rereads: Vec<String>,
    /// Where the data of a misdirected write belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant_for_bytes: Option<u64>,
    /// When it was seen, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_unix_ns: Option<u64>,
    /// A scan saw it first, and not a read of the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_by_scan: bool,
}

/// What a sector holds, or should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Content {
    /// In words.
    pub what: String,
    /// Generations that are possible; of what was found, its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<u32>,
    /// Number of the target that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u16>,
    /// Where it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// The run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What kind of operation wrote it.
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
    /// Which of that worker's writes it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// When, nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_unix_ns: Option<u64>,
    /// Bytes from the first difference on, hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bytes: String,
}

/// A fault with what the program knows of its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultRecord {
    /// The fault.
    #[serde(flatten)]
    pub fault: Fault,
    /// Name of its target.
    pub target_name: String,
    /// The first logical block address on the device that the target is or is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lba: Option<u64>,
    /// The piece of the file that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ExtentRecord>,
    /// All of it in a sentence.
    pub message: String,
}

/// A piece of a file on its file system's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExtentRecord {
    /// Its first byte in the file.
    pub file_bytes: u64,
    /// Its first byte on the device.
    pub device_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
}

/// How many there are of each class.
#[must_use]
pub fn counts_of(faults: &[FaultRecord]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for record in faults {
        *counts
            .entry(record.fault.class.name().to_owned())
            .or_insert(0) += 1;
    }
    counts
}
