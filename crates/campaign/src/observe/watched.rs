//! The devices to observe: those that carry out operations, below the named one.

use std::collections::BTreeSet;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::{DeviceNumber, is_sim_target, listed, path_of};

/// An observed device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The device that carries out operations.
    pub number: DeviceNumber,
    /// Count only operations from the first byte to the second, as for a partition; `None`: all
    /// of it.
    pub range: Option<(u64, u64)>,
}

/// The devices below a device or path; empty if none is named: all.
pub fn watched(target: Option<&str>) -> Outcome<Vec<Watched>> {
    let Some(target) = target else {
        return Ok(Vec::new());
    };
    if is_sim_target(target) {
        return Err(Failure::usage(
            format!("{target} is simulated: no kernel sees its I/O"),
            "name a device or a path of this machine; `stripewise run` measures simulated arrays",
        ));
    }
    let system = System::live();
    let devices = match system.device_named(target) {
        Ok(device) => vec![device],
        Err(_) => {
            let storage = system.storage_of_path(&path_of(target)).map_err(|error| {
                Failure::target(
                    format!("{target}: {error}"),
                    "name a device as `stripewise disks` lists them, or a path that exists",
                )
            })?;
            storage.devices
        }
    };
    let mut all = Vec::new();
    devices
        .iter()
        .for_each(|device| carriers(device, None, &mut all));
    if all.is_empty() {
        return Err(Failure::target(
            format!("{target} is on no block device: it is in memory or on a network"),
            "name a path on a disk; servers of network file systems are observed where they run",
        ));
    }
    Ok(all)
}

/// Names that are listed; more are counted.
const NAMED_MAX: usize = 8;

/// Which devices those are: `sda, sdb and 3 more`.
pub fn names_of(target: Option<&str>) -> Outcome<String> {
    let system = System::live();
    let watched = watched(target)?;
    let numbers: Vec<DeviceNumber> = match watched.is_empty() {
        true => whole_devices(&system),
        false => watched.iter().map(|one| one.number).collect(),
    };
    let devices = numbers
        .into_iter()
        .filter_map(|number| system.device(number).ok());
    // Loop devices and the like that have nothing behind them are no disks.
    let devices = devices.filter(|device| device.size_bytes > 0);
    let names: Vec<String> = devices.map(|device| device.name).collect();
    Ok(listed(&names, NAMED_MAX))
}

/// A note if the store is on an observed device; `observed`: empty for all.
pub fn note_on_store(context: &Context, observed: &BTreeSet<DeviceNumber>) -> Option<String> {
    let store = std::path::absolute(context.store_path().ok()?).ok()?;
    let below = watched(Some(store.parent()?.to_str()?)).ok()?;
    let is_observed = |one: &Watched| observed.is_empty() || observed.contains(&one.number);
    below.iter().any(is_observed).then(|| {
        "the store is on a device that was observed; it was written when that was over".to_owned()
    })
}

/// All but partitions, which count what their disks count.
pub fn whole_devices(system: &System) -> Vec<DeviceNumber> {
    let numbers = system.devices().into_iter();
    let is_whole = |number: &DeviceNumber| {
        system
            .device(*number)
            .is_ok_and(|device| device.partition.is_none())
    };
    numbers.filter(is_whole).collect()
}

/// The devices that carry out what is sent to this one: layers of md and device mapper hand
/// on what they get, and so do partitions.
fn carriers(device: &BlockDevice, range: Option<(u64, u64)>, all: &mut Vec<Watched>) {
    let hands_on = matches!(
        device.kind,
        BlockDeviceKind::Partition | BlockDeviceKind::Array | BlockDeviceKind::Mapper
    );
    if !hands_on || device.below.is_empty() {
        let watched = Watched {
            number: device.number,
            range,
        };
        if !all.contains(&watched) {
            all.push(watched);
        }
        return;
    }
    let of_partition = device.partition.as_ref().map(|partition| {
        let start = partition.start_bytes;
        (start, start.saturating_add(device.size_bytes))
    });
    for below in &device.below {
        carriers(below, of_partition, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_conductor::exit::Exit;
    use stripewise_disk_inspect::storage::Partition;

    fn device(minor: u32, kind: BlockDeviceKind, below: Vec<BlockDevice>) -> BlockDevice {
        BlockDevice {
            number: DeviceNumber { major: 8, minor },
            kind,
            below,
            ..BlockDevice::default()
        }
    }

    #[test]
    fn a_simulated_array_is_refused_and_many_devices_are_counted() {
        let refused = watched(Some("sim:nvme")).expect_err("no kernel sees it");
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.to_string().contains("simulated"), "{refused}");
        let names = |count: usize| {
            let all: Vec<String> = (0..count).map(|k| format!("sd{k}")).collect();
            listed(&all, NAMED_MAX)
        };
        assert_eq!(names(2), "sd0, sd1");
        assert!(names(11).ends_with("sd7 and 3 more"));
    }

    #[test]
    fn layers_hand_on_and_a_partition_is_a_part_of_its_disk() {
        let disk = |minor| device(minor, BlockDeviceKind::Disk, Vec::new());
        let partition = BlockDevice {
            size_bytes: 1_000,
            partition: Some(Partition {
                index: 1,
                start_bytes: 500,
            }),
            ..device(1, BlockDeviceKind::Partition, vec![disk(0)])
        };
        let array = device(9, BlockDeviceKind::Array, vec![partition, disk(16)]);
        let mut all = Vec::new();
        carriers(&array, None, &mut all);
        let number = |minor| DeviceNumber { major: 8, minor };
        let expected = [(number(0), Some((500, 1_500))), (number(16), None)];
        let found: Vec<_> = all.iter().map(|one| (one.number, one.range)).collect();
        assert_eq!(found, expected);
        // A loop device carries out its operations itself, whatever is below it.
        let mut all = Vec::new();
        carriers(
            &device(7, BlockDeviceKind::Loop, vec![disk(0)]),
            None,
            &mut all,
        );
        assert_eq!(all[0].number, number(7));
    }
}
