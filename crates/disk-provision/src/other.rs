//! Operating systems that are not written yet: says so.

use crate::{
    Destroy, Error, ErrorKind, FormatPlan, FormatReport, FormatWish, Identifiers, Result,
    TablePlan, TableReport, Wish,
};
use std::path::Path;
use stripewise_units::NameText;

fn unsupported<T>(path: &Path) -> Result<T> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.as_text(),
        "disks are not written to on this operating system yet",
    )
    .with_hint("Use `diskpart` with `create partition primary align=1024` and `format /A:64K`."))
}

pub fn plan_partition(path: &Path, _: &Wish, _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_restore(path: &Path, _: &Path, _: Option<&Path>) -> Result<TablePlan> {
    unsupported(path)
}

pub fn plan_format(path: &Path, _: &FormatWish, _: Option<&Path>) -> Result<FormatPlan> {
    unsupported(path)
}

pub fn carry_out_table(plan: &TablePlan, _: &Destroy<'_>, _: &Identifiers) -> Result<TableReport> {
    unsupported(&plan.device.path)
}

pub fn carry_out_format(plan: &FormatPlan, _: &Destroy<'_>) -> Result<FormatReport> {
    unsupported(&plan.device.path)
}
