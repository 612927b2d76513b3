//! `lab run`: the experiment of a plan file.

use super::layouts;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::show::experiment::conclude;
use crate::switches::align::ExperimentArguments;
use crate::switches::lab::LabRun;
use std::path::Path;
use stripewise_campaign::experiment::ground::find;
use stripewise_campaign::experiment::kept::{ExperimentKind, Kept, Place};
use stripewise_campaign::experiment::sitting::new_document;
use stripewise_campaign::experiment::start::{plan_failure, start};
use stripewise_campaign::steps::input::{PLAN_BYTES_MAX, read_text};
use stripewise_campaign::steps::measure::workload_failure;
use stripewise_campaign::steps::targets::{OpenTarget, TargetRequirements, open_target};
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_lab::offsets::shift;
use stripewise_lab::plan_file::{LabFile, LabPlan, OFFSET_FACTOR};
use stripewise_targets::Size;
use stripewise_units::{ByteSize, NameText, Nanoseconds};
use stripewise_workload::{Workload, validate};

const SECOND_NS: u64 = 1_000_000_000;

pub fn run(context: &Context, arguments: &LabRun) -> Outcome {
    let file = match read(context, &arguments.plan)? {
        LabFile::Several(file) => return layouts::run(context, arguments, *file),
        LabFile::One(file) => *file,
    };
    if arguments.report.is_some() {
        return Err(Failure::usage(
            "--report belongs to plans with several factors",
            "`stripewise report ID -o FILE.html` writes a page on this experiment",
        ));
    }
    let mut plan = plan_of(&arguments.how, &file);
    if file.factor == OFFSET_FACTOR {
        // Their places are found when the target is open; names are needed now.
        plan.levels = named(&file.offsets_bytes);
    }
    plan.check().map_err(plan_failure)?;
    let engine = arguments.how.engine.map(|engine| engine.to_string());
    let engine = engine
        .or_else(|| file.engine.clone())
        .unwrap_or_else(|| "auto".to_owned());
    if let Err(error) = engine.parse::<stripewise_io_engine::EngineName>() {
        return Err(Failure::usage(
            error,
            "engine is auto, uring, iocp or threads",
        ));
    }
    let mut store = context.open_store()?;
    let need = need(&plan, file.load_given);
    let aimed = open_target(
        context,
        &mut store,
        &file.target,
        &need,
        &arguments.safety.permissions(),
    )?;
    let offsets = file.factor == OFFSET_FACTOR;
    let size_bytes = size_bytes(&plan).filter(|_| offsets);
    let place = match offsets {
        true => Some(place(&aimed, &file, &mut plan, size_bytes)?),
        false => None,
    };
    check_fit(&plan, &aimed)?;
    let kept = Kept {
        label: arguments.how.label.clone().or_else(|| file.label.clone()),
        engine,
        load_given: file.load_given,
        size_bytes,
        layout: find(&aimed, &file.target, block_bytes_max(&plan), None).layout,
        place,
        ..new_document(context, &store, ExperimentKind::Lab, &file.target, plan)?
    };
    let duration_given = file.duration_given;
    let limits = arguments.how.limits();
    let sitting = start(context, &mut store, aimed, kept, &limits, duration_given)?;
    conclude(context, sitting)
}

pub(super) fn read(context: &Context, path: &Path) -> Outcome<LabFile> {
    let hint = "`stripewise lab init FILE.toml` writes one to start from";
    let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
    text.parse()
        .map_err(|error: stripewise_workload::PlanError| {
            Failure::usage(format!("{}: {error}", path.as_text()), error.hint())
        })
}

/// The plan of the file, with what the command line says instead.
pub(super) fn plan_of(how: &ExperimentArguments, file: &LabPlan) -> ExperimentPlan {
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
    plan.seed = how.seed.or(file.seed).unwrap_or(plan.seed);
    for cell in &mut plan.cells {
        let step = how.step.map(Nanoseconds::ns);
        if let Some(step_ns) = step.or((!file.duration_given).then_some(SECOND_NS)) {
            cell.workload.duration_ns = step_ns;
            cell.workload.ramp_ns = (step_ns / 10).min(SECOND_NS);
        }
    }
    plan
}

pub(super) fn named(offsets_bytes: &[u64]) -> Vec<Level> {
    let names = offsets_bytes
        .iter()
        .map(|offset| ByteSize(*offset).to_string());
    names.map(|name| Level::offset(name, 0)).collect()
}

/// The largest part of the target that a cell asks for.
fn size_bytes(plan: &ExperimentPlan) -> Option<u64> {
    let sizes = plan
        .cells
        .iter()
        .filter_map(|cell| cell.workload.size_bytes);
    sizes.max()
}

/// All workloads of a plan.
fn workloads(plan: &ExperimentPlan) -> impl Iterator<Item = Workload> + '_ {
    let of_level = |level: &'_ Level| -> Vec<Workload> {
        let cells = plan.cells.iter();
        cells
            .map(|cell| level.apply(&cell.workload, plan.seed))
            .collect()
    };
    plan.levels.iter().flat_map(of_level)
}

fn block_bytes_max(plan: &ExperimentPlan) -> u64 {
    let blocks = workloads(plan).map(|workload| workload.block_size_bytes);
    blocks.max().unwrap_or(8 << 10)
}

/// What all workloads together ask of the target.
pub fn need(plan: &ExperimentPlan, load_given: bool) -> TargetRequirements {
    let first = workloads(plan).next().unwrap_or_default();
    let span = workloads(plan)
        .filter_map(|workload| {
            let size = workload.size_bytes?;
            Some(size.saturating_add(workload.base_offset_bytes))
        })
        .max();
    TargetRequirements {
        reads: workloads(plan).any(|workload| workload.read_percent > 0),
        writes: workloads(plan).any(|workload| workload.read_percent < 100),
        size: span.map_or(Size::Auto, Size::Exactly),
        outstanding_total: workloads(plan)
            .map(|workload| workload.threads.saturating_mul(workload.outstanding))
            .max()
            .unwrap_or(1),
        outstanding_by_number: load_given,
        cache: first.cache,
        cache_by_name: workloads(plan).any(|workload| workload.cache != Workload::default().cache),
        data: first.data,
        seed: plan.seed,
        fill_time_limit_ns: span.is_none().then_some(25 * SECOND_NS),
    }
}

/// Puts the levels of the factor `offset` where they belong on this target.
fn place(
    aimed: &OpenTarget,
    file: &LabPlan,
    plan: &mut ExperimentPlan,
    size_bytes: Option<u64>,
) -> Outcome<Place> {
    let found = find(aimed, &file.target, block_bytes_max(plan), size_bytes);
    let shifted = shift(&found.ground, &file.offsets_bytes).map_err(|problem| {
        let hint = problem.hint().to_owned();
        Failure::usage(problem.to_string(), hint)
    })?;
    for (level, base) in plan.levels.iter_mut().zip(&shifted.base_offsets_bytes) {
        level.base_offset_bytes = Some(*base);
        level.size_bytes = Some(shifted.size_bytes);
    }
    Ok(Place {
        offsets_bytes: file.offsets_bytes.clone(),
        moved_bytes: shifted.moved_bytes,
        ..found.place
    })
}

/// Every workload fits the target, before the first one runs.
pub fn check_fit(plan: &ExperimentPlan, aimed: &OpenTarget) -> Outcome<()> {
    for workload in workloads(plan) {
        validate(&workload, aimed.limits()).map_err(workload_failure)?;
    }
    Ok(())
}
