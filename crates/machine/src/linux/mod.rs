//! Linux: `/proc`, `/sys` and a handful of system calls.
//!
//! | fact | from |
//! | --- | --- |
//! | host | `/proc`, DMI, `/sys/devices/system/cpu` |
//! | limits | control groups, version 1 and 2, ours and its ancestors |
//! | counters | `/proc/stat`, `stat` and `inflight` of devices, clocks, getrusage(2) |
//! | temperature | `hwmon` of a drive |
//! | page cache | cachestat(2), else mincore(2) |
//!
//! Unsafe code is in `counters`, `descriptors`, `loop_status`, `nvme` and `page_cache`: system calls that
//! rustix does not have; and in `memory`, an allocator.
#![allow(unsafe_code)]

pub mod block;
mod cgroup;
mod counters;
pub mod descriptors;
mod host;
pub mod loop_status;
mod memory;
pub mod mounts;
pub mod nvme;
mod page_cache;
mod processes;
pub mod swaps;
mod temperature;
pub(crate) mod tracefs;
pub mod tree;

pub use memory::{Memory, describe_out_of_memory};
pub(crate) use page_cache::cached_bytes;

use crate::host::Host;
use crate::observe::{InFlight, Snapshot};
use crate::{GroupIo, Process, System, Throttle};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use stripewise_units::DeviceNumber;
use tree::Tree;

pub(crate) fn host(system: &System) -> Host {
    host::host(Tree::of(system))
}

pub(crate) fn throttles(system: &System, devices: &[DeviceNumber]) -> Vec<Throttle> {
    cgroup::throttles(Tree::of(system), devices)
}

pub(crate) fn in_flight(system: &System, number: DeviceNumber) -> Option<InFlight> {
    counters::in_flight(Tree::of(system), number)
}

pub(crate) fn mount_points(system: &System) -> Vec<PathBuf> {
    let mounts = mounts::mounts(Tree::of(system)).into_iter();
    mounts.map(|mount| mount.mount_point).collect()
}

pub(crate) fn temperature_millicelsius(system: &System, device: &str) -> Option<i64> {
    temperature::millicelsius(Tree::of(system), device)
}

pub(crate) fn process_of_thread(system: &System, thread: i32) -> Option<Process> {
    processes::process_of_thread(Tree::of(system), thread)
}

pub(crate) fn process_name(system: &System, process: i32) -> Option<String> {
    Tree::of(system).word(format!("/proc/{process}/comm"))
}

pub(crate) fn process_title(system: &System, process: i32) -> Option<String> {
    processes::process_title(Tree::of(system), process)
}

pub(crate) fn process_tree(system: &System, root: i32) -> Vec<i32> {
    processes::process_tree(Tree::of(system), root)
}

pub(crate) fn open_files(system: &System, process: i32) -> Vec<PathBuf> {
    processes::open_files(Tree::of(system), process)
}

pub(crate) fn processor_pressure_us(system: &System) -> Option<u64> {
    processes::processor_pressure_us(Tree::of(system))
}

pub(crate) fn all_throttles(system: &System) -> Vec<Throttle> {
    cgroup::all_throttles(Tree::of(system))
}

pub(crate) fn io_by_group(system: &System) -> Vec<GroupIo> {
    cgroup::io_by_group(Tree::of(system))
}

pub(crate) fn snapshot(system: &System, devices: &[DeviceNumber], files: &[&File]) -> Snapshot {
    counters::snapshot(Tree::of(system), devices, files)
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset_bytes: u64) -> std::io::Result<usize> {
    file.read_at(buffer, offset_bytes)
}
