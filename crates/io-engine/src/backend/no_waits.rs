//! Waiting for a processor, where the system does not count it.

/// How long a thread was ready to run and had no processor: not known here.
#[derive(Debug)]
pub enum Waits {}

impl Waits {
    /// Of the calling thread: `None`.
    #[must_use]
    pub fn of_this_thread() -> Option<Waits> {
        None
    }

    /// So far, in nanoseconds.
    #[must_use]
    pub fn waited_ns(&self) -> Option<u64> {
        match *self {}
    }
}
