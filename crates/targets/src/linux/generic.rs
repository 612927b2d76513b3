//! NVMe generic character devices: commands that pass the block layer by, under the rules of
//! the block device of the same namespace. That one is planned, judged, claimed and judged
//! again; it stays claimed for as long as the character device is used.

use super::access::{self, FoundPath, failed, reopen};
use super::identity::Status;
use super::passthrough::Passthrough;
use super::{PlanDetail, existing};
use crate::{Error, ErrorKind, Intent, Knowledge, Plan, Result, Target};
use rustix::fs::{FileType, OFlags};
use std::path::Path;
use stripewise_device_guard::generic;
use stripewise_machine::linux::nvme::namespace_id;
use stripewise_units::NameText;

const SYSFS: &str = "/sys";

/// Whether what was found is one.
pub(super) fn is_generic(found: &FoundPath) -> bool {
    let identity = found.status.identity;
    identity.kind == FileType::CharacterDevice
        && generic::is_generic(Path::new(SYSFS), identity.rdevice)
}

/// Where there is none of a name, others are to be seen.
pub(super) fn others_instead(error: Error, intent: &Intent) -> Error {
    if !intent.manner.passthrough || error.kind != ErrorKind::NotFound {
        return error;
    }
    error.with_hint(
        "`ls /dev/ng*` lists the NVMe generic character devices; where there is none, leave out \
         `<--engine> nvme`.",
    )
}

/// Refuses the engine of commands where there is nobody who takes them.
pub(super) fn refuse_others(intent: &Intent, name: &str) -> Result<()> {
    if !intent.manner.passthrough {
        return Ok(());
    }
    let what = "is no NVMe generic character device, and `--engine nvme` takes nothing else";
    Err(Error::new(ErrorKind::Usage, name, what)
        .with_hint("Name one, such as /dev/ng0n1 (`ls /dev/ng*`), or leave out `<--engine> nvme`."))
}

pub(super) fn plan(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<Plan> {
    let block = block_device_of(&found, name)?;
    if !intent.manner.passthrough {
        let what = "is an NVMe generic character device, which takes commands and nothing else";
        return Err(Error::new(ErrorKind::Usage, name, what).with_hint(format!(
            "Give `<--engine> nvme`, or name its block device, {}.",
            block.path.as_text()
        )));
    }
    let identity = found.status.identity;
    let plan = existing::plan_device(block, name, intent, knowledge)?;
    Ok(Plan {
        path: found.path,
        detail: PlanDetail {
            identity,
            ..plan.detail
        },
        ..plan
    })
}

pub(super) fn prepare(found: FoundPath, plan: Plan, knowledge: &Knowledge<'_>) -> Result<Target> {
    let name = plan.name.clone();
    let block = block_device_of(&found, &name)?;
    let number = block.status.identity.rdevice;
    let mut target = existing::prepare_device(&block, plan, knowledge)?;
    // The claim is on this very namespace: what the character device leads to is asked once
    // more while nobody can take the block device away.
    let again = block_device_of(&found, &name)?;
    let id = namespace_id(target.opened.file());
    if again.status.identity != block.status.identity
        || id.is_none()
        || id != asked_id(&found, &name)?
    {
        return Err(unknown(&name));
    }
    (target.opened).pass_through(Passthrough::new(Path::new(SYSFS), found, number));
    Ok(target)
}

/// The block device of the same namespace.
fn block_device_of(found: &FoundPath, name: &str) -> Result<FoundPath> {
    let id = asked_id(found, name)?.ok_or_else(|| unknown(name))?;
    let character = found.status.identity.rdevice;
    let namespace = generic::block_device_of(Path::new(SYSFS), character, id);
    let namespace = namespace.ok_or_else(|| unknown(name))?;
    let block = access::find(&Path::new("/dev").join(&namespace.name))?;
    let identity = block.status.identity;
    match identity.kind == FileType::BlockDevice && identity.rdevice == namespace.number {
        true => Ok(block),
        false => Err(unknown(name)),
    }
}

/// What the driver says is the id of the namespace.
fn asked_id(found: &FoundPath, name: &str) -> Result<Option<u32>> {
    let identity = &found.status.identity;
    if !is_generic(found) {
        return Ok(None);
    }
    let file = reopen(&found.handle, identity, OFlags::RDONLY, name)?;
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    Ok((status.identity == *identity)
        .then(|| namespace_id(&file))
        .flatten())
}

fn unknown(name: &str) -> Error {
    let what =
        "leads to a namespace whose block device is not found, so nothing is known of who uses it";
    Error::new(ErrorKind::Refused, name, what).with_hint(
        "Look with `lsblk` and `ls -l /sys/class/nvme-generic`; name the block device itself.",
    )
}
