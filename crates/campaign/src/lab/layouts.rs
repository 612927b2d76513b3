//! `lab` with several factors: runs the experiment of a plan file over layouts, on simulated
//! arrays or on devices.

use super::devices;
use crate::steps::experiment::start::ExperimentOptions;
use crate::steps::layouts::plan::{prepare, present_of, sector_of, without_allocation_unit};
use crate::steps::layouts::real::devices::MayDestroy;
use crate::steps::layouts::session::{
    LayoutsSession, announce, measure_on_target, simulate_layouts,
};
use crate::steps::layouts::simulated::Arrays;
use crate::steps::layouts::stored_layouts::StoredLayouts;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::layouts::{LeftOut, PASSES_MIN};
use stripewise_lab::plan_file::LayoutsFile;
use stripewise_results::{LayoutLevels, SCHEMA_VERSION};
use stripewise_store::Store;
use stripewise_units::is_sim_target;

/// What a plan would do.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LabForecast {
    /// Version of the document.
    pub schema_version: u32,
    /// As typed.
    pub target: String,
    /// Every layout that would be made.
    pub layouts: Vec<LayoutLevels>,
    /// Combinations that cannot exist, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// The workloads in words.
    pub cells: Vec<String>,
    /// Passes before anything is said.
    pub passes_min: u32,
    /// Passes at most.
    pub passes_max: u32,
    /// Ramps and durations of a pass, nanoseconds; virtual on simulated arrays.
    pub pass_ns: u64,
    /// Time to a verdict: that of `passes_min`, nanoseconds.
    pub verdict_ns: u64,
    /// Bytes that would be written to real disks.
    pub bytes_written: u64,
    /// Devices whose content would be lost.
    pub destroys: Vec<String>,
    /// What must be known beforehand.
    pub notes: Vec<String>,
}

/// Predicts what the plan would do; measures nothing except, on simulated arrays, how long runs
/// must be.
pub(super) fn forecast(
    context: &Context,
    store: &Store,
    file: &LayoutsFile,
) -> Outcome<LabForecast> {
    let (stored, costs) = if !file.devices.is_empty() {
        // Nothing is written here: undetectable users are reported when it is.
        let stored = devices::prepared(context, store, file, true)?;
        let costs = devices::costs(context, &stored)?;
        (stored, costs)
    } else if is_sim_target(&file.target) {
        let stored = prepared(context, store, file)?.0;
        let costs = devices::costs(context, &stored)?;
        (stored, costs)
    } else {
        devices::foreseen(context, store, file)?
    };
    let plan = &stored.plan;
    let pass_ns = plan
        .layout_ns()
        .saturating_add(costs.making_ns)
        .saturating_mul(plan.set.len() as u64);
    let cell = |cell: &stripewise_lab::layouts::LayoutCell| {
        format!("{}: {}", cell.mix.name, cell.mix.what)
    };
    let mut notes = stored.notes.clone();
    notes.extend(costs.notes);
    Ok(LabForecast {
        schema_version: SCHEMA_VERSION,
        target: stored.target.clone(),
        layouts: (0..plan.set.len())
            .map(|layout| plan.set.levels(layout))
            .collect(),
        left_out: plan.set.left_out.clone(),
        cells: plan.cells.iter().map(cell).collect(),
        passes_min: PASSES_MIN,
        passes_max: plan.passes_max,
        pass_ns,
        verdict_ns: pass_ns.saturating_mul(u64::from(PASSES_MIN)),
        bytes_written: costs.bytes_written,
        destroys: costs.destroys,
        notes,
    })
}

/// Carries out the plan.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub(super) fn run(
    context: &Context,
    mut file: LayoutsFile,
    options: &ExperimentOptions,
    permissions: &Permissions,
) -> Outcome<LayoutsSession> {
    change(options, &mut file)?;
    let mut store = context.open_store()?;
    if !file.devices.is_empty() {
        return devices::run(context, &mut store, &file, &MayDestroy::of(permissions));
    }
    if !is_sim_target(&file.target) {
        let on = devices::on_target(context, &mut store, &file, permissions)?;
        announce(context, &on.stored, false);
        return measure_on_target(context, &mut store, on);
    }
    let (stored, arrays) = prepared(context, &store, &file)?;
    announce(context, &stored, true);
    simulate_layouts(context, &mut store, &arrays, stored)
}

/// Applies options that override the plan.
fn change(options: &ExperimentOptions, file: &mut LayoutsFile) -> Outcome<()> {
    if options.engine.is_some() {
        return Err(Failure::usage(
            "--engine applies to plans with one factor only; layouts take the best engine that there is",
            "leave it out",
        ));
    }
    file.margin_percent = options.precision_percent.or(file.margin_percent);
    file.time_ns = options.time_ns.or(file.time_ns);
    file.passes_max = options.blocks.or(file.passes_max);
    file.seed = options.seed.or(file.seed);
    file.label = options.label.clone().or_else(|| file.label.take());
    if let Some(step_ns) = options.step_ns {
        for cell in &mut file.cells {
            cell.workload.duration_ns = step_ns;
            cell.workload.ramp_ns = step_ns / 10;
        }
        file.duration_given = true;
    }
    Ok(())
}

fn prepared(
    context: &Context,
    store: &Store,
    file: &LayoutsFile,
) -> Outcome<(StoredLayouts, Arrays)> {
    let target = &file.target;
    let mut factors = file.factors.clone();
    let removed = without_allocation_unit(context, target, &mut factors)?;
    if let Some((_, note)) = removed.as_ref().filter(|_| factors.is_empty()) {
        return Err(Failure::usage(
            format!("the levels of allocation-unit make no difference here. {note}"),
            "name another factor",
        ));
    }
    // Report a mistyped name before its consequences.
    for factor in &factors {
        crate::steps::layouts::factors::sets(&factor.name)?;
    }
    let present = present_of(context, target, &mut factors)?;
    let varied = LayoutsFile {
        factors,
        ..file.clone()
    };
    let (mut requested, mut notes) = devices::request(&varied, sector_of(context, target)?);
    requested.present = present;
    let (mut stored, arrays) = prepare(context, store, requested)?;
    if let Some((effect, note)) = removed {
        stored.by_arithmetic.push(effect);
        notes.push(note);
    }
    stored.notes = notes;
    Ok((stored, arrays))
}
