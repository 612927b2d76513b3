//! `format`: plans a file system with the system's own mkfs, and makes it.

use crate::steps::provision::{GoAhead, provision_failure};
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_disk_provision::{Destroy, FormatOptions, FormatPlan, FormatReport, plan_format};

/// A plan that can be carried out.
pub struct FileSystemPlan {
    /// What would be done.
    pub plan: FormatPlan,
    store: PathBuf,
}

/// Plans; nothing is written.
///
/// # Errors
/// Where the partition cannot be read, or cannot have what is wanted.
pub fn plan(
    context: &Context,
    partition: &Path,
    options: &FormatOptions,
) -> Outcome<FileSystemPlan> {
    let store = context.store_path()?;
    let plan = plan_format(partition, options, Some(&store)).map_err(provision_failure)?;
    Ok(FileSystemPlan { plan, store })
}

impl FileSystemPlan {
    /// Carries it out.
    ///
    /// # Errors
    /// Where a rule of safety refuses it, or mkfs or the device fails.
    pub fn execute(&self, go_ahead: &GoAhead) -> Outcome<FormatReport> {
        let destroy = Destroy {
            name: &go_ahead.destroy,
            store: Some(&self.store),
            busy_ok: go_ahead.busy_ok,
            save: None,
            now: "",
        };
        self.plan.execute(&destroy).map_err(provision_failure)
    }
}
