//! Queries about the disks of a [`System`].

use crate::device_log::DeviceLog;
use crate::identity::Identity;
use crate::storage::{BlockDevice, FileLayout, Storage, Use};
use crate::survey::{Request, Survey};
use crate::{Result, platform};
use std::fs::File;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::DeviceNumber;

/// Queries about the disks of a machine, live or captured.
pub trait Inspect {
    /// The identity of a file or device on this machine, independent of the name used; `None` if
    /// nothing has this name.
    fn identity(&self, path: &Path) -> Option<Identity>;

    /// The storage below an existing file, directory or block device. Follows symbolic links; opens
    /// neither devices nor pipes.
    ///
    /// # Errors
    /// If the path does not exist or access is denied.
    fn storage_of_path(&self, path: &Path) -> Result<Storage>;

    /// The storage below an open file or device, even if it was renamed or unlinked.
    fn storage_of_file(&self, file: &File) -> Result<Storage>;

    /// The storage below a block device.
    ///
    /// # Errors
    /// If this machine has no such device.
    fn storage_of_device(&self, number: DeviceNumber) -> Result<Storage>;

    /// One block device, with what is below it.
    ///
    /// # Errors
    /// If this machine has no such device.
    fn device(&self, number: DeviceNumber) -> Result<BlockDevice>;

    /// The same by kernel name (`sda1`) or path (`/dev/sda1`), including the links in `/dev`.
    ///
    /// # Errors
    /// If this machine has no such device.
    fn device_named(&self, name: &str) -> Result<BlockDevice>;

    /// Numbers of all block devices, including partitions, ordered by name.
    fn devices(&self) -> Vec<DeviceNumber>;

    /// Partitions of a disk ordered by start; empty for a partition.
    fn partitions(&self, disk: DeviceNumber) -> Vec<BlockDevice>;

    /// Disks with their partitions, and volumes with their locations. Reads partition tables and
    /// superblocks where permitted.
    ///
    /// # Errors
    /// If the requested device does not exist.
    fn survey(&self, request: &Request) -> Result<Survey>;

    /// The users of a device: mounts, swap, holders and loop devices of the device itself, of its
    /// partitions and (for a partition) of its disk. Informational; only opening with `O_EXCL`
    /// decides.
    fn uses_of_device(&self, number: DeviceNumber) -> Vec<Use>;

    /// Current statistics of the NVMe devices at the bottom of a storage stack; a few commands to
    /// each.
    fn device_logs(&self, storage: &Storage) -> Vec<DeviceLog>;

    /// The users of an open file apart from processes that have it open: loop devices and swap.
    fn uses_of_file(&self, file: &File) -> Vec<Use>;
}

impl Inspect for System {
    fn identity(&self, path: &Path) -> Option<Identity> {
        platform::identity(self, path)
    }

    fn storage_of_path(&self, path: &Path) -> Result<Storage> {
        platform::storage_of_path(self, path)
    }

    fn storage_of_file(&self, file: &File) -> Result<Storage> {
        platform::storage_of_file(self, file)
    }

    fn storage_of_device(&self, number: DeviceNumber) -> Result<Storage> {
        platform::storage_of_device(self, number)
    }

    fn device(&self, number: DeviceNumber) -> Result<BlockDevice> {
        platform::device(self, number)
    }

    fn device_named(&self, name: &str) -> Result<BlockDevice> {
        platform::device_named(self, name)
    }

    fn devices(&self) -> Vec<DeviceNumber> {
        platform::devices(self)
    }

    fn partitions(&self, disk: DeviceNumber) -> Vec<BlockDevice> {
        platform::partitions(self, disk)
    }

    fn survey(&self, request: &Request) -> Result<Survey> {
        platform::survey(self, request)
    }

    fn uses_of_device(&self, number: DeviceNumber) -> Vec<Use> {
        platform::uses_of_device(self, number)
    }

    fn device_logs(&self, storage: &Storage) -> Vec<DeviceLog> {
        platform::device_logs(self, storage)
    }

    fn uses_of_file(&self, file: &File) -> Vec<Use> {
        platform::uses_of_file(self, file)
    }
}

/// Where the bytes of a regular file are. `None` if its file system cannot report it
/// (`allocated_bytes` alone does not prove that it is dense).
pub fn layout(file: &File) -> Option<FileLayout> {
    platform::layout(file)
}

/// Where the bytes of a regular file are on the device below its file system. `None` if the file
/// system does not report it. The result is an offset on that device only if the file system is on
/// a single one and uses its address space (ext4, XFS; not btrfs).
pub fn placement_of(file: &File) -> Option<crate::placement::Placement> {
    platform::placement_of(file)
}

/// The same for a file by its name. A file that this process has open is not examined, see
/// [`is_open_here`].
pub fn placement_at(path: &Path) -> Option<crate::placement::Placement> {
    if is_open_here(path) {
        return None;
    }
    placement_of(&File::open(path).ok()?)
}

/// Whether this process has a file open, other than as standard input or output. Opening and
/// closing it again would release the locks held through the first descriptor, such as a
/// database's: POSIX locks belong to the process. The check does not open the file. False where the
/// system does not report it or does not share locks.
pub fn is_open_here(path: &Path) -> bool {
    platform::is_open_here(path)
}
