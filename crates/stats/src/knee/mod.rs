//! Where throughput stops growing with load: two definitions with confidence brackets.
//!
//! *Kneedle* (Satopaa et al. 2011), on log2 of the load: both axes are scaled to
//! 0..1, x' = (log2 N - log2 N_min) / (log2 N_max - log2 N_min) and
//! y' = (X - X_min) / (X_max - X_min); the knee is the N of largest d = y' - x'.
//! It depends on where the ladder starts and ends. *Plateau*: the smallest N
//! with X >= 0.97 X_max, which does not depend on the ladder's foot.
//!
//! Neither says where to run a database: beyond the knee latency grows with the load for no gain,
//! but even before it latency may be too high.

use crate::bootstrap::Bootstrap;
use crate::random::Random;
use crate::sample::mean;
use serde::{Deserialize, Serialize};

/// The share of the maximum throughput that counts as the plateau.
pub const PLATEAU_SHARE: f64 = 0.97;

/// A step stands out if both neighbours reach less than this share of it: one lucky run rather than
/// the shape of the curve.
const NEIGHBOURS_SHARE: f64 = 0.8;

/// One point of a throughput curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CurvePoint {
    /// Total operations outstanding (N), above 0.
    pub load: u64,
    /// Throughput at that load (X), in any unit.
    pub rate: f64,
}

/// One step of a ladder with the rates measured during it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LadderStep {
    /// Total operations outstanding, above 0.
    pub load: u64,
    /// Throughput of consecutive intervals of equal length (100 ms), in order. A single value is
    /// taken as exact.
    pub rates: Vec<f64>,
}

impl LadderStep {
    /// The step's mean rate; none without rates.
    pub fn point(&self) -> Option<CurvePoint> {
        mean(&self.rates).map(|rate| CurvePoint {
            load: self.load,
            rate,
        })
    }
}

/// The knee of a curve, as loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Knee {
    /// Load of the largest d = y' - x'; none below three points, if the curve does not bend
    /// (straight or convex), or if the bend or the scale depends on one step that exceeds both
    /// neighbours by a quarter.
    pub kneedle: Option<u64>,
    /// Smallest load that gives 97 % of the largest rate.
    pub plateau: u64,
    /// The largest rate.
    pub rate_max: f64,
    /// Whether a load above the plateau was measured: otherwise the ladder ended too early to know.
    pub confirmed: bool,
}

/// A load with lower and upper bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadBracket {
    /// From the means.
    pub load: u64,
    /// Lowest load of the bracket.
    pub low: u64,
    /// Highest load of the bracket.
    pub high: u64,
}

/// The knee of a measured ladder with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KneeBrackets {
    /// From the steps' means.
    pub knee: Knee,
    /// Bracket of Kneedle; none where [`Knee::kneedle`] is none.
    pub kneedle: Option<LoadBracket>,
    /// Bracket of the plateau.
    pub plateau: LoadBracket,
}

/// The knee of a curve. Points may be in any order; those without a load or a finite rate are
/// excluded; if several have the largest d, the smallest load counts.
///
/// n = 0: none. n = 1: that load is the plateau, no Kneedle. n = 2: plateau only. On a flat curve
/// both are decided by noise: see the bracket.
///
/// ```
/// use stripewise_stats::{CurvePoint, knee};
/// let curve = [(1, 100.0), (2, 190.0), (4, 300.0), (8, 310.0), (16, 312.0)]
///     .map(|(load, rate)| CurvePoint { load, rate });
/// let knee = knee(&curve).unwrap();
/// assert_eq!((knee.kneedle, knee.plateau), (Some(4), 8));
/// ```
pub fn knee(curve: &[CurvePoint]) -> Option<Knee> {
    let mut points: Vec<CurvePoint> = curve
        .iter()
        .copied()
        .filter(|p| p.load > 0 && p.rate.is_finite())
        .collect();
    points.sort_by_key(|p| p.load);
    let rate_max = points.iter().map(|p| p.rate).reduce(f64::max)?;
    let plateau = points
        .iter()
        .find(|p| p.rate >= PLATEAU_SHARE * rate_max)?
        .load;
    Some(Knee {
        kneedle: kneedle(&points, rate_max),
        plateau,
        rate_max,
        confirmed: points.last().is_some_and(|p| p.load > plateau),
    })
}

fn kneedle(points: &[CurvePoint], rate_max: f64) -> Option<u64> {
    let (first, last) = (points.first()?, points.last()?);
    let rate_min = points.iter().map(|p| p.rate).fold(rate_max, f64::min);
    let x_span = libm::log2(last.load as f64 / first.load as f64);
    let y_span = rate_max - rate_min;
    if points.len() < 3 || x_span <= 0.0 || y_span <= 0.0 {
        return None;
    }
    let mut best: Option<(f64, usize)> = None;
    for (index, p) in points.iter().enumerate() {
        let x = libm::log2(p.load as f64 / first.load as f64) / x_span;
        let d = (p.rate - rate_min) / y_span - x;
        // Rounding alone must not produce a knee on a straight line.
        if d > best.map_or(1e-9, |(most, _)| most) {
            best = Some((d, index));
        }
    }
    let highest = points.iter().position(|p| p.rate >= rate_max)?;
    let (_, index) = best?;
    let is_noise = is_alone(points, index) || is_alone(points, highest);
    (!is_noise).then(|| points[index].load)
}

/// Whether a step exceeds both of its neighbours by too much.
fn is_alone(points: &[CurvePoint], index: usize) -> bool {
    let most = points[index].rate * NEIGHBOURS_SHARE;
    let below = |index: Option<usize>| {
        let neighbour = index.and_then(|index| points.get(index));
        neighbour.is_some_and(|neighbour| neighbour.rate < most)
    };
    below(index.checked_sub(1)) && below(index.checked_add(1))
}

/// The knee of a ladder and brackets that contain it at `level`: each step's rates are resampled in
/// blocks of neighbours, the knee of the resampled means is computed, and the bracket runs from the
/// (1-level)/2 to the (1+level)/2 quantile (type 1) of the resulting loads. Brackets are loads of
/// the ladder, which limit the resolution.
///
/// None without rates or resamples. Steps with one rate, or with fewer than two blocks, count as
/// exact; for n = 1 and 2 steps see [`knee`].
pub fn knee_brackets(
    steps: &[LadderStep],
    level: f64,
    bootstrap: &Bootstrap,
) -> Option<KneeBrackets> {
    let measured: Vec<(CurvePoint, &LadderStep)> = steps
        .iter()
        .filter_map(|step| step.point().map(|point| (point, step)))
        .collect();
    let curve: Vec<CurvePoint> = measured.iter().map(|(point, _)| *point).collect();
    let of_means = knee(&curve)?;
    let mut random = Random::new(bootstrap.seed);
    let replicates: Vec<Vec<f64>> = measured
        .iter()
        .map(|(point, step)| {
            if step.rates.len() / bootstrap.block_length.max(1) < 2 {
                vec![point.rate; bootstrap.resamples]
            } else {
                bootstrap.means(&step.rates, &mut random)
            }
        })
        .collect();
    let mut resampled = curve;
    let (mut kneedles, mut plateaus) = (Vec::new(), Vec::new());
    for k in 0..bootstrap.resamples {
        for (point, rates) in resampled.iter_mut().zip(&replicates) {
            point.rate = rates[k];
        }
        if let Some(found) = knee(&resampled) {
            kneedles.extend(found.kneedle);
            plateaus.push(found.plateau);
        }
    }
    Some(KneeBrackets {
        knee: of_means,
        kneedle: of_means
            .kneedle
            .and_then(|load| bracket(load, kneedles, level)),
        plateau: bracket(of_means.plateau, plateaus, level)?,
    })
}

/// The middle `level` of the loads, extended to include the estimate.
fn bracket(load: u64, mut loads: Vec<u64>, level: f64) -> Option<LoadBracket> {
    loads.sort_unstable();
    let tail = (0.5 - 0.5 * level).clamp(0.0, 0.5);
    let cut = libm::floor(tail * loads.len() as f64) as usize;
    let low = *loads.get(cut)?;
    let high = *loads.get(loads.len() - 1 - cut)?;
    Some(LoadBracket {
        load,
        low: low.min(load),
        high: high.max(load),
    })
}

#[cfg(test)]
mod tests;
