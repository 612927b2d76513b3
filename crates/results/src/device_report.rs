//! Statistics reported by volumes and drives over a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_units::format_duration;

/// Statistics reported by a cloud volume, from before a run to after it (including ramp and drain):
/// for all of its users, not only the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeReport {
    /// Source: `Amazon EBS, NVMe log page 0xD0`.
    pub source: String,
    /// Kernel name of the device; several if an array spans several volumes.
    pub device: String,
    /// Why nothing was read; all numbers are then 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_read: Option<String>,
    /// From the first reading to the last.
    pub elapsed_ns: u64,
    /// Time in which more operations per second were requested than the volume provides.
    pub volume_iops_exceeded_ns: u64,
    /// Time in which more bytes per second were requested than the volume provides.
    pub volume_bandwidth_exceeded_ns: u64,
    /// Time in which more operations per second were requested than the instance provides for all
    /// its volumes.
    pub instance_iops_exceeded_ns: u64,
    /// Time in which more bytes per second were requested than the instance provides for all its
    /// volumes.
    pub instance_bandwidth_exceeded_ns: u64,
    /// Operations in flight at the later reading.
    pub queue_length: u64,
    /// Reads at the volume.
    pub read: VolumeOperations,
    /// Writes at the volume.
    pub write: VolumeOperations,
}

/// Operations of one kind as counted by the volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeOperations {
    /// Completed.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their times at the volume.
    pub time_ns: u64,
    /// Nonempty bins: from, below, operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<VolumeLatencyBin>,
}

/// Operations with a volume latency between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeLatencyBin {
    /// Lower end.
    pub from_ns: u64,
    /// Upper end.
    pub below_ns: u64,
    /// Operations.
    pub operations: u64,
}

impl VolumeOperations {
    /// Mean time of an operation at the volume; `None` if there were none.
    pub fn latency_ns_mean(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.time_ns as f64 / self.operations as f64)
    }

    fn add(&mut self, other: &VolumeOperations) {
        self.operations = self.operations.saturating_add(other.operations);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        for bin in &other.latencies {
            let same = |one: &&mut VolumeLatencyBin| {
                (one.from_ns, one.below_ns) == (bin.from_ns, bin.below_ns)
            };
            match self.latencies.iter_mut().find(same) {
                Some(one) => one.operations = one.operations.saturating_add(bin.operations),
                None => self.latencies.push(*bin),
            }
        }
    }
}

/// A limit reported by a volume, and the share of the time in which it was exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExceededLimit {
    /// `volume-iops`, `volume-bandwidth`, `instance-iops`, `instance-bandwidth`.
    pub name: &'static str,
    /// The limit as text.
    pub words: &'static str,
    /// Share of the time between the readings, 0 to 1.
    pub share: f64,
}

impl VolumeReport {
    /// The limits that were exceeded, longest first.
    pub fn exceeded(&self) -> Vec<ExceededLimit> {
        let all = [
            (
                "volume-iops",
                "the volume's IOPS limit",
                self.volume_iops_exceeded_ns,
            ),
            (
                "volume-bandwidth",
                "the volume's bandwidth limit",
                self.volume_bandwidth_exceeded_ns,
            ),
            (
                "instance-iops",
                "the instance's IOPS limit",
                self.instance_iops_exceeded_ns,
            ),
            (
                "instance-bandwidth",
                "the instance's bandwidth limit",
                self.instance_bandwidth_exceeded_ns,
            ),
        ];
        let elapsed_ns = self.elapsed_ns.max(1) as f64;
        let mut found: Vec<ExceededLimit> = all
            .into_iter()
            .filter(|(.., ns)| *ns > 0)
            .map(|(name, words, ns)| ExceededLimit {
                name,
                words,
                // Both counters are read slightly before or after the clock.
                share: (ns as f64 / elapsed_ns).min(1.0),
            })
            .collect();
        found.sort_by(|a, b| b.share.total_cmp(&a.share));
        found
    }

    /// Adds a later period of the same volumes.
    pub fn extend(&mut self, later: &VolumeReport) {
        self.elapsed_ns = self.elapsed_ns.saturating_add(later.elapsed_ns);
        self.queue_length = later.queue_length;
        self.each(later, u64::saturating_add);
    }

    /// Adds another volume over the same period: for limits, the one exceeded longest. If one of
    /// them was not read, nothing is known about both together.
    pub fn join(&mut self, other: &VolumeReport) {
        self.device = format!("{}, {}", self.device, other.device);
        let not_read = self.not_read.take().or_else(|| other.not_read.clone());
        if not_read.is_some() {
            *self = VolumeReport {
                source: std::mem::take(&mut self.source),
                device: std::mem::take(&mut self.device),
                not_read,
                ..VolumeReport::default()
            };
            return;
        }
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.queue_length = self.queue_length.saturating_add(other.queue_length);
        self.each(other, u64::max);
    }

    fn each(&mut self, other: &VolumeReport, of: fn(u64, u64) -> u64) {
        let pairs = [
            (
                &mut self.volume_iops_exceeded_ns,
                other.volume_iops_exceeded_ns,
            ),
            (
                &mut self.volume_bandwidth_exceeded_ns,
                other.volume_bandwidth_exceeded_ns,
            ),
            (
                &mut self.instance_iops_exceeded_ns,
                other.instance_iops_exceeded_ns,
            ),
            (
                &mut self.instance_bandwidth_exceeded_ns,
                other.instance_bandwidth_exceeded_ns,
            ),
        ];
        for (mine, theirs) in pairs {
            *mine = of(*mine, theirs);
        }
        self.read.add(&other.read);
        self.write.add(&other.write);
    }
}

/// `0.51 ms at the volume, 0.63 ms here: 0.12 ms are this host's`; `None` if the host measured less
/// than the volume, which then counts something else.
pub fn where_latency_arises(at_volume_ns: f64, here_ns: f64) -> Option<String> {
    let part = |ns: f64| format_duration(ns.round().max(0.0) as u64);
    (at_volume_ns > 0.0 && here_ns >= at_volume_ns).then(|| {
        format!(
            "{} at the volume, {} here: {} are this host's",
            part(at_volume_ns),
            part(here_ns),
            part(here_ns - at_volume_ns)
        )
    })
}

/// Thermal statistics reported by an NVMe drive over a run, including ramp and drain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriveReport {
    /// Kernel name.
    pub device: String,
    /// Degrees Celsius at the later reading.
    pub temperature_celsius: Option<i64>,
    /// Number of thermal throttling events.
    pub slowdowns: u64,
    /// Duration of thermal throttling in seconds.
    pub slowed_s: u64,
    /// Minutes above its warning temperature.
    pub warm_minutes: u64,
    /// Minutes above its critical temperature.
    pub hot_minutes: u64,
    /// Its power state at the later reading: 0 is the fastest.
    pub power_state: Option<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(iops_ns: u64, elapsed_ns: u64) -> VolumeReport {
        VolumeReport {
            device: "nvme1n1".to_owned(),
            elapsed_ns,
            volume_iops_exceeded_ns: iops_ns,
            instance_bandwidth_exceeded_ns: iops_ns / 2,
            read: VolumeOperations {
                operations: 100,
                bytes: 409_600,
                time_ns: 51_000_000,
                latencies: vec![VolumeLatencyBin {
                    from_ns: 1,
                    below_ns: 2,
                    operations: 100,
                }],
            },
            ..VolumeReport::default()
        }
    }

    #[test]
    fn shares_are_of_the_time_between_the_readings() {
        let exceeded = report(610, 1_000).exceeded();
        let named: Vec<_> = exceeded.iter().map(|one| (one.name, one.share)).collect();
        assert_eq!(
            named,
            [("volume-iops", 0.61), ("instance-bandwidth", 0.305)]
        );
        assert_eq!(report(0, 1_000).exceeded(), []);
        assert_eq!(report(2_000, 1_000).exceeded()[0].share, 1.0);
    }

    #[test]
    fn times_add_up_and_of_volumes_side_by_side_the_longest_counts() {
        let mut all = report(610, 1_000);
        all.extend(&report(390, 1_000));
        assert_eq!(all.exceeded()[0].share, 0.5);
        assert_eq!(all.read.latencies[0].operations, 200);
        let mut both = report(610, 1_000);
        both.join(&report(900, 1_000));
        assert_eq!(both.device, "nvme1n1, nvme1n1");
        assert_eq!(both.exceeded()[0].share, 0.9);
        assert_eq!(both.read.latency_ns_mean(), Some(510_000.0));
        both.join(&VolumeReport {
            device: "nvme2n1".to_owned(),
            not_read: Some("needs root".to_owned()),
            ..VolumeReport::default()
        });
        both.join(&report(900, 1_000));
        let expected = VolumeReport {
            device: "nvme1n1, nvme1n1, nvme2n1, nvme1n1".to_owned(),
            not_read: Some("needs root".to_owned()),
            ..VolumeReport::default()
        };
        assert_eq!(both, expected);
    }

    #[test]
    fn latency_is_parted_only_where_the_clocks_agree() {
        let text = where_latency_arises(510_000.0, 630_000.0);
        let expected = "510 µs at the volume, 630 µs here: 120 µs are this host's";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(where_latency_arises(510_000.0, 400_000.0), None);
        assert_eq!(where_latency_arises(0.0, 400_000.0), None);
    }
}
