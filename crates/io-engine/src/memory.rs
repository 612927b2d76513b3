//! Memory that an engine will need, to be checked before a run.

use crate::EngineName;
use crate::backend::buffers::Buffers;
use crate::backend::portable_threads::HELPERS_MAX;

/// What a helper thread touches of its stack, plus the kernel's share.
const HELPER_BYTES: u64 = 32 << 10;
/// Bookkeeping of a slot: state, free lists, completions.
const SLOT_BYTES: u64 = 64;
/// An OVERLAPPED structure of 32 bytes, and a packet of the same size.
const PACKET_BYTES: u64 = 64;

/// Memory of one engine, i.e. of one worker thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryNeeded {
    /// Buffers of all slots. Allocated at once if they are registered with the kernel, and then
    /// also counted against the memlock limit; otherwise as slots are used.
    pub buffers_bytes: u64,
    /// Rings, helper threads and bookkeeping.
    pub other_bytes: u64,
}

impl MemoryNeeded {
    /// Total.
    pub fn total_bytes(self) -> u64 {
        self.buffers_bytes.saturating_add(self.other_bytes)
    }
}

/// Memory of an engine opened with `slots` of `slot_size_bytes`. For [`EngineName::Auto`], the
/// maximum over its possible choices.
pub fn memory_needed(engine: EngineName, slots: u32, slot_size_bytes: u32) -> MemoryNeeded {
    let stride_bytes = Buffers::stride_for(slot_size_bytes) as u64;
    let slots = u64::from(slots.max(1));
    let buffers_bytes = stride_bytes.saturating_mul(slots);
    // Submission entries of 64 bytes, their indices of 4, and twice as many completions of 16, for
    // a power of two of entries.
    let rings = slots.next_power_of_two() * (64 + 4 + 2 * 16);
    // Those of commands are twice as large.
    let wide_rings = slots.next_power_of_two() * (128 + 4 + 2 * 32);
    let helpers = match slots {
        1 => 0,
        slots => slots.min(u64::from(HELPERS_MAX)) * HELPER_BYTES,
    };
    let (buffers_bytes, other) = match engine {
        EngineName::Uring => (buffers_bytes, rings),
        EngineName::Nvme => (buffers_bytes, wide_rings),
        EngineName::Iocp => (buffers_bytes, slots * PACKET_BYTES),
        EngineName::Threads => (buffers_bytes, helpers),
        EngineName::Auto => (buffers_bytes, rings.max(helpers)),
        EngineName::Null => (stride_bytes, 0),
    };
    MemoryNeeded {
        buffers_bytes,
        other_bytes: other + slots * SLOT_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_whole_pages_and_large_ones_whole_huge_pages() {
        let cases = [
            (1, 512, 4096),
            (128, 8192, 128 * 8192),
            (3, 5000, 3 * 8192),
            (4096, 64 << 20, 4096 * (64 << 20)),
            (2, 3 << 20, 2 * (4 << 20)),
        ];
        for (slots, size, expected) in cases {
            let needed = memory_needed(EngineName::Uring, slots, size);
            assert_eq!(needed.buffers_bytes, expected, "{slots} of {size}");
        }
    }

    #[test]
    fn the_null_engine_needs_one_buffer_and_one_thread_needs_no_helper() {
        let null = memory_needed(EngineName::Null, 4096, 1 << 20);
        assert_eq!(null.buffers_bytes, 1 << 20);
        let inline = memory_needed(EngineName::Threads, 1, 8192);
        assert_eq!(inline.total_bytes(), 8192 + SLOT_BYTES);
        let many = memory_needed(EngineName::Threads, 4096, 8192);
        assert_eq!(many.other_bytes, 256 * HELPER_BYTES + 4096 * SLOT_BYTES);
    }
}
