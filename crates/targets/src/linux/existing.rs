//! Existing files and block devices: planned without opening them for writing,
//! prepared by judging again on the descriptor that is kept.

use super::access::{FoundPath, failed, reopen, reopen_quietly, storage_of};
use super::identity::Identity;
use super::{
    PlanDetail, database, device_rules, direct, file_rules, io_features, opened::OpenHandle,
    signature, space, surroundings,
};
use crate::span::{span, whole_sectors};
use crate::target::OpenedTarget;
use crate::{DataFacts, Error, ErrorKind, Intent, Plan, PlanContext, Result, Target};
use rustix::fs::{OFlags, SeekFrom};
use std::fs::File;
use std::path::PathBuf;
use stripewise_disk_inspect::storage::Use;
use stripewise_disk_inspect::{Inspect, System, layout};
use stripewise_machine::content;
use stripewise_results::{TargetFacts, TargetKind};
use stripewise_workload::CacheMode;

/// Flags for opens that never block, follow links or change anything.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);
/// Pieces of 64 KiB read to sample the data.
const SAMPLE_PIECES: u32 = 32;

pub(super) fn plan_file(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    surroundings::refuse_pseudo(&found.handle, name)?;
    let identity = found.status.identity;
    if found.status.size_bytes == 0 {
        return Err(empty(name));
    }
    let size_bytes = span(found.status.size_bytes, intent.size, name)?;
    file_rules::never_the_store(&found.status, name, knowledge)?;
    let file = reopen_quietly(&found.handle, &identity, READ, name)?;
    let mut notes = Vec::new();
    if intent.writes {
        notes = file_rules::judge_write(&file, name, intent, knowledge)?;
    }
    if !intent.busy_ok {
        let storage = storage_of(&file);
        let mount_point = storage
            .file_system
            .as_ref()
            .map(|found| found.mount_point.as_path());
        let sign = database::inspect_file(&found.path, mount_point);
        surroundings::refuse_if_busy(name, sign, &storage.devices, knowledge)?;
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
        notes,
        detail: detail(identity, intent),
    })
}

pub(super) fn plan_device(
    found: FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Plan> {
    let identity = found.status.identity;
    let file = reopen(&found.handle, &identity, READ, name)?;
    let whole = device_size(&file, name)?;
    let held = signature::of(&file);
    drop(file);
    let size_bytes = span(whole, intent.size, name)?;
    let system = System::live();
    let device = system.device(identity.rdevice).map_err(|error| {
        Error::new(ErrorKind::Unusable, name, error.to_string()).with_hint(error.hint())
    })?;
    let mut notes = Vec::new();
    if intent.writes {
        notes = device_rules::judge_write(&found, name, intent, knowledge)?;
        let storage = system
            .storage_of_device(identity.rdevice)
            .unwrap_or_default();
        space::judge_loops_below(&storage, size_bytes, intent.file_system_size, name)?;
        if let Some(held) = held {
            notes.push(format!(
                "the device seems to hold {held}, which will be lost."
            ));
        }
    }
    if !intent.busy_ok {
        let sign = mount_points(&system, &identity)
            .iter()
            .find_map(|mount_point| database::look_around(mount_point, None));
        surroundings::refuse_if_busy(name, sign, std::slice::from_ref(&device), knowledge)?;
    }
    Ok(Plan {
        name: name.to_owned(),
        kind: TargetKind::Device,
        path: found.path,
        size_bytes,
        reads: intent.reads,
        writes: intent.writes,
        fill: None,
        device_name: stripewise_device_guard::claims::kernel_name(identity.rdevice),
        notes,
        detail: detail(identity, intent),
    })
}

pub(super) fn prepare_file(
    found: &FoundPath,
    plan: Plan,
    knowledge: &PlanContext<'_>,
) -> Result<Target> {
    let identity = found.status.identity;
    file_rules::never_the_store(&found.status, &plan.name, knowledge)?;
    let guard = reopen_quietly(&found.handle, &identity, READ, &plan.name)?;
    if plan.writes {
        file_rules::judge_write(&guard, &plan.name, &plan.detail.intent, knowledge)?;
    }
    let size = found.status.size_bytes;
    finish(guard, identity, plan, size)
}

pub(super) fn prepare_device(
    found: &FoundPath,
    plan: Plan,
    knowledge: &PlanContext<'_>,
) -> Result<Target> {
    let identity = found.status.identity;
    let guard = if plan.writes {
        device_rules::open_for_writing(found, &plan.name, &plan.detail.intent, knowledge)?
    } else {
        reopen(&found.handle, &identity, READ, &plan.name)?
    };
    let size = device_size(&guard, &plan.name)?;
    finish(guard, identity, plan, size)
}

/// Final steps common to files and devices.
fn finish(guard: File, identity: Identity, plan: Plan, whole_bytes: u64) -> Result<Target> {
    let intent = plan.detail.intent;
    let span_bytes = span(whole_bytes, intent.size, &plan.name)?;
    let storage = storage_of(&guard);
    let mut facts = crate::facts::target_facts(plan.kind, &plan.name, &storage);
    facts.size_bytes = whole_bytes;
    let opened = OpenHandle::existing(
        guard,
        plan.path,
        whole_bytes,
        identity,
        &plan.name,
        intent.busy_ok,
        intent.features.discards,
    );
    let mut notes = plan.notes;
    let direct_refused = settle_access(opened.file(), identity, &mut facts, &intent, &mut notes)?;
    let size_bytes = whole_sectors(span_bytes, facts.logical_sector_bytes, &plan.name)?;
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

/// Finds the sector size and whether direct I/O is available; an error if it is not but was
/// requested by name, otherwise a note. The other requested features must be available too.
pub(super) fn settle_access(
    file: &File,
    identity: Identity,
    facts: &mut TargetFacts,
    intent: &Intent,
    notes: &mut Vec<String>,
) -> Result<Option<String>> {
    io_features::judge(file, identity, intent, &facts.name)?;
    let fallback = facts.logical_sector_bytes;
    let found = direct::probe(file, &identity, &facts.name, fallback)?;
    facts.logical_sector_bytes = found.sector_bytes;
    let wants_direct = matches!(intent.cache, CacheMode::Direct | CacheMode::DirectSync);
    if let Some(why) = &found.refused
        && wants_direct
    {
        if intent.cache_by_name {
            let error = Error::new(ErrorKind::Unusable, &facts.name, why.clone())
                .with_os(std::io::Error::from_raw_os_error(libc::EINVAL));
            return Err(super::opened::explain_direct(error, intent.cache));
        }
        notes.push(format!(
            "measured through the page cache instead of directly: {why}."
        ));
    }
    Ok(found.refused)
}

/// Samples a bounded amount of the data, bypassing the page cache where possible so that none of it
/// is warm for the measurement.
pub(crate) fn data_facts(opened: &OpenHandle, size_bytes: u64, kind: TargetKind) -> DataFacts {
    let layout = match kind {
        TargetKind::Device => None,
        _ => layout(opened.file()),
    };
    let sample = [CacheMode::Direct, CacheMode::Buffered]
        .into_iter()
        .filter_map(|cache| opened.open(cache, crate::Access::Read).ok())
        .map(|file| content::sample(&file, 0, size_bytes, SAMPLE_PIECES))
        .find(|content| content.blocks > 0);
    DataFacts {
        layout,
        content: sample.unwrap_or_default(),
    }
}

pub(super) fn detail(identity: Identity, intent: &Intent) -> PlanDetail {
    PlanDetail {
        identity,
        beneath: None,
        intent: intent.clone(),
        kept_file_name: None,
    }
}

/// Size of a block device; an error if it is empty.
fn device_size(file: &File, name: &str) -> Result<u64> {
    let size = rustix::fs::seek(file, SeekFrom::End(0))
        .map_err(|os| failed(name, "cannot ask for its size", os.into()))?;
    if size == 0 {
        return Err(
            Error::new(ErrorKind::Unusable, name, "has a size of 0 bytes").with_hint(
                "There is no medium in it, or the loop device is not in use (`losetup -a`).",
            ),
        );
    }
    Ok(size)
}

fn empty(name: &str) -> Error {
    Error::new(ErrorKind::Unusable, name, "is empty").with_hint(
        "Files that Stripewise did not make are never extended. `stripewise prepare PATH` makes a file to measure; \
         or give the directory.",
    )
}

/// Where a device or one of its partitions is mounted.
fn mount_points(system: &System, identity: &Identity) -> Vec<PathBuf> {
    let uses = system.uses_of_device(identity.rdevice);
    uses.into_iter()
        .filter_map(|found| match found {
            Use::Mounted { mount_point, .. } => Some(mount_point),
            _ => None,
        })
        .collect()
}
