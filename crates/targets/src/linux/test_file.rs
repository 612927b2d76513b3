//! Test files: a directory is measured through a file that is made, filled and removed;
//! `prepare PATH` and `--keep` make one that is kept.

use super::access::{FoundPath, failed, find, reopen, storage_of};
use super::existing::{data_facts, detail, settle_access};
use super::fill::Filling;
use super::identity::{Identity, Status};
use super::make::{CreatedFile, Directory};
use super::opened::OpenHandle;
use super::space::{Space, judge_loops_below};
use super::{database, mark, surroundings};
use crate::target::OpenedTarget;
use crate::{Error, ErrorKind, Intent, MadeFile, Plan, PlanContext, Progress, Result, Target};
use rustix::fs::{Access, AtFlags, FileType, OFlags};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stripewise_disk_inspect::storage::Storage;
use stripewise_results::TargetKind;
use stripewise_units::NameText;

/// `prepare PATH`: the file is made in the path's directory, under its name.
pub(super) fn plan_at(
    path: &Path,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    let file_name = path.file_name().ok_or_else(|| {
        Error::new(ErrorKind::Usage, name, "is not the name of a file")
            .with_hint("Give the path of the file to make, like `/data/stripewise.test`.")
    })?;
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(crate::error::exists(name));
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let found = find(parent)?;
    if found.status.identity.kind != FileType::Directory {
        return Err(Error::new(
            ErrorKind::NotFound,
            parent.as_text(),
            "is not a directory",
        ));
    }
    plan_in(found, name, intent, Some(file_name.to_owned()), knowledge)
}

/// Plans a test file in a directory, under `kept_file_name` if given.
pub(super) fn plan_in(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    kept_file_name: Option<OsString>,
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    surroundings::refuse_pseudo(&found.handle, name)?;
    let identity = found.status.identity;
    let directory = open_directory(&found, name)?;
    writable(&directory, name)?;
    let storage = storage_of(&directory);
    let mut fill = Space::of(
        &directory,
        in_memory(&storage),
        intent.file_system_size,
        name,
    )?
    .fill_plan(intent, &found.path, name)?;
    judge_loops_below(&storage, fill.bytes, intent.file_system_size, name)?;
    if !intent.busy_ok {
        let mount_point = storage
            .file_system
            .as_ref()
            .map(|found| found.mount_point.as_path());
        let sign = database::look_around(&found.path, mount_point);
        surroundings::refuse_if_busy(name, sign, &storage.devices, knowledge)?;
    }
    let kept_file_name = match kept_file_name {
        Some(kept_file_name) => Some(kept_file_name),
        None if intent.keep => {
            let id =
                mark::unique_id().map_err(|os| failed(name, "no random numbers for a name", os))?;
            Some(OsString::from(format!("stripewise-{}.test", &id[..8])))
        }
        None => None,
    };
    fill.kept_as = kept_file_name
        .as_ref()
        .map(|kept_file_name| found.path.join(kept_file_name));
    let notes = fill.note().into_iter().collect();
    Ok(Plan {
        name: name.to_owned(),
        kind: TargetKind::TestFile,
        path: found.path,
        size_bytes: fill.bytes,
        reads: intent.reads,
        writes: intent.writes,
        fill: Some(fill),
        device_name: None,
        notes,
        detail: super::PlanDetail {
            kept_file_name,
            ..detail(identity, intent)
        },
    })
}

/// Makes and fills the file of a plan.
pub(super) fn prepare(
    found: &FoundPath,
    plan: Plan,
    progress: &mut dyn Progress,
) -> Result<Target> {
    let intent = plan.detail.intent;
    let handle = open_directory(found, &plan.name)?;
    let directory = Directory {
        file: &handle,
        path: &plan.path,
    };
    let storage = storage_of(&handle);
    let in_memory = in_memory(&storage);
    // The space is judged again: others may have used it since the plan.
    let mut fill = Space::of(&handle, in_memory, intent.file_system_size, &plan.name)?
        .fill_plan(&intent, &plan.path, &plan.name)?;
    fill.bytes = fill.bytes.min(plan.size_bytes);
    let kept_file_name = kept_c_name(plan.detail.kept_file_name.as_ref(), &plan.name)?;
    if let Some(kept_file_name) = &kept_file_name
        && Status::of_name(directory.file, kept_file_name).is_ok()
    {
        // Reported before all the writing; the link at the end decides.
        return Err(crate::error::exists(
            found
                .path
                .join(plan.detail.kept_file_name.unwrap_or_default())
                .as_text(),
        ));
    }
    let mut made = CreatedFile::new(directory, kept_file_name.is_some())?;

    let mut facts = crate::facts::target_facts(TargetKind::TestFile, &plan.name, &storage);
    let mut notes = plan.notes;
    // Before all the writing: missing features are an error now.
    settle_access(
        &made.file,
        made.identity,
        &mut facts,
        &intent,
        &mut Vec::new(),
    )?;
    let report = Filling {
        made: &made,
        plan: &fill,
        intent: &intent,
        in_memory,
        name: &plan.name,
    }
    .run(progress)?;
    notes.extend(report.note(&fill));
    let direct_refused = settle_access(&made.file, made.identity, &mut facts, &intent, &mut notes)?;
    let made_file = match &kept_file_name {
        Some(kept_file_name) => keep(
            &mut made,
            (directory, kept_file_name),
            report.bytes,
            &plan.name,
            &mut notes,
            progress,
        )?,
        None => None,
    };
    facts.size_bytes = report.bytes;
    let opened = OpenHandle::made(made, &plan.name);
    let data_facts = data_facts(&opened, report.bytes, TargetKind::TestFile);
    let settled = OpenedTarget {
        opened,
        facts,
        notes,
        direct_refused,
    };
    let size_bytes = report.bytes;
    Ok(Target {
        data_facts: Some(data_facts),
        made: true,
        fill_report: (!intent.filled_by_caller).then_some(report),
        made_file,
        ..Target::of(settled, &intent, plan.writes, size_bytes)
    })
}

/// Marks the finished file, has it stored, and gives it its name. A file system without user
/// attributes or birth times still keeps the file, but it cannot be recognised later.
fn keep(
    made: &mut CreatedFile,
    (directory, name): (Directory<'_>, &CString),
    size_bytes: u64,
    target: &str,
    notes: &mut Vec<String>,
    progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    let shown = &directory.path.as_text();
    let id = mark::unique_id().map_err(|os| failed(shown, "no random numbers for a mark", os))?;
    let marked = mark::write(&made.file, &id, size_bytes);
    let status =
        Status::of(&made.file).map_err(|os| failed(shown, "cannot look at the kept file", os))?;
    let lacks = match marked {
        Err(_) => "extended attributes of users",
        Ok(()) if status.identity.birth_time_ns.is_none() => "birth times",
        Ok(()) => {
            let known = mark::made_file(&status, &id);
            if progress.before_keeping(&known).is_break() {
                let what = "the test file could not be remembered, and is removed";
                return Err(Error::new(ErrorKind::Interrupted, target, what));
            }
            return match made.keep_as(directory, name) {
                Ok(()) => Ok(Some(known)),
                Err(error) => {
                    progress.not_retained(&known);
                    Err(error)
                }
            };
        }
    };
    made.keep_as(directory, name)?;
    notes.push(format!(
        "the file system has no {lacks}, so the kept file will not be recognised: \
         writing to it again needs `--overwrite`."
    ));
    Ok(None)
}

fn kept_c_name(name: Option<&OsString>, target: &str) -> Result<Option<CString>> {
    name.map(|name| CString::new(name.as_bytes()))
        .transpose()
        .map_err(|_| Error::new(ErrorKind::Usage, target, "a name cannot contain a NUL byte"))
}

/// A handle of the directory that needs no permission to list it.
fn open_directory(found: &FoundPath, name: &str) -> Result<File> {
    let identity: &Identity = &found.status.identity;
    reopen(
        &found.handle,
        identity,
        OFlags::PATH | OFlags::DIRECTORY,
        name,
    )
}

/// Whether a file could be made in it, without making one.
fn writable(directory: &File, name: &str) -> Result<()> {
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(rustix::fs::CWD, path, wanted, AtFlags::EACCESS)
        .map_err(|os| failed(name, "no file can be made in this directory", os.into()))
}

fn in_memory(storage: &Storage) -> bool {
    storage
        .file_system
        .as_ref()
        .is_some_and(|found| found.in_memory)
}
