//! `lab resume`: goes on with an experiment from what the store has of it, or
//! shows it again where nothing is left to do.
//!
//! A test file that went with its process is made anew. Levels that are offsets
//! are put where they belong in the new file; all else stays as it was planned.

use super::run::{check_fit, need};
use crate::aim::{Need, aim};
use crate::cli::lab::LabResume;
use crate::commands::align::{plan_failure, say_place};
use crate::context::Context;
use crate::experiment::answer::Answer;
use crate::experiment::carry::{announce, carry, how};
use crate::experiment::ground::find;
use crate::experiment::kept::Kept;
use crate::failure::{Failure, Outcome};
use stripewise_lab::experiment::{Experiment, ExperimentPlan, blocks_of, precise};
use stripewise_lab::offsets::shift;
use stripewise_target::Size;
use stripewise_units::Nanoseconds;

pub fn resume(context: &Context, arguments: &LabResume) -> Outcome {
    let mut store = context.open_store()?;
    let mut kept = Kept::load(&store, &arguments.id)?;
    let records = kept.runs(&store)?;
    let (blocks, _) = blocks_of(&kept.plan, &records);
    kept.blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    change(&mut kept, arguments);
    kept.plan.check().map_err(plan_failure)?;
    if is_done(&kept, &blocks) {
        let experiment = Experiment {
            id: kept.id.clone(),
            plan: kept.plan.clone(),
            elapsed_ns: kept.elapsed_ns,
            ended: kept.ended,
            blocks,
        };
        if !context.global.quiet {
            eprintln!("Nothing is left to do: this is what it found.");
        }
        return Answer::of(&experiment, kept, records).print(context);
    }
    // Positions were asked of a test file as large as it could be; so again.
    let mut need = need(&kept.plan, kept.load_given);
    if let (Some(_), false) = (&kept.place, kept.target.starts_with("sim:")) {
        need = Need {
            size: kept.size_bytes.map_or(Size::Auto, Size::Exactly),
            ..need
        };
    }
    let aimed = aim(context, &mut store, &kept.target, &need, &arguments.safety)?;
    place_again(&mut kept, &aimed)?;
    check_fit(&kept.plan, &aimed)?;
    kept.ended = None;
    let how = how(context, &aimed, &kept);
    say_place(context, &kept);
    announce(context, &kept, aimed.simulated().is_some());
    carry(context, &mut store, aimed, how, kept, blocks, records)
}

/// What the command line says instead of the plan.
fn change(kept: &mut Kept, arguments: &LabResume) {
    let plan = &mut kept.plan;
    plan.precision_percent = arguments.precision.unwrap_or(plan.precision_percent);
    plan.time_budget_ns = arguments.time.map(Nanoseconds::ns).or(plan.time_budget_ns);
    plan.blocks_max = arguments.blocks.unwrap_or(plan.blocks_max);
    plan.blocks_min = plan
        .blocks_min
        .min(plan.blocks_max.max(ExperimentPlan::BLOCKS_MIN));
}

/// Whether no further block would begin.
fn is_done(kept: &Kept, blocks: &[stripewise_lab::experiment::Block]) -> bool {
    let plan = &kept.plan;
    let each_ns = kept.elapsed_ns / u64::from(kept.blocks.max(1));
    let next_ns = each_ns.max(plan.block_ns());
    let late = plan
        .time_budget_ns
        .is_some_and(|budget| kept.elapsed_ns.saturating_add(next_ns) > budget);
    let exact = kept.blocks >= plan.blocks_min && precise(plan, blocks);
    kept.blocks > 0 && (exact || kept.blocks >= plan.blocks_max || late)
}

/// Finds the levels' places on the target as it is now.
fn place_again(kept: &mut Kept, aimed: &crate::aim::Aimed) -> Outcome<()> {
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
