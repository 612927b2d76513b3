//! How much a reading has looked at, who hears of it, and whether it is to go on.
//!
//! Each pass over a text counts its bytes here, whatever it looks for. So the same
//! number shows progress, lets an interruption be heard, and shows in tests that work
//! grows with the length of a file and no faster.

use std::cell::Cell;
use std::ops::ControlFlow;

/// How far a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of text that were looked at so far, each as often as it was.
    pub visited_bytes: u64,
    /// Length of the file. A file is looked at three or four times.
    pub source_bytes: u64,
}

/// Hears how far a reading is, after about each MiB; where it breaks, the reading ends
/// with an error of which [`crate::Error::is_interruption`] is true.
pub type Watch<'a> = &'a dyn Fn(Progress) -> ControlFlow<()>;

/// Bytes between two calls of a [`Watch`].
const EVERY_BYTES: u64 = 1 << 20;

/// What is counted of one reading.
pub(crate) struct Work<'a> {
    source_bytes: u64,
    visited_bytes: Cell<u64>,
    next_bytes: Cell<u64>,
    stopped: Cell<bool>,
    watch: Watch<'a>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(source_bytes: usize, watch: Watch<'a>) -> Self {
        Work {
            source_bytes: source_bytes as u64,
            visited_bytes: Cell::new(0),
            next_bytes: Cell::new(EVERY_BYTES),
            stopped: Cell::new(false),
            watch,
        }
    }

    /// So many bytes are looked at; whether the reading goes on.
    pub(crate) fn visit(&self, bytes: usize) -> bool {
        let visited_bytes = self.visited_bytes.get() + bytes as u64;
        self.visited_bytes.set(visited_bytes);
        if visited_bytes >= self.next_bytes.get() && !self.stopped.get() {
            self.next_bytes.set(visited_bytes + EVERY_BYTES);
            let progress = Progress {
                visited_bytes,
                source_bytes: self.source_bytes,
            };
            self.stopped.set((self.watch)(progress).is_break());
        }
        !self.stopped.get()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    #[cfg(test)]
    pub(crate) fn visited_bytes(&self) -> u64 {
        self.visited_bytes.get()
    }
}
