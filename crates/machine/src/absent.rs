//! Facts available only on Linux so far: elsewhere they are absent, never guessed.
//!
//! | fact | why not on Windows |
//! | --- | --- |
//! | operations in flight | counted only once counters are switched on for the whole machine |
//! | pages of a file in the cache | there is no call for it |
//! | temperature of a drive | not asked yet |
//! | limits on devices | job objects: not asked yet |
//! | mount points | volumes in folders are links there, which nobody follows |

use crate::observe::InFlight;
use crate::{GroupIo, Process, System, Throttle};
use std::fs::File;
use std::path::PathBuf;
use stripewise_units::DeviceNumber;

pub(crate) fn throttles(_system: &System, _devices: &[DeviceNumber]) -> Vec<Throttle> {
    Vec::new()
}

pub(crate) fn temperature_millicelsius(_system: &System, _device: &str) -> Option<i64> {
    None
}

pub(crate) fn mount_points(_system: &System) -> Vec<PathBuf> {
    Vec::new()
}

pub(crate) fn process_of_thread(_system: &System, _thread: i32) -> Option<Process> {
    None
}

pub(crate) fn process_name(_system: &System, _process: i32) -> Option<String> {
    None
}

pub(crate) fn process_title(_system: &System, _process: i32) -> Option<String> {
    None
}

pub(crate) fn process_tree(_system: &System, _root: i32) -> Vec<i32> {
    Vec::new()
}

pub(crate) fn open_files(_system: &System, _process: i32) -> Vec<PathBuf> {
    Vec::new()
}

pub(crate) fn processor_pressure_us(_system: &System) -> Option<u64> {
    None
}

pub(crate) fn all_throttles(_system: &System) -> Vec<Throttle> {
    Vec::new()
}

pub(crate) fn io_by_group(_system: &System) -> Vec<GroupIo> {
    Vec::new()
}

/// The kernel's event tracing, which only Linux has.
pub(crate) mod tracefs {
    use crate::tracefs::{CleanupReport, LostEvents, TraceError, TraceRequest};
    use std::io;

    #[derive(Debug)]
    pub(crate) enum Instance {}

    impl Instance {
        pub(crate) fn header_page(&self) -> &str {
            match *self {}
        }

        pub(crate) fn formats(&self) -> &[String] {
            match *self {}
        }

        pub(crate) fn read(&mut self, _page: &mut dyn FnMut(usize, &[u8])) -> io::Result<usize> {
            match *self {}
        }

        pub(crate) fn pause(&self) -> io::Result<()> {
            match *self {}
        }

        pub(crate) fn lost(&self) -> LostEvents {
            match *self {}
        }
    }

    pub(crate) fn start(_request: &TraceRequest) -> Result<Instance, TraceError> {
        Err(TraceError::System)
    }

    pub(crate) fn clean() -> Result<CleanupReport, TraceError> {
        Err(TraceError::System)
    }
}

pub(crate) fn in_flight(_system: &System, _number: DeviceNumber) -> Option<InFlight> {
    None
}

pub(crate) fn cached_bytes(_file: &File) -> Option<u64> {
    None
}
