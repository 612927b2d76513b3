//! How many completions a wait for one should wait for.
//!
//! Waking for each completion costs a context switch each, a quarter of the
//! throughput where completions come every few microseconds. Waiting for a fixed
//! number distorts: finished operations lie about until others finish, which
//! may take as long as a stalled device likes. So the wait is widened only a
//! little:
//! - by what the device completes in [`HOLD_NS`] at its present rate, so not at
//!   all below 20,000 completions a second;
//! - by a sixteenth of what is in flight: by Little's law, n completions take
//!   one mean latency, so this adds at most a sixteenth of it, and half of that
//!   on average; below 16 outstanding nothing;
//! - and if the device stops all of a sudden, the kernel ends the wait after
//!   [`HOLD_NS_MAX`] if there is any completion (`min_wait_usec`, Linux 6.12).
//!   Older kernels wait for one.
//!
//! That last limit is not [`HOLD_NS`] because a timer that is the next to fire
//! has to be programmed into the processor for every wait, which in virtual
//! machines costs more than the wake-ups that are saved (measured: 6.5 against
//! 3.8 us of processor time an operation); one behind the next tick costs little.

use super::ring::Limits;

/// How long a completion is held back if the device goes on as before.
const HOLD_NS: u64 = 50_000;
/// The longest that a completion is held back.
const HOLD_NS_MAX: u64 = 5_000_000;
/// In flight for each completion waited for beyond the first.
const IN_FLIGHT_EACH: u32 = 16;
/// The rate is measured over at least this time.
const WINDOW_NS_MIN: u64 = 1_000_000;
/// Just before the end of a wait nothing is held back.
const TIMEOUT_NS_MIN: u64 = HOLD_NS_MAX;
/// With a wait for batches the kernel wants a limit in all; this one is never
/// reached, as the driver looks around more often.
const TIMEOUT_NS_MAX: u64 = 3_600_000_000_000;

/// The recent rate of completions.
pub(super) struct Batching {
    possible: bool,
    /// Completions in [`HOLD_NS`], at the rate of the last window.
    extra_max: u32,
    window_start_ns: u64,
    window_count: u64,
}

impl Batching {
    /// `possible` if the kernel can end a wait for several at the first one.
    pub(super) fn new(possible: bool) -> Self {
        Batching {
            possible,
            extra_max: 0,
            window_start_ns: 0,
            window_count: 0,
        }
    }

    /// The longest that a completion is held back.
    pub(super) fn hold_ns_max(&self) -> u64 {
        if self.possible { HOLD_NS_MAX } else { 0 }
    }

    /// Learns that `count` completions were reaped at `at_ns`.
    #[inline]
    pub(super) fn reaped(&mut self, count: u32, at_ns: u64) {
        self.window_count += u64::from(count);
        let elapsed_ns = at_ns.saturating_sub(self.window_start_ns);
        if elapsed_ns >= WINDOW_NS_MIN {
            let extra = self.window_count * HOLD_NS / elapsed_ns;
            self.extra_max = if self.possible { extra as u32 } else { 0 };
            self.window_start_ns = at_ns;
            self.window_count = 0;
        }
    }

    /// How many completions to wait for instead of one, and how long.
    #[inline]
    pub(super) fn widen(&self, in_flight: u32, limits: Limits) -> (u32, Limits) {
        let extra = (in_flight / IN_FLIGHT_EACH).min(self.extra_max);
        if extra == 0 || limits.timeout_ns < TIMEOUT_NS_MIN {
            return (1, limits);
        }
        let limits = Limits {
            timeout_ns: limits.timeout_ns.min(TIMEOUT_NS_MAX),
            batch_wait_us: (HOLD_NS_MAX / 1_000) as u32,
        };
        (1 + extra, limits)
    }
}
