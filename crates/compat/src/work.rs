//! Counts the work of an import, reports progress, and decides whether to continue.
//!
//! Each pass over a text counts its bytes here. The same counter drives progress and interruption,
//! and lets tests verify that work grows linearly with file length.

use std::cell::Cell;
use std::ops::ControlFlow;

/// Progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of text visited so far, counted on each pass.
    pub visited_bytes: u64,
    /// Length of the file. A file is passed over three or four times.
    pub source_bytes: u64,
}

/// Called with the progress about once per MiB; on `Break` the import ends with an error for which
/// [`crate::Error::is_interruption`] is true.
pub type Watch<'a> = &'a dyn Fn(Progress) -> ControlFlow<()>;

/// Bytes between two calls of a [`Watch`].
const EVERY_BYTES: u64 = 1 << 20;

/// Counters of one import.
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

    /// Counts this many bytes as visited; returns whether to continue.
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
