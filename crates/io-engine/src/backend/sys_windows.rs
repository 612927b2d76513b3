//! The operating system's calls on Windows.
//!
//! Positioned calls do not go through std, which aborts the process when a handle opened for
//! overlapped I/O does not complete at once; here each thread waits for its own call on its own
//! event.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_IO_PENDING};
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::CreateEventW;

use crate::WIN32_ERRORS_FROM;

/// A file object belongs permanently to one completion port.
pub(crate) const FILES_SERVE_ONE_ENGINE: bool = true;
/// See [`crate::CAN_SCATTER`].
pub(crate) const CAN_SCATTER: bool = false;
/// No flag here.
pub(crate) const SCATTERED: u32 = 0;
/// The system's preferred engine.
pub(crate) const NATIVE_ENGINE: crate::EngineName = crate::EngineName::Iocp;
/// `ERROR_INVALID_HANDLE`: the operation names a file that was not opened.
pub(crate) const BAD_HANDLE: i32 = WIN32_ERRORS_FROM + 6;
/// `ERROR_INVALID_PARAMETER`: returned for a misaligned direct operation.
#[cfg_attr(not(feature = "conformance"), allow(dead_code))]
pub(crate) const INVALID_ARGUMENT: i32 = WIN32_ERRORS_FROM + 87;
/// `ERROR_GEN_FAILURE`, for failures without a number.
const UNKNOWN_FAILURE: i32 = 31;

/// The error number of a failure in completions.
pub(crate) fn failure_number(error: &io::Error) -> i32 {
    WIN32_ERRORS_FROM + error.raw_os_error().unwrap_or(UNKNOWN_FAILURE)
}

/// An OVERLAPPED with the offset of an operation.
pub(crate) fn overlapped_at(offset_bytes: u64) -> OVERLAPPED {
    let mut overlapped = OVERLAPPED::default();
    overlapped.Anonymous.Anonymous.Offset = offset_bytes as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset_bytes >> 32) as u32;
    overlapped
}

/// Makes one call with this thread's event and waits for its completion. The event's low bit
/// suppresses the packet to a completion port.
fn positioned(
    file: &File,
    offset_bytes: u64,
    call: impl FnOnce(*mut c_void, *mut OVERLAPPED) -> i32,
) -> io::Result<usize> {
    thread_local! {
        static EVENT: OnceCell<OwnedHandle> = const { OnceCell::new() };
    }
    EVENT.with(|event| {
        if event.get().is_none() {
            // SAFETY: no name, no attributes; the result is checked.
            let handle = unsafe { CreateEventW(null(), 1, 0, null()) };
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: just created, with no other owner.
            let _ = event.set(unsafe { OwnedHandle::from_raw_handle(handle) });
        }
        let event = event.get().map_or(null_mut(), AsRawHandle::as_raw_handle);
        let mut overlapped = overlapped_at(offset_bytes);
        overlapped.hEvent = event.map_addr(|address| address | 1);
        let handle = file.as_raw_handle();
        if call(handle, &raw mut overlapped) == 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error().map(i32::cast_unsigned) {
                Some(ERROR_IO_PENDING) => {}
                Some(ERROR_HANDLE_EOF) => return Ok(0),
                _ => return Err(error),
            }
        }
        let mut bytes = 0;
        // SAFETY: the structure of the call above; this returns only when the
        // operation has ended, so neither it nor the buffer is used afterwards.
        if unsafe { GetOverlappedResult(handle, &raw const overlapped, &raw mut bytes, 1) } == 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error().map(i32::cast_unsigned) {
                Some(ERROR_HANDLE_EOF) => Ok(0),
                _ => Err(error),
            };
        }
        Ok(bytes as usize)
    })
}

fn length_of(buffer: &[u8]) -> u32 {
    u32::try_from(buffer.len()).unwrap_or(u32::MAX)
}

/// No discards here: `targets` refuses them earlier.
pub(crate) fn is_block_device(_file: &File) -> bool {
    false
}

/// See [`is_block_device`].
pub(crate) fn discard(
    _file: &File,
    _on_device: bool,
    _offset_bytes: u64,
    _length_bytes: u64,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn read_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    _flags: u32,
) -> io::Result<usize> {
    let length = length_of(buffer);
    let start = buffer.as_mut_ptr();
    positioned(file, offset_bytes, |handle, overlapped| {
        // SAFETY: `positioned` returns only when the call has ended, and until
        // then the buffer, its length and the structure are borrowed here.
        unsafe { ReadFile(handle, start, length, null_mut(), overlapped) }
    })
}

pub(crate) fn write_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    _flags: u32,
) -> io::Result<usize> {
    let length = length_of(buffer);
    positioned(file, offset_bytes, |handle, overlapped| {
        // SAFETY: as in `read_at`.
        unsafe { WriteFile(handle, buffer.as_ptr(), length, null_mut(), overlapped) }
    })
}

/// Zeroed memory, in whole pages, committed physically on first touch (it counts against the commit
/// limit at once).
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: fresh memory at an address of the system's choice.
    let start = unsafe {
        VirtualAlloc(
            null(),
            length.max(1),
            MEM_RESERVE | MEM_COMMIT,
            PAGE_READWRITE,
        )
    };
    NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)
}

/// Frees memory of `map`.
///
/// # Safety
/// `start` is that of a `map`, and the memory is no longer used, not even by the system.
pub(crate) unsafe fn unmap(start: NonNull<u8>, _length: usize) {
    // SAFETY: the caller's promise; releasing takes the whole piece.
    unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}

/// Large pages need a privilege that is rarely granted; ordinary ones suffice.
pub(crate) fn prefer_huge_pages(_start: NonNull<u8>, _length: usize) {}

/// Requests timer ticks of a millisecond for the lifetime of the process; otherwise they are up to
/// 16 ms long.
pub(crate) fn minimise_timer_slack() {
    static ASKED: OnceLock<u32> = OnceLock::new();
    // SAFETY: has no preconditions. Refused, waits are coarser.
    ASKED.get_or_init(|| unsafe { timeBeginPeriod(1) });
}

/// Nanoseconds of the performance counter, which starts at boot: the clock of `std::time::Instant`,
/// without its conversions. Its tick is 100 ns on most machines.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    let per_second = *FREQUENCY.get_or_init(|| {
        let mut per_second = 0;
        // SAFETY: writes the number only. It cannot fail since Windows XP.
        unsafe { QueryPerformanceFrequency(&raw mut per_second) };
        u64::try_from(per_second).unwrap_or(1).max(1)
    });
    let mut ticks = 0;
    // SAFETY: as above.
    unsafe { QueryPerformanceCounter(&raw mut ticks) };
    let ticks = ticks.cast_unsigned();
    if per_second == 10_000_000 {
        return ticks * 100;
    }
    // Whole seconds separately, so that the product fits.
    (ticks / per_second) * 1_000_000_000 + (ticks % per_second) * 1_000_000_000 / per_second
}
