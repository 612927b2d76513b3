//! What an NVMe namespace calls itself.

use std::fs::File;
use std::os::fd::AsRawFd;

/// `_IO('N', 0x40)` of `linux/nvme_ioctl.h`.
const NVME_IOCTL_ID: u32 = 0x4e40;

/// The namespace's id within its controller. Only devices of the NVMe driver may be asked:
/// to those of others the number may mean something else.
#[must_use]
pub fn namespace_id(device: &File) -> Option<u32> {
    // SAFETY: an ioctl without an argument, which changes nothing.
    let id = unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ID as libc::Ioctl) };
    u32::try_from(id).ok().filter(|id| *id > 0)
}
