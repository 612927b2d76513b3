//! C-LOOK: serve in ascending order of address; at the highest, jump back to the
//! lowest. Used for a drive's backlog and for destaging a write-back cache.
//!
//! Two heaps: items ahead of the arm in this sweep, and items for the next. Insertion and removal
//! cost O(log n) and, once the heaps have grown to their working size, allocate nothing. Ties leave
//! in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

type Entry = Reverse<(u64, u64, u32)>;

/// Items (an arena index each) ordered by address, C-LOOK style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elevator {
    ahead: BinaryHeap<Entry>,
    next_sweep: BinaryHeap<Entry>,
    position: u64,
    arrivals: u64,
}

impl Elevator {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Elevator {
            ahead: BinaryHeap::with_capacity(capacity),
            next_sweep: BinaryHeap::with_capacity(capacity),
            position: 0,
            arrivals: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ahead.len() + self.next_sweep.len()
    }

    pub(crate) fn push(&mut self, address: u64, item: u32) {
        self.arrivals += 1;
        let entry = Reverse((address, self.arrivals, item));
        if address >= self.position {
            self.ahead.push(entry);
        } else {
            self.next_sweep.push(entry);
        }
    }

    /// Removes the next item of the sweep and returns it with its address.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        if self.len() == 0 {
            return None;
        }
        self.pop_some()
    }

    fn pop_some(&mut self) -> Option<(u64, u32)> {
        self.turn_if_swept();
        let Reverse((address, _, item)) = self.ahead.pop()?;
        self.position = address;
        Some((address, item))
    }

    /// What `pop` would return.
    pub(crate) fn peek(&mut self) -> Option<(u64, u32)> {
        self.turn_if_swept();
        self.ahead
            .peek()
            .map(|&Reverse((address, _, item))| (address, item))
    }

    fn turn_if_swept(&mut self) {
        if self.ahead.is_empty() && !self.next_sweep.is_empty() {
            std::mem::swap(&mut self.ahead, &mut self.next_sweep);
            self.position = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(elevator: &mut Elevator) -> Vec<u64> {
        std::iter::from_fn(|| elevator.pop().map(|(address, _)| address)).collect()
    }

    #[test]
    fn addresses_leave_in_ascending_order_and_the_lowest_follows_the_highest() {
        let mut elevator = Elevator::with_capacity(8);
        for address in [50, 10, 90] {
            elevator.push(address, 0);
        }
        assert_eq!(elevator.pop(), Some((10, 0)));
        assert_eq!(elevator.pop(), Some((50, 0)));
        // 20 is behind the arm: it waits for the next sweep; 60 is ahead.
        elevator.push(20, 1);
        elevator.push(60, 2);
        assert_eq!(elevator.len(), 3);
        assert_eq!(elevator.peek(), Some((60, 2)));
        assert_eq!(drain(&mut elevator), [60, 90, 20]);
        assert_eq!(elevator.pop(), None);
    }

    #[test]
    fn equal_addresses_leave_in_order_of_arrival() {
        let mut elevator = Elevator::with_capacity(8);
        for item in 0..5 {
            elevator.push(7, item);
        }
        for item in 0..5 {
            assert_eq!(elevator.pop(), Some((7, item)));
        }
    }
}
