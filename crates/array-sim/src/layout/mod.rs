//! The mapping from a volume's bytes to the drives: pure functions, no state.
//!
//! Addresses are bytes of the array from 0 (the partition offset is already added).
//! [`Layout::locate`] and [`Layout::role`] are inverses; every split of an operation
//! ([`Layout::pieces`], [`Layout::plan`]) covers each of its bytes once. Rows, units and copies:
//!
//! | level | unit k lies on | copies or parity |
//! |---|---|---|
//! | single, 1 | the drive, all drives | every drive a copy |
//! | linear | drive k / units per drive | none |
//! | 0 | drive k mod n | none |
//! | 10 | pair k mod (n/2) | two drives a pair |
//! | 5 | (p + 1 + k mod (n-1)) mod n | parity p = n - 1 - row mod n |
//! | 6 | (p + 2 + k mod (n-2)) mod n | P on p as above, Q on (p + 1) mod n |
//!
//! Levels 5 and 6 are left-symmetric, the default of Linux md; [`Rotation`] has the others.

mod parity;
mod plan;
mod rotation;

pub use parity::{ParityWrite, WriteMethod};
pub(crate) use plan::Alike;
pub use plan::{Access, Phase, Target};
pub use rotation::Rotation;

use crate::random::{Entity, draw};

/// Seed for the order of drives in chunklets: the same for all arrays, as a layout is a pure
/// function of addresses.
const CHUNKLETS: u64 = 1;

/// The organisation of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// One drive.
    #[default]
    Single,
    /// Concatenated drives.
    Linear,
    /// Striping.
    Raid0,
    /// A full copy on every drive.
    Raid1,
    /// Striping over mirrored pairs.
    Raid10,
    /// Rotating parity.
    Raid5,
    /// Rotating double parity.
    Raid6,
}

impl Level {
    /// All levels, with the name each has in array files.
    pub const ALL: [(Level, &'static str); 7] = [
        (Level::Single, "single"),
        (Level::Linear, "linear"),
        (Level::Raid0, "0"),
        (Level::Raid1, "1"),
        (Level::Raid10, "10"),
        (Level::Raid5, "5"),
        (Level::Raid6, "6"),
    ];

    /// The fewest drives the level works with.
    pub const fn disks_min(self) -> u32 {
        match self {
            Level::Single | Level::Linear | Level::Raid0 => 1,
            Level::Raid1 | Level::Raid10 => 2,
            Level::Raid5 => 3,
            Level::Raid6 => 4,
        }
    }

    /// Whether the level stripes.
    pub const fn striped(self) -> bool {
        matches!(
            self,
            Level::Raid0 | Level::Raid10 | Level::Raid5 | Level::Raid6
        )
    }

    /// Parity units in each row.
    pub const fn parities(self) -> u32 {
        match self {
            Level::Raid5 => 1,
            Level::Raid6 => 2,
            _ => 0,
        }
    }
}

/// A place on one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DrivePlace {
    /// The drive, from 0.
    pub disk: u32,
    /// Byte offset on the drive.
    pub offset_bytes: u64,
}

/// The use of a position on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The first copy of this logical byte.
    Data(u64),
    /// A further copy of this logical byte.
    Mirror(u64),
    /// Parity (P, the XOR) of this stripe row.
    Parity(u64),
    /// The second parity (Q) of this stripe row.
    SecondParity(u64),
}

/// A part of an operation within one stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First copy of its first byte.
    pub place: DrivePlace,
    /// Logical address of its first byte.
    pub logical_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
}

/// The mapping of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The organisation.
    pub level: Level,
    /// Drives.
    pub disks: u32,
    /// Contiguous bytes on one drive; ignored by levels without striping.
    pub unit_bytes: u64,
    /// Bytes used on each drive; a multiple of the unit where the level stripes.
    pub disk_bytes: u64,
    /// Parity is updated in pages of this size (Linux md: 4 KiB).
    pub parity_page_bytes: u64,
    /// How small writes update parity.
    pub parity_write: ParityWrite,
    /// How parity rotates.
    pub rotation: Rotation,
    /// Rows after which the drives change their order, as the chunklets of virtualised arrays are
    /// on different drives; 0: never.
    pub chunklet_rows: u64,
}

impl Layout {
    /// Units of data in each row.
    pub fn data_disks(&self) -> u64 {
        let disks = u64::from(self.disks);
        match self.level {
            Level::Single | Level::Raid1 => 1,
            Level::Linear | Level::Raid0 => disks,
            Level::Raid10 => disks / 2,
            Level::Raid5 => disks - 1,
            Level::Raid6 => disks - 2,
        }
    }

    /// Usable bytes of the array.
    pub fn size_bytes(&self) -> u64 {
        self.disk_bytes * self.data_disks()
    }

    /// Drives that hold each byte of data.
    pub fn copies(&self) -> u32 {
        match self.level {
            Level::Raid1 => self.disks,
            Level::Raid10 => 2,
            _ => 1,
        }
    }

    /// Whether all data is still available when exactly these drives are lost.
    pub fn survives(&self, lost: &[u32]) -> bool {
        let is_lost = |disk: u32| lost.contains(&disk);
        let count = (0..self.disks).filter(|&disk| is_lost(disk)).count();
        match self.level {
            Level::Single | Level::Linear | Level::Raid0 => count == 0,
            Level::Raid5 | Level::Raid6 => count <= self.level.parities() as usize,
            Level::Raid1 | Level::Raid10 => {
                let copies = self.copies();
                let sets = self.disks / copies;
                (0..sets).all(|set| {
                    let first = set * copies;
                    (first..first + copies).any(|disk| !is_lost(disk))
                })
            }
        }
    }

    /// Contiguous bytes on one drive, whatever the level.
    fn run_bytes(&self) -> u64 {
        if self.level.striped() {
            self.unit_bytes
        } else {
            self.disk_bytes
        }
    }

    /// The drive with P in a row.
    pub(crate) fn parity_disk(&self, row: u64) -> u64 {
        let parity =
            self.rotation
                .parity(u64::from(self.disks), u64::from(self.level.parities()), row);
        self.turned(row, parity)
    }

    /// The actual drive in a row for this one: itself, except with chunklets, where all drives are
    /// rotated by a number drawn for each chunklet.
    #[inline]
    fn turned(&self, row: u64, disk: u64) -> u64 {
        if self.chunklet_rows == 0 {
            return disk;
        }
        let (disks, shift) = (u64::from(self.disks), self.shift(row));
        (disk + shift) % disks
    }

    /// The rotation of a row's drives; pairs stay pairs.
    fn shift(&self, row: u64) -> u64 {
        if self.chunklet_rows == 0 {
            return 0;
        }
        let copies = u64::from(self.copies());
        let bits = draw(CHUNKLETS, Entity::Chunklet, row / self.chunklet_rows, 0);
        bits % (u64::from(self.disks) / copies) * copies
    }

    /// The first copy of a logical byte.
    #[inline]
    pub fn locate(&self, logical_bytes: u64) -> DrivePlace {
        let (unit, inside) = divide(logical_bytes, self.run_bytes());
        self.place(unit, inside)
    }

    /// The first copy of a byte in a unit.
    #[inline]
    fn place(&self, unit: u64, inside: u64) -> DrivePlace {
        let disks = u64::from(self.disks);
        let (row, column) = match self.level {
            Level::Single | Level::Raid1 => (0, 0),
            Level::Linear => (0, unit),
            _ => divide(unit, self.data_disks()),
        };
        let disk = match self.level {
            Level::Single | Level::Raid1 | Level::Linear => column,
            Level::Raid0 => self.turned(row, column),
            Level::Raid10 => self.turned(row, column * 2),
            Level::Raid5 | Level::Raid6 => {
                let parities = u64::from(self.level.parities());
                let disk = self.rotation.data(disks, parities, row, column);
                self.turned(row, disk)
            }
        };
        DrivePlace {
            disk: disk as u32,
            offset_bytes: row * self.run_bytes() + inside,
        }
    }

    /// The use of a position; `None` beyond the drives' used part, or on the odd drive of a RAID
    /// 10. The inverse of [`Layout::locate`].
    pub fn role(&self, place: DrivePlace) -> Option<Role> {
        if place.disk >= self.disks || place.offset_bytes >= self.disk_bytes {
            return None;
        }
        let run = self.run_bytes();
        let (row, inside) = (place.offset_bytes / run, place.offset_bytes % run);
        let disks = u64::from(self.disks);
        let disk = match self.level {
            // The drive's number without chunklets.
            level if level.striped() => (u64::from(place.disk) + disks - self.shift(row)) % disks,
            _ => u64::from(place.disk),
        };
        let width = self.data_disks();
        let data = |column: u64| (row * width + column) * run + inside;
        match self.level {
            Level::Single => Some(Role::Data(inside)),
            Level::Raid1 if disk == 0 => Some(Role::Data(inside)),
            Level::Raid1 => Some(Role::Mirror(inside)),
            Level::Linear => Some(Role::Data(disk * run + inside)),
            Level::Raid0 => Some(Role::Data(data(disk))),
            Level::Raid10 if disk / 2 >= width => None,
            Level::Raid10 if disk.is_multiple_of(2) => Some(Role::Data(data(disk / 2))),
            Level::Raid10 => Some(Role::Mirror(data(disk / 2))),
            Level::Raid5 | Level::Raid6 => {
                let parities = u64::from(self.level.parities());
                let parity = self.rotation.parity(disks, parities, row);
                match (disk + disks - parity) % disks {
                    0 => Some(Role::Parity(row)),
                    1 if self.level == Level::Raid6 => Some(Role::SecondParity(row)),
                    _ => Some(Role::Data(data(
                        self.rotation.column(disks, parities, row, disk),
                    ))),
                }
            }
        }
    }

    /// Splits a range of logical bytes at the unit boundaries, in ascending order.
    #[inline]
    pub fn pieces(&self, offset_bytes: u64, length_bytes: u64, mut take: impl FnMut(Piece)) {
        let run = self.run_bytes();
        let (mut at, end) = (offset_bytes, offset_bytes + length_bytes);
        let (mut unit, mut inside) = divide(at, run);
        while at < end {
            let length_bytes = (end - at).min(run - inside);
            take(Piece {
                place: self.place(unit, inside),
                logical_bytes: at,
                length_bytes,
            });
            at += length_bytes;
            (unit, inside) = (unit + 1, 0);
        }
    }

    /// The number of units an operation touches: 1 when it crosses no boundary.
    pub fn units_touched(&self, offset_bytes: u64, length_bytes: u64) -> u64 {
        let run = self.run_bytes();
        let end = offset_bytes + length_bytes.max(1);
        divide(end - 1, run).0 - divide(offset_bytes, run).0 + 1
    }
}

/// Quotient and remainder. Units and numbers of disks are nearly always powers of two, and a shift
/// costs a tenth of a division.
#[inline]
pub(crate) fn divide(value: u64, by: u64) -> (u64, u64) {
    if by.is_power_of_two() {
        (value >> by.trailing_zeros(), value & (by - 1))
    } else {
        (value / by, value % by)
    }
}

#[cfg(test)]
mod tests;
