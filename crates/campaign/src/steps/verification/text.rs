//! A verification for people.

use super::document::{JudgedBy, LeftByRun, Mode, PhaseOutcome, VerifyDocument, VerifyVerdict};
use crate::steps::medium::void_codes;
use stripewise_report::{FAULTS_SHOWN_MAX, classes_text, faults_text};
use stripewise_results::KindOutcome;
use stripewise_units::{format_bytes, format_count, format_duration, format_iops};
use stripewise_verify::Class;

/// What a verification came to.
#[must_use]
pub fn verified_text(document: &VerifyDocument) -> String {
    let mut text = String::new();
    for phase in &document.phases {
        text.push_str(&line_of(phase));
    }
    for left in &document.left {
        text.push_str(&format!(
            "{} of run {}: written {} ago on average, {} the oldest, {} the newest; {}\n",
            format_bytes(left.bytes),
            name_of(left),
            format_duration(left.mean_age_ns),
            format_duration(left.oldest_age_ns),
            format_duration(left.newest_age_ns),
            left.judged_by.in_words()
        ));
    }
    if let Some(unstamped @ 1..) = document.unstamped_bytes {
        text.push_str(&format!(
            "{} without a stamp: never written by Stripewise, or wiped since\n",
            format_bytes(unstamped)
        ));
    }
    if let (Some(unproven @ 1..), [first, ..]) = (document.unproven_bytes, &document.unproven[..]) {
        text.push_str(&format!(
            "{} not proven, the first of it at byte {}: {OPEN}\n",
            format_bytes(unproven),
            format_count(first[0])
        ));
    }
    if let Some(capacity) = document.capacity {
        text.push_str(&format!(
            "Capacity: {} reported, {} found{}\n",
            format_bytes(capacity.reported_bytes),
            format_bytes(capacity.real_bytes),
            if capacity.wraps {
                "; it begins again from its start there"
            } else {
                ""
            }
        ));
    }
    text.push_str(&survival_of(document));
    for note in &document.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&faults_text(&document.faults));
    if !document.errors.first.is_empty() {
        let named = &document.errors.first;
        let more = match named.len().saturating_sub(FAULTS_SHOWN_MAX) {
            0 => String::new(),
            more => format!("; and {more} more places: `--json` prints them"),
        };
        text.push_str(&format!(
            "\n{} operations failed, which is not a fault of the data: {}{more}\n",
            format_count(document.errors.total),
            named[..named.len().min(FAULTS_SHOWN_MAX)].join("; ")
        ));
    }
    text.push_str(&format!("\n{}\n", verdict(document)));
    text
}

/// Why something is not proven.
pub(crate) const OPEN: &str = "no record in this store says what belongs there";

/// The run's id, or its number where the store does not have it.
fn name_of(left: &LeftByRun) -> &str {
    left.id.as_deref().unwrap_or(&left.run)
}

/// Of a copy: what the verdict does not rest on.
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

/// What a power cut left.
fn survival_of(document: &VerifyDocument) -> String {
    let mut text = String::new();
    if let Some(flushes) = document.flushes.as_ref().filter(|one| one.operations > 0) {
        text.push_str(&format!(
            "Flushes: {}, {}\n",
            format_count(flushes.operations),
            latency(flushes)
        ));
    }
    if let Some(witness) = &document.witness {
        let dropped = match witness.dropped_bytes {
            0 => String::new(),
            bytes => format!(", {} that were no record left out", format_bytes(bytes)),
        };
        text.push_str(&format!(
            "Witness: {} records of the run {}{dropped}\n",
            format_count(witness.records),
            witness.run_id
        ));
    }
    for one in &document.survival {
        let survival = &one.survival;
        text.push_str(&format!(
            "{}: {} writes were durable by {}, {} of them did not survive\n",
            one.target_name,
            format_count(survival.covered_writes),
            one.durability,
            format_count(survival.lost_writes)
        ));
        if survival.beyond_writes > 0 {
            let newest = one.kept_beyond_ns.map_or_else(String::new, |ns| {
                format!(
                    ", the newest {} after the last of those",
                    format_duration(ns)
                )
            });
            text.push_str(&format!(
                "  beyond the promise {} survived{newest}; {} of them in part, and {} older ones are missing, which is allowed\n",
                format_count(survival.beyond_writes),
                format_count(survival.torn_writes),
                format_count(survival.reordered_writes)
            ));
        }
    }
    text.push_str(&lost(document));
    text
}

/// The answer in a sentence, where something flushed is lost; else nothing.
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

fn latency(kind: &KindOutcome) -> String {
    kind.latency_ns.map_or_else(
        || "-".to_owned(),
        |latency| {
            format!(
                "p99 {}, max {}",
                format_duration(latency.p99),
                format_duration(latency.max)
            )
        },
    )
}

/// What a phase does, for people.
pub(crate) fn phase_name(phase: &PhaseOutcome) -> &'static str {
    match phase.name.as_str() {
        "fill" => "Written once",
        "work" => "Worked on",
        _ => "Read once more",
    }
}

fn line_of(phase: &PhaseOutcome) -> String {
    format!(
        "{} ({}): {}, {} IOPS, {:.0} MiB/s; reads {}; writes {}\n",
        phase_name(phase),
        phase.cache,
        format_duration(phase.duration_ns),
        format_iops(phase.iops),
        phase.mib_per_s,
        latency(&phase.read),
        latency(&phase.write)
    )
}

/// The verdict, in one line.
#[must_use]
pub fn verdict(document: &VerifyDocument) -> String {
    let id = &document.id;
    match judged(document) {
        (POWER_STAYED, why) => format!("{POWER_STAYED}: {why}. Kept as {id}; {JUDGED_LATER}."),
        (word, why) => format!("{}: {why}. Kept as {id}.", word.to_uppercase()),
    }
}

/// A pass, with what makes it doubtful that it is the disk's.
fn passed(document: &VerifyDocument, verified: &str) -> (&'static str, String) {
    let warnings = &document.warnings;
    if !void_codes(warnings).is_empty() {
        let codes = void_codes(warnings).join(", ");
        let why = format!("no disk was verified ({codes}); no fault in {verified}");
        return ("Void", why);
    }
    let doubts = warnings
        .iter()
        .map(|one| format!("; {} [{}]", one.message, one.code));
    let doubts: String = doubts.collect();
    let without = without_record(document);
    ("Passed", format!("no fault in {verified}{without}{doubts}"))
}

/// No verdict: what was to be judged did not happen.
const POWER_STAYED: &str = "The power did not fail";
/// What can be done about it.
const JUDGED_LATER: &str = "--after-cut can still judge what is there";

/// The verdict in a word or two, and what it rests on in a sentence without its full stop.
pub(crate) fn judged(document: &VerifyDocument) -> (&'static str, String) {
    // In the same line: alone, a fault would be taken for the disk's.
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
