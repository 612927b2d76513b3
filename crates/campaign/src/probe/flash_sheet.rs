//! Answers of `probe flash`, as a sheet.

use super::flash_document::{FlashDocument, PausesFound};
use crate::steps::surface::{took, void};
use stripewise_report::{Caution, Judgement, Sheet};
use stripewise_results::Warning;
use stripewise_surface::flash::AlignmentAt;
use stripewise_units::{ByteSize, format_bytes, format_count, format_duration};

/// The results of probing flash.
pub fn sheet(document: &FlashDocument) -> Sheet {
    let cost = cost(&document.target, document.reads, document.duration_ns);
    if let Some(refused) = &document.refused {
        return no_answer(&document.target, refused, &document.warnings, cost);
    }
    let mut findings: Vec<(String, String)> = void(&document.warnings).into_iter().collect();
    let mut line = |name: &str, value: String| findings.push((name.to_owned(), value));
    for (name, value, refused) in answers(document) {
        let reason = refused.unwrap_or("not measured");
        line(
            name,
            value.unwrap_or_else(|| format!("no answer: {reason}")),
        );
    }
    if let Some(gain) = document.speed_up_max {
        line(
            "gain",
            format!("parallel reads are up to {gain:.1} times as fast"),
        );
    }
    let pauses = document.pauses.as_ref();
    if let Some(found) = pauses.filter(|found| found.pattern.count > 0) {
        line("", seen(found));
    }
    let cut_short = document.cut_short.as_ref();
    Sheet {
        title: document.target.clone(),
        verdict: cut_short.map(|why| (Judgement::Open, format!("Cut short ({why})"))),
        findings,
        cautions: Caution::of_all(&document.warnings),
        notes: vec![cost],
        ..Sheet::default()
    }
}

/// No result, with the reason.
pub(super) fn no_answer(target: &str, reason: &str, warnings: &[Warning], cost: String) -> Sheet {
    Sheet {
        title: target.to_owned(),
        verdict: Some((Judgement::Open, "No answer".to_owned())),
        answer: reason.to_owned(),
        findings: void(warnings).into_iter().collect(),
        cautions: Caution::of_all(warnings),
        notes: vec![cost],
        ..Sheet::default()
    }
}

/// `36,824 reads in 1 m 40 s of virtual time.`
pub(super) fn cost(target: &str, reads: u64, duration_ns: u64) -> String {
    format!(
        "{} reads in {}.",
        format_count(reads),
        took(target, duration_ns)
    )
}

/// A name, the answer, or why there is none.
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
            format!("{bytes} ({}); smaller reads are no faster", sizes(interval))
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
        ("page size", size, document.full_price_refused.as_deref()),
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
