//! The period of a pattern, from batches of equally spaced reads.
//!
//! A batch reads at a, a + D, a + 2D, a + 3D at once. If D is near a multiple of the pattern's
//! period, all four are on one disk, whatever a is, and the batch is slow. So the cost of a batch
//! as a function of D is high in a window around the multiples of the period and lower elsewhere:
//! the search for a transit in a light curve, and the method is the same (box least squares, Kovács
//! et al. 2002): fold the costs at every frequency, and see how much a window of higher costs
//! explains.

use stripewise_stats::median;

/// Bins of a fold.
const BINS: usize = 48;
/// Widths of windows tried, in bins.
const WIDTHS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 18];
/// Values farther from the median than this many median deviations are clipped.
const WINSOR: f64 = 5.0;

/// A batch: its stride beyond the base stride, and its cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub beyond_bytes: i64,
    pub cost: f64,
}

/// A window of higher costs at one frequency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Cycles per byte: 1 / period.
    pub frequency: f64,
    /// Phase of the window's middle, 0 to 1.
    pub phase: f64,
    /// Width of the window, in cycles.
    pub width: f64,
    /// Sum of squares explained by the window, in units of the variance; chi-square with one degree
    /// of freedom at a frequency chosen beforehand.
    pub gain: f64,
}

impl Fit {
    pub fn period(&self) -> f64 {
        1.0 / self.frequency
    }
}

/// The periods searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Smallest stripe unit.
    pub unit_min: f64,
    /// Largest period.
    pub period_max: f64,
    /// Most units in a period.
    pub units_max: f64,
}

/// Costs around 0 in units of their deviation, with outliers clipped.
pub(super) struct Folder {
    beyond_bytes: Vec<i64>,
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
            beyond_bytes: batches.iter().map(|batch| batch.beyond_bytes).collect(),
            cost: cut.iter().map(|cost| (cost - mean) * scale).collect(),
        }
    }

    /// The best window at one frequency, below one cycle per byte.
    pub fn fit(&self, frequency: f64) -> Fit {
        let mut bins = [Bin::default(); BINS];
        // Cycles as fractions of 2^64: overflow is whole turns, even for negative numbers.
        let per_byte = (frequency * 2f64.powi(64)) as u64;
        for (&beyond_bytes, &cost) in self.beyond_bytes.iter().zip(&self.cost) {
            let turn = (beyond_bytes as u64).wrapping_mul(per_byte);
            let bin = &mut bins[(((turn >> 32) * BINS as u64) >> 32) as usize];
            bin.sum += cost;
            bin.count += 1.0;
        }
        best_window(&bins, self.cost.len() as f64, frequency)
    }

    /// The best separate frequencies of a range, best first.
    pub fn search(&self, range: Range, keep: usize) -> Vec<Fit> {
        let low = self.beyond_bytes.iter().copied().min().unwrap_or(0);
        let high = self.beyond_bytes.iter().copied().max().unwrap_or(0);
        let span = (high.max(0) - low).max(1) as f64;
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

    /// The best frequency near one, and the range of those that fit nearly as well (within
    /// `tolerance` of the gain).
    pub fn sharpen(&self, near: &Fit, half_range: f64, tolerance: f64) -> (Fit, f64, f64) {
        let far = self.beyond_bytes.iter().map(|beyond| beyond.unsigned_abs());
        let reach = far.max().unwrap_or(0).max(1) as f64;
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

/// Inserts a fit into the best ones, replacing a worse one at nearly the same frequency.
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

/// Costs of one bin, or of all bins before one.
#[derive(Clone, Copy, Default)]
struct Bin {
    sum: f64,
    count: f64,
}

fn best_window(bins: &[Bin; BINS], n: f64, frequency: f64) -> Fit {
    // Prefix sums over the first bins, extended past one cycle so that windows may wrap.
    let mut before = [Bin::default(); 2 * BINS + 1];
    for number in 0..2 * BINS {
        let bin = bins[number % BINS];
        before[number + 1] = Bin {
            sum: before[number].sum + bin.sum,
            count: before[number].count + bin.count,
        };
    }
    // The best so far: a bin, a width, and its gain as a fraction.
    let (mut start_best, mut width_best) = (0, 1);
    let (mut above, mut below) = (0.0, 1.0);
    for width in WIDTHS {
        let windows = before.iter().zip(&before[width..]).take(BINS);
        for (start, (first, end)) in windows.enumerate() {
            let sum = end.sum - first.sum;
            let count = end.count - first.count;
            // Costs have mean 0 and variance 1: between-group sum of squares.
            let squares = sum * sum * n;
            let spread = count * (n - count).max(1.0);
            if squares * below > above * spread && sum > 0.0 && count >= 3.0 {
                (start_best, width_best) = (start, width);
                (above, below) = (squares, spread);
            }
        }
    }
    let middle = (start_best as f64 + width_best as f64 / 2.0) / BINS as f64;
    Fit {
        frequency,
        phase: if middle >= 1.0 { middle - 1.0 } else { middle },
        width: width_best as f64 / BINS as f64,
        gain: above / below,
    }
}
