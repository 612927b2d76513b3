//! Answers of `probe stripe`, as text.

use super::document::{LayoutFound, StripeDocument};
use crate::steps::surface::{took, void};
use stripewise_units::{ByteSize, format_bytes};

/// What reads showed of an array.
pub fn text(document: &StripeDocument) -> String {
    let made = format!(
        "{} reads in {}",
        document.reads,
        took(&document.target, document.duration_ns)
    );
    let (Some(unit), Some(phase), Some(disks)) = (
        document.stripe_unit_bytes,
        document.phase_bytes,
        document.disks,
    ) else {
        let reason = document.refused.as_deref().unwrap_or("unknown");
        return format!("No answer for {}: {reason}.\n{made}.\n", document.target);
    };
    let mut text = format!("{}\n", document.target);
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("  {name:<13} {value}\n"));
    };
    if let Some((name, value)) = void(&document.warnings) {
        line(&name, value);
    }
    line("stripe unit", format!("{} ({unit} bytes)", ByteSize(unit)));
    let begins = match phase {
        0 => "a unit begins at byte 0".to_owned(),
        _ => format!(
            "units begin {phase} bytes after byte 0; byte 0 lies {} bytes inside one",
            unit - phase
        ),
    };
    line("phase", begins);
    let period = document.period_bytes.unwrap_or(unit * u64::from(disks));
    line(
        "disks",
        format!(
            "{disks} in the pattern, which repeats after {}",
            format_bytes(period)
        ),
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
    line("measured", made);
    text.push_str(&advice(unit, phase));
    if document.accepted {
        text.push_str("Kept with the disk as measured; `disks --forget DEVICE` undoes it.\n");
    }
    text
}

fn layout(layout: &LayoutFound) -> String {
    let rotation = layout.rotation.as_deref();
    let rotation = rotation.map_or(String::new(), |rotation| format!(" ({rotation})"));
    match layout.level.as_str() {
        "flash" => format!("one drive of flash with {} channels", layout.disks),
        level => format!("RAID {level} of {}{rotation}", layout.disks),
    }
}

/// What it means for a partition.
fn advice(unit: u64, phase: u64) -> String {
    match phase {
        0 => format!(
            "Whatever starts at a multiple of {} here starts on a stripe unit boundary.\n",
            ByteSize(unit)
        ),
        _ => format!(
            "Whatever starts at a multiple of {} here starts inside a stripe unit: it is misaligned.\n",
            ByteSize(unit)
        ),
    }
}
