//! `qualify --commit`: which method of making a commit durable is the fastest here?

use super::{
    QualifyResult, StoredQualification, placement, refuse_memory, room_lacking, too_small,
};
use crate::steps::TIMES_ARE_SIMULATED;
use crate::steps::qualification::compared;
use stripewise_conductor::conduct::{Setup, conduct, open, refuse_unusable};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::permissions::Permissions;
use stripewise_store::Store;
use stripewise_studies::commit::CommitStudy;
use stripewise_studies::{Study, unbounded_writes};
use stripewise_targets::{ErrorKind, HAS_OPERATION_FLAGS, Size};
use stripewise_units::{format_duration, is_sim_target};

/// Parameters of the comparison.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// As typed.
    pub target: String,
    /// The engine of the operations.
    pub engine: String,
    /// Label stored with the runs.
    pub label: Option<String>,
    /// Seed of the order and the streams.
    pub seed: u64,
}

/// Measures every method.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn commit(
    context: &Context,
    request: &CommitRequest,
    permissions: &Permissions,
) -> Outcome<QualifyResult> {
    let placement = placement(&request.target, permissions)?;
    if placement.reads_only {
        return Err(Failure::usage(
            format!(
                "commits are writes, and {} may only be read",
                request.target
            ),
            "name a directory, or allow writes: --destroy NAME of a device, --overwrite of a file",
        ));
    }
    refuse_memory(&request.target)?;
    let study = CommitStudy::new(!placement.is_one_target, HAS_OPERATION_FLAGS, request.seed)
        .simulated(placement.is_simulated);
    let mut store = context.open_store()?;
    let stored = StoredQualification {
        is_commit: true,
        ..StoredQualification::begun(
            context,
            &store,
            (&request.target, &request.engine),
            request.label.as_deref(),
            permissions,
        )?
    };
    go(context, &mut store, study, stored, permissions)
}

/// Resumes an interrupted comparison.
pub(super) fn resume(
    context: &Context,
    store: &mut Store,
    study: CommitStudy,
    stored: StoredQualification,
    permissions: &Permissions,
) -> Outcome<QualifyResult> {
    if study.is_whole() {
        return Ok(compared(&study, &stored, Exit::Done, None));
    }
    go(context, store, study, stored, permissions)
}

fn go(
    context: &Context,
    store: &mut Store,
    mut study: CommitStudy,
    mut stored: StoredQualification,
    permissions: &Permissions,
) -> Outcome<QualifyResult> {
    let request = stored.request();
    let (id, target) = (stored.id.clone(), stored.target.clone());
    let setup = Setup {
        id: &id,
        target: &target,
        size: Size::Auto,
        request: &request,
        permissions,
        recordings: None,
    };
    let hinted = |failure: Failure| match room_lacking(&failure) {
        None => failure,
        Some(ErrorKind::TooSmall) => failure.hinted(too_small("the comparison")),
        Some(_) => failure.hinted(format!("name a directory with more room than {target}")),
    };
    refuse_unusable(context, store, &study, &setup).map_err(hinted)?;
    context.plan(format!(
        "Time: {} of measuring; every method in random order, five times.",
        format_duration(study.time().left_ns)
    ));
    let seconds = study.time().left_ns / 1_000_000_000;
    context.plan(format!("  Written: {}.", unbounded_writes(seconds)));
    if is_sim_target(&target) {
        context.plan(TIMES_ARE_SIMULATED);
    }
    let targets = open(context, store, &study, &setup).map_err(hinted)?;
    stored.is_busy_ok |= permissions.busy_ok;
    stored.keep(context, store, study.to_json())?;
    // Not after each run: it is larger than what a run writes.
    let mut changed = |store: &mut Store, study: &CommitStudy| match study.is_at_pause() {
        true => stored.keep(context, store, study.to_json()),
        false => Ok(()),
    };
    let conducted = conduct(context, store, &mut study, targets, &setup, &mut changed);
    // A signal between two runs interrupts neither of them.
    stored.store_or_report(context, store, study.to_json());
    let exit = exit_of(context, &conducted.records);
    Ok(compared(&study, &stored, exit, conducted.ended.err()))
}
