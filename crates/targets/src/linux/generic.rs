//! NVMe generic character devices: commands that bypass the block layer, under the rules of the
//! block device of the same namespace. That device is planned, judged, claimed and judged again; it
//! stays claimed while the character device is used.

use super::access::FoundPath;
use super::character::{Character, SYSFS};
use super::passthrough::Passthrough;
use super::{PlanDetail, existing};
use crate::{Error, ErrorKind, Intent, Plan, PlanContext, Result, Target};
use rustix::fs::FileType;
use std::path::Path;
use stripewise_device_guard::generic;
use stripewise_units::NameText;

/// Whether this is an NVMe generic character device.
pub(super) fn is_generic(found: &FoundPath) -> bool {
    let identity = found.status.identity;
    identity.kind == FileType::CharacterDevice
        && generic::is_generic(Path::new(SYSFS), identity.rdevice)
}

/// Suggests other devices where none has that name.
pub(super) fn others_instead(error: Error, intent: &Intent) -> Error {
    if !intent.features.passthrough || error.kind != ErrorKind::NotFound {
        return error;
    }
    error.with_hint(
        "`ls /dev/ng*` lists the NVMe generic character devices; where there is none, leave out \
         `<--engine> nvme`.",
    )
}

/// Refuses the command engine on targets that do not support it.
pub(super) fn refuse_others(intent: &Intent, name: &str) -> Result<()> {
    if !intent.features.passthrough {
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
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    let path = found.path.clone();
    let character = Character::open(found, name)?;
    let block = character.block_device(name)?;
    if !intent.features.passthrough {
        let what = "is an NVMe generic character device, which takes commands and nothing else";
        return Err(Error::new(ErrorKind::Usage, name, what).with_hint(format!(
            "Give `<--engine> nvme`, or name its block device, {}.",
            block.path.as_text()
        )));
    }
    let plan = existing::plan_device(block, name, intent, knowledge)?;
    Ok(Plan {
        path,
        detail: PlanDetail {
            identity: character.identity,
            beneath: Some(plan.detail.identity),
            ..plan.detail
        },
        ..plan
    })
}

pub(super) fn prepare(found: FoundPath, plan: Plan, knowledge: &PlanContext<'_>) -> Result<Target> {
    let name = plan.name.clone();
    let character = Character::open(found, &name)?;
    let block = character.block_device(&name)?;
    if Some(block.status.identity) != plan.detail.beneath {
        return Err(super::changed(&name));
    }
    let mut target = existing::prepare_device(&block, plan, knowledge)?;
    // No one can take the block device away from here on: whether it still matches the character
    // device is checked now, and each time that one is opened.
    let way = Passthrough::new(Path::new(SYSFS), character, target.opened.file(), &name)?;
    target.opened.pass_through(way);
    Ok(target)
}
