//! An event for waiting for an operation.

use std::io::{Error, Result};
use std::ptr::null;
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::System::Threading::CreateEventW;

/// An owned event, closed when dropped.
#[derive(Debug)]
pub struct Event(HANDLE);

impl Event {
    /// For an OVERLAPPED. The lowest bit suppresses the handle's completion port, if it has one
    /// (documented with `GetQueuedCompletionStatus`).
    pub fn without_packets(&self) -> HANDLE {
        self.0.map_addr(|address| address | 1)
    }

    /// A new event, not signalled.
    ///
    /// # Errors
    /// If Windows cannot create one.
    pub fn new() -> Result<Self> {
        // SAFETY: no name and no attributes; the handle is checked.
        let handle = unsafe { CreateEventW(null(), 1, 0, null()) };
        if handle.is_null() {
            return Err(Error::last_os_error());
        }
        Ok(Event(handle))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it was made by CreateEventW and is closed once.
        unsafe { CloseHandle(self.0) };
    }
}
