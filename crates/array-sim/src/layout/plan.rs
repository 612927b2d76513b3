//! Turns an operation into drive accesses, in two phases.
//!
//! Reads, and writes that need no old data, have only phase `First`; a parity update reads in
//! `First` and writes in `Second`. The plan is recomputed for each phase instead of being stored:
//! it is a pure function, so nothing needs to be allocated per operation.

use super::parity;
use super::{Layout, Level, divide};

/// The destination of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This drive.
    Disk(u32),
    /// Any one of `count` copies from drive `first` on: the controller chooses.
    AnyOf {
        /// The first drive of the set.
        first: u32,
        /// Drives in the set.
        count: u32,
    },
}

/// One access to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its destination.
    pub target: Target,
    /// Byte offset on the drive.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// A write; otherwise a read.
    pub write: bool,
}

/// When an access may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// At once.
    First,
    /// When all of `First` have ended.
    Second,
}

/// Accesses at the same offset on several drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    disks: [u32; 3],
    count: usize,
    /// Byte offset on each drive.
    pub offset_bytes: u64,
}

impl Alike {
    /// The drives, in access order.
    pub(crate) fn disks(&self) -> &[u32] {
        &self.disks[..self.count]
    }
}

impl Layout {
    /// Passes the accesses of one phase of an operation to a callback.
    #[inline]
    pub fn plan(
        &self,
        write: bool,
        phase: Phase,
        offset_bytes: u64,
        length_bytes: u64,
        take: &mut impl FnMut(Access),
    ) {
        if write && self.level.parities() > 0 {
            parity::plan_write(self, phase, offset_bytes, length_bytes, take);
            return;
        }
        if phase == Phase::Second {
            return;
        }
        let copies = self.copies();
        self.pieces(offset_bytes, length_bytes, |piece| {
            let access = |target| Access {
                target,
                offset_bytes: piece.place.offset_bytes,
                length_bytes: piece.length_bytes,
                write,
            };
            let first = piece.place.disk;
            match (copies, write) {
                (1, _) => take(access(Target::Disk(first))),
                (count, false) => take(access(Target::AnyOf { first, count })),
                (count, true) => {
                    for disk in first..first + count {
                        take(access(Target::Disk(disk)));
                    }
                }
            }
        });
    }

    /// The access of an operation that has one phase and one access: a read or write within a
    /// stripe unit, without copies and parity. A fast path for [`Layout::plan`].
    #[inline]
    pub(crate) fn only_access(
        &self,
        write: bool,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Option<Access> {
        let copies = self.copies();
        if write && (copies > 1 || self.level.parities() > 0) {
            return None;
        }
        let run = self.run_bytes();
        let (unit, inside) = divide(offset_bytes, run);
        if length_bytes == 0 || inside + length_bytes > run {
            return None;
        }
        let place = self.place(unit, inside);
        let first = place.disk;
        Some(Access {
            target: match copies {
                1 => Target::Disk(first),
                count => Target::AnyOf { first, count },
            },
            offset_bytes: place.offset_bytes,
            length_bytes,
            write,
        })
    }

    /// The accesses of a phase of a small write, where they differ only in their drives: within a
    /// stripe unit, to two copies, or for read-modify-write. A fast path for [`Layout::plan`].
    #[inline]
    pub(crate) fn alike(&self, offset_bytes: u64, length_bytes: u64) -> Option<Alike> {
        let (unit, inside) = divide(offset_bytes, self.run_bytes());
        if length_bytes == 0 || inside + length_bytes > self.run_bytes() {
            return None;
        }
        let place = self.place(unit, inside);
        let mut disks = [place.disk, place.disk + 1, 0];
        let parities = u64::from(self.level.parities());
        let count = match (self.copies(), parities) {
            (2, _) => 2,
            (1, 1..) if parity::reads_what_it_writes(self, offset_bytes, length_bytes) => {
                let first = self.parity_disk(divide(unit, self.data_disks()).0);
                let second = match first + 1 == u64::from(self.disks) {
                    true => 0,
                    false => first + 1,
                };
                (disks[1], disks[2]) = (first as u32, second as u32);
                1 + parities as usize
            }
            _ => return None,
        };
        Some(Alike {
            disks,
            count,
            offset_bytes: place.offset_bytes,
        })
    }

    /// Whether an operation may need the second phase: always for writes to a parity level.
    pub fn has_second_phase(&self, write: bool) -> bool {
        write && matches!(self.level, Level::Raid5 | Level::Raid6)
    }
}
