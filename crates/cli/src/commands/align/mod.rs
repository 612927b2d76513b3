//! `align`: does the partition offset matter on this storage?

mod design;

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::experiment::conclude;
use crate::show::page::{refuse_existing, write_report_on};
use crate::show::terminal::say;
use crate::switches::align::Align;
use design::{Design, primary};
use stripewise_campaign::experiment::ground::{Found, find};
use stripewise_campaign::experiment::kept::{ExperimentKind, Kept, Place};
use stripewise_campaign::experiment::sitting::new_document;
use stripewise_campaign::experiment::start::{limit, start};
use stripewise_campaign::steps::measure::check_before;
use stripewise_campaign::steps::targets::{
    OpenTarget, TargetRequirements, lacks_permission_to_write, open_target, void_data,
    void_in_memory,
};
use stripewise_io_engine::EngineName;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_lab::offsets::{OFFSET_36K, OFFSET_63_SECTORS, shift};
use stripewise_store::Store;
use stripewise_targets::Size;
use stripewise_units::{ByteSize, Nanoseconds, format_duration, path_of};
use stripewise_workload::{CacheMode, DataPattern, Workload, validate};

const SECOND_NS: u64 = 1_000_000_000;
/// Filling a test file takes at most this, unless its size is asked for.
const FILL_NS: u64 = 25 * SECOND_NS;

pub fn align(context: &Context, arguments: &Align) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let mut design = Design::of(&arguments.what);
    refuse_null(arguments)?;
    check_loads(arguments, &design)?;
    say_time(context, arguments, &design);
    let mut store = context.open_store()?;
    let aimed = aim_align(context, &mut store, arguments, &mut design)?;
    let size_bytes = arguments.what.size.map(ByteSize::bytes);
    let found = find(
        &aimed,
        &arguments.target,
        design.block_bytes_max(),
        size_bytes,
    );
    let (plan, place) = plan(arguments, &design, &aimed, &found)?;
    if let Some(refusal) = refuse_void(arguments, &design, &aimed) {
        aimed.finish()?;
        return Err(refusal);
    }
    let kept = Kept {
        label: arguments.how.label.clone(),
        size_bytes,
        engine: arguments.how.engine.unwrap_or_default().to_string(),
        load_given: design.load_given,
        place: Some(place),
        layout: found.layout,
        ..new_document(
            context,
            &store,
            ExperimentKind::Align,
            &arguments.target,
            plan,
        )?
    };
    let id = kept.id.clone();
    let limits = arguments.how.limits();
    let sitting = start(context, &mut store, aimed, kept, &limits, false)?;
    let exit = conclude(context, sitting)?;
    if let Some(path) = &arguments.report {
        write_report_on(context, &store, &id, path)?;
    }
    Ok(exit)
}

/// How long it may take, before a test file is filled. Rows may be fewer where
/// nothing may be written; then it takes less.
fn say_time(context: &Context, arguments: &Align, design: &Design) {
    if context.global.quiet || arguments.target.starts_with("sim:") {
        return;
    }
    let names = design.offsets(None);
    let levels = names
        .iter()
        .map(|offset| Level::offset(ByteSize(*offset).to_string(), 0));
    let duration_ns = arguments.how.step.map_or(SECOND_NS, Nanoseconds::ns);
    let cells = design.cells((duration_ns / 10).min(SECOND_NS), duration_ns);
    let mut plan = ExperimentPlan::new("partition offset", levels.collect(), cells);
    limit(&mut plan, &arguments.how.limits(), false);
    say!(
        "Time: at most {} of measuring, in blocks of {} runs of {} each.",
        format_duration(plan.time_budget_ns.unwrap_or(0)),
        plan.runs_per_block(),
        format_duration(duration_ns)
    );
}

/// Switches out of range are reported before a test file is filled.
fn check_loads(arguments: &Align, design: &Design) -> Outcome<()> {
    let duration_ns = arguments.how.step.map_or(SECOND_NS, Nanoseconds::ns);
    let size_bytes = arguments.what.size.map(ByteSize::bytes);
    for cell in design.cells((duration_ns / 10).min(SECOND_NS), duration_ns) {
        check_before(&cell.workload, size_bytes)?;
    }
    Ok(())
}

/// An experiment every run of which would be void is not begun: it takes minutes.
/// Holes and zeros answer reads only.
fn refuse_void(arguments: &Align, design: &Design, aimed: &OpenTarget) -> Option<Failure> {
    if arguments.what.anyway {
        return None;
    }
    let in_memory = (aimed.real()).and_then(|_| void_in_memory(&path_of(&arguments.target)));
    let void = in_memory.or_else(|| void_data(aimed).filter(|_| !design.writes))?;
    Some(Failure::new(
        Exit::Target,
        format!(
            "{}: every run here would be void: {}",
            arguments.target, void.message
        ),
        format!("{}; or add --anyway", void.hint),
    ))
}

fn refuse_null(arguments: &Align) -> Outcome<()> {
    if arguments.how.engine != Some(EngineName::Null) {
        return Ok(());
    }
    Err(Failure::usage(
        "--engine null measures no storage, and offsets mean nothing to it",
        "leave it out, or name uring or threads",
    ))
}

/// Opens the target. What may not be written is only read, unless writes were
/// asked for; and that is said.
fn aim_align(
    context: &Context,
    store: &mut Store,
    arguments: &Align,
    design: &mut Design,
) -> Outcome<OpenTarget> {
    let need = need(arguments, design);
    let permissions = arguments.safety.permissions();
    let asked = arguments.what.write
        || arguments.what.both
        || arguments.safety.overwrite
        || arguments.safety.destroy.is_some();
    let refusal = match open_target(context, store, &arguments.target, &need, &permissions) {
        Err(failure) if design.writes && !asked && lacks_permission_to_write(&failure) => failure,
        other => return other,
    };
    let text = format!("only reads are measured: {}", refusal.error);
    context.note_failure(&text, &refusal);
    design.writes = false;
    let need = TargetRequirements {
        writes: false,
        ..need
    };
    open_target(context, store, &arguments.target, &need, &permissions)
}

fn need(arguments: &Align, design: &Design) -> TargetRequirements {
    let size = arguments.what.size;
    TargetRequirements {
        reads: design.reads,
        writes: design.writes,
        size: size.map_or(Size::Auto, |size| Size::Exactly(size.bytes())),
        outstanding_total: design.outstanding_total(),
        outstanding_by_number: design.load_given,
        cache: CacheMode::Direct,
        cache_by_name: false,
        data: DataPattern::default(),
        seed: arguments.how.seed.unwrap_or(Workload::SEED),
        fill_time_limit_ns: size.is_none().then_some(FILL_NS),
    }
}

/// The plan, and where its levels lie.
fn plan(
    arguments: &Align,
    design: &Design,
    aimed: &OpenTarget,
    found: &Found,
) -> Outcome<(ExperimentPlan, Place)> {
    let mut place = found.place.clone();
    let offsets = offsets(design, found, &mut place);
    let shifted = shift(&found.ground, &offsets).map_err(|problem| {
        let hint = problem.hint().to_owned();
        Failure::usage(problem.to_string(), hint)
    })?;
    warn_of_partial_pages(
        design,
        found,
        &offsets,
        &shifted.base_offsets_bytes,
        &mut place,
    );
    let levels: Vec<Level> = offsets
        .iter()
        .zip(&shifted.base_offsets_bytes)
        .map(|(offset, base)| Level {
            size_bytes: Some(shifted.size_bytes),
            ..Level::offset(ByteSize(*offset).to_string(), *base)
        })
        .collect();
    let duration_ns = arguments.how.step.map_or(SECOND_NS, Nanoseconds::ns);
    let cells = design.cells((duration_ns / 10).min(SECOND_NS), duration_ns);
    for level in &levels {
        for cell in &cells {
            let workload = level.apply(&cell.workload, 0);
            validate(&workload, aimed.limits())
                .map_err(stripewise_campaign::steps::measure::workload_failure)?;
        }
    }
    let mut plan = ExperimentPlan::new("partition offset", levels, cells);
    plan.name = format!("partition offset on {}", arguments.target);
    plan.primary = primary(&plan.cells);
    plan.seed = arguments.how.seed.unwrap_or(plan.seed);
    place.offsets_bytes = offsets;
    place.moved_bytes = shifted.moved_bytes;
    Ok((plan, place))
}

/// The levels. Writes into a file stay on the file system's blocks where nobody
/// named other offsets: 36K stands for 63 sectors then.
fn offsets(design: &Design, found: &Found, place: &mut Place) -> Vec<u64> {
    let offsets = design.offsets(place.start_bytes);
    let unasked = design.offsets_bytes.is_none() && offsets[0] == OFFSET_63_SECTORS;
    let page = found.page_bytes.unwrap_or(1).max(1);
    let stands_on_pages = found.ground.start_bytes.is_multiple_of(page);
    if !(unasked && design.writes && page > 512 && stands_on_pages) || offsets.contains(&OFFSET_36K)
    {
        return offsets;
    }
    place.notes.push(format!(
        "36K stands for 63 sectors: it crosses stripe units alike, and writes stay on the {} blocks of the file system. --read or a device shows 63 sectors themselves.",
        ByteSize(page)
    ));
    offsets
        .into_iter()
        .map(|offset| {
            if offset == OFFSET_63_SECTORS {
                OFFSET_36K
            } else {
                offset
            }
        })
        .collect()
}

/// A write of part of a block is the file system's business before it is the
/// disk's.
fn warn_of_partial_pages(
    design: &Design,
    found: &Found,
    offsets: &[u64],
    bases: &[u64],
    place: &mut Place,
) {
    let Some(page) = found.page_bytes.filter(|page| design.writes && *page > 512) else {
        return;
    };
    let partial: Vec<String> = offsets
        .iter()
        .zip(bases)
        .filter(|(_, base)| !base.is_multiple_of(page))
        .map(|(offset, _)| ByteSize(*offset).to_string())
        .collect();
    if partial.is_empty() {
        return;
    }
    let warning = format!(
        "Writes at {} begin inside the {} blocks of the file system, which handles such writes one after the other: these rows are the file system's numbers, not the disk's.",
        partial.join(", "),
        ByteSize(page)
    );
    place.notes.push(warning);
}
