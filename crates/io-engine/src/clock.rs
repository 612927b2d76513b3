//! The clock shared by all workers of a run.

use crate::backend::sys;

/// Monotonic nanoseconds since an origin chosen once a run.
///
/// The clock of `std::time::Instant`; on Linux it is read without its conversions, as every batch
/// of completions needs a reading.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A clock that shows 0 now.
    pub fn start() -> Self {
        Clock {
            origin_ns: sys::monotonic_ns(),
        }
    }

    /// Nanoseconds since the origin.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        sys::monotonic_ns().wrapping_sub(self.origin_ns)
    }
}
