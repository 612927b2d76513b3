//! `format`: plans a file system and makes it with the system's mkfs.

use crate::steps::provision::DestroyPermission;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::{Destroy, FormatOptions, FormatPlan, FormatReport, plan_format};

/// An executable plan.
pub struct FileSystemPlan {
    /// What would be done.
    pub plan: FormatPlan,
    store: PathBuf,
}

/// Makes a plan; writes nothing.
///
/// # Errors
/// If the partition cannot be read, or the request is not possible on it.
pub fn plan(
    context: &Context,
    partition: &Path,
    options: &FormatOptions,
) -> Outcome<FileSystemPlan> {
    let store = context.store_path()?;
    let plan = plan_format(partition, options, Some(&store))?;
    Ok(FileSystemPlan { plan, store })
}

impl FileSystemPlan {
    /// Carries it out.
    ///
    /// # Errors
    /// If a safety rule refuses it, or mkfs or the device fails.
    pub fn execute(&self, destroy_permission: &DestroyPermission) -> Outcome<FormatReport> {
        let destroy = Destroy {
            name: &destroy_permission.destroy,
            store: Some(&self.store),
            busy_ok: destroy_permission.busy_ok,
            save: None,
            now: "",
        };
        self.plan.execute(&destroy).map_err(Failure::from)
    }
}
