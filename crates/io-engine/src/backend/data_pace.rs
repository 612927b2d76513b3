//! Decides when to submit part of a batch because the rest is not ready.
//!
//! Making the data of a write takes time, 75 us for a MiB, and ready operations of the same batch
//! would wait for it: their latency would include the program's work, and the device would see
//! fewer outstanding. So before making data an engine asks whether ready operations would wait too
//! long, and if so submits them first. Small blocks are still batched.

/// Longest time that a ready operation waits for the data of others, estimated from the last write.
const WAIT_NS_MAX: u64 = 4_000;

/// Cost of making write data.
#[derive(Default)]
pub(super) struct DataPace {
    /// Since when the oldest unsubmitted operation has been ready.
    oldest_ns: u64,
    /// Time taken for the data of the last write.
    data_ns: u64,
}

impl DataPace {
    /// A batch begins at `now_ns`.
    #[inline]
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.oldest_ns = now_ns;
    }

    /// Whether ready operations should not wait for data that is made next.
    pub(super) fn exceeds_time_limit(&self, now_ns: u64) -> bool {
        let ready_ns = now_ns.saturating_add(self.data_ns);
        ready_ns.saturating_sub(self.oldest_ns) > WAIT_NS_MAX
    }

    /// Data was made from `start_ns` to `ready_ns`; `first`: nothing else is waiting to be
    /// submitted.
    pub(super) fn made(&mut self, start_ns: u64, ready_ns: u64, first: bool) {
        self.data_ns = ready_ns.saturating_sub(start_ns);
        if first {
            self.oldest_ns = ready_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DataPace;

    #[test]
    fn nobody_waits_long_for_the_data_of_others() {
        // Cost of a write's data, and how many are batched.
        for (data_ns, together) in [(100, 41), (500, 9), (2_000, 3), (4_300, 1), (75_000, 1)] {
            let mut pace = DataPace::default();
            let (mut now_ns, mut waiting) = (1_000_000, 0);
            let mut oldest_ns = now_ns;
            pace.begin(now_ns);
            let mut batches = Vec::new();
            for write in 0..1_000 {
                if waiting > 0 && pace.exceeds_time_limit(now_ns) {
                    batches.push(waiting);
                    waiting = 0;
                    assert!(now_ns - oldest_ns <= 4_000, "{data_ns} ns, write {write}");
                }
                let start_ns = now_ns;
                now_ns += data_ns;
                pace.made(start_ns, now_ns, waiting == 0);
                if waiting == 0 {
                    oldest_ns = now_ns;
                }
                waiting += 1;
            }
            assert!(
                batches.iter().all(|&batch| batch == together),
                "{batches:?}"
            );
        }
    }
}
