//! Where facts are read: this machine, or a captured tree of one.

use crate::host::Host;
use crate::observe::InFlight;
use crate::storage::{BlockDevice, FileLayout, Storage, Throttle, Use};
use crate::survey::{Request, Survey};
use crate::{DeviceNumber, Result, platform};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A machine to look at. Cheap to make; reads nothing until asked, and keeps
/// nothing of one answer for the next.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl Default for System {
    fn default() -> Self {
        System::live()
    }
}

impl System {
    /// This machine.
    #[must_use]
    pub fn live() -> Self {
        System {
            root: PathBuf::from("/"),
        }
    }

    /// A tree that holds copies of `proc`, `sys`, `dev`... as `tests/capture.sh`
    /// makes it. Clocks and open files are still this machine's.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        System { root: root.into() }
    }

    /// Where the tree starts; `/` for this machine.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The machine itself. Never fails: what cannot be read is absent.
    #[must_use]
    pub fn host(&self) -> Host {
        platform::host(self)
    }

    /// What lies under a file, directory or block device that exists. Follows
    /// symbolic links; opens neither devices nor pipes.
    ///
    /// # Errors
    /// When the path does not exist or may not be looked at.
    pub fn storage_of_path(&self, path: &Path) -> Result<Storage> {
        platform::storage_of_path(self, path)
    }

    /// What lies under an open file or device, whatever has happened to its name.
    ///
    /// # Errors
    /// When the descriptor cannot be asked.
    pub fn storage_of_file(&self, file: &File) -> Result<Storage> {
        platform::storage_of_file(self, file)
    }

    /// What lies under a block device.
    ///
    /// # Errors
    /// When this machine has no such device.
    pub fn storage_of_device(&self, number: DeviceNumber) -> Result<Storage> {
        platform::storage_of_device(self, number)
    }

    /// One block device, with what is below it.
    ///
    /// # Errors
    /// When this machine has no such device.
    pub fn device(&self, number: DeviceNumber) -> Result<BlockDevice> {
        platform::device(self, number)
    }

    /// The same by kernel name (`sda1`) or by path (`/dev/sda1`), the links in
    /// `/dev` included.
    ///
    /// # Errors
    /// When this machine has no such device.
    pub fn device_named(&self, name: &str) -> Result<BlockDevice> {
        platform::device_named(self, name)
    }

    /// Numbers of all block devices, partitions included, in the order of their names.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceNumber> {
        platform::devices(self)
    }

    /// Partitions of a disk in the order of their starts; none for a partition.
    #[must_use]
    pub fn partitions(&self, disk: DeviceNumber) -> Vec<BlockDevice> {
        platform::partitions(self, disk)
    }

    /// Disks with their partitions, and volumes with where they lie. Reads
    /// partition tables and superblocks where this user may.
    ///
    /// # Errors
    /// When there is no device of the name that was asked for.
    pub fn survey(&self, request: &Request) -> Result<Survey> {
        platform::survey(self, request)
    }

    /// Who uses a device: mounts, swap, holders and loop devices of itself, of
    /// its partitions and (for a partition) of the disk it is on. It explains a
    /// refusal; only opening with `O_EXCL` decides.
    #[must_use]
    pub fn uses_of_device(&self, number: DeviceNumber) -> Vec<Use> {
        platform::uses_of_device(self, number)
    }

    /// Who uses an open file apart from those that have it open: loop devices
    /// and swap.
    #[must_use]
    pub fn uses_of_file(&self, file: &File) -> Vec<Use> {
        platform::uses_of_file(self, file)
    }

    /// I/O limits of our control group (and of its ancestors, where they count)
    /// on any of these devices.
    #[must_use]
    pub fn throttles(&self, devices: &[DeviceNumber]) -> Vec<Throttle> {
        platform::throttles(self, devices)
    }

    /// Operations in flight at a device now; one small read, fit for sampling
    /// a few times a second during a run.
    #[must_use]
    pub fn in_flight(&self, number: DeviceNumber) -> Option<InFlight> {
        platform::in_flight(self, number)
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
/// device only where the file system stands on a single one and numbers its
/// bytes as the device does (ext4, XFS; not btrfs).
#[must_use]
pub fn placement_of(file: &File) -> Option<crate::placement::Placement> {
    platform::placement_of(file)
}

/// Bytes of an open file or device that are in the page cache.
#[must_use]
pub fn cached_bytes(file: &File) -> Option<u64> {
    platform::cached_bytes(file)
}
