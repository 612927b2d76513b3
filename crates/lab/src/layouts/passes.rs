//! How many passes, how many runs per making, and which of many layouts to drop.

use super::measured::{Measured, MixCell};
use super::set::LayoutSet;
use stripewise_stats::Passes;

/// Minimum number of passes for an answer.
pub const PASSES_MIN: u32 = 6;
/// Maximum number of layouts measured to the end; of more, the worse are dropped.
pub const LAYOUTS_MAX: usize = 24;
/// Confidence at which a layout is dropped after [`PASSES_MIN`] passes.
pub const SCREENING_LEVEL: f64 = 0.99;
/// Final confidence if some were dropped: 1 % is spent on that.
pub const SCREENING_FINISH: f64 = 0.96;

/// Passes needed to distinguish two layouts that are `width` apart on the log scale,
/// if a layout scatters by `spread` within a pass: 2 (d s / w)^2,
/// d = 2.1, 2.35, 2.5, 2.7 for 4, 8, 12 and 24 layouts; at least 6.
pub fn passes_likely(spread: f64, width: f64, layouts: usize) -> u32 {
    let quantile = match layouts {
        0..=4 => 2.1,
        5..=8 => 2.35,
        9..=12 => 2.5,
        _ => 2.7,
    };
    let ratio = quantile * spread / width;
    // A float-to-integer cast saturates. The 12 and 15 of the test are 11.05 and 14.6.
    ((2.0 * ratio * ratio).ceil() as u32).max(PASSES_MIN)
}

/// Worthwhile number of runs per making: K = max(1, round(sqrt(making time /
/// measuring time * s_run^2 / s_making^2))), at most 10. They are averaged: runs of one
/// making are no replicates.
pub fn runs_per_making(
    making_ns: u64,
    measuring_ns: u64,
    spread_of_runs: f64,
    spread_of_makings: f64,
) -> u32 {
    const MOST: f64 = 10.0;
    if measuring_ns == 0 || spread_of_makings <= 0.0 {
        return 1;
    }
    let times = making_ns as f64 / measuring_ns as f64;
    let spreads = spread_of_runs / spread_of_makings;
    libm::round(libm::sqrt(times) * spreads).clamp(1.0, MOST) as u32
}

/// Layouts that need not be made again: if there are more than [`LAYOUTS_MAX`], those
/// outside the set of the best after [`PASSES_MIN`] passes. Empty otherwise.
pub fn to_drop(set: &LayoutSet, cells: &[MixCell], measured: &Measured, seed: u64) -> Vec<usize> {
    let layouts = set.len();
    if layouts <= LAYOUTS_MAX || measured.passes.len() != PASSES_MIN as usize {
        return Vec::new();
    }
    let all: Vec<usize> = (0..layouts).collect();
    let shares: Vec<f64> = cells.iter().map(|cell| cell.share_percent).collect();
    let rows = measured.scores(&all, &shares);
    let Some(passes) = Passes::new(&rows) else {
        return Vec::new();
    };
    let best = passes.best(&vec![true; layouts], SCREENING_LEVEL, seed);
    let mut worst_first: Vec<usize> = all;
    worst_first.sort_by(|&a, &b| passes.means()[a].total_cmp(&passes.means()[b]));
    // At least two go on: a single one has nothing to be compared with.
    worst_first.truncate(layouts - 2);
    worst_first.retain(|&layout| !best.in_set[layout]);
    worst_first
}
