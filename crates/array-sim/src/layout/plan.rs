//! From an operation to accesses of drives, in two phases.
//!
//! Phase `First` is all there is for reads and for writes that need no old
//! data; a parity update reads in `First` and writes in `Second`. The plan is
//! computed again for each phase instead of being kept: it is a pure function,
//! so nothing needs to be allocated per operation.

use super::parity;
use super::{Layout, Level, divide};

/// Whom an access goes to.
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
    /// Whom it goes to.
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

/// Accesses at one and the same place of several drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    disks: [u32; 3],
    count: usize,
    /// Byte offset on each drive.
    pub offset_bytes: u64,
}

impl Alike {
    /// The drives, in the order in which they are asked.
    pub(crate) fn disks(&self) -> &[u32] {
        &self.disks[..self.count]
    }
}

impl Layout {
    /// Hands over the accesses of one phase of an operation.
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

    /// The access of an operation that has one phase and needs no other: within a stripe
    /// unit, a read or a write without copies and parity. What [`Layout::plan`] would hand
    /// over, found sooner.
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

    /// The accesses of a phase of a small write, where they are alike but for their drives:
    /// within a stripe unit, to two copies, or of what read-modify-write needs. What
    /// [`Layout::plan`] would hand over, found sooner.
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

    /// Whether a write needs the second phase: a parity level always may.
    #[must_use]
    pub fn has_second_phase(&self, write: bool) -> bool {
        write && matches!(self.level, Level::Raid5 | Level::Raid6)
    }
}
