//! `--capacity`: the whole device once. What is its real capacity, and where is it bad?
//!
//! When stopped, it stores its position and continues from there:
//! the sectors before it still identify the run that wrote them.

use super::VerifyOptions;
use crate::steps::verification::document::CapacityFound;
use crate::steps::verification::run_number;
use serde::{Deserialize, Serialize};
use std::path::Path;
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_store::Store;
use stripewise_targets::{Access, Target};
use stripewise_verify::{Capacity, Class, Fault, Phase, capacity_of, fake};
use stripewise_workload::CacheMode;

/// Kind of the documents with positions.
const POSITION_KIND: &str = "verify-capacity";

/// The position of a stopped pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Position {
    /// The run named in its stamps.
    pub id: String,
    /// Everything was written, and reading has begun.
    pub reading: bool,
    /// By worker: the first block not yet written, or read.
    pub blocks: Vec<u64>,
    /// The faults found so far.
    pub faults: Vec<Fault>,
}

impl Position {
    pub(super) fn phase(&self) -> Phase {
        match self.reading {
            true => Phase::Check,
            false => Phase::Fill,
        }
    }
}

/// Only devices have a capacity to verify.
pub(super) fn refuse_what_is_no_device(options: &VerifyOptions) -> Outcome<()> {
    let [name] = &options.targets[..] else {
        return Err(Failure::usage(
            "--capacity takes one device",
            "run it once for each; several at a time are fine",
        ));
    };
    match std::fs::metadata(name) {
        Ok(found) if found.is_dir() || found.is_file() => Err(Failure::usage(
            format!("{name} is not a device: only devices report a capacity that may be wrong"),
            "name a block device with --destroy NAME, or leave --capacity out",
        )),
        _ => Ok(()),
    }
}

/// Identifies a device from one run to the next.
fn identity(target: &Target) -> String {
    let facts = target.facts();
    let path = Path::new(facts.full_name());
    let storage = System::live().storage_of_path(path).ok();
    let serial = storage
        .as_ref()
        .and_then(|storage| storage.nearest())
        .and_then(|device| device.serial.clone());
    format!(
        "{} {} {}",
        facts.full_name(),
        facts.size_bytes,
        serial.unwrap_or_default()
    )
}

/// Where an earlier pass over this device stopped, if its stamps are still there.
pub(super) fn position(
    context: &Context,
    store: &Store,
    target: &Target,
) -> Outcome<Option<Position>> {
    let stored = store.document(POSITION_KIND, &identity(target))?;
    let Some(position) =
        stored.and_then(|stored| serde_json::from_str::<Position>(&stored.json).ok())
    else {
        return Ok(None);
    };
    if !still_there(target, &position) {
        context.note(format!(
            "{} was written by somebody else since the pass {} was stopped: it begins again",
            target.facts().name,
            position.id
        ));
        return Ok(None);
    }
    context.plan(format!(
        "Goes on with the pass {} that was stopped while {}",
        position.id,
        match position.reading {
            true => "everything was read",
            false => "everything was written",
        }
    ));
    Ok(Some(position))
}

/// The first sector of the device identifies the run that wrote it.
fn still_there(target: &Target, position: &Position) -> bool {
    let Ok(file) = target.open(CacheMode::Buffered, Access::Read) else {
        return false;
    };
    target.drop_cache();
    let mut sector = vec![0; target.logical_sector_bytes() as usize];
    let read = std::io::Read::read_exact(&mut &file, &mut sector);
    let first = stripewise_verify::stamp::read_sector(&sector);
    // A device that wraps around to its start has another stamp of this run there.
    read.is_ok() && first.is_some_and(|stamp| stamp.run == run_number(&position.id))
}

/// Stores the position of a stopped pass, or deletes it.
pub(super) fn remember(
    context: &Context,
    store: &mut Store,
    target: &Target,
    position: Option<&Position>,
) -> Outcome<()> {
    let name = identity(target);
    match position {
        Some(position) => store_document(context, store, POSITION_KIND, &name, position),
        None => store
            .forget_document(POSITION_KIND, &name)
            .map(drop)
            .map_err(Failure::from),
    }
}

/// Conclusions about the device's size from the faults; those that it explains become one.
pub(super) fn explained(
    faults: Vec<Fault>,
    reported_bytes: u64,
    checked_bytes: u64,
) -> (Vec<Fault>, CapacityFound) {
    let capacity = capacity_of(&faults, reported_bytes, checked_bytes);
    let (real_bytes, wraps) = match capacity {
        Capacity::Real | Capacity::BadPlaces => (reported_bytes, false),
        Capacity::Wraps { at_bytes } => (at_bytes, true),
        Capacity::EndsAt { at_bytes } => (at_bytes, false),
    };
    let found = CapacityFound {
        reported_bytes,
        real_bytes,
        wraps,
        checked_bytes,
    };
    if real_bytes == reported_bytes {
        return (faults, found);
    }
    let is_explained = |fault: &Fault| match wraps {
        true => fault.class == Class::MisdirectedWrite,
        false => fault.offset_bytes >= real_bytes,
    };
    let fake = fake(reported_bytes, real_bytes, wraps);
    let rest = faults.into_iter().filter(|fault| !is_explained(fault));
    (std::iter::once(fake).chain(rest).collect(), found)
}
