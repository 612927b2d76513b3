//! Measures a surface, evaluates it and stores the result.

use crate::steps::limit_watch::{FastestRates, LimitWatch};
use crate::steps::measured;
use crate::steps::medium::{exit_with, say_all};
use crate::steps::owners::files_at;
use crate::steps::probe_device::{ProbeDevice, ProbeOptions, ProgressDevice, why};
use crate::steps::reading::{Readable, open_to_read};
use crate::steps::surface::{ExtentFound, ProfileDocument, SpotFound};
use std::cell::Cell;
use stripewise_conductor::context::{Context, store_or_report};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::Progress;
use stripewise_conductor::permissions::Permissions;
use stripewise_disk_inspect::placement::Extent;
use stripewise_results::Severity;
use stripewise_surface::profile::{Findings, Measured, Part, Plan, Spot, analyse, measure};
use stripewise_surface::{Device, StopReason};
use stripewise_units::format_bytes;

/// Version of [`ProfileDocument`].
const SCHEMA_VERSION: u32 = 1;

/// Smaller targets have no meaningful surface.
const SIZE_BYTES_MIN: u64 = 64 << 20;

/// Maximum number of extents of a file that are stored.
const EXTENTS_MAX: usize = 1_000;

/// Single reads of a typical profile, for estimating the remaining time.
const SINGLE_READS: u64 = 2_000;

/// Bytes per read when measuring rates.
const PIECE_BYTES: u64 = 512 << 10;

/// Parameters of the profile.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// The target, as typed.
    pub target: String,
    /// Read every byte.
    pub full: bool,
    /// Time limit for reading; `None`: two minutes, or as long as a full read
    /// takes.
    pub time_ns_max: Option<u64>,
    /// Number of places at which the rate is measured; `None`: the default.
    pub places: Option<usize>,
    /// Seed of the order and the positions.
    pub seed: u64,
}

/// Profiles a target; reads only. The document is stored.
///
/// # Errors
/// If the target cannot be opened, or is too small.
pub fn profile(
    context: &Context,
    options: &ProfileOptions,
    permissions: &Permissions,
) -> Outcome<(ProfileDocument, Exit)> {
    let mut store = context.open_store()?;
    let readable = open_to_read(context, &mut store, &options.target, permissions)?;
    let measured_at = context.timestamp();
    let asking = ProbeOptions {
        length_bytes_max: PIECE_BYTES as u32,
        writes: false,
        seed: options.seed,
    };
    let mut probed_device = ProbeDevice::open(context, &readable.target, &asking)?;
    let size_bytes = probed_device.size_bytes();
    if size_bytes < SIZE_BYTES_MIN {
        return Err(Failure::target(
            format!(
                "{} has {}; a surface needs {} at least",
                options.target,
                format_bytes(size_bytes),
                format_bytes(SIZE_BYTES_MIN)
            ),
            "name the whole device, or a larger file",
        ));
    }
    let plan = plan_of(options, size_bytes);
    context.status(format_args!(
        "Reading {} of {} in random order, and {} single blocks or more; nothing is written",
        format_bytes(bytes_to_read(&plan, size_bytes)),
        options.target,
        plan.accesses,
    ));
    let watch = LimitWatch::of_open(&readable.target);
    let measured = with_progress(context, &mut probed_device, &plan);
    let findings = analyse(&measured);
    let mut readable = readable;
    let rates = fastest(&measured, &findings);
    let limits = watch.map_or_else(Vec::new, |watch| watch.finish(&rates));
    say_all(context, &limits);
    let mut measured = measured;
    for warning in limits {
        if warning.severity == Severity::Void {
            // Places slowed by the limit are not slow places of the disk.
            measured.spots.retain(|spot| spot.unreadable);
        }
        readable.warnings.push(warning);
    }
    let exit = exit_with(exit_of(context, &measured), &readable.warnings);
    let id = context.new_id(&measured_at);
    let document = document(
        context,
        options,
        &readable,
        (id, measured_at),
        (measured, findings),
    );
    store_or_report(
        context,
        &mut store,
        measured::PROFILE,
        &document.id,
        &document,
    );
    drop(probed_device);
    readable.target.finish_or_report(context);
    Ok((document, exit))
}

fn plan_of(options: &ProfileOptions, size_bytes: u64) -> Plan {
    let usual = Plan::default();
    let places = match options.full {
        // Sections of at least 16 MiB, at most 2,000.
        true => (size_bytes / (16 << 20)).clamp(16, 2_000) as usize,
        false => usual.places,
    };
    Plan {
        places: options.places.unwrap_or(places),
        full: options.full,
        seed: options.seed,
        time_ns_max: match (options.time_ns_max, options.full) {
            (Some(time_ns), _) => time_ns,
            (None, true) => u64::MAX,
            (None, false) => usual.time_ns_max,
        },
        ..usual
    }
}

fn bytes_to_read(plan: &Plan, size_bytes: u64) -> u64 {
    match plan.full {
        true => size_bytes,
        false => (plan.places as u64 * (8 << 20)).min(size_bytes),
    }
}

fn with_progress(context: &Context, probed_device: &mut ProbeDevice<'_>, plan: &Plan) -> Measured {
    let hidden = probed_device.is_simulated();
    let pieces = bytes_to_read(plan, probed_device.size_bytes()) / PIECE_BYTES;
    let expected = SINGLE_READS + pieces;
    let title = Cell::new("Measuring the surface");
    let progress = Progress::begin(context.observer(), hidden, expected, title.get());
    let mut counted = ProgressDevice::new(probed_device, &progress, expected, &title);
    measure(&mut counted, plan, &mut |part| {
        title.set(match part {
            Part::Rotation => "Measuring the rotation",
            Part::Accesses => "Measuring access times",
            Part::Rates => "Measuring transfer rates",
        });
    })
}

/// Slow and unreadable spots are a finding; a device that can no longer be read is a
/// failure.
fn exit_of(context: &Context, measured: &Measured) -> Exit {
    match &measured.stop_reason {
        Some(StopReason::Interrupted) => Exit::Interrupted(context.signal().unwrap_or(2)),
        Some(StopReason::Gone(_)) => Exit::InputOutput,
        _ if measured.spots.iter().any(|spot| spot.unreadable) => Exit::InputOutput,
        _ if !measured.spots.is_empty() => Exit::Finding,
        _ => Exit::Done,
    }
}

/// The rate that several places reach: if the disk exceeds a limit for a moment, the rest shows
/// the limit.
fn fastest(measured: &Measured, findings: &Findings) -> FastestRates {
    let read_bytes_per_s = findings.rate_high.unwrap_or(0.0);
    let access_ns: u64 = measured.accesses.iter().map(|one| one.latency_ns).sum();
    let single = 1e9 * measured.accesses.len() as f64 / access_ns.max(1) as f64;
    let batches = findings.batches.iter().map(|batch| batch.reads_per_s);
    FastestRates {
        read_bytes_per_s,
        reads_per_s: batches.fold(single.max(read_bytes_per_s / PIECE_BYTES as f64), f64::max),
        ..FastestRates::default()
    }
}

fn document(
    context: &Context,
    options: &ProfileOptions,
    readable: &Readable,
    (id, measured_at): (String, String),
    (measured, findings): (Measured, Findings),
) -> ProfileDocument {
    let cut_short = measured.stop_reason.as_ref().map(why);
    let (extents, extents_count) = extents(readable);
    ProfileDocument {
        schema_version: SCHEMA_VERSION,
        id,
        target: readable.target.place(0).facts().clone(),
        host: context.host().name,
        measured_at,
        full: options.full,
        seed: options.seed,
        warnings: readable.warnings.clone(),
        duration_ns: measured.duration_ns,
        bytes_read: measured.bytes_read,
        cut_short,
        position_matters: findings.position_matters,
        rate_min_bytes_per_s: findings.rate_min,
        rate_median_bytes_per_s: findings.rate_median,
        rate_max_bytes_per_s: findings.rate_max,
        zones: findings.zones,
        boundaries: findings.boundaries,
        access: findings.access,
        seeks: findings.seeks,
        rotation: findings.rotation,
        interface_bytes_per_s: findings.interface_bytes_per_s,
        batches: findings.batches,
        extents,
        extents_count,
        spots: spots(context, &measured.spots, readable, &options.target),
        rates: measured.rates,
        accesses: measured.accesses,
    }
}

/// The extents of a file, and their number.
fn extents(readable: &Readable) -> (Vec<ExtentFound>, Option<u64>) {
    let real = readable.target.real();
    let Some(placement) = real.and_then(stripewise_targets::Target::placement) else {
        return (Vec::new(), None);
    };
    let piece = |extent: &Extent| ExtentFound {
        offset_bytes: extent.logical_bytes,
        length_bytes: extent.length_bytes,
        device_bytes: extent.physical_bytes,
    };
    let first = placement.extents.iter().take(EXTENTS_MAX).map(piece);
    (first.collect(), Some(placement.extents.len() as u64))
}

/// The spots, each with the file at that place: the target itself, or a file of a file system
/// mounted from it.
fn spots(context: &Context, measured: &[Spot], readable: &Readable, name: &str) -> Vec<SpotFound> {
    let mut all: Vec<SpotFound> = measured
        .iter()
        .map(|spot| found(spot, readable, name))
        .collect();
    let facts = readable
        .target
        .real()
        .map(stripewise_targets::Target::facts);
    let device = facts
        .filter(|facts| facts.file_system.is_none())
        .and_then(|facts| facts.device.as_ref());
    if let Some(device) = device
        && !all.is_empty()
    {
        context.status("Looking for the files that lie at slow or unreadable spots");
        let places: Vec<(u64, u64)> = measured
            .iter()
            .map(|spot| (spot.offset_bytes, spot.length_bytes))
            .collect();
        let files = files_at(context, &device.name, &places);
        for (spot, file) in all.iter_mut().zip(files) {
            spot.file = file;
        }
    }
    all
}

/// The position of a spot: for a file, through its extents, on the device under it.
fn found(spot: &Spot, readable: &Readable, name: &str) -> SpotFound {
    let real = readable.target.real();
    let facts = real.map(stripewise_targets::Target::facts);
    let sector = facts.map_or(512, |facts| u64::from(facts.logical_sector_bytes.max(1)));
    let is_file = facts.is_some_and(|facts| facts.file_system.is_some());
    let placement = real.and_then(stripewise_targets::Target::placement);
    let physical = match (&placement, is_file) {
        (Some(placement), _) => placement.extents.iter().find_map(|extent| {
            let inside = spot.offset_bytes.checked_sub(extent.logical_bytes)?;
            (inside < extent.length_bytes).then_some(extent.physical_bytes? + inside)
        }),
        (None, true) => None,
        (None, false) => Some(spot.offset_bytes),
    };
    SpotFound {
        offset_bytes: spot.offset_bytes,
        length_bytes: spot.length_bytes,
        latency_ns: spot.latency_ns,
        unreadable: spot.unreadable,
        lba: physical.map(|bytes| bytes / sector),
        file: is_file.then(|| name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_surface::profile::RateAt;

    #[test]
    fn a_limit_is_compared_with_the_fastest_place() {
        // A control group lets 5 MiB pass at once, and then delays the next chunk.
        let each = |number: u64| RateAt {
            offset_bytes: number << 20,
            length_bytes: 1 << 20,
            bytes_per_s: match number % 5 {
                0 => 10.4 * 1_048_576.0,
                _ => 850.0 * 1_048_576.0,
            },
        };
        let measured = Measured {
            rates: (0..20).map(each).collect(),
            ..Measured::default()
        };
        let rates = fastest(&measured, &analyse(&measured));
        let mib_per_s = rates.read_bytes_per_s / 1_048_576.0;
        assert!((849.0..851.0).contains(&mib_per_s), "{mib_per_s}");
        let nothing = Measured::default();
        let rates = fastest(&nothing, &analyse(&nothing));
        assert_eq!(rates, FastestRates::default());
    }
}
