//! The documents of a fio output file.
//!
//! fio prints warnings and progress to the same stream, so text may precede and follow a document,
//! and several documents may follow one another: results of several runs, or repeated states of one
//! run.

use super::job::Document;
use super::json;
use super::read::{document, is_repeat, must_be_readable};
use super::snapshots::continues;
use crate::Format;
use crate::out::Out;
use crate::text::{Part, fingerprint, line_feeds};

const MARK: &str = "\"fio version\"";
/// Note for all fio results.
pub(super) const COMPLETION_LATENCIES: &str = "latencies are fio's completion latencies: they start when an operation has been submitted, unless the job set lat_percentiles";

/// A document and its position.
struct FioDocument<'a> {
    value: Document,
    /// Fingerprint of its text, for the id.
    content: u64,
    /// From 1.
    line: u64,
    /// Message about a signal, in the preceding text.
    signal: Option<&'a str>,
    start: usize,
    end: usize,
}

/// Reads all documents of a text.
pub(crate) fn read_json(parts: &[Part<'_>], out: &mut Out<'_>) {
    let before = out.results();
    let mut snapshots = 0;
    // Only the next document shows whether this is the last one of its run.
    let mut pending = None;
    for part in parts {
        snapshots += documents(part, &mut pending, out);
    }
    if let Some(last) = pending {
        take(last, out);
    }
    let what = match snapshots {
        0 => String::new(),
        1 => "1 earlier snapshot of a run is".to_owned(),
        _ => format!("{snapshots} earlier snapshots of runs are"),
    };
    if !what.is_empty() {
        out.note_once(format!(
            "{what} left out (snapshots at an interval): the last one of each run contains all of its counts"
        ));
    }
    if out.results() > before {
        out.note_once(COMPLETION_LATENCIES);
    }
}

/// Reads the documents of a part, except that the last one is left pending; returns how many were
/// earlier states of others.
fn documents<'a>(part: &Part<'a>, pending: &mut Option<FioDocument<'a>>, out: &mut Out<'_>) -> u64 {
    let text = part.text;
    let mut snapshots = 0;
    let mut from = 0;
    // Lines are counted once, from document to document.
    let mut from_line = part.first_line;
    while let Some(mut found) = next_document(text, from, from_line, out) {
        from_line = found.line + line_feeds(&text[found.start..found.end]);
        from = found.end;
        if let Some(earlier) = pending.take() {
            if continues(&earlier.value, &found.value) {
                snapshots += 1;
                found.signal = earlier.signal.or(found.signal);
                // Its other forms are snapshots, too.
                let jobs = earlier.value.jobs.iter().flatten();
                is_repeat(jobs, Format::FioJson, earlier.line, out);
            } else {
                take(earlier, out);
            }
        }
        *pending = Some(found);
    }
    let behind = &text[from..];
    if let Some(last) = pending {
        last.signal = last.signal.or_else(|| signal_in(behind));
    }
    passed_over(behind, from_line, out);
    snapshots
}

/// The next document after `from`, which is on line `from_line`.
fn next_document<'a>(
    text: &'a str,
    from: usize,
    from_line: u64,
    out: &mut Out<'_>,
) -> Option<FioDocument<'a>> {
    if !out.visit(0) {
        return None;
    }
    let mark = text[from..].find(MARK)?;
    let start = from + opening_brace(&text[from..from + mark])?;
    let line = from_line + line_feeds(&text[from..start]);
    passed_over(&text[from..start], from_line, out);
    match json::document(&text[start..], out.work()) {
        Ok((value, length)) => Some(FioDocument {
            value,
            content: fingerprint(&text[start..start + length]),
            line,
            // If fio reports that a signal ended it, its runs are partial.
            signal: signal_in(&text[from..start]),
            start,
            end: start + length,
        }),
        Err(error) => {
            out.refuse(
                line + (error.line() as u64).saturating_sub(1),
                format!("is not complete JSON of fio: {error}"),
                "fio must end by itself for its JSON to be complete",
            );
            None
        }
    }
}

/// The brace that is open where a text ends: programs that write a document again sort
/// its names, and then whole objects stand before its version. Where braces do not
/// match, as those in a name, the last one.
fn opening_brace(text: &str) -> Option<usize> {
    let mut closed = 0_usize;
    let open = text.bytes().enumerate().rev().find(|(_, byte)| match byte {
        b'}' => {
            closed += 1;
            false
        }
        b'{' if closed == 0 => true,
        b'{' => {
            closed -= 1;
            false
        }
        _ => false,
    });
    open.map(|(at, _)| at).or_else(|| text.rfind('{'))
}

/// Takes the runs of a document over.
fn take(found: FioDocument<'_>, out: &mut Out<'_>) {
    if let Err(reason) = must_be_readable(&found.value) {
        return out.refuse(found.line, reason, "give JSON of fio 2, 3 or 4");
    }
    let FioDocument {
        value,
        content,
        line,
        signal,
        ..
    } = found;
    document(value, content, line, Format::FioJson, signal, out);
}

/// fio's message about a signal that ended it.
fn signal_in(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.starts_with("fio: terminating on signal"))
}

fn passed_over(text: &str, line: u64, out: &mut Out<'_>) {
    let trimmed = text.trim();
    if !trimmed.is_empty() {
        let first = trimmed.lines().next().unwrap_or_default();
        let shown: String = first.chars().take(60).collect();
        let before = text.len() - text.trim_start().len();
        let message = format!("is not part of the JSON and is skipped: {shown}");
        out.note(line + line_feeds(&text[..before]), message);
    }
}
