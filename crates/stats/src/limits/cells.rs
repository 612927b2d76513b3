//! The cells of a limits grid, and the scatter of their rates.

use crate::robust::robust_polynomial;
use crate::sample::median;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const KIB: u64 = 1024;

/// Fewest runs of each cell.
pub const REPETITIONS_MIN: usize = 6;
/// Most runs of each cell.
pub const REPETITIONS_MAX: usize = 24;
/// Scatter of a cell's mean, relative, up to which a cap may be called a limiter.
pub const SCATTER_MAX: f64 = 0.02;

/// Where writes are still to come, reads are repeated until a mean scatters by this: a little
/// less, as the runs that write are counted in afterwards.
const SCATTER_OF_READS_MAX: f64 = 0.9 * SCATTER_MAX;
/// Maximum number of rounds of reads: runs that catch up are not repetitions.
const ROUNDS_MAX: usize = REPETITIONS_MAX + REPETITIONS_MIN;
/// Runs of [`LimitCell::SmallAgain`] by whose median reads are judged.
pub(super) const AGAIN_RUNS: usize = 3;
/// Fewer runs of a cell say nothing.
const RUNS_MIN: usize = 3;
/// Two cells never count as equal more strictly than this, in logarithms.
const TOLERANCE_MIN: f64 = 0.04;
/// Two cells are equal within this many standard errors of one.
const TOLERANCE_ERRORS: f64 = 3.7;
/// Standard error of a cell's Huber mean relative to that of a plain one.
const ERROR_WIDENING: f64 = 1.2;
/// Minimum scatter assumed for runs.
const SCATTER_MIN: f64 = 0.003;
/// The cells that show a cap on operations. The last is left out where the cap on bytes holds it.
const IOPS_CELLS: [LimitCell; 3] = [LimitCell::Small, LimitCell::HalfDepth, LimitCell::Medium];
/// The cells that show a cap on bytes.
pub(super) const BYTES_CELLS: [LimitCell; 2] = [LimitCell::Large, LimitCell::HalfLarge];
/// Largest depth of the grid.
const DEPTH: u32 = 64;
/// Units in which a volume may count large operations, and up to which ratio caps that meet near
/// one may come from it. Amazon EBS counts in units of 256 KiB.
const UNITS: [(u64, f64); 5] = [
    (16 * KIB, CORNER_AT_UNIT_RATIO),
    (32 * KIB, CORNER_AT_UNIT_RATIO),
    (64 * KIB, CORNER_AT_UNIT_RATIO),
    (128 * KIB, CORNER_AT_UNIT_RATIO),
    (256 * KIB, 1.25),
];
/// Caps that meet within this ratio of a unit meet at it: rates are not known better.
const CORNER_AT_UNIT_RATIO: f64 = 1.05;

/// One load of the grid; positions are random, reads unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCell {
    /// 4 KiB, 64 in flight.
    Small,
    /// 16 KiB, 64 in flight.
    Medium,
    /// 4 KiB, 32 in flight.
    HalfDepth,
    /// 1 MiB, 64 in flight.
    Large,
    /// 512 KiB, 64 in flight.
    HalfLarge,
    /// 4 KiB, one at a time.
    Single,
    /// Writes of 4 KiB, 64 in flight.
    Writes,
    /// Half reads, half writes of 4 KiB, 64 in flight.
    Mix,
    /// The block size at which the caps meet, 64 in flight.
    SizeCorner,
    /// 4 KiB at the depth at which latency alone would reach the cap on operations.
    DepthCorner,
    /// [`LimitCell::Small`] once more, behind the writes: it shows whether a level fell while
    /// they were measured, and is no cell of the grid.
    SmallAgain,
    /// A quarter more than a unit at which the caps meet, 64 in flight: it shows whether
    /// operations count by their bytes or by the units that they start.
    BeyondUnit,
}

impl LimitCell {
    /// Cells whose load is fixed.
    pub const FIXED: [LimitCell; 8] = [
        LimitCell::Small,
        LimitCell::Medium,
        LimitCell::HalfDepth,
        LimitCell::Large,
        LimitCell::HalfLarge,
        LimitCell::Single,
        LimitCell::Writes,
        LimitCell::Mix,
    ];

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, LimitCell::Writes | LimitCell::Mix)
    }

    /// Percentage of reads.
    pub fn read_percent(self) -> u8 {
        match self {
            LimitCell::Writes => 0,
            LimitCell::Mix => 50,
            _ => 100,
        }
    }
}

/// The loads of the two cells that depend on others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corners {
    /// Block size of [`LimitCell::SizeCorner`].
    pub block_size_bytes: Option<u64>,
    /// Depth of [`LimitCell::DepthCorner`].
    pub outstanding: Option<u32>,
    /// The unit of [`LimitCell::BeyondUnit`], if the caps meet at one.
    #[serde(default)]
    pub unit_bytes: Option<u64>,
}

impl Corners {
    /// How many there are.
    pub fn count(&self) -> usize {
        let [size, depth] = [self.block_size_bytes.is_some(), self.outstanding.is_some()];
        usize::from(size) + usize::from(depth) + usize::from(self.unit_bytes.is_some())
    }
}

/// Rates of runs, in operations per second, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitRates {
    rates: BTreeMap<LimitCell, Vec<f64>>,
    /// Loads of the corner cells, from [`LimitRates::choose_corners`].
    pub corners: Corners,
    /// Runs that write have been planned: nothing but [`LimitCell::SmallAgain`] follows.
    #[serde(default)]
    reads_are_over: bool,
}

/// Scatter of runs within their cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scatter {
    /// Of one run, in logarithms.
    pub run: f64,
    /// Of a cell's Huber mean.
    pub error: f64,
    /// Two cells of reads that differ by less than this count as equal.
    pub tolerance: f64,
    /// The same where one of them writes.
    pub tolerance_of_writes: f64,
}

impl LimitRates {
    /// Adds a run; a rate that is not above 0 is ignored.
    pub fn add(&mut self, cell: LimitCell, operations_per_s: f64) {
        if operations_per_s > 0.0 && operations_per_s.is_finite() {
            self.rates.entry(cell).or_default().push(operations_per_s);
        }
    }

    /// Rates of a cell.
    pub fn of(&self, cell: LimitCell) -> &[f64] {
        self.rates.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// Block size of a cell; `None` for a corner that was not chosen.
    pub fn block_size_bytes(&self, cell: LimitCell) -> Option<u64> {
        match cell {
            LimitCell::Medium => Some(16 * KIB),
            LimitCell::Large => Some(1024 * KIB),
            LimitCell::HalfLarge => Some(512 * KIB),
            LimitCell::SizeCorner => self.corners.block_size_bytes,
            LimitCell::BeyondUnit => self.corners.unit_bytes.map(|unit| unit / 4 * 5),
            _ => Some(4 * KIB),
        }
    }

    /// Depth of a cell; `None` for a corner that was not chosen.
    pub fn outstanding(&self, cell: LimitCell) -> Option<u32> {
        match cell {
            LimitCell::HalfDepth => Some(DEPTH / 2),
            LimitCell::Single => Some(1),
            LimitCell::DepthCorner => self.corners.outstanding,
            _ => Some(DEPTH),
        }
    }

    /// The runs of the next round, beginning with round 0, in an order of their own where they
    /// write; `None` when there are enough. Corners are chosen when all others have
    /// [`REPETITIONS_MIN`] runs and then catch up, with [`LimitCell::Small`] among them to show
    /// whether the cap is still the same. All runs that write come behind all reads, the mix
    /// first: a cache goes on writing, flash goes on collecting garbage and a burst is spent
    /// while what follows is measured. Where they are slower than a level of reads,
    /// [`LimitCell::SmallAgain`] shows whether that level is still there.
    pub fn round(&mut self, number: usize, writes: bool) -> Option<Vec<LimitCell>> {
        if self.reads_are_over {
            return self.round_behind_writes(number);
        }
        if number == REPETITIONS_MIN {
            self.choose_corners();
        }
        let mut corners = Vec::new();
        corners.extend(self.corners.block_size_bytes.map(|_| LimitCell::SizeCorner));
        corners.extend(self.corners.outstanding.map(|_| LimitCell::DepthCorner));
        corners.extend(self.corners.unit_bytes.map(|_| LimitCell::BeyondUnit));
        let reads = LimitCell::FIXED.into_iter().filter(|cell| !cell.writes());
        if number < REPETITIONS_MIN {
            return Some(reads.collect());
        }
        if number < 2 * REPETITIONS_MIN && !corners.is_empty() {
            corners.push(LimitCell::Small);
            return Some(corners);
        }
        if number < ROUNDS_MAX && self.wants_more(scatter_max(writes)) {
            return Some(reads.chain(corners).collect());
        }
        self.reads_are_over = true;
        writes.then(|| {
            let each = [LimitCell::Mix, LimitCell::Writes].into_iter();
            each.flat_map(|cell| vec![cell; self.repetitions().max(1)])
                .collect()
        })
    }

    /// Whether what comes next, if anything does, writes or follows runs that do.
    pub fn reads_are_over(&self) -> bool {
        self.reads_are_over
    }

    /// Forgets all runs from the first that wrote on: they show what they do only one behind the
    /// other, as a pause fills a bucket and empties a cache.
    pub fn forget_writes(&mut self) {
        self.rates
            .retain(|cell, _| !cell.writes() && *cell != LimitCell::SmallAgain);
        self.reads_are_over = false;
    }

    /// Reads behind the writes, until they are back at their level or enough were tried.
    fn round_behind_writes(&self, number: usize) -> Option<Vec<LimitCell>> {
        let runs = self.of(LimitCell::SmallAgain).len();
        let missing = AGAIN_RUNS.saturating_sub(runs);
        let is_wanted = match missing {
            0 => runs < REPETITIONS_MAX && self.fall_behind_writes().is_some(),
            _ => self.writes_are_slower(),
        };
        let is_wanted = is_wanted && number < ROUNDS_MAX + REPETITIONS_MAX;
        is_wanted.then(|| vec![LimitCell::SmallAgain; missing.max(1)])
    }

    /// Logarithms of the rates of writes and of the mix, where enough of both were made: they
    /// come last, and a measurement may be stopped before.
    pub(super) fn write_and_mix(&self) -> Option<(f64, f64)> {
        let cells = [LimitCell::Writes, LimitCell::Mix];
        if cells.iter().any(|cell| self.of(*cell).len() < RUNS_MIN) {
            return None;
        }
        let [write, mix] = cells.map(|cell| self.log_mean(cell));
        write.zip(mix)
    }

    /// The cells of the grid that count.
    fn grid(&self) -> impl Iterator<Item = LimitCell> + '_ {
        let with_writes = self.write_and_mix().is_some();
        let cells = self.rates.keys().copied();
        cells.filter(move |cell| match cell {
            LimitCell::SmallAgain => false,
            _ => with_writes || !cell.writes(),
        })
    }

    /// Runs that every cell has which counts.
    pub fn repetitions(&self) -> usize {
        let runs = self.grid().map(|cell| self.of(cell).len());
        runs.min().unwrap_or(0)
    }

    /// Logarithms of a cell's rates.
    pub(super) fn logs(&self, cell: LimitCell) -> Vec<f64> {
        self.of(cell).iter().map(|rate| libm::log(*rate)).collect()
    }

    /// Huber mean of a cell's logarithms; the median for one or two runs.
    pub(super) fn log_mean(&self, cell: LimitCell) -> Option<f64> {
        let logs = self.logs(cell);
        huber(&logs)
    }

    /// Logarithms of the cells' rates, each weighted by the size of an operation.
    pub(super) fn logs_of(&self, cells: &[LimitCell], weight: impl Fn(u64) -> f64) -> Vec<f64> {
        let each = cells.iter().filter_map(|cell| {
            let shift = libm::log(weight(self.block_size_bytes(*cell)?));
            Some(self.logs(*cell).into_iter().map(move |log| log + shift))
        });
        each.flatten().collect()
    }

    /// Logarithms of the operations per second of small blocks and of the bytes per second of large
    /// ones, whether flat or not.
    pub(super) fn levels(&self) -> Option<(f64, f64)> {
        let iops = self.logs_of(self.iops_cells(), |_| 1.0);
        let bytes = self.logs_of(&BYTES_CELLS, |bytes| bytes as f64);
        Some((huber(&iops)?, huber(&bytes)?))
    }

    /// The cells that show a cap on operations.
    pub(super) fn iops_cells(&self) -> &'static [LimitCell] {
        match self.bytes_hold_medium().unwrap_or(false) {
            true => &IOPS_CELLS[..2],
            false => &IOPS_CELLS,
        }
    }

    /// Whether blocks of 16 KiB already move as many bytes as large ones, at fewer operations than
    /// blocks of 4 KiB: where the caps meet below 16 KiB, as on a volume of 16,000 IOPS and 125
    /// MiB/s.
    pub(super) fn bytes_hold_medium(&self) -> Option<bool> {
        let tolerance = (self.scatter()).map_or(TOLERANCE_MIN, |scatter| scatter.tolerance);
        let medium = self.log_mean(LimitCell::Medium)?;
        let bytes = huber(&self.logs_of(&BYTES_CELLS, |bytes| bytes as f64))?;
        let of_medium = medium + libm::log((16 * KIB) as f64);
        let is_slower = self.log_mean(LimitCell::Small)? - medium >= tolerance;
        Some(is_slower && (of_medium - bytes).abs() < tolerance)
    }

    /// A cell's rate, operations per second.
    pub fn rate(&self, cell: LimitCell) -> Option<f64> {
        self.log_mean(cell).map(libm::exp)
    }

    /// Chooses the loads of the corner cells from the results of the others: block size T / I, a
    /// multiple of 4 KiB from 8 to 512 KiB, and depth I L for the latency L of single operations, 2
    /// to 64. A corner far outside these is out of reach, and has no cell. One at a unit is that
    /// unit: just beyond it, operations may count twice.
    pub(super) fn choose_corners(&mut self) {
        let (Some((iops, bytes_per_s)), Some(single)) =
            (self.levels(), self.log_mean(LimitCell::Single))
        else {
            return;
        };
        let bytes = libm::exp(bytes_per_s - iops);
        let in_reach = (6.0 * KIB as f64..=700.0 * KIB as f64).contains(&bytes);
        self.corners.unit_bytes = unit_at(bytes);
        self.corners.block_size_bytes = in_reach.then(|| {
            let at_unit = (self.corners.unit_bytes)
                .filter(|unit| is_within(bytes / *unit as f64, CORNER_AT_UNIT_RATIO));
            let pages = libm::round(bytes / (4 * KIB) as f64) as u64;
            at_unit.unwrap_or((pages * 4 * KIB).clamp(8 * KIB, 512 * KIB))
        });
        let depth = libm::exp(iops - single);
        let in_reach = (1.7..=48.0).contains(&depth);
        self.corners.outstanding = in_reach.then(|| (libm::round(depth) as u32).clamp(2, DEPTH));
    }

    /// Scatter, from all runs about the median of their cell. `None` below [`RUNS_MIN`] runs
    /// of some cell.
    pub(super) fn scatter(&self) -> Option<Scatter> {
        let repetitions = self.repetitions();
        if repetitions < RUNS_MIN {
            return None;
        }
        let (mut residuals, mut of_reads) = (Vec::new(), Vec::new());
        for cell in self.grid() {
            let logs = self.logs(cell);
            let centre = median(&logs)?;
            let distances = logs.iter().map(|log| (log - centre).abs());
            if !cell.writes() {
                of_reads.extend(distances.clone());
            }
            residuals.extend(distances);
        }
        let run = scatter_of(&residuals, repetitions);
        let error = error_of(run, repetitions);
        // Runs that write differ by what a cache had room for: that blurs no level of reads.
        let error_of_reads = error_of(scatter_of(&of_reads, repetitions), repetitions);
        let tolerance = |error: f64| TOLERANCE_MIN.max(TOLERANCE_ERRORS * error);
        Some(Scatter {
            run,
            error,
            tolerance: tolerance(error_of_reads),
            tolerance_of_writes: tolerance(error),
        })
    }

    /// Whether further runs are needed until a cell's mean scatters by this share at most, and
    /// until disturbed runs no longer move the mean of a cell that reads.
    pub(super) fn wants_more(&self, scatter_max: f64) -> bool {
        let repetitions = self.repetitions();
        if repetitions < REPETITIONS_MIN {
            return true;
        }
        let is_rough = !self.scatters_up_to(scatter_max) || self.has_moved_mean();
        repetitions < REPETITIONS_MAX && is_rough
    }

    /// Whether a mean of reads is further from the median of its runs than what counts as equal:
    /// of six runs two that something else slowed down move it by a tenth. A rate that fell for
    /// good, as behind a burst, is another matter.
    fn has_moved_mean(&self) -> bool {
        let Some(caps) = self.caps().filter(|caps| caps.drift.is_none()) else {
            return false;
        };
        let mut reads = self.grid().filter(|cell| !cell.writes());
        reads.any(|cell| {
            let logs = self.logs(cell);
            let means = huber(&logs).zip(median(&logs));
            means.is_some_and(|(mean, median)| (mean - median).abs() > caps.tolerance)
        })
    }

    /// Runs of each cell that it takes at the scatter so far.
    pub fn repetitions_needed(&self, writes: bool) -> usize {
        let ratio = (self.scatter()).map_or(0.0, |scatter| scatter.run / scatter_max(writes));
        (libm::ceil(ratio * ratio) as usize).clamp(REPETITIONS_MIN, REPETITIONS_MAX)
    }

    /// Whether the scatter is small enough to call a cap a limiter.
    pub(super) fn is_quiet(&self) -> bool {
        self.scatters_up_to(SCATTER_MAX)
    }

    fn scatters_up_to(&self, scatter_max: f64) -> bool {
        let repetitions = libm::sqrt(self.repetitions() as f64);
        self.scatter()
            .is_some_and(|scatter| scatter.run / repetitions <= scatter_max)
    }
}

/// Scatter of a mean up to which reads are repeated.
fn scatter_max(writes: bool) -> f64 {
    match writes {
        true => SCATTER_OF_READS_MAX,
        false => SCATTER_MAX,
    }
}

/// The unit in which a volume may count large operations whose caps meet at this block size.
pub(super) fn unit_at(bytes: f64) -> Option<u64> {
    let mut units = UNITS.into_iter();
    let found = units.find(|(unit, ratio)| is_within(bytes / *unit as f64, *ratio));
    found.map(|(unit, _)| unit)
}

fn is_within(quotient: f64, ratio: f64) -> bool {
    (1.0 / ratio..=ratio).contains(&quotient)
}

/// Standard deviation of one run, from distances to the medians of cells with this many runs.
pub(super) fn scatter_of(distances: &[f64], repetitions: usize) -> f64 {
    let typical = median(distances).unwrap_or(0.0);
    (scale_factor(repetitions) * typical).max(SCATTER_MIN)
}

/// Standard error of the Huber mean of this many runs.
pub(super) fn error_of(scatter: f64, repetitions: usize) -> f64 {
    ERROR_WIDENING * scatter / libm::sqrt(repetitions as f64)
}

/// Factor from the median distance to a cell's median to the standard deviation of a run: 1.4826,
/// and more where the median itself has absorbed part of the scatter (by simulation).
fn scale_factor(repetitions: usize) -> f64 {
    match repetitions {
        ..=3 => 2.0,
        4 | 5 => 1.85,
        6..=11 => 1.66,
        _ => 1.56,
    }
}

/// Huber's mean; the median if there are too few values for it.
pub(super) fn huber(values: &[f64]) -> Option<f64> {
    robust_polynomial(&vec![0.0; values.len()], values, 1)
        .map(|fit| fit.value(0.0))
        .or_else(|| median(values))
}
