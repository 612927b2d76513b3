//! The source of facts: this machine, or a captured tree.

use crate::host::Host;
use crate::observe::InFlight;
use crate::{GroupIo, Process, Throttle, platform};
use std::fs::File;
use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

/// A machine to inspect. Cheap to create; reads nothing until queried, and caches nothing between
/// queries.
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
    pub fn live() -> Self {
        System {
            root: PathBuf::from("/"),
        }
    }

    /// A tree with copies of `proc`, `sys`, `dev`... as created by
    /// `crates/disk-inspect/tests/capture.sh`. Clocks and open files are still this machine's.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        System { root: root.into() }
    }

    /// The root of the tree; `/` for this machine.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this is the running machine, not a captured tree.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The facts about the machine. Never fails: unreadable facts are absent.
    pub fn host(&self) -> Host {
        platform::host(self)
    }

    /// I/O limits of our control group (and of its ancestors, where they apply) on any of these
    /// devices.
    pub fn throttles(&self, devices: &[DeviceNumber]) -> Vec<Throttle> {
        platform::throttles(self, devices)
    }

    /// Current operations in flight at a device; one small read, suitable for sampling a few times
    /// per second during a run.
    pub fn in_flight(&self, number: DeviceNumber) -> Option<InFlight> {
        platform::in_flight(self, number)
    }

    /// The process of a thread; `None` if it is gone or not available.
    #[must_use]
    pub fn process_of_thread(&self, thread: i32) -> Option<Process> {
        platform::process_of_thread(self, thread)
    }

    /// The name of a process, at most 15 characters; `None` if it is gone.
    pub fn process_name(&self, process: i32) -> Option<String> {
        platform::process_name(self, process)
    }

    /// The title with which a server replaced its command line, as PostgreSQL does:
    /// `postgres: checkpointer`; `None` for processes with a normal command line.
    pub fn process_title(&self, process: i32) -> Option<String> {
        platform::process_title(self, process)
    }

    /// A process and all its descendants; empty if there is no such process.
    pub fn process_tree(&self, root: i32) -> Vec<i32> {
        platform::process_tree(self, root)
    }

    /// The regular files that a process has open, without duplicates; at most 4,096.
    pub fn open_files(&self, process: i32) -> Vec<PathBuf> {
        platform::open_files(self, process)
    }

    /// Total time since boot that some task waited for a CPU, microseconds (`/proc/pressure/cpu`,
    /// "some").
    pub fn processor_pressure_us(&self) -> Option<u64> {
        platform::processor_pressure_us(self)
    }

    /// I/O of each visible control group itself on each device, since its creation.
    pub fn io_by_group(&self) -> Vec<GroupIo> {
        platform::io_by_group(self)
    }

    /// I/O limits of all visible control groups.
    pub fn all_throttles(&self) -> Vec<Throttle> {
        platform::all_throttles(self)
    }

    /// Mount points of file systems visible to this process, including bind mounts; empty where not
    /// available.
    pub fn mount_points(&self) -> Vec<PathBuf> {
        platform::mount_points(self)
    }

    /// Temperature of a block device by its kernel name, in thousandths of a degree Celsius: the
    /// composite sensor of its drive, or the warmest where it spans several. Absent where no driver
    /// reports one (SATA disks need `drivetemp`).
    pub fn temperature_millicelsius(&self, device: &str) -> Option<i64> {
        platform::temperature_millicelsius(self, device)
    }
}

/// Bytes of an open file or device in the page cache.
pub fn cached_bytes(file: &File) -> Option<u64> {
    platform::cached_bytes(file)
}
