//! Think time: a thread's pause between responses, like that of a user or a program that processes
//! what it read before it asks again.

use crate::pauses::Gap;
use stripewise_workload::ThinkTime;

/// Think time of one thread, over all of its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Think {
    pause_ns: u64,
    every: u32,
    /// Operations issued since the last pause; no more than `every`.
    issued: u32,
    /// Nothing is issued before this time of the engine's clock; 0: no pause yet.
    until_ns: u64,
}

impl Think {
    pub(crate) fn new(requested: ThinkTime) -> Think {
        Think {
            pause_ns: requested.pause_ns,
            every: requested.every.max(1),
            issued: 0,
            until_ns: 0,
        }
    }

    /// The end of the pause in progress at `now_ns`.
    pub(crate) fn pausing(&self, now_ns: u64) -> Option<u64> {
        (now_ns < self.until_ns).then_some(self.until_ns)
    }

    /// Whether the next pause is due, once all operations in flight have completed.
    pub(crate) fn is_due(&self) -> bool {
        self.issued >= self.every
    }

    /// A read or write was issued.
    pub(crate) fn issued(&mut self) {
        self.issued += 1;
    }

    /// Nothing is in flight any more at `at_ns`: a due pause begins.
    pub(crate) fn all_completed(&mut self, at_ns: u64) {
        if self.is_due() {
            self.issued = 0;
            self.until_ns = at_ns.saturating_add(self.pause_ns);
        }
    }

    /// The program itself was paused, which is cut out of the run: think time that had not ended
    /// then ends later by as much.
    pub(crate) fn cut_out(&mut self, gap: Gap) {
        if self.until_ns > gap.from_ns {
            self.until_ns = self.until_ns.saturating_add(gap.length_ns());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_begins_with_the_last_completion_and_goes_on_after_one_of_the_program() {
        let mut think = Think::new(ThinkTime {
            pause_ns: 100,
            every: 2,
        });
        think.issued();
        think.all_completed(10);
        assert_eq!((think.is_due(), think.pausing(10)), (false, None));
        think.issued();
        assert!(think.is_due());
        think.all_completed(50);
        assert_eq!(think.pausing(50), Some(150));
        assert!(!think.is_due());
        let gap = |from_ns, to_ns| Gap { from_ns, to_ns };
        think.cut_out(gap(60, 1_060));
        assert_eq!(think.pausing(1_060), Some(1_150));
        // A pause that had ended before stays ended.
        think.cut_out(gap(1_200, 2_000));
        assert_eq!(think.pausing(1_150), None);
    }
}
