//! `align`: does the partition offset matter on this storage? Nothing is repartitioned:
//! the same workload runs at shifted base offsets, block after block in random order.

mod design;
mod levels;

pub use design::{DesignOptions, Operations, Study};

use crate::steps::experiment::fit::FILL_NS;
use crate::steps::experiment::session::{ExperimentSession, new_document};
use crate::steps::experiment::start::{ExperimentOptions, limit, start};
use crate::steps::experiment::stored_experiment::{ExperimentKind, StoredExperiment};
use crate::steps::experiment::target_range::find;
use design::Design;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::host_group::open_with;
use stripewise_conductor::measure::check_before;
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{
    OpenTarget, judge_requirements, reads_instead, void_data, void_in_memory,
};
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{ByteSize, format_duration, is_sim_target, path_of};
use stripewise_workload::Workload;

/// The question and its parameters.
#[derive(Clone, Debug, Default)]
pub struct AlignOptions {
    /// As typed.
    pub target: String,
    /// What to compare.
    pub design: DesignOptions,
    /// Bytes of the target to use; size of the test file in a directory.
    pub size_bytes: Option<u64>,
    /// Measure even if every result will be void.
    pub anyway: bool,
    /// Duration and precision.
    pub measuring: ExperimentOptions,
}

/// Measures until every interval is narrow, or the time is spent.
///
/// # Errors
/// If it cannot begin; nothing was measured then. The session contains later failures.
pub fn align(
    context: &Context,
    store: &mut Store,
    options: &AlignOptions,
    permissions: &Permissions,
) -> Outcome<ExperimentSession> {
    permissions.refuse_idle(&[&options.target])?;
    check(options)?;
    let mut design = Design::of(&options.design);
    refuse_unreadable(context, store, options, &design, permissions)?;
    report_time(context, options, &design);
    let opened = open(context, store, options, &mut design, permissions)?;
    let found = find(
        context,
        &opened,
        &options.target,
        design.block_bytes_max(),
        options.size_bytes,
    );
    let (plan, place) = levels::plan(options, &design, &opened, &found)?;
    if let Some(refusal) = refuse_void(options, &design, &opened) {
        opened.finish()?;
        return Err(refusal);
    }
    let stored = StoredExperiment {
        label: options.measuring.label.clone(),
        size_bytes: options.size_bytes,
        engine: options.measuring.engine.unwrap_or_default().to_string(),
        load_given: design.load_given,
        place: Some(place),
        layout: found.layout,
        ..new_document(context, store, ExperimentKind::Align, &options.target, plan)?
    };
    start(context, store, opened, stored, &options.measuring, false)
}

/// Reports values out of range before a test file is filled or a store made.
///
/// # Errors
/// For the first such option.
pub fn check(options: &AlignOptions) -> Outcome<()> {
    if options.measuring.engine == Some(EngineName::Null) {
        return Err(Failure::usage(
            "--engine null measures no storage, so offsets have no effect",
            "leave it out, or name uring or threads",
        ));
    }
    let design = Design::of(&options.design);
    for cell in design.cells(options.measuring.ramp_and_step_ns()) {
        check_before(&cell.workload, options.size_bytes)?;
    }
    Ok(())
}

/// Refuses a target that does not exist or cannot be read, before anything is printed. Whether
/// other work is on it takes seconds, and is judged where it is opened.
fn refuse_unreadable(
    context: &Context,
    store: &Store,
    options: &AlignOptions,
    design: &Design,
    permissions: &Permissions,
) -> Outcome<()> {
    let permissions = Permissions {
        busy_ok: true,
        ..permissions.clone()
    };
    let needs = requirements(options, design).reading();
    judge_requirements(context, store, &options.target, &needs, &permissions)
}

/// Prints the maximum duration before a test file is filled. There may be fewer rows if
/// writing is not allowed; then it takes less.
fn report_time(context: &Context, options: &AlignOptions, design: &Design) {
    if is_sim_target(&options.target) {
        return;
    }
    let names = design.offsets(None);
    let levels = names
        .iter()
        .map(|offset| Level::offset(ByteSize(*offset).to_string(), 0));
    let times = options.measuring.ramp_and_step_ns();
    let mut plan = ExperimentPlan::new("partition offset", levels.collect(), design.cells(times));
    limit(&mut plan, &options.measuring, false);
    context.plan(format!(
        "Time: at most {} of measuring, in blocks of {} runs of {} each.",
        format_duration(plan.time_budget_ns.unwrap_or(0)),
        plan.runs_per_block(),
        format_duration(times.1)
    ));
}

/// Refuses an experiment in which every run would be void: it takes minutes.
/// Holes and zeros affect reads only.
fn refuse_void(options: &AlignOptions, design: &Design, opened: &OpenTarget) -> Option<Failure> {
    if options.anyway {
        return None;
    }
    let in_memory = (opened.real()).and_then(|_| void_in_memory(&path_of(&options.target)));
    let void = in_memory.or_else(|| void_data(opened).filter(|_| !design.writes))?;
    Some(Failure::target(
        format!(
            "{}: every run here would be void: {}",
            options.target, void.message
        ),
        format!("{}; or add --anyway", void.hint),
    ))
}

/// Opens the target. If it may not be written, it is only read, unless writes were
/// requested; and that is reported.
fn open(
    context: &Context,
    store: &mut Store,
    options: &AlignOptions,
    design: &mut Design,
    permissions: &Permissions,
) -> Outcome<OpenTarget> {
    let required = requirements(options, design);
    let is_permitted = matches!(
        options.design.operations,
        Operations::Writes | Operations::Both
    );
    let group = options.measuring.group.as_ref();
    let mut open = |required: &Needs| {
        open_with(
            context,
            store,
            &options.target,
            required,
            permissions,
            group,
        )
    };
    let refusal = match open(&required) {
        Err(failure) if design.writes && !is_permitted => failure,
        other => return other,
    };
    reads_instead(context, permissions, refusal)?;
    design.writes = false;
    open(&required.reading())
}

fn requirements(options: &AlignOptions, design: &Design) -> Needs {
    Needs {
        reads: design.reads,
        writes: design.writes,
        size: options.size_bytes.map_or(Size::Auto, Size::Exactly),
        outstanding_total: design.outstanding_total(),
        outstanding_by_number: design.load_given,
        engine: options.measuring.engine.unwrap_or_default(),
        seed: options.measuring.seed.unwrap_or(Workload::SEED),
        fill_time_limit_ns: options.size_bytes.is_none().then_some(FILL_NS),
        ..Needs::of_loads([])
    }
}
