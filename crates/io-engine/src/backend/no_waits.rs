//! Waiting for a processor, on systems that do not count it.

/// How long a thread was runnable without a processor: unknown here.
#[derive(Debug)]
pub enum Waits {}

impl Waits {
    /// For the calling thread: `None`.
    pub fn of_this_thread() -> Option<Waits> {
        None
    }

    /// So far, in nanoseconds.
    pub fn waited_ns(&self) -> Option<u64> {
        match *self {}
    }
}
