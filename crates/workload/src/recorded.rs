//! Replay of a recorded load: which recording, how it is changed, and its operations.
//!
//! The description is part of a [`Workload`](crate::Workload) and of its record; the operations are
//! too many for that and are passed separately, as a [`RecordedLoad`].
//!
//! Two ways to issue. *Open*: each operation has an intended start, whatever the disk does.
//! *Closed*: each waits for another operation, and then for a think time after its completion.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_units::Kind;

/// Which recording a load comes from, and how it is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Recorded {
    /// The file's name, for display.
    pub name: String,
    /// A digest of its operations; it identifies the load.
    pub digest: String,
    /// Number of concurrent copies; a fractional copy is that share of its operations, drawn at
    /// random.
    pub copies: f64,
    /// Factor by which its time is accelerated; 1 for a closed load.
    pub speed: f64,
    /// Start position in the recording, nanoseconds; it wraps around at the recording's end. Each
    /// further copy starts at a different position, from the workload's seed.
    pub from_ns: u64,
    /// Idle periods (nothing in flight) longer than this are shortened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ns_max: Option<u64>,
    /// Operations wait for those that they waited for in the recording, instead of having an
    /// intended start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl Recorded {
    /// What is replayed, and how: `trace.csv, 2 copies, 1.5 times as fast`.
    pub fn in_words(&self) -> String {
        let mut words = self.name.clone();
        if self.copies != 1.0 {
            words += &format!(", {} copies", self.copies);
        }
        if self.speed != 1.0 {
            words += &format!(", {} times as fast", self.speed);
        }
        if self.closed {
            words += ", closed";
        }
        words
    }
}

/// The operation waits for no other.
pub const AFTER_NONE: u32 = u32::MAX;
/// The operation's duration in the recording is unknown.
pub const LASTED_UNKNOWN: u64 = u64::MAX;
/// Most operations in one run, about 1 GiB.
pub const RECORDED_OPERATIONS_MAX: usize = 1 << 24;

/// Flag: issued late because an overlapping operation had not completed.
const HELD: u64 = 1 << 63;
/// The operation was never issued.
const NOT_ISSUED: u64 = HELD - 1;

/// One operation of a recorded load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// Open: due time from the start of the run. Closed: delay after the completion of `after`, or
    /// after the start.
    pub due_ns: u64,
    /// From the start of the target; 0 for a sync.
    pub offset_bytes: u64,
    /// Duration in the recording, or [`LASTED_UNKNOWN`].
    pub lasted_ns: u64,
    /// 0 for a sync.
    pub length_bytes: u32,
    /// Closed: the number of the operation that it waits for, or [`AFTER_NONE`].
    pub after: u32,
    /// The copy it belongs to: copies do not wait for each other.
    pub copy: u16,
    /// Read, write, sync or discard.
    pub kind: Kind,
}

impl RecordedOperation {
    /// The offset behind its last byte.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes as u64
    }
}

/// The operations of one run, and when each was issued.
#[derive(Debug)]
pub struct RecordedLoad {
    operations: Box<[RecordedOperation]>,
    is_closed: bool,
    /// Issue time of each operation, from the start of the run.
    left_ns: Box<[AtomicU64]>,
}

impl RecordedLoad {
    /// Open loads are sorted by due time; in closed ones each operation follows the one it waits
    /// for.
    pub fn new(operations: Vec<RecordedOperation>, is_closed: bool) -> RecordedLoad {
        let never = || AtomicU64::new(NOT_ISSUED);
        RecordedLoad {
            left_ns: operations.iter().map(|_| never()).collect(),
            operations: operations.into(),
            is_closed,
        }
    }

    /// All operations.
    pub fn operations(&self) -> &[RecordedOperation] {
        &self.operations
    }

    /// Operations wait for others.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Records that operation `number` is issued at this time after the start of the run.
    pub fn leaves(&self, number: u32, at_ns: u64, is_held: bool) {
        if let Some(left_ns) = self.left_ns.get(number as usize) {
            let held = if is_held { HELD } else { 0 };
            left_ns.store(at_ns.min(NOT_ISSUED - 1) | held, Ordering::Relaxed);
        }
    }

    /// When operation `number` was issued, from the start of the run, and whether it was held for
    /// another one; `None` if it never was.
    pub fn left(&self, number: usize) -> Option<(u64, bool)> {
        let value = self.left_ns.get(number)?.load(Ordering::Relaxed);
        let left_ns = value & !HELD;
        (left_ns != NOT_ISSUED).then_some((left_ns, value & HELD != 0))
    }
}

impl PartialEq for RecordedLoad {
    fn eq(&self, other: &Self) -> bool {
        self.is_closed == other.is_closed && self.operations == other.operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_when_each_operation_left() {
        let read = RecordedOperation {
            due_ns: 5,
            offset_bytes: 0,
            lasted_ns: LASTED_UNKNOWN,
            length_bytes: 512,
            after: AFTER_NONE,
            copy: 0,
            kind: Kind::Read,
        };
        let load = RecordedLoad::new(vec![read; 3], false);
        load.leaves(0, 7, false);
        load.leaves(1, 9, true);
        let left = [0, 1, 2, 3].map(|number| load.left(number));
        assert_eq!(left, [Some((7, false)), Some((9, true)), None, None]);
    }
}
