//! Read parallelism.
//!
//! Random reads collide on units that process one at a time. A batch of n reads on m units takes
//! f + r L: the fixed cost of a read, and its cost on its unit times the time L of the last one,
//! counted in reads. L(n, m, w) comes from a simulation: reads that start at intervals of w
//! (processor, link), on random units, with the variation of single reads. For each m and w the two
//! terms are fitted by least squares; m is where the residual is least, its interval that of fits
//! to resampled blocks.

use super::Answered;
use super::batches::Prober;
use crate::device::{Device, StopReason};
use serde::{Deserialize, Serialize};
use stripewise_stats::{Random, mean};

const BLOCKS: usize = 64;
/// Batches of one number of reads per block.
const REPEATS: usize = 32;
const COUNTS: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
const UNITS_MAX: usize = 256;
const RESAMPLES: usize = 120;
/// The law must fit every mean to this accuracy, or there is no answer.
const MISFIT_MAX: f64 = 0.04;
/// Draws for L(n, m).
const DRAWS: usize = 1_500;
/// The serial cost of a read (processor, link) relative to its cost on its unit.
const WAYS: [f64; 11] = [0.0, 0.01, 0.02, 0.035, 0.06, 0.09, 0.13, 0.2, 0.3, 0.5, 0.8];
/// Largest variation of single-page reads, either way.
const SPREAD_MAX: f64 = 0.5;

/// Duration of batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConcurrencyAt {
    /// Reads that start together.
    pub reads: u32,
    /// Mean time until the last has ended.
    pub batch_ns: f64,
    /// Reads per second, relative to single reads.
    pub speed_up: f64,
}

/// Read parallelism.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallelism {
    /// Units that work independently of each other.
    pub units: Answered<u32>,
    /// Largest gain over single reads observed.
    pub speed_up_max: Option<f64>,
    /// Each number of reads.
    pub all: Vec<ConcurrencyAt>,
}

impl Default for Parallelism {
    fn default() -> Self {
        Parallelism {
            units: Answered::refused("not measured"),
            speed_up_max: None,
            all: Vec::new(),
        }
    }
}

pub(super) fn measure<D: Device>(
    prober: &mut Prober<'_, D>,
    page_bytes: Option<u64>,
) -> Result<Parallelism, StopReason> {
    let bytes = page_bytes.unwrap_or(4096).max(prober.sector_bytes());
    let sector = prober.sector_bytes();
    // By block, then by number of reads.
    let mut times: Vec<[f64; COUNTS.len()]> = Vec::with_capacity(BLOCKS);
    let mut order: Vec<usize> = (0..COUNTS.len()).collect();
    let mut singles = Vec::with_capacity(BLOCKS * REPEATS);
    for _ in 0..BLOCKS {
        prober.random.shuffle(&mut order);
        let mut block = [0.0; COUNTS.len()];
        for &number in &order {
            // Means of several, because medians of a sum of few values are not sums of medians.
            let mut sum = 0.0;
            for _ in 0..REPEATS {
                let places: Vec<u64> = (0..COUNTS[number])
                    .map(|_| prober.place(bytes, bytes))
                    .collect();
                let took_ns = prober.batch(&places, sector)?;
                sum += took_ns;
                if COUNTS[number] == 1 {
                    singles.push(took_ns);
                }
            }
            block[number] = sum / REPEATS as f64;
        }
        times.push(block);
    }
    let means = means_of(&times, &(0..BLOCKS).collect::<Vec<_>>());
    let all: Vec<ConcurrencyAt> = COUNTS
        .iter()
        .zip(means)
        .map(|(reads, batch_ns)| ConcurrencyAt {
            reads: *reads as u32,
            batch_ns,
            speed_up: *reads as f64 * means[0] / batch_ns,
        })
        .collect();
    let gains = all.iter().map(|at| at.speed_up);
    Ok(Parallelism {
        units: units(&times, spread(&mut singles), &mut prober.random),
        speed_up_max: gains.max_by(f64::total_cmp),
        all,
    })
}

/// Means over these blocks. A batch that hit a pause counts like the median.
fn means_of(times: &[[f64; COUNTS.len()]], blocks: &[usize]) -> [f64; COUNTS.len()] {
    std::array::from_fn(|number| {
        let mut values: Vec<f64> = blocks.iter().map(|block| times[*block][number]).collect();
        values.sort_by(f64::total_cmp);
        // Without a tenth at either end.
        let cut = values.len() / 10;
        mean(&values[cut..values.len() - cut]).unwrap_or(0.0)
    })
}

fn units(times: &[[f64; COUNTS.len()]], spread: f64, random: &mut Random) -> Answered<u32> {
    let candidates = candidates();
    // By units, then by the serial cost of a read.
    let laws: Vec<[[f64; COUNTS.len()]; WAYS.len()]> = candidates
        .iter()
        .map(|units| {
            std::array::from_fn(|way| {
                std::array::from_fn(|number| {
                    let load = Load {
                        reads: COUNTS[number],
                        units: *units,
                        way: WAYS[way],
                        spread,
                    };
                    load.last(random)
                })
            })
        })
        .collect();
    let best = |means: &[f64; COUNTS.len()]| {
        let misfits = laws.iter().map(|ways| {
            let each = ways.iter().map(|law| misfit(means, law));
            each.min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or((f64::MAX, f64::MAX))
        });
        misfits
            .enumerate()
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0))
            .unwrap_or((0, (f64::MAX, f64::MAX)))
    };
    let blocks: Vec<usize> = (0..times.len()).collect();
    let (found, (_, greatest)) = best(&means_of(times, &blocks));
    if greatest > MISFIT_MAX {
        return Answered::refused(format!(
            "reads at once do not behave as on units that work independently: off by {:.0} %",
            greatest * 100.0
        ));
    }
    let mut replicates: Vec<usize> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<usize> = blocks.iter().map(|_| random.below(blocks.len())).collect();
            best(&means_of(times, &drawn)).0
        })
        .collect();
    replicates.sort_unstable();
    let low = replicates[RESAMPLES * 25 / 1000].min(found);
    let high = replicates[RESAMPLES * 975 / 1000].max(found);
    // Candidates are a few percent apart.
    let low = candidates[low.saturating_sub(1)];
    let high = candidates[(high + 1).min(candidates.len() - 1)];
    if high >= UNITS_MAX {
        return Answered::refused(format!(
            "{low} or more: {} reads at once do not meet often enough to tell",
            COUNTS[COUNTS.len() - 1]
        ));
    }
    Answered::found(candidates[found] as u32, [low as u32, high as u32])
}

/// 1 to 32 one by one, then about 6 % apart.
fn candidates() -> Vec<usize> {
    let mut all: Vec<usize> = (1..=32).collect();
    let mut last = 32;
    while last < UNITS_MAX {
        last = (last + (last / 16).max(1)).min(UNITS_MAX);
        all.push(last);
    }
    all
}

/// Relative variation of single reads, either way: the distance of their quartiles, which is half
/// the range of uniformly distributed values.
fn spread(singles: &mut [f64]) -> f64 {
    singles.sort_by(f64::total_cmp);
    let quarter = singles.len() / 4;
    match singles.get(quarter..singles.len() - quarter) {
        Some([first, .., last]) => ((last - first) / (last + first) * 2.0).min(SPREAD_MAX),
        _ => 0.0,
    }
}

/// Reads that start one after the other on random units.
struct Load {
    reads: usize,
    units: usize,
    /// Interval between the starts of two reads; 1 is a read's cost on its unit.
    way: f64,
    /// Variation of a read's cost on its unit, either way.
    spread: f64,
}

impl Load {
    /// Mean time until the last has ended.
    fn last(&self, random: &mut Random) -> f64 {
        let mut sum = 0.0;
        let mut until = vec![0.0f64; self.units];
        for _ in 0..DRAWS {
            until.fill(0.0);
            let mut last = 0.0f64;
            for number in 0..self.reads {
                let place = random.below(self.units);
                let begins = until[place].max(self.way * number as f64);
                until[place] = begins + 1.0 + self.spread * (2.0 * random.uniform() - 1.0);
                last = last.max(until[place]);
            }
            sum += last;
        }
        sum / DRAWS as f64
    }
}

/// The best f + r L without a negative term: squares of the relative residuals, and the largest.
fn misfit(means: &[f64; COUNTS.len()], law: &[f64; COUNTS.len()]) -> (f64, f64) {
    let (mut ww, mut wx, mut xx, mut wy, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (mean, load) in means.iter().zip(law) {
        let (w, x) = (1.0 / mean, load / mean);
        ww += w * w;
        wx += w * x;
        xx += x * x;
        wy += w;
        xy += x;
    }
    let determinant = ww * xx - wx * wx;
    let fixed = (wy * xx - wx * xy) / determinant;
    let (fixed, unit) = match fixed > 0.0 && determinant.abs() > 0.0 {
        true => (fixed, (ww * xy - wx * wy) / determinant),
        false => (0.0, xy / xx),
    };
    if unit <= 0.0 {
        return (f64::MAX, f64::MAX);
    }
    let off = means
        .iter()
        .zip(law)
        .map(|(mean, load)| ((fixed + unit * load) / mean - 1.0).abs());
    let squares = off.clone().map(|off| off * off).sum();
    (squares, off.fold(0.0, f64::max))
}
