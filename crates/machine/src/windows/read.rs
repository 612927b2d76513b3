//! Reads a piece of a file or device, also through handles for overlapped operations: those may
//! complete later, and std ends the process when they do.

use super::event::Event;
use std::fs::File;
use std::io::{Error, Result};
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, ERROR_IO_PENDING};
use windows_sys::Win32::Storage::FileSystem::ReadFile;
use windows_sys::Win32::System::IO::{GetOverlappedResult, OVERLAPPED};

/// Reads at an offset; 0 at the end. Waits until the operation is complete.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> Result<usize> {
    let event = Event::new()?;
    let mut overlapped = OVERLAPPED {
        hEvent: event.without_packets(),
        ..OVERLAPPED::default()
    };
    // Low and high half.
    overlapped.Anonymous.Anonymous.Offset = offset_bytes as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset_bytes >> 32) as u32;
    let handle = file.as_raw_handle();
    let length = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
    let mut got = 0u32;
    // SAFETY: the buffer has this length and is borrowed until the operation has
    // ended, which is waited for below; OVERLAPPED and event live as long.
    let done = unsafe {
        ReadFile(
            handle,
            buffer.as_mut_ptr(),
            length,
            &mut got,
            &mut overlapped,
        )
    };
    let mut error = (done == 0).then(Error::last_os_error);
    let is_pending = |error: &Error| is(error, ERROR_IO_PENDING);
    if error.as_ref().is_some_and(is_pending) {
        // SAFETY: the same OVERLAPPED, still in its place; waits to the end.
        let done = unsafe { GetOverlappedResult(handle, &overlapped, &mut got, 1) };
        error = (done == 0).then(Error::last_os_error);
    }
    match error {
        None => Ok(got as usize),
        Some(error) if is(&error, ERROR_HANDLE_EOF) => Ok(0),
        Some(error) => Err(error),
    }
}

fn is(error: &Error, code: u32) -> bool {
    error.raw_os_error().map(i32::cast_unsigned) == Some(code)
}
