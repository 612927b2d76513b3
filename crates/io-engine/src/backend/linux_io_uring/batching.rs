//! Chooses how many completions a wait should wait for.
//!
//! Waking for each completion costs a context switch each, a third of the CPU time where
//! completions come every few microseconds. Waiting for a fixed number distorts: finished
//! operations wait for others, for as long as a stalled device takes. So waits are widened only a
//! little, and only on devices that have proved fast and steady:
//! - after [`CALM_NS`] in which every window of [`WINDOW_NS_MIN`] had at least [`RATE_MIN`]
//!   completions per second. A device that is slow, throttled or bursty never gets there, and every
//!   wait is for one;
//! - by what the device completes in [`HOLD_NS`] at its current rate;
//! - by a sixteenth of what is in flight: by Little's law, n completions take one mean latency, so
//!   this adds at most a sixteenth of it, half of that on average, and nothing below 16
//!   outstanding. A quarter, and what it completes in [`LARGE_HOLD_NS`], if a [`Trial`] found that
//!   this raises the rate, and so lowers the mean latency; a quarter within [`HOLD_NS`] if it saves
//!   CPU time and leaves both unchanged;
//! - and if the device falters anyway, the kernel ends the wait after [`HOLD_NS_MAX`] if there is
//!   any completion (`min_wait_usec`, Linux 6.12; older kernels always wait for one), nothing is
//!   held back for [`PENALTY_NS`], and a batch is no larger than a sixteenth until the next trial.
//!   What comes in [`HOLD_NS`] of [`PENALTY_NS`] is at most one completion in 2,000, invisible at
//!   99.9 %, and what comes in [`LARGE_HOLD_NS`] of a second between two trials is fewer.
//!
//! A device that completes within the submitting call (memory, as zram), or that is faster than one
//! processor, never lets the thread sleep: the completions waited for are already there, and
//! waiting for more delays nothing. The kernel counts how often a thread slept. If it did not for
//! [`SLEEPLESS_NS`], a quarter of what is in flight is waited for, at most [`LARGE_EXTRA_MAX`] more
//! than one, which halves the calls; a single sleep ends that for [`REST_NS`].
//!
//! That limit is not [`HOLD_NS`] because if a timer is the next to fire, it has to be programmed
//! into the processor for every wait that sleeps, which in virtual machines costs as much as the
//! wake-ups saved. Otherwise the next to fire is the kernel's tick, every 4 ms on Debian. Measured
//! on zram with 128 in flight: with a limit of 1 ms 2.6 us of system time per operation, with 5 or
//! 10 ms 2.2 to 2.4.

use super::ring::Limits;
use super::trial::{Size, Trial, Window};
use crate::backend::sys::ThreadUse;

/// How long a completion is held back if the device maintains its rate.
const HOLD_NS: u64 = 50_000;
/// The same if this raises the rate.
const LARGE_HOLD_NS: u64 = 200_000;
/// The longest time that a completion is held back.
const HOLD_NS_MAX: u64 = HOLD_US_MAX as u64 * 1_000;
const HOLD_US_MAX: u32 = 5_000;
/// In flight for each completion waited for beyond the first.
const IN_FLIGHT_EACH: u32 = 16;
/// The rate is measured over at least this time.
const WINDOW_NS_MIN: u64 = 1_000_000;
/// Completions per second below which nothing is held back.
const RATE_MIN: u64 = 50_000;
/// How long the rate must have been high before anything is held back.
const CALM_NS: u64 = 2_000_000;
/// How long a thread must not have slept before its waits are widened further.
const SLEEPLESS_NS: u64 = 5_000_000;
/// How long its waits are not widened further after a sleep.
const REST_NS: u64 = 20_000_000;
/// In flight for each further completion waited for with large batches.
const LARGE_IN_FLIGHT_EACH: u32 = 4;
/// Beyond 32 in a batch there is no measurable gain.
const LARGE_EXTRA_MAX: u32 = 31;
/// How long nothing is held back after a wait that took too long.
const PENALTY_NS: u64 = 100_000_000;
/// This close to the end of a wait nothing is held back.
const TIMEOUT_NS_MIN: u64 = 1_000_000;
/// With a wait for batches the kernel requires an overall limit; this one is never reached, as the
/// driver checks more often.
const TIMEOUT_NS_MAX: u64 = 3_600_000_000_000;

/// The recent rate of completions.
pub(super) struct Batching {
    possible: bool,
    /// The most that can be in flight.
    slots: u32,
    /// Completions in [`HOLD_NS`], at the rate of the last window; 0 if nothing may be held back.
    extra_max: u32,
    /// The same in [`LARGE_HOLD_NS`].
    large_extra_max: u32,
    /// Number that the last wait was for.
    wanted: u32,
    /// Nothing is held back before this time.
    quiet_until_ns: u64,
    window_start_ns: u64,
    window_count: u64,
    /// All slots were in flight at each wait of this window.
    is_full: bool,
    /// The thread's usage at the end of the last window.
    used: ThreadUse,
    /// If it does not sleep before then, its waits are widened further.
    sleepless_from_ns: u64,
    is_sleepless: bool,
    trial: Trial,
    /// Size requested by the trial.
    size: Size,
}

impl Batching {
    /// `possible` if the kernel can end a wait for several at the first one.
    pub(super) fn new(possible: bool, slots: u32) -> Self {
        Batching {
            possible,
            slots,
            extra_max: 0,
            large_extra_max: 0,
            wanted: 1,
            quiet_until_ns: 0,
            window_start_ns: 0,
            window_count: 0,
            is_full: true,
            used: ThreadUse::default(),
            sleepless_from_ns: u64::MAX,
            is_sleepless: false,
            trial: Trial::default(),
            size: Size::Small,
        }
    }

    /// The longest that a completion is held back.
    pub(super) fn hold_ns_max(&self) -> u64 {
        if self.possible { HOLD_NS_MAX } else { 0 }
    }

    /// Records that `count` completions were reaped at `at_ns`; `used` returns the thread's usage
    /// so far, and is called once per window.
    #[inline]
    pub(super) fn reaped(&mut self, count: u32, at_ns: u64, used: impl FnOnce() -> ThreadUse) {
        self.window_count += u64::from(count);
        if count < self.wanted || at_ns.saturating_sub(self.window_start_ns) >= WINDOW_NS_MIN {
            self.judge(count, at_ns, used());
        }
    }

    /// A window has ended, or a wait ended with fewer than wanted.
    #[cold]
    #[inline(never)]
    fn judge(&mut self, count: u32, at_ns: u64, used: ThreadUse) {
        if used.sleeps != self.used.sleeps {
            let rest_ns = if self.is_sleepless {
                REST_NS
            } else {
                SLEEPLESS_NS
            };
            self.sleepless_from_ns = at_ns.saturating_add(rest_ns);
        }
        let elapsed_ns = at_ns.saturating_sub(self.window_start_ns).max(1);
        let rate = self.window_count.saturating_mul(1_000_000_000) / elapsed_ns;
        let quiet_ns = match (count < self.wanted, rate < RATE_MIN) {
            (true, _) => PENALTY_NS,
            (false, true) => CALM_NS,
            (false, false) => 0,
        };
        self.quiet_until_ns = self.quiet_until_ns.max(at_ns.saturating_add(quiet_ns));
        if count < self.wanted {
            self.trial.falter();
        }
        if self.possible && at_ns >= self.quiet_until_ns {
            self.extra_max = self.completed_in(HOLD_NS, elapsed_ns);
            self.large_extra_max = self.completed_in(LARGE_HOLD_NS, elapsed_ns);
            let cpu_ns = used.cpu_ns.saturating_sub(self.used.cpu_ns);
            let window = Window {
                rate,
                cpu_ns: cpu_ns.saturating_mul(1_000) / self.window_count.max(1),
                is_full: self.is_full,
            };
            // For a thread that does not sleep all windows are alike.
            self.size = match self.is_sleepless {
                true => self.without_trial(),
                false => self.trial.window_is_over(at_ns, window),
            };
        } else {
            self.extra_max = 0;
            self.large_extra_max = 0;
            self.size = self.without_trial();
        }
        self.is_sleepless = self.extra_max > 0 && at_ns >= self.sleepless_from_ns;
        self.wanted = 1;
        self.used = used;
        self.is_full = true;
        self.window_start_ns = at_ns;
        self.window_count = 0;
    }

    fn without_trial(&mut self) -> Size {
        self.trial.interrupt();
        Size::Small
    }

    /// Completions in `hold_ns` at the rate of a window of `elapsed_ns`.
    fn completed_in(&self, hold_ns: u64, elapsed_ns: u64) -> u32 {
        let completions = self.window_count.saturating_mul(hold_ns) / elapsed_ns;
        u32::try_from(completions).unwrap_or(u32::MAX)
    }

    /// How many completions to wait for instead of one, and how long.
    #[inline]
    pub(super) fn widen(&mut self, in_flight: u32, limits: Limits) -> (u32, Limits) {
        self.is_full &= in_flight == self.slots;
        let large = (in_flight / LARGE_IN_FLIGHT_EACH).min(LARGE_EXTRA_MAX);
        let small = (in_flight / IN_FLIGHT_EACH).min(self.extra_max);
        let extra = match (self.is_sleepless, self.size) {
            (true, _) => large,
            (false, Size::Medium) if in_flight >= IN_FLIGHT_EACH => {
                large.min(self.extra_max).max(small)
            }
            (false, Size::Large) if in_flight >= IN_FLIGHT_EACH => {
                large.min(self.large_extra_max).max(small)
            }
            (false, _) => small,
        };
        if extra == 0 || limits.timeout_ns < TIMEOUT_NS_MIN {
            self.wanted = 1;
            return (1, limits);
        }
        self.wanted = 1 + extra;
        // A wait that ends earlier needs no other limit.
        let is_limited = limits.timeout_ns > HOLD_NS_MAX;
        let limits = Limits {
            timeout_ns: limits.timeout_ns.min(TIMEOUT_NS_MAX),
            batch_wait_us: if is_limited { HOLD_US_MAX } else { 0 },
        };
        (self.wanted, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A device with 128 in flight, seen through its batching.
    struct Device {
        batching: Batching,
        now_ns: u64,
        /// The thread's usage, and whether each wait is a sleep.
        used: ThreadUse,
        is_waited_for: bool,
        /// Extra cost of each wait, in time and CPU time.
        switch_ns: u64,
        switch_cpu_ns: u64,
    }

    impl Device {
        fn new(possible: bool) -> Self {
            let batching = Batching::new(possible, 128);
            Device {
                batching,
                now_ns: 5 * MS,
                used: ThreadUse {
                    sleeps: 1,
                    cpu_ns: 0,
                },
                is_waited_for: true,
                switch_ns: 0,
                switch_cpu_ns: 0,
            }
        }

        fn wanted(&mut self) -> u32 {
            self.batching.widen(128, Limits::NONE).0
        }

        /// For `duration_ns`, completions come every `gap_ns`; returns the largest number waited
        /// for.
        fn complete(&mut self, duration_ns: u64, gap_ns: u64) -> u32 {
            let (end_ns, mut most) = (self.now_ns + duration_ns, 0);
            while self.now_ns < end_ns {
                let wanted = self.wanted();
                self.now_ns += gap_ns * u64::from(wanted) + self.switch_ns;
                self.used.sleeps += u64::from(self.is_waited_for);
                self.used.cpu_ns += 500 * u64::from(wanted) + self.switch_cpu_ns;
                let used = self.used;
                self.batching.reaped(wanted, self.now_ns, || used);
                most = most.max(wanted);
            }
            most
        }
    }

    #[test]
    fn only_what_has_been_fast_for_a_while_is_batched() {
        let mut device = Device::new(true);
        assert_eq!(device.complete(MS, 5_000), 1);
        let most = device.complete(60 * MS, 5_000);
        assert_eq!(most, 32, "when more than a sixteenth is tried");
        assert_eq!(device.complete(20 * MS, 5_000), 9, "a sixteenth of 128");
        // 50 us at 66,667 per second are three, and 200 us thirteen; at 49,000 nothing is held
        // back.
        let mut slower = Device::new(true);
        assert_eq!(slower.complete(500 * MS, 15_000), 1 + 13);
        assert_eq!(slower.complete(200 * MS, 15_000), 1 + 3);
        assert_eq!(Device::new(true).complete(500 * MS, 20_400), 1);
        assert_eq!(Device::new(false).complete(500 * MS, 5_000), 1);
        assert_eq!(device.batching.hold_ns_max(), 5 * MS);
        assert_eq!(Batching::new(false, 128).hold_ns_max(), 0);
        assert_eq!(device.batching.widen(15, Limits::NONE).0, 1);
        assert_eq!(device.batching.widen(64, Limits::NONE).0, 5);
        let nearly_over = Limits {
            timeout_ns: MS - 1,
            ..Limits::NONE
        };
        assert_eq!(device.batching.widen(128, nearly_over).0, 1);
    }

    #[test]
    fn a_cap_that_lets_bursts_through_is_never_batched() {
        // 30,000 a second, as bursts of 120 every 4 ms.
        let mut device = Device::new(true);
        for burst in 0..1_000 {
            let start_ns = device.now_ns;
            let most = device.complete(120 * 5_000, 5_000);
            assert_eq!(most, 1, "burst {burst}");
            device.now_ns = start_ns + 4 * MS;
        }
    }

    #[test]
    fn a_device_that_falters_makes_few_long_waits() {
        let mut device = Device::new(true);
        device.complete(200 * MS, 5_000);
        assert_eq!(device.wanted(), 9);
        // Two of nine, and the kernel's limit.
        device.now_ns += HOLD_NS_MAX;
        device.batching.reaped(2, device.now_ns, || device.used);
        assert_eq!(device.complete(98 * MS, 5_000), 1);
        assert!(device.complete(10 * MS, 5_000) >= 9);
    }

    #[test]
    fn the_kernel_ends_a_wait_that_would_else_last_longer() {
        let mut device = Device::new(true);
        device.complete(200 * MS, 5_000);
        for (timeout_ns, batch_wait_us) in [(50 * MS, 5_000), (5 * MS, 0), (MS, 0)] {
            let limits = Limits {
                timeout_ns,
                ..Limits::NONE
            };
            let limits = device.batching.widen(128, limits).1;
            assert_eq!(limits.timeout_ns, timeout_ns);
            assert_eq!(limits.batch_wait_us, batch_wait_us);
        }
    }

    #[test]
    fn larger_batches_that_are_faster_are_taken() {
        let mut device = Device::new(true);
        device.switch_ns = 5_000;
        device.complete(100 * MS, 1_000);
        assert_eq!(device.complete(500 * MS, 1_000), 32);
        assert_eq!(device.batching.widen(15, Limits::NONE).0, 1);
        // Not if nothing is saved.
        device.switch_ns = 0;
        device.complete(1_200 * MS, 1_000);
        assert_eq!(device.complete(200 * MS, 1_000), 9);
        // If a switch costs only CPU time, of which there is some to spare: 50 us.
        device.switch_cpu_ns = 5_000;
        device.complete(3_200 * MS, 1_000);
        assert_eq!(device.complete(200 * MS, 1_000), 32);
        device.complete(1_200 * MS, 2_500);
        assert_eq!(device.complete(200 * MS, 2_500), 21);
        // If not all slots are in flight, nothing is held back for that.
        device.batching.slots = 129;
        device.complete(1_200 * MS, 1_000);
        assert_eq!(device.complete(200 * MS, 1_000), 9);
    }

    #[test]
    fn a_thread_that_never_sleeps_takes_larger_batches_until_it_does() {
        let mut device = Device::new(true);
        device.is_waited_for = false;
        device.complete(4 * MS, 5_000);
        assert!(!device.batching.is_sleepless);
        assert_eq!(device.complete(60 * MS, 5_000), 32);
        for (in_flight, wanted) in [(1, 1), (3, 1), (4, 2), (64, 17), (4_096, 32)] {
            let widened = device.batching.widen(in_flight, Limits::NONE).0;
            assert_eq!(widened, wanted, "{in_flight}");
        }
        // One sleep, seen at the end of its window.
        device.used.sleeps += 1;
        device.complete(19 * MS, 5_000);
        assert!(!device.batching.is_sleepless);
        device.complete(10 * MS, 5_000);
        assert!(device.batching.is_sleepless);
        assert_eq!(
            device.batching.size,
            Size::Small,
            "no trial of windows alike"
        );
        // Nothing is held back on a device below the rate, asleep or not.
        let mut slow = Device::new(true);
        slow.is_waited_for = false;
        assert_eq!(slow.complete(500 * MS, 20_400), 1);
        let mut old_kernel = Device::new(false);
        old_kernel.is_waited_for = false;
        assert_eq!(old_kernel.complete(100 * MS, 5_000), 1);
    }
}
