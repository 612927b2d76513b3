//! One drive of an array: a rotating disk or a solid-state drive.
//!
//! The two differ in how time is kept. A rotating disk serves one access at a time and has a next
//! end; a solid-state drive works on many at once and knows each access's end when it is sent
//! (`AccessDone`).

pub(crate) mod flash;
pub(crate) mod page_map;
pub(crate) mod read_ahead;
pub(crate) mod rotating;

use crate::events::Key;
use crate::geometry::Position;
use flash::{FlashDrive, MappedPages};
use rotating::RotatingDrive;

pub(crate) const SECTOR_BYTES: u64 = 512;

/// No access, and no operation.
pub(crate) const NONE: u32 = u32::MAX;

/// One access to one drive, as planned by the layout: 64 bytes, a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriveAccess {
    /// Arrival key. Lower keys arrived earlier, which breaks ties in cost.
    pub arrives: Key,
    /// Where it begins.
    pub position: Position,
    /// The array's index of its operation.
    pub index: u32,
    pub sectors: u32,
    /// The next access in transit to the drive, or [`NONE`].
    pub next: u32,
    /// A write; otherwise a read.
    pub write: bool,
    /// A read that may be served from the read-ahead.
    pub streams: bool,
}

impl DriveAccess {
    /// Of this length, a multiple of 512 bytes, for an operation; not sent yet.
    #[inline]
    pub(crate) fn new(index: u32, length_bytes: u64, write: bool, position: Position) -> Self {
        DriveAccess {
            arrives: 0,
            position,
            index,
            sectors: length_bytes.div_ceil(SECTOR_BYTES) as u32,
            next: NONE,
            write,
            streams: false,
        }
    }

    /// Orders the accesses of one drive by arrival.
    #[inline]
    pub(crate) fn order(&self) -> u64 {
        self.arrives as u64
    }
}

/// A drive of either kind.
#[derive(Clone, Debug)]
pub(crate) enum Drive {
    /// A rotating disk.
    Rotating(Box<RotatingDrive>),
    /// A solid-state drive.
    Flash(Box<FlashDrive>),
}

impl Drive {
    /// The position of a byte offset, a multiple of 512; only its sector without an arm.
    pub(crate) fn position(&self, offset_bytes: u64) -> Position {
        match self {
            Drive::Rotating(disk) => disk.position(offset_bytes),
            Drive::Flash(_) => Position {
                sector: offset_bytes / SECTOR_BYTES,
                ..Position::default()
            },
        }
    }

    /// Cylinders between the arm and a cylinder; 0 without an arm. `passed` says whether
    /// an event has happened.
    pub(crate) fn distance(&self, cylinder: u32, passed: impl Fn(Key) -> bool) -> u32 {
        match self {
            Drive::Rotating(disk) => disk.distance(cylinder, passed),
            Drive::Flash(_) => 0,
        }
    }

    /// Pending accesses, queued or in service, counted once they arrive; `passed` as for the
    /// distance.
    pub(crate) fn load(&self, passed: impl Fn(Key) -> bool) -> usize {
        match self {
            Drive::Rotating(disk) => disk.load(passed),
            Drive::Flash(flash) => flash.load(passed),
        }
    }

    /// Whether it has no work, and none in transit. Always false for a solid-state drive.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Drive::Rotating(disk) => !disk.is_serving(),
            Drive::Flash(_) => false,
        }
    }

    /// Pages programmed so far, where they are mapped.
    pub(crate) fn mapped(&self) -> MappedPages {
        match self {
            Drive::Rotating(_) => MappedPages::default(),
            Drive::Flash(flash) => flash.mapped_pages(),
        }
    }

    /// Nanoseconds spent serving accesses so far.
    pub(crate) fn busy_ns(&self) -> u64 {
        match self {
            Drive::Rotating(disk) => disk.busy_ns(),
            Drive::Flash(flash) => flash.busy_ns(),
        }
    }
}
