//! Answers of `probe stripe`, as a sheet.

use super::document::{LayoutFound, StripeDocument};
use super::flash_sheet::{cost, no_answer};
use crate::steps::surface::void;
use stripewise_report::{Caution, Sheet};
use stripewise_units::{ByteSize, format_bytes};

/// What the reads revealed about an array.
pub fn sheet(document: &StripeDocument) -> Sheet {
    let cost = cost(&document.target, document.reads, document.duration_ns);
    let (Some(unit), Some(phase), Some(disks)) = (
        document.stripe_unit_bytes,
        document.phase_bytes,
        document.disks,
    ) else {
        let reason = document.refused.as_deref().unwrap_or("unknown");
        let mut sheet = no_answer(&document.target, reason, &document.warnings, cost);
        let next = document.refused_code.as_deref().and_then(next_step);
        if let Some(next) = next {
            sheet.notes.insert(0, next.to_owned());
        }
        return sheet;
    };
    let mut findings: Vec<(String, String)> = void(&document.warnings).into_iter().collect();
    let mut line = |name: &str, value: String| findings.push((name.to_owned(), value));
    line("stripe unit", format!("{} ({unit} bytes)", ByteSize(unit)));
    let begins = match phase {
        0 => "a unit begins at byte 0".to_owned(),
        _ => format!(
            "units begin {phase} bytes after byte 0; byte 0 is {} bytes inside one",
            unit - phase
        ),
    };
    line("phase", begins);
    let period = document.period_bytes.unwrap_or(unit * u64::from(disks));
    let repeats = format_bytes(period);
    line(
        "disks",
        format!("{disks} in the pattern, which repeats after {repeats}"),
    );
    let layouts: Vec<String> = document.layouts.iter().map(layout).collect();
    line("layouts", layouts.join("; "));
    if document.level.is_none() && document.layouts.len() > 1 {
        line("", "(reads cannot tell these apart)".to_owned());
    }
    line(
        "confidence",
        format!(
            "{:.2} %; reads of one disk take {:.2} times as long as reads of two",
            document.confidence * 100.0,
            document.contrast.unwrap_or(0.0)
        ),
    );
    let mut notes = vec![advice(unit, phase), cost];
    if document.accepted {
        let stored = "Saved with the disk as measured; `disks --forget DEVICE` undoes it.";
        notes.push(stored.to_owned());
    }
    Sheet {
        title: document.target.clone(),
        findings,
        cautions: Caution::of_all(&document.warnings),
        notes,
        ..Sheet::default()
    }
}

/// What to do after a refusal with this code.
fn next_step(code: &str) -> Option<&'static str> {
    match code {
        "too-fast" => Some(
            "`stripewise probe flash` measures pages, alignment and parallelism of such targets.",
        ),
        "cached" => Some(
            "Turn off the controller's read cache for the probe, or take the stripe unit from the controller's own program.",
        ),
        "too-small" => Some("Probe the whole device, or a larger file on it."),
        "too-few-reads" => {
            Some("Give it more --time, or probe while nothing else uses the target.")
        }
        "no-pattern" | "no-contrast" | "noise" | "not-a-stripe" | "places-differ" => Some(
            "If it is an array, probe again with another --seed while nothing else uses it, or take \
             the stripe unit from the controller's own program: \
             `stripewise disks DEVICE --stripe-unit SIZE --keep`.",
        ),
        _ => None,
    }
}

fn layout(layout: &LayoutFound) -> String {
    let rotation = layout.rotation.as_deref();
    let rotation = rotation.map_or(String::new(), |rotation| format!(" ({rotation})"));
    match layout.level.as_str() {
        "flash" => format!("one drive of flash with {} channels", layout.disks),
        level => format!("RAID {level} of {}{rotation}", layout.disks),
    }
}

/// Consequences for a partition.
fn advice(unit: u64, phase: u64) -> String {
    let unit = ByteSize(unit);
    let place = match phase {
        0 => "on a stripe unit boundary.",
        _ => "inside a stripe unit: it is misaligned.",
    };
    format!("Whatever starts at a multiple of {unit} here starts {place}")
}
