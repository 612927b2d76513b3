//! Where facts are read: this machine, or a captured tree of one.

use crate::host::Host;
use crate::observe::InFlight;
use crate::{Throttle, platform};
use std::fs::File;
use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

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

    /// A tree that holds copies of `proc`, `sys`, `dev`... as
    /// `crates/disk-inspect/tests/capture.sh` makes it. Clocks and open files are
    /// still this machine's.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        System { root: root.into() }
    }

    /// Where the tree starts; `/` for this machine.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this is the running machine, not a captured tree.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The machine itself. Never fails: what cannot be read is absent.
    #[must_use]
    pub fn host(&self) -> Host {
        platform::host(self)
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

    /// Where file systems are mounted, and parts of them once more, as far as this process
    /// sees; none where the system does not tell.
    #[must_use]
    pub fn mount_points(&self) -> Vec<PathBuf> {
        platform::mount_points(self)
    }

    /// Temperature of a block device by its kernel name, in thousandths of a degree
    /// Celsius: the composite sensor of its drive, the warmest one's where it lies on
    /// several. Absent where no driver tells (SATA disks need `drivetemp`).
    #[must_use]
    pub fn temperature_millicelsius(&self, device: &str) -> Option<i64> {
        platform::temperature_millicelsius(self, device)
    }
}

/// Bytes of an open file or device that are in the page cache.
#[must_use]
pub fn cached_bytes(file: &File) -> Option<u64> {
    platform::cached_bytes(file)
}
