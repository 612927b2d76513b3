//! The way of commands, once it is known to be allowed: a character device, opened for each
//! worker, and what one command takes.

use super::access::{FoundPath, reopen};
use super::identity::Identity;
use crate::{Access, Error, ErrorKind, Result};
use rustix::fs::OFlags;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use stripewise_units::{DeviceNumber, format_bytes};
use stripewise_workload::{CacheMode, Workload};

/// Pages that a command's memory may consist of, where they do not lie side by side.
const PAGE_BYTES: u64 = 4096;

/// The way past the block layer.
#[derive(Debug)]
pub(super) struct Passthrough {
    handle: OwnedFd,
    identity: Identity,
    /// Bytes that a command takes at most.
    command_bytes_max: Option<u64>,
}

impl Passthrough {
    /// By the character device that was found, and the block device of its namespace.
    pub(super) fn new(sysfs: &Path, found: FoundPath, block: DeviceNumber) -> Passthrough {
        Passthrough {
            handle: found.handle,
            identity: found.status.identity,
            command_bytes_max: command_bytes_max(sysfs, block),
        }
    }

    /// Opens the character device for operations. It has no direct mode, as it has no other;
    /// writes that are durable by themselves are asked for by `O_DSYNC`, as of files.
    pub(super) fn open(&self, cache: CacheMode, access: Access, name: &str) -> Result<File> {
        let access = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::WRONLY,
            Access::ReadWrite => OFlags::RDWR,
        };
        let durable = match cache {
            CacheMode::DirectSync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        reopen(&self.handle, &self.identity, access | durable, name)
    }

    /// Refuses what is too large for one command: nothing splits it on the way.
    pub(super) fn fits(&self, workload: &Workload, name: &str) -> Result<()> {
        let block_bytes = workload.block_size_bytes;
        match self.command_bytes_max {
            Some(bytes_max) if block_bytes > bytes_max => {
                let what = format!(
                    "takes commands of at most {}, not {}",
                    format_bytes(bytes_max),
                    format_bytes(block_bytes)
                );
                Err(Error::new(ErrorKind::Usage, name, what).with_hint(
                    "Give a smaller `<--block>`; the block layer would split it, and commands that \
                     are passed through are never split.",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// What a command takes, by the limits of the block device's queue. Its memory is pages
/// that need not lie side by side.
fn command_bytes_max(sysfs: &Path, block: DeviceNumber) -> Option<u64> {
    let queue = sysfs.join(format!("dev/block/{block}/queue"));
    let limit = |file: &str| -> Option<u64> {
        let text = std::fs::read_to_string(queue.join(file)).ok()?;
        text.trim().parse().ok()
    };
    let by_size = limit("max_hw_sectors_kb").map(|kib| kib.saturating_mul(1024));
    let by_pieces = limit("max_segments").map(|pieces| pieces.saturating_mul(PAGE_BYTES));
    by_size.into_iter().chain(by_pieces).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_as_large_as_the_queue_and_its_pieces_allow() {
        let sysfs = tempfile::tempdir().unwrap();
        let queue = sysfs.path().join("dev/block/259:0/queue");
        let number = DeviceNumber {
            major: 259,
            minor: 0,
        };
        assert_eq!(command_bytes_max(sysfs.path(), number), None);
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::write(queue.join("max_hw_sectors_kb"), "512\n").unwrap();
        assert_eq!(command_bytes_max(sysfs.path(), number), Some(512 << 10));
        std::fs::write(queue.join("max_segments"), "127\n").unwrap();
        assert_eq!(command_bytes_max(sysfs.path(), number), Some(508 << 10));
    }
}
