//! Shared by verifications: their document, faults as sentences, and a pass over a whole
//! target.

pub mod concurrent_verify;
pub mod document;
pub mod engine;
pub mod limits;
pub mod pass;
pub mod tally;
pub mod text;
pub mod witnessed;
pub mod words;
pub mod worker_pool;

pub use stripewise_results::faults::counts_of;

use crate::steps::medium::exit_with;
use document::{PhaseOutcome, VerifiedTarget, VerifyDocument, VerifyVerdict};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, judge, prepare};
use stripewise_disk_inspect::System;
use stripewise_io_engine::EngineName;
use stripewise_store::Store;
use stripewise_targets::{Intent, Size, TEST_FILE_BYTES_MIN, Target, TargetName};
use stripewise_units::{format_bytes, path_of};
use stripewise_workload::CacheMode;

/// Default threads per target.
pub const THREADS_USUAL: u32 = 2;
/// Default operations in flight per thread.
pub const OUTSTANDING_USUAL: u32 = 8;

/// Kind of the documents in the store.
pub const DOCUMENT_KIND: &str = "verify";

/// The exit of the command.
pub fn exit_of(context: &Context, document: &VerifyDocument) -> Exit {
    match document.verdict {
        VerifyVerdict::Faults | VerifyVerdict::NotProven => Exit::Finding,
        // Without a signal, it stopped because another process truncated the file.
        VerifyVerdict::Interrupted => context
            .signal()
            .map_or(Exit::InputOutput, Exit::Interrupted),
        VerifyVerdict::Errors => Exit::InputOutput,
        VerifyVerdict::Passed => exit_with(Exit::Done, &document.warnings),
    }
}

/// The number in the stamps of the run with this id: FNV-1a, so that an image can be
/// traced to the stored run.
pub fn run_number(id: &str) -> u64 {
    (id.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Refuses targets that hold no data.
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

/// Refuses targets that hold no data, and engines that cannot be verified: `null` says why the null
/// engine cannot, `what` what does not go past the block layer.
pub fn refuse_unsuitable(
    targets: &[String],
    engine: EngineName,
    null: &str,
    what: &str,
) -> Outcome<()> {
    for target in targets {
        let parsed: TargetName = target.parse()?;
        refuse_what_holds_no_data(&parsed, target)?;
    }
    match engine {
        EngineName::Null => Err(Failure::usage(
            null,
            "choose --engine auto, uring or threads",
        )),
        EngineName::Nvme => Err(Failure::usage(
            format!("{what} goes through the block layer, which --engine nvme passes by"),
            "choose --engine auto, uring or threads; `stripewise run --verify --engine nvme` verifies what commands write",
        )),
        _ => Ok(()),
    }
}

/// Opens what an earlier run left, for reading alone; `directory` words the failure for one, in
/// which a test file would be made.
pub fn open_to_judge(
    context: &Context,
    store: &mut Store,
    name: &str,
    size: Size,
    permissions: &Permissions,
    directory: impl FnOnce() -> Failure,
) -> Outcome<Target> {
    let parsed: TargetName = name.parse()?;
    refuse_what_holds_no_data(&parsed, name)?;
    if path_of(name).is_dir() {
        return Err(directory());
    }
    let intent = Intent {
        reads: true,
        writes: false,
        size,
        busy_ok: permissions.busy_ok,
        cache: CacheMode::Direct,
        ..Intent::default()
    };
    match prepare(context, store, &parsed, &intent)? {
        OpenTarget::Real { target } => Ok(*target),
        _ => Err(Failure::usage(
            format!("{name} holds no data"),
            "name a file or a device",
        )),
    }
}

/// Refuses targets named twice, which two workers would write.
pub fn refuse_twice(names: &[String]) -> Outcome<()> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::usage(
            format!("{} is named twice", pair[0]),
            "name each target once",
        )),
        None => Ok(()),
    }
}

/// Refuses sizes below the minimum of test files, where more would be written than requested.
pub fn refuse_small_files(names: &[String], size_bytes: u64) -> Outcome<()> {
    if size_bytes >= TEST_FILE_BYTES_MIN {
        return Ok(());
    }
    match names.iter().find(|name| path_of(name).is_dir()) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(
            format!(
                "{} is too little for the test file in {name}: the smallest has {}",
                format_bytes(size_bytes),
                format_bytes(TEST_FILE_BYTES_MIN)
            ),
            format!("give --size {}M or more", TEST_FILE_BYTES_MIN >> 20),
        )),
    }
}

/// The intent of a caller who writes every byte before reading any.
fn intent_of(name: &str, permissions: &Permissions, options: Intent) -> Intent {
    Intent {
        writes: true,
        overwrite: permissions.overwrite,
        destroy: permissions.destroy_of(name),
        busy_ok: permissions.busy_ok,
        filled_by_caller: true,
        ..options
    }
}

/// Removes the test files that were made, after something was measured: a failure is reported,
/// and the result is shown all the same.
pub fn finish_all(context: &Context, targets: Vec<Target>) {
    for target in targets {
        if let Err(error) = target.finish() {
            context.note_late_failure(&Failure::from(error));
        }
    }
}

/// Checks all named targets before touching the first: if one is refused, no test
/// file was made for another.
pub fn judge_all(
    context: &Context,
    store: &Store,
    names: &[String],
    permissions: &Permissions,
    options: impl Fn(&str) -> Intent,
) -> Outcome<()> {
    for name in names {
        let parsed: TargetName = name.parse()?;
        judge(
            context,
            store,
            &parsed,
            &intent_of(name, permissions, options(name)),
        )?;
    }
    Ok(())
}

/// Opens the named targets, for a caller who writes every byte before reading any. `options`
/// completes the intent for each.
pub fn open_all(
    context: &Context,
    store: &mut Store,
    names: &[String],
    permissions: &Permissions,
    options: impl Fn(&str) -> Intent,
) -> Outcome<Vec<Target>> {
    if names.len() > 1 {
        judge_all(context, store, names, permissions, &options)?;
    }
    let mut targets = Vec::new();
    for name in names {
        let parsed: TargetName = name.parse()?;
        let intent = intent_of(name, permissions, options(name));
        if let OpenTarget::Real { target } = prepare(context, store, &parsed, &intent)? {
            targets.push(*target);
        }
    }
    Ok(targets)
}

/// Operations in flight over all targets.
pub fn outstanding_total(threads: u32, outstanding: u32, targets: usize) -> u32 {
    let each = threads.saturating_mul(outstanding);
    each.saturating_mul(u32::try_from(targets).unwrap_or(u32::MAX))
}

/// Maximum share of available memory for maps and buffers.
const MEMORY_SHARE_MAX: f64 = 0.8;

/// The available memory, if it is too little for this.
pub fn too_little_memory(needed_bytes: u64) -> Option<u64> {
    let available = System::live().host().memory.usable_bytes()?;
    is_too_little(available, needed_bytes).then_some(available)
}

fn is_too_little(available_bytes: u64, needed_bytes: u64) -> bool {
    needed_bytes as f64 > available_bytes as f64 * MEMORY_SHARE_MAX
}

/// Checks that the map of expectations and the buffers fit, before the first byte is written.
pub fn check_memory(needed_bytes: u64, hint: &'static str) -> Outcome<()> {
    too_little_memory(needed_bytes).map_or(Ok(()), |available| {
        Err(Failure::usage(
            format!(
                "the map of expectations and the buffers take {}, and {} of memory are available",
                format_bytes(needed_bytes),
                format_bytes(available)
            ),
            hint,
        ))
    })
}

/// A target for documents.
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
        path: facts.path.clone(),
        kind: facts.kind,
        size_bytes: target.size_bytes(),
        sector_bytes: target.logical_sector_bytes(),
        device: facts.device.as_ref().map(|device| device.name.clone()),
        model: (facts.device.as_ref()).and_then(|device| device.model.clone()),
        partition_offset_bytes: facts.partition_offset_bytes,
        kept_at,
        cache,
        changed: None,
        finished: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_and_buffers_leave_memory_for_others() {
        assert!(!is_too_little(10 << 30, 8 << 30));
        assert!(is_too_little(10 << 30, 9 << 30));
    }
}
