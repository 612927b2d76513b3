//! Zones: stretches of the surface with one rate.
//!
//! Steps of the rate over position are found as change points (E-divisive, as
//! `stats::change_points` does), after a running median of three that takes out single
//! disturbed places. Stairs and a smooth curve (a parabola) are then weighed against each other by the
//! Bayesian information criterion: a rate that falls evenly has no zones.

use super::RateAt;
use serde::{Deserialize, Serialize};
use stripewise_stats::{ChangePointRule, change_points, mean};

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

/// Where one zone ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Boundary {
    /// Likeliest place.
    pub at_bytes: u64,
    /// Places that fit nearly as well (95 %).
    pub interval_bytes: [u64; 2],
}

/// Chi-square of one degree of freedom at 95 %, for a place among few: a little more.
const NEARLY: f64 = 6.0;

/// Zones of at least two, and their boundaries; none where the rate is even, or falls
/// evenly.
pub(super) fn zones(rates: &[RateAt], size_bytes: u64) -> (Vec<Zone>, Vec<Boundary>) {
    let none = (Vec::new(), Vec::new());
    if rates.len() < 12 {
        return none;
    }
    let values = smoothed(rates);
    let rule = ChangePointRule {
        window: 50,
        p_value_max: 0.001,
        magnitude_min: 0.008,
    };
    let cuts: Vec<usize> = change_points(&values, &rule)
        .iter()
        .map(|change| change.index)
        .collect();
    if cuts.is_empty() || a_curve_fits_better(&values, &cuts) {
        return none;
    }
    let places: Vec<u64> = rates.iter().map(|rate| rate.offset_bytes).collect();
    // Between two places the boundary is in the middle.
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

/// Medians of each place and its neighbours; at both ends, of the three that are nearest.
/// There are three at least.
fn smoothed(rates: &[RateAt]) -> Vec<f64> {
    let value = |index: usize| rates[index].bytes_per_s;
    (0..rates.len())
        .map(|index| {
            let middle = index.clamp(1, rates.len() - 2);
            let (a, b, c) = (value(middle - 1), value(middle), value(middle + 1));
            a.max(b).min(a.min(b).max(c))
        })
        .collect()
}

fn squares(values: &[f64]) -> f64 {
    let middle = mean(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

/// BIC of a curve without steps against that of stairs.
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

/// What a parabola over the places leaves: orthogonal polynomials on even places.
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

/// Cuts of a stretch that fit nearly as well as `cut`: the first and the last.
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
