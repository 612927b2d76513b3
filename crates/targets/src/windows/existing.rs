//! Existing files: planned without opening them for writing, prepared by judging again before the
//! handle that stays open; and what all targets share.

use super::access::{FoundPath, SHARE_ALL, reopen};
use super::opened::OpenHandle;
use super::{PlanDetail, PlannedObject, calls, database, file_rules};
use crate::facts::target_facts;
use crate::span::{span, whole_sectors};
use crate::target::OpenedTarget;
use crate::{DataFacts, Error, ErrorKind, Intent, Plan, PlanContext, Result, Target};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use stripewise_disk_inspect::{Inspect, System, layout};
use stripewise_machine::content;
use stripewise_results::{FileSystemFacts, TargetFacts, TargetKind};
use stripewise_units::NameText;
use stripewise_workload::CacheMode;

/// Pieces of 64 KiB that are read to see what the data looks like.
const SAMPLE_PIECES: u32 = 32;

pub(super) fn plan(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    if found.status.size_bytes == 0 {
        return Err(Error::new(ErrorKind::Unusable, name, "is empty").with_hint(
            "Files that Stripewise did not make are never extended. `stripewise prepare PATH` makes a file to \
                 measure; or give the directory.",
        ));
    }
    let size_bytes = span(found.status.size_bytes, intent.size, name)?;
    if intent.writes {
        file_rules::judge_write(&found, name, intent, knowledge)?;
    } else {
        // Check that it can be read before planning anything.
        let mut options = OpenOptions::new();
        options.read(true).share_mode(SHARE_ALL);
        reopen(&found.path, &found.status.identity, &options, name)?;
    }
    if !intent.busy_ok {
        let root = calls::volume_root(&found.path).ok();
        if let Some(sign) = database::inspect_file(&found.path, root.as_deref()) {
            return Err(sign.refusal(name));
        }
    }
    Ok(Plan {
        name: name.to_owned(),
        kind: TargetKind::File,
        path: found.path,
        size_bytes,
        reads: intent.reads,
        writes: intent.writes,
        fill: None,
        device_name: None,
        notes: Vec::new(),
        detail: PlanDetail {
            intent: intent.clone(),
            what: PlannedObject::File {
                identity: found.status.identity,
                birth_time_ns: found.status.birth_time_ns,
            },
        },
    })
}

pub(super) fn prepare(
    found: &FoundPath,
    plan: Plan,
    knowledge: &PlanContext<'_>,
) -> Result<Target> {
    let intent = &plan.detail.intent;
    let guard = if plan.writes {
        file_rules::judge_write(found, &plan.name, intent, knowledge)?;
        file_rules::guard(found, &plan.name)?
    } else {
        let mut options = OpenOptions::new();
        options.read(true).share_mode(SHARE_ALL);
        reopen(&found.path, &found.status.identity, &options, &plan.name)?
    };
    let opened = OpenHandle::file(guard, found, &plan.name);
    let sector_bytes = file_rules::sector_bytes(&found.path);
    finish(plan, opened, found.status.size_bytes, sector_bytes)
}

/// What files and devices have in common at the end.
pub(super) fn finish(
    plan: Plan,
    opened: OpenHandle,
    whole_bytes: u64,
    sector_bytes: u32,
) -> Result<Target> {
    let intent = plan.detail.intent;
    let span_bytes = span(whole_bytes, intent.size, &plan.name)?;
    let mut facts = facts(plan.kind, &plan.name, opened.guard(), Some(&plan.path));
    facts.size_bytes = whole_bytes;
    facts.logical_sector_bytes = sector_bytes;
    let mut notes = plan.notes;
    let direct_refused = settle_direct(&opened, &facts, &intent, &mut notes)?;
    let size_bytes = whole_sectors(span_bytes, sector_bytes, &plan.name)?;
    let data_facts = intent
        .reads
        .then(|| data_facts(&opened, size_bytes, plan.kind));
    let settled = OpenedTarget {
        opened,
        facts,
        notes,
        direct_refused,
    };
    Ok(Target {
        data_facts,
        ..Target::of(settled, &intent, plan.writes, size_bytes)
    })
}

/// The record's facts; queries the volume for what `disk-inspect` cannot report.
pub(super) fn facts(kind: TargetKind, name: &str, file: &File, path: Option<&Path>) -> TargetFacts {
    let storage = System::live().storage_of_file(file).unwrap_or_default();
    let mut facts = target_facts(kind, name, &storage);
    if facts.file_system.is_none() && kind != TargetKind::Device {
        facts.file_system = path.and_then(|path| file_system(file, path));
    }
    facts
}

fn file_system(file: &File, path: &Path) -> Option<FileSystemFacts> {
    let (kind, _) = calls::file_system(file).ok()?;
    let root = calls::volume_root(path).ok()?;
    Some(FileSystemFacts {
        kind: kind.to_ascii_lowercase(),
        mount_point: root.as_text(),
        options: String::new(),
        allocation_unit_bytes: calls::units(&root).ok().map(|(_, cluster)| cluster),
        atomic_writes: None,
    })
}

/// Whether unbuffered I/O is available; an error if it is not but was requested by name, otherwise
/// a note.
pub(super) fn settle_direct(
    opened: &OpenHandle,
    facts: &TargetFacts,
    intent: &Intent,
    notes: &mut Vec<String>,
) -> Result<Option<String>> {
    let Err(error) = opened.look(CacheMode::Direct) else {
        return Ok(None);
    };
    let why = format!("its file system refuses unbuffered I/O ({error})");
    if matches!(intent.cache, CacheMode::Direct | CacheMode::DirectSync) {
        if intent.cache_by_name {
            return Err(Error::new(ErrorKind::Unusable, &facts.name, why).with_hint(
                "Choose `<--cache> buffered` and mind the cache, or a directory on another volume.",
            ));
        }
        notes.push(format!(
            "measured through the file cache instead of directly: {why}."
        ));
    }
    Ok(Some(why))
}

/// A bounded look at the data, past the cache where possible so that none of it
/// is warm for the measurement.
pub(crate) fn data_facts(opened: &OpenHandle, size_bytes: u64, kind: TargetKind) -> DataFacts {
    let layout = match kind {
        TargetKind::Device => None,
        _ => layout(opened.guard()),
    };
    let sample = [CacheMode::Direct, CacheMode::Buffered]
        .into_iter()
        .filter_map(|cache| opened.look(cache).ok())
        .map(|file| content::sample(&file, 0, size_bytes, SAMPLE_PIECES))
        .find(|content| content.blocks > 0);
    DataFacts {
        layout,
        content: sample.unwrap_or_default(),
    }
}
