//! A load that was recorded, to be issued again: which recording, how it is changed, and
//! the operations that follow.
//!
//! The description is part of a [`Workload`](crate::Workload) and of its record; the
//! operations are too many for that and travel beside it, as a [`RecordedLoad`].
//!
//! Two ways to issue. *Open*: each operation has an intended start, whatever the disk does.
//! *Closed*: each has one that it waits for, and a think time after that one's completion.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_units::Kind;

/// Which recording a load comes from, and how it is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Recorded {
    /// The file's name, for people.
    pub name: String,
    /// A digest of its operations: with another one it is another load.
    pub digest: String,
    /// So many copies at once; of a part of a copy as many operations, drawn at random.
    pub copies: f64,
    /// Its time goes so many times faster; of a closed load 1.
    pub speed: f64,
    /// Where in the recording it begins, nanoseconds; after the recording's end it begins
    /// again. Each further copy begins elsewhere, by the workload's seed.
    pub from_ns: u64,
    /// Pauses without anything in flight that are longer than this are cut to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ns_max: Option<u64>,
    /// Operations wait for those that they waited for in the recording, in place of having
    /// an intended start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl Recorded {
    /// What is replayed, and how: `trace.csv, 2 copies, 1.5 times as fast`.
    #[must_use]
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

/// No operation is waited for.
pub const AFTER_NONE: u32 = u32::MAX;
/// How long an operation took in the recording, where that is not known.
pub const LASTED_UNKNOWN: u64 = u64::MAX;
/// Operations of one run at most, about 1 GiB.
pub const RECORDED_OPERATIONS_MAX: usize = 1 << 24;

/// It left later than it was due because one that overlaps had not completed.
const HELD: u64 = 1 << 63;
/// It never left.
const NOT_ISSUED: u64 = HELD - 1;

/// One operation of a recorded load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// Open: when it is due, from the beginning of the run. Closed: how long after the
    /// completion of `after`, or after the beginning.
    pub due_ns: u64,
    /// From the start of the target; 0 for a sync.
    pub offset_bytes: u64,
    /// How long it took in the recording, or [`LASTED_UNKNOWN`].
    pub lasted_ns: u64,
    /// 0 for a sync.
    pub length_bytes: u32,
    /// Closed: the number of the operation that it waits for, or [`AFTER_NONE`].
    pub after: u32,
    /// Which copy: copies do not wait for each other.
    pub copy: u16,
    /// Read, write, sync or discard.
    pub kind: Kind,
}

impl RecordedOperation {
    /// The offset behind its last byte.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes as u64
    }
}

/// The operations of one run, and when each of them left.
#[derive(Debug)]
pub struct RecordedLoad {
    operations: Box<[RecordedOperation]>,
    is_closed: bool,
    /// Of each operation, from the beginning of the run.
    left_ns: Box<[AtomicU64]>,
}

impl RecordedLoad {
    /// Open loads by rising due time; of closed ones each after the one it waits for.
    #[must_use]
    pub fn new(operations: Vec<RecordedOperation>, is_closed: bool) -> RecordedLoad {
        let never = || AtomicU64::new(NOT_ISSUED);
        RecordedLoad {
            left_ns: operations.iter().map(|_| never()).collect(),
            operations: operations.into(),
            is_closed,
        }
    }

    /// All operations.
    #[must_use]
    pub fn operations(&self) -> &[RecordedOperation] {
        &self.operations
    }

    /// Operations wait for others.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Operation `number` leaves now, that long after the beginning of the run.
    pub fn leaves(&self, number: u32, at_ns: u64, is_held: bool) {
        if let Some(left_ns) = self.left_ns.get(number as usize) {
            let held = if is_held { HELD } else { 0 };
            left_ns.store(at_ns.min(NOT_ISSUED - 1) | held, Ordering::Relaxed);
        }
    }

    /// When operation `number` left, from the beginning of the run, and whether it had been
    /// held for another one; None if it never did.
    #[must_use]
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
