//! Warnings about the data itself: reading unwritten blocks needs no disk, and data that repeats or
//! compresses needs less of one.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_disk_inspect::storage::FileLayout;
use stripewise_machine::content::Content;
use stripewise_results::{Severity, TargetKind, Warning};
use stripewise_units::format_bytes;

/// Smaller shares affect a result less than its own spread.
const SHARE_MIN: f64 = 0.01;
/// A sample of some hundred blocks resolves shares from here on.
const SAMPLED_SHARE_MIN: f64 = 0.1;
/// From here on the result is mostly not the disk's.
const SHARE_VOID: f64 = 0.5;

/// What to measure instead.
fn write_it(evidence: &Evidence) -> &'static str {
    match evidence.target.kind {
        TargetKind::Device => {
            "measure a test file on its file system (name a directory there); a device without one has to be \
             written in full first, which destroys what is on it"
        }
        _ => {
            "measure a file written in full: `stripewise prepare PATH` makes one, or name a directory instead \
             of the file"
        }
    }
}

fn layout(evidence: &Evidence) -> Option<&FileLayout> {
    let layout = evidence.data.as_ref()?.layout.as_ref()?;
    (layout.size_bytes > 0).then_some(layout)
}

fn content(evidence: &Evidence) -> Option<&Content> {
    let content = &evidence.data.as_ref()?.content;
    (content.blocks > 0).then_some(content)
}

fn severity(part: u64, whole: u64) -> Severity {
    if part as f64 >= SHARE_VOID * whole as f64 {
        Severity::Void
    } else {
        Severity::Warning
    }
}

fn activity_of(evidence: &Evidence) -> &'static str {
    if evidence.reads() {
        "reads of them return zeros without the disk"
    } else {
        "writes to them first allocate space"
    }
}

/// Holes.
pub fn sparse_file(evidence: &Evidence) -> Option<Warning> {
    let layout = layout(evidence)?;
    let found = format!(
        "the file is sparse: {} of its {} were never allocated",
        format_bytes(layout.hole_bytes),
        format_bytes(layout.size_bytes)
    );
    without_the_disk(evidence, Code::SparseFile, layout.hole_bytes, &found)
}

/// Space that was reserved (`fallocate`) but not written.
pub fn never_written(evidence: &Evidence) -> Option<Warning> {
    let layout = layout(evidence)?;
    let found = format!(
        "{} of the file's {} are reserved but were never written",
        format_bytes(layout.unwritten_bytes),
        format_bytes(layout.size_bytes)
    );
    without_the_disk(evidence, Code::NeverWritten, layout.unwritten_bytes, &found)
}

/// The warning about a part of a file that is not on the disk, unless it is small.
fn without_the_disk(
    evidence: &Evidence,
    code: Code,
    part_bytes: u64,
    found: &str,
) -> Option<Warning> {
    let size_bytes = layout(evidence)?.size_bytes;
    if (part_bytes as f64) < SHARE_MIN * size_bytes as f64 {
        return None;
    }
    let share = percent(part_bytes, size_bytes);
    let message = format!("{found} ({share}), and {}", activity_of(evidence));
    Some(code.warning(
        severity(part_bytes, size_bytes),
        message,
        write_it(evidence),
    ))
}

/// Zeros on the disk, beyond those explained by holes.
pub fn zero_data(evidence: &Evidence) -> Option<Warning> {
    if !evidence.reads() {
        return None;
    }
    let content = content(evidence)?;
    let explained = layout(evidence).map_or(0.0, |layout| {
        let holes = layout.hole_bytes.saturating_add(layout.unwritten_bytes);
        holes as f64 / layout.size_bytes as f64
    });
    let share = content.blocks_zero as f64 / content.blocks as f64;
    if share - explained < SAMPLED_SHARE_MIN {
        return None;
    }
    let message = format!(
        "{} of {} sampled blocks are zeros ({}): many devices answer such reads without their media",
        content.blocks_zero,
        content.blocks,
        percent(content.blocks_zero, content.blocks)
    );
    let severity = severity(content.blocks_zero, content.blocks);
    Some(Code::ZeroData.warning(severity, message, write_it(evidence)))
}

/// Blocks that are copies of one another: read, or to be written.
pub fn repeating_data(evidence: &Evidence) -> Option<Warning> {
    let requested = evidence.workload.data.dedupable_percent;
    if evidence.writes() && requested > 0 {
        let message =
            format!("{requested} % of the written blocks are copies of one another, as asked");
        let hint = "compare only with runs of the same <--dedupable>";
        return Some(Code::RepeatingData.warning(Severity::Note, message, hint));
    }
    let sampled = sampled(evidence, |content| content.blocks_repeated)?;
    let message =
        format!("{sampled} repeat others: a device that deduplicates reads them from its cache");
    Some(Code::RepeatingData.warning(Severity::Warning, message, write_it(evidence)))
}

/// Blocks that compress: read, or to be written.
pub fn compressible_data(evidence: &Evidence) -> Option<Warning> {
    let requested = evidence.workload.data.compressible_percent;
    if evidence.writes() && requested > 0 {
        let message = format!("{requested} % of each written block is zeros, as asked");
        let hint = "compare only with runs of the same <--compressible>";
        return Some(Code::CompressibleData.warning(Severity::Note, message, hint));
    }
    let sampled = sampled(evidence, |content| content.blocks_compressible)?;
    let message = format!(
        "{sampled} can be compressed: a device that compresses moves fewer bytes than are counted"
    );
    let hint = match evidence.target.kind {
        TargetKind::Device => {
            "keep it so if the disk will hold such data; otherwise measure a test file: name a \
             directory on it"
        }
        _ => {
            "keep it so if the disk will hold such data; otherwise measure a test file: name a \
             directory instead of the file"
        }
    };
    Some(Code::CompressibleData.warning(Severity::Note, message, hint))
}

/// How many blocks sampled before reads match, as text, unless it is a small share.
fn sampled(evidence: &Evidence, count: impl Fn(&Content) -> u64) -> Option<String> {
    let content = content(evidence).filter(|_| evidence.reads())?;
    let part = count(content);
    if (part as f64) < SAMPLED_SHARE_MIN * content.blocks as f64 {
        return None;
    }
    let share = percent(part, content.blocks);
    Some(format!(
        "{part} of {} sampled blocks ({share})",
        content.blocks
    ))
}
