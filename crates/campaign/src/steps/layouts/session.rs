//! One session of an experiment over layouts.

use super::base::{PlacedExperiment, TargetPasses};
use super::real::devices::MayDestroy;
use super::real::passes::RealPasses;
use super::real::prepare::report_losses;
use super::simulated::{Arrays, SimulatedPasses};
use super::stored_layouts::StoredLayouts;
use crate::steps::experiment::runner::StopReason;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::layouts::{LayoutPlan, Measured, PASSES_MIN, PassesEnded, conduct_passes};
use stripewise_store::Store;
use stripewise_units::{counted, format_duration};

/// The result of one session.
pub struct LayoutsSession {
    /// The document with all measurements.
    pub stored: StoredLayouts,
    /// The store has this state. If not, the store's failure follows, and nothing claims otherwise.
    pub is_stored: bool,
    /// The failure that ended it, if any; results before it are shown first.
    pub ended: Outcome<()>,
}

/// Prints what will be done.
pub fn announce(context: &Context, stored: &StoredLayouts, simulated: bool) {
    let plan = &stored.plan;
    context.plan(format!(
        "{} of {}; a pass of all of them takes {} and at least {PASSES_MIN} are made, at most {}.",
        counted(plan.set.len(), "layout", "layouts"),
        counted(plan.cells.len(), "cell", "cells"),
        format_duration(plan.pass_ns()),
        plan.passes_max,
    ));
    for level in plan.set.levels_left_out() {
        context.plan(format!("Left out: {level}."));
    }
    if simulated {
        context.plan(crate::steps::TIMES_ARE_SIMULATED);
    }
    if !stored.measured.passes.is_empty() {
        context.plan(format!(
            "{} finished; they are not repeated.",
            counted(stored.measured.passes.len(), "pass is", "passes are")
        ));
    }
}

/// Makes the remaining passes of an experiment on simulated arrays.
pub fn simulate_layouts(
    context: &Context,
    store: &mut Store,
    arrays: &Arrays,
    mut stored: StoredLayouts,
) -> Outcome<LayoutsSession> {
    let (plan, mut measured) = begin(context, store, &mut stored)?;
    let mut passes = SimulatedPasses::new(context, store, arrays, stored);
    let conducted = conduct_passes(&plan, &mut measured, &mut passes);
    let (mut stored, refused) = passes.into_parts();
    stored.measured = measured;
    Ok(conclude(context, store, stored, conducted, refused))
}

/// Stores the experiment before its first pass; returns its plan, and what was measured before.
fn begin(
    context: &Context,
    store: &mut Store,
    stored: &mut StoredLayouts,
) -> Outcome<(LayoutPlan, Measured)> {
    stored.ended = None;
    stored.keep(context, store)?;
    Ok((stored.plan.clone(), stored.measured.clone()))
}

/// Makes the remaining passes of an experiment on real devices. Their content is lost.
pub fn make_layouts(
    context: &Context,
    store: &mut Store,
    mut stored: StoredLayouts,
    may: &MayDestroy,
) -> Outcome<LayoutsSession> {
    let (plan, mut measured) = begin(context, store, &mut stored)?;
    let mut passes = RealPasses::new(context, store, stored, may);
    let conducted = match passes.begin() {
        Ok(()) => conduct_passes(&plan, &mut measured, &mut passes),
        Err(failure) => Err(StopReason::Failed(failure)),
    };
    let (mut stored, late) = passes.into_parts();
    stored.measured = measured;
    Ok(conclude(context, store, stored, conducted, late))
}

/// Measures layouts on an existing target.
pub fn measure_on_target(
    context: &Context,
    store: &mut Store,
    on: PlacedExperiment,
) -> Outcome<LayoutsSession> {
    let PlacedExperiment { mut stored, opened } = on;
    let (plan, mut measured) = begin(context, store, &mut stored)?;
    let opened = [opened];
    let mut passes = TargetPasses::new(context, store, &opened, stored);
    let conducted = conduct_passes(&plan, &mut measured, &mut passes);
    let (mut stored, late) = passes.into_parts();
    stored.measured = measured;
    let [target] = opened;
    target.finish_or_report(context);
    Ok(conclude(context, store, stored, conducted, late))
}

/// Stores the result of a session; `late` is a failure after which the pass was finished all the
/// same.
fn conclude(
    context: &Context,
    store: &mut Store,
    mut stored: StoredLayouts,
    conducted: Result<PassesEnded, StopReason>,
    late: Option<Failure>,
) -> LayoutsSession {
    let failure = match conducted {
        Ok(ended) => {
            stored.ended = Some(ended);
            None
        }
        Err(StopReason::Interrupted) => {
            stored.ended = Some(PassesEnded::Interrupted);
            None
        }
        Err(StopReason::Failed(failure)) => Some(failure),
    };
    let kept_at_end = stored.keep(context, store);
    let is_stored = kept_at_end.is_ok();
    let ended = late.or(failure).map_or(kept_at_end, Err);
    LayoutsSession {
        is_stored,
        ended: ended.and_then(|()| stopped(context, &stored)),
        stored,
    }
}

/// The exit code of an interruption, and a way to continue; a failure if too little was
/// measured for any conclusion.
fn stopped(context: &Context, stored: &StoredLayouts) -> Outcome<()> {
    let Some(signal) = context.signal() else {
        return Ok(());
    };
    let passes = stored.measured.passes.len();
    Err(Failure::new(
        Exit::Interrupted(signal),
        format!(
            "interrupted after {}",
            counted(passes, "whole pass", "whole passes")
        ),
        match stored.can_go_on() {
            true => format!("`stripewise lab resume {}` continues it", stored.id),
            false => format!(
                "start it again; what was measured is stored as {}",
                stored.id
            ),
        },
    ))
}

/// Makes the remaining passes of an experiment, or shows its answer again if none remain. A given
/// margin or limits replace the plan's.
pub fn resume_layouts(
    context: &Context,
    store: &mut Store,
    mut stored: StoredLayouts,
    limits: &ResumeLimits,
    may: &MayDestroy,
) -> Outcome<LayoutsSession> {
    let plan = &mut stored.plan;
    plan.margin_percent = limits.margin_percent.unwrap_or(plan.margin_percent);
    plan.passes_max = limits.passes_max.unwrap_or(plan.passes_max);
    let more = limits
        .time_ns
        .map(|time_ns| stored.elapsed_ns.saturating_add(time_ns));
    plan.time_budget_ns = more.or(plan.time_budget_ns);
    plan.check()?;
    if (stored.is_over() || !stored.can_go_on()) && *limits == ResumeLimits::default() {
        return Ok(LayoutsSession {
            stored,
            is_stored: true,
            ended: Ok(()),
        });
    }
    if stored.on_devices.is_some() {
        report_losses(context, &stored, may)?;
        announce(context, &stored, false);
        return make_layouts(context, store, stored, may);
    }
    if !stored.can_go_on() {
        return Err(Failure::usage(
            format!(
                "the experiment {} was made on {} and cannot be continued: it may be in a different place now",
                stored.id, stored.target
            ),
            "start it again",
        ));
    }
    let mut arrays = Arrays::open(context, &stored.places)?;
    if stored.plan.slots.is_some() {
        arrays.divide(&stored.target, &stored.plan.cells)?;
    }
    if !stored.arrays.is_empty() && arrays.descriptions() != stored.arrays {
        return Err(Failure::usage(
            format!(
                "{} is not the array that it was when the experiment {} began",
                stored.target, stored.id
            ),
            "start a new experiment: values from two arrays must not be mixed",
        ));
    }
    announce(context, &stored, true);
    simulate_layouts(context, store, &arrays, stored)
}

/// Limits that override the plan on resuming.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResumeLimits {
    /// Differences in per cent up to this do not count.
    pub margin_percent: Option<f64>,
    /// Maximum number of passes, including earlier ones.
    pub passes_max: Option<u32>,
    /// Additional time beyond that of earlier sessions.
    pub time_ns: Option<u64>,
}
