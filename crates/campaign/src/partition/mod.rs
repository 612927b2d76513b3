//! `partition`: plans a table with one aligned partition, and writes it.

use crate::steps::provision::{DestroyPermission, save_file};
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::{
    Destroy, Identifiers, PartitionOptions, TablePlan, TableReport, plan_partition, plan_restore,
};

/// The requested table.
#[derive(Clone, Debug)]
pub enum WantedTable {
    /// A new table with one partition.
    New(PartitionOptions),
    /// The table saved in this file.
    Saved(PathBuf),
}

/// An executable plan.
pub struct PartitionPlan {
    /// What would be done.
    pub plan: TablePlan,
    /// Where the overwritten data are saved first.
    pub save: PathBuf,
    store: PathBuf,
    now: String,
}

/// Makes a plan; writes nothing.
///
/// # Errors
/// If the device cannot be read, or the request is not possible on it.
pub fn plan(
    context: &Context,
    device: &Path,
    wanted: &WantedTable,
    save: Option<&Path>,
) -> Outcome<PartitionPlan> {
    let store = context.store_path()?;
    let plan = match wanted {
        WantedTable::Saved(file) => plan_restore(device, file, Some(&store)),
        WantedTable::New(options) => plan_partition(device, options, Some(&store)),
    }?;
    let now = context.timestamp();
    let save = match save {
        Some(path) => path.to_owned(),
        None => default_save(&store, &plan, &now),
    };
    Ok(PartitionPlan {
        plan,
        save,
        store,
        now,
    })
}

impl PartitionPlan {
    /// Carries it out. The identifiers of the table must be unique.
    ///
    /// # Errors
    /// If a safety rule refuses it, or the device fails.
    pub fn execute(
        &self,
        destroy_permission: &DestroyPermission,
        identifiers: &Identifiers,
    ) -> Outcome<TableReport> {
        let destroy = Destroy {
            name: &destroy_permission.destroy,
            store: Some(&self.store),
            busy_ok: destroy_permission.busy_ok,
            save: Some(save_file(&self.save)),
            now: &self.now,
        };
        self.plan
            .execute(&destroy, identifiers)
            .map_err(Failure::from)
    }
}

/// A new file in a directory beside the store, named after device and time.
fn default_save(store: &Path, plan: &TablePlan, now: &str) -> PathBuf {
    let directory = match store.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let digits: String = now
        .chars()
        .filter(|c| !matches!(c, '-' | ':' | '.'))
        .collect();
    let name = plan.device.name.replace('/', "!");
    directory
        .join("partition-tables")
        .join(format!("{name}-{digits}.json"))
}
