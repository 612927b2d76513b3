//! Zones: stretches of the surface with one rate.
//!
//! Steps of the rate over position are those of the stairs that fit best ([`stairs`]), once
//! disturbed places are lifted to those around them. Stairs and a smooth curve (a parabola) are then weighed against each other by the
//! Bayesian information criterion: a rate that falls evenly has no zones.

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

/// Where one zone ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Boundary {
    /// Likeliest place.
    pub at_bytes: u64,
    /// Places that fit nearly as well (95 %).
    pub interval_bytes: [u64; 2],
}

/// Disturbed places in a row that are none of a zone are fewer than these.
const REACH: usize = 8;

/// A lower step of the rate is none of a zone.
const HEIGHT_MIN: f64 = 0.008;

/// Chi-square of one degree of freedom at 95 %, for a place among few: a little more.
const NEARLY: f64 = 6.0;

/// Zones of at least two, and their boundaries; none where the rate is even, or falls
/// evenly.
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

/// Without steps that are too low to be one of a zone, the lowest first.
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

/// What the places around each one reach: single ones that are faster than all around them are
/// cut down to these, and slower ones, of fewer than [`REACH`] in a row, are lifted to both sides.
/// What disturbs a rate makes it lower - a revolution that is missed, other load - and that often
/// enough that by chance several in a row are met. A step stays where it is. There are three at
/// least.
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
    // The greatest of each run of so many, then the least of all runs that a place is in.
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

/// A value and its neighbours, as far as there are any.
fn around(values: &[f64], index: usize, reach: usize) -> &[f64] {
    &values[index.saturating_sub(reach)..(index + reach + 1).min(values.len())]
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
