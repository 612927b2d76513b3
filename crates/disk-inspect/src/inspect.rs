//! What can be asked of a [`System`] about its disks.

use crate::device_log::DeviceLog;
use crate::identity::Identity;
use crate::storage::{BlockDevice, FileLayout, Storage, Use};
use crate::survey::{Request, Survey};
use crate::{Result, platform};
use std::fs::File;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::DeviceNumber;

/// Questions about the disks of a machine, live or captured.
pub trait Inspect {
    /// What a file or device is among those of this machine, by whatever name it is
    /// reached; none where there is none of this name.
    #[must_use]
    fn identity(&self, path: &Path) -> Option<Identity>;

    /// What lies under a file, directory or block device that exists. Follows
    /// symbolic links; opens neither devices nor pipes.
    ///
    /// # Errors
    /// When the path does not exist or may not be looked at.
    fn storage_of_path(&self, path: &Path) -> Result<Storage>;

    /// What lies under an open file or device, whatever has happened to its name.
    ///
    /// # Errors
    /// When the descriptor cannot be asked.
    fn storage_of_file(&self, file: &File) -> Result<Storage>;

    /// What lies under a block device.
    ///
    /// # Errors
    /// When this machine has no such device.
    fn storage_of_device(&self, number: DeviceNumber) -> Result<Storage>;

    /// One block device, with what is below it.
    ///
    /// # Errors
    /// When this machine has no such device.
    fn device(&self, number: DeviceNumber) -> Result<BlockDevice>;

    /// The same by kernel name (`sda1`) or by path (`/dev/sda1`), the links in
    /// `/dev` included.
    ///
    /// # Errors
    /// When this machine has no such device.
    fn device_named(&self, name: &str) -> Result<BlockDevice>;

    /// Numbers of all block devices, partitions included, in the order of their names.
    #[must_use]
    fn devices(&self) -> Vec<DeviceNumber>;

    /// Partitions of a disk in the order of their starts; none for a partition.
    #[must_use]
    fn partitions(&self, disk: DeviceNumber) -> Vec<BlockDevice>;

    /// Disks with their partitions, and volumes with where they lie. Reads
    /// partition tables and superblocks where this user may.
    ///
    /// # Errors
    /// When there is no device of the name that was asked for.
    fn survey(&self, request: &Request) -> Result<Survey>;

    /// Who uses a device: mounts, swap, holders and loop devices of itself, of
    /// its partitions and (for a partition) of the disk it is on. It explains a
    /// refusal; only opening with `O_EXCL` decides.
    #[must_use]
    fn uses_of_device(&self, number: DeviceNumber) -> Vec<Use>;

    /// What the NVMe devices at the bottom of a storage report of themselves now; a few
    /// commands to each.
    #[must_use]
    fn device_logs(&self, storage: &Storage) -> Vec<DeviceLog>;

    /// Who uses an open file apart from those that have it open: loop devices
    /// and swap.
    #[must_use]
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

/// Where the bytes of a regular file are. `None` where its file system cannot
/// tell (then `allocated_bytes` alone is not enough to call it dense).
#[must_use]
pub fn layout(file: &File) -> Option<FileLayout> {
    platform::layout(file)
}

/// Where the bytes of a regular file lie on the device under its file system.
/// `None` where the file system does not tell. What it tells is a place on that
/// device only where the file system is on a single one and numbers its bytes as
/// the device does (ext4, XFS; not btrfs).
#[must_use]
pub fn placement_of(file: &File) -> Option<crate::placement::Placement> {
    platform::placement_of(file)
}

/// The same for a file by its name. One that this process has open is not looked at, see
/// [`is_open_here`].
#[must_use]
pub fn placement_at(path: &Path) -> Option<crate::placement::Placement> {
    if is_open_here(path) {
        return None;
    }
    placement_of(&File::open(path).ok()?)
}

/// Whether this process has a file open, other than as its input and output. To open it
/// once more and close that again would give up the locks that the first has, those of a
/// database for example: locks of POSIX belong to the process. The file is not opened to
/// find out. Where the system does not tell, or keeps locks apart, it is not open.
#[must_use]
pub fn is_open_here(path: &Path) -> bool {
    platform::is_open_here(path)
}
