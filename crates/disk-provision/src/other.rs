//! Unsupported operating systems: returns errors.

use crate::{
    ArrayOptions, ArrayPlan, ArrayReport, Destroy, Error, ErrorKind, Extent, FileSystemKind,
    FormatOptions, FormatPlan, FormatReport, Identifiers, Identity, PartitionOptions, Result,
    TablePlan, TableReport,
};
use std::path::{Path, PathBuf};
use stripewise_units::NameText;

fn unsupported<T>(path: &Path) -> Result<T> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.as_text(),
        "disks are not written to on this operating system yet",
    )
    .with_hint("Use `diskpart` with `create partition primary align=1024` and `format /A:64K`."))
}

pub fn plan_partition(path: &Path, _: &PartitionOptions, _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_division(path: &Path, _: &[Extent], _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_restore(path: &Path, _: &Path, _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_format(path: &Path, _: &FormatOptions, _: Option<&Path>) -> Result<FormatPlan> {
    unsupported(path)
}

pub fn execute_table(plan: &TablePlan, _: &Destroy<'_>, _: &Identifiers) -> Result<TableReport> {
    unsupported(&plan.device.path)
}

pub fn execute_format(plan: &FormatPlan, _: &Destroy<'_>) -> Result<FormatReport> {
    unsupported(&plan.device.path)
}

pub fn plan_erase(path: &Path, _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_array(members: &[PathBuf], _: &ArrayOptions, _: Option<&Path>) -> Result<ArrayPlan> {
    unsupported(members.first().map_or(Path::new(""), PathBuf::as_path))
}

pub fn execute_array(plan: &ArrayPlan, _: &[Destroy<'_>]) -> Result<ArrayReport> {
    unsupported(plan.members.first().map_or(Path::new(""), |one| &one.path))
}

pub fn can_format(spec: &FormatOptions, _: u32) -> Result<()> {
    unsupported(Path::new(spec.file_system.name()))
}

pub fn identify(path: &Path) -> Result<Identity> {
    unsupported(path)
}

pub fn has_mark(path: &Path, _: [u8; 16], _: &[Identifiers]) -> Result<bool> {
    unsupported(path)
}

pub fn array_with(_: [u8; 16]) -> Option<String> {
    None
}

pub fn resync_of(_: &str) -> Option<(u64, u64)> {
    None
}

pub fn stop_array(array: &str, _: [u8; 16]) -> Result<()> {
    unsupported(Path::new(array))
}

/// Never constructed: nothing is mounted here.
#[derive(Debug)]
pub struct PrivateMount(PathBuf);

impl PrivateMount {
    /// Its location.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// Never: nothing is mounted here.
    pub fn unmount(self) -> Result<()> {
        Ok(())
    }
}

pub fn mount_privately(device: &Path, _: FileSystemKind, _: &Path) -> Result<PrivateMount> {
    unsupported(device)
}

pub fn forget_mount_point(_: &Path) {}
