//! The port between the virtual driver and a simulated array.

use crate::Kind;

/// One operation as the host issues it to the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Chosen by the caller; returned in [`Finished`].
    pub token: u64,
    /// What to do.
    pub kind: Kind,
    /// The write must be on stable media when it completes (`O_DSYNC`).
    pub durable: bool,
    /// Byte offset on the volume (the array adds the partition's offset).
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u32,
}

/// The completion of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The token of the request.
    pub token: u64,
    /// Bytes transferred, or a negative error number (Linux numbering: 5 is EIO).
    pub result: i32,
    /// Virtual nanoseconds.
    pub at_ns: u64,
}

/// A simulated array: requests in, completions out, in order of time.
pub trait Simulate {
    /// Size of the volume.
    fn size_bytes(&self) -> u64;
    /// Logical sector of the volume.
    fn sector_bytes(&self) -> u32;
    /// A request arrives at `now_ns`, which must not decrease.
    fn submit(&mut self, now_ns: u64, request: Request);
    /// Time of the next internal event; `None` when idle.
    fn next_event_ns(&self) -> Option<u64>;
    /// Processes internal events up to and including `until_ns` or the first completion, which
    /// waits for [`Simulate::advance`]; then like [`Simulate::next_event_ns`]. Nothing may be
    /// submitted for an earlier time than the events processed.
    fn settle(&mut self, until_ns: u64) -> Option<u64> {
        let _ = until_ns;
        self.next_event_ns()
    }
    /// Processes all events up to and including `until_ns`; delivers completions in order of time,
    /// ties in order of submission.
    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished));
}
