//! Before and after: what the machine and its devices did during a run.
//!
//! [`Snapshot::take`] before and after, [`Snapshot::difference`] between them.
//! Counters that went backwards (a device that was replaced, a 32-bit wrap)
//! give 0, not nonsense.

use crate::{System, platform};
use serde::{Deserialize, Serialize};
use std::fs::File;
use stripewise_units::DeviceNumber;

/// The state of host, devices and files at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Clocks.
    pub clocks: Clocks,
    /// CPU time of the whole machine.
    pub cpu: CpuTimes,
    /// The same of each processor, by number; empty where the system does not say.
    pub processors: Vec<(u32, CpuTimes)>,
    /// CPU time of this process, user and system, nanoseconds.
    pub own_cpu_user_ns: u64,
    /// See `own_cpu_user_ns`.
    pub own_cpu_system_ns: u64,
    /// CPU quota book-keeping of our control group and its ancestors, added up.
    pub cgroup: CgroupCpu,
    /// Thermal throttling events over all processors; absent where not counted.
    pub thermal_throttles: Option<u64>,
    /// Mains power; absent where unknown.
    pub on_mains: Option<bool>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// In the order in which they were given.
    pub devices: Vec<DeviceCounters>,
    /// In the order in which they were given.
    pub files: Vec<FileState>,
}

/// Three clocks read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Runs while the machine is awake, never jumps.
    pub monotonic_ns: u64,
    /// The same, and runs on during suspend.
    pub boot_ns: u64,
    /// The wall clock; jumps when set.
    pub wall_ns: u64,
}

/// CPU time of the whole machine in nanoseconds (resolution: one tick, mostly 10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All processors: user, system, interrupts.
    pub busy_ns: u64,
    /// Waiting for I/O or for nothing.
    pub idle_ns: u64,
    /// Taken by the hypervisor while we wanted to run.
    pub steal_ns: u64,
}

/// CPU quota book-keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupCpu {
    /// Enforcement periods that passed.
    pub periods: u64,
    /// Of those, ended early because the quota was used up.
    pub periods_throttled: u64,
    /// Time that runnable threads were held back, over all processors.
    pub throttled_ns: u64,
}

/// Counters of a block device since it appeared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// The device.
    pub number: DeviceNumber,
    /// Its kernel name, empty where unknown.
    pub name: String,
    /// Absent where the device is gone or counts nothing.
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
    /// In flight now.
    pub in_flight: u64,
    /// Time with at least one in flight.
    pub busy_ns: u64,
    /// Sum of the times of all operations: over elapsed time, the mean number in flight.
    pub weighted_ns: u64,
    /// Flushes of the write cache.
    pub flushes: u64,
}

/// State of an open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Its length (for a device: absent, 0).
    pub size_bytes: u64,
    /// Of it, in the page cache; absent where that cannot be found out.
    pub cached_bytes: Option<u64>,
}

impl Snapshot {
    /// Reads everything now; about a millisecond, more where gigabytes of a file
    /// are in the page cache, whose pages are counted.
    #[must_use]
    pub fn take(system: &System, devices: &[DeviceNumber], files: &[&File]) -> Self {
        platform::snapshot(system, devices, files)
    }

    /// What happened between this and a later one of the same devices and files.
    #[must_use]
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
    /// Of processors that were there at both times.
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

/// What happened between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Observed {
    /// Between the two, awake.
    pub elapsed_ns: u64,
    /// Asleep.
    pub suspended_ns: u64,
    /// How far the wall clock was set: forward above 0, back below.
    pub wall_clock_jump_ns: i64,
    /// All processors, everybody.
    pub cpu_busy_ns: u64,
    /// All processors.
    pub cpu_idle_ns: u64,
    /// Taken by the hypervisor.
    pub cpu_steal_ns: u64,
    /// Of each processor; empty where the system does not say.
    #[serde(default)]
    pub processors: Vec<ProcessorObserved>,
    /// This process, user mode.
    pub own_cpu_user_ns: u64,
    /// This process, kernel mode.
    pub own_cpu_system_ns: u64,
    /// CPU quota periods that passed.
    pub quota_periods: u64,
    /// Of those, cut short by the quota.
    pub quota_periods_throttled: u64,
    /// Time that threads were held back by the quota.
    pub quota_throttled_ns: u64,
    /// Thermal throttling events; absent where not counted.
    pub thermal_throttles: Option<u64>,
    /// Mains power at the first one.
    pub on_mains_before: Option<bool>,
    /// Mains power at the later one.
    pub on_mains_after: Option<bool>,
    /// Governor at the first one.
    pub governor_before: Option<String>,
    /// Governor at the later one.
    pub governor_after: Option<String>,
    /// Devices that counted, in the order in which they were given.
    pub devices: Vec<DeviceObserved>,
    /// Files, in the order in which they were given.
    pub files: Vec<FileObserved>,
}

/// What one processor did between two snapshots, for everybody; to a tick, mostly 10 ms.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct ProcessorObserved {
    /// Its number.
    pub number: u32,
    /// User, system, interrupts.
    pub busy_ns: u64,
    /// Waiting for I/O or for nothing.
    pub idle_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
}

/// What a device did between two snapshots, for everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeviceObserved {
    /// The device.
    pub number: DeviceNumber,
    /// Kernel name.
    pub name: String,
    /// Reads that it completed, after merging and splitting.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes that it completed, after merging and splitting.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Merged before they were issued.
    pub merges: u64,
    /// Flushes of its write cache.
    pub flushes: u64,
    /// With at least one operation in flight.
    pub busy_ns: u64,
    /// Over elapsed time: the mean number in flight.
    pub weighted_ns: u64,
    /// In flight at the first one: not ours.
    pub in_flight_before: u64,
    /// In flight at the later one.
    pub in_flight_after: u64,
}

/// A file's part of the page cache.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct FileObserved {
    /// Length at the later one.
    pub size_bytes: u64,
    /// In the page cache at the first one.
    pub cached_bytes_before: Option<u64>,
    /// In the page cache at the later one.
    pub cached_bytes_after: Option<u64>,
}

/// Operations in flight at a device at one moment.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct InFlight {
    /// Reads.
    pub reads: u32,
    /// Writes.
    pub writes: u32,
}
