//! The first sitting of an experiment: what the command line limits, durations
//! found by a pilot where time is virtual, and what will be done in words; then it
//! is carried to its answer.

use super::kept::Kept;
pub use super::kept::plan_failure;
use super::sitting::{Earlier, Sitting, announce, how, run_sitting, time_unasked_ns};
use crate::context::Context;
use crate::failure::Outcome;
use crate::observer::Event;
use crate::steps::measure::RunOptions;
use crate::steps::pilot::{Look, durations};
use crate::steps::targets::OpenTarget;
use crate::steps::together::{Leading, Leads};
use std::rc::Rc;
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, blocks_for_verdict};
use stripewise_store::Store;
use stripewise_units::ByteSize;

/// How an experiment is measured, as far as its user says it.
#[derive(Clone, Debug, Default)]
pub struct ExperimentOptions {
    /// Stop when every interval is narrower than this.
    pub precision_percent: Option<f64>,
    /// Time for everything.
    pub time_ns: Option<u64>,
    /// Blocks at most.
    pub blocks: Option<u32>,
    /// Measured time of a run; where it is given, no pilot finds one.
    pub step_ns: Option<u64>,
    /// The way to do I/O.
    pub engine: Option<EngineName>,
    /// Of the order and of all streams.
    pub seed: Option<u64>,
    /// The user's words.
    pub label: Option<String>,
    /// Other hosts that make the same runs: levels are compared by what all do.
    pub group: Option<Rc<dyn Leads>>,
}

impl ExperimentOptions {
    /// Ramp and measured time of a run on a real target.
    #[must_use]
    pub fn ramp_and_step_ns(&self) -> (u64, u64) {
        let step_ns = self.step_ns.unwrap_or(SECOND_NS);
        ((step_ns / 10).min(SECOND_NS), step_ns)
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// Blocks at most on simulated arrays, where nothing else limits them.
const BLOCKS_MAX_SIMULATED: u32 = 40;

/// Starts an experiment whose target is open and whose document is filled in.
/// Where nobody gave a duration, a pilot finds one on simulated arrays.
pub fn start(
    context: &Context,
    store: &mut Store,
    aimed: OpenTarget,
    mut kept: Kept,
    options: &ExperimentOptions,
    duration_given: bool,
) -> Outcome<Sitting> {
    let simulated = aimed.simulated().is_some();
    let how = how(context, &aimed, &kept);
    if simulated && !duration_given && options.step_ns.is_none() {
        set_durations(context, std::slice::from_ref(&aimed), &how, &mut kept.plan)?;
    }
    limit(&mut kept.plan, options, simulated);
    kept.plan.check().map_err(plan_failure)?;
    say_place(context, &kept);
    announce(context, &kept, simulated);
    let leading = Leading::of(context, store, options.group.as_ref())?;
    run_sitting(
        context,
        store,
        aimed,
        how,
        kept,
        Earlier::default(),
        leading,
    )
}

/// Gives every cell of the plan a duration of its own, found on the baseline.
fn set_durations(
    context: &Context,
    aimed: &[OpenTarget],
    how: &RunOptions,
    plan: &mut ExperimentPlan,
) -> Outcome<()> {
    let level = &plan.levels[plan.baseline];
    let looks: Vec<Look> = (plan.cells.iter())
        .map(|cell| Look::at(&cell.name, level.apply(&cell.workload, plan.seed)))
        .collect();
    let found = durations(context, aimed, how, &looks)?;
    for (cell, (ramp_ns, duration_ns)) in plan.cells.iter_mut().zip(found) {
        cell.workload.ramp_ns = ramp_ns;
        cell.workload.duration_ns = duration_ns;
    }
    Ok(())
}

/// What the switches say about stopping.
pub fn limit(plan: &mut ExperimentPlan, options: &ExperimentOptions, simulated: bool) {
    if let Some(precision) = options.precision_percent {
        plan.precision_percent = precision;
    }
    plan.time_budget_ns = match options.time_ns {
        Some(time_ns) => Some(time_ns),
        None if simulated => plan.time_budget_ns,
        None => Some(plan.time_budget_ns.unwrap_or_else(|| time_unasked_ns(plan))),
    };
    if let Some(blocks) = options.blocks {
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
    let Some(place) = kept.place.as_ref() else {
        return;
    };
    if let Some((start, disk)) = place.start_bytes.zip(place.disk.as_ref()) {
        context.plan(format!("It starts at {} of {disk} now.", ByteSize(start)));
    }
    for text in &place.notes {
        context.observer().hear(&Event::Remark { text });
    }
}
