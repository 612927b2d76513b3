//! The first sitting of an experiment: what the command line limits, durations
//! found by a pilot where time is virtual, and what will be done in words; then it
//! is carried to its answer.

use super::carry::{announce, carry, how, time_unasked_ns};
use super::kept::Kept;
use super::pilot;
use crate::aim::Aimed;
use crate::cli::align::ExperimentArguments;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::show::document::note;
use crate::show::terminal::say;
use stripewise_lab::experiment::{ExperimentPlan, blocks_for_verdict};
use stripewise_store::Store;
use stripewise_units::ByteSize;

/// Blocks at most on simulated arrays, where nothing else limits them.
const BLOCKS_MAX_SIMULATED: u32 = 40;

/// Starts an experiment whose target is open and whose document is filled in.
/// Where nobody gave a duration, a pilot finds one on simulated arrays.
pub fn start(
    context: &Context,
    store: &mut Store,
    aimed: Aimed,
    mut kept: Kept,
    arguments: &ExperimentArguments,
    duration_given: bool,
) -> Outcome {
    let simulated = aimed.simulated().is_some();
    let how = how(context, &aimed, &kept);
    if simulated && !duration_given && arguments.step.is_none() {
        pilot::set_durations(context, std::slice::from_ref(&aimed), &how, &mut kept.plan)?;
    }
    limit(&mut kept.plan, arguments, simulated);
    kept.plan.check().map_err(plan_failure)?;
    say_place(context, &kept);
    announce(context, &kept, simulated);
    carry(context, store, aimed, how, kept, Vec::new(), Vec::new())
}

/// A plan that breaks a rule.
pub fn plan_failure(problem: stripewise_lab::experiment::PlanProblem) -> Failure {
    let hint = problem.hint().to_owned();
    Failure::usage(problem.to_string(), hint)
}

/// What the switches say about stopping.
pub fn limit(plan: &mut ExperimentPlan, how: &ExperimentArguments, simulated: bool) {
    if let Some(precision) = how.precision {
        plan.precision_percent = precision;
    }
    plan.time_budget_ns = match how.time {
        Some(time) => Some(time.ns()),
        None if simulated => plan.time_budget_ns,
        None => Some(plan.time_budget_ns.unwrap_or_else(|| time_unasked_ns(plan))),
    };
    if let Some(blocks) = how.blocks {
        plan.blocks_max = blocks;
    } else if simulated && plan.time_budget_ns.is_none() {
        plan.blocks_max = plan.blocks_max.min(BLOCKS_MAX_SIMULATED);
    }
    // Narrow intervals end it no earlier than its rows can have verdicts.
    let least = ExperimentPlan::BLOCKS_MIN;
    let verdict = blocks_for_verdict(plan.rows(), plan.level);
    plan.blocks_min = verdict.min(plan.blocks_max).max(least);
}

/// Where it starts now.
pub fn say_place(context: &Context, kept: &Kept) {
    let Some(place) = kept.place.as_ref().filter(|_| !context.global.quiet) else {
        return;
    };
    if let Some((start, disk)) = place.start_bytes.zip(place.disk.as_ref()) {
        say!("It starts at {} of {disk} now.", ByteSize(start));
    }
    for text in &place.notes {
        note(text);
    }
}
