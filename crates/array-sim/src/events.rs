//! What is going to happen, ordered by (nanoseconds, class, sequence).
//!
//! Sequence numbers make the order total, so a run does not depend on how a
//! structure breaks ties. Completions to the host carry the operation's submission
//! number in a class of their own, above all internal events of the same
//! nanosecond: simultaneous completions leave in order of submission.
//!
//! Most events come in the order in which they will happen, because they lie a
//! fixed latency ahead of their causes: accesses on their way to a drive, and
//! completions on their way to the host. Each of the two has a queue. A rotating
//! drive works on one access at a time, so that its next end has a place of its
//! own, below a tree of minima. What else there is, and what comes out of order,
//! is in a heap. The next event is the earliest of four fronts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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

/// When: nanoseconds above, class and sequence below, compared as one number.
type Key = u128;

/// Later than everything: the front of an empty queue.
const NEVER: Key = Key::MAX;

const fn key(at_ns: u64, class_and_sequence: u64) -> Key {
    (at_ns as Key) << 64 | class_and_sequence as Key
}

const fn at_ns(key: Key) -> u64 {
    (key >> 64) as u64
}

/// Events of one kind that come in the order in which they will happen.
#[derive(Clone, Debug)]
struct Lane {
    items: VecDeque<(Key, u32)>,
    front: Key,
    /// The last key; anything may follow an empty lane.
    back: Key,
}

impl Lane {
    fn with_capacity(capacity: usize) -> Self {
        Lane {
            items: VecDeque::with_capacity(capacity),
            front: NEVER,
            back: 0,
        }
    }

    /// Takes the event unless it is earlier than one that is here already.
    #[inline]
    fn take(&mut self, key: Key, index: u32) -> bool {
        if self.front == NEVER {
            self.front = key;
        } else if key < self.back {
            return false;
        }
        self.back = key;
        self.items.push_back((key, index));
        true
    }

    fn pop(&mut self) -> Option<u32> {
        let (_, index) = self.items.pop_front()?;
        self.front = self.items.front().map_or(NEVER, |(key, _)| *key);
        Some(index)
    }
}

/// When each rotating drive is done: a tree whose nodes are the least of the two
/// below them, the drives as its leaves.
#[derive(Clone, Debug)]
struct Ends {
    /// Node i has the children 2i and 2i + 1; the root is node 1.
    nodes: Vec<Key>,
    leaves: usize,
}

impl Ends {
    fn of(drives: usize) -> Self {
        let leaves = drives.max(1).next_power_of_two();
        Ends {
            nodes: vec![NEVER; 2 * leaves],
            leaves,
        }
    }

    fn front(&self) -> Key {
        self.nodes[1]
    }

    #[inline]
    fn set(&mut self, drive: u32, key: Key) {
        let mut node = self.leaves + drive as usize;
        self.nodes[node] = key;
        while node > 1 {
            let least = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = least;
        }
    }

    /// The drive that is done first; nothing is expected of it from now on.
    fn pop(&mut self) -> u32 {
        let front = self.front();
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != front);
        }
        let drive = (node - self.leaves) as u32;
        self.set(drive, NEVER);
        drive
    }
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Ends,
    Arrivals,
    Completions,
    Heap,
}

/// All that is going to happen.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// The earliest of all, and where it is.
    next: Key,
    source: Source,
    ends: Ends,
    heap: BinaryHeap<Reverse<(Key, Event)>>,
    heap_front: Key,
    arrivals: Lane,
    completions: Lane,
    sequence: u64,
}

impl EventQueue {
    /// Room for so many events of a kind, and for the ends of so many drives' work.
    pub(crate) fn with_capacity(capacity: usize, drives: usize) -> Self {
        EventQueue {
            next: NEVER,
            source: Source::Heap,
            ends: Ends::of(drives),
            heap: BinaryHeap::with_capacity(capacity),
            heap_front: NEVER,
            arrivals: Lane::with_capacity(capacity),
            completions: Lane::with_capacity(capacity),
            sequence: 0,
        }
    }

    /// An internal event.
    #[inline]
    pub(crate) fn push(&mut self, at_ns: u64, event: Event) {
        self.sequence += 1;
        let key = key(at_ns, self.sequence);
        let source = match event {
            Event::Arrive(access) if self.arrivals.take(key, access) => Source::Arrivals,
            Event::DriveDone(drive) => {
                self.ends.set(drive, key);
                Source::Ends
            }
            _ => self.push_heap(key, event),
        };
        self.expect(key, source);
    }

    /// The completion of the `submission`-th operation.
    #[inline]
    pub(crate) fn push_completion(&mut self, at_ns: u64, submission: u64, operation: u32) {
        let key = key(at_ns, COMPLETION_CLASS | submission);
        let source = match self.completions.take(key, operation) {
            true => Source::Completions,
            false => self.push_heap(key, Event::Complete(operation)),
        };
        self.expect(key, source);
    }

    fn push_heap(&mut self, key: Key, event: Event) -> Source {
        self.heap.push(Reverse((key, event)));
        self.heap_front = self.heap_front.min(key);
        Source::Heap
    }

    /// An event at one of the fronts, or behind it.
    #[inline]
    fn expect(&mut self, key: Key, source: Source) {
        if key < self.next {
            (self.next, self.source) = (key, source);
        }
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        (self.next != NEVER).then_some(at_ns(self.next))
    }

    /// Whether the host sees an operation complete next.
    pub(crate) fn completes_next(&self) -> bool {
        self.next != NEVER && self.next as u64 & COMPLETION_CLASS != 0
    }

    /// The next event if it is due by `until_ns`.
    #[inline]
    pub(crate) fn pop_until(&mut self, until_ns: u64) -> Option<(u64, Event)> {
        let next = self.next;
        if at_ns(next) > until_ns || next == NEVER {
            return None;
        }
        let event = match self.source {
            Source::Ends => Event::DriveDone(self.ends.pop()),
            Source::Arrivals => Event::Arrive(self.arrivals.pop()?),
            Source::Completions => Event::Complete(self.completions.pop()?),
            Source::Heap => {
                let Reverse((_, event)) = self.heap.pop()?;
                self.heap_front = self.heap.peek().map_or(NEVER, |Reverse((key, _))| *key);
                event
            }
        };
        (self.next, self.source) = (self.heap_front, Source::Heap);
        self.expect(self.ends.front(), Source::Ends);
        self.expect(self.arrivals.front, Source::Arrivals);
        self.expect(self.completions.front, Source::Completions);
        Some((at_ns(next), event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_by_time_and_simultaneous_completions_by_submission() {
        let mut queue = EventQueue::with_capacity(8, 1);
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

    /// Whatever the order of pushing, the order of leaving is that of one heap.
    #[test]
    fn four_queues_leave_in_the_order_of_one() {
        let mut random = 7u64;
        let mut dice = |bound: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % bound
        };
        let mut queue = EventQueue::with_capacity(1, 2_001);
        let mut expected = Vec::new();
        for number in 1..=2_000u64 {
            let (at_ns, index) = (dice(500), number as u32);
            if dice(2) == 0 {
                queue.push_completion(at_ns, number, index);
                expected.push((at_ns, COMPLETION_CLASS | number, Event::Complete(index)));
            } else {
                let event = match dice(2) {
                    0 => Event::Arrive(index),
                    _ => Event::DriveDone(index),
                };
                queue.push(at_ns, event);
                expected.push((at_ns, queue.sequence, event));
            }
        }
        expected.sort_unstable();
        let left: Vec<_> = std::iter::from_fn(|| queue.pop_until(u64::MAX)).collect();
        let expected: Vec<_> = expected.iter().map(|e| (e.0, e.2)).collect();
        assert_eq!(left, expected);
        assert_eq!(queue.next_ns(), None);
    }
}
