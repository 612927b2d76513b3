//! The rules of a workload: first those of the workload alone, then those of its target. A workload
//! that passes both has streams.

use crate::words::{SPARE_PERCENT, THETA_MAX};
use crate::{BlockShare, CursorKind, DataPattern, Distribution, Pattern, Rate, Span, Workload};
use std::fmt::Display;
use stripewise_units::{ByteSize, Hint, Nanoseconds, format_bytes, format_count};

/// Smallest and largest operation.
pub(crate) const BLOCK_SIZE_BYTES: std::ops::RangeInclusive<u64> = 512..=64 << 20;
/// Most threads in a job, as in fio: each has its own engine.
pub(crate) const THREADS_MAX: u32 = 4_096;
/// Most operations in flight per thread.
pub(crate) const OUTSTANDING_MAX: u32 = 4_096;
/// Most operations in flight per job.
pub(crate) const OUTSTANDING_TOTAL_MAX: u64 = 65_536;
/// Nanoseconds of a year, the longest ramp or duration: more is a typing error.
pub const TIME_NS_MAX: u64 = 366 * 24 * 3600 * 1_000_000_000;
/// One operation per nanosecond.
const IOPS_MAX: f64 = 1e9;

/// An invalid workload, with a hint for a fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}{} {why}", given(value))]
pub struct WorkloadError {
    option: &'static str,
    value: String,
    why: String,
    hint: Hint,
}

/// The value as it follows its option; empty for a switch.
fn given(value: &str) -> String {
    match value {
        "true" => String::new(),
        value => format!(" {value}"),
    }
}

impl WorkloadError {
    /// `option` has the name of the switch; `why` completes the sentence.
    pub(crate) fn new(
        option: &'static str,
        value: impl Display,
        why: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> Self {
        WorkloadError {
            option,
            value: value.to_string(),
            why: why.into(),
            hint: hint.into(),
        }
    }

    /// The name of the switch concerned, without dashes: `block`.
    pub const fn option(&self) -> &'static str {
        self.option
    }

    /// How to fix it.
    pub fn hint(&self) -> &Hint {
        &self.hint
    }
}

/// The properties of a target that a workload depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetLimits {
    /// Its whole size.
    pub size_bytes: u64,
    /// Its logical sector, a power of two of at least 512.
    pub logical_sector_bytes: u32,
}

/// Checks everything that does not depend on a target.
///
/// # Errors
/// The first rule that is broken.
pub fn check(workload: &Workload) -> Result<(), WorkloadError> {
    if workload.read_percent > 100 {
        let (why, hint) = ("is above 100", "give 0 (only writes) to 100 (only reads)");
        return Err(WorkloadError::new(
            "read-percent",
            workload.read_percent,
            why,
            hint,
        ));
    }
    check_discards(workload)?;
    check_block(workload)?;
    check_concurrency(workload)?;
    check_times(workload)?;
    check_pattern(workload.pattern)?;
    check_block_sizes(workload)?;
    check_one_pass(workload)?;
    workload.rate.map_or(Ok(()), check_rate)?;
    check_data(workload.data)?;
    check_think_time(workload)?;
    if workload.in_turn && workload.rate.is_some() {
        let why = "cannot be combined with --rate: arrivals are shared out over the targets";
        let hint = "leave out --rate, or --in-turn";
        return Err(WorkloadError::new("in-turn", "true", why, hint));
    }
    check_atomic(workload)?;
    check_dsync(workload)?;
    check_poll(workload)?;
    check_sync(workload)
}

/// Checks `workload` against its target and calculates the span.
///
/// ```
/// use stripewise_workload::{TargetLimits, Workload, validate};
///
/// let workload = Workload { base_offset_bytes: 32_256, ..Workload::default() };
/// let target = TargetLimits { size_bytes: 1 << 30, logical_sector_bytes: 512 };
/// let span = validate(&workload, target)?;
/// assert_eq!((span.start_bytes, span.blocks), (32_256, 131_068));
/// # Ok::<(), stripewise_workload::WorkloadError>(())
/// ```
///
/// # Errors
/// The first rule that is broken.
pub fn validate(workload: &Workload, target: TargetLimits) -> Result<Span, WorkloadError> {
    check(workload)?;
    check_sectors(workload, target)?;
    let (start, block) = (workload.base_offset_bytes, workload.block_size_bytes);
    let left = target.size_bytes.saturating_sub(start);
    if left < block && start == 0 {
        let why = format!(
            "is more than the target has: {} bytes",
            format_count(target.size_bytes)
        );
        let hint = "give a smaller <--block>, or a larger <--size> or target";
        return Err(WorkloadError::new("block", ByteSize(block), why, hint));
    }
    if left < block {
        let why = format!("leaves no room for a block of {}", ByteSize(block));
        let hint = format!(
            "the target has {} bytes ({})",
            format_count(target.size_bytes),
            format_bytes(target.size_bytes)
        );
        return Err(WorkloadError::new(
            "base-offset",
            ByteSize(start),
            why,
            hint,
        ));
    }
    let size = workload.size_bytes.unwrap_or(left);
    if size > left {
        let why = format!(
            "goes past the end of the target, which is {} bytes",
            target.size_bytes
        );
        let hint = format!("from offset {} on there are {left} bytes", ByteSize(start));
        return Err(WorkloadError::new("size", ByteSize(size), why, hint));
    }
    let blocks = size / block;
    if blocks == 0 {
        let why = format!("is less than one block of {}", ByteSize(block));
        let hint = "give a larger <--size> or a smaller <--block>";
        return Err(WorkloadError::new("size", ByteSize(size), why, hint));
    }
    let span = Span {
        start_bytes: start,
        block_size_bytes: block,
        blocks,
    };
    if let Pattern::Stride { stride_bytes, .. } = workload.pattern
        && stride_bytes >= span.size_bytes()
    {
        let why = format!(
            "does not fit in the {} in use",
            format_bytes(span.size_bytes())
        );
        let hint = "give a stride below the size in use, or <--sequential>";
        return Err(WorkloadError::new(
            "stride",
            ByteSize(stride_bytes),
            why,
            hint,
        ));
    }
    Ok(span)
}

/// Reads and discards are shares of all operations; the rest are writes.
fn check_discards(workload: &Workload) -> Result<(), WorkloadError> {
    let (reads, discards) = (workload.read_percent, workload.discard_percent);
    if discards > 100 {
        let (why, hint) = ("is above 100", "give 0 to 100 (only discards)");
        return Err(WorkloadError::new("discard-percent", discards, why, hint));
    }
    if reads + discards > 100 {
        let why = format!("and {reads} % of reads are more than all operations");
        let hint = "give a smaller <--read-percent>, or fewer discards";
        return Err(WorkloadError::new("discard-percent", discards, why, hint));
    }
    Ok(())
}

fn check_block(workload: &Workload) -> Result<(), WorkloadError> {
    if BLOCK_SIZE_BYTES.contains(&workload.block_size_bytes) {
        return Ok(());
    }
    let block = ByteSize(workload.block_size_bytes);
    let why = "is outside of 512 bytes to 64 MiB";
    Err(WorkloadError::new(
        "block",
        block,
        why,
        "8K is what most databases read and write",
    ))
}

/// A pass is a single order of writes.
fn check_one_pass(workload: &Workload) -> Result<(), WorkloadError> {
    let Pattern::Random {
        distribution: distribution @ Distribution::OnePass { .. },
    } = workload.pattern
    else {
        return Ok(());
    };
    let refuse = |why, hint| Err(WorkloadError::new("distribution", distribution, why, hint));
    if workload.read_percent > 0 || workload.discards() {
        return refuse("is a pass of writes alone", "add <--write>");
    }
    if workload.threads > 1 {
        let hint = "give one thread, and more <--outstanding>";
        return refuse("is one order of writes, for one thread", hint);
    }
    Ok(())
}

/// The additional rules of several block sizes.
fn check_block_sizes(workload: &Workload) -> Result<(), WorkloadError> {
    let sizes = &workload.block_sizes;
    let Some(largest_bytes) = sizes.largest_bytes() else {
        return Ok(());
    };
    let refuse = |why: &str, hint: &str| Err(WorkloadError::new("block", sizes, why, hint));
    let outside = |share: &BlockShare| !BLOCK_SIZE_BYTES.contains(&share.size_bytes);
    if sizes.shares().iter().any(outside) {
        let why = "has a size outside of 512 bytes to 64 MiB";
        return refuse(why, "8K is what most databases read and write");
    }
    if largest_bytes != workload.block_size_bytes {
        let why = "does not agree with block_size_bytes, which is the largest of several sizes";
        return refuse(why, "set block_size_bytes to the largest size");
    }
    match workload.pattern {
        Pattern::Stride { .. } => refuse(
            "has several sizes, and a stride goes from block to block of one",
            "give one size, or --random or <--sequential>",
        ),
        Pattern::Sequential {
            cursor: CursorKind::Columns,
        } => refuse(
            "has several sizes, and columns are dealt out in blocks of one",
            "give one size, or --cursor own or shared",
        ),
        Pattern::Random {
            distribution: Distribution::OnePass { .. },
        } => refuse(
            "has several sizes, and a pass counts blocks of one",
            "give one size, or <--distribution> uniform",
        ),
        Pattern::Random {
            distribution: Distribution::Covering,
        } => refuse(
            "has several sizes, and covering counts blocks of one",
            "give one size, or <--distribution> uniform",
        ),
        Pattern::Random { .. } | Pattern::Sequential { .. } => Ok(()),
    }
}

fn check_concurrency(workload: &Workload) -> Result<(), WorkloadError> {
    let (threads, outstanding) = (workload.threads, workload.outstanding);
    if !(1..=THREADS_MAX).contains(&threads) {
        let hint = match threads {
            0 => "one thread is the default",
            _ => "to keep more in flight, raise <--outstanding>",
        };
        let why = format!("is outside of 1 to {THREADS_MAX}");
        return Err(WorkloadError::new("threads", threads, why, hint));
    }
    if !(1..=OUTSTANDING_MAX).contains(&outstanding) {
        let hint = match outstanding {
            0 => "1 is the default: one operation at a time in each thread",
            _ => "it counts for each thread; add <--threads>",
        };
        let why = "is outside of 1 to 4096";
        return Err(WorkloadError::new("outstanding", outstanding, why, hint));
    }
    let total = u64::from(threads) * u64::from(outstanding);
    if total > OUTSTANDING_TOTAL_MAX {
        let why = format!(
            "with {threads} threads makes {} operations in flight; the limit is 65,536",
            format_count(total)
        );
        let hint = format!(
            "give <--outstanding> {} or less",
            OUTSTANDING_TOTAL_MAX / u64::from(threads)
        );
        return Err(WorkloadError::new("outstanding", outstanding, why, hint));
    }
    Ok(())
}

fn check_times(workload: &Workload) -> Result<(), WorkloadError> {
    if workload.duration_ns == 0 {
        let (why, hint) = ("measures nothing", "give a time such as 10s");
        return Err(WorkloadError::new("duration", "0s", why, hint));
    }
    let times = [
        ("duration", workload.duration_ns),
        ("ramp", workload.ramp_ns),
    ];
    for (option, ns) in times {
        if ns > TIME_NS_MAX {
            let (why, hint) = ("is longer than a year", "give a time such as 10s, 5m or 2h");
            return Err(WorkloadError::new(option, Nanoseconds(ns), why, hint));
        }
    }
    Ok(())
}

fn check_pattern(pattern: Pattern) -> Result<(), WorkloadError> {
    let percents = 1..=99;
    match pattern {
        Pattern::Random { distribution } => {
            let good = match distribution {
                Distribution::Uniform | Distribution::Covering => true,
                Distribution::Zipf { theta } => theta > 0.0 && theta <= THETA_MAX,
                Distribution::Hot {
                    space_percent,
                    operations_percent,
                } => percents.contains(&space_percent) && percents.contains(&operations_percent),
                Distribution::OnePass { spare_percent } => SPARE_PERCENT.contains(&spare_percent),
            };
            if good {
                return Ok(());
            }
            let why = "is out of range";
            let hint = "zipf:THETA takes 0 < THETA <= 5; hot:SPACE/OPERATIONS takes 1 to 99, one-pass:PERCENT 1 to 100";
            Err(WorkloadError::new("distribution", distribution, why, hint))
        }
        Pattern::Stride {
            stride_bytes: 0, ..
        } => {
            let (why, hint) = (
                "never moves",
                "give the bytes from start to start, such as 64K",
            );
            Err(WorkloadError::new("stride", 0, why, hint))
        }
        Pattern::Sequential { .. } | Pattern::Stride { .. } => Ok(()),
    }
}

fn check_rate(rate: Rate) -> Result<(), WorkloadError> {
    if rate.iops > 0.0 && rate.iops <= IOPS_MAX {
        return Ok(());
    }
    let why = "is not above 0, or is above 1,000,000,000 operations a second";
    let hint = "leave <--rate> out to go as fast as the disk does";
    Err(WorkloadError::new("rate", rate.iops, why, hint))
}

fn check_think_time(workload: &Workload) -> Result<(), WorkloadError> {
    let Some(think) = workload.think_time else {
        return Ok(());
    };
    let refuse = |why: &str, hint: &str| Err(WorkloadError::new("think-time", think, why, hint));
    if workload.rate.is_some() {
        let why = "cannot be combined with --rate: the operations of an open loop arrive on a schedule, whether the one before has been answered or not";
        return refuse(why, "leave out --rate, or --think-time");
    }
    if think.pause_ns == 0 {
        return refuse(
            "is not a valid pause",
            "give a time such as 10ms, or leave it out",
        );
    }
    if think.pause_ns > TIME_NS_MAX {
        return refuse("is longer than a year", "give a time such as 10ms");
    }
    if think.every == 0 {
        return refuse(
            "has no operations between two pauses",
            "give a number from 1 on after the colon",
        );
    }
    Ok(())
}

fn check_data(data: DataPattern) -> Result<(), WorkloadError> {
    let shares = [
        ("compressible", data.compressible_percent),
        ("dedupable", data.dedupable_percent),
    ];
    for (option, percent) in shares {
        if percent > 100 {
            let (why, hint) = ("is above 100", "give 0 to 100 percent");
            return Err(WorkloadError::new(option, percent, why, hint));
        }
    }
    Ok(())
}

fn check_sync(workload: &Workload) -> Result<(), WorkloadError> {
    let Some(sync) = workload.sync else {
        return Ok(());
    };
    if sync.every == 0 {
        let (why, hint) = ("never syncs", "give fdatasync, fsync or fdatasync:N");
        return Err(WorkloadError::new("sync", sync, why, hint));
    }
    if !workload.writes() {
        let (why, hint) = ("has no writes to sync", "add <--write> or <--read-percent>");
        return Err(WorkloadError::new("sync", sync, why, hint));
    }
    Ok(())
}

/// The kernel accepts an atomic write only with direct I/O, with a power of two of bytes, at a
/// multiple of its length.
fn check_atomic(workload: &Workload) -> Result<(), WorkloadError> {
    if !workload.atomic {
        return Ok(());
    }
    let refuse = |why: String, hint: &str| Err(WorkloadError::new("atomic", "true", why, hint));
    if !workload.writes() {
        return refuse(
            "has no writes to keep whole".to_owned(),
            "add <--write> or <--read-percent>",
        );
    }
    if !workload.cache.is_direct() {
        return refuse(
            format!(
                "cannot be combined with --cache {}: atomic writes go past the page cache",
                workload.cache
            ),
            "use <--cache> direct or direct-sync",
        );
    }
    let block = workload.block_size_bytes;
    if !workload.block_sizes.is_empty() || !block.is_power_of_two() {
        return refuse(
            format!(
                "needs one block size that is a power of two, not {}",
                workload.block_text()
            ),
            "give a <--block> such as 4K or 16K",
        );
    }
    let stride = match workload.pattern {
        Pattern::Stride { stride_bytes, .. } => stride_bytes,
        Pattern::Random { .. } | Pattern::Sequential { .. } => 0,
    };
    for (what, bytes) in [
        ("base offset", workload.base_offset_bytes),
        ("stride", stride),
    ] {
        if !bytes.is_multiple_of(block) {
            return refuse(
                format!(
                    "needs writes at multiples of their size, and the {what} of {} is no multiple of {}",
                    ByteSize(bytes),
                    ByteSize(block)
                ),
                "give an offset and a stride that are multiples of <--block>",
            );
        }
    }
    Ok(())
}

/// Modes that make writes durable need no flag.
fn check_dsync(workload: &Workload) -> Result<(), WorkloadError> {
    if !workload.dsync {
        return Ok(());
    }
    let refuse = |why: String, hint: &str| Err(WorkloadError::new("dsync", "true", why, hint));
    if !workload.writes() {
        return refuse(
            "has no writes to make durable".to_owned(),
            "add <--write> or <--read-percent>",
        );
    }
    if workload.cache.is_durable() {
        return refuse(
            format!(
                "cannot be combined with --cache {}: its writes are durable by O_DSYNC",
                workload.cache
            ),
            "use <--cache> direct or buffered, or leave out --dsync",
        );
    }
    Ok(())
}

/// The kernel polls only for direct reads and writes.
fn check_poll(workload: &Workload) -> Result<(), WorkloadError> {
    if !workload.poll {
        return Ok(());
    }
    let refuse = |why: String, hint: &str| Err(WorkloadError::new("poll", "true", why, hint));
    if !workload.cache.is_direct() {
        return refuse(
            format!(
                "cannot be combined with --cache {}: only direct operations can be polled for",
                workload.cache
            ),
            "use <--cache> direct or direct-sync",
        );
    }
    if workload.discards() {
        return refuse(
            "cannot be combined with discards: the kernel cannot poll for their end".to_owned(),
            "leave out --poll, or the discards",
        );
    }
    if workload.sync.is_some() {
        return refuse(
            "cannot be combined with --sync: the kernel cannot poll for the end of a sync"
                .to_owned(),
            "use <--cache> direct-sync, or leave out --poll",
        );
    }
    Ok(())
}

/// In the direct modes everything must be whole logical sectors.
fn check_sectors(workload: &Workload, target: TargetLimits) -> Result<(), WorkloadError> {
    if !workload.cache.is_direct() {
        return Ok(());
    }
    let sector = u64::from(target.logical_sector_bytes.max(1));
    let stride = match workload.pattern {
        Pattern::Stride { stride_bytes, .. } => stride_bytes,
        Pattern::Random { .. } | Pattern::Sequential { .. } => 0,
    };
    let several = workload.block_sizes.shares().iter();
    let sizes = [
        ("block", workload.block_size_bytes),
        ("base-offset", workload.base_offset_bytes),
        ("stride", stride),
    ];
    for (option, bytes) in sizes
        .into_iter()
        .chain(several.map(|share| ("block", share.size_bytes)))
    {
        if !bytes.is_multiple_of(sector) {
            let why = format!(
                "is not a multiple of the target's logical sector of {sector} bytes, which --cache {} needs",
                workload.cache
            );
            let above = ByteSize(bytes.next_multiple_of(sector));
            let hint = format!("the next multiple is {above}; <--cache> buffered takes any");
            return Err(WorkloadError::new(option, ByteSize(bytes), why, hint));
        }
    }
    Ok(())
}
