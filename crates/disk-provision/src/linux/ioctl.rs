//! The calls to the kernel's block layer that no safe library makes for us. All
//! unsafe code of the crate is here.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

// `linux/fs.h`: `_IO(0x12, n)`.
const BLKRRPART: libc::Ioctl = 0x125f;
const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKPG: libc::Ioctl = 0x1269;
// `linux/blkpg.h`.
const BLKPG_ADD_PARTITION: c_int = 1;
const BLKPG_DEL_PARTITION: c_int = 2;

/// `struct blkpg_partition`.
#[repr(C)]
struct BlkpgPartition {
    start: i64,
    length: i64,
    number: c_int,
    device_name: [u8; 64],
    volume_name: [u8; 64],
}

/// `struct blkpg_ioctl_arg`.
#[repr(C)]
struct BlkpgArgument {
    operation: c_int,
    flags: c_int,
    data_length: c_int,
    data: *mut BlkpgPartition,
}

/// Has the kernel read the partition table again. It fails where a partition is
/// in use, and where the kernel does not scan this device.
pub(super) fn reread_table(disk: &File) -> io::Result<()> {
    plain(disk, BLKRRPART)
}

/// Writes back and forgets what the page cache holds of a device.
pub(super) fn flush_buffers(disk: &File) -> io::Result<()> {
    plain(disk, BLKFLSBUF)
}

fn plain(disk: &File, request: libc::Ioctl) -> io::Result<()> {
    // SAFETY: the descriptor is open for the whole call; these requests take no
    // argument and touch no memory of ours.
    let result = unsafe { libc::ioctl(disk.as_raw_fd(), request, 0) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Has the kernel show a partition. Bytes, whole sectors.
pub(super) fn add_partition(disk: &File, number: u32, start: u64, length: u64) -> io::Result<()> {
    change(disk, BLKPG_ADD_PARTITION, number, start, length)
}

/// Has the kernel show a partition no more; nothing on the disk changes.
pub(super) fn delete_partition(disk: &File, number: u32) -> io::Result<()> {
    change(disk, BLKPG_DEL_PARTITION, number, 0, 0)
}

fn change(disk: &File, operation: c_int, number: u32, start: u64, length: u64) -> io::Result<()> {
    let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let mut partition = BlkpgPartition {
        start: i64::try_from(start).map_err(too_large)?,
        length: i64::try_from(length).map_err(too_large)?,
        number: c_int::try_from(number).map_err(too_large)?,
        device_name: [0; 64],
        volume_name: [0; 64],
    };
    let mut argument = BlkpgArgument {
        operation,
        flags: 0,
        data_length: size_of::<BlkpgPartition>() as c_int,
        data: &raw mut partition,
    };
    // SAFETY: the descriptor is open; the kernel reads one argument and the
    // partition that it points to, both of which live until after the call, have
    // the layout of `linux/blkpg.h`, and are not kept.
    let result = unsafe { libc::ioctl(disk.as_raw_fd(), BLKPG, &raw mut argument) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
