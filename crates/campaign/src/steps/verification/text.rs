//! A verification as text for people.

use super::document::{JudgedBy, LeftByRun, Mode, PhaseOutcome, VerifyDocument, VerifyVerdict};
use crate::steps::medium::void_codes;
use stripewise_report::{classes_text, marked};
use stripewise_results::Severity;
use stripewise_units::{format_bytes, format_count, format_duration};
use stripewise_verify::Class;

/// Why something is unproven.
pub(crate) const OPEN: &str = "no record in this store says what belongs there";

/// The run's id, or its number if the store lacks it.
fn name_of(left: &LeftByRun) -> &str {
    left.id.as_deref().unwrap_or(&left.run)
}

/// For a copy: the part that the verdict does not cover.
fn without_record(document: &VerifyDocument) -> String {
    let by_stamps = |left: &&LeftByRun| left.judged_by == JudgedBy::Stamps;
    let runs: Vec<&str> = (document.left.iter())
        .filter(by_stamps)
        .map(name_of)
        .collect();
    match (document.mode, &runs[..]) {
        (Mode::Image, [one]) => {
            format!("; judged by stamps alone, without the record of run {one}")
        }
        (Mode::Image, [_, _, ..]) => {
            format!(
                "; judged by stamps alone, without the records of {} runs",
                runs.len()
            )
        }
        _ => String::new(),
    }
}

/// The answer in a sentence if flushed data is lost; else empty.
pub(crate) fn lost(document: &VerifyDocument) -> String {
    let (lost, covered) = document.survival.iter().fold((0, 0), |(lost, all), one| {
        (
            lost + one.survival.lost_writes,
            all + one.survival.covered_writes,
        )
    });
    let first =
        (document.faults.iter()).find(|record| record.fault.class == Class::FlushedWriteLost);
    let (Some(first), Some(witness)) = (first, &document.witness) else {
        return String::new();
    };
    let written = (first.fault.expected.written_unix_ns)
        .and_then(|written_ns| witness.cut_unix_ns.checked_sub(written_ns))
        .map_or_else(String::new, |ns| {
            format!(", written {} before the cut", format_duration(ns))
        });
    format!(
        "A flushed write did not survive: {} of {}; first at {}{written}\n",
        format_count(lost),
        // The pass that writes everything once counts as one.
        format_count(covered.max(lost)),
        format_bytes(first.fault.offset_bytes)
    )
}

/// The activity of a phase, as text.
pub(crate) fn phase_name(phase: &PhaseOutcome) -> &'static str {
    match phase.name.as_str() {
        "fill" => "Pass 1: write",
        "work" => "Burn-in",
        _ => "Final read",
    }
}

/// The targets, the verdict and the paths of kept files, in one line.
pub fn verdict(document: &VerifyDocument) -> String {
    let targets = &document.targets;
    let names = targets.iter().map(|target| target.name.as_str());
    let on = names.collect::<Vec<_>>().join(", ");
    let kept = targets.iter().filter_map(|one| one.kept_at.as_deref());
    let kept: String = kept.map(|path| format!("; its file: {path}")).collect();
    let line = match judged(document) {
        (POWER_STAYED, why) => format!("{on}: {POWER_STAYED}: {why}; {JUDGED_LATER}{kept}"),
        (word, why) => format!("{on}: {}: {why}{kept}", word.to_uppercase()),
    };
    marked(&line, &document.id)
}

/// A pass, with reasons to doubt that the disk was verified.
fn passed(document: &VerifyDocument, verified: &str) -> (&'static str, String) {
    let warnings = &document.warnings;
    if !void_codes(warnings).is_empty() {
        let codes = void_codes(warnings).join(", ");
        let why = format!("no disk was verified ({codes}); no fault in {verified}");
        return ("Void", why);
    }
    // A note is not a doubt, such as an unreached limit.
    let doubts = warnings
        .iter()
        .filter(|one| one.severity != Severity::Note)
        .map(|one| format!("; {} [{}]", one.message, one.code));
    let doubts: String = doubts.collect();
    let without = without_record(document);
    ("Passed", format!("no fault in {verified}{without}{doubts}"))
}

/// No verdict: the event to judge did not happen.
pub(crate) const POWER_STAYED: &str = "The power did not fail";
/// The remedy.
const JUDGED_LATER: &str = "--after-cut can still judge what is there";

/// The verdict in a word or two, and its basis in a sentence without a full stop.
pub(crate) fn judged(document: &VerifyDocument) -> (&'static str, String) {
    // In the same line: alone, a fault would be attributed to the disk.
    let changed: String = (document.targets.iter())
        .filter_map(|target| {
            let what = target.changed.as_ref()?;
            let name = &target.name;
            Some(format!(" ({name} {what} by another program meanwhile)"))
        })
        .collect();
    let verified = format!(
        "{} verified in {} operations{changed}",
        format_bytes(document.verified_bytes),
        format_count(document.operations)
    );
    if document.mode == Mode::PowerCut && document.verdict != VerifyVerdict::Faults {
        let why = match document.verdict {
            VerifyVerdict::Errors => "it ended with the first error",
            VerifyVerdict::Interrupted => "it was stopped",
            _ => "the time is over",
        };
        return (POWER_STAYED, why.to_owned());
    }
    match document.verdict {
        VerifyVerdict::Passed => passed(document, &verified),
        VerifyVerdict::NotProven => {
            let unproven = format_bytes(document.unproven_bytes.unwrap_or(0));
            (
                "Not proven",
                format!("{unproven} may be right or wrong: {OPEN}; no fault in {verified}"),
            )
        }
        VerifyVerdict::Faults => {
            let classes = classes_text(&document.faults_by_class);
            ("Faults", format!("{classes}; {verified}"))
        }
        VerifyVerdict::Errors => (
            "Not passed",
            format!("operations failed; what could be read was right, {verified}"),
        ),
        VerifyVerdict::Interrupted => (
            "Not finished",
            format!("no fault until it was stopped, {verified}"),
        ),
    }
}
