//! Counters and clocks: one snapshot.

use super::tree::Tree;
use super::{block, cgroup, host, page_cache};
use crate::observe::{Clocks, Counters, CpuTimes, DeviceCounters, FileState, InFlight, Snapshot};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::fs::File;
use stripewise_units::DeviceNumber;

const MILLISECOND_NS: u64 = 1_000_000;

pub fn snapshot(tree: Tree, numbers: &[DeviceNumber], files: &[&File]) -> Snapshot {
    let (own_cpu_user_ns, own_cpu_system_ns) = own_cpu();
    let stat = tree.text("/proc/stat").unwrap_or_default();
    Snapshot {
        clocks: clocks(),
        cpu: cpu_times(&stat, ticks_a_second()),
        processors: processor_times(&stat, ticks_a_second()),
        own_cpu_user_ns,
        own_cpu_system_ns,
        cgroup: cgroup::cpu_statistics(tree),
        thermal_throttles: host::thermal_throttles(tree),
        on_mains: host::on_mains(tree),
        governor: host::governor(tree),
        devices: numbers.iter().map(|number| device(tree, *number)).collect(),
        files: files.iter().map(|file| file_state(file)).collect(),
    }
}

fn clocks() -> Clocks {
    let nanoseconds = |time: Timespec| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(rest)
    };
    Clocks {
        monotonic_ns: nanoseconds(clock_gettime(ClockId::Monotonic)),
        boot_ns: nanoseconds(clock_gettime(ClockId::Boottime)),
        wall_ns: nanoseconds(clock_gettime(ClockId::Realtime)),
    }
}

fn ticks_a_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// The first line of `/proc/stat`, in ticks: user, nice, system, idle, iowait,
/// irq, softirq, steal (proc_stat(5)); guests are part of user.
pub(super) fn cpu_times(text: &str, ticks_a_second: u64) -> CpuTimes {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    of_ticks(line.unwrap_or_default(), ticks_a_second)
}

/// The lines `cpu0`, `cpu1`...: CPUs by number. At most 4,096.
pub(super) fn processor_times(text: &str, ticks_a_second: u64) -> Vec<(u32, CpuTimes)> {
    let of_line = |line: &str| {
        let (number, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((number.parse().ok()?, of_ticks(ticks, ticks_a_second)))
    };
    text.lines().filter_map(of_line).take(4_096).collect()
}

fn of_ticks(line: &str, ticks_a_second: u64) -> CpuTimes {
    let ticks: Vec<u64> = line
        .split_whitespace()
        .map(|word| word.parse().unwrap_or(0))
        .collect();
    let nanoseconds = |indices: &[usize]| {
        let sum = indices
            .iter()
            .map(|index| u128::from(ticks.get(*index).copied().unwrap_or(0)))
            .sum::<u128>();
        u64::try_from(sum * 1_000_000_000 / u128::from(ticks_a_second)).unwrap_or(u64::MAX)
    };
    CpuTimes {
        busy_ns: nanoseconds(&[0, 1, 2, 5, 6]),
        idle_ns: nanoseconds(&[3, 4]),
        steal_ns: nanoseconds(&[7]),
    }
}

/// User and system time of this process.
fn own_cpu() -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes one rusage to the pointer, which has room for it;
    // zeroed memory is a valid rusage should it fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanoseconds = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
        seconds * 1_000_000_000 + microseconds * 1_000
    };
    (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime))
}

fn device(tree: Tree, number: DeviceNumber) -> DeviceCounters {
    let directory = block::directory(tree, number);
    let name = directory
        .as_ref()
        .and_then(|directory| directory.file_name()?.to_str())
        .unwrap_or_default()
        .to_owned();
    let counters = directory
        .and_then(|directory| tree.text(directory.join("stat")))
        .and_then(|text| counters(&text));
    DeviceCounters {
        number,
        name,
        counters,
    }
}

/// A device's `stat` (Documentation/block/stat.rst): sectors are of 512 bytes,
/// times in milliseconds. Kernels before 5.5 have no flushes.
pub(super) fn counters(text: &str) -> Option<Counters> {
    let fields: Vec<u64> = text
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let field = |index: usize| fields.get(index).copied();
    Some(Counters {
        reads: field(0)?,
        merges: field(1)?.saturating_add(field(5)?),
        read_bytes: field(2)?.saturating_mul(512),
        writes: field(4)?,
        written_bytes: field(6)?.saturating_mul(512),
        in_flight: field(8)?,
        busy_ns: field(9)?.saturating_mul(MILLISECOND_NS),
        weighted_ns: field(10)?.saturating_mul(MILLISECOND_NS),
        flushes: field(15).unwrap_or(0),
    })
}

fn file_state(file: &File) -> FileState {
    FileState {
        size_bytes: file.metadata().map_or(0, |metadata| {
            if metadata.is_file() {
                metadata.len()
            } else {
                0
            }
        }),
        cached_bytes: page_cache::cached_bytes(file),
    }
}

/// Reads and writes in flight, from the device's `inflight`.
pub fn in_flight(tree: Tree, number: DeviceNumber) -> Option<InFlight> {
    // Not resolved first: called many times during a run.
    let text = tree.text(format!("/sys/dev/block/{number}/inflight"))?;
    let mut words = text.split_whitespace();
    Some(InFlight {
        reads: words.next()?.parse().ok()?,
        writes: words.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_statistics_old_and_new_are_read_and_damaged_ones_refused() {
        let old = "  100 5 800 20 50 7 400 10 3 25 30";
        let wanted = Counters {
            reads: 100,
            merges: 12,
            read_bytes: 409_600,
            writes: 50,
            written_bytes: 204_800,
            in_flight: 3,
            busy_ns: 25_000_000,
            weighted_ns: 30_000_000,
            flushes: 0,
        };
        assert_eq!(counters(old), Some(wanted));
        let new = format!("{old} 0 0 0 0 9 1");
        assert_eq!(
            counters(&new),
            Some(Counters {
                flushes: 9,
                ..wanted
            })
        );
        for text in [
            "",
            "1 2 3",
            "a b c d e f g h i j k",
            "-1 0 0 0 0 0 0 0 0 0 0",
        ] {
            assert_eq!(counters(text), None, "{text}");
        }
    }

    #[test]
    fn cpu_times_add_up_their_columns() {
        let times = cpu_times("cpu  100 1 50 1000 20 3 4 7 90 0\ncpu0 1 2\n", 100);
        assert_eq!(times.busy_ns, 1_580_000_000);
        assert_eq!(times.idle_ns, 10_200_000_000);
        assert_eq!(times.steal_ns, 70_000_000);
        let text = "cpu  9 9\ncpu0 100 0 50 1000 0 0 0 7\ncpu3 1 0 0 2\nintr 5\ncpux 1\n";
        let [(0, first), (3, other)] = processor_times(text, 100)[..] else {
            panic!("two processors")
        };
        assert_eq!(first.busy_ns, 1_500_000_000);
        assert_eq!(
            (first.idle_ns, first.steal_ns),
            (10_000_000_000, 70_000_000)
        );
        assert_eq!((other.busy_ns, other.idle_ns), (10_000_000, 20_000_000));
        assert_eq!(cpu_times("", 100), CpuTimes::default());
        // Kernels before 2.6.11 had no steal column.
        assert_eq!(cpu_times("cpu 1 2 3", 100).steal_ns, 0);
    }
}
