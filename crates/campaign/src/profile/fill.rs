//! `profile --fill`: writes a target full, and reports where the rate changes.

use super::sensor::Sensor;
use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::measured;
use crate::steps::medium::{exit_with, say_all, written_to_a_medium};
use crate::steps::probe_device::{ProbeDevice, ProbeOptions, ProgressDevice, why};
use crate::steps::surface::{FillDocument, RestFound};
use std::cell::Cell;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, intent, judge, open_target, prepare_hearing};
use stripewise_disk_inspect::System;
use stripewise_results::TargetFacts;
use stripewise_store::Store;
use stripewise_surface::fill::{
    Back, Curve, FillPlan, Step, Written, analyse, came_back, write, write_after_rest,
};
use stripewise_surface::{Device, StopReason};
use stripewise_targets::{Size, TargetName};
use stripewise_units::{format_bytes, format_duration};

/// Version of [`FillDocument`].
const SCHEMA_VERSION: u32 = 1;

/// Minimum size that can show a change of the rate.
const SIZE_BYTES_MIN: u64 = 64 << 20;

const PIECE_BYTES: u32 = 512 << 10;
const OUTSTANDING: u32 = 32;

/// Parameters of the fill.
#[derive(Clone, Debug)]
pub struct FillOptions {
    /// The target, as typed.
    pub target: String,
    /// Bytes to write; `None`: the whole device, the existing file, or the default
    /// size of a test file.
    pub size_bytes: Option<u64>,
    /// Length of a rest after the fill, followed by another write.
    pub rest_ns: Option<u64>,
    /// Time limit for writing.
    pub time_ns_max: Option<u64>,
    /// Seed of the data.
    pub seed: u64,
}

/// Fills a target. In a directory, it makes a file and removes it at the end; existing files and
/// devices require permission to overwrite or destroy. The document is stored.
///
/// # Errors
/// If the target cannot be written, or permission is missing.
pub fn fill(
    context: &Context,
    options: &FillOptions,
    permissions: &Permissions,
) -> Outcome<(FillDocument, Exit)> {
    permissions.refuse_idle(&[&options.target])?;
    let mut store = context.open_store()?;
    let measured_at = context.timestamp();
    if options
        .size_bytes
        .is_some_and(|bytes| bytes < SIZE_BYTES_MIN)
    {
        return Err(too_small(&options.target, options.size_bytes.unwrap_or(0)));
    }
    let mut warnings = written_to_a_medium(context, &options.target)?;
    let watch = match options.target.parse() {
        Ok(TargetName::Path(path)) => Some(LimitWatch::start(&path, TargetFacts::unknown())),
        _ => None,
    };
    let begun = begin(context, &mut store, options, permissions)?;
    let filled = match begun {
        FillStart::Open(target) => fill_open(context, options, *target)?,
        FillStart::Ended(filled) => *filled,
    };
    if let Some(watch) = watch {
        let limits = watch.finish(&fastest(&filled.first));
        say_all(context, &limits);
        warnings.extend(limits);
    }
    let exit = exit_with(exit_of(context, &filled), &warnings);
    let id = context.new_id(&measured_at);
    let document = FillDocument {
        warnings,
        ..document(context, options, (id, measured_at), filled)
    };
    store_or_report(context, &mut store, measured::FILL, &document.id, &document);
    Ok((document, exit))
}

/// The result of a fill.
struct Filled {
    target: TargetFacts,
    planned_bytes: u64,
    first: Written,
    curve: Curve,
    rest: Option<RestFound>,
    stop_reason: Option<StopReason>,
}

/// The rate of the fastest step.
fn fastest(written: &Written) -> FastestRates {
    let rates = written.steps.iter().map(Step::bytes_per_s);
    let written_bytes_per_s = rates.fold(0.0, f64::max);
    FastestRates {
        written_bytes_per_s,
        writes_per_s: written_bytes_per_s / f64::from(PIECE_BYTES),
        ..FastestRates::default()
    }
}

/// An open target, perhaps already written, or the results from before an
/// interruption.
enum FillStart {
    Open(Box<(OpenTarget, Option<Written>)>),
    Ended(Box<Filled>),
}

/// Opens the target. A new file is written in full while it is made: that is its fill.
fn begin(
    context: &Context,
    store: &mut Store,
    options: &FillOptions,
    permissions: &Permissions,
) -> Outcome<FillStart> {
    let need = requirements(options);
    let name: TargetName = options.target.parse()?;
    if !matches!(name, TargetName::Path(_)) {
        let target = open_target(context, store, &options.target, &need, permissions)?;
        return Ok(FillStart::Open(Box::new((target, None))));
    }
    let intent = intent(&need, permissions);
    let plan = judge(context, store, &name, &intent)?;
    let planned_bytes = plan.fill.as_ref().map(|fill| fill.bytes);
    if let Some(bytes) = planned_bytes
        && bytes < SIZE_BYTES_MIN
    {
        return Err(too_small(&options.target, bytes));
    }
    let mut marks: Vec<Mark> = Vec::new();
    let mut sensor = Sensor::of_path(System::live(), &options.target);
    let prepared = prepare_hearing(context, store, &name, &intent, &mut |now_ns, bytes| {
        marks.push(Mark {
            now_ns,
            bytes,
            temperature: sensor.read(context.now_ns()),
        });
    });
    let target = match prepared {
        Ok(target) => target,
        Err(failure) => {
            let written = between(&marks);
            return match context.signal() {
                Some(_) if !written.steps.is_empty() => {
                    let filled = interrupted(options, planned_bytes.unwrap_or(0), written);
                    Ok(FillStart::Ended(Box::new(filled)))
                }
                _ => Err(failure),
            };
        }
    };
    let report = target
        .real()
        .and_then(stripewise_targets::Target::fill_report);
    let through_cache = report.is_some_and(|report| !report.direct)
        || target
            .real()
            .is_some_and(|real| real.direct_refused().is_some());
    if through_cache {
        return Err(Failure::target(
            format!(
                "{} can only be written through the page cache, whose rate this would be",
                options.target
            ),
            "name a directory of a file system that takes O_DIRECT, or a device with --destroy NAME",
        ));
    }
    let written = report.is_some().then(|| between(&marks));
    Ok(FillStart::Open(Box::new((target, written))))
}

fn requirements(options: &FillOptions) -> Needs {
    Needs {
        reads: false,
        writes: true,
        size: options.size_bytes.map_or(Size::Auto, Size::Exactly),
        outstanding_total: OUTSTANDING,
        cache_by_name: true,
        seed: options.seed,
        fill_time_limit_ns: options.time_ns_max,
        ..Needs::of_loads([])
    }
}

/// The interruption removed the file; its results remain.
fn interrupted(options: &FillOptions, planned_bytes: u64, first: Written) -> Filled {
    Filled {
        target: TargetFacts {
            name: options.target.clone(),
            size_bytes: planned_bytes,
            ..TargetFacts::unknown()
        },
        planned_bytes,
        curve: analyse(&first.steps, options.seed),
        first,
        rest: None,
        stop_reason: Some(StopReason::Interrupted),
    }
}

/// Progress of writing a new file.
struct Mark {
    now_ns: u64,
    bytes: u64,
    temperature: Option<i64>,
}

fn between(marks: &[Mark]) -> Written {
    let mut steps = Vec::new();
    let mut before: Option<&Mark> = None;
    for mark in marks {
        if let Some(first) = before {
            if mark.bytes <= first.bytes {
                continue;
            }
            steps.push(Step {
                from_bytes: first.bytes,
                length_bytes: mark.bytes - first.bytes,
                duration_ns: mark.now_ns - first.now_ns,
                temperature_millicelsius: mark.temperature,
            });
        }
        before = Some(mark);
    }
    Written {
        steps,
        ..Written::default()
    }
}

fn too_small(name: &str, bytes: u64) -> Failure {
    Failure::target(
        format!(
            "{name}: {} to be written; a fill needs {} at least",
            format_bytes(bytes),
            format_bytes(SIZE_BYTES_MIN)
        ),
        "give a larger --size, or name a larger target",
    )
}

fn fill_open(
    context: &Context,
    options: &FillOptions,
    (target, written): (OpenTarget, Option<Written>),
) -> Outcome<Filled> {
    let facts = target.place(0).facts().clone();
    let asking = ProbeOptions {
        length_bytes_max: PIECE_BYTES,
        writes: true,
        seed: options.seed,
    };
    let mut probed_device = ProbeDevice::open(context, &target, &asking)?;
    let size_bytes = probed_device.size_bytes();
    let planned_bytes = match &written {
        Some(written) => written.bytes(),
        None => options
            .size_bytes
            .map_or(size_bytes, |bytes| bytes.min(size_bytes)),
    };
    if planned_bytes < SIZE_BYTES_MIN {
        return Err(too_small(&options.target, planned_bytes));
    }
    let plan = FillPlan {
        bytes: planned_bytes,
        time_ns_max: options.time_ns_max.unwrap_or(u64::MAX),
    };
    let device = facts.device.as_ref().map(|device| device.name.clone());
    let mut sensor = Sensor::new(
        System::live(),
        device.filter(|_| !probed_device.is_simulated()),
    );
    let first = match written {
        Some(written) => written,
        None => {
            context.status(format_args!(
                "Writing {} to {} from byte 0 on",
                format_bytes(planned_bytes),
                options.target
            ));
            with_progress(
                context,
                &mut probed_device,
                planned_bytes,
                "Writing",
                |device| write(device, &plan, &mut || sensor.read(context.now_ns())),
            )
        }
    };
    let curve = analyse(&first.steps, options.seed);
    let mut stop_reason = first.stop_reason.clone();
    let rest = match (options.rest_ns, &stop_reason) {
        (Some(rest_ns), None) => {
            let (rest, ended) = rest_and_write(
                context,
                &mut probed_device,
                options,
                (&plan, rest_ns),
                (&curve, &mut sensor),
            );
            stop_reason = ended;
            Some(rest)
        }
        _ => None,
    };
    drop(probed_device);
    target.finish_or_report(context);
    Ok(Filled {
        target: facts,
        planned_bytes,
        first,
        curve,
        rest,
        stop_reason,
    })
}

fn rest_and_write(
    context: &Context,
    probed_device: &mut ProbeDevice<'_>,
    options: &FillOptions,
    (plan, rest_ns): (&FillPlan, u64),
    (curve, sensor): (&Curve, &mut Sensor),
) -> (RestFound, Option<StopReason>) {
    let nothing = RestFound {
        rest_ns,
        back: None,
        steps: Vec::new(),
    };
    let Some(fast) = curve.fast_part() else {
        context.note("no fast part ended, so there is nothing that a rest could restore");
        return (nothing, None);
    };
    context.status(format_args!(
        "Resting for {}, then writing again",
        format_duration(rest_ns)
    ));
    let plan = FillPlan {
        time_ns_max: plan.time_ns_max.saturating_add(rest_ns),
        ..*plan
    };
    let again = with_progress(
        context,
        probed_device,
        fast.end.at_bytes,
        "Writing again",
        |device| {
            write_after_rest(device, &plan, rest_ns, curve, &mut || {
                sensor.read(context.now_ns())
            })
        },
    );
    let back: Option<Back> = came_back(&again.steps, curve, rest_ns, options.seed);
    let rest = RestFound {
        rest_ns,
        back,
        steps: again.steps,
    };
    (rest, again.stop_reason)
}

fn with_progress(
    context: &Context,
    probed_device: &mut ProbeDevice<'_>,
    bytes: u64,
    title: &'static str,
    work: impl FnOnce(&mut ProgressDevice<'_, ProbeDevice<'_>>) -> Written,
) -> Written {
    let hidden = probed_device.is_simulated();
    let expected = bytes / u64::from(PIECE_BYTES);
    let title = Cell::new(title);
    let progress = Progress::begin(context.observer(), hidden, expected, title.get());
    let mut counted = ProgressDevice::new(probed_device, &progress, expected, &title);
    work(&mut counted)
}

fn exit_of(context: &Context, filled: &Filled) -> Exit {
    match &filled.stop_reason {
        Some(StopReason::Interrupted) => Exit::Interrupted(context.signal().unwrap_or(2)),
        Some(StopReason::Gone(_)) => Exit::InputOutput,
        _ if filled.first.failed_bytes > 0 => Exit::InputOutput,
        _ => Exit::Done,
    }
}

fn document(
    context: &Context,
    options: &FillOptions,
    (id, measured_at): (String, String),
    filled: Filled,
) -> FillDocument {
    let cut_short = filled.stop_reason.as_ref().map(why);
    let (fast, buffer) = (filled.curve.fast_part(), filled.curve.buffer());
    let all = filled.first.steps.iter();
    let behind = filled.rest.iter().flat_map(|rest| &rest.steps);
    let temperatures = all.chain(behind).filter_map(|s| s.temperature_millicelsius);
    FillDocument {
        schema_version: SCHEMA_VERSION,
        id,
        target: filled.target,
        host: context.host().name,
        measured_at,
        seed: options.seed,
        planned_bytes: filled.planned_bytes,
        written_bytes: filled.first.bytes(),
        failed_bytes: filled.first.failed_bytes,
        warnings: Vec::new(),
        duration_ns: filled.first.steps.iter().map(|s| s.duration_ns).sum(),
        cut_short,
        stretches: filled.curve.stretches,
        changes: filled.curve.changes,
        buffer_bytes: buffer.map(|end| end.at_bytes),
        fast_bytes: fast.map(|fast| fast.end.at_bytes),
        fast_bytes_interval: fast.map(|fast| fast.interval_bytes()),
        temperature_millicelsius_max: temperatures.max(),
        rest: filled.rest,
        steps: filled.first.steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_steps_without_those_that_wrote_nothing() {
        let mark = |now_ns, bytes| Mark {
            now_ns,
            bytes,
            temperature: None,
        };
        let written = between(&[mark(5, 0), mark(10, 100), mark(20, 100), mark(30, 400)]);
        let steps: Vec<(u64, u64, u64)> = written
            .steps
            .iter()
            .map(|step| (step.from_bytes, step.length_bytes, step.duration_ns))
            .collect();
        assert_eq!(steps, [(0, 100, 5), (100, 300, 20)]);
        assert!(between(&[]).steps.is_empty());
    }
}
