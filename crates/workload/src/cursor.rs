//! Consecutive positions: sequential and stride, per thread and shared.
//!
//! Both patterns are a numbered cycle: item 0, 1, 2... up to the last, then 0
//! again. A cursor hands out numbers; [`Cycle`] turns a number into an offset.
//! So the same arithmetic serves one thread or many on a shared cursor.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One position that all threads of a job share. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct SharedCursor(Arc<AtomicU64>);

impl SharedCursor {
    /// A cursor at the first item.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next number. Numbers are unique over all threads; no other data is published with
    /// them, hence the relaxed order.
    #[inline]
    pub(crate) fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes the next bytes, for operations of several sizes.
    pub(crate) fn take_bytes(&self, bytes: u64) -> u64 {
        self.0.fetch_add(bytes, Ordering::Relaxed)
    }
}

/// Who owns the position.
#[derive(Clone, Debug)]
pub(crate) enum Cursor {
    /// This thread's next item.
    Own(u64),
    /// The next item of all threads.
    Shared(SharedCursor),
    /// This thread's next item, which stays at or above `first` and below `end`.
    Part { next: u64, first: u64, end: u64 },
}

/// A fixed order of offsets, repeated endlessly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    block_size_bytes: u64,
    stride_bytes: u64,
    /// Items in the cycle, at least 1.
    items: u64,
    /// Passes that are one item longer than the others; they come first.
    long_passes: u64,
    /// Items of a long pass.
    long_items: u64,
}

impl Cycle {
    /// Steps of `stride_bytes` through `blocks` blocks.
    ///
    /// Pass p starts at block p and advances by the stride as long as a whole block fits; then
    /// comes pass p + 1, up to the last one that starts below the stride (and fits); then pass 0
    /// again. Where the stride is a multiple of the block, each block of the span is touched
    /// exactly once per cycle. A stride below the block size gives a single pass of overlapping
    /// operations.
    pub(crate) fn stride(block_size_bytes: u64, blocks: u64, stride_bytes: u64) -> Self {
        debug_assert!(block_size_bytes > 0 && blocks > 0 && stride_bytes > 0);
        let last_start = (blocks - 1) * block_size_bytes;
        let passes = stride_bytes.div_ceil(block_size_bytes).min(blocks);
        // A pass that starts at `r` has floor((last_start - r) / stride) + 1 items; as `r` stays
        // below the stride, only two neighbouring values occur.
        let long_items = last_start / stride_bytes + 1;
        let long_passes = (last_start % stride_bytes / block_size_bytes + 1).min(passes);
        let items = long_passes * long_items + (passes - long_passes) * (long_items - 1);
        Cycle {
            block_size_bytes,
            stride_bytes,
            items,
            long_passes,
            long_items,
        }
    }

    /// Block after block.
    pub(crate) fn sequential(block_size_bytes: u64, blocks: u64) -> Self {
        Self::stride(block_size_bytes, blocks, block_size_bytes)
    }

    /// Offset of `item`, from the start of the span.
    #[inline]
    fn offset(&self, item: u64) -> u64 {
        debug_assert!(item < self.items);
        if item < self.long_items {
            // The first pass, the only one when sequential, needs no division.
            return item * self.stride_bytes;
        }
        let in_long = self.long_passes * self.long_items;
        let (pass, step) = if item < in_long {
            (item / self.long_items, item % self.long_items)
        } else {
            let (rest, length) = (item - in_long, self.long_items - 1);
            (self.long_passes + rest / length, rest % length)
        };
        pass * self.block_size_bytes + step * self.stride_bytes
    }

    /// A private cursor for thread `index` of `threads`: it starts at that share of the first pass.
    pub(crate) fn own(&self, index: u32, threads: u32) -> Cursor {
        let first_pass = u128::from(self.long_items);
        let start = first_pass * u128::from(index) / u128::from(threads.max(1));
        Cursor::Own((start as u64).min(self.items - 1))
    }

    /// A cursor for thread `index` of `threads` that stays within its part: a part of the passes
    /// where there are several, otherwise of the items.
    pub(crate) fn part(&self, index: u32, threads: u32) -> Cursor {
        let share = |all: u64, index: u32| {
            let share = u128::from(all) * u128::from(index) / u128::from(threads.max(1));
            share as u64
        };
        let passes = self.passes();
        let (mut first, mut end) = if passes > 1 {
            let from = share(passes, index);
            let to = share(passes, index + 1);
            (self.pass_start(from), self.pass_start(to))
        } else {
            (share(self.items, index), share(self.items, index + 1))
        };
        if first >= end {
            (first, end) = (0, self.items);
        }
        let next = first;
        Cursor::Part { next, first, end }
    }

    /// Passes of a cycle.
    fn passes(&self) -> u64 {
        let short = self.items - self.long_passes * self.long_items;
        match self.long_items {
            // Short passes would have no items, so there are none.
            1 => self.long_passes,
            long => self.long_passes + short / (long - 1),
        }
    }

    /// The first item of pass number `pass`; for the number of passes, the end of the last.
    fn pass_start(&self, pass: u64) -> u64 {
        let long = pass.min(self.long_passes);
        long * self.long_items + (pass - long) * (self.long_items - 1)
    }

    /// The offset of the cursor's next item; moves the cursor.
    #[inline]
    pub(crate) fn next(&self, cursor: &mut Cursor) -> u64 {
        let item = match cursor {
            Cursor::Own(next) => {
                let item = *next;
                *next = if item + 1 == self.items { 0 } else { item + 1 };
                item
            }
            Cursor::Shared(shared) => shared.take() % self.items,
            Cursor::Part { next, first, end } => {
                let item = *next;
                *next = if item + 1 == *end { *first } else { item + 1 };
                item
            }
        };
        self.offset(item)
    }
}
