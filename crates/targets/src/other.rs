//! Unsupported operating systems: everything type-checks and fails at run time.

use crate::{
    Access, Error, ErrorKind, Intent, MadeFile, Plan, PlanContext, Progress, Result, Target,
};
use std::fs::File;
use std::path::Path;
use stripewise_units::NameText;
use stripewise_workload::{CacheMode, Workload};

/// No uncached, atomic or polled operations.
pub(crate) const HAS_OPERATION_FLAGS: bool = false;

/// Never constructed: no target is opened here.
#[derive(Debug)]
pub(crate) enum OpenHandle {}

impl OpenHandle {
    pub(crate) fn open(&self, _cache: CacheMode, _access: Access) -> Result<File> {
        match *self {}
    }

    pub(crate) fn open_for_operations(&self, _cache: CacheMode, _access: Access) -> Result<File> {
        match *self {}
    }

    pub(crate) fn fits(&self, _workload: &Workload) -> Result<()> {
        match *self {}
    }

    pub(crate) fn drop_cache(&self) {}

    pub(crate) fn placement(&self) -> Option<stripewise_disk_inspect::placement::Placement> {
        match *self {}
    }

    pub(crate) fn atomic_writes(&self) -> Option<stripewise_results::AtomicWriteFacts> {
        match *self {}
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn watch(&self) -> Option<FileWatch> {
        match *self {}
    }
}

/// Never constructed: no file is watched here.
#[derive(Clone, Debug)]
pub(crate) enum FileWatch {}

impl FileWatch {
    pub(crate) fn is_cut(&self) -> bool {
        match *self {}
    }

    pub(crate) fn changed(&self) -> Option<crate::Changed> {
        match *self {}
    }
}

/// Platform-specific part of a plan: none.
#[derive(Clone, Debug)]
pub(crate) enum PlanDetail {}

pub(crate) fn plan(path: &Path, _intent: &Intent, _knowledge: &PlanContext<'_>) -> Result<Plan> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.as_text(),
        "real targets are not supported on this operating system yet",
    )
    .with_hint("Simulated targets work everywhere: try `sim:NAME`."))
}

pub(crate) fn prepare(
    plan: Plan,
    _knowledge: &PlanContext<'_>,
    _progress: &mut dyn Progress,
) -> Result<Target> {
    match plan.detail {}
}

pub(crate) fn data_facts(
    opened: &OpenHandle,
    _size_bytes: u64,
    _kind: stripewise_results::TargetKind,
) -> crate::DataFacts {
    match *opened {}
}

pub(crate) fn expand(
    path: &Path,
    _to_bytes: u64,
    _intent: &Intent,
    _knowledge: &PlanContext<'_>,
    _progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.as_text(),
        "real targets are not supported on this operating system yet",
    )
    .with_hint("Simulated targets work everywhere: try `sim:NAME`."))
}

pub(crate) fn kept_file_is_gone(_path: &Path, _device: u64) -> bool {
    false
}

pub(crate) fn remove_kept_file(path: &Path, knowledge: &PlanContext<'_>) -> Result<()> {
    judge_kept_file(path, knowledge)
}

pub(crate) fn judge_kept_file(path: &Path, _knowledge: &PlanContext<'_>) -> Result<()> {
    Err(Error::new(
        ErrorKind::Unsupported,
        path.as_text(),
        "real targets are not supported on this operating system yet",
    )
    .with_hint("Remove it by hand."))
}

/// Reserves the space of a file.
pub(crate) fn reserve(_: &std::fs::File, _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
