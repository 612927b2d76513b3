//! Test files: a directory is measured through a file that is made, filled and removed;
//! `prepare PATH` and `--keep` make one that is kept.

use super::access::{FoundPath, Status, failed, find};
use super::existing::{data_facts, facts, settle_direct};
use super::make::CreatedFile;
use super::opened::OpenHandle;
use super::{PlanDetail, PlannedObject, calls, database, file_rules, mark};
use crate::fill::Filling;
use crate::target::OpenedTarget;
use crate::{
    Error, ErrorKind, FillPlan, FillProgress, FillReport, Intent, MadeFile, Plan, Progress, Result,
    Target,
};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stripewise_results::TargetKind;
use stripewise_units::NameText;
use windows_sys::Win32::Foundation::{
    ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED, ERROR_HANDLE_DISK_FULL,
};
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_NO_BUFFERING;

/// One write at a time, from the start: NTFS zero-fills up to a write past the valid end, and
/// serialises writes that extend a file.
const WRITERS: u32 = 1;

/// `prepare PATH`: the file is made in the path's directory, under its name.
pub(super) fn plan_at(path: &Path, name: &str, intent: &Intent) -> Result<Plan> {
    let file_name = path.file_name().ok_or_else(|| {
        Error::new(ErrorKind::Usage, name, "is not the name of a file")
            .with_hint(r"Give the path of the file to make, like `D:\data\stripewise.test`.")
    })?;
    if file_name.to_string_lossy().contains(':') {
        let what = "names a stream of a file (`:`)";
        return Err(Error::new(ErrorKind::Usage, name, what).with_hint("Choose a plain name."));
    }
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(crate::error::exists(name));
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let found = find(parent)?;
    if !found.status.is_directory {
        let shown = parent.as_text();
        return Err(Error::new(ErrorKind::NotFound, shown, "is not a directory"));
    }
    let kept_as = found.path.join(file_name);
    plan_in(found, name, intent, Some(kept_as))
}

/// Plans a test file in a directory, kept at `kept_as` if given.
pub(super) fn plan_in(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    kept_as: Option<PathBuf>,
) -> Result<Plan> {
    let mut fill = file_rules::space_of(&found.path, intent.file_system_size, name)?.fill_plan(
        intent,
        &found.path,
        name,
    )?;
    if !intent.busy_ok {
        let root = calls::volume_root(&found.path).ok();
        if let Some(sign) = database::look_around(&found.path, root.as_deref()) {
            return Err(sign.refusal(name));
        }
    }
    let kept_as = match kept_as {
        None if intent.keep => {
            let file_name = format!("stripewise-{}.test", &random_id(name)?[..8]);
            Some(found.path.join(file_name))
        }
        kept_as => kept_as,
    };
    fill.kept_as.clone_from(&kept_as);
    Ok(Plan {
        name: name.to_owned(),
        kind: TargetKind::TestFile,
        path: found.path,
        size_bytes: fill.bytes,
        reads: intent.reads,
        writes: intent.writes,
        device_name: None,
        notes: fill.note().into_iter().collect(),
        fill: Some(fill),
        detail: PlanDetail {
            intent: intent.clone(),
            what: PlannedObject::TestFile {
                directory: found.status.identity,
                kept_as,
            },
        },
    })
}

fn random_id(name: &str) -> Result<String> {
    mark::unique_id().map_err(|os| failed(name, "no random numbers for a name", os))
}

/// Makes and fills the file of a plan.
pub(super) fn prepare(
    found: &FoundPath,
    plan: Plan,
    progress: &mut dyn Progress,
) -> Result<Target> {
    let intent = plan.detail.intent;
    let kept_as = match plan.detail.what {
        PlannedObject::TestFile { kept_as, .. } => kept_as,
        _ => None,
    };
    // The space is judged again: others may have used it since the plan.
    let mut fill = file_rules::space_of(&found.path, intent.file_system_size, &plan.name)?
        .fill_plan(&intent, &found.path, &plan.name)?;
    fill.bytes = fill.bytes.min(plan.size_bytes);
    let path = match &kept_as {
        Some(path) => path.clone(),
        None => {
            let id = random_id(&plan.name)?;
            found.path.join(format!("stripewise-{}.tmp", &id[..16]))
        }
    };
    let mut made = CreatedFile::new(&path, kept_as.is_some())?;
    let report = fill_file(&made, &fill, &intent, &found.path, &plan.name, progress)?;
    let mut notes = plan.notes;
    notes.extend(report.note(&fill));
    let made_file = match kept_as {
        Some(_) => Some(keep(&mut made, &mut notes)?),
        None => None,
    };
    let mut facts = facts(TargetKind::TestFile, &plan.name, &made.file, Some(&path));
    facts.size_bytes = report.bytes;
    facts.logical_sector_bytes = file_rules::sector_bytes(&path);
    let opened = OpenHandle::made(made, &plan.name);
    let direct_refused = settle_direct(&opened, &facts, &intent, &mut notes)?;
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
        fill_report: Some(report),
        made_file,
        ..Target::of(settled, &intent, plan.writes, size_bytes)
    })
}

/// Marks the finished file and keeps it.
fn keep(made: &mut CreatedFile, notes: &mut Vec<String>) -> Result<MadeFile> {
    let shown = made.path.as_text();
    let status =
        Status::of(&made.file).map_err(|os| failed(&shown, "cannot look at the kept file", os))?;
    let (made_file, marked) = mark::write(&made.file, &made.path, &status)
        .map_err(|os| failed(&shown, "cannot be marked as a test file", os))?;
    if !marked {
        notes.push(
            "the file system has no streams for a mark, so the kept file is recognised by its \
             number and time in the store alone."
                .to_owned(),
        );
    }
    made.keep();
    Ok(made_file)
}

/// Writes the file in full; on an error the caller drops it, which removes the file.
fn fill_file(
    made: &CreatedFile,
    plan: &FillPlan,
    intent: &Intent,
    directory: &Path,
    name: &str,
    progress: &mut dyn Progress,
) -> Result<FillReport> {
    let started_ns = progress.now_ns();
    let space = || file_rules::space_of(directory, intent.file_system_size, name).ok();
    let mut filling = Filling {
        plan,
        intent,
        name,
        writers: WRITERS,
        reserved: false,
        space: &space,
        write_at: calls::write_at,
        failed: |name, what, os| failed(name, what, os),
    };
    let step = FillProgress {
        done_bytes: 0,
        total_bytes: plan.bytes,
    };
    if progress.report(step).is_break() {
        return Err(filling.interrupted());
    }
    filling.reserved = match calls::reserve(&made.file, plan.bytes) {
        Ok(()) => true,
        Err(os) if is_full(&os) => return Err(filling.cannot_fill(0, os)),
        Err(_) => false,
    };
    let direct = open_direct(made, name);
    let past_cache = direct.is_ok();
    let file = direct.as_ref().unwrap_or(&made.file);
    let (written, stop) = filling.write(file, past_cache, started_ns, progress);
    let time_limit_hit = filling.judge(stop)?;
    let settled = match written < plan.bytes {
        true => made.file.set_len(written),
        false => Ok(()),
    };
    settled
        .and_then(|()| made.file.sync_all())
        .map_err(|os| filling.cannot_fill(written, os))?;
    let _ = progress.report(FillProgress {
        done_bytes: written,
        total_bytes: written,
    });
    Ok(FillReport {
        bytes: written,
        planned_bytes: plan.bytes,
        duration_ns: progress.now_ns().saturating_sub(started_ns),
        direct: past_cache,
        time_limit_hit,
    })
}

/// Out of space. Other errors mean that the file system does not support the request, which only
/// serves to limit fragmentation.
fn is_full(os: &std::io::Error) -> bool {
    let full = [
        ERROR_DISK_FULL,
        ERROR_HANDLE_DISK_FULL,
        ERROR_DISK_QUOTA_EXCEEDED,
    ];
    let number = os.raw_os_error().map(i32::cast_unsigned);
    number.is_some_and(|number| full.contains(&number))
}

fn open_direct(made: &CreatedFile, name: &str) -> Result<File> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .share_mode(super::access::SHARE_ALL)
        .custom_flags(FILE_FLAG_NO_BUFFERING);
    super::access::reopen(&made.path, &made.identity, &options, name)
}
