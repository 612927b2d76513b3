//! Whether two places of the pattern share a disk, and where a stripe unit ends.
//!
//! Half of a batch reads at one place of the pattern, half at the other, each read in a different
//! period. If both places are on one disk, reads of the first take about twice as long as
//! otherwise. Both costs are measured first (calibration); then a sequential probability ratio test
//! (Wald 1945) decides for any place in a few batches.
//!
//! Only reads of the first place, the anchor, count: the other place's disk says nothing about the
//! anchor, and disks of one array need not be equally fast. The anchor's reads start after the
//! other's, one by one, so that a disk that serves them in turn shows all of its queue.

use super::reads::Reader;
use super::scale::{Scale, quartile};
use super::{Refusal, SearchEnd};
use crate::device::Device;

/// Reads of a batch: half at each of two places.
pub(super) const READS: usize = 8;
/// Batches to calibrate each of the two costs: more if the target is noisy.
const CALIBRATION: usize = 20;
const CALIBRATION_MAX: usize = 320;
/// The test decides when one hypothesis is e^12 times likelier: wrong in one of 160,000.
const DECISION: f64 = 12.0;
/// Sufficient if the two costs differ by 0.4 deviations of a batch: one batch is then worth 0.08 on
/// average.
const BATCHES_MAX: usize = 240;
/// Colliding batches must take this much longer, and by this many standard errors.
const CONTRAST_MIN: f64 = 1.25;
const ERRORS_MIN: f64 = 6.0;
/// If they are not longer by this many standard errors, more batches would not help.
const ERRORS_NONE: f64 = 3.0;
const CALIBRATION_NONE: usize = 80;
/// Batches on either side of an edge, to verify that it is sharp: for costs that differ by two
/// deviations; more if by less.
const SHARP: f64 = 14.0;
const SHARP_MAX: f64 = 240.0;

/// Fewest periods of a place.
pub(super) const PERIODS_MIN: u64 = 40;

/// A random place in a period.
pub(super) fn anchor<D: Device>(reader: &mut Reader<'_, D>, period_bytes: u64) -> i128 {
    let sector = reader.sector_bytes();
    i128::from(reader.below(period_bytes / sector) * sector)
}

/// The part of the target that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub from: u64,
    pub to: u64,
}

/// Positions of the pattern, read at random periods within a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comb {
    pub period: u64,
    /// Only every N periods.
    pub every: u64,
    pub window: Window,
}

impl Comb {
    /// A random position congruent to `anchor`.
    pub fn position<D: Device>(&self, reader: &mut Reader<'_, D>, anchor: i128) -> u64 {
        let step = i128::from(self.period) * i128::from(self.every);
        let from = i128::from(self.window.from);
        let first = from + (anchor - from).rem_euclid(step);
        let end = i128::from(self.window.to) - i128::from(reader.sector_bytes());
        let count = ((end - first) / step).max(0) + 1;
        let number = reader.below(count as u64);
        (first + i128::from(number) * step) as u64
    }

    fn positions<D: Device>(&self, reader: &mut Reader<'_, D>, pair: (i128, i128)) -> [u64; READS] {
        std::array::from_fn(|number| {
            let anchor = if is_anchors(number) { pair.0 } else { pair.1 };
            self.position(reader, anchor)
        })
    }

    /// Cost of reads of the first of two places concurrent with those of the second.
    pub fn cost<D: Device>(
        &self,
        reader: &mut Reader<'_, D>,
        pair: (i128, i128),
    ) -> Result<f64, SearchEnd> {
        let positions = self.positions(reader, pair);
        Ok(reader.cost_of(&positions, is_anchors)?)
    }
}

/// Whether a read of a batch is the anchor's.
fn is_anchors(number: usize) -> bool {
    number % 2 == 1
}

/// Measures both costs: `anchor` against itself, and against half a period further, which is a
/// different unit for any number of disks.
pub(super) fn calibrate<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    anchor: i128,
    apart: i128,
) -> Result<Scale, SearchEnd> {
    let (mut together, mut others) = (Vec::new(), Vec::new());
    loop {
        for _ in 0..CALIBRATION {
            together.push(comb.cost(reader, (anchor, anchor))?);
            others.push(comb.cost(reader, (anchor, apart))?);
        }
        let scale = Scale::of(&together, &others);
        let (contrast, error) = (libm::log(scale.contrast()), scale.error(together.len()));
        if scale.contrast() >= CONTRAST_MIN && contrast >= ERRORS_MIN * error {
            return Ok(scale);
        }
        let none = contrast + ERRORS_NONE * error < libm::log(CONTRAST_MIN);
        if together.len() >= CALIBRATION_MAX || none && together.len() >= CALIBRATION_NONE {
            let refusal = match scale.contrast() < CONTRAST_MIN {
                true => Refusal::no_contrast(scale.contrast()),
                false => Refusal::noise(scale.contrast(), scale.deviation),
            };
            return Err(refusal.into());
        }
    }
}

/// Whether two places share a disk; `None` if batches are inconclusive.
pub(super) fn share_a_disk<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    scale: &Scale,
    pair: (i128, i128),
) -> Result<Option<bool>, SearchEnd> {
    let mut evidence = 0.0;
    for _ in 0..BATCHES_MAX {
        let cost = comb.cost(reader, pair)?;
        evidence += scale.evidence(cost);
        if evidence.abs() >= DECISION {
            return Ok(Some(evidence > 0.0));
        }
    }
    Ok(None)
}

/// Position of an edge: after `before`, at `at` at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The last place known to share the disk.
    pub inside: i128,
    /// The nearest place known not to.
    pub outside: i128,
}

/// First step from the anchor in the search for its unit's edge.
const STEP_FIRST: i128 = 4096;

/// The edge of `anchor`'s unit towards `apart`, to `resolution` bytes: in doubling steps until a
/// place is on another disk, so that it is the nearest one, then by bisection.
pub(super) fn edge<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    scale: &Scale,
    (anchor, apart): (i128, i128),
    resolution: u64,
) -> Result<Edge, SearchEnd> {
    let sector = i128::from(reader.sector_bytes());
    let resolution = i128::from(resolution).max(sector);
    let noise = || SearchEnd::from(Refusal::noise(scale.contrast(), scale.deviation));
    let (mut inside, mut outside) = (anchor, apart);
    let mut step = STEP_FIRST.max(sector);
    while step < (apart - anchor).abs() {
        let at = anchor + step * (apart - anchor).signum();
        match share_a_disk(reader, comb, scale, (anchor, at))?.ok_or_else(noise)? {
            true => inside = at,
            false => {
                outside = at;
                break;
            }
        }
        step *= 2;
    }
    while (outside - inside).abs() > resolution {
        let middle = inside + (outside - inside) / 2 / sector * sector;
        match share_a_disk(reader, comb, scale, (anchor, middle))?.ok_or_else(noise)? {
            true => inside = middle,
            false => outside = middle,
        }
    }
    Ok(Edge { inside, outside })
}

/// Whether the costs right at an edge are those of the calibration: for a disk that is slow at one
/// angle they are in between.
pub(super) fn is_sharp<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    scale: &Scale,
    anchor: i128,
    edge: Edge,
) -> Result<bool, SearchEnd> {
    let batches = (SHARP * (2.0 / scale.separation()).powi(2)).clamp(SHARP, SHARP_MAX);
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for _ in 0..batches as usize {
        inside.push(comb.cost(reader, (anchor, edge.inside))?);
        outside.push(comb.cost(reader, (anchor, edge.outside))?);
    }
    let (inside, outside) = (quartile(&inside), quartile(&outside));
    let error = 4.0 / scale.separation() / libm::sqrt(batches);
    let slack = 0.25 + error.min(0.15);
    Ok((scale.share(inside) - 1.0).abs() < slack && scale.share(outside).abs() < slack)
}
