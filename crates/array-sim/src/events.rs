//! The event queue: a binary heap on (nanoseconds, class, sequence).
//!
//! Sequence numbers make the order total, so a run does not depend on how the
//! heap breaks ties. Completions to the host carry the operation's submission
//! number in a class of their own, above all internal events of the same
//! nanosecond: simultaneous completions leave in order of submission.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens; the numbers are arena indices, or drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// An operation has waited out the cap and reaches the controller.
    Admit(u32),
    /// An access reaches its drive.
    Arrive(u32),
    /// A rotating drive finishes the access it works on.
    DriveDone(u32),
    /// A solid-state drive finishes an access.
    AccessDone(u32),
    /// The host sees an operation complete.
    Complete(u32),
}

const COMPLETION_CLASS: u64 = 1 << 63;

/// All that is going to happen.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        EventQueue {
            heap: BinaryHeap::with_capacity(capacity),
            sequence: 0,
        }
    }

    /// An internal event.
    pub(crate) fn push(&mut self, at_ns: u64, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse((at_ns, self.sequence, event)));
    }

    /// The completion of the `submission`-th operation.
    pub(crate) fn push_completion(&mut self, at_ns: u64, submission: u64, operation: u32) {
        let key = COMPLETION_CLASS | submission;
        self.heap
            .push(Reverse((at_ns, key, Event::Complete(operation))));
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|&Reverse((at_ns, _, _))| at_ns)
    }

    /// The next event if it is due by `until_ns`.
    pub(crate) fn pop_until(&mut self, until_ns: u64) -> Option<(u64, Event)> {
        if self.next_ns()? > until_ns {
            return None;
        }
        self.heap
            .pop()
            .map(|Reverse((at_ns, _, event))| (at_ns, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_by_time_and_simultaneous_completions_by_submission() {
        let mut queue = EventQueue::with_capacity(8);
        queue.push_completion(5, 2, 20);
        queue.push_completion(5, 1, 10);
        queue.push(5, Event::Arrive(1));
        queue.push(3, Event::Arrive(2));
        assert_eq!(queue.next_ns(), Some(3));
        assert_eq!(queue.pop_until(2), None);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(9)).collect();
        assert_eq!(
            order,
            [
                (3, Event::Arrive(2)),
                (5, Event::Arrive(1)),
                (5, Event::Complete(10)),
                (5, Event::Complete(20)),
            ]
        );
    }
}
