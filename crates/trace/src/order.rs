//! Puts events and operations in the order of time, within a window: CPUs have their own buffers,
//! and operations become known when they complete.

use std::collections::VecDeque;

/// Most items held back, about 200 bytes each.
const HELD_MAX: usize = 1 << 16;

/// Orders items by time; those with equal times stay in the order they came.
///
/// One that comes later than the window allows is returned after those it should have preceded.
///
/// Input is only sorted when its earliest item may be returned: CPU buffers are each in order, and
/// the sort exploits such runs.
#[derive(Debug)]
pub struct InOrder<T> {
    window_ns: u64,
    latest_ns: u64,
    /// Sorted.
    held: VecDeque<(u64, T)>,
    /// Unsorted, and their earliest time.
    new: Vec<(u64, T)>,
    earliest_new_ns: u64,
}

impl<T> InOrder<T> {
    /// Holds each item until one is seen more than `window_ns` after it, at most 65,536 of them.
    pub fn new(window_ns: u64) -> Self {
        InOrder {
            window_ns,
            latest_ns: 0,
            held: VecDeque::new(),
            new: Vec::new(),
            earliest_new_ns: u64::MAX,
        }
    }

    /// Adds an item of time `at_ns` that became known at `seen_ns`.
    pub fn push(&mut self, at_ns: u64, seen_ns: u64, item: T) {
        self.latest_ns = self.latest_ns.max(seen_ns);
        // Too late, so next: a trace with many of them must not sort all others for each.
        let is_due = self.latest_ns.saturating_sub(at_ns) > self.window_ns;
        if is_due && self.first_ns().is_none_or(|first| at_ns < first) {
            self.held.push_front((at_ns, item));
            return;
        }
        self.earliest_new_ns = self.earliest_new_ns.min(at_ns);
        self.new.push((at_ns, item));
    }

    /// The next due item.
    pub fn pop(&mut self) -> Option<T> {
        let is_due = self.latest_ns.saturating_sub(self.first_ns()?) > self.window_ns;
        if is_due || self.held.len() + self.new.len() > HELD_MAX {
            return self.pop_last();
        }
        None
    }

    /// The next item before a moment, if no earlier one can follow.
    pub fn pop_before(&mut self, ns: u64) -> Option<T> {
        (self.first_ns()? < ns).then(|| self.pop_last())?
    }

    /// The next item, once no more come.
    pub fn pop_last(&mut self) -> Option<T> {
        let is_new_first = (self.held.front()).is_none_or(|(at, _)| self.earliest_new_ns < *at);
        if is_new_first {
            self.sort_in();
        }
        self.held.pop_front().map(|(_, item)| item)
    }

    /// The time of the first item.
    fn first_ns(&self) -> Option<u64> {
        let held = self.held.front().map(|(at, _)| *at);
        let new = (!self.new.is_empty()).then_some(self.earliest_new_ns);
        held.into_iter().chain(new).min()
    }

    /// Sorts new items into the held ones: some of them are earlier than those.
    fn sort_in(&mut self) {
        self.new.sort_by_key(|(at, _)| *at);
        let mut held = std::mem::take(&mut self.held);
        for (at, item) in self.new.drain(..) {
            while held.front().is_some_and(|(held, _)| *held <= at) {
                self.held.extend(held.pop_front());
            }
            self.held.push_back((at, item));
        }
        self.held.append(&mut held);
        self.earliest_new_ns = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_the_order_of_time() {
        let mut order = InOrder::new(100);
        let mut seen = Vec::new();
        for at in [50, 10, 40, 30, 200, 120, 190] {
            order.push(at, at, at);
            seen.extend(std::iter::from_fn(|| order.pop()));
        }
        assert_eq!(seen, [10, 30, 40, 50]);
        seen.extend(std::iter::from_fn(|| order.pop_last()));
        assert_eq!(seen, [10, 30, 40, 50, 120, 190, 200]);
    }

    #[test]
    fn a_flood_within_the_window_does_not_fill_memory() {
        let mut order = InOrder::new(u64::MAX);
        for at in 0..HELD_MAX as u64 + 10 {
            order.push(at, at, ());
            order.pop();
        }
        assert_eq!(order.held.len() + order.new.len(), HELD_MAX);
    }

    /// Compared with a plain sort: buffers of several CPUs, each in order, read in rounds.
    #[test]
    fn buffers_read_in_rounds_come_in_the_order_of_time() {
        let mut order = InOrder::new(0);
        let (mut seen, mut all) = (Vec::new(), Vec::new());
        let mut serial = 0;
        for round in 0..40_u64 {
            for processor in 0..5 {
                for k in 0..round % 7 * 10 {
                    // Some at equal times, some that belong to the next round.
                    let at = round * 100 + (k * 3 + processor * (processor % 3)) % 130;
                    serial += 1;
                    order.push(at, at, (at, serial));
                    all.push((at, serial));
                }
            }
            seen.extend(std::iter::from_fn(|| order.pop_before(round * 100)));
        }
        seen.extend(std::iter::from_fn(|| order.pop_last()));
        all.sort_unstable();
        assert_eq!(seen, all);
    }

    /// Two sorted parts in sequence, as in concatenated files: 200,000 late items with 60,000 held
    /// would take minutes if each moved them.
    #[test]
    fn late_items_leave_the_others_where_they_are() {
        let mut order = InOrder::new(1_000_000);
        let mut seen = 0;
        let held = 60_000;
        for at in (0..held).map(|k| 10_000_000 + k).chain(0..200_000) {
            order.push(at, at, at);
            while let Some(at) = order.pop() {
                assert_eq!(at, seen, "late ones come at once, in their order");
                seen += 1;
            }
        }
        assert_eq!(
            (seen, order.held.len() + order.new.len()),
            (200_000, 60_000)
        );
    }
}
