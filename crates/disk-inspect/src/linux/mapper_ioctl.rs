//! The kernel's table of a device-mapper device (`linux/dm-ioctl.h`). Read-only: `DM_TABLE_STATUS`
//! changes nothing, and keys of `crypt` targets are blanked before anything is stored
//! (`disk_formats::mapper_answer`).

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use stripewise_disk_formats::mapper_answer::{lines, word};

/// `_IOWR(0xfd, 12, struct dm_ioctl)`.
const DM_TABLE_STATUS: u32 = 0xc138_fd0c;
const HEADER_BYTES: usize = 312;
const STATUS_TABLE_FLAG: u32 = 1 << 4;
const BUFFER_FULL_FLAG: u32 = 1 << 8;
/// Largest buffer for retries.
const BUFFER_BYTES_MAX: usize = 1 << 20;

/// The lines of a device's table, as `dmsetup table` prints them without the name.
pub fn table(name: &str) -> Result<Vec<String>> {
    // struct dm_ioctl: name at 48 with room for 128 bytes, zero-terminated.
    if name.is_empty() || name.len() > 127 {
        return Err(Error::new(ErrorKind::InvalidInput, "it has no name"));
    }
    let control = OpenOptions::new().read(true).open("/dev/mapper/control")?;
    let mut size = 16 << 10;
    loop {
        let mut buffer = vec![0u8; size];
        buffer[0..4].copy_from_slice(&4u32.to_ne_bytes());
        buffer[12..16].copy_from_slice(&(size as u32).to_ne_bytes());
        buffer[16..20].copy_from_slice(&(HEADER_BYTES as u32).to_ne_bytes());
        buffer[28..32].copy_from_slice(&STATUS_TABLE_FLAG.to_ne_bytes());
        buffer[48..48 + name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the descriptor is open; the buffer starts with a `struct dm_ioctl` whose
        // `data_size` is the buffer's length, and the kernel writes no more than that.
        let result = unsafe {
            libc::ioctl(
                control.as_raw_fd(),
                DM_TABLE_STATUS as libc::Ioctl,
                buffer.as_mut_ptr(),
            )
        };
        if result != 0 {
            return Err(Error::last_os_error());
        }
        if word(&buffer, 28) & BUFFER_FULL_FLAG == 0 {
            return Ok(lines(&buffer));
        }
        size *= 4;
        if size > BUFFER_BYTES_MAX {
            return Err(Error::other("its table is too large"));
        }
    }
}
