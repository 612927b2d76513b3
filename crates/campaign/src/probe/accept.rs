//! `--accept`: stores the result of a probe with the disk as a measured fact.

use super::document::StripeDocument;
use crate::steps::array_facts::{ArrayFacts, KnownArrays, Measurement, bottom};
use crate::steps::medium::void_codes;
use crate::steps::reading::Readable;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::survey::{Request, Survey};
use stripewise_disk_inspect::{Inspect, System};

/// Location of the probed target.
pub struct DevicePart {
    device: String,
    /// Start of the partition or device on its disk.
    start_bytes: u64,
    known: KnownArrays,
    survey: Survey,
}

/// Locates the target on its disk, before any time is spent on reading it.
///
/// # Errors
/// If it is simulated, its position on the disk is unknown, or it spans several disks of
/// this machine: an array made by Linux itself reports its layout, and measurements of
/// it are not facts about any one member.
pub fn place(context: &Context, readable: &Readable, name: &str) -> Outcome<DevicePart> {
    let Some(real) = readable.target.real() else {
        return Err(Failure::usage(
            format!("{name} is simulated: there is no disk to keep the answer with"),
            "leave --accept out",
        ));
    };
    let facts = real.facts();
    let (Some(device), Some(start_bytes)) = (&facts.device, facts.partition_offset_bytes) else {
        return Err(Failure::target(
            format!(
                "where {name} starts on its disk is not known, so the answer cannot be kept with the disk"
            ),
            "probe the disk or a partition of it, or leave --accept out",
        ));
    };
    let known = KnownArrays::load(context)?;
    let request = Request {
        device: Some(device.name.clone()),
        given: known.given(),
    };
    let survey = System::live().survey(&request)?;
    let disks = bottom(&survey, Some(&device.name));
    if disks.len() > 1 {
        let names: Vec<&str> = disks.iter().map(|disk| disk.device.name.as_str()).collect();
        return Err(Failure::usage(
            format!(
                "{name} spans {}: its layout is not a property of one disk that could be kept",
                names.join(", ")
            ),
            "`stripewise disks` shows how the array is laid out; leave --accept out",
        ));
    }
    Ok(DevicePart {
        device: device.name.clone(),
        start_bytes,
        known,
        survey,
    })
}

/// Stores the answer; `false` if there is none, or it is not about the disk.
pub fn keep(context: &Context, document: &StripeDocument, mut place: DevicePart) -> Outcome<bool> {
    let void = void_codes(&document.warnings);
    if !void.is_empty() {
        let codes = void.join(", ");
        context.note(format_args!(
            "the numbers are void ({codes}), so nothing was accepted"
        ));
        return Ok(false);
    }
    let Some(facts) = facts(document, place.start_bytes) else {
        context.note("there is no answer, so nothing was accepted");
        return Ok(false);
    };
    let (survey, device) = (&place.survey, &place.device);
    place.known.change(context, survey, Some(device), &facts)?;
    Ok(true)
}

/// The facts about the disk on which the target begins at this byte; `None` without
/// an answer.
fn facts(document: &StripeDocument, start_bytes: u64) -> Option<ArrayFacts> {
    let unit = document.stripe_unit_bytes?;
    let first = (document.phase_bytes? + start_bytes) % unit;
    let error = document
        .phase_bytes_interval
        .map_or(0, |[low, high]| (high - low) / 2);
    let level = document.level.as_ref();
    Some(ArrayFacts {
        stripe_unit_bytes: Some(unit),
        raid_level: level.map(|level| format!("raid{level}")),
        raid_disks: level
            .and_then(|_| document.layouts.first())
            .map(|one| u64::from(one.disks)),
        measured: Some(Measurement {
            method: document.method.clone(),
            measured_at: document.measured_at.clone(),
            stripe_unit_bytes_interval: document.stripe_unit_bytes_interval?,
            first_unit_bytes: first,
            first_unit_bytes_interval: [first.saturating_sub(error), first + error],
            disks: document.disks?,
            confidence: document.confidence,
        }),
        ..ArrayFacts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The result for three disks with units from byte 5,120 on, in a partition at 63
    /// sectors. `disks`, `align` and `advise` are tested with the same facts.
    #[test]
    fn an_answer_of_a_partition_becomes_a_fact_of_its_disk() {
        let mut document: Value = json!({
            "schema_version": 1, "target": "/dev/loop0p1", "measured_at": "2026-11-23T15:00:00Z",
            "method": "timed reads (probe stripe)", "stripe_unit_bytes": 65_536,
            "stripe_unit_bytes_interval": [65_536, 65_536],
            "phase_bytes": 5_120 + 65_536 - 32_256,
            "phase_bytes_interval": [38_400 - 512, 38_400 + 512], "disks": 3,
            "layouts": [], "confidence": 0.999, "reads": 12_000, "places_percent": [],
            "duration_ns": 1, "seed": 1, "interrupted": false, "accepted": false,
        });
        let facts_of = |document: &Value| {
            let document = serde_json::from_value(document.clone()).expect("a document");
            facts(&document, 63 * 512)
        };
        let found = facts_of(&document).expect("an answer");
        let expected = json!({
            "stripe_unit_bytes": 65_536,
            "measured": {
                "method": "timed reads (probe stripe)",
                "measured_at": "2026-11-23T15:00:00Z",
                "stripe_unit_bytes_interval": [65_536, 65_536],
                "first_unit_bytes": 5_120,
                "first_unit_bytes_interval": [5_120 - 512, 5_120 + 512],
                "disks": 3,
                "confidence": 0.999,
            },
        });
        assert_eq!(serde_json::to_value(&found).expect("JSON"), expected);
        document["stripe_unit_bytes"] = Value::Null;
        assert!(facts_of(&document).is_none());
    }
}
