//! Command passthrough, once it is known to be allowed: a character device, opened for each worker,
//! and the size limit of one command.

use super::access::{failed, reopen};
use super::character::{Character, SYSFS};
use super::identity::Status;
use crate::{Access, Error, ErrorKind, Result};
use rustix::fs::OFlags;
use std::fs::File;
use std::path::Path;
use stripewise_device_guard::generic::{self, Node};
use stripewise_machine::linux::nvme::namespace_id;
use stripewise_units::{DeviceNumber, format_bytes};
use stripewise_workload::{CacheMode, Workload};

/// Page size of a command's memory, for pages that are not contiguous.
const PAGE_BYTES: u64 = 4096;

/// The way past the block layer.
#[derive(Debug)]
pub(super) struct Passthrough {
    /// Keeps the device open, and what is reopened from it valid.
    character: Character,
    /// Most bytes of one command.
    command_bytes_max: Option<u64>,
}

impl Passthrough {
    /// Pairs the character device with the block device of its namespace, claimed where it is
    /// written.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] where they do not belong to one namespace.
    pub(super) fn new(
        sysfs: &Path,
        character: Character,
        block: &File,
        name: &str,
    ) -> Result<Passthrough> {
        let way = Passthrough {
            command_bytes_max: command_bytes_max(sysfs, character.namespace.number),
            character,
        };
        way.leads_to(&way.character.file, block, name)?;
        Ok(way)
    }

    /// Opens the character device for operations and checks which namespace the opened one leads
    /// to: a namespace may have gone since, and its name and number been reused. It has no direct
    /// mode, as it has no other; durable writes are requested with `O_DSYNC`, as for files.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] where it is not the namespace of `block`.
    pub(super) fn open(
        &self,
        block: &File,
        cache: CacheMode,
        access: Access,
        name: &str,
    ) -> Result<File> {
        let access = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::WRONLY,
            Access::ReadWrite => OFlags::RDWR,
        };
        let durable = match cache {
            CacheMode::DirectSync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let character = &self.character;
        let file = reopen(&character.file, &character.identity, access | durable, name)?;
        self.leads_to(&file, block, name)?;
        Ok(file)
    }

    /// Returns an error if an open character device is not of the namespace of an open block
    /// device.
    fn leads_to(&self, character: &File, block: &File, name: &str) -> Result<()> {
        let namespace = &self.character.namespace;
        let node = |file: &File| -> Result<Node> {
            let status = Status::of(file).map_err(|os| failed(name, "cannot be examined", os))?;
            Ok(Node {
                number: status.identity.rdevice,
                id: namespace_id(file),
            })
        };
        let sysfs = Path::new(SYSFS);
        match generic::is_renumbered(sysfs, node(character)?, node(block)?, namespace) {
            None => Ok(()),
            Some(why) => {
                let what = format!(
                    "is not the namespace of {} that was judged: {why}",
                    namespace.name
                );
                Err(Error::new(ErrorKind::Refused, name, what).with_hint(
                    "The drive was removed or replaced. Look with `lsblk` and \
                     `ls -l /sys/class/nvme-generic`; run the command again to see the new plan.",
                ))
            }
        }
    }

    /// Refuses sizes too large for one command: nothing splits it on the way.
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

/// Largest command, by the queue limits of the block device. Its memory consists of pages that need
/// not be contiguous.
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
