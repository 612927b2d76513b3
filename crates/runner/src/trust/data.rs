//! Warnings about the bytes themselves: what was never written needs no disk to
//! be read, and what repeats or compresses needs less of one.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_disk_inspect::content::Content;
use stripewise_disk_inspect::storage::FileLayout;
use stripewise_results::{Severity, Warning};
use stripewise_units::format_bytes;

/// Smaller shares change a result less than its own spread.
const SHARE_MIN: f64 = 0.01;
/// A sample of some hundred blocks tells shares from here on.
const SAMPLED_SHARE_MIN: f64 = 0.1;
/// From here on the number is mostly not the disk's.
const SHARE_VOID: f64 = 0.5;

const WRITE_IT: &str = "measure a file written in full: `stripewise prepare PATH` makes one, or name a \
                        directory instead of the file";

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

fn what_it_does(evidence: &Evidence) -> &'static str {
    if evidence.reads() {
        "reads of them return zeros without the disk"
    } else {
        "writes to them first allocate space"
    }
}

/// Holes.
pub fn sparse_file(evidence: &Evidence) -> Option<Warning> {
    let layout = layout(evidence)?;
    if (layout.hole_bytes as f64) < SHARE_MIN * layout.size_bytes as f64 {
        return None;
    }
    let message = format!(
        "the file is sparse: {} of its {} were never allocated ({}), and {}",
        format_bytes(layout.hole_bytes),
        format_bytes(layout.size_bytes),
        percent(layout.hole_bytes, layout.size_bytes),
        what_it_does(evidence)
    );
    let severity = severity(layout.hole_bytes, layout.size_bytes);
    Some(Code::SparseFile.warning(severity, message, WRITE_IT))
}

/// Space that was reserved (`fallocate`) but not written.
pub fn never_written(evidence: &Evidence) -> Option<Warning> {
    let layout = layout(evidence)?;
    if (layout.unwritten_bytes as f64) < SHARE_MIN * layout.size_bytes as f64 {
        return None;
    }
    let message = format!(
        "{} of the file's {} are reserved but were never written ({}), and {}",
        format_bytes(layout.unwritten_bytes),
        format_bytes(layout.size_bytes),
        percent(layout.unwritten_bytes, layout.size_bytes),
        what_it_does(evidence)
    );
    let severity = severity(layout.unwritten_bytes, layout.size_bytes);
    Some(Code::NeverWritten.warning(severity, message, WRITE_IT))
}

/// Zeros on the disk, beyond those that holes explain.
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
    Some(Code::ZeroData.warning(severity, message, WRITE_IT))
}

/// Blocks that are copies of one another: read, or to be written.
pub fn repeating_data(evidence: &Evidence) -> Option<Warning> {
    let asked = evidence.workload.data.dedupable_percent;
    if evidence.writes() && asked > 0 {
        let message =
            format!("{asked} % of the written blocks are copies of one another, as asked");
        let hint = "compare only with runs of the same --dedupable";
        return Some(Code::RepeatingData.warning(Severity::Note, message, hint));
    }
    let content = content(evidence).filter(|_| evidence.reads())?;
    if (content.blocks_repeated as f64) < SAMPLED_SHARE_MIN * content.blocks as f64 {
        return None;
    }
    let message = format!(
        "{} of {} sampled blocks repeat others ({}): a device that deduplicates reads them from its cache",
        content.blocks_repeated,
        content.blocks,
        percent(content.blocks_repeated, content.blocks)
    );
    Some(Code::RepeatingData.warning(Severity::Warning, message, WRITE_IT))
}

/// Blocks that compress: read, or to be written.
pub fn compressible_data(evidence: &Evidence) -> Option<Warning> {
    let asked = evidence.workload.data.compressible_percent;
    if evidence.writes() && asked > 0 {
        let message = format!("{asked} % of each written block is zeros, as asked");
        let hint = "compare only with runs of the same --compressible";
        return Some(Code::CompressibleData.warning(Severity::Note, message, hint));
    }
    let content = content(evidence).filter(|_| evidence.reads())?;
    if (content.blocks_compressible as f64) < SAMPLED_SHARE_MIN * content.blocks as f64 {
        return None;
    }
    let message = format!(
        "{} of {} sampled blocks can be compressed ({}): a device that compresses moves fewer bytes than we count",
        content.blocks_compressible,
        content.blocks,
        percent(content.blocks_compressible, content.blocks)
    );
    let hint = "if that is the data that the disk will serve, keep it so; else measure a test file: name a \
                directory instead of the file";
    Some(Code::CompressibleData.warning(Severity::Note, message, hint))
}
