//! The operating system's calls on other Unixes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::time::Instant;

pub(crate) use super::buffers::{allocate as map, release as unmap};

/// Engines of several threads may share a file.
pub(crate) const FILES_SERVE_ONE_ENGINE: bool = false;
/// See [`crate::CAN_SCATTER`].
pub(crate) const CAN_SCATTER: bool = false;
/// No flag here.
pub(crate) const SCATTERED: u32 = 0;
/// The system's preferred engine.
pub(crate) const NATIVE_ENGINE: crate::EngineName = crate::EngineName::Threads;
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

/// No discards here: `targets` refuses them earlier.
pub(crate) fn is_block_device(_file: &File) -> bool {
    false
}

/// See [`is_block_device`].
pub(crate) fn discard(
    _file: &File,
    _on_device: bool,
    _offset_bytes: u64,
    _length_bytes: u64,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn read_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    _flags: u32,
) -> io::Result<usize> {
    file.read_at(buffer, offset_bytes)
}

pub(crate) fn write_at(
    file: &File,
    buffer: &mut [u8],
    offset_bytes: u64,
    _flags: u32,
) -> io::Result<usize> {
    file.write_at(buffer, offset_bytes)
}

pub(crate) fn prefer_huge_pages(_start: NonNull<u8>, _length: usize) {}

pub(crate) fn minimise_timer_slack() {}

/// Nanoseconds since the first call.
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
