//! The backing file of a loop device, as reported by the device.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use stripewise_units::DeviceNumber;

const LOOP_GET_STATUS64: u32 = 0x4c05;

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

/// The backing file of a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backing {
    /// `st_dev` of the backing file; on btrfs that of the file system, not of the
    /// subvolume.
    pub device: DeviceNumber,
    /// `st_ino` of the backing file.
    pub inode: u64,
    /// `st_rdev` of the backing file; 0:0 where it is not a device itself.
    pub rdevice: DeviceNumber,
}

/// Queries a loop device; `None` where it is not in use or permission is denied.
pub fn backing(path: &Path) -> Option<Backing> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(path)
        .ok()?;
    let mut info = std::mem::MaybeUninit::<LoopInfo64>::zeroed();
    // SAFETY: the descriptor is open; the kernel writes at most one
    // `struct loop_info64`, whose layout this is; zeroed memory is a valid one.
    let (result, info) = unsafe {
        let result = libc::ioctl(
            file.as_raw_fd(),
            LOOP_GET_STATUS64 as libc::Ioctl,
            info.as_mut_ptr(),
        );
        (result, info.assume_init())
    };
    (result == 0).then_some(Backing {
        device: DeviceNumber::from_raw(info.device),
        inode: info.inode,
        rdevice: DeviceNumber::from_raw(info.rdevice),
    })
}
