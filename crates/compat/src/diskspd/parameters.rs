//! The `Input parameters:` of DiskSpd's text, in the wording of all versions from 2.0.11 to 2.2.

use super::record::{COUNT_MAX, Limit, Target, TimeSpan, random, seconds_ns, steps};
use crate::quantity::number_and_unit;
use stripewise_workload::{CacheMode, Pattern};

/// Lines about caches. One about write-through alone modifies an earlier line; a cache disabled on
/// the local side only has no equivalent cache mode.
const CACHES: [(&str, CacheLine); 9] = [
    ("using software cache", CacheLine::Mode(CacheMode::Buffered)),
    (
        "using software and hardware write cache",
        CacheLine::Mode(CacheMode::Buffered),
    ),
    (
        "using software and hardware cache",
        CacheLine::Mode(CacheMode::Buffered),
    ),
    (
        "software cache disabled",
        CacheLine::Mode(CacheMode::Direct),
    ),
    (
        "software and hardware write cache disabled",
        CacheLine::Mode(CacheMode::DirectSync),
    ),
    (
        "software and hardware cache disabled",
        CacheLine::Mode(CacheMode::DirectSync),
    ),
    (
        "hardware write cache disabled, writethrough on",
        CacheLine::WriteThrough,
    ),
    (
        "hardware and software write caches disabled, writethrough on",
        CacheLine::WriteThrough,
    ),
    ("memory mapped I/O enabled", CacheLine::UnsupportedMode),
];

#[derive(Clone, Copy)]
enum CacheLine {
    Mode(CacheMode),
    WriteThrough,
    UnsupportedMode,
}

/// Parses a parameter of the whole time span; returns whether the line was one.
pub(super) fn span_parameter(span: &mut TimeSpan, words: &str) -> bool {
    let after = |name: &str| {
        words
            .strip_prefix(name)
            .map(|rest| rest.trim().trim_end_matches('s'))
    };
    if let Some(time) = after("duration:") {
        span.asked_ns = seconds_ns(time);
    } else if let Some(time) = after("warm up time:") {
        span.ramp_ns = seconds_ns(time);
    } else if words == "measuring latency" {
        span.measures_latency = true;
    } else if let Some(seed) = after("random seed:") {
        span.seed = seed.parse().ok();
    } else if let Some(threads) = words.strip_prefix("thread pool with ") {
        span.threads_in_all = threads.strip_suffix(" threads").and_then(count);
    } else if span.targets.is_empty()
        && let Some(requests) = after("number of outstanding I/O operations per thread:")
    {
        span.requests_of_thread = count(requests);
    } else {
        return false;
    }
    true
}

/// A number of threads or operations, never 0.
pub(super) fn count(text: &str) -> Option<u32> {
    let number: u64 = text.trim().parse().ok()?;
    (1..=COUNT_MAX).contains(&number).then_some(number as u32)
}

/// Parses a parameter of the target named by the last `path:`.
pub(super) fn target_parameter(target: &mut Target, words: &str) {
    if words.contains("writethrough o") {
        target.cache_by_default = false;
    }
    if let Some((_, cache_line)) = CACHES.iter().find(|(line, _)| words.starts_with(line)) {
        // Since 2.0.17 two lines describe both caches.
        let of_one = ["using software cache", "software cache disabled"];
        target.cache_by_default |= of_one.contains(&words);
        match cache_line {
            CacheLine::Mode(mode) => target.cache = Some(*mode),
            CacheLine::WriteThrough => {
                target.cache = target
                    .cache
                    .map(|mode| CacheMode::of(mode.is_direct(), true));
            }
            CacheLine::UnsupportedMode => target.cache = None,
        }
    } else if words == "performing read test" {
        target.read_percent = Some(100);
    } else if words == "performing write test" {
        target.read_percent = Some(0);
    } else if let Some(rest) = words.strip_prefix("performing mix test (read/write ratio: ") {
        target.read_percent = first_share(rest);
    } else if let Some(rest) = words.strip_prefix("performing mix test (write/read ratio: ") {
        // Up to 2.0.12: the percentage of writes.
        target.read_percent = first_share(rest).map(|writes| 100 - writes);
    } else if let Some(size) = words.strip_prefix("block size:") {
        target.block_bytes = bytes(size).filter(|bytes| *bytes > 0);
    } else if let Some(size) = words.strip_prefix("max file size:") {
        target.end_bytes = bytes(size);
    } else if let Some(time) = words.strip_prefix("think time:") {
        target.think_ms = time
            .trim()
            .strip_suffix("ms")
            .and_then(|ms| ms.parse().ok());
    } else if let Some(burst) = words.strip_prefix("burst size:") {
        target.burst = burst.trim().parse().ok();
    } else if let Some(limit) = words.strip_prefix("throughput rate-limited to ") {
        target.limit = limit_of(limit);
    } else if words == "using parallel async I/O" {
        target.is_parallel = true;
    } else if words.starts_with("IO Distribution:") {
        target.is_uneven = true;
    } else if words.starts_with("using random I/O") {
        target.pattern = Some(random()).filter(|_| !target.is_parallel);
    } else if words.starts_with("using sequential I/O")
        || words.starts_with("using interlocked sequential I/O")
    {
        let shared = words.contains("interlocked");
        let step = words
            .split_once("stride:")
            .and_then(|(_, rest)| bytes(rest.trim_end_matches(')')));
        target.pattern = walk(target, step, shared).filter(|_| !target.is_parallel);
    } else if let Some(step) = words.strip_prefix("stride size:") {
        // Up to 2.0.14 only this line shows that positions are not random.
        if target.pattern.is_none() {
            target.pattern = walk(target, bytes(step), false);
        }
    } else if words.starts_with("number of outstanding I/O operations") {
        target.outstanding = words.rsplit(':').next().and_then(count);
    } else if let Some(threads) = words.strip_prefix("threads per file:") {
        target.threads = count(threads);
    } else if let Some(offset) = words.strip_prefix("base file offset:") {
        target.base_offset_bytes = bytes(offset);
    }
}

/// `300 IOPS`, `1024 B/ms`.
fn limit_of(text: &str) -> Option<Limit> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number = number.parse().ok()?;
    match unit {
        "IOPS" => Some(Limit::Iops(number)),
        _ => unit
            .starts_with("B/ms")
            .then_some(Limit::BytesPerMs(number)),
    }
}

/// Steps of a target whose block size was given before.
fn walk(target: &Target, step: Option<u64>, shared: bool) -> Option<Pattern> {
    let step = step.filter(|step| *step > 0);
    // Sizes with decimals are rounded; without the block size it is unknown whether a step equals
    // one block.
    (step.is_none() || target.block_bytes.is_some())
        .then(|| steps(step, target.block_bytes, shared))
}

/// `70/30)`.
fn first_share(text: &str) -> Option<u8> {
    let share: u8 = text.split('/').next()?.trim().parse().ok()?;
    (share <= 100).then_some(share)
}

/// `8192`, `8KiB`, `64K`, `1MiB`; the unit is 1,024 in all spellings. `1.95GiB` is rounded, so it
/// gives no exact number of bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = number_and_unit(text)?;
    let shift = match unit.trim() {
        "" | "B" => 0,
        "KiB" | "KB" | "K" => 10,
        "MiB" | "MB" | "M" => 20,
        "GiB" | "GB" | "G" => 30,
        "TiB" | "TB" | "T" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}
