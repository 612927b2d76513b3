//! Windows. Everything that touches the operating system; unsafe code only in
//! `calls.rs`.
//!
//! | file | question |
//! |---|---|
//! | `access` | what does a path lead to, and opening just that again |
//! | `calls` | the system's calls |
//! | `device_name`, `device` | drives and volumes as devices |
//! | `file_rules` | may an existing file be written |
//! | `database` | does a database live here |
//! | `make`, `mark` | test files |
//! | `expand` | an existing file that is to be made larger |
//! | `existing`, `test_file` | plan and preparation of the two sorts of target |
//! | `opened` | how workers open it |
//!
//! Every later open uses the path that the system returned for the first one, and is compared with
//! what was judged (volume and file id) before anything is done with it. No open ever truncates.

/// No uncached, atomic or polled operations.
pub(crate) const HAS_OPERATION_FLAGS: bool = false;

mod access;
#[allow(unsafe_code)]
mod calls;
mod database;
mod device;
mod device_name;
mod device_rules;
mod existing;
mod expand;
mod file_rules;
mod kept_file;
mod make;
mod mark;
mod opened;
mod test_file;

pub(crate) use existing::data_facts;
pub(crate) use expand::expand;
pub(crate) use kept_file::{judge_kept_file, kept_file_is_gone, remove_kept_file};
pub(crate) use opened::{FileWatch, OpenHandle};

use crate::{Intent, Plan, PlanContext, Progress, Result, Target};
use access::Identity;
use std::path::{Path, PathBuf};
use stripewise_units::NameText;

/// Platform-specific part of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanDetail {
    pub(crate) intent: Intent,
    what: PlannedObject,
}

/// The planned object, as it was when judged.
#[derive(Clone, Debug)]
enum PlannedObject {
    File {
        identity: Identity,
        birth_time_ns: i64,
    },
    Device,
    TestFile {
        directory: Identity,
        kept_as: Option<PathBuf>,
    },
}

pub(crate) fn plan(path: &Path, intent: &Intent, knowledge: &PlanContext<'_>) -> Result<Plan> {
    let name = path.as_text();
    intent.judge(&name)?;
    if let Some(device) = device_name::parse(&name) {
        return device::plan(&device, &name, intent);
    }
    if intent.create {
        return test_file::plan_at(path, &name, intent);
    }
    let found = access::find(path)?;
    if found.status.is_directory {
        test_file::plan_in(found, &name, intent, None)
    } else {
        existing::plan(found, &name, intent, knowledge)
    }
}

pub(crate) fn prepare(
    plan: Plan,
    knowledge: &PlanContext<'_>,
    progress: &mut dyn Progress,
) -> Result<Target> {
    let expected = match &plan.detail.what {
        PlannedObject::Device => return device::prepare(plan),
        PlannedObject::File { identity, .. } => *identity,
        PlannedObject::TestFile { directory, .. } => *directory,
    };
    let found = access::find(&plan.path)?;
    // Nothing was open since then, so the number alone may have been reused; a directory's time
    // means nothing, because Wine's changes with its contents.
    let is_other = match &plan.detail.what {
        PlannedObject::File { birth_time_ns, .. } => found.status.birth_time_ns != *birth_time_ns,
        _ => false,
    };
    if found.status.identity != expected || is_other {
        return Err(access::replaced(&plan.name));
    }
    match plan.detail.what {
        PlannedObject::TestFile { .. } => test_file::prepare(&found, plan, progress),
        _ => existing::prepare(&found, plan, knowledge),
    }
}

/// Reserves the space of a file.
pub(crate) fn reserve(_: &std::fs::File, _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
