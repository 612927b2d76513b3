//! The calls to the kernel - its block layer, its mounts, the end of children - that no
//! safe library makes for us. All unsafe code of the crate is here.

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

/// Has the kernel read the partition table again. It fails where a partition is
/// in use, and where the kernel does not scan this device.
pub(super) fn reread_table(disk: &File) -> io::Result<()> {
    plain(disk, BLKRRPART)
}

/// Writes back and forgets what the page cache holds of a device.
pub(super) fn flush_buffers(disk: &File) -> io::Result<()> {
    plain(disk, BLKFLSBUF)
}

/// Stops an md array: nobody but this descriptor may have it open.
pub(super) fn stop_array(array: &File) -> io::Result<()> {
    plain(array, STOP_ARRAY)
}

/// Gives this thread, and those that it starts, a view of the mounts of their own: what is
/// mounted in it is seen nowhere else, and is gone when the last of them is.
pub(super) fn own_mounts() -> io::Result<()> {
    // SAFETY: takes no pointers. The mounts that are there are copied.
    result(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the path is a string with its end; the other pointers may be null for a
    // change of propagation.
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
    // SAFETY: all are strings with their ends, which the kernel copies.
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

/// Unmounts what is mounted at a path that is no link.
pub(super) fn unmount(at: &CStr) -> io::Result<()> {
    // SAFETY: a string with its end.
    result(unsafe { libc::umount2(at.as_ptr(), libc::UMOUNT_NOFOLLOW) })
}

/// Lets a program, and nothing else that is started meanwhile, have descriptors of ours, by
/// their numbers. They have to stay open until it runs.
pub(super) fn inherits(command: &mut Command, descriptors: Vec<RawFd>) {
    let keep_open = move || {
        descriptors.iter().try_for_each(|descriptor| {
            // SAFETY: takes no pointers, may be made between fork and exec, and changes the
            // child's own copy of the descriptor.
            result(unsafe { libc::fcntl(*descriptor, libc::F_SETFD, 0) })
        })
    };
    // SAFETY: the closure makes system calls that may be made there, and allocates nothing.
    unsafe { command.pre_exec(keep_open) };
}

/// Has the kernel end a program when the thread that starts it ends, whatever ends it.
pub(super) fn ends_with_us(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: takes no pointers; both calls may be made between fork and exec.
        let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: as above.
        let still_there = unsafe { libc::getppid() };
        // Whoever is gone by now sends no signal.
        match u32::try_from(still_there) == Ok(parent) {
            true => result(asked),
            false => Err(io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: the closure only makes two system calls that may be made there, and
    // allocates nothing.
    unsafe { command.pre_exec(ask) };
}

fn result(answer: c_int) -> io::Result<()> {
    match answer {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
