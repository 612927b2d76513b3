//! Whether a block device may be written: passes the user's flags to the guard, which decides.
//! Every refusal adds that reads need no permission.

use super::access::FoundPath;
use crate::{Error, ErrorKind, Intent, PlanContext, Result};
use std::fs::File;
use stripewise_device_guard::device::{self, Access, Device, Permission};
use stripewise_units::{DeviceNumber, Hint};

/// Judges writing by every rule; opens nothing for writing and claims the device only briefly. Adds
/// notes for what could not be verified.
pub(super) fn judge_write(
    found: &FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Vec<String>> {
    device_of(found, name)?
        .judge(&permission(intent, knowledge))
        .map_err(as_target)
}

/// Judges, claims the device for writing while the file is open, and judges again.
pub(super) fn open_for_writing(
    found: &FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<File> {
    device_of(found, name)?
        .claim(&permission(intent, knowledge), Access::ReadWrite)
        .map(device::Claim::into_file)
        .map_err(as_target)
}

/// Judges a claimed device again before it is reopened for writing.
pub(super) fn still_free(number: DeviceNumber, name: &str, unseen_ok: bool) -> Result<()> {
    device::still_free(number, name, unseen_ok).map_err(as_target)
}

fn device_of(found: &FoundPath, name: &str) -> Result<Device> {
    let handle = found
        .handle
        .try_clone()
        .map_err(|os| super::access::failed(name, "cannot be examined", os))?;
    Device::of_handle(handle, found.path.clone(), name).map_err(as_target)
}

fn permission<'a>(intent: &'a Intent, knowledge: &PlanContext<'a>) -> Permission<'a> {
    Permission {
        destroy: intent.destroy.as_deref(),
        unseen_ok: intent.busy_ok,
        store: knowledge.store,
    }
}

fn as_target(mut error: Error) -> Error {
    if matches!(
        error.kind,
        ErrorKind::Refused | ErrorKind::NeedsBusyOk | ErrorKind::NeedsDestroy
    ) {
        error.hint = Hint::from(format!("{} Reads need no flag.", error.hint));
    }
    error
}
