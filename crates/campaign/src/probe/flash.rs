//! `probe flash`: sizes, alignment, parallelism and pauses of a solid-state drive.

use super::flash_document::{FlashDocument, PausesFound};
use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::medium::{exit_with, say_all, written_to_a_medium};
use crate::steps::probe_device::{ProbeDevice, ProbeOptions, ProgressDevice};
use crate::steps::reading::open_to_read;
use std::cell::Cell;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, open_target};
use stripewise_results::Warning;
use stripewise_store::Store;
use stripewise_surface::flash::{
    PausePlan, ProbeFindings, SIZE_BYTES_MIN, Stage, WriteLatencies, pauses, probe,
    write_for_pauses,
};
use stripewise_surface::{Device, StopReason};
use stripewise_units::{format_bytes, format_duration};
use stripewise_workload::Workload;

/// Version of [`FlashDocument`].
const SCHEMA_VERSION: u32 = 1;

/// Reads of a typical probe, for estimating the remaining time.
const READS_USUAL: u64 = 150_000;

const METHOD: &str = "timed reads in randomised blocks (probe flash)";

/// Parameters of the probe.
#[derive(Clone, Debug)]
pub struct FlashOptions {
    /// The target, as typed.
    pub target: String,
    /// Bytes to write to observe pauses; `None`: write nothing.
    pub write_bytes: Option<u64>,
    /// Time limit for operations on the target.
    pub time_ns_max: u64,
    /// Seed of the positions.
    pub seed: u64,
}

/// Probes flash. The exit is [`Exit::Done`] even without an answer.
///
/// # Errors
/// If the target cannot be opened, or writing is requested but not permitted.
pub fn flash(
    context: &Context,
    options: &FlashOptions,
    permissions: &Permissions,
) -> Outcome<(FlashDocument, Exit)> {
    permissions.refuse_idle(&[&options.target])?;
    let mut store = context.open_store()?;
    let (target, mut warnings) = open(context, &mut store, options, permissions)?;
    let measured_at = context.timestamp();
    let asking = ProbeOptions {
        length_bytes_max: 128 << 10,
        writes: options.write_bytes.is_some(),
        seed: options.seed,
    };
    let mut probed_device = ProbeDevice::open(context, &target, &asking)?;
    if probed_device.size_bytes() < SIZE_BYTES_MIN {
        return Err(Failure::target(
            format!(
                "{} has {}; a probe of flash needs {} at least",
                options.target,
                format_bytes(probed_device.size_bytes()),
                format_bytes(SIZE_BYTES_MIN)
            ),
            "name the whole device, or a larger file",
        ));
    }
    context.status(format_args!(
        "Reading at random places of {}, for {} at most{}",
        options.target,
        format_duration(options.time_ns_max),
        match options.write_bytes {
            Some(bytes) => format!("; then writing {} from byte 0 on", format_bytes(bytes)),
            None => "; nothing is written".to_owned(),
        }
    ));
    let begun_ns = probed_device.now_ns();
    let watch = LimitWatch::of_open(&target);
    let (probed, mut rates) = with_progress(context, &mut probed_device, options);
    let passed_ns = probed_device.now_ns() - begun_ns;
    let (found, stop_reason) = match (options.write_bytes, &probed.stop_reason, &probed.refused) {
        (Some(bytes), None, None) => {
            let plan = PausePlan {
                bytes,
                time_ns_max: options.time_ns_max.saturating_sub(passed_ns),
            };
            let (writing, written) = writing(context, &mut probed_device, &plan);
            rates = rates.max(written);
            let found = PausesFound {
                written_bytes: writing.bytes(),
                pattern: pauses(&writing, options.seed),
            };
            (Some(found), writing.stop_reason)
        }
        _ => (None, probed.stop_reason.clone()),
    };
    drop(probed_device);
    let facts = target.place(0).facts().clone();
    target.finish_or_report(context);
    let reached = watch.map_or_else(Vec::new, |watch| watch.finish(&rates));
    say_all(context, &reached);
    warnings.extend(reached);
    let exit = exit_with(exit_of(context, stop_reason.as_ref()), &warnings);
    let document = FlashDocument {
        warnings,
        ..document(
            options,
            facts.name,
            measured_at,
            probed,
            found,
            stop_reason.as_ref(),
        )
    };
    Ok((document, exit))
}

fn exit_of(context: &Context, stop_reason: Option<&StopReason>) -> Exit {
    match stop_reason {
        Some(StopReason::Interrupted) => Exit::Interrupted(context.signal().unwrap_or(2)),
        Some(StopReason::Gone(_)) => Exit::InputOutput,
        _ => Exit::Done,
    }
}

/// Opens the target: an existing one is only read; writing follows the rules for writes.
fn open(
    context: &Context,
    store: &mut Store,
    options: &FlashOptions,
    permissions: &Permissions,
) -> Outcome<(OpenTarget, Vec<Warning>)> {
    if options.write_bytes.is_none() {
        let readable = open_to_read(context, store, &options.target, permissions)?;
        return Ok((readable.target, readable.warnings));
    }
    let warnings = written_to_a_medium(context, &options.target)?;
    let need = Needs {
        writes: true,
        outstanding_total: 32,
        cache_by_name: true,
        seed: options.seed,
        ..Needs::of_loads([&Workload::default()])
    };
    let target = open_target(context, store, &options.target, &need, permissions)?;
    Ok((target, warnings))
}

fn with_progress(
    context: &Context,
    probed_device: &mut ProbeDevice<'_>,
    options: &FlashOptions,
) -> (ProbeFindings, FastestRates) {
    let hidden = probed_device.is_simulated();
    let title = Cell::new("Reading single blocks");
    let progress = Progress::begin(context.observer(), hidden, READS_USUAL, title.get());
    let mut counted = ProgressDevice::new(probed_device, &progress, READS_USUAL, &title);
    let probed = probe(
        &mut counted,
        options.seed,
        options.time_ns_max,
        &mut |stage| {
            title.set(match stage {
                Stage::Sizes => "Comparing sizes",
                Stage::Alignment => "Comparing alignments",
                Stage::Parallelism => "Comparing numbers of reads at once",
            });
        },
    );
    (probed, counted.rates())
}

fn writing(
    context: &Context,
    probed_device: &mut ProbeDevice<'_>,
    plan: &PausePlan,
) -> (WriteLatencies, FastestRates) {
    let hidden = probed_device.is_simulated();
    let title = Cell::new("Writing, to see pauses");
    let expected = plan.bytes / (64 << 10);
    let progress = Progress::begin(context.observer(), hidden, expected, title.get());
    let mut counted = ProgressDevice::new(probed_device, &progress, expected, &title);
    let writing = write_for_pauses(&mut counted, plan);
    (writing, counted.rates())
}

fn document(
    options: &FlashOptions,
    target: String,
    measured_at: String,
    probed: ProbeFindings,
    pauses: Option<PausesFound>,
    stop_reason: Option<&StopReason>,
) -> FlashDocument {
    let refused = |own: Option<&str>| match &probed.refused {
        Some(all) => Some(all.clone()),
        None => own.map(str::to_owned),
    };
    let (size, step, units) = (
        &probed.sizes.full_price_bytes,
        &probed.alignments.step_bytes,
        &probed.parallelism.units,
    );
    let known = probed.refused.is_none();
    FlashDocument {
        schema_version: SCHEMA_VERSION,
        target,
        measured_at,
        method: METHOD.to_owned(),
        full_price_bytes: size.value().filter(|_| known),
        full_price_bytes_interval: size.interval().filter(|_| known),
        full_price_refused: refused(size.refusal()),
        alignment_bytes: step.value().filter(|_| known),
        alignment_bytes_interval: step.interval().filter(|_| known),
        alignment_refused: refused(step.refusal()),
        parallel_units: units.value().filter(|_| known),
        parallel_units_interval: units.interval().filter(|_| known),
        parallel_refused: refused(units.refusal()),
        speed_up_max: probed.parallelism.speed_up_max,
        pauses_refused: match (&pauses, &probed.refused) {
            (_, Some(all)) => Some(all.clone()),
            (Some(found), _) => found.pattern.refused.clone(),
            (None, _) => Some("nothing was written; --write SIZE writes".to_owned()),
        },
        pauses,
        sizes: probed.sizes.all,
        alignments: probed.alignments.all,
        concurrency: probed.parallelism.all,
        refused: probed.refused,
        cut_short: stop_reason.map(crate::steps::probe_device::why),
        warnings: Vec::new(),
        reads: probed.reads,
        duration_ns: probed.duration_ns,
        seed: options.seed,
    }
}
