//! Future events, ordered by (nanoseconds, class, sequence).
//!
//! Sequence numbers make the order total, so a run does not depend on how a structure breaks ties.
//! Completions to the host carry the operation's submission number in a class of their own, after
//! all internal events of the same nanosecond: simultaneous completions are delivered in order of
//! submission.
//!
//! A rotating drive works on one access at a time, so its next end has a fixed slot below a tree of
//! minima. Completions are nearly always added in order, a fixed latency after their causes, and
//! have a queue. All other events, and those out of order, are in a heap. The next event is the
//! earliest of the three fronts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An event; the numbers are arena indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// An operation has passed the cap and reaches the controller.
    Admit(u32),
    /// A solid-state drive finishes an access of an operation.
    AccessDone { disk: u32, operation: u32 },
    /// The host sees an operation complete.
    Complete(u32),
}

const COMPLETION_CLASS: u64 = 1 << 63;

/// Bits below an internal event's sequence number: the drive.
const DRIVE_BITS: u32 = 10;
/// Most drives that these bits can number.
pub(crate) const DRIVES_MAX: u64 = 1 << DRIVE_BITS;
const ONE_EVENT: u64 = DRIVES_MAX;

/// Event time: nanoseconds in the upper bits, class, sequence and drive below, compared as one
/// number. As no two events share a sequence number, the drive never decides.
pub(crate) type Key = u128;

/// Later than every event: the front of an empty queue.
pub(crate) const NEVER: Key = Key::MAX;

const fn key(at_ns: u64, class_and_sequence: u64) -> Key {
    (at_ns as Key) << 64 | class_and_sequence as Key
}

/// After every event of this time, but not after [`NEVER`].
pub(crate) const fn end_of(at_ns: u64) -> Key {
    key(at_ns, u64::MAX)
}

pub(crate) const fn at_ns(key: Key) -> u64 {
    (key >> 64) as u64
}

/// Events of one kind that are added in order of time.
#[derive(Clone, Debug)]
struct Lane {
    items: VecDeque<(Key, u32)>,
    front: Key,
    /// The last key; any event may enter an empty lane.
    back: Key,
}

impl Lane {
    /// Small initial capacity: a ring cycles through all of its memory, and few completions are in
    /// flight at once.
    fn new() -> Self {
        Lane {
            items: VecDeque::with_capacity(256),
            front: NEVER,
            back: 0,
        }
    }

    /// Accepts the event unless it is earlier than the last one here.
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

/// Nodes below each node of the tree of drives.
const SIBLINGS: usize = 4;

/// When each rotating drive is done: a tree with the drives as leaves, whose nodes are the minimum
/// of those below them.
#[derive(Clone, Debug)]
struct Drives {
    /// Siblings, from the top down; those of family i have node i - 1 as their parent, counted
    /// through all families.
    families: Vec<[Key; SIBLINGS]>,
    /// The node of the first drive.
    first: usize,
    front: Key,
}

impl Drives {
    fn of(drives: usize) -> Self {
        let (mut first, mut width) = (0, SIBLINGS);
        while width < drives {
            (first, width) = (first + width, width * SIBLINGS);
        }
        Drives {
            families: vec![[NEVER; SIBLINGS]; (first + drives).div_ceil(SIBLINGS)],
            first,
            front: NEVER,
        }
    }

    #[inline]
    fn set(&mut self, drive: u32, mut key: Key) {
        let mut node = self.first + drive as usize;
        loop {
            let family = &mut self.families[node / SIBLINGS];
            family[node % SIBLINGS] = key;
            key = family[0].min(family[1]).min(family[2].min(family[3]));
            if node < SIBLINGS {
                break;
            }
            node = node / SIBLINGS - 1;
        }
        self.front = key;
    }
}

/// The next event of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This drive is done; [`EventQueue::set_drive`] sets its next end.
    Drive(u32),
    /// Any other event, removed from the queue.
    Event(Event),
}

/// All that is going to happen.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    drives: Drives,
    heap: BinaryHeap<Reverse<(Key, Event)>>,
    completions: Lane,
    /// The front of these two.
    others_front: Key,
    /// Incremented by [`ONE_EVENT`].
    sequence: u64,
}

impl EventQueue {
    /// With capacity for this many events of a kind and this many drives.
    pub(crate) fn with_capacity(capacity: usize, drives: usize) -> Self {
        EventQueue {
            drives: Drives::of(drives),
            heap: BinaryHeap::with_capacity(capacity),
            completions: Lane::new(),
            others_front: NEVER,
            sequence: 0,
        }
    }

    /// The key of a new internal event.
    #[inline]
    pub(crate) fn key(&mut self, at_ns: u64) -> Key {
        self.sequence += ONE_EVENT;
        key(at_ns, self.sequence)
    }

    /// A key after all existing internal events up to `at_ns`.
    pub(crate) fn after(&self, at_ns: u64) -> Key {
        key(at_ns, self.sequence + (ONE_EVENT - 1))
    }

    /// Adds an internal event.
    pub(crate) fn push(&mut self, at_ns: u64, event: Event) {
        let key = self.key(at_ns);
        self.push_heap(key, event);
    }

    /// Replaces the next end of a drive; `None`: never.
    #[inline]
    pub(crate) fn set_drive(&mut self, drive: u32, done_ns: Option<u64>) {
        let key = done_ns.map_or(NEVER, |done_ns| self.key(done_ns) | Key::from(drive));
        self.drives.set(drive, key);
    }

    /// Adds the completion of the `submission`-th operation.
    #[inline]
    pub(crate) fn push_completion(&mut self, at_ns: u64, submission: u64, operation: u32) {
        let key = key(at_ns, COMPLETION_CLASS | submission);
        if !self.completions.take(key, operation) {
            self.push_heap(key, Event::Complete(operation));
        }
        self.others_front = self.others_front.min(key);
    }

    fn push_heap(&mut self, key: Key, event: Event) {
        self.heap.push(Reverse((key, event)));
        self.others_front = self.others_front.min(key);
    }

    /// When the next event is due, [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn front(&self) -> Key {
        self.drives.front.min(self.others_front)
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        let front = self.front();
        (front != NEVER).then_some(at_ns(front))
    }

    /// Removes the event at `front`, which [`EventQueue::front`] has just returned and which is not
    /// [`NEVER`].
    #[inline]
    pub(crate) fn take(&mut self, front: Key) -> Option<Next> {
        // No two events share the lower half.
        if front as u64 == self.drives.front as u64 {
            return Some(Next::Drive(front as u32 & (DRIVES_MAX as u32 - 1)));
        }
        let event = match front as u64 == self.completions.front as u64 {
            true => Event::Complete(self.completions.pop()?),
            false => self.heap.pop()?.0.1,
        };
        let heap_front = self.heap.peek().map_or(NEVER, |Reverse((key, _))| *key);
        self.others_front = heap_front.min(self.completions.front);
        Some(Next::Event(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl EventQueue {
        /// The next event if it is due by `until_ns`; the drive is then set to never.
        fn pop_until(&mut self, until_ns: u64) -> Option<(u64, Next)> {
            let front = self.front();
            if front == NEVER || at_ns(front) > until_ns {
                return None;
            }
            let next = self.take(front)?;
            if let Next::Drive(drive) = next {
                self.set_drive(drive, None);
            }
            Some((at_ns(front), next))
        }
    }

    #[test]
    fn events_leave_by_time_and_simultaneous_completions_by_submission() {
        let mut queue = EventQueue::with_capacity(8, 3);
        queue.push_completion(5, 2, 20);
        queue.push_completion(5, 1, 10);
        queue.push(5, Event::Admit(1));
        queue.set_drive(2, Some(3));
        assert_eq!(queue.next_ns(), Some(3));
        assert_eq!(queue.pop_until(2), None);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(9)).collect();
        assert_eq!(
            order,
            [
                (3, Next::Drive(2)),
                (5, Next::Event(Event::Admit(1))),
                (5, Next::Event(Event::Complete(10))),
                (5, Next::Event(Event::Complete(20))),
            ]
        );
    }

    /// Whatever the order of insertion, events leave in the order of a single heap.
    #[test]
    fn three_queues_leave_in_the_order_of_one() {
        let mut random = 7u64;
        let mut rng = |bound: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % bound
        };
        let mut queue = EventQueue::with_capacity(1, 1_001);
        let mut expected = Vec::new();
        for number in 1..=1_000u64 {
            let (at_ns, index) = (rng(500), number as u32);
            if rng(2) == 0 {
                queue.push_completion(at_ns, number, index);
                let event = Next::Event(Event::Complete(index));
                expected.push((at_ns, COMPLETION_CLASS | number, event));
            } else if rng(2) == 0 {
                queue.push(at_ns, Event::Admit(index));
                expected.push((at_ns, queue.sequence, Next::Event(Event::Admit(index))));
            } else {
                queue.set_drive(index, Some(at_ns));
                expected.push((at_ns, queue.sequence, Next::Drive(index)));
            }
        }
        expected.sort_unstable_by_key(|event| (event.0, event.1));
        let left: Vec<_> = std::iter::from_fn(|| queue.pop_until(u64::MAX)).collect();
        let expected: Vec<_> = expected.iter().map(|e| (e.0, e.2)).collect();
        assert_eq!(left, expected);
        assert_eq!(queue.next_ns(), None);
    }
}
