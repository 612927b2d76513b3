//! The operating system's calls as Windows has them.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::time::Instant;

pub(crate) use super::buffers::{allocate as map, release as unmap};

/// `ERROR_INVALID_HANDLE`: the operation names a file that was not opened.
pub(crate) const BAD_HANDLE: i32 = 6;
/// `ERROR_GEN_FAILURE`, for failures that carry no number.
pub(crate) const UNKNOWN_FAILURE: i32 = 31;

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset_bytes)
}

pub(crate) fn write_at(file: &File, buffer: &[u8], offset_bytes: u64) -> io::Result<usize> {
    file.seek_write(buffer, offset_bytes)
}

pub(crate) fn prefer_huge_pages(_start: NonNull<u8>, _length: usize) {}

pub(crate) fn sharpen_timers() {}

/// Nanoseconds since the first call.
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
