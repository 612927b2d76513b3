//! The kernel calls (block layer, mounts, child termination) that no safe library offers. Contains
//! all unsafe code of the crate.

use std::ffi::{CStr, c_int, c_ulong};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

// `linux/fs.h`: `_IO(0x12, n)`.
const BLKRRPART: libc::Ioctl = 0x125f;
const BLKFLSBUF: libc::Ioctl = 0x1261;
const BLKPG: libc::Ioctl = 0x1269;
// `linux/raid/md_u.h`: `_IO(9, 0x32)`.
const STOP_ARRAY: libc::Ioctl = 0x0932;
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

/// Has the kernel reread the partition table. Fails if a partition is in use, and if the kernel
/// does not scan this device.
pub(super) fn reread_table(disk: &File) -> io::Result<()> {
    plain(disk, BLKRRPART)
}

/// Flushes and drops a device's page cache.
pub(super) fn flush_buffers(disk: &File) -> io::Result<()> {
    plain(disk, BLKFLSBUF)
}

/// Stops an md array: no other descriptor may have it open.
pub(super) fn stop_array(array: &File) -> io::Result<()> {
    plain(array, STOP_ARRAY)
}

/// Gives this thread, and those it starts, a private mount namespace: mounts in it are visible
/// nowhere else, and end with the last of the threads.
pub(super) fn own_mounts() -> io::Result<()> {
    // SAFETY: takes no pointers. Existing mounts are copied.
    result(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the path is zero-terminated; the other pointers may be null for a change of
    // propagation.
    result(unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) })
}

/// Mounts a device.
pub(super) fn mount(
    device: &CStr,
    at: &CStr,
    file_system: &CStr,
    options: &CStr,
) -> io::Result<()> {
    let flags: c_ulong = libc::MS_NODEV | libc::MS_NOSUID | libc::MS_NOEXEC | libc::MS_NOATIME;
    // SAFETY: all are zero-terminated strings, which the kernel copies.
    result(unsafe {
        libc::mount(
            device.as_ptr(),
            at.as_ptr(),
            file_system.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    })
}

/// Unmounts the file system at a path that is not a link.
pub(super) fn unmount(at: &CStr) -> io::Result<()> {
    // SAFETY: a zero-terminated string.
    result(unsafe { libc::umount2(at.as_ptr(), libc::UMOUNT_NOFOLLOW) })
}

/// Lets a program, and nothing else started meanwhile, inherit these descriptors by number. They
/// must stay open until it runs.
pub(super) fn inherits(command: &mut Command, descriptors: Vec<RawFd>) {
    let keep_open = move || {
        descriptors.iter().try_for_each(|descriptor| {
            // SAFETY: takes no pointers, is async-signal-safe between fork and exec, and changes
            // the child's own copy of the descriptor.
            result(unsafe { libc::fcntl(*descriptor, libc::F_SETFD, 0) })
        })
    };
    // SAFETY: the closure makes only system calls that are allowed there, and allocates nothing.
    unsafe { command.pre_exec(keep_open) };
}

/// Has the kernel end a program when the thread that starts it ends, however that happens.
pub(super) fn stop_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let request_signal = move || {
        // SAFETY: takes no pointers; both calls may be made between fork and exec.
        let requested = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: as above.
        let still_there = unsafe { libc::getppid() };
        // A parent that is already gone sends no signal.
        match u32::try_from(still_there) == Ok(parent) {
            true => result(requested),
            false => Err(io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: the closure makes only two system calls that are allowed there, and allocates
    // nothing.
    unsafe { command.pre_exec(request_signal) };
}

fn result(answer: c_int) -> io::Result<()> {
    match answer {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn plain(disk: &File, request: libc::Ioctl) -> io::Result<()> {
    // SAFETY: the descriptor is open for the whole call; these requests take no argument and access
    // no memory of ours.
    let result = unsafe { libc::ioctl(disk.as_raw_fd(), request, 0) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Has the kernel add a partition. Bytes, whole sectors.
pub(super) fn add_partition(disk: &File, number: u32, start: u64, length: u64) -> io::Result<()> {
    change(disk, BLKPG_ADD_PARTITION, number, start, length)
}

/// Has the kernel drop a partition; nothing on the disk changes.
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
