//! The OVERLAPPED structures of all slots.
//!
//! The system writes to a structure from the call that starts an operation until its packet is in
//! the port, so they stay in place, are only accessed through raw pointers, and are leaked rather
//! than freed while one is in use.

use std::ptr::NonNull;

use windows_sys::Win32::Foundation::{NTSTATUS, RtlNtStatusToDosError, STATUS_END_OF_FILE};
use windows_sys::Win32::System::IO::OVERLAPPED;

use crate::backend::sys;

/// One structure for each slot.
pub(super) struct Slots(NonNull<[OVERLAPPED]>);

impl Slots {
    pub(super) fn new(count: u32) -> Self {
        let all = vec![OVERLAPPED::default(); count as usize].into_boxed_slice();
        Slots(NonNull::from(Box::leak(all)))
    }

    /// Address of a slot's structure.
    ///
    /// # Panics
    /// If there is no such slot.
    pub(super) fn address(&self, slot: u32) -> *mut OVERLAPPED {
        assert!((slot as usize) < self.0.len(), "slot {slot} out of range");
        // SAFETY: within the allocation, as just checked.
        unsafe { self.0.cast::<OVERLAPPED>().add(slot as usize) }.as_ptr()
    }

    /// Prepares a slot's structure for an operation at `offset_bytes`.
    ///
    /// # Safety
    /// Nothing is in flight on the slot.
    pub(super) unsafe fn prepare(&mut self, slot: u32, offset_bytes: u64) -> *mut OVERLAPPED {
        let address = self.address(slot);
        // SAFETY: inside the allocation, and by the caller's promise ours.
        unsafe { address.write(sys::overlapped_at(offset_bytes)) };
        address
    }

    /// The slot of a structure, by its address in a packet; `None` for a foreign one.
    pub(super) fn slot_of(&self, address: *const OVERLAPPED) -> Option<u32> {
        let first = self.0.cast::<OVERLAPPED>().as_ptr();
        let distance = (address.addr()).checked_sub(first.addr())?;
        let slot = distance / size_of::<OVERLAPPED>();
        (slot < self.0.len()).then_some(slot as u32)
    }

    /// The result of a slot's completed operation.
    ///
    /// # Safety
    /// The operation has completed: its packet was taken, or its call reported it.
    pub(super) unsafe fn result(&self, slot: u32) -> i32 {
        // SAFETY: in range, and the system is done with it.
        let overlapped = unsafe { self.address(slot).read() };
        // The low half is the status; the system leaves the rest 0.
        let status = overlapped.Internal as NTSTATUS;
        match status {
            STATUS_END_OF_FILE => 0,
            0.. => i32::try_from(overlapped.InternalHigh).unwrap_or(i32::MAX),
            // SAFETY: has no preconditions.
            _ => failure(unsafe { RtlNtStatusToDosError(status) }),
        }
    }
}

/// The result of an operation that failed with a Win32 code.
pub(super) fn failure(code: u32) -> i32 {
    -crate::WIN32_ERRORS_FROM.saturating_add(code.cast_signed())
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: of `Box::leak` in `new`; the owner drops it only when nothing is in flight, and
        // leaks it otherwise.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_is_found_again_by_its_address() {
        let slots = Slots::new(3);
        for slot in 0..3 {
            assert_eq!(slots.slot_of(slots.address(slot)), Some(slot));
        }
        assert_eq!(slots.slot_of(std::ptr::null()), None);
        assert_eq!(slots.slot_of(slots.address(2).wrapping_add(1)), None);
    }

    #[test]
    fn the_end_of_the_file_is_no_failure_and_statuses_become_win32_codes() {
        let slots = Slots::new(1);
        let cases = [
            (0, 4096, 4096),
            (STATUS_END_OF_FILE, 0, 0),
            // STATUS_IO_DEVICE_ERROR is ERROR_IO_DEVICE, 1117.
            (0xc000_0185_u32.cast_signed(), 0, failure(1117)),
        ];
        for (status, bytes, expected) in cases {
            // SAFETY: nothing is in flight.
            unsafe {
                (*slots.address(0)).Internal = status.cast_unsigned() as usize;
                (*slots.address(0)).InternalHigh = bytes;
                assert_eq!(slots.result(0), expected, "{status:x}");
            }
        }
    }
}
