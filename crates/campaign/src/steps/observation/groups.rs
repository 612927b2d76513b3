//! I/O by control group, from the system's counters: works without the kernel's events.

use super::document::{GroupShare, ObservedDevice};
use stripewise_machine::{GroupIo, System, Throttle};
use stripewise_trace::blame::ConfiguredLimit;
use stripewise_units::{DeviceNumber, Kind};

/// Maximum number of a device's groups that are kept.
const GROUPS_MAX: usize = 64;

/// Limits of control groups on a device.
pub fn limits_on(throttles: &[Throttle], device: DeviceNumber) -> Vec<ConfiguredLimit> {
    let of_device = throttles.iter().filter(|one| one.number == device);
    let all = of_device.flat_map(|one| {
        [
            (Kind::Read, false, one.read_iops),
            (Kind::Write, false, one.write_iops),
            (Kind::Read, true, one.read_bytes_per_s),
            (Kind::Write, true, one.write_bytes_per_s),
        ]
    });
    let configured = all.filter_map(|(kind, is_bytes, limit)| {
        Some(ConfiguredLimit {
            kind,
            is_bytes,
            per_second: limit? as f64,
        })
    });
    configured.collect()
}

/// The counters of all groups at one moment.
pub struct GroupWatch(Vec<GroupIo>);

impl GroupWatch {
    /// Reads them now.
    pub fn start() -> GroupWatch {
        GroupWatch(System::live().io_by_group())
    }

    /// The differences since then.
    pub fn finish(self) -> GroupsSince {
        GroupsSince {
            before: self.0,
            now: System::live().io_by_group(),
        }
    }
}

/// The counters of all groups at two moments.
pub struct GroupsSince {
    before: Vec<GroupIo>,
    now: Vec<GroupIo>,
}

impl GroupsSince {
    /// Adds the groups' shares to each device.
    pub fn add_to(&self, devices: &mut [ObservedDevice], is_anonymous: bool) {
        for device in devices {
            let number = device.number.as_deref().and_then(|text| text.parse().ok());
            let own = |all: &[GroupIo]| -> Vec<GroupIo> {
                let own = all.iter().filter(|one| Some(one.number) == number);
                own.cloned().collect()
            };
            device.by_group = between(&own(&self.before), own(&self.now), is_anonymous);
        }
    }
}

/// The I/O of one device's groups between two moments, the busiest first.
fn between(before: &[GroupIo], now: Vec<GroupIo>, is_anonymous: bool) -> Vec<GroupShare> {
    let since = now.into_iter().map(|mut one| {
        if let Some(before) = before.iter().find(|known| known.cgroup == one.cgroup) {
            one.counts.subtract(&before.counts);
        }
        GroupShare {
            group: one.cgroup,
            reads: one.counts.reads,
            writes: one.counts.writes,
            read_bytes: one.counts.read_bytes,
            write_bytes: one.counts.written_bytes,
        }
    });
    let mut shares: Vec<GroupShare> = since.filter(|one| one.operations() > 0).collect();
    shares.sort_by_key(|one| (u64::MAX - one.operations(), one.group.clone()));
    shares.truncate(GROUPS_MAX);
    if is_anonymous {
        for (k, one) in shares.iter_mut().enumerate() {
            one.group = format!("group {}", k + 1);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_machine::GroupCounts;
    use stripewise_units::DeviceNumber;

    #[test]
    fn groups_are_told_by_what_they_did_in_between() {
        let group = |name: &str, reads, writes| GroupIo {
            cgroup: name.to_owned(),
            number: DeviceNumber { major: 8, minor: 0 },
            counts: GroupCounts {
                reads,
                writes,
                read_bytes: reads * 4_096,
                written_bytes: writes * 8_192,
            },
        };
        let before = [
            group("/db", 100, 5),
            group("/idle", 9, 9),
            group("/was", 1, 1),
        ];
        let now = || {
            vec![
                group("/db", 150, 6),
                group("/idle", 9, 9),
                // Created meanwhile.
                group("/backup", 300, 0),
            ]
        };
        let rows_of = |is_anonymous| -> Vec<(String, u64, u64, u64)> {
            let shares = between(&before, now(), is_anonymous).into_iter();
            shares
                .map(|one| (one.group, one.reads, one.writes, one.write_bytes))
                .collect()
        };
        let expected = [
            ("/backup".to_owned(), 300, 0, 0),
            ("/db".to_owned(), 50, 1, 8_192),
        ];
        assert_eq!(rows_of(false), expected);
        assert_eq!(rows_of(true)[1].0, "group 2");
    }
}
