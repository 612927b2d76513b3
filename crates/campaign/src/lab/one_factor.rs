//! `lab` with one factor: levels in randomised blocks, on any target.

use crate::steps::experiment::fit::{block_bytes_max, check_fit, requirements};
use crate::steps::experiment::session::{ExperimentSession, new_document};
use crate::steps::experiment::start::{ExperimentOptions, start};
use crate::steps::experiment::stored_experiment::{ExperimentKind, LevelPlaces, StoredExperiment};
use crate::steps::experiment::target_range::find;
use serde::Serialize;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::host_group::open_with;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::OpenTarget;
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, Level, needs};
use stripewise_lab::offsets::shift;
use stripewise_lab::plan_file::{LabPlan, OFFSET_FACTOR};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::ByteSize;

/// What a plan with one factor would do.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct OneFactorForecast {
    /// Version of the document.
    pub schema_version: u32,
    /// As typed.
    pub target: String,
    /// What varies.
    pub factor: String,
    /// Names of its levels.
    pub levels: Vec<String>,
    /// Names of the workloads.
    pub cells: Vec<String>,
    /// Nanoseconds until a verdict is possible.
    pub verdict_ns: u64,
    /// The same in words.
    pub sentences: Vec<String>,
}

pub(super) fn forecast(file: &LabPlan) -> Outcome<OneFactorForecast> {
    let plan = plan_of(&ExperimentOptions::default(), file)?;
    let needs = needs(&plan, 0);
    Ok(OneFactorForecast {
        schema_version: SCHEMA_VERSION,
        target: file.target.clone(),
        factor: plan.factor.clone(),
        levels: plan.levels.iter().map(|level| level.name.clone()).collect(),
        cells: plan.cells.iter().map(|cell| cell.name.clone()).collect(),
        verdict_ns: needs.verdict_ns,
        sentences: needs.sentences,
    })
}

pub(super) fn run(
    context: &Context,
    file: &LabPlan,
    options: &ExperimentOptions,
    permissions: &Permissions,
) -> Outcome<ExperimentSession> {
    let mut plan = plan_of(options, file)?;
    let engine = options.engine.map(|engine| engine.to_string());
    let engine = engine
        .or_else(|| file.engine.clone())
        .unwrap_or_else(|| "auto".to_owned());
    let name: EngineName = engine.parse().map_err(|error: String| {
        Failure::usage(error, "engine is auto, uring, nvme, iocp or threads")
    })?;
    let mut store = context.open_store()?;
    let required = requirements(&plan, file.load_given, name);
    let group = options.group.as_ref();
    let opened = open_with(
        context,
        &mut store,
        &file.target,
        &required,
        permissions,
        group,
    )?;
    let offsets = file.factor == OFFSET_FACTOR;
    let size_bytes = size_bytes(&plan).filter(|_| offsets);
    let place = match offsets {
        true => Some(place(context, &opened, file, &mut plan, size_bytes)?),
        false => None,
    };
    check_fit(&plan, &opened)?;
    let stored = StoredExperiment {
        label: options.label.clone().or_else(|| file.label.clone()),
        engine,
        load_given: file.load_given,
        size_bytes,
        layout: find(context, &opened, &file.target, block_bytes_max(&plan), None).layout,
        place,
        ..new_document(context, &store, ExperimentKind::Lab, &file.target, plan)?
    };
    start(
        context,
        &mut store,
        opened,
        stored,
        options,
        file.duration_given,
    )
}

/// The plan of the file, with overriding options. Positions of offsets are determined
/// when the target is open; names are needed before.
fn plan_of(options: &ExperimentOptions, file: &LabPlan) -> Outcome<ExperimentPlan> {
    let factor = match file.factor.as_str() {
        OFFSET_FACTOR => "partition offset",
        other => other,
    };
    let mut plan = ExperimentPlan::new(factor, file.levels.clone(), file.cells.clone());
    plan.name = file
        .name
        .clone()
        .unwrap_or_else(|| format!("{factor} on {}", file.target));
    plan.baseline = file.baseline;
    plan.primary = file.primary;
    plan.metric = file.metric;
    plan.precision_percent = file.precision_percent.unwrap_or(plan.precision_percent);
    plan.time_budget_ns = file.time_ns;
    plan.blocks_max = file.blocks_max.unwrap_or(plan.blocks_max);
    plan.seed = options.seed.or(file.seed).unwrap_or(plan.seed);
    for cell in &mut plan.cells {
        if options.step_ns.is_some() || !file.duration_given {
            let (ramp_ns, step_ns) = options.ramp_and_step_ns();
            cell.workload.duration_ns = step_ns;
            cell.workload.ramp_ns = ramp_ns;
        }
    }
    if file.factor == OFFSET_FACTOR {
        plan.levels = named(&file.offsets_bytes);
    }
    plan.check()?;
    Ok(plan)
}

fn named(offsets_bytes: &[u64]) -> Vec<Level> {
    let names = offsets_bytes
        .iter()
        .map(|offset| ByteSize(*offset).to_string());
    names.map(|name| Level::offset(name, 0)).collect()
}

/// The largest part of the target that a cell requires.
fn size_bytes(plan: &ExperimentPlan) -> Option<u64> {
    let sizes = plan
        .cells
        .iter()
        .filter_map(|cell| cell.workload.size_bytes);
    sizes.max()
}

/// Places the levels of the factor `offset` on this target.
fn place(
    context: &Context,
    opened: &OpenTarget,
    file: &LabPlan,
    plan: &mut ExperimentPlan,
    size_bytes: Option<u64>,
) -> Outcome<LevelPlaces> {
    let found = find(
        context,
        opened,
        &file.target,
        block_bytes_max(plan),
        size_bytes,
    );
    let shifted = shift(&found.usable, &file.offsets_bytes)?;
    for (level, base) in plan.levels.iter_mut().zip(&shifted.base_offsets_bytes) {
        level.base_offset_bytes = Some(*base);
        level.size_bytes = Some(shifted.size_bytes);
    }
    Ok(LevelPlaces {
        offsets_bytes: file.offsets_bytes.clone(),
        moved_bytes: shifted.moved_bytes,
        ..found.place
    })
}
