//! Which limit binds a load, by comparison with neighbouring block sizes and depths.
//!
//! Slopes of log2 of the rate in depth and in size: a cap on operations has (0, 0), one on bytes
//! (0, -1), latency (1, about 0), or (1, -0.4) if larger operations take longer.

use super::cells::{error_of, huber, scatter_of};
use super::nature::{hypot, normal};
use crate::sample::median;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// Minimum probability to name a limit.
const NAMED_MIN: f64 = 0.9;
/// Spread of a limit's slopes.
const SLOPE_SPREAD: f64 = 0.08;

/// A limit of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundBy {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Latency and the number in flight.
    Latency,
}

/// Rates of runs of a load and of its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BindingRates {
    /// The load itself.
    pub load: Vec<f64>,
    /// Twice its block size.
    pub larger: Vec<f64>,
    /// Half its block size; empty if not measured.
    pub smaller: Vec<f64>,
    /// Twice its depth.
    pub deeper: Vec<f64>,
}

/// The limit that binds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The limit; `None` if none is likely enough.
    pub bound_by: Option<BoundBy>,
    /// Probability of the likeliest.
    pub probability: f64,
    /// Operations per second of the load, Huber mean of its runs.
    pub per_s: f64,
    /// log2 of the rate per doubling of the depth.
    pub depth_slope: f64,
    /// The same per doubling of the block size.
    pub size_slope: f64,
}

/// The limit that binds a load. `None` below three runs of each cell.
pub fn binding(rates: &BindingRates) -> Option<Binding> {
    let cells = [&rates.load, &rates.larger, &rates.deeper];
    if cells.iter().any(|cell| cell.len() < 3) {
        return None;
    }
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| libm::log(*v)).collect() };
    let mean = |values: &[f64]| huber(&logs(values));
    let (load, larger, deeper) = (
        mean(&rates.load)?,
        mean(&rates.larger)?,
        mean(&rates.deeper)?,
    );
    let error = pooled_error(&cells.map(|cell| logs(cell)))?;
    let (size_slope, size_error) = match mean(&rates.smaller).filter(|_| rates.smaller.len() >= 3) {
        Some(smaller) => (
            (larger - smaller) / (2.0 * LN_2),
            1.414 * error / (2.0 * LN_2),
        ),
        None => ((larger - load) / LN_2, 1.414 * error / LN_2),
    };
    let depth_slope = (deeper - load) / LN_2;
    let depth_error = 1.414 * error / LN_2;
    let likelihood = |depth: (f64, f64), size: (f64, f64)| {
        normal(depth_slope, depth.0, hypot(depth_error, depth.1))
            * normal(size_slope, size.0, hypot(size_error, size.1))
    };
    let latency =
        0.5 * likelihood((1.0, 0.1), (0.0, 0.1)) + 0.5 * likelihood((1.0, 0.1), (-0.4, 0.25));
    let inside = (-0.2..1.2).contains(&depth_slope) && (-1.2..0.2).contains(&size_slope);
    let none = if inside { 0.5 } else { 0.05 };
    let limits = [
        (
            BoundBy::Iops,
            likelihood((0.0, SLOPE_SPREAD), (0.0, SLOPE_SPREAD)),
        ),
        (
            BoundBy::Bandwidth,
            likelihood((0.0, SLOPE_SPREAD), (-1.0, SLOPE_SPREAD)),
        ),
        (BoundBy::Latency, latency),
    ];
    let sum = none + limits.iter().map(|(_, likelihood)| likelihood).sum::<f64>();
    let (likeliest, most) = limits
        .into_iter()
        .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let probability = most / sum;
    Some(Binding {
        bound_by: (probability >= NAMED_MIN).then_some(likeliest),
        probability,
        per_s: libm::exp(load),
        depth_slope,
        size_slope,
    })
}

/// Standard error of a cell's mean, pooled over the cells.
fn pooled_error(cells: &[Vec<f64>]) -> Option<f64> {
    let mut residuals = Vec::new();
    for cell in cells {
        let centre = median(cell)?;
        residuals.extend(cell.iter().map(|log| (log - centre).abs()));
    }
    let repetitions = cells.iter().map(Vec::len).min()?;
    Some(error_of(scatter_of(&residuals, repetitions), repetitions))
}
