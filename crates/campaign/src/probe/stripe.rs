//! `probe stripe`: the stripe unit, phase and number of disks of an array.

use super::accept;
use super::document::{LayoutFound, StripeDocument};
use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::medium::{exit_with, say_all};
use crate::steps::probe_device::{ProbeDevice, ProbeOptions, ProgressDevice};
use crate::steps::reading::{Readable, open_to_read};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::observer::Progress;
use stripewise_conductor::permissions::Permissions;
use stripewise_surface::stripe::{Limits, Pattern, ProbeFindings, Stage, probe};
use stripewise_surface::{Device, StopReason};

/// Version of [`StripeDocument`].
const SCHEMA_VERSION: u32 = 1;

/// Reads of a typical probe, for estimating the remaining time.
const READS_USUAL: u64 = 12_000;

const METHOD: &str = "timed reads (probe stripe)";

/// Parameters of the probe.
#[derive(Clone, Debug)]
pub struct StripeOptions {
    /// The target, as typed.
    pub target: String,
    /// Time limit for reading.
    pub time_ns_max: u64,
    /// Seed of the positions.
    pub seed: u64,
    /// Store the answer with the disk, as a measured fact.
    pub accept: bool,
}

/// Probes a target for stripes. The exit is [`Exit::Done`] even if the answer is that
/// there are none.
pub fn stripe(
    context: &Context,
    options: &StripeOptions,
    permissions: &Permissions,
) -> Outcome<(StripeDocument, Exit)> {
    let mut store = context.open_store()?;
    let mut readable = open_to_read(context, &mut store, &options.target, permissions)?;
    let measured_at = context.timestamp();
    let place = match options.accept {
        true => Some(accept::place(context, &readable, &options.target)?),
        false => None,
    };
    let piece = readable.piece;
    if piece.length_bytes < readable.target.limits().size_bytes {
        context.note(format_args!(
            "the file is fragmented; only its longest extent is read, {} from byte {} on",
            stripewise_units::format_bytes(piece.length_bytes),
            piece.from_bytes
        ));
    }
    let asking = ProbeOptions {
        length_bytes_max: 4096,
        writes: false,
        seed: options.seed,
    };
    let mut probed_device = ProbeDevice::open(context, &readable.target, &asking)?;
    let limits = Limits {
        time_ns_max: options.time_ns_max,
        seed: options.seed,
        ..Limits::default()
    };
    context.status(format_args!(
        "Reading single sectors at random places of {}, for {} at most; nothing is written",
        options.target,
        stripewise_units::format_duration(options.time_ns_max),
    ));
    let watch = LimitWatch::of_open(&readable.target);
    let (probed, rates) = {
        let hidden = probed_device.is_simulated();
        let progress = Progress::begin(
            context.observer(),
            hidden,
            READS_USUAL,
            "Looking for a pattern",
        );
        let mut part = readable.part(&mut probed_device);
        with_progress(&mut part, &limits, &progress)
    };
    let reached = watch.map_or_else(Vec::new, |watch| watch.finish(&rates));
    say_all(context, &reached);
    readable.warnings.extend(reached);
    let exit = exit_with(exit_of(context, &probed), &readable.warnings);
    let mut document = document(options, &readable, measured_at, probed);
    drop(probed_device);
    readable.target.finish_or_report(context);
    drop(store);
    if let Some(place) = place {
        match accept::keep(context, &document, place) {
            Ok(accepted) => document.accepted = accepted,
            Err(failure) => context.note_late_failure(&failure),
        }
    }
    Ok((document, exit))
}

fn with_progress<D: Device>(
    device: &mut D,
    limits: &Limits,
    progress: &Progress<'_>,
) -> (ProbeFindings, FastestRates) {
    let title = std::cell::Cell::new("Looking for a pattern");
    let mut counted = ProgressDevice::new(device, progress, READS_USUAL, &title);
    let probed = probe(&mut counted, limits, &mut |stage| {
        title.set(match stage {
            Stage::Period => "Looking for a period",
            Stage::Following => "Measuring the period",
            Stage::Edges => "Looking for the edges of a unit",
            Stage::Places => "Comparing three places",
        });
    });
    (probed, counted.rates())
}

/// A target that cannot be probed at all is refused; the absence of a pattern is an
/// answer.
fn exit_of(context: &Context, probed: &ProbeFindings) -> Exit {
    match (&probed.stop_reason, &probed.outcome) {
        (Some(StopReason::Interrupted), _) => Exit::Interrupted(context.signal().unwrap_or(2)),
        (Some(StopReason::Gone(_)), _) => Exit::InputOutput,
        (_, Err(refusal)) if refusal.code == "too-small" => Exit::Target,
        _ => Exit::Done,
    }
}

fn document(
    options: &StripeOptions,
    readable: &Readable,
    measured_at: String,
    probed: ProbeFindings,
) -> StripeDocument {
    let empty = StripeDocument {
        schema_version: SCHEMA_VERSION,
        target: options.target.clone(),
        measured_at,
        method: METHOD.to_owned(),
        reads: probed.reads,
        period_bytes: probed.period_bytes,
        warnings: readable.warnings.clone(),
        duration_ns: probed.duration_ns,
        seed: options.seed,
        interrupted: probed.stop_reason == Some(StopReason::Interrupted),
        ..StripeDocument::default()
    };
    match probed.outcome {
        Err(refusal) => StripeDocument {
            refused: Some(refusal.reason),
            refused_code: Some(refusal.code),
            ..empty
        },
        Ok(pattern) => answered(empty, &pattern, readable),
    }
}

fn answered(empty: StripeDocument, pattern: &Pattern, readable: &Readable) -> StripeDocument {
    let unit = pattern.unit_bytes;
    // Position of the first byte read within the partition.
    let phase = (pattern.phase_bytes + readable.piece.begins_bytes % unit) % unit;
    let error = pattern.phase_bytes_error;
    StripeDocument {
        stripe_unit_bytes: Some(unit),
        stripe_unit_bytes_interval: Some(pattern.unit_bytes_interval),
        phase_bytes: Some(phase),
        phase_bytes_interval: Some([phase.saturating_sub(error), phase + error]),
        byte_0_in_unit_bytes: Some((unit - phase) % unit),
        disks: Some(pattern.columns),
        level: pattern.level().map(str::to_owned),
        layouts: pattern
            .layouts
            .iter()
            .map(|layout| LayoutFound {
                level: layout.level.clone(),
                disks: layout.disks,
                rotation: layout.rotation.clone(),
            })
            .collect(),
        confidence: pattern.confidence,
        contrast: Some(pattern.contrast),
        period_bytes: Some(pattern.period_bytes),
        places_percent: pattern.places_percent.clone(),
        ..empty
    }
}
