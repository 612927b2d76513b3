//! Statistics reported by volumes and drives, before and after a run.

use stripewise_disk_inspect::device_log::{
    DeviceLog, LatencyBin, LogContent, VolumeLog, VolumePair,
};
use stripewise_disk_inspect::storage::Storage;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_machine::observe::{Clocks, Snapshot};
use stripewise_results::{DriveReport, VolumeLatencyBin, VolumeOperations, VolumeReport};

/// Difference of two readings of the same devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceReports {
    /// All cloud volumes together; `None` if there are none.
    pub volume: Option<Box<VolumeReport>>,
    /// Other NVMe drives that can be queried.
    pub drives: Vec<DriveReport>,
}

/// The first reading, and the devices to read again.
#[derive(Clone, Debug)]
pub struct DeviceWatch {
    system: System,
    storage: Storage,
    logs: Vec<DeviceLog>,
    clocks: Clocks,
}

impl DeviceWatch {
    /// Reads the statistics of the NVMe devices at the bottom of a storage stack.
    pub fn start(storage: &Storage) -> DeviceWatch {
        let system = System::live();
        DeviceWatch {
            storage: storage.clone(),
            logs: system.device_logs(storage),
            clocks: clocks(&system),
            system,
        }
    }

    /// Reads them again.
    pub fn finish(&self) -> DeviceReports {
        if self.logs.is_empty() {
            return DeviceReports::default();
        }
        let now = clocks(&self.system);
        let elapsed_ns = now.monotonic_ns.saturating_sub(self.clocks.monotonic_ns);
        let logs = self.system.device_logs(&self.storage);
        reports(&self.logs, &logs, elapsed_ns)
    }
}

fn clocks(system: &System) -> Clocks {
    Snapshot::take(system, &[], &[]).clocks
}

/// A device replaced in between has no report: its counters cannot be compared.
fn reports(before: &[DeviceLog], after: &[DeviceLog], elapsed_ns: u64) -> DeviceReports {
    let mut found = DeviceReports::default();
    for later in after {
        let mut earlier = before.iter();
        let Some(earlier) = earlier.find(|one| one.device == later.device) else {
            continue;
        };
        match (&earlier.content, &later.content) {
            (LogContent::Volume(page, earlier), LogContent::Volume(_, later_page)) => {
                let mut report = match (&**earlier, &**later_page) {
                    (Ok(earlier), Ok(later)) => volume(earlier, later, elapsed_ns),
                    (Err(reason), _) | (_, Err(reason)) => VolumeReport {
                        not_read: Some(reason.clone()),
                        ..VolumeReport::default()
                    },
                };
                report.source = (*page).to_owned();
                report.device.clone_from(&later.device);
                match &mut found.volume {
                    Some(all) => all.join(&report),
                    None => found.volume = Some(Box::new(report)),
                }
            }
            (LogContent::Drive(earlier, _), LogContent::Drive(health, power_state)) => {
                let more = |of: u32, than: u32| u64::from(of.saturating_sub(than));
                found.drives.push(DriveReport {
                    device: later.device.clone(),
                    temperature_celsius: health.temperature_celsius,
                    slowdowns: health.slowdowns.saturating_sub(earlier.slowdowns),
                    slowed_s: health.slowed_s.saturating_sub(earlier.slowed_s),
                    warm_minutes: more(health.warm_minutes, earlier.warm_minutes),
                    hot_minutes: more(health.hot_minutes, earlier.hot_minutes),
                    power_state: *power_state,
                });
            }
            _ => {}
        }
    }
    found
}

fn volume(before: &VolumeLog, after: &VolumeLog, elapsed_ns: u64) -> VolumeReport {
    let more_ns = |of: fn(&VolumeLog) -> u64| ns(of(after).saturating_sub(of(before)));
    let operations = |of: fn(&VolumePair) -> u64, bins: fn(&VolumeLog) -> &[_]| {
        let more =
            |pair: fn(&VolumeLog) -> &VolumePair| of(pair(after)).saturating_sub(of(pair(before)));
        VolumeOperations {
            operations: more(|log| &log.operations),
            bytes: more(|log| &log.bytes),
            time_ns: ns(more(|log| &log.time_us)),
            latencies: latencies(bins(before), bins(after)),
        }
    };
    VolumeReport {
        elapsed_ns,
        volume_iops_exceeded_ns: more_ns(|log| log.volume_iops_exceeded_us),
        volume_bandwidth_exceeded_ns: more_ns(|log| log.volume_bytes_exceeded_us),
        instance_iops_exceeded_ns: more_ns(|log| log.instance_iops_exceeded_us),
        instance_bandwidth_exceeded_ns: more_ns(|log| log.instance_bytes_exceeded_us),
        queue_length: after.queue_length,
        read: operations(|pair| pair.read, |log| &log.read_latencies),
        write: operations(|pair| pair.write, |log| &log.write_latencies),
        ..VolumeReport::default()
    }
}

/// Each bin has a 32-bit counter, which wraps.
fn latencies(before: &[LatencyBin], after: &[LatencyBin]) -> Vec<VolumeLatencyBin> {
    let more = |bin: &LatencyBin| {
        let ends = (bin.lower_us, bin.upper_us);
        let mut earlier = before.iter();
        let earlier = earlier.find(|one| (one.lower_us, one.upper_us) == ends);
        let operations = bin.count.wrapping_sub(earlier.map_or(0, |one| one.count));
        (operations > 0).then_some(VolumeLatencyBin {
            from_ns: ns(bin.lower_us),
            below_ns: ns(bin.upper_us),
            operations: u64::from(operations),
        })
    };
    after.iter().filter_map(more).collect()
}

fn ns(us: u64) -> u64 {
    us.saturating_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_disk_inspect::device_log::HealthLog;

    const PAGE: &str = "Amazon EBS, NVMe log page 0xD0";

    fn log(device: &str, content: LogContent) -> DeviceLog {
        DeviceLog {
            device: device.to_owned(),
            content,
        }
    }

    fn page(iops_us: u64, count: u32) -> LogContent {
        let log = VolumeLog {
            operations: VolumePair {
                read: u64::from(count),
                write: 7,
            },
            time_us: VolumePair {
                read: 510 * u64::from(count),
                write: 0,
            },
            volume_iops_exceeded_us: iops_us,
            instance_bytes_exceeded_us: 4,
            queue_length: 64,
            read_latencies: vec![LatencyBin {
                lower_us: 500,
                upper_us: 600,
                count,
            }],
            ..VolumeLog::default()
        };
        LogContent::Volume(PAGE, Box::new(Ok(log)))
    }

    #[test]
    fn what_rose_between_two_pages_is_the_runs() {
        let before = [log("nvme1n1", page(1_000, 100))];
        let after = [log("nvme1n1", page(7_100, 300))];
        let found = reports(&before, &after, 10_000_000);
        let volume = found.volume.expect("a volume");
        assert_eq!(
            (volume.source.as_str(), volume.device.as_str()),
            (PAGE, "nvme1n1")
        );
        let exceeded = volume.exceeded();
        assert_eq!((exceeded.len(), exceeded[0].name), (1, "volume-iops"));
        assert!((exceeded[0].share - 0.61).abs() < 1e-9);
        assert_eq!(volume.read.operations, 200);
        assert_eq!(volume.read.latency_ns_mean(), Some(510_000.0));
        assert_eq!(volume.read.latencies[0].operations, 200);
        assert_eq!((volume.write.operations, volume.queue_length), (0, 64));
    }

    #[test]
    fn a_page_that_may_not_be_read_says_why() {
        let denied = || LogContent::Volume(PAGE, Box::new(Err("needs root".to_owned())));
        let found = reports(&[log("nvme1n1", denied())], &[log("nvme1n1", denied())], 1);
        let volume = found.volume.expect("a volume");
        assert_eq!(volume.not_read.as_deref(), Some("needs root"));
        assert_eq!(volume.exceeded(), []);
    }

    #[test]
    fn of_a_drive_its_heat_is_told_and_of_one_that_was_replaced_nothing() {
        let drive = |slowed_s| {
            let health = HealthLog {
                temperature_celsius: Some(81),
                slowdowns: slowed_s / 10,
                slowed_s,
                ..HealthLog::default()
            };
            LogContent::Drive(health, Some(0))
        };
        let before = [log("nvme1n1", drive(0)), log("nvme0n1", drive(10))];
        let after = [log("nvme0n1", drive(22)), log("nvme2n1", drive(0))];
        let drives = reports(&before, &after, 1).drives;
        let expected = DriveReport {
            device: "nvme0n1".to_owned(),
            temperature_celsius: Some(81),
            slowdowns: 1,
            slowed_s: 12,
            power_state: Some(0),
            ..DriveReport::default()
        };
        assert_eq!(drives, [expected]);
    }
}
