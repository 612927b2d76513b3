//! Log pages of NVMe devices, read from the running machine.

use crate::device_log::{DeviceLog, LogContent, devices};
use crate::storage::Storage;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use stripewise_disk_formats::{health_log, volume_log};
use stripewise_machine::System;
use stripewise_machine::linux::nvme;
use stripewise_units::DeviceNumber;

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
}
