//! Operations of a recording, as issued by one worker.
//!
//! Open: in the order of their due times. Where two overlap, one of them writes, and the first had
//! completed in the recording before the second was issued, the second waits for the first; nothing
//! else waits. Closed: each becomes due when the one it waits for has completed and its think time
//! has passed.
//!
//! No locks, and no allocation per operation: operations in flight are a list as long as there are
//! slots, searched linearly, which for the tens that a disk has in flight is faster than any index.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use stripewise_io_engine::Kind;
use stripewise_workload::{AFTER_NONE, LASTED_UNKNOWN, RecordedLoad, RecordedOperation};

/// Overlaps are checked by block: file systems and databases write whole blocks.
const BLOCK_BYTES: u64 = 4_096;

/// Most operations that wait for an overlapping one; beyond that all wait.
const HELD_MAX: usize = 1_024;

/// No operation.
const NONE: u32 = u32::MAX;

/// The next step of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NextOperation {
    /// An operation, its due time, and whether another one held it back.
    Operation(RecordedOperation, u64, bool),
    /// Nothing until an operation completes.
    Full,
    /// Nothing before this time.
    NotBefore(u64),
    /// Nothing more, unless an operation waits for one in flight.
    Nothing,
}

/// An operation that has arrived and not completed.
#[derive(Clone, Copy, Debug)]
struct Open {
    first_block: u64,
    last_block: u64,
    /// In the recording, on its clock.
    completed_ns: u64,
    number: u32,
    slot: u32,
    copy: u16,
    writes: bool,
}

impl Open {
    fn of(operation: &RecordedOperation, number: u32, slot: u32) -> Open {
        let last = operation.end_bytes().max(operation.offset_bytes + 1) - 1;
        Open {
            first_block: operation.offset_bytes / BLOCK_BYTES,
            last_block: last / BLOCK_BYTES,
            completed_ns: operation.due_ns.saturating_add(operation.lasted_ns),
            number,
            slot,
            copy: operation.copy,
            writes: operation.kind != Kind::Read,
        }
    }

    /// Whether this later one waits for `before`.
    fn waits_for(&self, before: &Open, due_ns: u64) -> bool {
        before.completed_ns <= due_ns
            && before.copy == self.copy
            && (self.writes || before.writes)
            && self.first_block <= before.last_block
            && before.first_block <= self.last_block
            && before.number < self.number
    }
}

/// The operations of one worker.
pub(crate) struct Replay {
    load: Arc<RecordedLoad>,
    /// Start of the run, on the worker's clock.
    origin_ns: u64,
    /// Open: index of the next one.
    next: u32,
    /// Some operations may have to wait for others.
    is_ordered: bool,
    in_flight: Vec<Open>,
    /// Arrived and waiting for others; in order.
    held: Vec<Open>,
    /// The first of `held` may no longer have to wait.
    is_released: bool,
    /// Operations in the slots, and whether they were held back.
    slots: Vec<(u32, bool)>,
    /// Closed: operations by due time.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// Closed: start of each operation's dependents in `dependents`.
    dependents_from: Vec<u32>,
    dependents: Vec<u32>,
}

impl Replay {
    pub(crate) fn new(load: Arc<RecordedLoad>, slots: u32) -> Replay {
        let operations = load.operations();
        let known = |one: &RecordedOperation| one.lasted_ns != LASTED_UNKNOWN;
        let writes = operations.iter().any(|one| one.kind != Kind::Read);
        let is_ordered = !load.is_closed() && writes && operations.iter().any(known);
        let (dependents_from, dependents) = match load.is_closed() {
            true => dependents(operations),
            false => (Vec::new(), Vec::new()),
        };
        let due = match load.is_closed() {
            true => BinaryHeap::with_capacity(operations.len().min(1 << 16)),
            false => BinaryHeap::new(),
        };
        Replay {
            origin_ns: 0,
            next: 0,
            is_ordered,
            in_flight: Vec::with_capacity(slots as usize),
            held: Vec::with_capacity(if is_ordered { HELD_MAX } else { 0 }),
            is_released: false,
            slots: vec![(NONE, false); slots as usize],
            due,
            dependents_from,
            dependents,
            load,
        }
    }

    /// Whether operations wait for others.
    pub(crate) fn is_closed(&self) -> bool {
        self.load.is_closed()
    }

    /// The run starts at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.origin_ns = start_ns;
        if self.load.is_closed() {
            let operations = self.load.operations();
            let first = (0u32..)
                .zip(operations)
                .filter(|(_, one)| one.after == AFTER_NONE);
            let due = first.map(|(number, one)| Reverse((start_ns + one.due_ns, number)));
            self.due.extend(due);
        }
    }

    /// The program was paused for `by_ns`.
    pub(crate) fn move_arrivals(&mut self, by_ns: u64) {
        self.origin_ns = self.origin_ns.saturating_add(by_ns);
        let due = std::mem::take(&mut self.due).into_vec();
        let later = due.into_iter();
        self.due = later
            .map(|Reverse((at_ns, number))| Reverse((at_ns.saturating_add(by_ns), number)))
            .collect();
    }

    /// What to issue at `now_ns` in this slot.
    pub(crate) fn offer(&mut self, now_ns: u64, slot: u32) -> NextOperation {
        if self.load.is_closed() {
            return self.offer_closed(now_ns, slot);
        }
        if self.is_released
            && let Some(number) = self.take_released()
        {
            return self.issue(number, now_ns, slot, true);
        }
        loop {
            let number = self.next;
            let Some(operation) = self.load.operations().get(number as usize) else {
                return NextOperation::Nothing;
            };
            let due_ns = self.origin_ns.saturating_add(operation.due_ns);
            if due_ns > now_ns {
                return NextOperation::NotBefore(due_ns);
            }
            if self.is_ordered && operation.kind != Kind::Sync {
                let open = Open::of(operation, number, NONE);
                let waits = |before: &Open| open.waits_for(before, operation.due_ns);
                if self.in_flight.iter().any(waits) || self.held.iter().any(waits) {
                    if self.held.len() == HELD_MAX {
                        return NextOperation::Full;
                    }
                    self.held.push(open);
                    self.next += 1;
                    continue;
                }
            }
            self.next += 1;
            return self.issue(number, now_ns, slot, false);
        }
    }

    fn offer_closed(&mut self, now_ns: u64, slot: u32) -> NextOperation {
        let Some(&Reverse((due_ns, number))) = self.due.peek() else {
            return NextOperation::Nothing;
        };
        if due_ns > now_ns {
            return NextOperation::NotBefore(due_ns);
        }
        self.due.pop();
        match self.issue(number, now_ns, slot, false) {
            NextOperation::Operation(operation, _, is_held) => {
                NextOperation::Operation(operation, due_ns, is_held)
            }
            other => other,
        }
    }

    fn issue(&mut self, number: u32, now_ns: u64, slot: u32, is_held: bool) -> NextOperation {
        let operation = self.load.operations()[number as usize];
        if self.is_ordered && operation.kind != Kind::Sync {
            self.in_flight.push(Open::of(&operation, number, slot));
        }
        self.slots[slot as usize] = (number, is_held);
        self.leaves(slot, now_ns);
        let due_ns = self.origin_ns.saturating_add(operation.due_ns);
        NextOperation::Operation(operation, due_ns, is_held)
    }

    /// The operation in this slot is issued now; called again when a write's data is ready.
    pub(crate) fn leaves(&self, slot: u32, now_ns: u64) {
        let (number, is_held) = self.slots[slot as usize];
        let at_ns = now_ns.saturating_sub(self.origin_ns);
        self.load.leaves(number, at_ns, is_held);
    }

    /// The operation in this slot has completed.
    pub(crate) fn completed(&mut self, slot: u32, at_ns: u64) {
        if self.load.is_closed() {
            let number = self.slots[slot as usize].0 as usize;
            let (from, to) = (
                self.dependents_from[number],
                self.dependents_from[number + 1],
            );
            for &next in &self.dependents[from as usize..to as usize] {
                let think_ns = self.load.operations()[next as usize].due_ns;
                self.due
                    .push(Reverse((at_ns.saturating_add(think_ns), next)));
            }
        }
        if let Some(at) = self.in_flight.iter().position(|open| open.slot == slot) {
            self.in_flight.swap_remove(at);
            self.is_released = !self.held.is_empty();
        }
    }

    /// The first held operation that nothing in flight or before it blocks any longer.
    fn take_released(&mut self) -> Option<u32> {
        for at in 0..self.held.len() {
            let open = self.held[at];
            let due_ns = self.load.operations()[open.number as usize].due_ns;
            let waits = |before: &Open| open.waits_for(before, due_ns);
            if !self.in_flight.iter().any(waits) && !self.held[..at].iter().any(waits) {
                self.held.remove(at);
                return Some(open.number);
            }
        }
        self.is_released = false;
        None
    }

    /// Nothing more will be issued: passes on the due time of each one due before `until_ns`.
    pub(crate) fn give_up_arrivals(&mut self, until_ns: u64, mut given_up: impl FnMut(u64)) {
        let operations = self.load.operations();
        let due = |number: u32| {
            let operation = operations.get(number as usize)?;
            Some(self.origin_ns.saturating_add(operation.due_ns))
        };
        if self.load.is_closed() {
            let due = self.due.drain().map(|Reverse((due_ns, _))| due_ns);
            due.filter(|due_ns| *due_ns < until_ns).for_each(given_up);
            return;
        }
        let held = self.held.iter().filter_map(|open| due(open.number));
        held.for_each(&mut given_up);
        while let Some(due_ns) = due(self.next)
            && due_ns < until_ns
        {
            given_up(due_ns);
            self.next += 1;
        }
        self.held.clear();
    }
}

/// The dependents of each operation: offsets into the list, and the list.
fn dependents(operations: &[RecordedOperation]) -> (Vec<u32>, Vec<u32>) {
    let mut from = vec![0u32; operations.len() + 1];
    let waiting = operations.iter().filter(|one| one.after != AFTER_NONE);
    waiting.for_each(|one| from[one.after as usize + 1] += 1);
    for number in 0..operations.len() {
        from[number + 1] += from[number];
    }
    let mut at = from.clone();
    let mut list = vec![0; from.last().map_or(0, |&count| count as usize)];
    for (number, one) in (0u32..).zip(operations) {
        if let Some(place) = at.get_mut(one.after as usize)
            && one.after != AFTER_NONE
        {
            list[*place as usize] = number;
            *place += 1;
        }
    }
    (from, list)
}

#[cfg(test)]
mod tests;
