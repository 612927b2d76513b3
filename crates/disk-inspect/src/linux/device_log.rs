//! Log pages of NVMe devices, read from the running machine.

use crate::device_log::{DeviceLog, LogContent};
use crate::storage::{BlockDevice, BlockDeviceKind, Storage};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use stripewise_disk_formats::{health_log, volume_log};
use stripewise_machine::System;
use stripewise_machine::linux::nvme;
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

/// Current logs of the NVMe devices below. A drive that denies access is omitted; a volume is not,
/// so that the user learns why.
pub fn device_logs(system: &System, storage: &Storage) -> Vec<DeviceLog> {
    if !system.is_live() {
        return Vec::new();
    }
    let found = devices(storage).into_iter();
    let logs = found.filter_map(|(number, name, volume)| {
        let device = open(number, name);
        let content = match volume {
            Some(page) => {
                let log = device.and_then(|device| volume_page(&device));
                LogContent::Volume(page, Box::new(log.map_err(|error| reason(&error))))
            }
            None => {
                let device = device.ok()?;
                let power = nvme::power_state(&device).ok();
                LogContent::Drive(health_page(&device).ok()?, power)
            }
        };
        Some(DeviceLog {
            device: name.to_owned(),
            content,
        })
    });
    logs.collect()
}

/// Opens the device and verifies its number.
fn open(number: DeviceNumber, name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(Path::new("/dev").join(name))?;
    let metadata = file.metadata()?;
    let is_it =
        metadata.file_type().is_block_device() && DeviceNumber::from_raw(metadata.rdev()) == number;
    is_it
        .then_some(file)
        .ok_or_else(|| io::Error::other(format!("/dev/{name} is another device")))
}

fn volume_page(device: &File) -> io::Result<volume_log::VolumeLog> {
    let mut page = vec![0; volume_log::PAGE_BYTES];
    let namespace = nvme::namespace_id(device);
    nvme::log_page(device, volume_log::LOG_PAGE, namespace, &mut page)?;
    volume_log::decode(&page).ok_or_else(|| io::Error::other("the page is not as documented"))
}

fn health_page(device: &File) -> io::Result<health_log::HealthLog> {
    let mut page = vec![0; health_log::PAGE_BYTES];
    nvme::log_page(device, health_log::LOG_PAGE, None, &mut page)?;
    health_log::decode(&page).ok_or_else(|| io::Error::other("the page is cut short"))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "needs root".to_owned(),
        _ => error.to_string(),
    }
}

/// The NVMe devices at the bottom of a storage stack: number, name, and the log page if it is a
/// volume.
fn devices(storage: &Storage) -> Vec<(DeviceNumber, &str, Option<&'static str>)> {
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

    #[test]
    fn what_is_not_the_device_of_that_number_is_not_asked() {
        // A character device, which exists on any machine.
        let null = open(DeviceNumber::default(), "null").expect_err("no block device");
        assert_eq!(null.to_string(), "/dev/null is another device");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(reason(&denied), "needs root");
    }

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
