//! When part of a batch is submitted because the rest is not ready.
//!
//! Making the data of a write takes time, 75 us for a MiB, and operations of
//! the same batch that are ready would wait for it: their latency would hold
//! the program's work, and the device would see fewer outstanding. So an engine
//! asks, before it makes data, whether what is ready waits too long for it, and
//! if so submits that first. Small blocks still travel together.

/// The longest that a ready operation waits for the data of others, as far as
/// the last write foretells it.
const WAIT_NS_MAX: u64 = 4_000;

/// What the data of writes costs.
#[derive(Default)]
pub(super) struct DataPace {
    /// The oldest operation that is not submitted has been ready since then.
    oldest_ns: u64,
    /// What the data of the last write took.
    data_ns: u64,
}

impl DataPace {
    /// A batch begins at `now_ns`.
    #[inline]
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.oldest_ns = now_ns;
    }

    /// Whether what is ready should not wait for data whose making starts now.
    pub(super) fn is_too_slow(&self, now_ns: u64) -> bool {
        let ready_ns = now_ns.saturating_add(self.data_ns);
        ready_ns.saturating_sub(self.oldest_ns) > WAIT_NS_MAX
    }

    /// Data was made from `start_ns` to `ready_ns`; `first`: nothing else waits
    /// for being submitted.
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
        // What the data of a write costs, and how many go together.
        for (data_ns, together) in [(100, 41), (500, 9), (2_000, 3), (4_300, 1), (75_000, 1)] {
            let mut pace = DataPace::default();
            let (mut now_ns, mut waiting) = (1_000_000, 0);
            let mut oldest_ns = now_ns;
            pace.begin(now_ns);
            let mut batches = Vec::new();
            for write in 0..1_000 {
                if waiting > 0 && pace.is_too_slow(now_ns) {
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
