//! Warnings about how much of the device is used.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_results::{Severity, TargetKind, Warning};
use stripewise_units::format_bytes;
use stripewise_workload::{Distribution, Pattern};

/// Multiple of the cache size at which hits hardly matter.
const CACHE_FACTOR: u64 = 4;
/// Cache that any disk or controller may have.
const CACHE_ASSUMED_BYTES: u64 = 256 << 20;
/// Caches of arrays can be this large: whether a smaller span fits in one is unknown.
const CACHE_UNKNOWN_BYTES: u64 = 64 << 30;
/// Below this share of a spinning disk the arm hardly moves.
const SPAN_SHARE_MIN: f64 = 0.1;

/// The span fits in the device's cache, or in memory if that is in the path.
pub fn smaller_than_cache(evidence: &Evidence) -> Option<Warning> {
    if !evidence.is_real() {
        return None;
    }
    let memory = evidence.host.memory_bytes;
    let memory = memory.filter(|_| evidence.may_end_in_memory());
    let (cache, whose) = match (evidence.cache_size_bytes, memory) {
        (Some(cache), Some(memory)) if memory > cache => (memory, "this machine's memory"),
        (Some(cache), _) => (cache, "the cache size that you gave"),
        (None, Some(memory)) => (memory, "this machine's memory"),
        (None, None) => (
            CACHE_ASSUMED_BYTES,
            "the cache that a disk or controller commonly has",
        ),
    };
    let span = evidence.span_bytes();
    if span > cache {
        let is_reported = evidence.cache_size_bytes.is_some() || memory.is_some();
        return (!is_reported && span <= CACHE_UNKNOWN_BYTES).then(|| cache_unknown(span));
    }
    let message = format!(
        "the {} in use fit in {whose} ({}): the number may be the cache's",
        format_bytes(span),
        format_bytes(cache)
    );
    let wanted = cache.saturating_mul(CACHE_FACTOR);
    let hint = match evidence.workload.size_bytes {
        Some(_) if evidence.target.size_bytes >= wanted => {
            format!(
                "give a larger <--size> (now {}): {} or more",
                format_bytes(span),
                format_bytes(wanted)
            )
        }
        _ if evidence.target.kind == TargetKind::TestFile => {
            format!("use {} or more: <--size>", format_bytes(wanted))
        }
        _ => format!(
            "use a larger file or device: {} or more",
            format_bytes(wanted)
        ),
    };
    let short = format!(
        "the {} in use fit in a cache of {}",
        format_bytes(span),
        format_bytes(cache)
    );
    let warning = Code::SmallerThanCache.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

/// The cache size was not given, and arrays have large ones.
fn cache_unknown(span: u64) -> Warning {
    let message = format!(
        "whether the {} in use fit in a cache of the controller or array is unknown; if they do, \
         it may have answered all of it",
        format_bytes(span)
    );
    let hint = "say how large it is with <--cache-size>, or use four times as much: <--size>";
    let short = format!(
        "the {} in use may fit in an array's cache",
        format_bytes(span)
    );
    let warning = Code::SmallerThanCache.warning(Severity::Note, message, hint);
    warning.shortened(short)
}

/// The write order that brings an empty drive to its steady state, where the drive is not empty or
/// not all of it is written.
pub fn one_pass_in_part(evidence: &Evidence) -> Option<Warning> {
    let Pattern::Random {
        distribution: Distribution::OnePass { .. },
    } = evidence.workload.pattern
    else {
        return None;
    };
    let (span, size) = (evidence.span_bytes(), evidence.target.size_bytes);
    let what = match evidence.target.kind {
        TargetKind::File | TargetKind::TestFile => {
            "a file, and the drive behind it holds a file system and whatever else was written to it"
                .to_owned()
        }
        TargetKind::Device if span < size => {
            format!("{} of a device of {}", format_bytes(span), format_bytes(size))
        }
        TargetKind::Device | TargetKind::Simulated | TargetKind::Null => return None,
    };
    let message = format!(
        "one pass leaves a drive in its steady state only where the drive was empty and all of it \
         is written; this is {what}: what is measured afterwards may not be steady"
    );
    let hint = "name the whole drive with --destroy, and discard it before; a file is preconditioned by \
                `bench --thorough` with its sequential pass";
    let short = "one pass over a part of a drive: it may not be in its steady state";
    let warning = Code::OnePassInPart.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

/// A small part of a spinning disk: short strokes.
pub fn narrow_span(evidence: &Evidence) -> Option<Warning> {
    let storage = evidence.storage.as_ref()?;
    let bottom = storage.bottom();
    let spinning = |device: &&&stripewise_disk_inspect::storage::BlockDevice| {
        device.queue.rotational == Some(true)
    };
    let disks: Vec<_> = bottom
        .iter()
        .filter(spinning)
        .filter(|device| device.looped.is_none())
        .collect();
    let size: u64 = disks
        .iter()
        .fold(0, |sum, device| sum.saturating_add(device.size_bytes));
    let span = evidence.span_bytes();
    if size == 0 || span as f64 >= SPAN_SHARE_MIN * size as f64 {
        return None;
    }
    let names: Vec<&str> = disks.iter().map(|device| device.name.as_str()).collect();
    // Virtual disks report themselves as spinning whatever backs them.
    let is_virtual = evidence.host.virtualization.is_some()
        || disks.iter().any(|device| device.spins().is_none());
    let (severity, spins) = if is_virtual {
        (
            Severity::Note,
            "which reports that it is rotational (virtual disks often do)",
        )
    } else {
        (Severity::Warning, "a spinning disk")
    };
    let message = format!(
        "the {} in use span {} of {} ({}), {spins}: short seeks are faster than those over the whole disk",
        format_bytes(span),
        percent(span, size),
        names.join(", "),
        format_bytes(size)
    );
    let hint = if evidence.target.kind == TargetKind::Device {
        match evidence.workload.size_bytes {
            Some(_) => "leave out <--size> to use all of the device",
            None => {
                "measure the whole disk (reading changes nothing on it) if the rest of it matters"
            }
        }
    } else if evidence.quick {
        "bench --thorough with a larger <--size>, or measure the device itself (reading changes nothing on it)"
    } else {
        "use a larger <--size>, or measure the device itself (reading changes nothing on it)"
    };
    let short = format!(
        "the {} in use are {} of {}: short seeks",
        format_bytes(span),
        percent(span, size),
        names.join(", ")
    );
    Some(
        Code::NarrowSpan
            .warning(severity, message, hint)
            .shortened(short),
    )
}
