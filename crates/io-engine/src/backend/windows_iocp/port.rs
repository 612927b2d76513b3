//! The completion port: files bound to it, and packets taken from it.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null_mut;
use std::sync::Arc;

use windows_sys::Win32::Foundation::{INVALID_HANDLE_VALUE, WAIT_TIMEOUT};
use windows_sys::Win32::Storage::FileSystem::SetFileCompletionNotificationModes;
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
    PostQueuedCompletionStatus,
};
use windows_sys::Win32::System::WindowsProgramming::{
    FILE_SKIP_COMPLETION_PORT_ON_SUCCESS, FILE_SKIP_SET_EVENT_ON_HANDLE,
};

/// Packets of files have this key; their status is in the OVERLAPPED.
pub(super) const KEY_FILE: usize = 0;
/// Packets of [`Port::post`] have this one; their byte count is an error code.
pub(super) const KEY_POSTED: usize = 1;

/// A port, which a helper may share to post to it.
#[derive(Clone)]
pub(super) struct Port(Arc<OwnedHandle>);

impl Port {
    /// A port from which one thread at a time takes packets.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no file and no port: makes a port. The result is checked.
        let handle = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, null_mut(), 0, 1) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else has it.
        Ok(Port(Arc::new(unsafe {
            OwnedHandle::from_raw_handle(handle)
        })))
    }

    /// Routes a file's completions here, for as long as the file is open. Returns whether an
    /// operation that completes within its call queues no packet: for files on disks that is safe,
    /// as nothing between the program and the file system can queue its own packets (with sockets
    /// something can).
    pub(super) fn adopt(&self, file: &File) -> io::Result<bool> {
        let (file, port) = (file.as_raw_handle(), self.0.as_raw_handle());
        // SAFETY: two open handles. The file's must be overlapped and not bound to another port, or
        // the call fails.
        if unsafe { CreateIoCompletionPort(file, port, KEY_FILE, 0) }.is_null() {
            return Err(io::Error::last_os_error());
        }
        let modes = FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE;
        // SAFETY: an open handle.
        Ok(unsafe { SetFileCompletionNotificationModes(file, modes as u8) } != 0)
    }

    /// Takes packets, waiting up to `timeout_ms` for the first one. Returns their number; 0 after a
    /// timeout.
    pub(super) fn take(
        &self,
        entries: &mut [OVERLAPPED_ENTRY],
        timeout_ms: u32,
    ) -> io::Result<usize> {
        let mut count = 0;
        let length = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        // SAFETY: the array has that length; the wait is not alertable.
        let done = unsafe {
            GetQueuedCompletionStatusEx(
                self.0.as_raw_handle(),
                entries.as_mut_ptr(),
                length,
                &raw mut count,
                timeout_ms,
                0,
            )
        };
        if done != 0 {
            return Ok(count as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error().map(i32::cast_unsigned) {
            Some(WAIT_TIMEOUT) => Ok(0),
            _ => Err(error),
        }
    }

    /// Posts a packet: an operation on `overlapped` ended with a Win32 `code`.
    pub(super) fn post(&self, code: u32, overlapped: *const OVERLAPPED) {
        let port = self.0.as_raw_handle();
        // SAFETY: an open port; the pointer is passed through and not dereferenced. It fails only
        // without memory, and then the operation counts as abandoned at the end.
        unsafe { PostQueuedCompletionStatus(port, code, KEY_POSTED, overlapped) };
    }
}

/// Asks the system to cancel everything in flight on a file.
pub(super) fn cancel(file: &File) {
    // SAFETY: an open handle; a null structure means all of them.
    unsafe { CancelIoEx(file.as_raw_handle(), std::ptr::null()) };
}
