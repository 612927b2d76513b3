//! One block of memory for all slots of an engine.
//!
//! Every slot owns the bytes at `slot * stride`. The stride is a multiple of the page size, or of 2
//! MiB for slots that large, so that buffers suit O_DIRECT with any sector size. Pages are
//! allocated on first touch: unused slots only cost address space. Only the owner of a slot's
//! operation in flight (the kernel, a helper thread) may access its bytes.

use std::io;
use std::ptr::NonNull;

use super::sys;
use crate::{Completion, Source};

/// Alignment of small buffers. Larger than any logical sector in use.
const PAGE_BYTES: usize = 4096;
/// Alignment of large ones: a huge page of x86-64 and AArch64.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The memory of all slots.
pub struct Buffers {
    /// The whole mapping, for unmapping.
    mapped: NonNull<u8>,
    mapped_bytes: usize,
    /// The first slot's buffer, aligned within it.
    start: NonNull<u8>,
    stride_bytes: usize,
    slots: usize,
}

// SAFETY: plain memory without an owner thread; the engines keep the rule above (one owner per
// slot) by checking that a slot is free before issuing.
unsafe impl Send for Buffers {}
// SAFETY: as above.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// Bytes from one slot's buffer to the next.
    pub(crate) fn stride_for(slot_size_bytes: u32) -> usize {
        let size = (slot_size_bytes as usize).max(1);
        if size >= HUGE_PAGE_BYTES {
            size.next_multiple_of(HUGE_PAGE_BYTES)
        } else {
            size.next_multiple_of(PAGE_BYTES)
        }
    }

    /// Bytes of address space used by [`Buffers::new`], or `None` if that exceeds the address
    /// space.
    fn mapped_bytes_for(slots: u32, slot_size_bytes: u32) -> Option<usize> {
        let total = Self::stride_for(slot_size_bytes).checked_mul(slots as usize)?;
        if total >= HUGE_PAGE_BYTES {
            total.checked_add(HUGE_PAGE_BYTES)
        } else {
            Some(total)
        }
    }

    /// Memory for `slots` buffers of `slot_size_bytes`, zeroed.
    pub(crate) fn new(slots: u32, slot_size_bytes: u32) -> io::Result<Self> {
        let mapped_bytes = Self::mapped_bytes_for(slots, slot_size_bytes)
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let stride_bytes = Self::stride_for(slot_size_bytes);
        let mapped = sys::map(mapped_bytes)?;
        let mut start = mapped;
        if mapped_bytes >= HUGE_PAGE_BYTES {
            let skip = mapped.as_ptr().align_offset(HUGE_PAGE_BYTES);
            // SAFETY: `mapped_bytes` has a huge page of room for this alignment.
            start = unsafe { mapped.add(skip) };
            sys::prefer_huge_pages(start, stride_bytes * slots as usize);
        }
        Ok(Buffers {
            mapped,
            mapped_bytes,
            start,
            stride_bytes,
            slots: slots as usize,
        })
    }

    /// Address of a slot's bytes.
    ///
    /// # Panics
    /// If there is no such slot.
    pub(crate) fn address(&self, slot: u32) -> NonNull<u8> {
        assert!((slot as usize) < self.slots, "slot {slot} out of range");
        // SAFETY: within the mapping, as just checked.
        unsafe { self.start.add(slot as usize * self.stride_bytes) }
    }

    /// Passes the data transferred by a completed operation to the source.
    #[inline]
    pub(crate) fn show<S: Source>(&self, source: &mut S, done: Completion) {
        if S::LOOKS && done.result > 0 {
            let address = self.address(done.slot).as_ptr();
            // SAFETY: the slot's own bytes; its operation has ended, and transferred
            // no more than its length, which was checked when it was issued.
            source.look(done.slot, unsafe {
                std::slice::from_raw_parts(address, done.result as usize)
            });
        }
    }

    /// Bytes from one slot's buffer to the next.
    #[allow(dead_code, reason = "only io_uring registers buffers")]
    pub(crate) fn stride_bytes(&self) -> usize {
        self.stride_bytes
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: made by `sys::map`; the owner drops it only when no operation
        // is in flight, and leaks it otherwise.
        unsafe { sys::unmap(self.mapped, self.mapped_bytes) };
    }
}

/// Memory from the allocator, for systems without a mapping call here.
#[allow(dead_code, reason = "Linux and Windows map their buffers instead")]
pub(crate) fn allocate(length: usize) -> io::Result<NonNull<u8>> {
    let layout = std::alloc::Layout::from_size_align(length.max(1), PAGE_BYTES)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    // SAFETY: the layout has a size above 0.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    NonNull::new(start).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Frees memory of [`allocate`].
///
/// # Safety
/// `start` and `length` are those of one `allocate`, and it is no longer used.
#[allow(dead_code, reason = "Linux and Windows map their buffers instead")]
pub(crate) unsafe fn release(start: NonNull<u8>, length: usize) {
    // SAFETY: `allocate` accepted the same numbers.
    let layout =
        unsafe { std::alloc::Layout::from_size_align_unchecked(length.max(1), PAGE_BYTES) };
    // SAFETY: the caller's promise.
    unsafe { std::alloc::dealloc(start.as_ptr(), layout) };
}
