//! Zones: stretches of the surface with constant rate.
//!
//! Steps of the rate over position are those of the best-fitting step function ([`stairs`]), after
//! disturbed places are lifted to their surroundings. Steps and a smooth curve (a parabola) are
//! then compared by the Bayesian information criterion: a rate that falls evenly has no zones.

use super::RateAt;
use super::stairs::stairs;
use serde::{Deserialize, Serialize};
use stripewise_stats::mean;

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Zone {
    /// Where it begins.
    pub from_bytes: u64,
    /// Where it ends.
    pub to_bytes: u64,
    /// Mean rate of its places.
    pub bytes_per_s: f64,
}

/// Boundary between two adjacent zones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Boundary {
    /// Most likely position.
    pub at_bytes: u64,
    /// Positions that fit nearly as well (95 %).
    pub interval_bytes: [u64; 2],
}

/// Fewer consecutive low places than this are disturbances, not a zone.
const REACH: usize = 8;

/// Smallest rate step of a zone.
const HEIGHT_MIN: f64 = 0.008;

/// Chi-square of one degree of freedom at 95 %, slightly increased for a position among few.
const NEARLY: f64 = 6.0;

/// At least two zones, and their boundaries; none if the rate is constant, or falls evenly.
pub(super) fn zones(rates: &[RateAt], size_bytes: u64) -> (Vec<Zone>, Vec<Boundary>) {
    let none = (Vec::new(), Vec::new());
    if rates.len() < 12 {
        return none;
    }
    let values = undisturbed(rates);
    let cuts = of_some_height(stairs(&values), &values);
    if cuts.is_empty() || a_curve_fits_better(&values, &cuts) {
        return none;
    }
    let places: Vec<u64> = rates.iter().map(|rate| rate.offset_bytes).collect();
    // The boundary is midway between two places.
    let between = |index: usize| places[index - 1].midpoint(places[index]);
    let mut edges = vec![0];
    edges.extend_from_slice(&cuts);
    edges.push(values.len());
    let boundaries: Vec<Boundary> = (1..edges.len() - 1)
        .map(|number| {
            let (from, cut, to) = (edges[number - 1], edges[number], edges[number + 1]);
            let (low, high) = interval(&values[from..to], cut - from);
            Boundary {
                at_bytes: between(cut),
                interval_bytes: [places[from + low - 1], places[(from + high).min(to - 1)]],
            }
        })
        .collect();
    let mut from_bytes = 0;
    let mut all = Vec::new();
    for (number, window) in edges.windows(2).enumerate() {
        let to_bytes = boundaries.get(number).map_or(size_bytes, |b| b.at_bytes);
        all.push(Zone {
            from_bytes,
            to_bytes,
            bytes_per_s: mean(&values[window[0]..window[1]]).unwrap_or(0.0),
        });
        from_bytes = to_bytes;
    }
    (all, boundaries)
}

/// Without steps too low for a zone, lowest first.
fn of_some_height(mut cuts: Vec<usize>, values: &[f64]) -> Vec<usize> {
    loop {
        let mut edges = vec![0];
        edges.extend(&cuts);
        edges.push(values.len());
        let level = |number: usize| mean(&values[edges[number]..edges[number + 1]]).unwrap_or(0.0);
        let height = |number: usize| {
            let (before, behind) = (level(number), level(number + 1));
            (behind - before).abs() / before.max(1.0)
        };
        match (0..cuts.len()).min_by(|&a, &b| height(a).total_cmp(&height(b))) {
            Some(lowest) if height(lowest) < HEIGHT_MIN => {
                cuts.remove(lowest);
            }
            _ => return cuts,
        }
    }
}

/// Compares each place with its surroundings: single faster ones are cut down to these, and runs of
/// fewer than [`REACH`] slower ones are lifted to both sides. Disturbances lower the rate (a missed
/// revolution, other load), often enough that several in a row occur by chance. A step stays in
/// place. There are at least three places.
fn undisturbed(rates: &[RateAt]) -> Vec<f64> {
    let values: Vec<f64> = rates.iter().map(|rate| rate.bytes_per_s).collect();
    let cut: Vec<f64> = (0..values.len())
        .map(|index| {
            let window = around(&values, index, REACH);
            let mut sorted = window.to_vec();
            sorted.sort_by(f64::total_cmp);
            values[index].min(sorted[sorted.len() - 2])
        })
        .collect();
    // The maximum of each run of this length, then the minimum of all runs that include a place.
    let reach = REACH.min(cut.len());
    let greatest: Vec<f64> = cut
        .windows(reach)
        .map(|run| run.iter().copied().fold(f64::MIN, f64::max))
        .collect();
    (0..cut.len())
        .map(|index| {
            let first = (index + 1).saturating_sub(reach);
            let last = index.min(greatest.len() - 1);
            greatest[first..=last]
                .iter()
                .copied()
                .fold(f64::MAX, f64::min)
        })
        .collect()
}

/// A value and its neighbours, as far as they exist.
fn around(values: &[f64], index: usize, reach: usize) -> &[f64] {
    &values[index.saturating_sub(reach)..(index + reach + 1).min(values.len())]
}

fn squares(values: &[f64]) -> f64 {
    let middle = mean(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

/// Compares the BIC of a smooth curve with that of steps.
fn a_curve_fits_better(values: &[f64], cuts: &[usize]) -> bool {
    let n = values.len() as f64;
    let mut from = 0;
    let mut stairs = 0.0;
    for &cut in cuts.iter().chain([&values.len()]) {
        stairs += squares(&values[from..cut]);
        from = cut;
    }
    let curve = squares_around_a_curve(values);
    let bic =
        |squares: f64, terms: f64| n * libm::log((squares / n).max(1e-12)) + terms * libm::log(n);
    bic(curve, 3.0) <= bic(stairs, 2.0 * cuts.len() as f64 + 1.0)
}

/// Residual squares of a parabola over the places: orthogonal polynomials on even places.
fn squares_around_a_curve(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let bend = (n * n - 1.0) / 12.0;
    let terms = |index: usize| {
        let x = index as f64 - centre;
        [1.0, x, x * x - bend]
    };
    let (mut products, mut norms) = ([0.0; 3], [0.0; 3]);
    for (index, value) in values.iter().enumerate() {
        for (number, term) in terms(index).into_iter().enumerate() {
            products[number] += term * value;
            norms[number] += term * term;
        }
    }
    let left = |(index, value): (usize, &f64)| {
        let fit: f64 = terms(index)
            .into_iter()
            .enumerate()
            .map(|(number, term)| term * products[number] / f64::max(norms[number], 1e-12))
            .sum();
        (value - fit).powi(2)
    };
    values.iter().enumerate().map(left).sum()
}

/// Cuts of a stretch that fit nearly as well as `cut`: first and last.
fn interval(values: &[f64], cut: usize) -> (usize, usize) {
    let cost = |at: usize| squares(&values[..at]) + squares(&values[at..]);
    let best = cost(cut);
    let degrees = (values.len() as f64 - 2.0).max(1.0);
    let variance = (best / degrees).max(1e-9);
    let good = |at: &usize| (cost(*at) - best) / variance <= NEARLY;
    let low = (1..=cut).find(good).unwrap_or(cut);
    let high = (cut..values.len()).rev().find(good).unwrap_or(cut);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_place_at_either_end_is_no_zone() {
        let mut rates: Vec<RateAt> = (0..192)
            .map(|place| RateAt {
                offset_bytes: place * 1_000,
                length_bytes: 500,
                bytes_per_s: if place < 90 { 100e6 } else { 90e6 },
            })
            .collect();
        rates[0].bytes_per_s = 95e6;
        rates[191].bytes_per_s = 85e6;
        let (zones, boundaries) = zones(&rates, 192_000);
        assert_eq!((zones.len(), boundaries.len()), (2, 1), "{boundaries:?}");
        assert!(boundaries[0].at_bytes.abs_diff(90_000) <= 1_000);
    }
}
