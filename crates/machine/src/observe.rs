//! Before and after: the activity of the machine and its devices during a run.
//!
//! [`Snapshot::take`] before and after, [`Snapshot::difference`] between them.
//! Counters that went backwards (a replaced device, a 32-bit wrap) give 0.

use crate::{System, platform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::File;
use stripewise_units::DeviceNumber;

/// The state of host, devices and files at one point in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Clocks.
    pub clocks: Clocks,
    /// CPU time of the whole machine.
    pub cpu: CpuTimes,
    /// The same per CPU, by number; empty where not available.
    pub processors: Vec<(u32, CpuTimes)>,
    /// CPU time of this process, user and system, nanoseconds.
    pub own_cpu_user_ns: u64,
    /// See `own_cpu_user_ns`.
    pub own_cpu_system_ns: u64,
    /// CPU quota statistics summed over our control group and its ancestors.
    pub cgroup: CgroupCpu,
    /// Thermal throttling events over all CPUs; absent where not counted.
    pub thermal_throttles: Option<u64>,
    /// Mains power; absent where unknown.
    pub on_mains: Option<bool>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// In the requested order.
    pub devices: Vec<DeviceCounters>,
    /// In the requested order.
    pub files: Vec<FileState>,
}

/// Three clocks read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Runs while the machine is awake, never jumps.
    pub monotonic_ns: u64,
    /// The same, but also runs during suspend.
    pub boot_ns: u64,
    /// The wall clock; jumps when set.
    pub wall_ns: u64,
}

/// CPU time of the whole machine in nanoseconds (resolution: one tick, usually 10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All CPUs: user, system, interrupts.
    pub busy_ns: u64,
    /// Idle or waiting for I/O.
    pub idle_ns: u64,
    /// Stolen by the hypervisor while we were runnable.
    pub steal_ns: u64,
}

/// CPU quota statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupCpu {
    /// Elapsed enforcement periods.
    pub periods: u64,
    /// Periods throttled because the quota was used up.
    pub periods_throttled: u64,
    /// Time that runnable threads were throttled, over all CPUs.
    pub throttled_ns: u64,
}

/// Counters of a block device since it appeared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// The device.
    pub number: DeviceNumber,
    /// Its kernel name, empty where unknown.
    pub name: String,
    /// Absent where the device is gone or has no counters.
    pub counters: Option<Counters>,
}

/// Completed operations of a block device. Sectors here are always 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads, after merging.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes, after merging.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Reads and writes merged into others before they were issued.
    pub merges: u64,
    /// Currently in flight.
    pub in_flight: u64,
    /// Time with at least one in flight.
    pub busy_ns: u64,
    /// Summed duration of all operations: divided by elapsed time, the mean number in flight.
    pub weighted_ns: u64,
    /// Flushes of the write cache.
    pub flushes: u64,
}

/// State of an open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Its length (0 for a device).
    pub size_bytes: u64,
    /// Bytes in the page cache; absent where unavailable.
    pub cached_bytes: Option<u64>,
}

impl Snapshot {
    /// Reads everything now; takes about a millisecond, more where gigabytes of a file are in the
    /// page cache, whose pages are counted.
    pub fn take(system: &System, devices: &[DeviceNumber], files: &[&File]) -> Self {
        platform::snapshot(system, devices, files)
    }

    /// The difference to a later snapshot of the same devices and files.
    pub fn difference(&self, later: &Snapshot) -> Observed {
        let elapsed_ns = later
            .clocks
            .monotonic_ns
            .saturating_sub(self.clocks.monotonic_ns);
        let boot_ns = later.clocks.boot_ns.saturating_sub(self.clocks.boot_ns);
        let wall_ns = i128::from(later.clocks.wall_ns) - i128::from(self.clocks.wall_ns);
        Observed {
            elapsed_ns,
            suspended_ns: boot_ns.saturating_sub(elapsed_ns),
            wall_clock_jump_ns: clamp(wall_ns - i128::from(boot_ns)),
            cpu_busy_ns: later.cpu.busy_ns.saturating_sub(self.cpu.busy_ns),
            cpu_idle_ns: later.cpu.idle_ns.saturating_sub(self.cpu.idle_ns),
            cpu_steal_ns: later.cpu.steal_ns.saturating_sub(self.cpu.steal_ns),
            processors: self.processors_until(later),
            own_cpu_user_ns: later.own_cpu_user_ns.saturating_sub(self.own_cpu_user_ns),
            own_cpu_system_ns: later
                .own_cpu_system_ns
                .saturating_sub(self.own_cpu_system_ns),
            quota_periods: later.cgroup.periods.saturating_sub(self.cgroup.periods),
            quota_periods_throttled: later
                .cgroup
                .periods_throttled
                .saturating_sub(self.cgroup.periods_throttled),
            quota_throttled_ns: later
                .cgroup
                .throttled_ns
                .saturating_sub(self.cgroup.throttled_ns),
            thermal_throttles: match (self.thermal_throttles, later.thermal_throttles) {
                (Some(before), Some(after)) => Some(after.saturating_sub(before)),
                _ => None,
            },
            on_mains_before: self.on_mains,
            on_mains_after: later.on_mains,
            governor_before: self.governor.clone(),
            governor_after: later.governor.clone(),
            devices: self
                .devices
                .iter()
                .filter_map(|before| before.difference(later))
                .collect(),
            files: std::iter::zip(&self.files, &later.files)
                .map(|(before, after)| FileObserved {
                    size_bytes: after.size_bytes,
                    cached_bytes_before: before.cached_bytes,
                    cached_bytes_after: after.cached_bytes,
                })
                .collect(),
        }
    }
}

impl Snapshot {
    /// For CPUs present in both snapshots.
    fn processors_until(&self, later: &Snapshot) -> Vec<ProcessorObserved> {
        let difference = |&(number, before): &(u32, CpuTimes)| {
            let mut all = later.processors.iter();
            let (_, after) = all.find(|(other, _)| *other == number)?;
            Some(ProcessorObserved {
                number,
                busy_ns: after.busy_ns.saturating_sub(before.busy_ns),
                idle_ns: after.idle_ns.saturating_sub(before.idle_ns),
                steal_ns: after.steal_ns.saturating_sub(before.steal_ns),
            })
        };
        self.processors.iter().filter_map(difference).collect()
    }
}

impl DeviceCounters {
    fn difference(&self, later: &Snapshot) -> Option<DeviceObserved> {
        let before = self.counters?;
        let after = later
            .devices
            .iter()
            .find(|device| device.number == self.number)?
            .counters?;
        Some(DeviceObserved {
            number: self.number,
            name: self.name.clone(),
            reads: after.reads.saturating_sub(before.reads),
            read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            writes: after.writes.saturating_sub(before.writes),
            written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
            merges: after.merges.saturating_sub(before.merges),
            flushes: after.flushes.saturating_sub(before.flushes),
            busy_ns: after.busy_ns.saturating_sub(before.busy_ns),
            weighted_ns: after.weighted_ns.saturating_sub(before.weighted_ns),
            in_flight_before: before.in_flight,
            in_flight_after: after.in_flight,
        })
    }
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// Activity between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Elapsed time while awake.
    pub elapsed_ns: u64,
    /// Time in suspend.
    pub suspended_ns: u64,
    /// By how much the wall clock was set: positive is forward.
    pub wall_clock_jump_ns: i64,
    /// All CPUs, all processes.
    pub cpu_busy_ns: u64,
    /// All CPUs.
    pub cpu_idle_ns: u64,
    /// Stolen by the hypervisor.
    pub cpu_steal_ns: u64,
    /// Per CPU; empty where not available.
    #[serde(default)]
    pub processors: Vec<ProcessorObserved>,
    /// This process, user mode.
    pub own_cpu_user_ns: u64,
    /// This process, kernel mode.
    pub own_cpu_system_ns: u64,
    /// Elapsed CPU quota periods.
    pub quota_periods: u64,
    /// Of those, throttled periods.
    pub quota_periods_throttled: u64,
    /// Time that threads were throttled by the quota.
    pub quota_throttled_ns: u64,
    /// Thermal throttling events; absent where not counted.
    pub thermal_throttles: Option<u64>,
    /// Mains power in the first snapshot.
    pub on_mains_before: Option<bool>,
    /// Mains power in the later one.
    pub on_mains_after: Option<bool>,
    /// Governor in the first snapshot.
    pub governor_before: Option<String>,
    /// Governor in the later one.
    pub governor_after: Option<String>,
    /// Devices with counters, in the requested order.
    pub devices: Vec<DeviceObserved>,
    /// Files, in the requested order.
    pub files: Vec<FileObserved>,
}

/// CPU time of one CPU between two snapshots, for all processes; resolution one tick, usually 10
/// ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorObserved {
    /// Its number.
    pub number: u32,
    /// User, system, interrupts.
    pub busy_ns: u64,
    /// Idle or waiting for I/O.
    pub idle_ns: u64,
    /// Stolen by the hypervisor.
    pub steal_ns: u64,
}

/// Activity of a device between two snapshots, for all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceObserved {
    /// The device.
    pub number: DeviceNumber,
    /// Kernel name.
    pub name: String,
    /// Completed reads, after merging and splitting.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Completed writes, after merging and splitting.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Merged before they were issued.
    pub merges: u64,
    /// Flushes of its write cache.
    pub flushes: u64,
    /// Time with at least one operation in flight.
    pub busy_ns: u64,
    /// Divided by elapsed time: the mean number in flight.
    pub weighted_ns: u64,
    /// In flight at the first snapshot: not ours.
    pub in_flight_before: u64,
    /// In flight at the later one.
    pub in_flight_after: u64,
}

/// A file's pages in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileObserved {
    /// Length at the later snapshot.
    pub size_bytes: u64,
    /// In the page cache at the first snapshot.
    pub cached_bytes_before: Option<u64>,
    /// In the page cache at the later one.
    pub cached_bytes_after: Option<u64>,
}

/// Current operations in flight at a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InFlight {
    /// Reads.
    pub reads: u32,
    /// Writes.
    pub writes: u32,
}
