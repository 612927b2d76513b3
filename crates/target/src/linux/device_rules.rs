//! Whether a block device may be written.
//!
//! `O_EXCL` decides: the kernel grants it only while nobody else has claimed the
//! device, its disk or one of its partitions - not mounted, no swap, no md, dm
//! or bcache over it. `/proc` and sysfs explain a refusal, and add what `O_EXCL`
//! cannot see: loop devices over the device, processes that have it open
//! without a claim, and the devices that `/`, swap and the store lie on.

use super::access::{Found, reopen};
use super::users;
use crate::{Error, ErrorKind, Intent, Knowledge, Result};
use rustix::fs::OFlags;
use std::fs::File;
use stripewise_disk_inspect::claims::{in_the_way, is_named, kernel_name};
use stripewise_disk_inspect::storage::BlockDevice;

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
    let refused = match in_the_way(identity.rdevice, knowledge.store) {
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
            let reason = in_the_way(identity.rdevice, knowledge.store)
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
