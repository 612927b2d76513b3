//! Derives the period from batches at random strides, as precisely as the target's size allows.

use super::period::{Batch, Fit, Folder, Range};
use super::reads::Reader;
use super::{Limits, Refusal, SearchEnd};
use crate::device::Device;
use stripewise_stats::median;

/// Reads of a batch.
const READS: u64 = 4;
/// Batches of the first scan; doubled until something is found.
const BATCHES_FIRST: usize = 800;
const BATCHES_MAX: usize = 3_200;
/// Batches of each closer scan.
const BATCHES_CLOSER: usize = 160;
/// Without a pattern, the best window of a hundred thousand frequencies, 48 positions and 8 widths
/// explains less than 40 in all but one of some thousand searches; a false alarm only costs time.
const GAIN_MIN: f64 = 45.0;
/// Frequencies whose window explains this much less are four standard deviations away.
const GAIN_TOLERANCE: f64 = 16.0;
/// Below this median latency under load the target has no moving parts, or a cache responds: such
/// devices have periods of their own, unrelated to stripes.
const MEDIAN_NS_MIN: f64 = 1e6;
/// Factor by which mean strides exceed the first range of strides.
const RANGE_SHARE: u64 = 16;

/// A period found in batches.
#[derive(Clone, Debug)]
pub(super) struct Period {
    /// Bounds of the period in bytes.
    pub low: f64,
    pub high: f64,
    /// Likeliest value.
    pub best: f64,
    /// Mean latency of the median batch.
    pub median_ns: f64,
}

/// Batches on one target, with common parameters.
pub(super) struct Search<'r, 'd, D> {
    reader: &'r mut Reader<'d, D>,
    base: u64,
    batches: Vec<Batch>,
}

impl<'r, 'd, D: Device> Search<'r, 'd, D> {
    pub fn new(reader: &'r mut Reader<'d, D>) -> Self {
        let sector = reader.sector_bytes();
        let base = reader.size_bytes() / 6 / sector * sector;
        Search {
            reader,
            base,
            batches: Vec::new(),
        }
    }

    /// Its reader.
    pub fn reader(&mut self) -> &mut Reader<'d, D> {
        self.reader
    }

    /// The largest distance of strides from the base stride, either way.
    fn reach_max(&self) -> u64 {
        self.reader.size_bytes() / 8
    }

    fn batch(&mut self, beyond_bytes: i64) -> Result<(), SearchEnd> {
        let sector = self.reader.sector_bytes();
        let beyond = beyond_bytes / sector as i64 * sector as i64;
        let stride = self.base.saturating_add_signed(beyond);
        let room = self
            .reader
            .size_bytes()
            .saturating_sub((READS - 1) * stride + sector);
        let at = self.reader.below(room / sector) * sector;
        let positions: [u64; READS as usize] =
            std::array::from_fn(|number| at + number as u64 * stride);
        let cost = self.reader.cost(&positions)?;
        self.batches.push(Batch {
            beyond_bytes: beyond,
            cost,
        });
        Ok(())
    }

    fn median_ns(&self) -> f64 {
        let costs: Vec<f64> = self.batches.iter().map(|batch| batch.cost).collect();
        libm::exp(median(&costs).unwrap_or(0.0))
    }

    /// Candidates for the period, likeliest first.
    pub fn candidates(&mut self, limits: &Limits) -> Result<Vec<Fit>, SearchEnd> {
        let reach = (2 * limits.period_bytes_max()).min(self.reader.size_bytes() / RANGE_SHARE);
        let range = Range {
            unit_min: limits.unit_bytes_min as f64,
            period_max: reach as f64 / 2.0,
            units_max: f64::from(limits.disks_max),
        };
        let mut goal = BATCHES_FIRST;
        loop {
            while self.batches.len() < goal {
                let beyond = self.reader.below(reach) as i64;
                self.batch(beyond)?;
                if self.batches.len() == BATCHES_FIRST / 4 && self.median_ns() < MEDIAN_NS_MIN {
                    return Err(Refusal::too_fast(self.median_ns()).into());
                }
            }
            let found = Folder::new(&self.batches).search(range, 8);
            let best = found.first().map_or(0.0, |fit| fit.gain);
            if best >= GAIN_MIN {
                let near = |fit: &Fit| fit.gain >= GAIN_MIN.max(best / 3.0);
                return Ok(found.into_iter().filter(near).collect());
            }
            if goal >= BATCHES_MAX {
                return Err(Refusal::no_period(goal as u64, range.period_max as u64).into());
            }
            goal *= 2;
        }
    }

    /// Follows one candidate over increasing distances, until its period is known to a fraction of
    /// a sector or the target ends.
    pub fn follow(&mut self, candidate: Fit) -> Result<Period, SearchEnd> {
        let sector = self.reader.sector_bytes() as f64;
        let first = self.batches.len();
        let mut reach = self.reach(0, first);
        let half = 0.5 / reach;
        let (mut fit, mut low, mut high) =
            Folder::new(&self.batches).sharpen(&candidate, half, GAIN_TOLERANCE);
        while period_width(low, high) > sector / 2.0 && reach < self.reach_max() as f64 * 0.98 {
            let half = ((high - low) / 2.0).max(1e-18);
            let next = (8.0 * reach).min(0.4 / half).max(1.5 * reach);
            reach = next.min(self.reach_max() as f64);
            for _ in 0..BATCHES_CLOSER {
                let beyond = self.near_peak(&fit, reach);
                self.batch(beyond)?;
            }
            (fit, low, high) = Folder::new(&self.batches).sharpen(&fit, 1.5 * half, GAIN_TOLERANCE);
        }
        let period = Period {
            low: 1.0 / high,
            high: 1.0 / low,
            best: fit.period(),
            median_ns: self.median_ns(),
        };
        // The next candidate begins where this one did.
        self.batches.truncate(first);
        Ok(period)
    }

    /// Largest distance of these batches' strides from the base stride.
    fn reach(&self, from: usize, to: usize) -> f64 {
        let far = self.batches[from..to]
            .iter()
            .map(|batch| batch.beyond_bytes.unsigned_abs());
        far.max().unwrap_or(1).max(1) as f64
    }

    /// A stride near one of the peaks predicted by a fit, up to `reach` away.
    fn near_peak(&mut self, fit: &Fit, reach: f64) -> i64 {
        let random = &mut self.reader.random;
        let turns = (reach * fit.frequency).max(1.0);
        let number = libm::round((2.0 * random.uniform() - 1.0) * turns);
        let aside = (2.0 * random.uniform() - 1.0) * (2.0 * fit.width).min(0.5);
        let beyond = (number + fit.phase + aside) * fit.period();
        beyond.clamp(-reach, reach) as i64
    }
}

fn period_width(low: f64, high: f64) -> f64 {
    1.0 / low - 1.0 / high
}
