//! How many completions a wait for one should wait for.
//!
//! Waking for each completion costs a context switch each, a quarter of the
//! throughput where completions come every few microseconds. Waiting for a fixed
//! number distorts: finished operations lie about until others finish, which
//! may take as long as a stalled device likes. So the wait is widened only as
//! far as it cannot be seen in the numbers:
//! - by what the device completes in [`HOLD_NS_MAX`], so not at all below
//!   50,000 completions a second;
//! - by a 32nd of what is in flight: by Little's law, n completions take one
//!   mean latency, so this adds at most a 32nd of it, and half of that on
//!   average; below 32 outstanding nothing;
//! - and the kernel ends it after [`HOLD_NS_MAX`] if there is any completion
//!   (`min_wait_usec`, Linux 6.12). Older kernels wait for one.

use super::ring::Limits;

/// The longest that a completion is held back.
const HOLD_NS_MAX: u64 = 20_000;
/// In flight for each completion waited for beyond the first.
const IN_FLIGHT_EACH: u32 = 32;
/// An interval between completions beyond this says "idle", not "slow".
const GAP_NS_MAX: u64 = 1_000_000;
/// With a wait for batches the kernel wants a limit in all; this one is never
/// reached, as the driver looks around more often.
const TIMEOUT_NS_MAX: u64 = 3_600_000_000_000;

/// The recent rate of completions.
pub(super) struct Batching {
    possible: bool,
    /// Moving mean of the time between completions, over about 8 batches.
    gap_ns: u64,
    reaped_ns: u64,
}

impl Batching {
    /// `possible` if the kernel can end a wait for several at the first one.
    pub(super) fn new(possible: bool) -> Self {
        Batching {
            possible,
            gap_ns: GAP_NS_MAX,
            reaped_ns: 0,
        }
    }

    /// The longest that a completion is held back.
    pub(super) fn hold_ns_max(&self) -> u64 {
        if self.possible { HOLD_NS_MAX } else { 0 }
    }

    /// Learns that `count` completions were reaped at `at_ns`.
    #[inline]
    pub(super) fn reaped(&mut self, count: u32, at_ns: u64) {
        let elapsed_ns = at_ns.saturating_sub(self.reaped_ns);
        self.reaped_ns = at_ns;
        let gap_ns = (elapsed_ns / u64::from(count)).min(GAP_NS_MAX);
        self.gap_ns = (self.gap_ns * 7 + gap_ns) / 8;
    }

    /// How many completions to wait for instead of one, and how long.
    #[inline]
    pub(super) fn widen(&self, in_flight: u32, limits: Limits) -> (u32, Limits) {
        let by_depth = u64::from(in_flight / IN_FLIGHT_EACH);
        let hold_ns = limits.timeout_ns.min(HOLD_NS_MAX);
        let extra = by_depth.min(hold_ns / self.gap_ns.max(1));
        let batch_wait_us = (hold_ns / 1_000) as u32;
        if !self.possible || extra == 0 || batch_wait_us == 0 {
            return (1, limits);
        }
        let limits = Limits {
            timeout_ns: limits.timeout_ns.min(TIMEOUT_NS_MAX),
            batch_wait_us,
        };
        (1 + extra as u32, limits)
    }
}
