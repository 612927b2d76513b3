//! `lab resume`: goes on with an experiment from what the store has of it, or
//! shows it again where nothing is left to do.
//!
//! A test file that went with its process is made anew. Levels that are offsets
//! are put where they belong in the new file; all else stays as it was planned.

use super::run::{check_fit, need};
use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::advice;
use crate::show::experiment::{conclude, print};
use crate::show::terminal::say_part;
use crate::switches::lab::LabResume;
use stripewise_campaign::experiment::answer::Answer;
use stripewise_campaign::experiment::ground::find;
use stripewise_campaign::experiment::kept::Kept;
use stripewise_campaign::experiment::sitting::{announce, how, run_sitting};
use stripewise_campaign::experiment::start::{plan_failure, say_place};
use stripewise_campaign::steps::layouts::kept::KeptLayouts;
use stripewise_campaign::steps::layouts::sitting::{ResumeLimits, resume_layouts};
use stripewise_campaign::steps::targets::{TargetRequirements, open_target};
use stripewise_lab::experiment::{
    Ended, Experiment, ExperimentPlan, blocks_of, enough, next_block_ns,
};
use stripewise_lab::offsets::shift;
use stripewise_report::wrapped;
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{Nanoseconds, counted, format_duration};

const SECOND_NS: u64 = 1_000_000_000;

pub fn resume(context: &Context, arguments: &LabResume) -> Outcome {
    let mut store = context.open_store_there()?;
    let id = store.full_name(&arguments.id).map_err(store_failure)?;
    if let Some(kept) = KeptLayouts::load(&store, &id)? {
        return resume_of_layouts(context, &mut store, kept, arguments);
    }
    let mut kept = Kept::load(&store, &id)?;
    let records = kept.runs(context, &store)?;
    let (blocks, _) = blocks_of(&kept.plan, &records);
    kept.blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    change(&mut kept, arguments);
    kept.plan.check().map_err(plan_failure)?;
    let mut experiment = Experiment {
        id: kept.id.clone(),
        plan: kept.plan.clone(),
        elapsed_ns: kept.elapsed_ns,
        ended: None,
        blocks,
    };
    if let Some(why) = enough(&experiment, experiment.elapsed_ns) {
        // An interruption is over once nothing is left to go on with.
        kept.ended = Some(why);
        experiment.ended = kept.ended;
        if !context.global.quiet {
            say_part!("{}", wrapped(&done_words(&experiment, why), "  "));
        }
        return print(context, &Answer::of(&experiment, kept, records));
    }
    let blocks = experiment.blocks;
    // Positions were asked of a test file as large as it could be; so again.
    let mut need = need(&kept.plan, kept.load_given);
    if let (Some(_), false) = (&kept.place, kept.target.starts_with("sim:")) {
        need = TargetRequirements {
            size: kept.size_bytes.map_or(Size::Auto, Size::Exactly),
            ..need
        };
    }
    let aimed = open_target(
        context,
        &mut store,
        &kept.target,
        &need,
        &arguments.safety.permissions(),
    )?;
    place_again(&mut kept, &aimed)?;
    check_fit(&kept.plan, &aimed)?;
    kept.ended = None;
    let how = how(context, &aimed, &kept);
    say_place(context, &kept);
    announce(context, &kept, aimed.simulated().is_some());
    let sitting = run_sitting(context, &mut store, aimed, how, kept, blocks, records)?;
    conclude(context, sitting)
}

/// The same of an experiment over layouts.
fn resume_of_layouts(
    context: &Context,
    store: &mut Store,
    kept: KeptLayouts,
    arguments: &LabResume,
) -> Outcome {
    let limits = ResumeLimits {
        margin_percent: arguments.precision,
        passes_max: arguments.blocks,
        time_ns: arguments.time.map(Nanoseconds::ns),
    };
    let sitting = resume_layouts(context, store, kept, &limits)?;
    let record = sitting.kept.answer();
    let outside = record
        .as_ref()
        .is_some_and(|record| record.present_is_outside);
    let exit = match outside {
        true => Exit::Finding,
        false => Exit::Done,
    };
    let exit = advice::show(context, &sitting.kept, record.as_ref(), None, exit)?;
    sitting.ended.map(|()| exit)
}

/// What the command line says instead of the plan.
fn change(kept: &mut Kept, arguments: &LabResume) {
    let plan = &mut kept.plan;
    plan.precision_percent = arguments.precision.unwrap_or(plan.precision_percent);
    let elapsed_ns = kept.elapsed_ns;
    let sitting = arguments
        .time
        .map(|time| elapsed_ns.saturating_add(time.ns()));
    plan.time_budget_ns = sitting.or(plan.time_budget_ns);
    plan.blocks_max = arguments.blocks.unwrap_or(plan.blocks_max);
    plan.blocks_min = plan
        .blocks_min
        .min(plan.blocks_max.max(ExperimentPlan::BLOCKS_MIN));
}

/// Why it is shown as it is, and what would make it go on.
fn done_words(experiment: &Experiment, why: Ended) -> String {
    let plan = &experiment.plan;
    let blocks = experiment.blocks.len();
    let done = counted(blocks, "block is", "blocks are");
    let spent = format_duration(experiment.elapsed_ns);
    let next_ns = next_block_ns(experiment);
    match why {
        Ended::Precise => format!(
            "{done} finished, and every interval is narrower than {} %: this is what was found. A smaller --precision goes on.",
            plan.precision_percent
        ),
        Ended::BlocksMax => format!(
            "{done} finished, as many as there may be: this is what was found. --blocks {} goes on.",
            blocks.saturating_mul(2)
        ),
        _ => format!(
            "{done} finished in {spent}, and another one, about {}, does not fit into the time: this is what was found. --time {} goes on for so long.",
            format_duration(next_ns),
            Nanoseconds(next_ns.saturating_mul(10).next_multiple_of(SECOND_NS)),
        ),
    }
}

/// Finds the levels' places on the target as it is now.
fn place_again(
    kept: &mut Kept,
    aimed: &stripewise_campaign::steps::targets::OpenTarget,
) -> Outcome<()> {
    let Some(place) = &mut kept.place else {
        return Ok(());
    };
    let cells = kept.plan.cells.iter();
    let block_bytes = cells.map(|cell| cell.workload.block_size_bytes).max();
    let found = find(
        aimed,
        &kept.target,
        block_bytes.unwrap_or(8 << 10),
        kept.size_bytes,
    );
    if found.place.start_bytes != place.start_bytes {
        return Err(Failure::usage(
            format!(
                "{} does not start where it did when the experiment began",
                kept.target
            ),
            "it is another volume now: start a new experiment, and compare the two",
        ));
    }
    let shifted = shift(&found.ground, &place.offsets_bytes).map_err(|problem| {
        let hint = problem.hint().to_owned();
        Failure::usage(problem.to_string(), hint)
    })?;
    let mut moved = false;
    for (level, base) in kept.plan.levels.iter_mut().zip(&shifted.base_offsets_bytes) {
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
            "The test file was made anew when the experiment was resumed, and lies elsewhere: blocks before and after are of two files."
                .to_owned(),
        );
    }
    Ok(())
}
