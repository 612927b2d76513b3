//! An open NVMe generic character device and the block device of its namespace.

use super::access::{self, FoundPath, reopen};
use super::identity::Identity;
use crate::{Error, ErrorKind, Result};
use rustix::fs::{FileType, OFlags};
use std::fs::File;
use std::path::Path;
use stripewise_device_guard::generic::{self, Namespace};
use stripewise_machine::linux::nvme::namespace_id;

pub(super) const SYSFS: &str = "/sys";

/// An open character device: while it exists, its number cannot be reused for another device.
#[derive(Debug)]
pub(super) struct Character {
    /// Open for reading; not used by workers.
    pub(super) file: File,
    pub(super) identity: Identity,
    /// From the block device, as sysfs had it when this was opened.
    pub(super) namespace: Namespace,
}

impl Character {
    /// Opens what was found.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] where its block device is not known.
    pub(super) fn open(found: FoundPath, name: &str) -> Result<Character> {
        let identity = found.status.identity;
        let file = reopen(&found.handle, &identity, OFlags::RDONLY, name)?;
        let sysfs = Path::new(SYSFS);
        // The driver has to be known before sending any ioctl.
        let namespace = generic::is_generic(sysfs, identity.rdevice)
            .then(|| namespace_id(&file))
            .flatten()
            .and_then(|id| generic::block_device_of(sysfs, identity.rdevice, id))
            .ok_or_else(|| unknown(name))?;
        Ok(Character {
            file,
            identity,
            namespace,
        })
    }

    /// The block device of the same namespace.
    pub(super) fn block_device(&self, name: &str) -> Result<FoundPath> {
        let block = access::find(&Path::new("/dev").join(&self.namespace.name))?;
        let identity = block.status.identity;
        match identity.kind == FileType::BlockDevice && identity.rdevice == self.namespace.number {
            true => Ok(block),
            false => Err(unknown(name)),
        }
    }
}

fn unknown(name: &str) -> Error {
    let what =
        "leads to a namespace whose block device is not found, so nothing is known of who uses it";
    Error::new(ErrorKind::Refused, name, what).with_hint(
        "Look with `lsblk` and `ls -l /sys/class/nvme-generic`; name the block device itself.",
    )
}
