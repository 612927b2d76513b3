//! One pass of writes that leaves a solid-state drive in the state of endless random writes.
//!
//! A drive with the share `s` of spare flash has α = 1 + s times its usable capacity. Under long
//! random writes, with garbage collection taking the block with the least valid data first, it
//! settles: each filled block decays by the same law, and is collected when 1 - 1/A of it is still
//! valid, where A, the write amplification, solves exp(-α/A) = 1 - 1/A (P. Desnoyers, Analytic
//! Models of SSD Write Performance, ACM Transactions on Storage 8(2), 2012; his closed form uses
//! Lambert's W). Sorted from newest to oldest, the block at the share x of all flash has exp(-x
//! α/A) of its data valid; over all blocks that averages 1/α, as it must.
//!
//! So the pass writes α times the span, in regions, and each block of the span at least once, in
//! random order. The share of a region's data that must end up invalid is rewritten in the next
//! region: much of the first region, which will be the oldest, next to nothing of the last. fio
//! implements the idea as `sprandom`. Here the shares are exact rather than drawn, so that the
//! number of writes is known in advance; and rewrites come last in their region, half a region or
//! more after the first write, so that a drive does not merge both in its memory.
//!
//! Correct for an empty drive only: data already on it counts as valid.

use crate::random::{Generator, derived_seed};
use crate::scatter::Scatter;

/// Regions of a pass, unless they become too long: the blocks of a region to rewrite are kept in
/// memory.
const REGIONS: u64 = 128;
const REGION_WRITES_MAX: u64 = 4 << 20;

/// Rounds of mixing; see `covering.rs`.
const ROUNDS: usize = 6;

/// The regions of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    blocks: u64,
    /// Writes per region.
    region_writes: u64,
    regions: u64,
    /// α / A.
    decay: f64,
}

/// Writes of one region: `fresh` blocks for the first time, then `again` blocks of the previous
/// region; `invalid` of all these will be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    fresh: u64,
    again: u64,
    invalid: u64,
}

impl Plan {
    fn new(blocks: u64, spare_percent: u8) -> Plan {
        let alpha = 1.0 + f64::from(spare_percent) / 100.0;
        let all = blocks as f64 * alpha;
        let region_writes = ((all / REGIONS as f64) as u64).clamp(1, REGION_WRITES_MAX);
        Plan {
            blocks,
            region_writes,
            regions: (all / region_writes as f64).round().max(1.0) as u64,
            decay: alpha / amplification(alpha),
        }
    }

    /// Region `number`, where `again` blocks of the previous region are to be rewritten and `left`
    /// blocks are still unwritten.
    fn region(&self, number: u64, again: u64, left: u64) -> Region {
        let fresh = self.region_writes.saturating_sub(again).min(left);
        let is_last = fresh == left;
        // Too few blocks may be left to keep a block's two writes apart.
        let again = match is_last && fresh < self.region_writes / 2 {
            true => 0,
            false => again,
        };
        let behind = (self.regions as f64 - number as f64 - 0.5).max(0.0) / self.regions as f64;
        let valid = libm::exp(-behind * self.decay);
        let invalid = ((fresh + again) as f64 * (1.0 - valid)).round() as u64;
        Region {
            fresh,
            again,
            invalid: if is_last { 0 } else { invalid },
        }
    }
}

/// Write amplification of a drive with α times its usable capacity in flash.
fn amplification(alpha: f64) -> f64 {
    // The root of this function, which is negative above it.
    let above = |guess: f64| libm::exp(-alpha / guess) < 1.0 - 1.0 / guess;
    let (mut low, mut high) = (1.0, 1e9);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        match above(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    low
}

/// Writes of one pass over `blocks` blocks, at least 1, for a drive with this share of spare flash.
///
/// ```
/// // A drive with an eighth of spare flash takes an eighth more writes than it has blocks.
/// let writes = stripewise_workload::one_pass_writes(1_000_000, 12);
/// assert!((1_115_000..1_125_000).contains(&writes));
/// ```
pub fn one_pass_writes(blocks: u64, spare_percent: u8) -> u64 {
    let plan = Plan::new(blocks, spare_percent);
    let (mut writes, mut left, mut again) = (0, blocks, 0);
    for number in 0.. {
        let region = plan.region(number, again, left);
        writes += region.fresh + region.again;
        left -= region.fresh;
        again = region.invalid;
        if left == 0 {
            break;
        }
    }
    writes
}

/// The positions of one thread; after each pass another one begins, in a different order.
#[derive(Clone, Debug)]
pub(crate) struct OnePass {
    plan: Plan,
    key: u64,
    pass: u64,
    order: Scatter<ROUNDS>,
    generator: Generator,
    /// Number of the current region, and its remaining writes.
    number: u64,
    region: Region,
    /// Blocks written for the first time so far.
    written: u64,
    /// Blocks of the previous region, in the order in which they were written.
    again: Vec<u64>,
    /// Number of blocks in `again` already rewritten.
    repeated: usize,
    /// Blocks of the current region to rewrite in the next.
    invalid: Vec<u64>,
}

impl OnePass {
    /// Over `blocks` blocks, at least 1.
    pub(crate) fn new(seed: u64, blocks: u64, spare_percent: u8) -> Self {
        let plan = Plan::new(blocks, spare_percent);
        // Allocates whole regions up front, so that nothing is allocated while operations run.
        // Untouched pages cost nothing.
        let list = || Vec::with_capacity(plan.region_writes as usize);
        OnePass {
            key: seed,
            pass: 0,
            order: order(seed, 0, blocks),
            generator: Generator::plain(derived_seed(seed, u64::MAX)),
            number: 0,
            region: plan.region(0, 0, blocks),
            written: 0,
            again: list(),
            repeated: 0,
            invalid: list(),
            plan,
        }
    }

    /// The next block.
    pub(crate) fn next(&mut self) -> u64 {
        if self.region.fresh + self.region.again == 0 {
            self.turn();
        }
        // Exactly this many of those left in the region, all equally likely (Knuth's S).
        let left = self.region.fresh + self.region.again;
        let is_invalid = self.generator.below(left) < self.region.invalid;
        let block = if self.region.fresh > 0 {
            self.region.fresh -= 1;
            self.written += 1;
            self.order.place(self.written - 1)
        } else {
            self.region.again -= 1;
            self.repeated += 1;
            self.again[self.repeated - 1]
        };
        if is_invalid {
            self.region.invalid -= 1;
            self.invalid.push(block);
        }
        block
    }

    /// Advances to the next region or pass.
    #[cold]
    fn turn(&mut self) {
        std::mem::swap(&mut self.again, &mut self.invalid);
        self.invalid.clear();
        (self.number, self.repeated) = (self.number + 1, 0);
        if self.written == self.plan.blocks {
            self.pass += 1;
            self.order = order(self.key, self.pass, self.plan.blocks);
            self.again.clear();
            (self.number, self.written) = (0, 0);
        }
        let left = self.plan.blocks - self.written;
        self.region = self.plan.region(self.number, self.again.len() as u64, left);
    }
}

fn order(key: u64, pass: u64, blocks: u64) -> Scatter<ROUNDS> {
    Scatter::from_generator(Generator::plain(derived_seed(key, pass)), blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_amplification_is_that_of_the_closed_form() {
        // α / (α + W(-α exp(-α))), by an independent evaluation of Lambert's W.
        for (alpha, expected) in [
            (1.07, 7.8172),
            (1.15, 4.0160),
            (1.28, 2.4814),
            (1.5, 1.7158),
        ] {
            let found = amplification(alpha);
            assert!((found / expected - 1.0).abs() < 1e-4, "{alpha}: {found}");
        }
    }

    #[test]
    fn each_block_is_written_and_as_many_again_as_there_is_spare_flash() {
        for (blocks, spare_percent) in [(1, 7), (100, 28), (4096, 7), (50_000, 15), (50_000, 50)] {
            let mut positions = OnePass::new(7, blocks, spare_percent);
            let writes = one_pass_writes(blocks, spare_percent);
            for pass in 0..2 {
                let mut times = vec![0_u32; blocks as usize];
                for _ in 0..writes {
                    times[positions.next() as usize] += 1;
                }
                assert!(
                    times.iter().all(|times| *times > 0),
                    "{blocks}, pass {pass}"
                );
            }
            let share = writes as f64 / blocks as f64;
            let expected = 1.0 + f64::from(spare_percent) / 100.0;
            assert!(
                blocks < 4096 || (share / expected - 1.0).abs() < 0.005,
                "{share}"
            );
        }
    }

    #[test]
    fn what_was_written_first_is_the_least_valid_as_the_law_has_it() {
        let (blocks, spare_percent) = (200_000, 15);
        let mut positions = OnePass::new(3, blocks, spare_percent);
        let writes = one_pass_writes(blocks, spare_percent);
        let written: Vec<u64> = (0..writes).map(|_| positions.next()).collect();
        let mut last = vec![0_u64; blocks as usize];
        for (at, block) in (0..).zip(&written) {
            last[*block as usize] = at;
        }
        let mut tenths = [0_u64; 10];
        last.iter()
            .for_each(|at| tenths[(at * 10 / writes) as usize] += 1);
        let decay = 1.15 / amplification(1.15);
        for (tenth, valid) in (0..).zip(tenths) {
            let behind = 1.0 - (f64::from(tenth) + 0.5) / 10.0;
            let expected = (-behind * decay).exp() * writes as f64 / 10.0;
            let off = valid as f64 / expected - 1.0;
            assert!(off.abs() < 0.01, "tenth {tenth}: {valid}, not {expected}");
        }
    }

    #[test]
    fn nothing_is_written_again_while_a_drive_may_hold_it_in_memory() {
        let blocks = 100_000;
        let mut positions = OnePass::new(5, blocks, 7);
        let mut last = vec![None; blocks as usize];
        let mut nearest = u64::MAX;
        for at in 0..one_pass_writes(blocks, 7) {
            let block = positions.next() as usize;
            if let Some(before) = last[block].replace(at) {
                nearest = nearest.min(at - before);
            }
        }
        let region = Plan::new(blocks, 7).region_writes;
        assert!(nearest >= region / 3, "{nearest} of {region}");
    }
}
