//! Whether a block device may be written.
//!
//! `O_EXCL` decides: the kernel grants it only while nobody else has claimed the
//! device, its disk or one of its partitions - not mounted, no swap, no md, dm
//! or bcache over it. `/proc` and sysfs explain a refusal, and add what `O_EXCL`
//! cannot see: loop devices over the device, processes that have it open
//! without a claim, and the devices that `/`, swap and the store lie on.

use super::access::{Found, reopen};
use super::identity::Identity;
use super::users::{self, Wanted};
use crate::{Error, ErrorKind, Intent, Knowledge, Result};
use rustix::fs::OFlags;
use std::fs::File;
use std::path::Path;
use stripewise_disk_inspect::{DeviceNumber, System, storage::BlockDevice};

/// The kernel's name of a device, as under `/dev`: `sda1`, `loop3`, `cciss/c0d0`.
pub(super) fn kernel_name(number: DeviceNumber) -> Option<String> {
    let link = std::fs::canonicalize(format!("/sys/dev/block/{number}")).ok()?;
    let name = link.file_name()?.to_str()?;
    Some(name.replace('!', "/"))
}

/// `--destroy NAME` names this device: exactly the kernel's name, or that under
/// `/dev/`. Links (`/dev/disk/by-id/...`) and device-mapper aliases do not
/// count, as they may point elsewhere than remembered.
fn is_named(destroy: &str, kernel_name: &str) -> bool {
    destroy.strip_prefix("/dev/").unwrap_or(destroy) == kernel_name
}

/// Judges by everything but `--destroy`: what is in the way of writing?
fn in_the_way(identity: &Identity, knowledge: &Knowledge<'_>) -> Option<String> {
    let system = System::live();
    let number = identity.rdevice;
    if let Some(first) = system.uses_of_device(number).first() {
        return Some(first.to_string());
    }
    let wanted = Wanted::device(&system, number);
    if let Some(area) = users::swap_areas(&wanted).first() {
        return Some(format!("{area} is in use as swap"));
    }
    if let Some(device) = users::loop_devices(&wanted).first() {
        return Some(format!("/dev/{device} stands on it"));
    }
    if let Some(vital) = vital_for(&system, number, knowledge) {
        return Some(format!("{vital} is on it"));
    }
    let mut parts = vec![number];
    parts.extend(system.partitions(number).iter().map(|found| found.number));
    for device in parts {
        if let Some(mount_point) = users::mounted_elsewhere(device).first() {
            return Some(format!(
                "it is mounted at {} in another mount namespace (a container?)",
                mount_point.display()
            ));
        }
    }
    // Processes that have it open without a claim.
    users::patiently(|| {
        let openers = users::openers(&wanted);
        Some(format!("it is open in {}", openers.others.first()?))
    })
}

/// What of this machine's own lies on a device: `/`, swap, the store.
fn vital_for(
    system: &System,
    number: DeviceNumber,
    knowledge: &Knowledge<'_>,
) -> Option<&'static str> {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let lies_on_it = |path: &Path| {
        system
            .storage_of_path(path)
            .is_ok_and(|found| found.layers().iter().any(|layer| layer.number == number))
    };
    if lies_on_it(Path::new("/")) {
        return Some("the root file system");
    }
    if users::swap_names(&swaps).any(|name| lies_on_it(Path::new(&name))) {
        return Some("swap");
    }
    let store = knowledge.store?;
    // The store may not exist yet; then its directory counts.
    let there = store.ancestors().find(|path| path.exists())?;
    lies_on_it(there).then_some("the store of results")
}

/// Judges writing by every rule; opens nothing for writing and claims the device
/// only for a moment. Notes what could not be verified.
pub(super) fn judge_write(
    found: &Found,
    device: &BlockDevice,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<Vec<String>> {
    let identity = &found.status.identity;
    let kernel_name = kernel_name(identity.rdevice).ok_or_else(|| {
        Error::new(
            ErrorKind::Unusable,
            name,
            "the kernel does not know this device",
        )
        .with_hint("Look with `lsblk`; /sys must be mounted.")
    })?;
    let refused = match in_the_way(identity, knowledge) {
        Some(reason) => Some(refusal(name, &reason)),
        None if device.read_only => Some(
            Error::new(ErrorKind::Refused, name, "is set read-only")
                .with_hint("`blockdev --getro` shows it; somebody protected it on purpose."),
        ),
        None => claim(found, OFlags::RDONLY, name, knowledge).err(),
    };
    let Some(destroy) = &intent.destroy else {
        return Err(needs_destroy(name, &kernel_name, refused));
    };
    if !is_named(destroy, &kernel_name) {
        return Err(Error::new(
            ErrorKind::Refused,
            name,
            format!("`--destroy {destroy}` does not name this device, which is `{kernel_name}`"),
        )
        .with_hint(
            "Look twice at which device you mean; NAME must be the kernel's name, links do not count.",
        ));
    }
    match refused {
        Some(error) => Err(error),
        None if users::sees_all_processes() => Ok(Vec::new()),
        None => Ok(vec![
            "processes outside this container cannot be seen from here; that nobody uses the \
             device rests on the kernel's claim (O_EXCL) alone."
                .to_owned(),
        ]),
    }
}

fn needs_destroy(name: &str, kernel_name: &str, refused: Option<Error>) -> Error {
    let hint = match refused {
        None => format!(
            "All data on it would be lost. Give `--destroy {kernel_name}` if that is meant; \
             reads need no flag."
        ),
        Some(refused) => format!("Even then it would be refused: {}.", refused.what),
    };
    let what = format!("writing to this device needs `--destroy {kernel_name}`");
    Error::new(ErrorKind::NeedsDestroy, name, what).with_hint(hint)
}

fn refusal(name: &str, reason: &str) -> Error {
    Error::new(
        ErrorKind::Refused,
        name,
        format!("will not be written: {reason}"),
    )
    .with_hint(
        "Unmount, stop or detach that first if the device is really meant; reads need no flag.",
    )
}

/// Opens the device with `O_EXCL`, which claims it for as long as the file is open.
pub(super) fn claim(
    found: &Found,
    access: OFlags,
    name: &str,
    knowledge: &Knowledge<'_>,
) -> Result<File> {
    let identity = &found.status.identity;
    let mut claimed = None;
    let refused =
        users::patiently(
            || match reopen(&found.handle, identity, access | OFlags::EXCL, name) {
                Ok(file) => {
                    claimed = Some(file);
                    None
                }
                Err(error) => Some(error),
            },
        );
    match (claimed, refused) {
        (Some(file), _) => Ok(file),
        (None, Some(error)) if error.os_number() != Some(libc::EBUSY) => Err(error),
        (None, _) => {
            let reason = in_the_way(identity, knowledge)
                .unwrap_or_else(|| "something in the kernel has claimed it".to_owned());
            Err(refusal(name, &reason))
        }
    }
}

/// Claims the device for writing and judges once more, now that nobody else can
/// claim it.
pub(super) fn open_for_writing(
    found: &Found,
    device: &BlockDevice,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<File> {
    judge_write(found, device, name, intent, knowledge)?;
    claim(found, OFlags::RDWR, name, knowledge)
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn only_the_kernels_name_names_a_device() {
        let cases = [
            ("loop3", "loop3", true),
            ("/dev/loop3", "loop3", true),
            ("/dev/cciss/c0d0", "cciss/c0d0", true),
            ("loop", "loop3", false),
            ("loop33", "loop3", false),
            ("sda", "sda1", false),
            ("sda1", "sda", false),
            ("LOOP3", "loop3", false),
            ("", "loop3", false),
            ("/dev/", "loop3", false),
            ("/dev//loop3", "loop3", false),
            ("/dev/disk/by-id/x", "sda", false),
            ("./loop3", "loop3", false),
            (" loop3", "loop3", false),
            ("all", "loop3", false),
        ];
        for (destroy, name, want) in cases {
            assert_eq!(is_named(destroy, name), want, "`{destroy}` for {name}");
        }
    }
}
