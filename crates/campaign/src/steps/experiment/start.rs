//! The first session of an experiment: limits from the command line, durations
//! found by a pilot in virtual time, and an announcement; then it
//! is run.

use super::session::{
    EarlierSessions, ExperimentSession, announce, default_time_ns, how, run_session,
};
use super::stored_experiment::StoredExperiment;
use crate::steps::absorbed::CellSustained;
use std::rc::Rc;
use stripewise_conductor::context::Context;
use stripewise_conductor::durations::{CellTime, DurationRequest, durations};
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::host_group::{GroupRuns, HostGroup};
use stripewise_conductor::keep::RunPlace;
use stripewise_conductor::measure::{PlacedJob, RunOptions, measure_on, pilot_with};
use stripewise_conductor::observer::Event;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::pilot::{announced, behind_ns};
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::{OpenTarget, living_arrays};
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{Cell, ExperimentPlan, blocks_for_verdict};
use stripewise_stats::PilotPlan;
use stripewise_store::Store;
use stripewise_studies::LoadPilot;
use stripewise_units::ByteSize;

/// How to measure an experiment, as far as the user specified it.
#[derive(Clone, Debug, Default)]
pub struct ExperimentOptions {
    /// Stop when every interval is narrower than this.
    pub precision_percent: Option<f64>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Maximum number of blocks.
    pub blocks: Option<u32>,
    /// Measured time of a run; if given, no pilot determines it.
    pub step_ns: Option<u64>,
    /// Size of the device's or controller's cache, if given.
    pub cache_size_bytes: Option<u64>,
    /// I/O engine.
    pub engine: Option<EngineName>,
    /// Seed of the order and of all streams.
    pub seed: Option<u64>,
    /// The user's label.
    pub label: Option<String>,
    /// Other hosts that make the same runs: levels are compared by the combined results.
    pub group: Option<Rc<dyn HostGroup>>,
}

impl ExperimentOptions {
    /// Ramp and measured time of a run on a real target.
    pub fn ramp_and_step_ns(&self) -> (u64, u64) {
        let step_ns = self.step_ns.unwrap_or(SECOND_NS);
        ((step_ns / 10).min(SECOND_NS), step_ns)
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// Pilots take at most 1 / this of the experiment's time, or of ten minutes.
const PILOTS_PART: u64 = 4;
const PILOTS_NS: u64 = 600 * SECOND_NS;
const BURST_SPENT: &str =
    "The burst credit of this volume is spent before the runs: what lasts is compared.";
/// Default maximum number of blocks on simulated arrays.
const BLOCKS_MAX_SIMULATED: u32 = 40;

/// Starts an experiment with an open target and a completed document.
/// Without a given duration, a pilot finds one on simulated arrays.
pub fn start(
    context: &Context,
    store: &mut Store,
    opened: OpenTarget,
    mut stored: StoredExperiment,
    options: &ExperimentOptions,
    duration_given: bool,
) -> Outcome<ExperimentSession> {
    let simulated = opened.simulated().is_some();
    if let Some(place) = &mut stored.place
        && opened.simulated().is_some_and(Simulated::has_burst_credit)
    {
        place.notes.push(BURST_SPENT.to_owned());
    }
    let how = how(context, &opened, &stored);
    // Before pilots, which take a while. None of the limits follows from what they find.
    limit(&mut stored.plan, options, simulated);
    stored.plan.check()?;
    if let Some(array) = opened.simulated()
        && !duration_given
        && options.step_ns.is_none()
    {
        // As runs find it.
        set_durations(context, array.met(0, 0), &how, &mut stored)?;
    }
    report_place(context, &stored);
    announce(context, &stored, simulated);
    let leading = GroupRuns::of(context, store, options.group.as_ref())?;
    if !simulated && leading.is_none() {
        look_for_caches(context, store, &opened, &how, options, &mut stored)?;
    }
    run_session(
        context,
        store,
        opened,
        how,
        stored,
        EarlierSessions::default(),
        leading,
    )
}

/// Gives every cell of the plan a ramp and a duration of its own, found on the baseline;
/// if something absorbs its writes for a while, values that suffice at every level.
fn set_durations(
    context: &Context,
    array: Simulated,
    how: &RunOptions,
    stored: &mut StoredExperiment,
) -> Outcome<()> {
    let plan = &mut stored.plan;
    let mut looks = Vec::new();
    let mut cells = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let absorbs = array.absorbs(&cell.workload).is_some();
        for (number, level) in plan.levels.iter().enumerate() {
            if number == plan.baseline || absorbs {
                let workload = level.apply(&cell.workload, plan.seed);
                looks.push(DurationRequest::at(&cell.name, workload));
                cells.push((index, number));
            }
        }
    }
    let opened = [OpenTarget::Simulated(Box::new(array))];
    let found = durations(context, &opened, how, &looks)?;
    let mut times: Vec<Option<CellTime>> = vec![None; plan.cells.len()];
    for ((cell, level), time) in cells.into_iter().zip(found) {
        times[cell] = Some(times[cell].map_or(time, |so_far| so_far.and(time)));
        stored
            .sustained
            .extend(time.sustained.map(|found| CellSustained {
                cell: plan.cells[cell].name.clone(),
                level: plan.levels[level].name.clone(),
                found,
            }));
    }
    for (cell, time) in plan.cells.iter_mut().zip(times.into_iter().flatten()) {
        cell.workload.ramp_ns = time.ramp_ns;
        cell.workload.duration_ns = time.duration_ns;
    }
    Ok(())
}

/// On a real target, makes a quick pilot of each cell that writes, on the baseline, within a part
/// of the experiment's time. Runs begin past what was absorbed.
fn look_for_caches(
    context: &Context,
    store: &mut Store,
    opened: &OpenTarget,
    how: &RunOptions,
    options: &ExperimentOptions,
    stored: &mut StoredExperiment,
) -> Outcome<()> {
    let level = stored.plan.levels[stored.plan.baseline].clone();
    let (seed, budget_ns) = (stored.plan.seed, stored.plan.time_budget_ns);
    let writing = stored.plan.cells.iter_mut();
    let writing: Vec<&mut Cell> = writing.filter(|cell| cell.workload.writes()).collect();
    if writing.is_empty() || opened.real().is_none() {
        return Ok(());
    }
    let time_ns = budget_ns.unwrap_or(PILOTS_NS) / PILOTS_PART / writing.len() as u64;
    context.plan(announced(true, Some(time_ns)));
    let targets = std::slice::from_ref(opened);
    let mut arrays = living_arrays(targets);
    let bar = Progress::begin(context.observer(), false, time_ns, "Looking for caches");
    for cell in writing {
        let job = PlacedJob::new(&cell.name, level.apply(&cell.workload, seed));
        let plan = PilotPlan {
            cache_bytes: options.cache_size_bytes,
            ..PilotPlan::new(true)
        };
        let size_bytes = opened.limits().size_bytes;
        let mut pilot = LoadPilot::new(job, plan, size_bytes, Some(time_ns));
        let found = pilot_with(context, &mut pilot, how, &mut |piece, options| {
            let place = RunPlace {
                title: &cell.name,
                before_ns: 0,
                expected_ns: piece.workload.length_ns(),
                after_ns: None,
            };
            let (jobs, progress) = ([piece.clone()], (&bar, &place));
            let measured = measure_on(
                context,
                store,
                targets,
                &mut arrays,
                &jobs,
                options,
                progress,
            )?;
            measured.if_stored(context)
        })?;
        if found.absorbed_bytes.is_some() {
            cell.workload.ramp_ns = cell.workload.ramp_ns.max(behind_ns(&found));
        }
        stored.sustained.push(CellSustained {
            cell: cell.name.clone(),
            level: level.name.clone(),
            found,
        });
    }
    Ok(())
}

/// Applies the switches about stopping.
pub fn limit(plan: &mut ExperimentPlan, options: &ExperimentOptions, simulated: bool) {
    if let Some(precision) = options.precision_percent {
        plan.precision_percent = precision;
    }
    plan.time_budget_ns = match options.time_ns {
        Some(time_ns) => Some(time_ns),
        None if simulated => plan.time_budget_ns,
        None => Some(plan.time_budget_ns.unwrap_or_else(|| default_time_ns(plan))),
    };
    if let Some(blocks) = options.blocks {
        plan.blocks_max = blocks;
    } else if simulated && plan.time_budget_ns.is_none() {
        plan.blocks_max = plan.blocks_max.min(BLOCKS_MAX_SIMULATED);
    }
    // Narrow intervals do not end it before its rows can have verdicts.
    let least = ExperimentPlan::BLOCKS_MIN;
    let verdict = blocks_for_verdict(plan.rows(), plan.level);
    plan.blocks_min = verdict.min(plan.blocks_max).max(least);
}

/// Reports where the target starts now.
pub fn report_place(context: &Context, stored: &StoredExperiment) {
    let Some(place) = stored.place.as_ref() else {
        return;
    };
    if let Some((start, disk)) = place.start_bytes.zip(place.disk.as_ref()) {
        context.plan(format!("It starts at {} of {disk} now.", ByteSize(start)));
    }
    for text in &place.notes {
        context.observer().on_event(&Event::Remark { text });
    }
}
