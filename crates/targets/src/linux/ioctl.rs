//! A kernel query that no safe library offers: whether this process is the only one to have the
//! file open.
//!
//! Contains all unsafe code of the crate. Nothing here changes a file or device.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Not in the `libc` crate for this target; `fcntl.h`.
const F_SETSIG: libc::c_int = 10;

/// The kernel's answer to "does anyone else have this file open?".
#[derive(Debug)]
pub(super) enum SoleOpener {
    /// No one else: no process, mapping, loop device or swap area.
    Yes,
    /// Someone else has it open.
    No,
    /// Unknown: not the owner of the file, or a file system without leases.
    Unknown(io::Error),
}

/// Takes and releases a write lease, which the kernel grants only on a file that no one else has
/// open (`fcntl(2)`, `F_SETLEASE`). The file must be open exactly once in this process.
pub(super) fn sole_opener(file: &File) -> SoleOpener {
    let descriptor = file.as_raw_fd();
    match take_write_lease(file) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return SoleOpener::No,
        Err(error) => return SoleOpener::Unknown(error),
    }
    // SAFETY: `fcntl` with integer arguments touches no memory of ours. It cannot fail
    // for a lease that is held.
    unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK as libc::c_int) };
    SoleOpener::Yes
}

/// Takes a write lease, held until it is released or the file is closed.
pub(super) fn take_write_lease(file: &File) -> io::Result<()> {
    let descriptor = file.as_raw_fd();
    // If another process opens the file in the microseconds that the lease is held, the kernel
    // sends a signal; the default, SIGIO, would end the process, while SIGURG is ignored unless
    // handled.
    // SAFETY: `fcntl` with integer arguments touches no memory of ours.
    let prepared = unsafe { libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) };
    if prepared < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    let result = unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK as libc::c_int) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
