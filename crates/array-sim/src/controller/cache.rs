//! The write-back cache: acknowledges writes once they are in memory and destages them in C-LOOK
//! order, with adjacent writes merged.
//!
//! The cache's size counts data that is dirty or being destaged; a full cache makes writes wait,
//! first come, first served. Explicit syncs wait for data that was dirty on their arrival. The
//! cache serves no reads, and overwritten data is destaged twice: for random loads over large
//! volumes neither shows.

use crate::arena::Arena;
use crate::elevator::Elevator;
use std::collections::VecDeque;

/// Parameters of a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheModel {
    /// Bytes that may be dirty; 0: no write-back cache.
    pub size_bytes: u64,
    /// Concurrent destages.
    pub slots: u32,
    /// Adjacent writes are merged into one destage up to this size.
    pub merge_bytes: u64,
    /// Merged writes end at stripes of this size, so that full stripes need no old data; 0:
    /// anywhere.
    pub stripe_bytes: u64,
    /// Protected by battery or flash: durable writes may be acknowledged from it.
    pub nonvolatile: bool,
}

#[derive(Clone, Copy, Debug)]
struct Dirty {
    offset_bytes: u64,
    length_bytes: u64,
    accepted: u64,
}

/// A range being destaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Destage {
    /// First byte (array address).
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Cache bytes it will free: merged overlaps count each time.
    pub held_bytes: u64,
    /// First of the chain of entries merged into it.
    chain: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    accepted: u64,
    next: u32,
}

const END: u32 = u32::MAX;

/// The cache's state.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub model: CacheModel,
    entries: Arena<Dirty>,
    links: Arena<Link>,
    order: Elevator,
    used_bytes: u64,
    dirty_count: u64,
    destaging: u32,
    accepted: u64,
    /// Writes (operation indices) waiting for room.
    pub waiting: VecDeque<u32>,
    /// Syncs: operation index, sequence on arrival, dirty entries still before it.
    syncs: Vec<(u32, u64, u64)>,
    /// Completed syncs (operation indices); the array takes them.
    pub synced: Vec<u32>,
}

impl Cache {
    pub(crate) fn new(model: CacheModel) -> Self {
        // Capacity for a cache full of 8K writes; larger loads reallocate once.
        let entries = (model.size_bytes / 8_192).min(1 << 20) as usize;
        Cache {
            model,
            entries: Arena::with_capacity(entries),
            links: Arena::with_capacity(entries),
            order: Elevator::with_capacity(entries),
            used_bytes: 0,
            dirty_count: 0,
            destaging: 0,
            accepted: 0,
            waiting: VecDeque::with_capacity(if model.size_bytes > 0 { 4_096 } else { 0 }),
            syncs: Vec::with_capacity(64),
            synced: Vec::with_capacity(64),
        }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.model.size_bytes > 0
    }

    /// Whether a write of this size fits now. A write larger than the whole cache fits when the
    /// cache is empty, or it would wait for ever.
    pub(crate) fn has_room(&self, length_bytes: u64) -> bool {
        self.used_bytes == 0 || self.used_bytes + length_bytes <= self.model.size_bytes
    }

    pub(crate) fn accept(&mut self, offset_bytes: u64, length_bytes: u64) {
        self.accepted += 1;
        self.used_bytes += length_bytes;
        self.dirty_count += 1;
        let dirty = Dirty {
            offset_bytes,
            length_bytes,
            accepted: self.accepted,
        };
        let item = self.entries.insert(dirty);
        self.order.push(offset_bytes, item);
    }

    /// The next range to destage, if a slot is free and anything is dirty.
    pub(crate) fn next_destage(&mut self) -> Option<Destage> {
        if self.destaging >= self.model.slots {
            return None;
        }
        let (_, item) = self.order.pop()?;
        let first = self.entries.remove(item);
        let mut chain = self.links.insert(Link {
            accepted: first.accepted,
            next: END,
        });
        let mut end = first.offset_bytes + first.length_bytes;
        let limit = self.merge_limit(first.offset_bytes).max(end);
        let mut held_bytes = first.length_bytes;
        while let Some((address, item)) = self.order.peek() {
            let next = self.entries[item];
            let next_end = end.max(address + next.length_bytes);
            let joins = address >= first.offset_bytes && address <= end;
            let fits = next_end <= limit;
            if !joins || (!fits && (self.model.stripe_bytes == 0 || address >= limit)) {
                break;
            }
            self.order.pop();
            self.entries.remove(item);
            chain = self.links.insert(Link {
                accepted: next.accepted,
                next: chain,
            });
            let taken = if fits {
                next.length_bytes
            } else {
                self.requeue(next, address, limit);
                limit - address
            };
            end = next_end.min(limit);
            held_bytes += taken;
        }
        self.destaging += 1;
        Some(Destage {
            offset_bytes: first.offset_bytes,
            length_bytes: end - first.offset_bytes,
            held_bytes,
            chain,
        })
    }

    /// The end of the largest destage that can begin here.
    fn merge_limit(&self, offset_bytes: u64) -> u64 {
        let CacheModel {
            merge_bytes,
            stripe_bytes,
            ..
        } = self.model;
        if stripe_bytes == 0 {
            return offset_bytes + merge_bytes;
        }
        let next = (offset_bytes / stripe_bytes + 1) * stripe_bytes;
        let whole = (offset_bytes + merge_bytes) / stripe_bytes * stripe_bytes;
        next.max(whole)
    }

    /// Data beyond a stripe's end stays dirty.
    fn requeue(&mut self, entry: Dirty, address: u64, limit: u64) {
        let rest = Dirty {
            offset_bytes: limit,
            length_bytes: address + entry.length_bytes - limit,
            accepted: entry.accepted,
        };
        self.dirty_count += 1;
        for sync in &mut self.syncs {
            if entry.accepted <= sync.1 {
                sync.2 += 1;
            }
        }
        let item = self.entries.insert(rest);
        self.order.push(limit, item);
    }

    /// A destage has reached the drives: its space is free again, and syncs that waited for nothing
    /// else move to `synced`.
    pub(crate) fn destaged(&mut self, destage: Destage) {
        self.destaging -= 1;
        self.used_bytes -= destage.held_bytes;
        let mut at = destage.chain;
        while at != END {
            let link = self.links.remove(at);
            self.dirty_count -= 1;
            for sync in &mut self.syncs {
                if link.accepted <= sync.1 {
                    sync.2 -= 1;
                }
            }
            at = link.next;
        }
        let synced = &mut self.synced;
        self.syncs.retain(|&(operation, _, left)| {
            if left == 0 {
                synced.push(operation);
            }
            left > 0
        });
    }

    /// A sync arrives: true if it has to wait for dirty data.
    pub(crate) fn sync_waits(&mut self, operation: u32) -> bool {
        if self.model.nonvolatile || self.dirty_count == 0 {
            return false;
        }
        self.syncs
            .push((operation, self.accepted, self.dirty_count));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size_bytes: u64) -> Cache {
        Cache::new(CacheModel {
            size_bytes,
            slots: 1,
            merge_bytes: 65_536,
            stripe_bytes: 0,
            nonvolatile: false,
        })
    }

    #[test]
    fn merged_writes_end_where_stripes_do_and_their_rest_stays_dirty() {
        let mut cache = cache(1 << 20);
        cache.model.stripe_bytes = 24_576;
        // Ten writes from 512 on: none ends on a stripe boundary.
        for block in 0..10 {
            cache.accept(512 + block * 8_192, 8_192);
        }
        assert!(cache.sync_waits(7));
        let mut ranges = Vec::new();
        let mut held_bytes = 0;
        while let Some(destage) = cache.next_destage() {
            ranges.push((destage.offset_bytes, destage.length_bytes));
            held_bytes += destage.held_bytes;
            cache.destaged(destage);
        }
        assert_eq!(ranges, [(512, 2 * 24_576 - 512), (2 * 24_576, 33_280)]);
        assert_eq!(held_bytes, 10 * 8_192);
        assert_eq!(cache.synced, [7]);
        assert!(cache.has_room(1 << 20));
    }

    #[test]
    fn neighbours_are_destaged_together_up_to_the_merge_size() {
        let mut cache = cache(1 << 20);
        for block in [3u64, 1, 2, 40] {
            cache.accept(block * 8_192, 8_192);
        }
        let first = cache.next_destage().unwrap();
        assert_eq!((first.offset_bytes, first.length_bytes), (8_192, 3 * 8_192));
        assert_eq!(cache.next_destage(), None, "one slot");
        cache.destaged(first);
        assert!(cache.synced.is_empty(), "no sync waits");
        let second = cache.next_destage().unwrap();
        assert_eq!(second.offset_bytes, 40 * 8_192);
    }

    #[test]
    fn a_full_cache_has_no_room_until_a_destage_ends() {
        let mut cache = cache(16_384);
        cache.accept(0, 8_192);
        cache.accept(1 << 30, 8_192);
        assert!(!cache.has_room(512));
        let destage = cache.next_destage().unwrap();
        assert!(!cache.has_room(512), "still on its way");
        cache.destaged(destage);
        assert!(cache.has_room(8_192));
    }

    #[test]
    fn a_sync_waits_for_what_was_dirty_and_for_nothing_later() {
        let mut cache = cache(1 << 20);
        assert!(!cache.sync_waits(7), "nothing is dirty");
        cache.accept(1 << 20, 8_192);
        assert!(cache.sync_waits(7));
        cache.accept(0, 8_192);
        let later = cache.next_destage().unwrap();
        cache.destaged(later);
        assert!(cache.synced.is_empty(), "that one came after the sync");
        let earlier = cache.next_destage().unwrap();
        cache.destaged(earlier);
        assert_eq!(cache.synced, [7]);
    }
}
