//! Events and operations in the order of time, within a window: processors have buffers
//! of their own, and operations become known when they complete.

use std::collections::BTreeMap;

/// Items held back at most, about 200 bytes each.
const HELD_MAX: usize = 1 << 16;

/// Puts items into the order of their time.
///
/// One that comes later than the window allows is handed out behind those it should have
/// preceded.
#[derive(Debug)]
pub struct InOrder<T> {
    window_ns: u64,
    latest_ns: u64,
    serial: u64,
    held: BTreeMap<(u64, u64), T>,
}

impl<T> InOrder<T> {
    /// Holds each item until one is seen more than `window_ns` after it, and at most 65,536
    /// of them.
    #[must_use]
    pub fn new(window_ns: u64) -> Self {
        InOrder {
            window_ns,
            latest_ns: 0,
            serial: 0,
            held: BTreeMap::new(),
        }
    }

    /// Takes an item of time `at_ns` that became known at `seen_ns`.
    pub fn push(&mut self, at_ns: u64, seen_ns: u64, item: T) {
        self.latest_ns = self.latest_ns.max(seen_ns);
        self.serial += 1;
        self.held.insert((at_ns, self.serial), item);
    }

    /// The next item that is due.
    pub fn pop(&mut self) -> Option<T> {
        let (&(at_ns, _), _) = self.held.first_key_value()?;
        let is_due = self.latest_ns.saturating_sub(at_ns) > self.window_ns;
        if is_due || self.held.len() > HELD_MAX {
            return self.pop_last();
        }
        None
    }

    /// The next item, when no more come.
    pub fn pop_last(&mut self) -> Option<T> {
        self.held.pop_first().map(|(_, item)| item)
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
        assert_eq!(order.held.len(), HELD_MAX);
    }
}
