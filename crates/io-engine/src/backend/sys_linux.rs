//! The operating system's calls on Linux.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::{NonNull, null_mut};

use crate::PIECE_BYTES;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{ReadWriteFlags, preadv2, pwritev2};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Engines of several threads may share a file.
pub(crate) const FILES_SERVE_ONE_ENGINE: bool = false;
/// See [`crate::CAN_SCATTER`].
pub(crate) const CAN_SCATTER: bool = true;
/// In addition to `RWF_` flags: the operation is [scattered](crate::Manner::scattered).
pub(crate) const SCATTERED: u32 = 1 << 31;
/// The system's preferred engine.
pub(crate) const NATIVE_ENGINE: crate::EngineName = crate::EngineName::Uring;
/// `EBADF`: the operation names a file that was not opened.
pub(crate) const BAD_HANDLE: i32 = 9;
/// `EINVAL`: returned for a misaligned direct operation.
#[cfg_attr(not(feature = "conformance"), allow(dead_code))]
pub(crate) const INVALID_ARGUMENT: i32 = 22;
/// `EIO`, for failures without a number.
const UNKNOWN_FAILURE: i32 = 5;

/// The error number of a failure in completions.
pub(crate) fn failure_number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(UNKNOWN_FAILURE)
}

/// `flags`: see [`IoFeatures`](crate::Manner).
#[inline]
pub(crate) fn read_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    flags: u32,
) -> io::Result<usize> {
    if flags == 0 {
        return file.read_at(buffer, offset_bytes);
    }
    if flags & SCATTERED != 0 {
        return read_scattered(file, buffer, offset_bytes, flags & !SCATTERED);
    }
    let flags = ReadWriteFlags::from_bits_retain(flags);
    let read = preadv2(file, &mut [IoSliceMut::new(buffer)], offset_bytes, flags)?;
    Ok(read)
}

/// `flags`: see [`IoFeatures`](crate::Manner).
#[inline]
pub(crate) fn write_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    flags: u32,
) -> io::Result<usize> {
    if flags == 0 {
        return file.write_at(buffer, offset_bytes);
    }
    if flags & SCATTERED != 0 {
        return write_gathered(file, buffer, offset_bytes, flags & !SCATTERED);
    }
    let flags = ReadWriteFlags::from_bits_retain(flags);
    let written = pwritev2(file, &[IoSlice::new(buffer)], offset_bytes, flags)?;
    Ok(written)
}

/// `BLKDISCARD`: `_IO(0x12, 119)`, of two `u64`, first byte and length.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// The file is a block device.
pub(crate) fn is_block_device(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata()
        .is_ok_and(|found| found.file_type().is_block_device())
}

/// Discards these bytes: in a file they become a hole, and the file keeps its size. Each type
/// refuses the other's call: a block device is not hole-punched, as that writes zeros.
pub(crate) fn discard(
    file: &File,
    on_device: bool,
    offset_bytes: u64,
    length_bytes: u64,
) -> io::Result<()> {
    if !on_device {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        return Ok(fallocate(file, hole, offset_bytes, length_bytes)?);
    }
    let range = [offset_bytes, length_bytes];
    // SAFETY: the kernel reads two numbers of 64 bits from the given address.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, &raw const range) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Most pieces that Linux accepts at once (`IOV_MAX`), minus one for the rest of a buffer.
const PIECES_MAX: usize = 1023;

/// The pieces of a buffer that are reordered in memory, and the rest, which is one piece.
fn pieces(buffer: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let count = (buffer.len() / PIECE_BYTES).min(PIECES_MAX);
    buffer.split_at_mut(count * PIECE_BYTES)
}

/// Reverses the order of the pieces.
fn turn_round(pieces: &mut [u8]) {
    let half = pieces.len() / PIECE_BYTES / 2 * PIECE_BYTES;
    let (front, back) = pieces.split_at_mut(half);
    let front = front.chunks_exact_mut(PIECE_BYTES);
    let back = back.rchunks_exact_mut(PIECE_BYTES);
    front
        .zip(back)
        .for_each(|(one, other)| one.swap_with_slice(other));
}

/// Reads into memory pieces from the last to the first, then restores their order.
fn read_scattered(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    flags: u32,
) -> io::Result<usize> {
    let (scattered, rest) = pieces(buffer);
    let mut slices: Vec<IoSliceMut<'_>> = (scattered.rchunks_exact_mut(PIECE_BYTES))
        .chain((!rest.is_empty()).then_some(rest))
        .map(IoSliceMut::new)
        .collect();
    let flags = ReadWriteFlags::from_bits_retain(flags);
    let read = preadv2(file, &mut slices, offset_bytes, flags);
    turn_round(scattered);
    Ok(read?)
}

/// Writes from memory pieces from the last to the first; the buffer is unchanged afterwards.
fn write_gathered(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    flags: u32,
) -> io::Result<usize> {
    let (scattered, rest) = pieces(buffer);
    turn_round(scattered);
    let slices: Vec<IoSlice<'_>> = (scattered.rchunks_exact(PIECE_BYTES))
        .chain((!rest.is_empty()).then_some(&*rest))
        .map(IoSlice::new)
        .collect();
    let flags = ReadWriteFlags::from_bits_retain(flags);
    let written = pwritev2(file, &slices, offset_bytes, flags);
    turn_round(scattered);
    Ok(written?)
}

/// Zeroed memory whose pages are allocated on first touch.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh private mapping at an address of the kernel's choice touches no memory in
    // use.
    let start = unsafe {
        mmap_anonymous(
            null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    }?;
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Requests 2 MiB pages: fewer TLB misses and fewer segments per operation.
pub(crate) fn prefer_huge_pages(start: NonNull<u8>, length: usize) {
    // SAFETY: advice on a mapping of `map`; it does not change the contents. If refused (no huge
    // pages in this kernel), nothing is lost.
    let _ = unsafe { madvise(start.as_ptr().cast(), length, Advice::LinuxHugepage) };
}

/// Frees memory of `map`.
///
/// # Safety
/// `start` and `length` are those of one `map`, and it is no longer used, not even by the kernel.
pub(crate) unsafe fn unmap(start: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise.
    let _ = unsafe { munmap(start.as_ptr().cast::<c_void>(), length) };
}

/// Makes this thread's timed waits end on time: by default Linux may round each up by 50 us, which
/// would show as schedule lag of open-loop arrivals.
pub(crate) fn minimise_timer_slack() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Nanoseconds of CLOCK_MONOTONIC, which starts at boot. Read through the C library, which avoids a
/// system call, even under valgrind.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the given structure only. This clock exists on every
    // Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Resource usage of the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadUse {
    /// How often it yielded its processor to wait for something. Preemptions do not count.
    pub sleeps: u64,
    /// CPU time, user and system, up to now.
    pub cpu_ns: u64,
}

/// Resource usage of the calling thread.
pub(crate) fn thread_use() -> ThreadUse {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a `rusage` that the kernel fills in; this kind exists since Linux
    // 2.6.26, and on failure the zeros stay.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    ThreadUse {
        sleeps: usage.ru_nvcsw.cast_unsigned(),
        cpu_ns: thread_cpu_ns(),
    }
}

/// Of the calling thread. `getrusage` excludes what it has used since it was last switched or
/// interrupted by the timer: up to the cost of a batch, so that large ones would seem cheap.
fn thread_cpu_ns() -> u64 {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the pointer is to a `timespec` that the kernel fills in; on failure the zeros stay.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
