//! The two questions to the kernel that no safe library asks for us: who is the
//! only one to have this file open, and what does a loop device stand on.
//!
//! All unsafe code of the crate is here. Nothing in it changes a file or device.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use stripewise_disk_inspect::DeviceNumber;

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;
/// Not in the `libc` crate for this target; `fcntl.h`.
const F_SETSIG: libc::c_int = 10;

/// What a loop device stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopBacking {
    /// `st_dev` of the backing file.
    pub device: DeviceNumber,
    /// `st_ino` of the backing file.
    pub inode: u64,
    /// `st_rdev` of the backing file, where it is a device itself.
    pub rdevice: DeviceNumber,
}

/// Asks an open loop device; `None` where it is not in use.
pub(super) fn loop_backing(device: &File) -> io::Result<Option<LoopBacking>> {
    let mut info = std::mem::MaybeUninit::<LoopInfo64>::zeroed();
    // SAFETY: the descriptor is open for the whole call, and the kernel writes
    // at most one `loop_info64` to the pointer, which has room for one.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64, info.as_mut_ptr()) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENXIO) => Ok(None),
            _ => Err(error),
        };
    }
    // SAFETY: all bit patterns are valid for its integers, and it was zeroed.
    let info = unsafe { info.assume_init() };
    Ok(Some(LoopBacking {
        device: DeviceNumber::from_raw(info.device),
        inode: info.inode,
        rdevice: DeviceNumber::from_raw(info.rdevice),
    }))
}

/// What the kernel says to "does anybody else have this file open?".
#[derive(Debug)]
pub(super) enum Sole {
    /// Nobody else, in no process, mapping, loop device or swap area.
    Yes,
    /// Somebody else.
    No,
    /// It does not say: not the owner of the file, or a file system without leases.
    Unknown(io::Error),
}

/// Takes and gives back a write lease, which the kernel grants only on a file
/// that nobody else has open (`fcntl(2)`, `F_SETLEASE`). The file must be open
/// once in this process.
pub(super) fn sole_opener(file: &File) -> Sole {
    let descriptor = file.as_raw_fd();
    // If somebody opens the file in the microseconds while we hold the lease,
    // the kernel sends a signal; the default one, SIGIO, would end the process,
    // while SIGURG is ignored unless somebody asked for it.
    // SAFETY: `fcntl` with integer arguments touches no memory of ours.
    let prepared = unsafe { libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) };
    if prepared < 0 {
        return Sole::Unknown(io::Error::last_os_error());
    }
    // SAFETY: as above.
    let result = unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK as libc::c_int) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN) => Sole::No,
            _ => Sole::Unknown(error),
        };
    }
    // SAFETY: as above. It cannot fail for a lease that is held.
    unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK as libc::c_int) };
    Sole::Yes
}
