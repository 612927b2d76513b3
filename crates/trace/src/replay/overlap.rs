//! Operations that overlap keep the order that the recording had.
//!
//! Two operations overlap if they touch one block of 4 KiB and one of them writes. If the
//! first had completed in the recording before the second was issued, the second waits
//! until the first has completed here. Nothing else waits. How long operations were held
//! counts as latency from the due time, and the share that was is printed.

use crate::model::Request;
use std::collections::HashMap;
use stripewise_units::Kind;

const BLOCK_BYTES: u64 = 4 << 10;
/// Blocks of one operation that are looked at: 64 MiB.
const BLOCKS_MAX: u64 = 1 << 14;

/// The number of an operation, as the caller gives it; each once.
pub type Ticket = u64;

/// An operation that has arrived and not completed.
#[derive(Clone, Copy, Debug)]
struct Open {
    ticket: Ticket,
    writes: bool,
    completed_ns: u64,
}

/// Which operations wait for which.
#[derive(Debug, Default)]
pub struct OverlapOrder {
    blocks: HashMap<u64, Vec<Open>>,
    places: HashMap<Ticket, (u64, u64)>,
    /// How many each one waits for.
    waiting: HashMap<Ticket, usize>,
    /// Who waits for each one.
    waiters: HashMap<Ticket, Vec<Ticket>>,
    held: u64,
    arrived: u64,
}

impl OverlapOrder {
    /// An operation is due. True if it may be issued now; else [`OverlapOrder::complete`]
    /// will return its ticket. Operations become due in the order of the recording;
    /// `completed_ns` is when it completed there, on the clock of `request`, None if that
    /// is not known: then nothing later waits for it.
    pub fn arrive(&mut self, ticket: Ticket, request: &Request, completed_ns: Option<u64>) -> bool {
        self.arrived += 1;
        if request.kind == Kind::Sync || request.size_bytes == 0 {
            return true;
        }
        let first = request.offset_bytes / BLOCK_BYTES;
        let last = (request.end_bytes() - 1) / BLOCK_BYTES;
        let last = last.min(first.saturating_add(BLOCKS_MAX - 1));
        let writes = request.kind != Kind::Read;
        let mut blockers: Vec<Ticket> = Vec::new();
        for block in first..=last {
            let here = self.blocks.entry(block).or_default();
            let before = here
                .iter()
                .filter(|open| (writes || open.writes) && open.completed_ns <= request.at_ns);
            blockers.extend(before.map(|open| open.ticket));
            here.push(Open {
                ticket,
                writes,
                completed_ns: completed_ns.unwrap_or(u64::MAX),
            });
        }
        self.places.insert(ticket, (first, last));
        blockers.sort_unstable();
        blockers.dedup();
        if blockers.is_empty() {
            return true;
        }
        self.held += 1;
        self.waiting.insert(ticket, blockers.len());
        for blocker in blockers {
            self.waiters.entry(blocker).or_default().push(ticket);
        }
        false
    }

    /// An operation has completed: those that may be issued now.
    pub fn complete(&mut self, ticket: Ticket) -> Vec<Ticket> {
        if let Some((first, last)) = self.places.remove(&ticket) {
            for block in first..=last {
                if let Some(here) = self.blocks.get_mut(&block) {
                    here.retain(|open| open.ticket != ticket);
                    if here.is_empty() {
                        self.blocks.remove(&block);
                    }
                }
            }
        }
        let mut free = Vec::new();
        for waiter in self.waiters.remove(&ticket).unwrap_or_default() {
            if let Some(left) = self.waiting.get_mut(&waiter) {
                *left -= 1;
                if *left == 0 {
                    self.waiting.remove(&waiter);
                    free.push(waiter);
                }
            }
        }
        free
    }

    /// The share of operations that were held, 0 to 1.
    #[must_use]
    pub fn held_share(&self) -> f64 {
        self.held as f64 / self.arrived.max(1) as f64
    }
}
