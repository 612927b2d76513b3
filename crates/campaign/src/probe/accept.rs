//! `--accept`: what a probe found is kept with the disk as a measured fact.

use super::document::StripeDocument;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::known::{Facts, Known, Measurement};
use crate::steps::reading::Readable;
use stripewise_disk_inspect::survey::Request;
use stripewise_disk_inspect::{Inspect, System};

/// Where what was probed lies.
pub struct DevicePart {
    device: String,
    /// Of the partition, or device, on its disk.
    start_bytes: u64,
}

/// Where the target lies on its disk, before any time is spent on reading it.
///
/// # Errors
/// Where it is simulated, or its place on the disk is not known.
pub fn place(readable: &Readable, name: &str) -> Outcome<DevicePart> {
    let Some(real) = readable.target.real() else {
        return Err(Failure::usage(
            format!("{name} is simulated: there is no disk to keep the answer with"),
            "leave --accept out",
        ));
    };
    let facts = real.facts();
    match (&facts.device, facts.partition_offset_bytes) {
        (Some(device), Some(start_bytes)) => Ok(DevicePart {
            device: device.name.clone(),
            start_bytes,
        }),
        _ => Err(Failure::new(
            Exit::Target,
            format!(
                "where {name} starts on its disk is not known, so the answer cannot be kept with the disk"
            ),
            "probe the disk or a partition of it, or leave --accept out",
        )),
    }
}

/// Keeps the answer; `false` where there is none.
///
/// # Errors
/// Where the target ends on several disks, or the store does not take it.
pub fn keep(context: &Context, document: &StripeDocument, place: &DevicePart) -> Outcome<bool> {
    let (Some(unit), Some(interval), Some(phase), Some(disks)) = (
        document.stripe_unit_bytes,
        document.stripe_unit_bytes_interval,
        document.phase_bytes,
        document.disks,
    ) else {
        context.note("there is no answer, so nothing was accepted");
        return Ok(false);
    };
    let on_disk = |phase: u64| (phase + place.start_bytes) % unit;
    let error = document
        .phase_bytes_interval
        .map_or(0, |[low, high]| (high - low) / 2);
    let first = on_disk(phase);
    let level = document.level.as_ref();
    let facts = Facts {
        stripe_unit_bytes: Some(unit),
        raid_level: level.map(|level| format!("raid{level}")),
        raid_disks: level
            .and_then(|_| document.layouts.first())
            .map(|one| u64::from(one.disks)),
        measured: Some(Measurement {
            method: document.method.clone(),
            measured_at: document.measured_at.clone(),
            stripe_unit_bytes_interval: interval,
            first_unit_bytes: first,
            first_unit_bytes_interval: [first.saturating_sub(error), first + error],
            disks,
            confidence: document.confidence,
        }),
        ..Facts::default()
    };
    let mut known = Known::load(context)?;
    let request = Request {
        device: Some(place.device.clone()),
        given: known.given(),
    };
    let survey = System::live().survey(&request).map_err(|error| {
        let hint = error.hint().to_owned();
        Failure::of(Exit::Target, error).hinted(hint)
    })?;
    known.change(context, &survey, Some(&place.device), &facts)?;
    Ok(true)
}
