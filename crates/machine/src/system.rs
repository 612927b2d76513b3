//! Where facts are read: this machine, or a captured tree of one.

use crate::host::Host;
use crate::observe::InFlight;
use crate::{GroupIo, Process, Throttle, platform};
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

    /// The process of a thread; `None` where it is gone, or the system does not say.
    #[must_use]
    pub fn process_of_thread(&self, thread: i32) -> Option<Process> {
        platform::process_of_thread(self, thread)
    }

    /// The name of a process, at most 15 letters; `None` where it is gone.
    #[must_use]
    pub fn process_name(&self, process: i32) -> Option<String> {
        platform::process_name(self, process)
    }

    /// What a server has put in place of its command line, as PostgreSQL does:
    /// `postgres: checkpointer`; `None` for those that have a command line.
    #[must_use]
    pub fn process_title(&self, process: i32) -> Option<String> {
        platform::process_title(self, process)
    }

    /// A process and all that descend from it; empty where there is none of this id.
    #[must_use]
    pub fn process_tree(&self, root: i32) -> Vec<i32> {
        platform::process_tree(self, root)
    }

    /// The regular files that a process has open, each once; at most 4,096.
    #[must_use]
    pub fn open_files(&self, process: i32) -> Vec<PathBuf> {
        platform::open_files(self, process)
    }

    /// For how long some task has waited for a processor since the start, microseconds
    /// (`/proc/pressure/cpu`, "some").
    #[must_use]
    pub fn processor_pressure_us(&self) -> Option<u64> {
        platform::processor_pressure_us(self)
    }

    /// What each control group that can be seen did by itself on each device, since it was made.
    #[must_use]
    pub fn io_by_group(&self) -> Vec<GroupIo> {
        platform::io_by_group(self)
    }

    /// I/O limits of all control groups that can be seen.
    #[must_use]
    pub fn all_throttles(&self) -> Vec<Throttle> {
        platform::all_throttles(self)
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
