//! Statistics of drives and volumes: NVMe log pages, read from the device.
//!
//! | device | page | says |
//! | --- | --- | --- |
//! | Amazon EBS, instance store | 0xD0 | how long the volume's and the instance's limits held it back, latencies at the volume |
//! | every other NVMe drive | 0x02 and its power state | whether it slowed itself for heat |
//!
//! Only devices with an NVMe driver are queried, and page 0xD0 only on Amazon's models: other
//! vendors may use it for something else.

use crate::storage::{BlockDevice, BlockDeviceKind, Storage};
pub use stripewise_disk_formats::health_log::HealthLog;
pub use stripewise_disk_formats::volume_log::{LatencyBin, ReadWrite as VolumePair, VolumeLog};
use stripewise_units::DeviceNumber;

/// Models that support page 0xD0, as named in sysfs, and what they are.
const VOLUMES: [(&str, &str); 2] = [
    (
        "Amazon Elastic Block Store",
        "Amazon EBS, NVMe log page 0xD0",
    ),
    (
        "Amazon EC2 NVMe Instance Storage",
        "Amazon instance store, NVMe log page 0xD0",
    ),
];

/// One device's log at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLog {
    /// Kernel name.
    pub device: String,
    /// Its content.
    pub content: LogContent,
}

/// Content of a device log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogContent {
    /// A cloud volume: which page, and its content or why it was not read.
    Volume(&'static str, Box<Result<VolumeLog, String>>),
    /// A drive: its thermal state, and its power state if reported.
    Drive(HealthLog, Option<u8>),
}

/// The NVMe devices at the bottom of a storage stack: number, name, and the log page if it is a
/// volume.
pub(crate) fn devices(storage: &Storage) -> Vec<(DeviceNumber, &str, Option<&'static str>)> {
    let is_nvme = |device: &&&BlockDevice| {
        let transport = device.transport.as_deref();
        device.kind == BlockDeviceKind::Disk
            && device.name.starts_with("nvme")
            && transport.is_some_and(|transport| transport.starts_with("nvme"))
    };
    let layers = storage.layers();
    let mut found: Vec<_> = layers
        .iter()
        .filter(is_nvme)
        .map(|device| {
            let model = device.model.as_deref().unwrap_or_default();
            let volume = VOLUMES.iter().find(|(name, _)| model.contains(name));
            (
                device.number,
                device.name.as_str(),
                volume.map(|(_, page)| *page),
            )
        })
        .collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(name: &str, transport: &str, model: &str) -> BlockDevice {
        BlockDevice {
            name: name.to_owned(),
            kind: BlockDeviceKind::Disk,
            transport: Some(transport.to_owned()),
            model: Some(model.to_owned()),
            ..BlockDevice::default()
        }
    }

    #[test]
    fn only_nvme_devices_are_asked_and_only_amazons_for_their_own_page() {
        let storage = |device| Storage {
            devices: vec![device],
            ..Storage::default()
        };
        let page = |device| {
            let storage = storage(device);
            devices(&storage).first().map(|(_, _, page)| *page)
        };
        let ebs = page(disk("nvme1n1", "nvme", "Amazon Elastic Block Store"));
        assert_eq!(ebs, Some(Some("Amazon EBS, NVMe log page 0xD0")));
        let store = page(disk("nvme2n1", "nvme", "Amazon EC2 NVMe Instance Storage"));
        assert_eq!(
            store,
            Some(Some("Amazon instance store, NVMe log page 0xD0"))
        );
        assert_eq!(
            page(disk("nvme0n1", "nvme", "EXAMPLE NVME 960")),
            Some(None)
        );
        assert_eq!(
            page(disk("sda", "sata", "Amazon Elastic Block Store")),
            None
        );
        assert_eq!(page(disk("nvme0n1", "virtio", "")), None);
    }

    #[test]
    fn members_of_an_array_are_asked_once_each_and_partitions_by_their_disk() {
        let number = |minor| DeviceNumber { major: 259, minor };
        let member = |name: &str, minor| BlockDevice {
            name: format!("{name}p1"),
            number: number(minor + 1),
            kind: BlockDeviceKind::Partition,
            below: vec![BlockDevice {
                number: number(minor),
                ..disk(name, "nvme", "")
            }],
            ..BlockDevice::default()
        };
        let members = [("nvme0n1", 1), ("nvme0n1", 1), ("nvme1n1", 5)];
        let array = BlockDevice {
            name: "md0".to_owned(),
            below: members.map(|(name, minor)| member(name, minor)).to_vec(),
            ..BlockDevice::default()
        };
        let storage = Storage {
            devices: vec![array],
            ..Storage::default()
        };
        let names: Vec<&str> = devices(&storage).iter().map(|(_, name, _)| *name).collect();
        assert_eq!(names, ["nvme0n1", "nvme1n1"]);
    }
}
