//! The period of a pattern, from batches of equally spaced reads.
//!
//! A batch reads at a, a + D, a + 2D, a + 3D at once. Where D is near a multiple of the
//! pattern's period, all four fall on one disk, whatever a is, and the batch is slow.
//! So the cost of a batch as a function of D is high in a window around the multiples
//! of the period and lower elsewhere: the search for a transit in a light curve, and
//! the method is the same (box least squares, Kovács et al. 2002): fold the costs at
//! every frequency, and see how much a window of higher costs explains.

use stripewise_stats::median;

/// Bins of a fold.
const BINS: usize = 48;
/// Widths of windows tried, in bins.
const WIDTHS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 18];
/// Values farther from the median than this many median deviations count as that far.
const WINSOR: f64 = 5.0;

/// A batch: how far its stride lies beyond the base stride, and what it cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub beyond_bytes: i64,
    pub cost: f64,
}

/// A window of higher costs at one frequency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Cycles a byte: 1 / period.
    pub frequency: f64,
    /// Phase of the window's middle, 0 to 1.
    pub phase: f64,
    /// Width of the window, in cycles.
    pub width: f64,
    /// What the window explains: sum of squares in units of the variance; chi-square
    /// with one degree of freedom at a frequency chosen beforehand.
    pub gain: f64,
}

impl Fit {
    pub fn period(&self) -> f64 {
        1.0 / self.frequency
    }
}

/// Which periods are searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Smallest stripe unit.
    pub unit_min: f64,
    /// Largest period.
    pub period_max: f64,
    /// Most units in a period.
    pub units_max: f64,
}

/// Costs around 0 in units of their deviation, outliers cut.
pub(super) struct Folder {
    beyond: Vec<f64>,
    cost: Vec<f64>,
}

impl Folder {
    pub fn new(batches: &[Batch]) -> Self {
        let costs: Vec<f64> = batches.iter().map(|batch| batch.cost).collect();
        let middle = median(&costs).unwrap_or(0.0);
        let away: Vec<f64> = costs.iter().map(|cost| (cost - middle).abs()).collect();
        let limit = WINSOR * median(&away).unwrap_or(0.0).max(1e-9);
        let cut: Vec<f64> = costs
            .iter()
            .map(|cost| (cost - middle).clamp(-limit, limit))
            .collect();
        let n = cut.len().max(1) as f64;
        let mean = cut.iter().sum::<f64>() / n;
        let variance = cut.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / n;
        let scale = 1.0 / libm::sqrt(variance.max(1e-18));
        Folder {
            beyond: batches.iter().map(|b| b.beyond_bytes as f64).collect(),
            cost: cut.iter().map(|cost| (cost - mean) * scale).collect(),
        }
    }

    /// The best window at one frequency.
    pub fn fit(&self, frequency: f64) -> Fit {
        let mut sums = [0.0f64; BINS];
        let mut counts = [0.0f64; BINS];
        for (&beyond, &cost) in self.beyond.iter().zip(&self.cost) {
            let turns = beyond * frequency;
            // The fractional part, also of negative numbers.
            let whole = turns as i64 as f64;
            let mut inside = turns - whole;
            if inside < 0.0 {
                inside += 1.0;
            }
            let bin = ((inside * BINS as f64) as usize).min(BINS - 1);
            sums[bin] += cost;
            counts[bin] += 1.0;
        }
        best_window(&sums, &counts, self.cost.len() as f64, frequency)
    }

    /// The best frequencies of a range, apart from each other, best first.
    pub fn search(&self, range: Range, keep: usize) -> Vec<Fit> {
        let low = self.beyond.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.beyond.iter().copied().fold(0.0, f64::max);
        let span = (high - low).max(1.0);
        let mut best: Vec<Fit> = Vec::new();
        let mut frequency = 1.0 / range.period_max;
        let end = 1.0 / (2.0 * range.unit_min);
        while frequency <= end {
            let fit = self.fit(frequency);
            enter(&mut best, fit, 0.7 / span, keep);
            let units = (1.0 / (frequency * range.unit_min)).clamp(2.0, range.units_max);
            frequency += 1.0 / (3.0 * span * units);
        }
        best
    }

    /// The best frequency near one, and the range of those that fit nearly as well
    /// (within `tolerance` of the gain).
    pub fn sharpen(&self, near: &Fit, half_range: f64, tolerance: f64) -> (Fit, f64, f64) {
        let reach = self.beyond.iter().fold(1.0f64, |max, b| max.max(b.abs()));
        let step = (near.width / (6.0 * reach)).min(half_range / 8.0);
        let steps = ((half_range / step) as i64).min(20_000);
        let fits: Vec<Fit> = (-steps..=steps)
            .map(|number| self.fit(near.frequency + number as f64 * step))
            .collect();
        let best = fits.iter().fold(
            fits[0],
            |best, fit| if fit.gain > best.gain { *fit } else { best },
        );
        let good = |fit: &&Fit| fit.gain >= best.gain - tolerance;
        let low = fits
            .iter()
            .find(good)
            .map_or(best.frequency, |f| f.frequency);
        let high = fits
            .iter()
            .rev()
            .find(good)
            .map_or(best.frequency, |f| f.frequency);
        (best, low - step, high + step)
    }
}

/// Puts a fit among the best, in place of a worse one at nearly the same frequency.
fn enter(best: &mut Vec<Fit>, fit: Fit, apart: f64, keep: usize) {
    if best.len() == keep && best.last().is_some_and(|last| last.gain >= fit.gain) {
        return;
    }
    let near = |other: &Fit| (other.frequency - fit.frequency).abs() < apart;
    if let Some(place) = best.iter().position(near) {
        if best[place].gain >= fit.gain {
            return;
        }
        best.remove(place);
    }
    let place = best.partition_point(|other| other.gain > fit.gain);
    best.insert(place, fit);
    best.truncate(keep);
}

fn best_window(sums: &[f64; BINS], counts: &[f64; BINS], n: f64, frequency: f64) -> Fit {
    // Sums over the first bins, once around and on, so that windows may wrap.
    let mut sum_before = [0.0f64; 2 * BINS + 1];
    let mut count_before = [0.0f64; 2 * BINS + 1];
    for bin in 0..2 * BINS {
        sum_before[bin + 1] = sum_before[bin] + sums[bin % BINS];
        count_before[bin + 1] = count_before[bin] + counts[bin % BINS];
    }
    let mut best = Fit {
        frequency,
        phase: 0.0,
        width: 1.0 / BINS as f64,
        gain: 0.0,
    };
    for width in WIDTHS {
        for start in 0..BINS {
            let sum = sum_before[start + width] - sum_before[start];
            if sum <= 0.0 {
                continue;
            }
            let count = count_before[start + width] - count_before[start];
            // Costs have mean 0 and variance 1: between-group sum of squares.
            let gain = sum * sum * n / (count * (n - count).max(1.0));
            if count >= 3.0 && gain > best.gain {
                let middle = (start as f64 + width as f64 / 2.0) / BINS as f64;
                best.gain = gain;
                best.phase = if middle >= 1.0 { middle - 1.0 } else { middle };
                best.width = width as f64 / BINS as f64;
            }
        }
    }
    best
}
