//! Linux. Everything that touches the operating system; unsafe code only here.

use crate::{Access, Error, ErrorKind, Intent, Knowledge, Plan, Progress, Result, Target};
use std::fs::File;
use std::path::Path;
use stripewise_workload::CacheMode;

/// The open side of a target.
#[derive(Debug)]
pub(crate) struct Opened {}

impl Opened {
    pub(crate) fn open(&self, _cache: CacheMode, _access: Access) -> Result<File> {
        Err(Error::new(ErrorKind::Unsupported, "", "not there yet"))
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What only the platform needs of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanDetail {}

pub(crate) fn plan(path: &Path, _intent: &Intent, _knowledge: &Knowledge<'_>) -> Result<Plan> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.display(),
        "not there yet",
    ))
}

pub(crate) fn prepare(
    plan: Plan,
    _knowledge: &Knowledge<'_>,
    _progress: &mut dyn Progress,
) -> Result<Target> {
    Err(Error::new(
        ErrorKind::Unsupported,
        plan.name,
        "not there yet",
    ))
}
