//! `lab resume`: continues a stored experiment, or
//! shows it again if nothing remains to be done.
//!
//! A test file that was removed with its process is made again. Offset levels
//! are placed anew in the new file; everything else stays as planned.

use crate::steps::experiment::answer::{Answer, hosts_of};
use crate::steps::experiment::fit::{block_bytes_max, check_fit, requirements};
use crate::steps::experiment::session::{
    EarlierSessions, ExperimentSession, announce, how, run_session,
};
use crate::steps::experiment::start::report_place;
use crate::steps::experiment::stored_experiment::StoredExperiment;
use crate::steps::experiment::target_range::find;
use crate::steps::layouts::real::devices::MayDestroy;
use crate::steps::layouts::session::{ResumeLimits, resume_layouts};
use crate::steps::layouts::stored_layouts::StoredLayouts;
use crate::steps::resuming::refuse_measured_elsewhere;
use crate::steps::sessions::LabSession;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::engine_named;
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, open_target};
use stripewise_lab::experiment::{
    Block, Ended, Experiment, ExperimentPlan, blocks_of, enough, next_block_ns,
};
use stripewise_lab::offsets::shift;
use stripewise_results::RunRecord;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{Nanoseconds, counted, format_duration, is_sim_target};

const SECOND_NS: u64 = 1_000_000_000;

/// Options that override the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResumeOptions {
    /// Stop when every interval is narrower than this; for layouts, the margin.
    pub precision_percent: Option<f64>,
    /// Time limit of this session, not counting earlier ones.
    pub time_ns: Option<u64>,
    /// Maximum total number of blocks or passes.
    pub blocks: Option<u32>,
}

/// Continues the experiment of this id.
///
/// # Errors
/// If it is not known, another process is measuring it, or it cannot continue. The session
/// contains later failures.
pub fn resume(
    context: &Context,
    id: &str,
    options: &ResumeOptions,
    permissions: &Permissions,
) -> Outcome<LabSession> {
    let mut store = context.open_store_there()?;
    let id = store.full_name(id)?;
    refuse_measured_elsewhere(&store, &id)?;
    if let Some(stored) = StoredLayouts::load(&store, &id)? {
        let limits = ResumeLimits {
            margin_percent: options.precision_percent,
            passes_max: options.blocks,
            time_ns: options.time_ns,
        };
        return resume_layouts(
            context,
            &mut store,
            stored,
            &limits,
            &MayDestroy::of(permissions),
        )
        .map(LabSession::from);
    }
    let mut stored = StoredExperiment::load(&store, &id)?;
    let records = stored.runs(context, &store)?;
    let (blocks, _) = blocks_of(&stored.plan, &records);
    stored.blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    change(&mut stored, options);
    stored.plan.check()?;
    let mut experiment = Experiment {
        id: stored.id.clone(),
        plan: stored.plan.clone(),
        elapsed_ns: stored.elapsed_ns,
        ended: None,
        blocks,
    };
    let Some(why) = enough(&experiment, experiment.elapsed_ns) else {
        let blocks = experiment.blocks;
        let session = continue_session(context, &mut store, stored, blocks, records, permissions)?;
        return Ok(session.into());
    };
    // An interruption no longer matters once nothing remains to be done.
    stored.ended = Some(why);
    experiment.ended = stored.ended;
    context.status(done_words(&experiment, why));
    Ok(LabSession::from(ExperimentSession {
        answer: Some(Answer::of(&experiment, stored, records)),
        ended: Ok(()),
    }))
}

fn continue_session(
    context: &Context,
    store: &mut Store,
    mut stored: StoredExperiment,
    blocks: Vec<Block>,
    records: Vec<RunRecord>,
    permissions: &Permissions,
) -> Outcome<ExperimentSession> {
    if let Some(hosts) = hosts_of(&records) {
        return Err(Failure::usage(
            format!(
                "this experiment was made on {hosts} hosts at once: its blocks are not those of one"
            ),
            "start it again with stripewise-mpi; `stripewise history show ID` shows what was measured",
        ));
    }
    let engine = engine_named(&stored.engine)?;
    // Positions were required of the largest possible test file; so do it again.
    let mut required = requirements(&stored.plan, stored.load_given, engine);
    if let (Some(_), false) = (&stored.place, is_sim_target(&stored.target)) {
        required = Needs {
            size: stored.size_bytes.map_or(Size::Auto, Size::Exactly),
            ..required
        };
    }
    let opened = open_target(context, store, &stored.target, &required, permissions)?;
    place_again(context, &mut stored, &opened)?;
    check_fit(&stored.plan, &opened)?;
    stored.ended = None;
    let how = how(context, &opened, &stored);
    report_place(context, &stored);
    announce(context, &stored, opened.simulated().is_some());
    let earlier = EarlierSessions {
        finished: blocks,
        records,
    };
    run_session(context, store, opened, how, stored, earlier, None)
}

/// Applies options that override the plan.
fn change(stored: &mut StoredExperiment, options: &ResumeOptions) {
    let plan = &mut stored.plan;
    plan.precision_percent = options.precision_percent.unwrap_or(plan.precision_percent);
    let elapsed_ns = stored.elapsed_ns;
    let session = options
        .time_ns
        .map(|time_ns| elapsed_ns.saturating_add(time_ns));
    plan.time_budget_ns = session.or(plan.time_budget_ns);
    plan.blocks_max = options.blocks.unwrap_or(plan.blocks_max);
    plan.blocks_min = plan
        .blocks_min
        .min(plan.blocks_max.max(ExperimentPlan::BLOCKS_MIN));
}

/// Why it is only shown, and what would make it continue.
fn done_words(experiment: &Experiment, why: Ended) -> String {
    let plan = &experiment.plan;
    let blocks = experiment.blocks.len();
    let done = counted(blocks, "block is", "blocks are");
    let spent = format_duration(experiment.elapsed_ns);
    let next_ns = next_block_ns(experiment);
    match why {
        Ended::Precise => format!(
            "{done} finished, and every interval is narrower than {} %: this is what was found. A smaller --precision continues it.",
            plan.precision_percent
        ),
        Ended::BlocksMax => format!(
            "{done} finished, the maximum: this is what was found. --blocks {} continues it.",
            blocks.saturating_mul(2)
        ),
        _ => format!(
            "{done} finished in {spent}, and another one, about {}, does not fit into the time: this is what was found. --time {} continues it for that long.",
            format_duration(next_ns),
            Nanoseconds(next_ns.saturating_mul(10).next_multiple_of(SECOND_NS)),
        ),
    }
}

/// Finds the levels' positions on the target as it is now.
fn place_again(
    context: &Context,
    stored: &mut StoredExperiment,
    opened: &OpenTarget,
) -> Outcome<()> {
    let block_bytes = block_bytes_max(&stored.plan);
    let Some(place) = &mut stored.place else {
        return Ok(());
    };
    let found = find(
        context,
        opened,
        &stored.target,
        block_bytes,
        stored.size_bytes,
    );
    if found.place.start_bytes != place.start_bytes {
        return Err(Failure::usage(
            format!(
                "{} does not start where it did when the experiment began",
                stored.target
            ),
            "the volume has been replaced: start a new experiment, and compare the two",
        ));
    }
    let shifted = shift(&found.usable, &place.offsets_bytes)?;
    let mut moved = false;
    for (level, base) in stored
        .plan
        .levels
        .iter_mut()
        .zip(&shifted.base_offsets_bytes)
    {
        moved |= level.base_offset_bytes != Some(*base);
        level.base_offset_bytes = Some(*base);
        level.size_bytes = Some(shifted.size_bytes);
    }
    place.moved_bytes = shifted.moved_bytes;
    for note in found.place.notes {
        if !place.notes.contains(&note) {
            place.notes.push(note);
        }
    }
    if moved {
        place.notes.push(
            "The test file was made again when the experiment was resumed, and is in a different place: blocks before and after are from two different files."
                .to_owned(),
        );
    }
    Ok(())
}
