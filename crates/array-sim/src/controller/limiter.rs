//! Caps on operations and bytes per second, with burst credit, as cloud volumes
//! and quality-of-service throttles apply them.
//!
//! A token bucket in its virtual-scheduling form (GCRA, ITU-T I.371): a theoretical arrival time
//! advances by one operation's share of a second and may run ahead of the clock by the credit.
//! Integers only. With a burst rate above the cap, a volume runs at the burst rate until its credit
//! is spent, then at the cap: a drop over time that a benchmark must detect.

/// The caps; 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Operations per second.
    pub iops: u64,
    /// Bytes per second.
    pub bytes_per_s: u64,
    /// Operations that may exceed the cap after a long idle time.
    pub burst_operations: u64,
    /// Operations per second while credit lasts; 0: unlimited.
    pub burst_iops: u64,
    /// Bytes that may exceed the byte cap after a long idle time.
    pub burst_bytes: u64,
    /// Bytes per second while that credit lasts; 0: unlimited.
    pub burst_bytes_per_s: u64,
    /// An operation counts once for each unit of this size that it starts, as on volumes that count
    /// in units of 256 KiB; 0: once.
    pub unit_bytes: u64,
    /// Smaller operations count as this many bytes.
    pub bytes_min: u64,
    /// Reads and writes each have their own caps.
    pub separate: bool,
    /// Accesses per second of each drive, as for throttled members of a software RAID; 0: no cap.
    pub drive_iops: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    arrival_ns: u64,
}

impl Bucket {
    /// When a cost of `share_ns` may pass, no earlier than `now_ns`, with this much credit (ns of
    /// shares).
    pub(crate) fn admit(&mut self, now_ns: u64, share_ns: u64, credit_ns: u64) -> u64 {
        let at_ns = now_ns.max(self.arrival_ns.saturating_sub(credit_ns));
        self.arrival_ns = self.arrival_ns.max(at_ns) + share_ns;
        at_ns
    }
}

/// The caps of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Limiter {
    limits: Limits,
    /// Any cap is set.
    limited: bool,
    /// State for reads, or for everything; then for writes where they have their own caps.
    states: [State; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    sustained: Bucket,
    bursting: Bucket,
    bandwidth: Bucket,
    bandwidth_bursting: Bucket,
    last_ns: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Limiter {
            limits,
            limited: limits.iops > 0
                || limits.burst_iops > 0
                || limits.bytes_per_s > 0
                || limits.burst_bytes_per_s > 0,
            states: [State::default(); 2],
        }
    }

    /// When an operation of `bytes` that arrives at `now_ns` may pass. Never earlier than the
    /// previous one: the caps keep the order.
    pub(crate) fn admit(&mut self, now_ns: u64, bytes: u64, writes: bool) -> u64 {
        if !self.limited {
            return now_ns;
        }
        let limits = self.limits;
        let state = &mut self.states[usize::from(limits.separate && writes)];
        let count = match limits.unit_bytes {
            0 => 1,
            unit => bytes.div_ceil(unit).max(1),
        };
        let bytes = bytes.max(limits.bytes_min);
        let mut at_ns = now_ns;
        if let Some(share_ns) = SECOND_NS.checked_div(limits.iops) {
            let credit_ns = share_ns * limits.burst_operations;
            let share_ns = share_ns * count;
            at_ns = at_ns.max(state.sustained.admit(now_ns, share_ns, credit_ns));
        }
        if let Some(share_ns) = SECOND_NS.checked_div(limits.burst_iops) {
            at_ns = at_ns.max(state.bursting.admit(now_ns, share_ns * count, 0));
        }
        if limits.bytes_per_s > 0 {
            let share_ns = time_of(bytes, limits.bytes_per_s);
            let credit_ns = time_of(limits.burst_bytes, limits.bytes_per_s);
            at_ns = at_ns.max(state.bandwidth.admit(now_ns, share_ns, credit_ns));
        }
        if limits.burst_bytes_per_s > 0 {
            let share_ns = time_of(bytes, limits.burst_bytes_per_s);
            at_ns = at_ns.max(state.bandwidth_bursting.admit(now_ns, share_ns, 0));
        }
        if at_ns > now_ns || state.last_ns > now_ns {
            at_ns = at_ns.max(state.last_ns);
            state.last_ns = at_ns;
        }
        at_ns
    }
}

/// Transfer time of bytes at a rate.
fn time_of(bytes: u64, bytes_per_s: u64) -> u64 {
    (u128::from(bytes) * u128::from(SECOND_NS) / u128::from(bytes_per_s)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_spent_at_the_burst_rate_and_then_the_cap_holds() {
        let mut limiter = Limiter::new(Limits {
            iops: 100,
            burst_operations: 1_000,
            burst_iops: 1_000,
            ..Limits::default()
        });
        // A host that always has the next operation ready.
        let mut at_ns = 0;
        let mut per_second = [0u32; 6];
        while at_ns < 6 * SECOND_NS {
            at_ns = limiter.admit(at_ns, 8_192, false);
            if let Some(count) = per_second.get_mut((at_ns / SECOND_NS) as usize) {
                *count += 1;
            }
        }
        // Credit refills at the cap meanwhile: 1,000 at 900 a second net.
        assert_eq!(per_second[0], 1_000);
        assert!((150..=250).contains(&per_second[1]), "{per_second:?}");
        assert!(
            per_second[2..].iter().all(|&n| (99..=101).contains(&n)),
            "{per_second:?}"
        );
    }

    #[test]
    fn a_bandwidth_cap_counts_bytes() {
        let mut limiter = Limiter::new(Limits {
            bytes_per_s: 1 << 20,
            ..Limits::default()
        });
        let last = (0..65).map(|_| limiter.admit(0, 16_384, true)).max();
        assert_eq!(last, Some(SECOND_NS));
    }

    #[test]
    fn without_caps_operations_pass_at_once() {
        let mut limiter = Limiter::new(Limits::default());
        assert_eq!(limiter.admit(5, 512, false), 5);
        assert_eq!(limiter.admit(3, 512, true), 3);
    }

    #[test]
    fn a_credit_of_bytes_is_spent_at_its_own_rate_and_small_operations_cost_as_much() {
        let mut limiter = Limiter::new(Limits {
            bytes_per_s: 1 << 20,
            burst_bytes: 9 << 20,
            burst_bytes_per_s: 10 << 20,
            bytes_min: 1 << 20,
            ..Limits::default()
        });
        let mut at_ns = 0;
        let mut per_second = [0u32; 4];
        while at_ns < 4 * SECOND_NS {
            at_ns = limiter.admit(at_ns, 4_096, false);
            if let Some(count) = per_second.get_mut((at_ns / SECOND_NS) as usize) {
                *count += 1;
            }
        }
        assert_eq!(per_second[0], 10);
        assert_eq!(per_second[2..], [1, 1]);
    }

    #[test]
    fn large_operations_count_several_times_and_writes_may_have_their_own_cap() {
        let limits = Limits {
            iops: 1_000,
            unit_bytes: 256 << 10,
            separate: true,
            ..Limits::default()
        };
        let last = |sizes: &[(u64, bool)]| {
            let mut limiter = Limiter::new(limits);
            let times = sizes
                .iter()
                .map(|&(bytes, writes)| limiter.admit(0, bytes, writes));
            times.max()
        };
        const MS: u64 = 1_000_000;
        assert_eq!(last(&[(1 << 20, false), (4_096, false)]), Some(4 * MS));
        assert_eq!(last(&[(4_096, false), (4_096, true)]), Some(0));
        assert_eq!(last(&[(4_096, false), (4_096, false)]), Some(MS));
    }
}
