//! The next operation of a role, modelled on SQL Server's types of I/O: pages of 8 KiB, checkpoint
//! bursts, log appends, read-ahead.

use crate::map::Map;
use crate::stamp::Origin;
use crate::stream::mix;
use crate::verify_targets::TargetLayout;
use crate::worker_identity::{Phase, Role, WorkerIdentity};

use std::ops::Range;

/// Numbers derived from a seed.
#[derive(Clone, Debug)]
pub struct SeededRng(u64);

impl SeededRng {
    /// For this seed.
    pub fn new(seed: u64) -> Self {
        SeededRng(seed)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }
}

/// An operation not issued yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DraftOperation {
    /// For a write.
    pub origin: Option<Origin>,
    pub durable: bool,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

impl DraftOperation {
    pub(crate) fn read(offset_bytes: u64, length_bytes: u32) -> DraftOperation {
        DraftOperation {
            origin: None,
            durable: false,
            offset_bytes,
            length_bytes,
        }
    }
}

/// Page operations between two checkpoints.
const CHECKPOINT_EVERY: u32 = 512;
/// Writes of a checkpoint.
const CHECKPOINT_WRITES: u32 = 32;
/// Bytes of a checkpoint's largest write.
const CHECKPOINT_BYTES_MAX: u64 = 256 << 10;
/// Log appends between two reads of appended data.
const LOG_READ_EVERY: u32 = 64;
/// Bytes of such a read.
const LOG_READ_BYTES: u64 = 120 << 10;
/// Attempts to draw a location before a part counts as used up by faults.
const TRIES: u32 = 256;

/// The blocks that one worker processes.
#[derive(Debug)]
pub(crate) struct WorkerBlocks {
    role: Role,
    /// Its own blocks.
    part: Range<u64>,
    cursor: u64,
    region: usize,
    since: u32,
    burst: u32,
    /// End of the log.
    log_end: u64,
    /// For a growing file: its current end, and the change in progress.
    growth: Growth,
    /// Start of the first and the last pass.
    fill_from: u64,
    check_from: u64,
}

impl WorkerBlocks {
    pub(crate) fn new(role: Role, part: Range<u64>) -> Self {
        WorkerBlocks {
            role,
            cursor: part.start,
            log_end: part.start,
            growth: Growth {
                end: part.end,
                ..Growth::default()
            },
            fill_from: part.start,
            check_from: part.start,
            part,
            region: 0,
            since: 0,
            burst: 0,
        }
    }

    pub(crate) fn begin(&mut self, phase: Phase) {
        self.region = 0;
        self.growth.rewritten = self.part.start;
        self.growth.gave_up = false;
        self.cursor = match (self.role, phase) {
            (Role::Scan, _) => 0,
            (_, Phase::Fill) => self.fill_from,
            (_, Phase::Check) => self.check_from,
            (_, Phase::Work) => self.part.start,
        };
    }

    /// Start of a pass.
    pub(crate) fn skip_to(&mut self, phase: Phase, block: u64) {
        let block = block.clamp(self.part.start, self.part.end);
        match phase {
            Phase::Fill => self.fill_from = block,
            Phase::Work => {}
            Phase::Check => {
                self.fill_from = self.part.end;
                self.check_from = block;
            }
        }
    }

    /// Current block of a pass.
    pub(crate) fn reached(&self) -> u64 {
        self.cursor
    }

    pub(crate) fn next(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        phase: Phase,
        rng: &mut SeededRng,
    ) -> Option<DraftOperation> {
        match (phase, self.role) {
            (Phase::Work, Role::Scan) => Some(self.scan(layout, identity, rng)),
            (_, Role::Scan) => None,
            (Phase::Fill, _) => self.in_order(layout, identity, Some(Origin::Fill)),
            (Phase::Check, _) => self.in_order(layout, identity, None),
            (Phase::Work, Role::Log) => self.log(layout, identity, rng),
            (Phase::Work, Role::Grows { .. }) => self.growing(layout, identity, rng),
            (
                Phase::Work,
                Role::Pages {
                    read_percent,
                    gathers,
                },
            ) => self.page(layout, identity, read_percent, gathers, rng),
            (
                Phase::Work,
                Role::Uniform {
                    read_percent,
                    length_bytes,
                    sequential,
                    durable,
                },
            ) => {
                let origin = (rng.below(100) >= u64::from(read_percent)).then_some(Origin::Page);
                let draft = self.uniform(layout, identity, length_bytes, sequential, rng)?;
                Some(DraftOperation {
                    origin,
                    durable: durable && origin.is_some(),
                    ..draft
                })
            }
        }
    }

    /// All of its own blocks, in the largest operations, skipping retired ones.
    fn in_order(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        origin: Option<Origin>,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        // Unwritten blocks are not read: there is nothing to compare.
        let skips = |block: u64| {
            let never = origin.is_none() && region.map.sure(block) == Some(0);
            never || region.map.is_retired(block)
        };
        while self.cursor < self.part.end && skips(self.cursor) {
            self.cursor += 1;
        }
        let most = u64::from(identity.slot_bytes / region.block_bytes);
        let end = self.part.end.min(self.cursor + most);
        let blocks = (self.cursor..end)
            .take_while(|block| !skips(*block))
            .count() as u64;
        if blocks == 0 {
            return None;
        }
        let offset_bytes = region.offset_of(self.cursor);
        self.cursor += blocks;
        Some(DraftOperation {
            origin,
            durable: false,
            offset_bytes,
            length_bytes: (blocks * u64::from(region.block_bytes)) as u32,
        })
    }

    fn page(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        read_percent: u32,
        gathers: bool,
        rng: &mut SeededRng,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        self.since += 1;
        if self.since >= CHECKPOINT_EVERY {
            self.since = 0;
            self.burst = CHECKPOINT_WRITES;
        }
        let block = u64::from(region.block_bytes);
        let most = (u64::from(identity.slot_bytes).min(CHECKPOINT_BYTES_MAX) / block).max(1);
        let (origin, blocks) = if self.burst > 0 {
            self.burst -= 1;
            (Some(Origin::Checkpoint), 1 + rng.below(most))
        } else if rng.below(100) < u64::from(read_percent) {
            (None, 1)
        } else {
            (Some(Origin::Page), 1)
        };
        let (origin, blocks) = match (gathers, origin) {
            (true, Some(_)) => (Some(Origin::Gather), 1 + rng.below(most)),
            (true, None) => (None, 1 + rng.below(most)),
            (false, origin) => (origin, blocks),
        };
        for _ in 0..TRIES {
            let first = self.part.start + rng.below(self.part.end - self.part.start);
            let blocks = free_run(&region.map, first, blocks.min(self.part.end - first));
            if blocks > 0 {
                return Some(DraftOperation {
                    origin,
                    durable: false,
                    offset_bytes: region.offset_of(first),
                    length_bytes: (blocks * block) as u32,
                });
            }
        }
        None
    }

    /// A location for an operation of this length within its own part.
    fn uniform(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        length_bytes: u32,
        sequential: bool,
        rng: &mut SeededRng,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        let length = length_bytes
            .min(identity.slot_bytes)
            .div_ceil(region.block_bytes);
        let part = self.part.end - self.part.start;
        let wanted = u64::from(length).clamp(1, part);
        for _ in 0..TRIES {
            let first = match sequential {
                true => {
                    if self.cursor + wanted > self.part.end {
                        self.cursor = self.part.start;
                    }
                    let first = self.cursor;
                    self.cursor += wanted;
                    first
                }
                false => self.part.start + rng.below(part - wanted + 1),
            };
            let blocks = free_run(&region.map, first, wanted);
            if blocks > 0 {
                let length_bytes = (blocks * u64::from(region.block_bytes)) as u32;
                return Some(DraftOperation::read(region.offset_of(first), length_bytes));
            }
        }
        None
    }

    fn log(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        rng: &mut SeededRng,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        let block = u64::from(region.block_bytes);
        self.since += 1;
        if self.since >= LOG_READ_EVERY {
            self.since = 0;
            let most = (LOG_READ_BYTES.min(u64::from(identity.slot_bytes)) / block).max(1);
            let from = self.log_end.saturating_sub(most).max(self.part.start);
            let blocks = free_run(&region.map, from, self.log_end - from);
            if blocks > 0 {
                let length_bytes = (blocks * block) as u32;
                return Some(DraftOperation::read(region.offset_of(from), length_bytes));
            }
        }
        // SQLIOSim's limits; the shares between them are assumptions.
        let bytes: u64 = match rng.below(100) {
            0..30 => 512,
            30..70 => 4 << 10,
            70..85 => 16 << 10,
            _ => 64 << 10,
        };
        let wanted = bytes.min(u64::from(identity.slot_bytes)).div_ceil(block);
        for _ in 0..self.part.end - self.part.start {
            if self.log_end >= self.part.end {
                self.log_end = self.part.start;
            }
            let blocks = free_run(
                &region.map,
                self.log_end,
                wanted.min(self.part.end - self.log_end),
            );
            let first = self.log_end;
            self.log_end += blocks.max(1);
            if blocks > 0 {
                return Some(DraftOperation {
                    origin: Some(Origin::Log),
                    durable: true,
                    offset_bytes: region.offset_of(first),
                    length_bytes: (blocks * block) as u32,
                });
            }
        }
        None
    }

    /// Repeated read-ahead of 64 KiB to 1 MiB through all regions.
    fn scan(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        rng: &mut SeededRng,
    ) -> DraftOperation {
        let mut region = &layout.regions[self.region];
        // The first one never grows.
        while self.cursor >= region.map.blocks() || region.grows {
            self.region = (self.region + 1) % layout.regions.len();
            self.cursor = 0;
            region = &layout.regions[self.region];
        }
        let bytes = (64 << 10 << rng.below(5)).min(u64::from(identity.slot_bytes));
        let block = u64::from(region.block_bytes);
        let blocks = (bytes / block).clamp(1, region.map.blocks() - self.cursor);
        let offset_bytes = region.offset_of(self.cursor);
        self.cursor += blocks;
        DraftOperation::read(offset_bytes, (blocks * block) as u32)
    }
}

/// Operations between two changes of a file's length: this many and up to twice that.
const RESIZE_EVERY: u64 = 48;
/// Most pages of an append.
const APPEND_PAGES_MAX: u64 = 8;

/// The end of a file that is truncated and grows again.
#[derive(Debug, Default)]
struct Growth {
    /// Blocks from here on are truncated.
    end: u64,
    /// The block to which the file's end is being moved.
    resizing: Option<u64>,
    /// Operations until the next change of its length.
    until: u64,
    /// It is extended without being written, instead of by appends.
    by_itself: bool,
    /// Truncated data before this block has been rewritten after the end of the work.
    rewritten: u64,
    /// An append failed: the file may end before `end`.
    fell_short: bool,
    /// Its length can no longer be changed.
    gave_up: bool,
    /// A fault was found in it: its contents are preserved for analysis.
    is_evidence: bool,
}

impl WorkerBlocks {
    /// The file's next end, in blocks, if it is to change now. After the work it gets its original
    /// length back.
    pub(crate) fn resize(&mut self, stopped: bool, rng: &mut SeededRng) -> Option<u64> {
        let growth = &mut self.growth;
        let part = &self.part;
        if growth.gave_up || growth.resizing.is_some() {
            return growth.resizing;
        }
        let end = if stopped {
            part.end
        } else if growth.until > 0 || growth.is_evidence {
            return None;
        } else if std::mem::take(&mut growth.by_itself) && growth.end < part.end {
            growth.end + 1 + rng.below(part.end - growth.end)
        } else if rng.below(2) == 0 && growth.end > part.start {
            // Occasionally to its very start.
            part.start + rng.below(growth.end - part.start)
        } else {
            growth.end + rng.below(part.end - growth.end + 1)
        };
        if end == growth.end && !(stopped && growth.fell_short) {
            growth.until = if stopped { 0 } else { RESIZE_EVERY };
            return None;
        }
        growth.resizing = Some(end);
        Some(end)
    }

    /// A fault was found: nothing is truncated from here on, and a truncation waiting for
    /// operations in flight is cancelled.
    pub(crate) fn keep(&mut self) {
        let growth = &mut self.growth;
        growth.is_evidence = true;
        growth.resizing = growth.resizing.filter(|end| *end >= growth.end);
    }

    /// A write failed, which may have been an append.
    pub(crate) fn write_failed(&mut self) {
        self.growth.fell_short = true;
    }

    /// The end of a truncation not made yet.
    #[cfg(test)]
    pub(crate) fn cuts_to(&self) -> Option<u64> {
        (self.growth.resizing).filter(|end| *end < self.growth.end)
    }

    /// The worker's blocks that are not truncated.
    pub(crate) fn there(&self) -> Range<u64> {
        self.part.start..self.growth.end
    }

    /// The file has its new end, or could not be given it.
    pub(crate) fn resized(&mut self, map: &Map, done: bool, rng: &mut SeededRng) {
        let Some(end) = self.growth.resizing.take() else {
            return;
        };
        // Half of the time truncated data soon reappears, as zeros.
        self.growth.by_itself = end < self.growth.end && rng.below(2) == 0;
        self.growth.until = match self.growth.by_itself {
            true => rng.below(4),
            false => RESIZE_EVERY + rng.below(RESIZE_EVERY),
        };
        if !done {
            self.growth.gave_up = true;
            return;
        }
        self.growth.fell_short = false;
        (end..self.growth.end).for_each(|block| map.cut(block));
        self.growth.end = end;
    }

    /// A page of the existing part, or an append.
    fn growing(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
        rng: &mut SeededRng,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        let block = u64::from(region.block_bytes);
        let there = self.growth.end - self.part.start;
        self.growth.until = self.growth.until.saturating_sub(1);
        let draft = |origin, first: u64, blocks: u64| DraftOperation {
            origin,
            durable: false,
            offset_bytes: region.offset_of(first),
            length_bytes: (blocks * block) as u32,
        };
        let left = self.part.end - self.growth.end;
        let appends = there == 0 || (!self.growth.by_itself && rng.below(4) == 0);
        if left > 0 && appends {
            let first = self.growth.end;
            let most = u64::from(identity.slot_bytes) / block;
            let blocks = left.min(1 + rng.below(APPEND_PAGES_MAX)).min(most.max(1));
            let blocks = free_run(&region.map, first, blocks);
            if blocks > 0 {
                self.growth.end += blocks;
                return Some(draft(Some(Origin::Grow), first, blocks));
            }
        }
        for _ in 0..TRIES {
            if there == 0 {
                break;
            }
            let first = self.part.start + rng.below(there);
            if !region.map.is_retired(first) {
                // Data of a failed append may be past the file's end.
                let may_be_gone = region.map.expected(first).is_unknown();
                let writes = rng.below(2) == 0 || may_be_gone;
                return Some(draft(writes.then_some(Origin::Grow), first, 1));
            }
        }
        None
    }

    /// The work is over: truncated data that was not certainly rewritten is written, so that the
    /// file has no holes.
    pub(crate) fn rewrite(
        &mut self,
        layout: &TargetLayout,
        identity: &WorkerIdentity,
    ) -> Option<DraftOperation> {
        let region = &layout.regions[identity.region];
        let end = self.part.end.min(self.growth.end);
        let mut blocks = self.growth.rewritten..end;
        let map = &region.map;
        let is_unclear = |block| !map.is_retired(block) && map.expected(block).is_unknown();
        let first = blocks.find(|block| map.is_cut(*block) || is_unclear(*block))?;
        self.growth.rewritten = first + 1;
        Some(DraftOperation {
            origin: Some(Origin::Grow),
            durable: false,
            offset_bytes: region.offset_of(first),
            length_bytes: region.block_bytes,
        })
    }
}

/// Number of blocks in use from `first` on, up to `most` or the first unused one.
fn free_run(map: &Map, first: u64, most: u64) -> u64 {
    (first..first + most)
        .take_while(|block| !map.is_retired(*block))
        .count() as u64
}
