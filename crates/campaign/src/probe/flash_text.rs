//! Answers of `probe flash`, as text.

use super::flash_document::{FlashDocument, PausesFound};
use crate::steps::surface::{cut_short, took, void};
use stripewise_surface::flash::AlignmentAt;
use stripewise_units::{ByteSize, format_bytes, format_duration};

/// What was found of flash.
pub fn text(document: &FlashDocument) -> String {
    let made = format!(
        "{} reads in {}",
        document.reads,
        took(&document.target, document.duration_ns)
    );
    if let Some(refused) = &document.refused {
        return format!("No answer for {}: {refused}.\n{made}.\n", document.target);
    }
    let mut text = format!("{}\n", document.target);
    if let Some((name, value)) = void(&document.warnings) {
        text.push_str(&format!("  {name:<12} {value}\n"));
    }
    for (name, value, refused) in answers(document) {
        let value = value.unwrap_or_else(|| {
            let reason = refused.unwrap_or("not measured");
            format!("no answer: {reason}")
        });
        text.push_str(&format!("  {name:<12} {value}\n"));
    }
    if let Some(gain) = document.speed_up_max {
        let reads = "times as fast as reads one by one, at most";
        text.push_str(&format!("  {:<12} {gain:.1} {reads}\n", "gain"));
    }
    let pauses = document.pauses.as_ref();
    if let Some(found) = pauses.filter(|found| found.pattern.count > 0) {
        text.push_str(&format!("  {:<12} {}\n", "", seen(found)));
    }
    text.push_str(&format!("  {:<12} {made}\n", "measured"));
    text.push_str(&cut_short(document.cut_short.as_ref()));
    text
}

/// A name, the answer, and why there is none.
type Line<'d> = (&'static str, Option<String>, Option<&'d str>);

fn answers(document: &FlashDocument) -> [Line<'_>; 4] {
    let sizes = |[low, high]: [u64; 2]| format!("{}-{}", ByteSize(low), ByteSize(high));
    let at_step = |at: &&AlignmentAt| Some(at.bytes) == document.alignment_bytes;
    let longer = document.alignments.iter().find(at_step);
    let longer = longer.map_or(0.0, |at| at.longer_percent);
    let size = document
        .full_price_bytes
        .zip(document.full_price_bytes_interval)
        .map(|(bytes, interval)| {
            let bytes = ByteSize(bytes);
            format!("{bytes} ({}); smaller reads cost as much", sizes(interval))
        });
    let step = document
        .alignment_bytes
        .zip(document.alignment_bytes_interval)
        .map(|(bytes, interval)| {
            let (bytes, interval) = (ByteSize(bytes), sizes(interval));
            format!("{bytes} ({interval}); reads across a multiple take {longer:.0} % longer")
        });
    let units = document
        .parallel_units
        .zip(document.parallel_units_interval)
        .map(|(units, [low, high])| format!("{units} reads at once ({low}-{high})"));
    let pauses = document.pauses.as_ref().and_then(pattern);
    [
        ("full price", size, document.full_price_refused.as_deref()),
        ("alignment", step, document.alignment_refused.as_deref()),
        ("parallelism", units, document.parallel_refused.as_deref()),
        ("pauses", pauses, document.pauses_refused.as_deref()),
    ]
}

fn pattern(found: &PausesFound) -> Option<String> {
    let every = found.pattern.every_bytes?;
    let [low, high] = found.pattern.every_bytes_interval?;
    Some(format!(
        "every {} written ({} to {})",
        format_bytes(every),
        format_bytes(low),
        format_bytes(high)
    ))
}

fn seen(found: &PausesFound) -> String {
    format!(
        "{} pauses of {} (median) in {}; writes of 256 KiB usually take {}",
        found.pattern.count,
        format_duration(found.pattern.length_ns.unwrap_or(0)),
        format_bytes(found.written_bytes),
        format_duration(found.pattern.usual_ns)
    )
}
