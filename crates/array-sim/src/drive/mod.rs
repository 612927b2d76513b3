//! One drive of an array: a rotating disk or a solid-state drive.
//!
//! The two differ in who keeps time. A rotating disk serves one access at a
//! time and reports when it is done (`DriveDone`); a solid-state drive works on
//! many at once and knows each access's end when it arrives (`AccessDone`).

pub(crate) mod flash;
pub(crate) mod read_ahead;
pub(crate) mod rotating;

use crate::geometry::Position;
use flash::FlashDrive;
use rotating::RotatingDrive;

/// One access to one drive, as the layout planned it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriveAccess {
    /// The array's index of this access.
    pub index: u32,
    /// Byte offset on the drive, a multiple of 512.
    pub offset_bytes: u64,
    /// Bytes, a multiple of 512.
    pub length_bytes: u32,
    /// A write; otherwise a read.
    pub write: bool,
    /// Where the offset lies on the drive.
    pub position: Position,
}

/// What an arrival leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It waits in the drive's queue.
    Queued,
    /// The drive was idle and has started it: it will be done at this time.
    Started(u64),
    /// Done at this time whatever else arrives.
    DoneAt(u64),
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
    /// An access arrives; `stretch` is the drift factor on service times.
    pub(crate) fn arrive(&mut self, now_ns: u64, access: DriveAccess, stretch: f64) -> Arrival {
        match self {
            Drive::Rotating(disk) => disk.arrive(now_ns, access, stretch),
            Drive::Flash(flash) => Arrival::DoneAt(flash.arrive(now_ns, access, stretch)),
        }
    }

    /// A rotating disk is done: the access it served, and when the next will be.
    pub(crate) fn done(&mut self, now_ns: u64, stretch: f64) -> (u32, Option<u64>) {
        match self {
            Drive::Rotating(disk) => disk.done(now_ns, stretch),
            Drive::Flash(_) => unreachable!("flash drives report each access by itself"),
        }
    }

    /// A flash access has ended.
    pub(crate) fn access_done(&mut self) {
        if let Drive::Flash(flash) = self {
            flash.access_done();
        }
    }

    /// Accesses waiting or in service.
    pub(crate) fn load(&self) -> usize {
        match self {
            Drive::Rotating(disk) => disk.load(),
            Drive::Flash(flash) => flash.load(),
        }
    }

    /// Where a byte offset lies; all the same without an arm.
    pub(crate) fn position(&self, offset_bytes: u64) -> Position {
        match self {
            Drive::Rotating(disk) => disk.position(offset_bytes),
            Drive::Flash(_) => Position::default(),
        }
    }

    /// Cylinders between the arm and a cylinder; 0 without an arm.
    pub(crate) fn distance(&self, cylinder: u32) -> u32 {
        match self {
            Drive::Rotating(disk) => disk.distance(cylinder),
            Drive::Flash(_) => 0,
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
