//! Caps on operations and bytes per second, with burst credit, as cloud volumes
//! and quality-of-service throttles apply them.
//!
//! A token bucket in its virtual-scheduling form (GCRA, ITU-T I.371): a
//! theoretical arrival time moves on by one operation's share of a second and
//! may run ahead of the clock by the credit. Integers only. With a burst rate
//! above the cap, a volume runs at the burst rate until its credit is spent,
//! then at the cap: the step down in time that a benchmark must notice.

/// What the caps are; 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Operations a second.
    pub iops: u64,
    /// Bytes a second.
    pub bytes_per_s: u64,
    /// Operations that may pass above the cap after a long rest.
    pub burst_operations: u64,
    /// Operations a second while credit lasts; 0: as fast as they come.
    pub burst_iops: u64,
    /// Accesses a second of each drive, as throttled members of a software RAID
    /// have; 0: no cap.
    pub drive_iops: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    arrival_ns: u64,
}

impl Bucket {
    /// When a cost of `share_ns` may pass, not before `now_ns`, with this much
    /// credit (ns of shares).
    pub(crate) fn admit(&mut self, now_ns: u64, share_ns: u64, credit_ns: u64) -> u64 {
        let at_ns = now_ns.max(self.arrival_ns.saturating_sub(credit_ns));
        self.arrival_ns = self.arrival_ns.max(at_ns) + share_ns;
        at_ns
    }
}

/// The state of the caps.
#[derive(Clone, Debug)]
pub(crate) struct Limiter {
    limits: Limits,
    /// There are any.
    limited: bool,
    sustained: Bucket,
    bursting: Bucket,
    bandwidth: Bucket,
    last_ns: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Limiter {
            limits,
            limited: limits.iops > 0 || limits.burst_iops > 0 || limits.bytes_per_s > 0,
            sustained: Bucket::default(),
            bursting: Bucket::default(),
            bandwidth: Bucket::default(),
            last_ns: 0,
        }
    }

    /// When an operation of `bytes` that comes at `now_ns` may pass. Never
    /// earlier than the operation before it: the caps keep the order.
    pub(crate) fn admit(&mut self, now_ns: u64, bytes: u64) -> u64 {
        if !self.limited {
            return now_ns;
        }
        let limits = self.limits;
        let mut at_ns = now_ns;
        if let Some(share_ns) = SECOND_NS.checked_div(limits.iops) {
            let credit_ns = share_ns * limits.burst_operations;
            at_ns = at_ns.max(self.sustained.admit(now_ns, share_ns, credit_ns));
        }
        if let Some(share_ns) = SECOND_NS.checked_div(limits.burst_iops) {
            at_ns = at_ns.max(self.bursting.admit(now_ns, share_ns, 0));
        }
        if limits.bytes_per_s > 0 {
            let share_ns = u128::from(bytes) * u128::from(SECOND_NS);
            let share_ns = (share_ns / u128::from(limits.bytes_per_s)) as u64;
            at_ns = at_ns.max(self.bandwidth.admit(now_ns, share_ns, 0));
        }
        if at_ns > now_ns || self.last_ns > now_ns {
            at_ns = at_ns.max(self.last_ns);
            self.last_ns = at_ns;
        }
        at_ns
    }
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
            at_ns = limiter.admit(at_ns, 8_192);
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
        let last = (0..65).map(|_| limiter.admit(0, 16_384)).max();
        assert_eq!(last, Some(SECOND_NS));
    }

    #[test]
    fn without_caps_operations_pass_at_once() {
        let mut limiter = Limiter::new(Limits::default());
        assert_eq!(limiter.admit(5, 512), 5);
        assert_eq!(limiter.admit(3, 512), 3);
    }
}
