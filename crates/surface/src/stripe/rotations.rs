//! Which parity rotation explains the costs of batches of reads in one column.
//!
//! If parity displaces data, part of the period can look like a separate pattern: each of its
//! columns is on several disks, as for a mirror, and unit and phase are correct. So units of one
//! column are read, four at a time, anywhere on the target. For a mirror some batches are slower by
//! chance; for a rotation those that it puts on one disk. Every known rotation, at every shift,
//! predicts the cost of each batch; the right one explains far more than the best of all wrong ones
//! does by chance.

use super::SearchEnd;
use super::edges::Window;
use super::layouts::{DISKS_MAX, UnitDistribution};
use super::reads::Reader;
use crate::device::Device;
use stripewise_stats::median;

/// Batches, and reads per batch.
const BATCHES: usize = 480;
const READS: usize = 4;
/// Costs farther from the median of their column than this many median deviations are clipped.
const WINSOR: f64 = 4.0;
/// The best of a hundred thousand wrong rotations explains about 25 by chance, in units of the
/// variance.
const GAIN_MIN: f64 = 60.0;
/// Rotations that explain this much less are four standard deviations away.
const GAIN_TOLERANCE: f64 = 16.0;

/// Units of a pattern with known edges, and columns assumed to be its period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub begins: i128,
    pub bytes: u64,
    /// In the assumed period.
    pub columns: u64,
}

/// A batch: numbers of the units read, and its cost relative to others of its column.
struct Batch {
    units: [u64; READS],
    cost: f64,
}

/// Periods in units of the rotations that explain the costs, best first; empty if none does.
pub(super) fn periods<D: Device>(
    reader: &mut Reader<'_, D>,
    window: Window,
    units: Units,
) -> Result<Vec<u64>, SearchEnd> {
    let batches = batches(reader, window, units)?;
    let squares: f64 = batches.iter().map(|batch| batch.cost * batch.cost).sum();
    let variance = (squares / batches.len() as f64).max(1e-12);
    let mut found: Vec<(f64, u64)> = Vec::new();
    for disks in 3..=DISKS_MAX {
        for distribution in UnitDistribution::of_disks(disks) {
            let period = distribution.units() as u64;
            // If the period was assumed to be whole, this says nothing about its columns.
            if period == units.columns {
                continue;
            }
            let gain = gain(&batches, &distribution) / variance;
            match found.iter_mut().find(|(_, known)| *known == period) {
                Some(known) => known.0 = known.0.max(gain),
                None => found.push((gain, period)),
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = found
        .first()
        .map_or(f64::MAX, |best| best.0 - GAIN_TOLERANCE);
    found.retain(|(gain, _)| *gain >= least.max(GAIN_MIN));
    Ok(found.into_iter().map(|(_, period)| period).collect())
}

/// Random batches, each within a column.
fn batches<D: Device>(
    reader: &mut Reader<'_, D>,
    window: Window,
    units: Units,
) -> Result<Vec<Batch>, SearchEnd> {
    let sector = reader.sector_bytes();
    let middle = units.begins + i128::from(units.bytes / 2 / sector * sector);
    let bytes = i128::from(units.bytes);
    // The first whole unit of the window, counted from the pattern's own.
    let first = (i128::from(window.from) - middle).div_euclid(bytes) + 1;
    let last = (i128::from(window.to) - i128::from(sector) - middle).div_euclid(bytes);
    let rounds = ((last - first) as u64 / units.columns).max(1);
    let mut all: Vec<(u64, [u64; READS], f64)> = Vec::with_capacity(BATCHES);
    for number in 0..BATCHES as u64 {
        let column = number % units.columns;
        let numbers: [u64; READS] =
            std::array::from_fn(|_| column + reader.below(rounds) * units.columns);
        let at = numbers.map(|unit| (middle + (first + i128::from(unit)) * bytes) as u64);
        let cost = reader.cost(&at)?;
        all.push((column, numbers, cost));
    }
    Ok(beside_their_columns(&all, units.columns))
}

/// Disks of a column may be slower than others.
fn beside_their_columns(all: &[(u64, [u64; READS], f64)], columns: u64) -> Vec<Batch> {
    // If a column has few batches, it is compared with all.
    let few = (all.len() as u64 / columns) < 12;
    let of = |column: u64| -> Vec<f64> {
        let own = all.iter().filter(|one| few || one.0 == column);
        own.map(|one| one.2).collect()
    };
    let middles: Vec<f64> = (0..if few { 1 } else { columns })
        .map(|column| median(&of(column)).unwrap_or(0.0))
        .collect();
    let middle = |column: u64| middles[if few { 0 } else { column as usize }];
    let away: Vec<f64> = all
        .iter()
        .map(|one| (one.2 - middle(one.0)).abs())
        .collect();
    let limit = WINSOR * median(&away).unwrap_or(0.0).max(1e-9);
    let batch = |one: &(u64, [u64; READS], f64)| Batch {
        units: one.1,
        cost: (one.2 - middle(one.0)).clamp(-limit, limit),
    };
    all.iter().map(batch).collect()
}

/// What a rotation explains at its best shift: the square along its prediction.
fn gain(batches: &[Batch], distribution: &UnitDistribution) -> f64 {
    let period = distribution.units();
    let places: Vec<[usize; READS]> = batches
        .iter()
        .map(|batch| batch.units.map(|unit| (unit % period as u64) as usize))
        .collect();
    // Twice, so that no shifted position is past the end.
    let order: Vec<u32> = (0..2 * period)
        .map(|unit| distribution.disk(unit))
        .collect();
    let n = batches.len() as f64;
    let sum_cost: f64 = batches.iter().map(|batch| batch.cost).sum();
    let mut best = 0.0;
    for shift in 0..period {
        let (mut sum, mut squares, mut products) = (0.0, 0.0, 0.0);
        for (batch, places) in batches.iter().zip(&places) {
            let load = load(places.map(|place| order[place + shift]));
            sum += load;
            squares += load * load;
            products += load * batch.cost;
        }
        let spread = squares - sum * sum / n;
        let together = products - sum * sum_cost / n;
        if spread > 1e-9 && together > 0.0 {
            best = f64::max(best, together * together / spread);
        }
    }
    best
}

/// Sum over reads of how many reads each waits for on its disk, including itself.
fn load(disks: [u32; READS]) -> f64 {
    let mut pairs = 0u32;
    for a in 0..READS {
        for b in 0..a {
            pairs += u32::from(disks[a] == disks[b]);
        }
    }
    f64::from(pairs)
}
