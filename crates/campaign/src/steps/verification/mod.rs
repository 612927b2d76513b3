//! What verifications share: their document, faults in sentences, and a pass over a whole
//! target.

pub mod document;
pub mod engine;
pub mod pass;
pub mod witnessed;
pub mod words;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use document::{FaultRecord, PhaseOutcome, VerifiedTarget, VerifyDocument, VerifyVerdict};
use std::collections::BTreeMap;
use stripewise_targets::{Target, TargetName};

/// Kind of the documents in the store.
pub const DOCUMENT_KIND: &str = "verify";

/// What the process returns.
#[must_use]
pub fn exit_of(context: &Context, document: &VerifyDocument) -> Exit {
    match document.verdict {
        VerifyVerdict::Faults => Exit::Finding,
        // Without a signal it stopped because somebody cut the file.
        VerifyVerdict::Interrupted => context
            .signal()
            .map_or(Exit::InputOutput, Exit::Interrupted),
        VerifyVerdict::Errors => Exit::InputOutput,
        VerifyVerdict::Passed => Exit::Done,
    }
}

/// The number in the stamps of the run with this id: FNV-1a, so that an image can be
/// traced to the run that is in the store.
#[must_use]
pub fn run_number(id: &str) -> u64 {
    (id.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A verification needs something that holds data.
pub fn refuse_what_holds_no_data(name: &TargetName, text: &str) -> Outcome<()> {
    let what = match name {
        TargetName::Path(_) => return Ok(()),
        TargetName::Simulated { .. } => "is simulated: it has latencies and no data",
        TargetName::Dataset(_) => "is a published table",
    };
    Err(Failure::usage(
        format!("{text} {what}, so there is nothing to verify"),
        "name a directory, a file or a block device",
    ))
}

/// A target as documents have it.
#[must_use]
pub fn verified(
    target: &Target,
    kept_at: Option<String>,
    phases: &[PhaseOutcome],
) -> VerifiedTarget {
    let facts = target.facts();
    let mut cache: Vec<String> = Vec::new();
    for phase in phases {
        if cache.last() != Some(&phase.cache) {
            cache.push(phase.cache.clone());
        }
    }
    VerifiedTarget {
        name: facts.name.clone(),
        kind: facts.kind,
        size_bytes: target.size_bytes(),
        sector_bytes: target.logical_sector_bytes(),
        device: facts.device.as_ref().map(|device| device.name.clone()),
        model: (facts.device.as_ref()).and_then(|device| device.model.clone()),
        partition_offset_bytes: facts.partition_offset_bytes,
        kept_at,
        cache,
        changed: None,
    }
}

/// How many there are of each class.
#[must_use]
pub fn counts_of(faults: &[FaultRecord]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for record in faults {
        *counts
            .entry(record.fault.class.name().to_owned())
            .or_insert(0) += 1;
    }
    counts
}
