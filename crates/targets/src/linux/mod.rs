//! Linux. Everything that touches the operating system; unsafe code only in
//! `ioctl.rs`.
//!
//! | file | question |
//! |---|---|
//! | `access` | what does a path lead to, looked at once |
//! | `file_rules`, `device_rules`, `overlay` | may it be written |
//! | `users`, `ioctl` | who uses it |
//! | `busy`, `database`, `surroundings` | does anybody depend on it right now |
//! | `signature` | what would be lost |
//! | `space`, `make`, `fill`, `mark` | test files |
//! | `generic`, `character`, `passthrough` | past the block layer, under the rules of the block device |
//! | `kept_file` | removing a test file that was kept |
//! | `existing`, `test_file` | plan and preparation of the two sorts of target |
//! | `opened`, `direct` | how workers open it |
//! | `watch` | what others do to it meanwhile |

/// Uncached, atomic and polled operations can be requested; whether they are available depends on
/// the file.
pub(crate) const HAS_OPERATION_FLAGS: bool = true;

mod access;
mod busy;
mod character;
mod database;
mod device_rules;
mod direct;
mod discards;
mod existing;
mod expand;
mod file_rules;
mod fill;
mod generic;
#[cfg(test)]
#[path = "../../../../tests/support/holder.rs"]
mod holder;
mod identity;
mod io_features;
#[allow(unsafe_code)]
mod ioctl;
mod kept_file;
mod make;
mod mark;
mod opened;
mod overlay;
mod passthrough;
mod queue;
mod signature;
mod space;
mod surroundings;
mod test_file;
mod users;
mod watch;

pub(crate) use existing::data_facts;
pub(crate) use kept_file::{judge_kept_file, kept_file_is_gone, remove_kept_file};
pub(crate) use opened::OpenHandle;
pub(crate) use watch::FileWatch;

use crate::{Error, ErrorKind, Intent, Plan, PlanContext, Progress, Result, Target};
pub(crate) use expand::expand;
pub(crate) use fill::reserve;
use identity::Identity;
use rustix::fs::FileType;
use std::ffi::OsString;
use std::path::Path;
use stripewise_units::NameText;

/// Platform-specific part of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanDetail {
    /// Of the target, or of the directory of a test file.
    identity: Identity,
    /// Of the block device of a generic character device.
    beneath: Option<Identity>,
    pub(crate) intent: Intent,
    /// Name under which the test file is kept.
    kept_file_name: Option<OsString>,
}

pub(crate) fn plan(path: &Path, intent: &Intent, knowledge: &PlanContext<'_>) -> Result<Plan> {
    let name = path.as_text();
    intent.judge(&name)?;
    if intent.create {
        generic::refuse_others(intent, &name)?;
        return test_file::plan_at(path, &name, intent, knowledge);
    }
    let found = access::find(path).map_err(|error| generic::others_instead(error, intent))?;
    if generic::is_generic(&found) {
        return generic::plan(found, &name, intent, knowledge);
    }
    generic::refuse_others(intent, &name)?;
    match found.status.identity.kind {
        FileType::Directory => test_file::plan_in(found, &name, intent, None, knowledge),
        FileType::RegularFile => existing::plan_file(found, &name, intent, knowledge),
        FileType::BlockDevice => existing::plan_device(found, &name, intent, knowledge),
        kind => Err(not_storage(kind, &name)),
    }
}

pub(crate) fn prepare(
    plan: Plan,
    knowledge: &PlanContext<'_>,
    progress: &mut dyn Progress,
) -> Result<Target> {
    let found = access::find(&plan.path)?;
    if found.status.identity != plan.detail.identity {
        return Err(changed(&plan.name));
    }
    match found.status.identity.kind {
        _ if generic::is_generic(&found) => generic::prepare(found, plan, knowledge),
        FileType::Directory => test_file::prepare(&found, plan, progress),
        FileType::RegularFile => existing::prepare_file(&found, plan, knowledge),
        FileType::BlockDevice => existing::prepare_device(&found, plan, knowledge),
        kind => Err(not_storage(kind, &plan.name)),
    }
}

fn changed(name: &str) -> Error {
    let what = "has changed since the plan was made";
    Error::new(ErrorKind::Refused, name, what)
        .with_hint("Run the command again to see the new plan.")
}

fn not_storage(kind: FileType, name: &str) -> Error {
    let (what, hint) = match kind {
        FileType::CharacterDevice => (
            "a character device",
            "Disks are block devices: `lsblk` lists them.",
        ),
        FileType::Fifo => ("a named pipe", "Choose a file, directory or block device."),
        FileType::Socket => ("a socket", "Choose a file, directory or block device."),
        _ => (
            "neither file, directory nor block device",
            "Choose one of these.",
        ),
    };
    Error::new(ErrorKind::Unusable, name, format!("is {what}, not storage")).with_hint(hint)
}
