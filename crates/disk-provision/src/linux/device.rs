//! The guard's devices, with additions for making tables and file systems.

use super::ioctl;
use crate::disk::Disk;
use crate::layout::Geometry;
use crate::saved::SavedDevice;
use crate::{Destroy, Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stripewise_device_guard::claims::Availability;
use stripewise_device_guard::device::{self, Access, Claim, Permission};
use stripewise_disk_inspect::storage::BlockDeviceKind;

/// A block device that was found under a path.
pub(super) struct Device(device::Device);

impl Deref for Device {
    type Target = device::Device;

    fn deref(&self) -> &device::Device {
        &self.0
    }
}

impl Device {
    /// Resolves a path once.
    pub fn find(path: &Path) -> Result<Device> {
        device::Device::find(path).map(Device)
    }

    /// Its size and sectors.
    pub fn geometry(&self) -> Result<Geometry> {
        let file = self.open()?;
        let size_bytes = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(|os| failed(&self.target, "cannot ask for its size", os.into()))?;
        if size_bytes == 0 {
            return Err(
                Error::new(ErrorKind::Unusable, &self.target, "has a size of 0 bytes").with_hint(
                    "There is no medium in it, or the loop device is not in use (`losetup -a`).",
                ),
            );
        }
        let logical = self.facts.queue.logical_sector_bytes.unwrap_or(512);
        Ok(Geometry {
            size_bytes,
            logical_sector_bytes: logical,
            physical_sector_bytes: self.facts.queue.physical_sector_bytes.unwrap_or(logical),
        })
    }

    /// The identity stored with a saved table.
    pub fn identity(&self, geometry: &Geometry) -> SavedDevice {
        SavedDevice {
            name: self.name.clone(),
            model: self.facts.model.clone(),
            serial: self.facts.serial.clone(),
            size_bytes: geometry.size_bytes,
            logical_sector_bytes: geometry.logical_sector_bytes,
        }
    }

    /// Whether it is a partition.
    pub fn is_partition(&self) -> bool {
        self.facts.kind == BlockDeviceKind::Partition
    }

    /// Opens it for reading.
    pub fn open(&self) -> Result<File> {
        self.open_to_read()
    }

    /// Opens it for writing, while it is claimed.
    pub fn open_claimed(&self, claim: &Claim) -> Result<File> {
        self.open_to_write(claim)
    }

    /// Judges, claims, and judges again, with the permission to destroy.
    pub fn claim_to_destroy(&self, destroy: &Destroy<'_>, access: Access) -> Result<Claim> {
        let permission = Permission {
            destroy: Some(destroy.name),
            unseen_ok: destroy.busy_ok,
            store: destroy.store,
        };
        self.claim(&permission, access)
    }
}

/// Obstacles and undetermined users, for plans.
pub(super) fn conflicts_and_unverified(
    availability: Availability,
) -> (Option<String>, Option<String>) {
    match availability {
        Availability::Free => (None, None),
        Availability::Blocked(reason) => (Some(reason), None),
        Availability::Unverified(reason) => (None, Some(reason)),
    }
}

/// An open device, through the page cache; reads after a flush come from the device.
pub(super) struct OpenDisk {
    pub file: File,
    pub size_bytes: u64,
}

impl Disk for OpenDisk {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset_bytes)
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        // Drops the page cache; if not permitted, the advice does the same for clean pages without
        // other users.
        if ioctl::flush_buffers(&self.file).is_err() {
            let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
        }
        Ok(())
    }
}

/// An error of the operating system, with its class and a hint by its number.
pub(super) fn failed(target: &str, what: &str, os: io::Error) -> Error {
    device::failed(target, what, os)
}
